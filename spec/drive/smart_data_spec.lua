-- SMART attributes: pairing, states, and what raw values mean for which drive.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local make = require "spec.support.smart_page"
local smart_data = require "hdd.drive.smart_data"

local DISK = {model = "WDC WD6000HLHX-01JJPV0", firmware = "04.05G04", solid_state = false,
  rotation_rpm = 10000}
local SEAGATE = {model = "ST14000NM001G-2KJ103", firmware = "SN03", solid_state = false}
local UNKNOWN_DISK = {model = "NOBODY ND1000", firmware = "1", solid_state = false}
local UNKNOWN_FLASH = {model = "NOBODY SSD 1TB", firmware = "1", solid_state = true}

local function one(id, raw, identity, more)
  local a = {id = id, raw = raw}
  for key, value in pairs(more or {}) do a[key] = value end
  local result = smart_data.decode(make.data {a}, make.thresholds {{id, 0}}, identity or DISK)
  return result.attributes[1], result
end

local function meaning(id, raw, identity, more)
  return one(id, raw, identity, more).meaning
end

local function warned(result, name)
  for _, w in ipairs(result.warnings) do if w.name == name then return w.message end end
end

describe("a temperature", function()
  it("with its lowest and highest is taken apart, and the raw value kept", function()
    local a = one(194, 0x003800020024)
    assert.same({temperature_c = 36, lowest_c = 2, highest_c = 56}, a.meaning)
    assert.equal(0x003800020024, a.raw)
    assert.equal("0x003800020024", a.raw_hex)
  end)

  it("is found in each of the five packings", function()
    assert.same({temperature_c = 25, lowest_c = 15, highest_c = 34}, meaning(194, 0x0022000f0019))
    assert.same({temperature_c = 36, lowest_c = 5, highest_c = 48}, meaning(194, 0x000500300024))
    assert.same({temperature_c = 27, lowest_c = 21, highest_c = 42}, meaning(194, 0x00002a15001b))
    assert.same({temperature_c = 40, lowest_c = 35, highest_c = 42}, meaning(194, 0x0000002a2328))
    assert.same({temperature_c = 38, lowest_c = 37, highest_c = 39, limit_count = 300},
      meaning(190, 300 << 32 | 0x27250026))
  end)

  it("alone stays alone when the upper bytes are in no order", function()
    assert.same({temperature_c = 36}, meaning(194, 0x000100010024))
  end)

  it("below zero is signed", function()
    assert.same({temperature_c = -10}, meaning(194, 0xf6))
    assert.same({temperature_c = -10}, meaning(194, 0xfff6))
    assert.same({temperature_c = 34, lowest_c = -1, highest_c = 47}, meaning(194, 0x002fffff0022))
  end)

  it("of 80h or out of all bounds is none", function()
    assert.is_nil(meaning(194, 0x80))
    assert.is_nil(meaning(194, 0x007f00810080))
    assert.is_nil(meaning(194, 0xa0))
  end)

  it("of a Seagate drive has its life's lowest in the fifth byte", function()
    assert.same({temperature_c = 27, lowest_c = 18}, meaning(194, 0x00120000001b, SEAGATE))
    assert.same({temperature_c = 27}, meaning(194, 27, SEAGATE))
  end)

  it("counts tenths on the drives that do", function()
    assert.same({temperature_c = 30.5},
      meaning(194, 305, {model = "SAMSUNG SV1204H", firmware = "RK100-13"}))
  end)
end)

describe("power-on hours", function()
  it("with something else in the upper bytes are the lower ones", function()
    local a = one(9, 0x4CD8000055E0)
    assert.equal(21984, a.meaning.power_on_hours)
    assert.equal("integer", math.type(a.meaning.power_on_hours))
    assert.equal(0x4CD8000055E0, a.raw)
    assert.equal(556, meaning(9, 0xd6960000022c).power_on_hours)
  end)

  it("are counted in minutes, half minutes or seconds by some", function()
    assert.equal(100, meaning(9, 6000, {model = "Maxtor 6Y080L0", firmware = ""}).power_on_hours)
    assert.equal(0.5, meaning(9, 30, {model = "TOSHIBA MK2576GSX"}).power_on_hours)
    assert.equal(100, meaning(9, 12000, {model = "SAMSUNG SP0812C"}).power_on_hours)
    assert.equal(100, meaning(9, 360000, {model = "FUJITSU MHV2080BH"}).power_on_hours)
    assert.equal(100, meaning(9, 100, {model = "Maxtor 6V250F0"}).power_on_hours)
  end)

  it("depend on the firmware where it changed the unit", function()
    assert.equal(2161 + 31 / 60, meaning(9, 129691,
      {model = "FUJITSU MHY2120BH", firmware = "0085000B"}).power_on_hours)
    assert.equal(129691, meaning(9, 129691,
      {model = "FUJITSU MHY2120BH", firmware = "00000009"}).power_on_hours)
  end)

  it("have milliseconds in the upper bytes of SandForce drives", function()
    local hours = meaning(9, 0xbdd600013dea, {model = "Corsair Force 3 SSD", solid_state = true},
      {seventh = 2}).power_on_hours
    assert.is_true(math.abs(hours - (81386 + 179.670 / 3600)) < 1e-6)
  end)

  it("beyond any drive's age are in an unknown unit", function()
    local a, result = one(9, 3700000, UNKNOWN_FLASH)
    assert.is_nil(a.meaning)
    assert.equal("3700000", a.text)
    assert.is_string(warned(result, "power_on_time"))
  end)
end)

describe("a packed value", function()
  it("is taken apart where the family is known", function()
    assert.same({errors = 59, operations = 252545822},
      meaning(7, 253655616286, {model = "ST8000AS0002-1NA17Z"}))
    assert.same({count = 13, over_5_s = 2, over_7_5_s = 2},
      meaning(188, 8590065677, {model = "ST2000LM007-1R8174"}))
    assert.same({head_flying_hours = 18942, head_flying_ms = 1824562},
      meaning(240, 0xd732000049fe, SEAGATE, {seventh = 0x1b}))
  end)

  it("is shown in hex and called nothing where it is not", function()
    for _, id in ipairs {1, 7, 188, 195, 240} do
      local a = one(id, 0x003b0f0d8b1e, UNKNOWN_DISK)
      assert.equal("0x003b0f0d8b1e", a.text)
      assert.is_nil(a.meaning and (a.meaning.count or a.meaning.errors))
    end
  end)

  it("that is small is a number, but no count of errors", function()
    local a = one(1, 17455, UNKNOWN_DISK)
    assert.equal("17455", a.text)
    assert.is_nil(a.meaning)
  end)

  it("of reallocated, pending or uncorrectable sectors gives no count when it is garbage",
    function()
    assert.is_nil(meaning(197, 120173136838658))
    assert.is_nil(meaning(198, 2, {model = "FUJITSU MHY2120BH", firmware = "0085000B"}))
    assert.same({sectors = 0}, meaning(5, 2000 << 32, {model = "FUJITSU MHZ2160BH G1"}))
    assert.same({sectors = 12}, meaning(5, 12 << 32, SEAGATE))
  end)
end)

describe("data read and written", function()
  it("has the family's unit", function()
    assert.same({data_bytes = 512 * 24021863545},
      meaning(241, 24021863545, {model = "Samsung SSD 870 QVO 4TB", solid_state = true}))
    assert.same({data_bytes = 820 << 25},
      meaning(241, 820, {model = "INTEL SSDSA2CW120G3", solid_state = true}))
    assert.same({data_bytes = 54960 << 30},
      meaning(241, 54960, {model = "Corsair Force 3 SSD", solid_state = true}))
    assert.same({data_bytes = 4096000},
      meaning(241, 1000, {model = "ST8000NM0055", logical_sector_size_bytes = 4096}))
  end)

  it("has no bytes where the unit is not known", function()
    assert.is_nil(meaning(241, 18651, UNKNOWN_FLASH))
    assert.is_nil(meaning(241, 18651, UNKNOWN_DISK))
  end)
end)

describe("wear of flash", function()
  it("is read by the family's rule alone", function()
    assert.same({life_left_percent = 98},
      meaning(231, 0, {model = "Corsair Force 3 SSD", solid_state = true}, {value = 98}))
    assert.same({life_used_percent = 100},
      meaning(202, 100, {model = "Crucial_CT1050MX300SSD1", solid_state = true}, {value = 0}))
    assert.same({erase_cycles = 278, life_left_percent = 81},
      meaning(177, 278, {model = "Samsung SSD 860 EVO 500GB", solid_state = true}, {value = 81}))
  end)

  it("is told by the raw value of some", function()
    assert.same({life_left_percent = 98}, meaning(231, 98, {model = "KINGSTON SA400M8120G"}))
    assert.same({life_left_percent = 96}, meaning(169, 96, {model = "TS32GMTS400"}))
  end)

  it("of an unknown drive is a number without an alarm", function()
    for _, id in ipairs {169, 173, 177, 202, 231, 233} do
      local a = one(id, 0, UNKNOWN_FLASH, {value = 0})
      assert.is_nil(a.meaning)
      assert.equal("ok", a.state)
      assert.is_false(a.verified)
      assert.equal("0", a.text)
    end
  end)

  it("that has not been timed yet is not 64 per cent", function()
    local a = one(226, 0xffff, {model = "INTEL SSDSA2CW120G3", solid_state = true})
    assert.is_nil(a.meaning)
    assert.equal("not started", a.text)
  end)

  it("is no temperature, nor a temperature life left", function()
    assert.is_nil(meaning(231, 35, UNKNOWN_DISK))
    assert.equal("temperature", one(231, 35, UNKNOWN_DISK).name)
  end)
end)

describe("an attribute's name", function()
  it("is verified for disks and for flash of a known family", function()
    assert.is_true(one(5, 0, UNKNOWN_DISK).verified)
    assert.is_true(one(177, 4, {model = "Samsung SSD 870 QVO 4TB", solid_state = true}).verified)
  end)

  it("is a guess for unknown flash, and still carries its number", function()
    local a = one(5, 2379776, UNKNOWN_FLASH)
    assert.equal("reallocated sectors", a.name)
    assert.is_false(a.verified)
    assert.is_nil(a.meaning)
    assert.equal("2379776", a.text)
  end)

  it("that nobody knows is said to be unknown", function()
    local a = one(110, 7, UNKNOWN_DISK)
    assert.equal("unknown attribute", a.name)
    assert.equal("7", a.text)
  end)

  it("takes a drive that reports no rotation for flash by attributes that only flash has",
    function()
    local attributes = {{id = 5, raw = 9}, {id = 9, raw = 1}, {id = 177, raw = 3},
      {id = 233, raw = 1}}
    local s = smart_data.decode(make.data(attributes), nil, {model = "MCCOE64GEMPP"})
    assert.is_false(smart_data.find(s, 5).verified)
    assert.equal(1, smart_data.find(s, 9).meaning.power_on_hours)
  end)
end)

describe("an attribute's state", function()
  it("is judged by the threshold of its number, whatever the slot", function()
    local s = smart_data.decode(
      make.data {{id = 1, value = 100}, {id = 5, value = 30, worst = 30},
        {id = 10, value = 100, worst = 20}},
      make.thresholds {{10, 97}, {1, 51}, {5, 36}}, DISK)
    assert.equal("ok", s.attributes[1].state)
    assert.equal(51, s.attributes[1].threshold)
    assert.equal("failing_now", s.attributes[2].state)
    assert.equal("failed_past", s.attributes[3].state)
  end)

  it("is never failing with threshold 0", function()
    local s = smart_data.decode(make.data {{id = 9, value = 1, worst = 1}},
      make.thresholds {{9, 0}, {5, 1}}, DISK)
    assert.equal("ok", s.attributes[1].state)
  end)

  it("is never failing without an entry or without a table", function()
    local data = make.data {{id = 5, value = 1, worst = 1}}
    local s = smart_data.decode(data, make.thresholds {{1, 51}}, DISK)
    assert.equal("no_threshold", s.attributes[1].state)
    assert.is_nil(s.attributes[1].threshold)
    for _, missing in ipairs {"", ("\0"):rep(512)} do
      s = smart_data.decode(data, missing, DISK)
      assert.equal("no_threshold", s.attributes[1].state)
      assert.is_string(warned(s, "no_thresholds"))
    end
    assert.equal("no_threshold", smart_data.decode(data, nil, DISK).attributes[1].state)
  end)

  it("of doubtful thresholds carries a warning", function()
    local thresholds = make.thresholds {{5, 36}}:sub(1, 511) .. "\1"
    local s = smart_data.decode(make.data {{id = 5, value = 30}}, thresholds, DISK)
    assert.is_false(s.thresholds_checksum_ok)
    assert.is_true(s.checksum_ok)
    assert.is_string(warned(s, "thresholds_checksum"))
  end)

  it("is not decided by a threshold that is none", function()
    local s = smart_data.decode(make.data {{id = 5, value = 30}}, make.thresholds {{5, 255}}, DISK)
    assert.equal("ok", s.attributes[1].state)
    assert.is_string(warned(s, "threshold"))
  end)
end)

describe("the state of a self-test", function()
  it("is read from the two halves of its byte", function()
    local s = smart_data.self_test_status(0xf7)
    assert.is_true(s.in_progress)
    assert.equal(70, s.remaining_percent)
    s = smart_data.self_test_status(0x79)
    assert.is_true(s.failed)
    assert.equal("failed: read element", s.result)
    assert.is_false(smart_data.self_test_status(0).failed)
    assert.is_false(smart_data.self_test_status(0x15).failed)
    assert.equal("aborted by the host", smart_data.self_test_status(0x15).result)
    assert.is_nil(smart_data.self_test_status(0xff).remaining_percent)
  end)

  it("comes with the drive's estimates, absent where it gives none", function()
    local page = make.sealed(make.data {}:sub(1, 372) .. string.char(2, 255, 0, 0x37, 0x05))
    local s = smart_data.decode(page, nil, DISK)
    assert.same({short = 2, extended = 1335}, s.test_minutes)
  end)
end)
