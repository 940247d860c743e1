-- SCT status, temperature history, time-outs; Phy event counters.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local fixtures = require "spec.support.drive_fixtures"
local make = require "spec.support.smart_page"
local phy = require "hdd.drive.phy"
local sct = require "hdd.drive.sct"

local function read(drive, file) return assert(fixtures.read("ata/" .. drive .. "/" .. file)) end

local function warned(result, name)
  for _, w in ipairs(result.warnings) do if w.name == name then return w.message end end
end

describe("SCT status", function()
  it("tells the two generations of VelociRaptor apart", function()
    assert.equal(2, sct.status(read("WD3000GLFS-01F8U0-a", "smartlog_e0.bin")).format_version)
    assert.equal(3, sct.status(read("WD6000HLHX-01JJPV0-a", "smartlog_e0.bin")).format_version)
  end)

  it("gives the drive's own verdict", function()
    assert.equal("passed", sct.status(read("ST14000NM001G-2KJ103-a",
      "smartlog_e0.bin")).smart_status)
    assert.is_nil(sct.status(read("WD6000HLHX-01JJPV0-a", "smartlog_e0.bin")).smart_status)
  end)

  it("notes a lowest temperature of the cycle below that of the life", function()
    local s = sct.status(read("WD3000HLFS-01G6U4-a", "smartlog_e0.bin"))
    assert.equal(9, s.power_cycle_lowest_c)
    assert.equal(18, s.lifetime_lowest_c)
    assert.is_string(warned(s, "temperature_range"))
    assert.equal("off-line collection in background", s.device_state)
  end)

  it("of the old draft has no lowest temperatures", function()
    local page = string.pack("<I2I2", 2, 258) .. ("\0"):rep(196) .. "\30\0\35\0\40"
      .. ("\0"):rep(307)
    local s = sct.status(page)
    assert.is_true(s.old_format)
    assert.equal(30, s.temperature_c)
    assert.equal(40, s.lifetime_highest_c)
    assert.is_nil(s.lifetime_lowest_c)
    assert.is_nil(s.over_limit_count)
  end)

  it("doubts a drive that is 0 °C in every respect", function()
    local s = sct.status(read("ssd-crucial-m4-x", "smartlog_e0.bin"))
    assert.is_true(s.temperature_doubtful)
    assert.is_string(warned(s, "no_sensor"))
  end)
end)

describe("the SCT temperature history", function()
  it("has 128 rows on one VelociRaptor and 478 on the other", function()
    assert.equal(128, #sct.history(read("WD3000GLFS-01F8U0-a", "smartlog_e1_t2.bin")).rows)
    assert.equal(478, #sct.history(read("WD6000HLHX-01JJPV0-a", "smartlog_e1_t2.bin")).rows)
  end)

  it("ends now and begins a whole ring of intervals ago", function()
    local h = sct.history(read("ST8000AS0002-1NA17Z-a", "smartlog_e1_t2.bin"))
    assert.equal(59, h.interval_minutes)
    assert.equal(0, h.rows[128].minutes_ago)
    assert.equal(127 * 59, h.rows[1].minutes_ago)
  end)

  it("leaves gaps where no temperature was taken", function()
    local gaps = 0
    for _, row in ipairs(sct.history(read("WD6000HLHX-01JJPV0-a", "smartlog_e1_t2.bin")).rows) do
      if row.temperature_c == nil then gaps = gaps + 1 end
    end
    assert.is_true(gaps > 0)
  end)

  it("is turned by one row for families whose index points too far", function()
    local page = read("WD6000HLHX-01JJPV0-a", "smartlog_e1_t2.bin")
    local straight, turned = sct.history(page), sct.history(page, {index_ahead = true})
    assert.equal(straight.rows[477].temperature_c, turned.rows[478].temperature_c)
    assert.equal(straight.rows[478].temperature_c, turned.rows[1].temperature_c)
  end)
end)

describe("an SCT setting", function()
  it("is a time-out in steps of 100 ms", function()
    assert.same({enabled = true, deciseconds = 70, ms = 7000}, sct.error_recovery(70))
    assert.is_false(sct.error_recovery(0).enabled)
  end)

  it("is a feature's state", function()
    assert.equal("enabled", sct.feature("reordering", 1).state)
    assert.equal("disabled", sct.feature("write cache", 3).state)
    assert.equal(10, sct.feature("interval", 10).minutes)
    assert.is_nil(sct.feature("reordering", 9).state)
  end)
end)

describe("Phy event counters", function()
  local function page(...)
    return make.sealed("\0\0\0\0" .. table.concat {...} .. "\0\0")
  end
  local function counter(id, value) return string.pack("<I2I2", 0x1000 | id, value) end

  it("keep the maker's own apart, with its size", function()
    local p = phy.decode(read("WD6000HLHX-01JJPV0-a", "gplog_11.bin"))
    local own = phy.find(p, 0x8000)
    assert.is_true(own.vendor)
    assert.equal(4, own.size_bytes)
  end)

  it("show which one the later VelociRaptor has and the earlier has not", function()
    local old, new = {}, {}
    for _, c in ipairs(phy.decode(read("WD3000GLFS-01F8U0-a", "gplog_11.bin")).counters) do
      old[c.id] = true
    end
    for _, c in ipairs(phy.decode(read("WD6000HLHX-01JJPV0-a", "gplog_11.bin")).counters) do
      if not old[c.id] then table.insert(new, c.name) end
    end
    assert.same({"CRC errors within host-to-device FIS"}, new)
  end)

  it("say when they have stopped at their largest value", function()
    local saturated = 0
    for _, c in ipairs(phy.decode(read("HDN724030ALE640-a", "gplog_11.bin")).counters) do
      if c.saturated then saturated = saturated + 1 end
    end
    assert.equal(3, saturated)
  end)

  it("of 64 bits stay numbers as long as they fit", function()
    local p = phy.decode(page(string.pack("<I2i8", 0x4001, math.maxinteger)))
    assert.equal(math.maxinteger, p.counters[1].value)
    assert.is_false(p.counters[1].saturated)
  end)

  it("changed by what was counted since, also after a reset", function()
    local before, after = phy.decode(page(counter(1, 5), counter(0xb, 900))),
      phy.decode(page(counter(1, 7), counter(0xb, 3)))
    local changes = phy.changes(before, after)
    assert.same({id = 1, name = "Command failed due to ICRC error", increase = 2, reset = false},
      changes[1])
    assert.equal(3, changes[2].increase)
    assert.is_true(changes[2].reset)
    assert.equal(0, #phy.changes(after, after))
  end)
end)
