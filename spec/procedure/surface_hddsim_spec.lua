-- Surface scans of simulated drives whose faults are drawn by seed: what is found is held against what
-- was drawn.  HDDLUA_SURFACE_SEEDS sets how many drives (3); the acceptance run takes 20.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local hdd = require "hdd"
local hddsim = require "spec.support.hddsim"
local needs = require "spec.support.needs"
local surface = require "hdd.procedure.surface"

local CAPACITY <const>, SECTOR <const> = 128 << 20, 512
local SEEDS <const> = math.tointeger(tonumber(os.getenv("HDDLUA_SURFACE_SEEDS") or 3))
local FIRST <const> = math.tointeger(tonumber(os.getenv("HDDLUA_SURFACE_FIRST") or 1))

-- What is drawn: kind, how many of it, longest run, parameters.
local KINDS <const> = {
  { "eio", 3, 8, function() return string.format("ms=%d", math.random(20, 60)) end },
  { "slow", 3, 6, function() return string.format("revs=%d", math.random(2, 6)) end },
  { "slow", 2, 3, function() return string.format("ms=%d", math.random(13, 50)) end },
  { "mild", 1, 3, function() return "revs=1" end },
  { "weak", 2, 3, function() return string.format("tries=%d:ms=30", math.random(1, 4)) end },
}

-- Faults that do not touch one another.
local function draw(seed)
  math.randomseed(seed)
  local faults = {}
  local function is_free(lba, count)
    for _, other in ipairs(faults) do
      if lba <= other.lba + other.count and other.lba <= lba + count then return false end
    end
    return lba + count <= CAPACITY // SECTOR
  end
  for _, kind in ipairs(KINDS) do
    for _ = 1, kind[2] do
      local count = math.random(kind[3])
      local lba
      repeat lba = math.random(0, CAPACITY // SECTOR - 1) until is_free(lba, count)
      faults[#faults + 1] = {
        kind = kind[1], lba = lba, count = count, spec = string.format("fault=%s:%d+%d:%s",
          kind[1] == "mild" and "slow" or kind[1], lba, count, kind[4]()),
      }
    end
  end
  return faults
end

local function settings(faults)
  local words = { "tiny,zones=2,capacity=" .. CAPACITY }
  for i, fault in ipairs(faults) do words[i + 1] = fault.spec end
  return table.concat(words, ",")
end

local function sectors_of(faults, kind)
  local set = {}
  for _, fault in ipairs(faults) do
    for lba = fault.lba, fault.kind == kind and fault.lba + fault.count - 1 or -1 do set[lba] = true end
  end
  return set
end

local function listed(ranges)
  local set = {}
  for _, range in ipairs(ranges) do
    local first = range.offset_bytes // SECTOR
    for lba = first, first + range.length_bytes // SECTOR - 1 do set[lba] = true end
  end
  return set
end

local function scan(drive, parameters)
  local disk <close> = assert(hdd.open(drive.path))
  local d = assert(surface.run(disk, parameters))
  assert(document.validate(d))
  return d
end

-- Every weak sector that is alone in its MiB is recovered, as far as can be known: of several in a row
-- at least one.
local function check_weak(faults, d)
  local found = listed(d.recovered)
  for _, fault in ipairs(faults) do
    local alone, hit = fault.kind == "weak", false
    for _, other in ipairs(faults) do
      local near = math.abs(other.lba - fault.lba) < 4096
      alone = alone and (other == fault or not near or other.kind ~= "eio" and other.kind ~= "weak")
    end
    for lba = fault.lba, fault.lba + fault.count - 1 do hit = hit or found[lba] end
    assert.is_true(hit or not alone, fault.spec .. " is not among the recovered")
  end
end

describe("a surface scan of a simulated drive #realtime", function()
  for seed = FIRST, FIRST + SEEDS - 1 do
    it("finds exactly the faults of seed " .. seed, function()
      needs.hddsim()
      local faults = draw(seed)
      local drive <close> = hddsim.start(settings(faults))
      local d = scan(drive, {})
      assert.equal("complete", d.status)
      assert.equal("measured", d.rotation.source)
      assert.equal(6000, d.rotation.revolution_us)
      assert.same(sectors_of(faults, "eio"), listed(d.unreadable))
      assert.same(sectors_of(faults, "slow"), listed(d.slow))
      for _, range in ipairs(d.slow) do assert.is_true(range.exact and range.revolutions >= 2) end
      for _, range in ipairs(d.unreadable) do assert.is_true(range.exact) end
      check_weak(faults, d)
      assert.equal(100, d.summary.covered_percent)
    end)
  end

  it("of a drive without faults is clean, at the drive's own rate", function()
    needs.hddsim()
    local drive <close> = hddsim.start("tiny,zones=1,capacity=512M")
    local d = scan(drive, {})
    assert.equal("clean", d.summary.verdict)
    assert.same({}, d.slow)
    local truth = drive:truth()
    local rate = truth.zones[1].MB_s * 1e6
    assert.is_true(d.summary.bandwidth_bytes_per_s >= 0.97 * rate,
      string.format("%.1f of %.1f MB/s", d.summary.bandwidth_bytes_per_s / 1e6, rate / 1e6))
  end)

  it("finds the turn of a 7200 rpm drive, and holds its blocks against that", function()
    needs.hddsim()
    local drive <close> = hddsim.start("nas18t,zones=1,capacity=256M,fault=slow:200000+8:revs=3")
    local d = scan(drive, {})
    assert.is_true(math.abs(d.rotation.revolution_us / 8333.33 - 1) < 0.001)
    assert.equal(1, #d.slow)
    assert.equal(200000 * SECTOR, d.slow[1].offset_bytes)
    assert.equal(8 * SECTOR, d.slow[1].length_bytes)
    assert.equal(3, d.slow[1].revolutions)
  end)
end)
