-- Jobs on the kernel's own drivers, in a virtual machine: what bad sectors and removal really look like.
-- SPDX-License-Identifier: GPL-3.0-or-later
local lab = require "spec.support.lab"
local needs = require "spec.support.needs"

local DRIVES <const> = {"scsi,bad=2048+8", "nvme,bad=2048+8", "ata,bad=2048+8", "nvme,iops=2000", "scsi,iops=2000"}

local CHUNK <const> = [[
  local hdd = require "hdd"
  for i = 0, 2 do
    local drive <close> = assert(hdd.open("/dev/lab/d" .. i))
    local r = assert(drive:run {offset = 1 << 20, length = 32768, depth = 2})
    print("bad", r.stopped_by, r.ios, r.failures[1].error, r.failures[1].offset_bytes)
  end
  for i = 3, 4 do
    local drive <close> = assert(hdd.open("/dev/lab/d" .. i))
    local jobs = {}
    for _, depth in ipairs {1, 32} do
      jobs[#jobs + 1] = assert(drive:start {pattern = "random", runtime = 30, depth = depth})
    end
    hdd.sleep(0.5)
    io.open("/run/lab/monitor", "a"):write("device_del d" .. i .. "\n"):close()
    local start = hdd.now()
    for _, job in ipairs(jobs) do
      local r = job:wait()
      print("gone", r.stopped_by, r.ios > 10, r.errors, #r.abandoned, (hdd.now() - start) / 1e9 < 5)
    end
  end
]]

-- The machine is started once, for all that is to be looked at.
local said

local function lines(first)
  needs.lab()
  if not said then
    local result = lab.lua(DRIVES, CHUNK)
    assert.equal("", result.stderr)
    said = result.stdout
  end
  local list = {}
  for line in said:gmatch(first .. "\t([^\n]*)") do list[#list + 1] = line end
  return list
end

describe("a job in the drive lab #realtime", function()
  it("keeps the name of each driver's medium error, and goes on", function()
    assert.same({"pattern\t7\tENODATA\t1048576", "pattern\t7\tENODATA\t1048576", "pattern\t7\tEIO\t1048576"},
      lines("bad"))
  end)

  it("sees that its drive was unplugged, at depth 1 and 32", function()
    local lost = "device lost\ttrue\t0\t0\ttrue"
    assert.same({lost, lost, lost, lost}, lines("gone"))
  end)
end)
