-- What differs between two drives, and in one drive between two days.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local ata_drives = require "spec.support.ata_fixtures"
local capdiff = require "hdd.drive.capdiff"
local fixtures = require "spec.support.drive_fixtures"
local json = require "dkjson"
local make = require "spec.support.smart_page"
local pages = require "spec.support.page_fixtures"
local smart_data = require "hdd.drive.smart_data"
local vitals = require "hdd.drive.vitals"

local function lines(list)
  local out = {}
  for _, d in ipairs(list) do out[#out + 1] = ("%s: %s, %s"):format(d.name, tostring(d.a),
    tostring(d.b)) end
  return out
end

local function find(list, name)
  for _, d in ipairs(list) do
    if d.name == name then return d end
  end
end

local function warned(result, name)
  for _, w in ipairs(result.warnings) do
    if w.name == name then return w.message end
  end
end

describe("the comparison of the WD3000GLFS with the WD6000HLHX", function()
  local OLD, NEW = "WD3000GLFS-01F8U0-a", "WD6000HLHX-01JJPV0-a"
  local d = capdiff.compare(ata_drives.decode(OLD), ata_drives.decode(NEW))

  it("finds SCT status 3 for 2, 478 temperatures for 128, and the Phy event counter that is new", function()
    assert.same({2, 3}, {find(d.capabilities, "sct.status.format_version").a,
      find(d.capabilities, "sct.status.format_version").b})
    assert.equal("SCT status version", find(d.capabilities, "sct.status.format_version").what)
    local history = find(d.capabilities, "sct.temperature_history.size")
    assert.same({128, 478, "temperature history rows"}, {history.a, history.b, history.what})
    local counter = find(d.capabilities, "phy.11")
    assert.equal("b", counter.only)
    assert.matches("^Phy event counter 11 %(CRC errors within host%-to%-device FIS%)", counter.what)
  end)

  it("names these capabilities and no other", function()
    assert.same({
      "sata_version: SATA 2.5, SATA 2.6", "features.automatic_acoustic_management: true, nil",
      "link.max_mbit_per_s: 3000, 6000", "features.advanced_power_management: nil, true",
      "test_minutes.extended: 60, 88", "smart.offline_seconds: 4860, 8280",
      "sct.status.format_version: 2, 3",
      "sct.status.sct_level: 0, 1", "sct.temperature_history.size: 128, 478",
      "sct.temperature_history.recommended_lowest_c: 5, 0",
      "sct.temperature_history.limit_highest_c: 70, 85",
      "sct.temperature_history.limit_lowest_c: -40, -41",
      "log_directory.makers_own: A0-B7 C0-C1, A0-B7 BD C0-C1",
      "smart_log_directory.makers_own: A0-B7 C0, A0-B5 B7 BD C0", "phy.11: nil, 2",
    }, lines(d.capabilities))
  end)

  -- Looked up in the fixtures' expected values, past our decoders.
  it("says nothing that the drives do not bear out", function()
    local a, b = fixtures.json(("ata/%s/expected.json"):format(OLD)),
      fixtures.json(("ata/%s/expected.json"):format(NEW))
    local function check(name, x, y)
      local found = find(d.capabilities, name)
      if x == y then return assert.is_nil(found, name) end
      assert.same({x, y}, {found and found.a, found and found.b}, name)
    end
    check("test_minutes.short", a.smart_general.poll_short, b.smart_general.poll_short)
    check("test_minutes.extended", a.smart_general.poll_extended, b.smart_general.poll_extended)
    check("test_minutes.conveyance", a.smart_general.poll_conveyance,
      b.smart_general.poll_conveyance)
    check("smart.offline_seconds", a.smart_general.offline_seconds, b.smart_general.offline_seconds)
    check("sct.status.sct_version", a.sct_status.sct_version, b.sct_status.sct_version)
    check("sct.status.sct_level", a.sct_status.sct_spec, b.sct_status.sct_spec)
    local x, y = a.sct_temperature_history, b.sct_temperature_history
    check("sct.temperature_history.recommended_highest_c", x.op_max, y.op_max)
    check("sct.temperature_history.recommended_lowest_c", x.op_min, y.op_min)
    check("sct.temperature_history.limit_highest_c", x.lim_max, y.lim_max)
    check("sct.temperature_history.limit_lowest_c", x.lim_min, y.lim_min)
    check("sct.temperature_history.version", x.version, y.version)
    for address = 0, 0x9f do
      local key = ("0x%02x"):format(address)
      check(("log_directory.%02xh"):format(address), a.gp_log_directory.sectors[key],
        b.gp_log_directory.sectors[key])
      check(("smart_log_directory.%02xh"):format(address), a.smart_log_directory.sectors[key],
        b.smart_log_directory.sectors[key])
    end
    local function by_id(list)
      local map = {}
      for _, e in ipairs(list) do map[e.id] = e end
      return map
    end
    local ca, cb = by_id(a.sata_phy_event_counters), by_id(b.sata_phy_event_counters)
    for id = 1, 0x8fff do check(("phy.%d"):format(id), ca[id] and ca[id].size, cb[id]
      and cb[id].size) end
    local aa, ab = by_id(a.attributes), by_id(b.attributes)
    for id = 1, 255 do
      check(("attribute.%d"):format(id), aa[id] and true, ab[id] and true)
      if aa[id] and ab[id] then check(("attribute.%d.threshold"):format(id), aa[id].threshold,
        ab[id].threshold) end
    end
  end)

  it("keeps who they are, how they are set and their numbers apart", function()
    assert.is_false(d.same_drive)
    assert.same({"model", "serial", "firmware", "wwn", "size_bytes"}, (function()
      local names = {}
      for i, f in ipairs(d.identity) do names[i] = f.name end
      return names
    end)())
    assert.same({
      "smart.automatic: false, true", "sct.error_recovery.read: 0, 7000",
      "sct.error_recovery.write: 0, 7000",
    }, lines(d.settings))
    assert.equal(0, #d.counters + #d.lifetime + #d.gauges + #d.steady)
    assert.same({84428, 8730}, {find(d.states, "attribute.9").a, find(d.states, "attribute.9").b})
    assert.is_nil(find(d.states, "attribute.9").growth)
    assert.equal(0, #d.not_compared)
  end)
end)

describe("a drive compared with itself", function()
  for _, name in ipairs(fixtures.ata()) do
    it(("(%s) differs in nothing"):format(name), function()
      local d = capdiff.compare(ata_drives.decode(name), ata_drives.decode(name))
      assert.is_true(d.same_drive)
      assert.is_false(d.reversed)
      for _, list in ipairs {"identity", "capabilities", "settings", "lifetime", "gauges",
        "states", "not_compared"} do
        assert.same({}, lines(d[list]), list)
      end
      for _, c in ipairs(d.counters) do assert.equal("saturated", c.change, c.name) end
    end)
  end
  for _, kind in ipairs {"nvme", "scsi"} do
    for _, drive in ipairs(pages.drives(kind)) do
      it(("(%s) differs in nothing"):format(drive.name), function()
        local d = capdiff.compare(pages.decode(kind, drive.folder),
          pages.decode(kind, drive.folder))
        for _, list in ipairs {"identity", "capabilities", "settings", "counters", "lifetime",
          "gauges", "states"} do
          assert.same({}, lines(d[list]), list)
        end
      end)
    end
  end
end)

-- One drive of some attributes: {id=, raw=}.
local function drive(attributes, serial)
  local identity = {model = "WDC WD6000HLHX-01JJPV0", serial = serial or "S1"}
  local said = {identity = identity, smart = smart_data.decode(make.data(attributes), nil,
    identity)}
  said.power_on = vitals.power_on(said)
  return said
end

describe("two readings of one drive", function()
  it("show what grew, what stands still, and the time between, with totals of use apart", function()
    local d = capdiff.compare(drive {{id = 9, raw = 1000}, {id = 199, raw = 500},
      {id = 5, raw = 3}, {id = 12, raw = 7}},
      drive {{id = 9, raw = 1100}, {id = 199, raw = 512}, {id = 5, raw = 3}, {id = 12, raw = 8}})
    assert.is_true(d.same_drive)
    assert.equal(100, d.elapsed_power_on_hours)
    assert.same({"attribute.199: 500, 512"}, lines(d.counters))
    assert.same({"grew", 12}, {d.counters[1].change, d.counters[1].growth})
    assert.same({"attribute.9: 1000, 1100", "attribute.12: 7, 8"}, lines(d.lifetime))
    assert.same({{name = "attribute.5", what = "attribute 5 (reallocated sectors)",
      where = "SMART data", value = 3}},
      {table.unpack(d.steady)})
    d = capdiff.compare(drive {{id = 199, raw = 500}}, drive {{id = 199, raw = 500}})
    assert.equal(0, #d.counters)
    assert.equal(500, d.steady[1].value)
  end)

  it("tell a counter that wrapped from one that was reset, and never a negative or huge growth",
    function()
    local d = capdiff.compare(drive {{id = 9, raw = 65530}}, drive {{id = 9, raw = 12}})
    assert.same({"wrapped", 18}, {d.lifetime[1].change, d.lifetime[1].growth})
    assert.equal(18, d.elapsed_power_on_hours)
    d = capdiff.compare(drive {{id = 9, raw = 30000}}, drive {{id = 9, raw = 12}})
    assert.same({"reset", 12, true}, {d.lifetime[1].change, d.lifetime[1].growth,
      d.lifetime[1].at_least})
    assert.is_nil(d.elapsed_power_on_hours)
  end)

  it("tell Phy counters that were reset or are full", function()
    local function phy(...)
      local said = drive {}
      said.phy = {counters = {}}
      for id, value in ipairs {...} do
        said.phy.counters[id] = {id = id, name = "x", size_bytes = 2, value = value,
          saturated = value == 65535}
      end
      return said
    end
    local d = capdiff.compare(phy(83, 65535, 65530, 65535, 7), phy(0, 65535, 65535, 12, 9))
    assert.same({"reset", 0, true}, {d.counters[1].change, d.counters[1].growth,
      d.counters[1].at_least})
    assert.same({"saturated", true}, {d.counters[2].change, d.counters[2].at_least})
    assert.is_nil(d.counters[2].growth)
    assert.same({"saturated", 5, true}, {d.counters[3].change, d.counters[3].growth,
      d.counters[3].at_least})
    assert.same({"reset", 12, true}, {d.counters[4].change, d.counters[4].growth,
      d.counters[4].at_least})
    assert.same({"grew", 2}, {d.counters[5].change, d.counters[5].growth})
  end)

  it("given in reverse order are noticed, and growth counted the right way", function()
    local old = {{id = 9, raw = 1000}, {id = 12, raw = 7}, {id = 199, raw = 500}}
    local new = {{id = 9, raw = 1100}, {id = 12, raw = 9}, {id = 199, raw = 512}}
    local d = capdiff.compare(drive(new), drive(old))
    assert.is_true(d.reversed)
    assert.is_string(warned(d, "reversed"))
    assert.same({512, 500, 12}, {d.counters[1].a, d.counters[1].b, d.counters[1].growth})
    assert.equal(100, d.elapsed_power_on_hours)
    -- With the times known, the same numbers mean that the counters were cleared.
    local function read_at(time, said)
      said.source = {read_at = time}
      return said
    end
    d = capdiff.compare(read_at("2024-02-28T23:59:59Z", drive(new)),
      read_at("2024-03-01T00:00:00Z", drive(old)))
    assert.is_false(d.reversed)
    assert.equal(86401, d.elapsed_s)
    assert.equal("reset", d.counters[1].change)
    d = capdiff.compare(read_at("2025-01-01T00:00:04Z", drive(old)),
      read_at("2024-12-31T23:59:59Z", drive(new)))
    assert.is_true(d.reversed)
    assert.equal(5, d.elapsed_s)
    d = capdiff.compare(read_at("1970-01-01T00:00:00Z", drive(old)),
      read_at("2026-12-01T00:00:00Z", drive(new)))
    assert.equal(os.time {year = 2026, month = 12, day = 1, hour = 0} - os.time {year = 1970, month = 1,
      day = 1, hour = 0}, d.elapsed_s)
  end)

  it("of two drives give no growth, and a warning where one drive was expected", function()
    local a, b = drive({{id = 199, raw = 500}}, "S1"), drive({{id = 199, raw = 512}}, "S2")
    local d = capdiff.compare(a, b, {expect_same = true})
    assert.is_false(d.same_drive)
    assert.matches("S1 and S2", warned(d, "two_drives"))
    assert.same({"attribute.199: 500, 512"}, lines(d.states))
    assert.is_nil(warned(capdiff.compare(a, b), "two_drives"))
    a.identity.serial = nil
    d = capdiff.compare(a, b)
    assert.is_nil(d.same_drive)
    assert.is_string(warned(d, "unknown_drive"))
  end)

  it("do not call a section that was read once a difference", function()
    local a = ata_drives.decode "WD6000HLHX-01JJPV0-a"
    local b = ata_drives.decode("WD6000HLHX-01JJPV0-a", function(p)
      p.logs, p.sct_status, p.sct_history = {}, nil, nil
    end)
    local d = capdiff.compare(a, b)
    assert.same({}, lines(d.capabilities))
    local missing = {}
    for _, m in ipairs(d.not_compared) do missing[m.where] = m.only end
    assert.same({
      ["SCT status"] = "a", ["SCT temperature history"] = "a", ["log directory"] = "a",
      ["Phy event counters"] = "a",
    }, missing)
  end)

  it("of an NVMe drive know counters beyond 2^63", function()
    local function health(hours, units)
      return pages.decode("nvme", "KXG60ZNV512G_TOSHIBA", function(p)
        local log = p.logs[2]
        p.logs[2] = log:sub(1, 48) .. string.pack("<I8I8", units, 1) .. log:sub(65, 128)
          .. string.pack("<I8I8", hours, 0) .. log:sub(145)
      end)
    end
    local d = capdiff.compare(health(100, 5), health(150, 6))
    assert.equal(50, d.elapsed_power_on_hours)
    assert.equal(50, find(d.lifetime, "health.power_on_hours").growth)
    local written = find(d.lifetime, "health.data_written_bytes")
    assert.equal("grew", written.change)
    assert.equal("9444732965739290430464000", written.b)
    assert.is_nil(written.growth)
  end)
end)

describe("a comparison", function()
  it("of any two kinds is plain data", function()
    local d = capdiff.compare(ata_drives.decode "HUS724020ALA640-a",
      pages.decode("nvme", "SSD_970_EVO_Plus_cw0d"))
    assert.is_string(json.encode(d))
    assert.is_false(d.same_drive)
    d = capdiff.compare(pages.decode("scsi", "SEAGATE_ST373453LC"),
      pages.decode("scsi", "SAMSUNG_MZILT7T6HALA"))
    assert.same({"SPC-3", "SPC-5"}, {find(d.capabilities, "scsi_version").a,
      find(d.capabilities, "scsi_version").b})
    assert.same({false, true}, {find(d.settings, "exceptions.enabled").a,
      find(d.settings, "exceptions.enabled").b})
    assert.is_string(json.encode(capdiff.compare({}, {})))
  end)
end)
