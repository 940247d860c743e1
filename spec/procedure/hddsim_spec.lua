-- Both procedures on the simulated drive, against its own truth. On a machine whose processors are busy
-- the simulator answers late: what is off is measured again, up to three times, and if it stays off, how
-- late the answers were is shown.
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local hddsim = require "spec.support.hddsim"
local needs = require "spec.support.needs"
local qdsweep = require "hdd.procedure.qdsweep"
local shell = require "spec.support.shell"
local zoneprofile = require "hdd.procedure.zoneprofile"

local ZONE <const> = 64 << 20

-- The true rate of a range: its bytes over the time that each of the drive's zones takes for its part.
local function true_rate(truth, offset, length)
  local first, last, seconds = offset // 512, (offset + length) // 512, 0
  for _, zone in ipairs(truth.zones) do
    local sectors = math.min(last, zone.last_lba + 1) - math.max(first, zone.first_lba)
    if sectors > 0 then seconds = seconds + sectors * 512 / (zone.MB_s * 1e6) end
  end
  return length / seconds
end

local function error_of(zone, truth)
  return zone.bandwidth_bytes_per_s / true_rate(truth, zone.offset_bytes, zone.length_bytes) - 1
end

-- Does something else use the processors? Then the simulator cannot keep the time.
local function is_busy()
  local load = tonumber(shell.must("cut -d ' ' -f 1 /proc/loadavg"))
  return load > 1.5 * tonumber(shell.must("nproc"))
end

local function late(drive)
  local parts = {}
  for key, value in pairs(drive:truth().answer_late_us) do
    parts[#parts + 1] = key .. " " .. tostring(value)
  end
  return "answers late by (us): " .. table.concat(parts, ", ")
end

describe("on the simulated drive #realtime", function()
  it("a zone's rate is the true one within 1.5 %, and the profile fits", function()
    needs.hddsim()
    if is_busy() then return pending("the processors are busy with something else") end
    local sim <close> = hddsim.start("tiny")
    local drive <close> = assert(hdd.open(sim.path))
    local truth = sim:truth()
    local d = assert(zoneprofile.run(drive, { count = 8, zone_size = ZONE }))
    for _, zone in ipairs(d.zones) do
      local off = error_of(zone, truth)
      for _ = 1, 3 do
        if math.abs(off) <= 0.015 then break end
        hdd.sleep(1)
        local again = assert(zoneprofile.run(drive, {
          from = zone.offset_bytes, to = zone.offset_bytes + zone.length_bytes, zone_size = ZONE,
        }))
        off = error_of(again.zones[1], truth)
      end
      assert(math.abs(off) <= 0.015, ("zone at %d is off by %.2f %%; %s"):format(zone.offset_bytes,
        off * 100, late(sim)))
    end
    assert.equal(0, d.errors)
  end)

  -- The rows of a sweep, and by how much the worst of them is off what the drive delivered.
  local function sweep()
    local sim <close> = hddsim.start("tiny")
    local drive <close> = assert(hdd.open(sim.path))
    local d = assert(qdsweep.run(drive, {
      depths = { 1, 8 }, block_sizes = { 4096 }, ramp = 0.5, runtime = 6, rpm = 10000,
    }))
    local seen, worst, said = {}, 0, nil
    for _, entry in ipairs(sim:truth().observed.random_read_by_depth) do
      seen[entry.depth] = entry.count.iops_seen
    end
    for _, row in ipairs(d.rows) do
      local off = math.abs(row.iops / seen[row.depth] - 1)
      if off >= worst then
        worst = off
        said = ("depth %d: %.1f IOPS, seen %.1f; %s"):format(row.depth, row.iops, seen[row.depth],
          late(sim))
      end
    end
    return d, worst, said
  end

  it("the IOPS of a row are those that the drive delivered within 3 %, and more at depth 8", function()
    needs.hddsim()
    if is_busy() then return pending("the processors are busy with something else") end
    local d, worst, said
    for _ = 1, 3 do
      d, worst, said = sweep()
      if worst <= 0.03 then break end
    end
    assert(worst <= 0.03, said)
    for _, row in ipairs(d.rows) do assert.is_false(row.flagged) end
    assert.is_true(d.rows[2].gain > 1.2)
  end)

  it("a bad sector is found where it is, and a slow one is the slowest", function()
    needs.hddsim()
    local sim <close> = hddsim.start("tiny,fault=eio:1000000+8:ms=300,fault=slow:9000000:ms=400")
    local drive <close> = assert(hdd.open(sim.path))
    local d = assert(zoneprofile.run(drive, {
      zone_size = 4 << 20, zone_skip = 0, from = 999424 * 512, to = 999424 * 512 + (4 << 20),
    }))
    assert.equal(1, d.errors)
    local failure = d.failures[1]
    assert.is_true(failure.offset_bytes <= 1000000 * 512)
    assert.is_true(failure.offset_bytes + failure.length_bytes > 1000000 * 512)
    assert.is_true(failure.latency_ns >= 300000000)
    assert.equal("errors", d.zones[1].reason)
    d = assert(zoneprofile.run(drive, {
      zone_size = 4 << 20, zone_skip = 0, from = 8998912 * 512, to = 8998912 * 512 + (4 << 20),
    }))
    -- At depth 2 the read behind it waits as long.
    assert.is_true(math.abs(d.zones[1].latency_max_offset_bytes - 9000000 * 512) <= 2 * 65536)
    assert.is_true(d.zones[1].latency_max_us >= 400000)
  end)
end)
