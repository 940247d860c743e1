-- Seagate's FARM log, made here field by field, and the hours that it is laid against.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local device_statistics = require "hdd.drive.device_statistics"
local farm = require "hdd.drive.farm"
local farm_log = require "spec.support.farm_log"
local make = require "spec.support.smart_page"
local smart_data = require "hdd.drive.smart_data"
local vitals = require "hdd.drive.vitals"

local function warned(result, name)
  for _, w in ipairs(result.warnings) do if w.name == name then return w.message end end
end

describe("Seagate's FARM log", function()
  it("tells the drive's life", function()
    local f = farm.decode(farm_log.pages(farm_log.example()))
    assert.is_true(f.supported)
    assert.equal(4, f.major)
    assert.equal(17, f.minor)
    assert.equal("K3SFIXT1", f.drive.serial)
    assert.equal("5000c500f5d1d48e", f.drive.wwn)
    assert.equal("SATA", f.drive.interface)
    assert.equal("EN01", f.drive.firmware)
    assert.equal("ST16000N", f.drive.model)
    assert.equal("3.5 inches", f.drive.form_factor)
    assert.equal("CMR", f.drive.recording)
    assert.is_false(f.drive.depopulated)
    assert.equal("2517", f.drive.assembled_year_week)
    assert.equal(2344, f.drive.power_on_hours)
    assert.equal(516, f.drive.head_flying_hours)
    assert.equal(115597072064, f.workload.sectors_written)
    assert.equal(64398, f.workload.reads_at_0_to_3)
    assert.equal(10052699, f.workload.writes_at_75_to_100)
    assert.equal(5, f.errors.reallocated_sectors)
    assert.same({information = 0x1234, time_stamp = 99, power_cycle = 7}, f.errors.assertions[1])
    assert.equal(-5, f.environment.lowest_c)
    assert.equal(12023, f.environment.supply_12_v_mv)
    assert.equal(44534632, f.reliability.read_error_rate_raw)
    assert.equal(2, f.reliability.lbas_corrected_by_parity)
    assert.same({head = 0, unrecoverable_reads_repeating = 4, write_power_on_s = 13433}, f.heads[1])
    assert.same({head = 1, unrecoverable_reads_unique = 8, reallocated_sectors = 11,
      write_power_on_s = 15618}, f.heads[2])
    assert.equal(2, #f.heads)
    assert.equal(0, #f.warnings)
  end)

  it("leaves out what the drive does not give", function()
    local f = farm.decode(farm_log.pages(farm_log.example()))
    assert.is_nil(f.environment.humidity_permille)
    assert.is_nil(f.workload.other_commands)
    local pages = farm_log.example()
    pages[4][0] = 9
    assert.is_nil(farm.decode(farm_log.pages(pages)).environment)
  end)

  it("without its signature, or cut short, is none", function()
    local f = farm.decode(("\0"):rep(98304))
    assert.is_false(f.supported)
    assert.is_string(warned(f, "signature"))
    f = farm.decode(farm_log.pages(farm_log.example()):sub(1, 512))
    assert.is_true(f.supported)
    assert.is_nil(f.drive)
    assert.is_string(warned(f, "missing_page"))
  end)

  it("with pages of another size is not guessed at", function()
    local pages = farm_log.example()
    pages[0][5] = 4096
    local f = farm.decode(farm_log.pages(pages))
    assert.is_nil(f.drive)
    assert.is_string(warned(f, "page_size"))
  end)
end)

describe("power-on hours from several sources", function()
  local seagate = {model = "ST16000NM001G", solid_state = false}
  local function smart(hours) return smart_data.decode(make.data {{id = 9, raw = hours}}, nil,
    seagate) end

  it("agree on an honest drive", function()
    local p = vitals.power_on {smart = smart(2344),
      farm = farm.decode(farm_log.pages(farm_log.example()))}
    assert.equal(2344, p.power_on_hours)
    assert.equal("attribute 9", p.source)
    assert.is_false(p.counters_reset)
    assert.is_nil(p.disagree)
  end)

  it("betray a used drive whose counters were cleared", function()
    local p = vitals.power_on {smart = smart(3),
      farm = farm.decode(farm_log.pages(farm_log.example()))}
    assert.equal(3, p.power_on_hours)
    assert.is_true(p.counters_reset)
    assert.is_true(p.disagree)
    assert.equal(2, #p.sources)
  end)

  it("are not believed beyond any drive's age", function()
    local pages = farm_log.example()
    pages[1][19] = 1 << 40
    local p = vitals.power_on {smart = smart(2344), farm = farm.decode(farm_log.pages(pages))}
    assert.is_nil(p.counters_reset)
    assert.equal(1, #p.sources)
  end)

  it("are unknown without any", function()
    assert.is_nil(vitals.power_on({}).power_on_hours)
    assert.is_nil(vitals.power_on({smart = smart(3700000)}).source)
  end)
end)

describe("the temperature from several sources", function()
  local function smart(...) return smart_data.decode(make.data {...}, nil,
    {model = "X", solid_state = false}) end

  it("is the first of a stated order, and the others are kept", function()
    local t = vitals.temperature {sct = {temperature_c = 41},
      smart = smart({id = 194, raw = 30}, {id = 190, raw = 40})}
    assert.equal(41, t.temperature_c)
    assert.equal("SCT status", t.source)
    assert.is_true(t.disagree)
    assert.same({source = "attribute 194", temperature_c = 30}, t.sources[2])
  end)

  it("within a few degrees does not disagree", function()
    local t = vitals.temperature {sct = {temperature_c = 41}, smart = smart {id = 194, raw = 38}}
    assert.is_nil(t.disagree)
  end)

  it("of 0 is doubtful and not chosen, unless another source is as cold", function()
    local t = vitals.temperature {smart = smart {id = 194, raw = 0}}
    assert.is_nil(t.temperature_c)
    assert.is_true(t.sources[1].doubtful)
    t = vitals.temperature {smart = smart({id = 194, raw = 0}, {id = 190, raw = 2})}
    assert.equal(0, t.temperature_c)
  end)

  it("is read from device statistics too", function()
    local page = string.pack("<I2BI4BBBB", 1, 0, 0, 0, 2, 0, 5)
    local five = string.pack("<I2BBI4I7B", 1, 5, 0, 0, 33, 0xc0)
    local d = device_statistics.decode(page .. ("\0"):rep(512 - #page + 2048) .. five
      .. ("\0"):rep(512 - #five))
    assert.equal("device statistics", vitals.temperature({statistics = d}).source)
    assert.equal(33, vitals.temperature({statistics = d}).temperature_c)
  end)
end)

describe("power cycles", function()
  it("come from attribute 12, else from FARM", function()
    local f = farm.decode(farm_log.pages(farm_log.example()))
    assert.equal(19, vitals.power_cycles({farm = f}).power_cycles)
    local smart = smart_data.decode(make.data {{id = 12, raw = 20}}, nil,
      {model = "X", solid_state = false})
    assert.equal(20, vitals.power_cycles({farm = f, smart = smart}).power_cycles)
  end)
end)
