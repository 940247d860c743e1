-- Flags and summary of a profile, from zones made up as a drive would have them.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local zonejudge = require "hdd.procedure.zonejudge"

local SIZE <const>, COUNT <const> = 600000000000, 40

-- The zones of a drive that falls from 155 to 95 MB/s.
local function profile()
  local zones = {}
  for i = 1, COUNT do
    local offset = SIZE // COUNT * (i - 1)
    zones[i] = {
      offset_bytes = offset, length_bytes = 268435456, errors = 0,
      bandwidth_bytes_per_s = 155e6 * math.sqrt(1 - offset / SIZE * (1 - (95 / 155) ^ 2)),
    }
  end
  return zones
end

local function facts_of(zones, indices, facts)
  facts = facts or { rotating = true }
  facts.blank = {}
  for _, i in ipairs(indices or {}) do facts.blank[zones[i]] = true end
  return facts
end

local function reasons_of(zones)
  local reasons = {}
  for i, zone in ipairs(zones) do
    assert.equal(zone.reason ~= nil, zone.flagged)
    if zone.reason then reasons[i] = zone.reason end
  end
  return reasons
end

describe("a zone", function()
  it("is not flagged when it fits the drive's curve", function()
    local zones = profile()
    local media = zonejudge.flag(zones, facts_of(zones))
    assert.same({}, reasons_of(zones))
    assert.equal(COUNT, #media)
    for _, zone in ipairs(zones) do
      assert.is_true(math.abs(zone.expected_bytes_per_s / zone.bandwidth_bytes_per_s - 1) < 0.02)
    end
  end)

  it("is slow or fast when it does not", function()
    local zones = profile()
    zones[10].bandwidth_bytes_per_s = zones[10].bandwidth_bytes_per_s * 0.8
    zones[20].bandwidth_bytes_per_s = zones[20].bandwidth_bytes_per_s * 1.2
    zonejudge.flag(zones, facts_of(zones))
    assert.same({ [10] = "slow", [20] = "fast" }, reasons_of(zones))
  end)

  it("in which reads failed is flagged for that", function()
    local zones = profile()
    zones[3].errors = 2
    zones[4].errors, zones[4].bandwidth_bytes_per_s = 4096, nil
    zonejudge.flag(zones, facts_of(zones))
    assert.same({ [3] = "errors", [4] = "errors" }, reasons_of(zones))
  end)

  it("of zeros is unwritten on flash, however fast it is", function()
    local zones = profile()
    local media = zonejudge.flag(zones, facts_of(zones, { 1, 2 }, { rotating = false }))
    assert.same({ "unwritten", "unwritten" }, reasons_of(zones))
    assert.equal(COUNT - 2, #media)
    zonejudge.flag(zones, facts_of(zones, { 1, 2 }, {}))
    assert.same({ "unwritten", "unwritten" }, reasons_of(zones))
  end)

  it("of zeros counts on a disk that is as fast there as elsewhere: new disks hold zeros", function()
    local zones, all = profile(), {}
    for i = 1, COUNT do all[i] = i end
    assert.equal(COUNT, #zonejudge.flag(zones, facts_of(zones, all)))
    assert.same({}, reasons_of(zones))
  end)

  it("of zeros that is faster than a disk's surface was not read from it", function()
    local zones, second_half, expected = profile(), {}, {}
    for i = COUNT // 2 + 1, COUNT do
      second_half[#second_half + 1], expected[i] = i, "unwritten"
      zones[i].bandwidth_bytes_per_s = 260e6
    end
    zonejudge.flag(zones, facts_of(zones, second_half))
    assert.same(expected, reasons_of(zones))
    for i = COUNT // 2 + 1, COUNT do assert.is_true(zones[i].expected_bytes_per_s < 140e6) end
  end)

  it("of zeros is unwritten when no disk could be that fast, though nothing else was written", function()
    local zones, all, expected = profile(), {}, {}
    for i, zone in ipairs(zones) do
      all[i], expected[i], zone.bandwidth_bytes_per_s = i, "unwritten", 3e9
    end
    assert.same({}, zonejudge.flag(zones, facts_of(zones, all)))
    assert.same(expected, reasons_of(zones))
  end)

  it("faster than the link came from a cache", function()
    local zones = profile()
    zones[7].bandwidth_bytes_per_s, zones[8].bandwidth_bytes_per_s = 700e6, 605e6
    local facts = facts_of(zones, {}, { rotating = false, link_bytes_per_s = 600000000 })
    zonejudge.flag(zones, facts)
    assert.same({ [7] = "link", [8] = "fast" }, reasons_of(zones))
  end)
end)

describe("the summary of a profile", function()
  local function summary_of(zones, facts)
    return zonejudge.summarize(zones, zonejudge.flag(zones, facts or facts_of(zones)), SIZE)
  end

  it("has the first, the last, the fastest and the slowest zone, and the mean", function()
    local zones = profile()
    zones[20].bandwidth_bytes_per_s = 50e6
    local s = summary_of(zones)
    assert.equal(zones[1].bandwidth_bytes_per_s, s.outer_bytes_per_s)
    assert.equal(zones[COUNT].bandwidth_bytes_per_s, s.inner_bytes_per_s)
    assert.equal(s.outer_bytes_per_s / s.inner_bytes_per_s, s.ratio)
    assert.equal(zones[1].bandwidth_bytes_per_s, s.fastest_bytes_per_s)
    assert.equal(0, s.fastest_offset_bytes)
    assert.equal(50e6, s.slowest_bytes_per_s)
    assert.equal(zones[20].offset_bytes, s.slowest_offset_bytes)
    assert.equal(1, s.flagged_zones)
    assert.is_true(s.mean_bytes_per_s > 120e6 and s.mean_bytes_per_s < 130e6)
  end)

  it("estimates a full read by integrating", function()
    local zones = profile()
    -- In closed form: the integral of 1 / (B_o sqrt(1 - x c)) is 2 (1 - sqrt(1 - c)) / (c B_o).
    local c = 1 - (95 / 155) ^ 2
    local expected = SIZE * 2 * (1 - math.sqrt(1 - c)) / (c * 155e6)
    assert.is_true(math.abs(summary_of(zones).full_read_s / expected - 1) < 0.005)
  end)

  it("does not guess a full read from a part of the drive", function()
    local zones = profile()
    assert.is_nil(summary_of(table.move(zones, 1, 30, 1, {})).full_read_s)
    assert.is_nil(summary_of(table.move(zones, 8, COUNT, 1, {})).full_read_s)
  end)

  it("leaves out what was not read from the medium", function()
    local zones = profile()
    zones[1].bandwidth_bytes_per_s = 2e9
    local s = summary_of(zones, facts_of(zones, { 1 }))
    assert.equal(zones[2].bandwidth_bytes_per_s, s.outer_bytes_per_s)
    assert.is_true(s.fastest_bytes_per_s < 200e6)
  end)

  it("of nothing has no rates", function()
    assert.same({ flagged_zones = 0 }, zonejudge.summarize({}, {}, SIZE))
    local zones = { { offset_bytes = 0, length_bytes = 512, errors = 1 } }
    assert.same({ flagged_zones = 1 }, summary_of(zones))
  end)
end)
