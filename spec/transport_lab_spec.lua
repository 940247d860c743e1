-- Commands to the drives of the lab: real drivers of the kernel, each kind of drive. #realtime
-- SPDX-License-Identifier: GPL-3.0-or-later
local lab = require "spec.support.lab"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local process = require "spec.support.process"

local DRIVES <const> = {"pata", "ata", "nvme", "scsi", "usb", "scsi_debug"}

-- For each path: what it is, which pages it has, and what a short self-test says.
local CHUNK = [[
  local transport, pages = require "hdd.transport", require "hdd.pages"
  local function report(path, options)
    local t, message, code = transport.open(path, options)
    if not t then return print(path, "refused", transport.reason(code), message) end
    local p = pages.read(t)
    local test = require("hdd.transport." .. t.kind).self_test
    local started, _, why = test(t, "short")
    print(path, t.kind, t.form or "-", t.of or "-", p.smart_good, p.smart_data and #p.smart_data or 0,
      p.logs[2] and #p.logs[2] or 0, started or transport.reason(why), #p.failures)
    t:close()
  end
]]

local function run(drives, chunk, before)
  needs.lab()
  local home <close> = place.new()
  local path = home:path("chunk") .. ".lua"
  local file = assert(io.open(path, "w"))
  assert(file:write(CHUNK, chunk))
  file:close()
  local r = lab.run(drives, {"sh", "-c", (before or "") .. process.interpreter .. " " .. path .. " 2>&1"})
  return r.stdout
end

describe("in the drive lab #realtime", function()
  it("ATA, NVMe, SCSI and USB drives are told apart, read, and tested or refused", function()
    local out = run(DRIVES, [[
      for i = 0, 5 do report("/dev/lab/d" .. i, {consent = "self-tests"}) end
    ]])
    assert.same({
      "/dev/lab/d0\tata\t16\t-\ttrue\t512\t0\ttrue\t0",
      "/dev/lab/d1\tata\t16\t-\ttrue\t512\t0\ttrue\t0",
      "/dev/lab/d2\tnvme\t-\t-\tnil\t0\t512\tnot supported\t0",
      "/dev/lab/d3\tscsi\t-\t-\tnil\t0\t0\tnot supported\t1",
      "/dev/lab/d4\tscsi\t-\t-\tnil\t0\t0\tnot supported\t1",
      "/dev/lab/d5\tscsi\t-\t-\tnil\t0\t0\ttrue\t1",
    }, (function(lines)
      for line in out:gmatch("[^\n]+") do lines[#lines + 1] = line end
      return lines
    end) {})
  end)

  it("a partition, and a volume on one, stand for their drive", function()
    local out = run({"ata"}, [[
      report("/dev/lab/part")
      report("/dev/mapper/volume")
    ]], [[
      disk=$(readlink -f /dev/lab/d0)
      # One partition of 16 MiB at 1 MiB, by hand: not every machine has sfdisk.
      printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\200\0\0' | dd of="$disk" bs=1 seek=446 status=none
      printf '\125\252' | dd of="$disk" bs=1 seek=510 status=none
      blockdev --rereadpt "$disk"
      ln -s "$disk"1 /dev/lab/part
      dmsetup create volume --table "0 8192 linear ${disk}1 0" >/dev/null 2>&1
      test -e /dev/mapper/volume || dmsetup mknodes
    ]])
    local of = out:match("^/dev/lab/part\tata\t16\t(sd%l)\ttrue\t512")
    assert(of, out)
    assert.matches("\n/dev/mapper/volume\tata\t16\t" .. of .. "\ttrue\t512", out)
  end)

  it("who may read a drive but not send it commands is told so", function()
    local out = run({"ata"}, [[report("/dev/lab/d0")]], "setpriv --bounding-set -sys_rawio -- ")
    assert.matches("refused\tno permission\t.*it may be read, but not sent commands.*CAP_SYS_RAWIO", out)
  end)

  it("a virtual drive without a command set is refused by its driver's word", function()
    local out = run({"null_blk"}, [[report("/dev/lab/d0")]])
    assert.matches("refused\tno such drive\t.*its driver takes no such commands", out)
  end)
end)
