-- Malformed and odd pages: what can be trusted comes out, the rest is absent, and a named warning
-- says why.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local device_statistics = require "hdd.drive.device_statistics"
local error_log = require "hdd.drive.error_log"
local fixtures = require "spec.support.drive_fixtures"
local phy = require "hdd.drive.phy"
local sct = require "hdd.drive.sct"
local self_test_log = require "hdd.drive.self_test_log"
local smart_data = require "hdd.drive.smart_data"

local function read(name) return assert(fixtures.read("broken/" .. name .. ".bin"), name) end

local function warned(result, name)
  for _, w in ipairs(result.warnings) do
    if w.name == name then return w.message end
  end
end

local TEMPERATURES = {
  "temperature_c", "power_cycle_lowest_c", "power_cycle_highest_c", "lifetime_lowest_c",
  "lifetime_highest_c",
}

-- Each case of broken/expected.json, by its file.
local CASES = {
  sct_status_v1 = function(data)
    local s = sct.status(data)
    assert.equal(1, s.format_version)
    assert.equal(258, s.sct_version)
    assert.is_string(warned(s, "version"))
    for _, key in ipairs(TEMPERATURES) do assert.is_nil(s[key]) end
  end,
  sct_status_zero = function(data)
    local s = sct.status(data)
    assert.equal(0, s.format_version)
    assert.matches("not supported", warned(s, "version"))
    assert.is_nil(s.sct_version)
    assert.is_nil(s.temperature_c)
  end,
  sct_status_ff = function(data)
    local s = sct.status(data)
    assert.equal(65535, s.format_version)
    assert.is_string(warned(s, "version"))
    assert.is_nil(s.sct_version)
    assert.is_nil(s.temperature_c)
  end,
  sct_status_busy = function(data)
    local s = sct.status(data)
    assert.is_true(s.busy)
    assert.equal(36, s.temperature_c)
    assert.equal(48, s.lifetime_highest_c)
  end,
  sct_status_no_temps = function(data)
    local s = sct.status(data)
    assert.is_false(s.busy)
    for _, key in ipairs(TEMPERATURES) do assert.is_nil(s[key]) end
    assert.is_nil(s.max_operating_c)
  end,
  sct_status_limits_ff = function(data)
    local s = sct.status(data)
    assert.is_nil(s.over_limit_count)
    assert.is_nil(s.under_limit_count)
    assert.is_string(warned(s, "limit_counter"))
    assert.equal(36, s.temperature_c)
  end,
  sct_status_smart_8080 = function(data)
    local s = sct.status(data)
    assert.is_nil(s.smart_status)
    assert.matches("8080h", warned(s, "smart_status"))
    assert.equal(36, s.temperature_c)
  end,
  temphist_size0 = function(data)
    local h = sct.history(data)
    assert.equal(0, #h.rows)
    assert.is_false(h.valid)
    assert.is_string(warned(h, "empty"))
  end,
  temphist_size4452 = function(data)
    local h = sct.history(data)
    assert.equal(4452, h.size)
    assert.equal(0, #h.rows)
    assert.is_string(warned(h, "size"))
  end,
  temphist_index_eq_size = function(data)
    local h = sct.history(data)
    assert.equal(0, #h.rows)
    assert.is_string(warned(h, "index"))
  end,
  temphist_index_ffff = function(data)
    local h = sct.history(data)
    assert.equal(0, #h.rows)
    assert.is_string(warned(h, "never_written"))
    assert.equal(1, h.interval_minutes)
    assert.equal(60, h.recommended_highest_c)
  end,
  temphist_interval0 = function(data)
    local h = sct.history(data)
    assert.equal(478, #h.rows)
    assert.equal(36, h.rows[478].temperature_c)
    assert.is_nil(h.rows[478].minutes_ago)
    assert.is_nil(h.interval_minutes)
    assert.is_string(warned(h, "interval"))
  end,
  temphist_version10 = function(data)
    local h = sct.history(data)
    assert.is_true(h.doubtful)
    assert.matches("version 10", warned(h, "version"))
  end,
  temphist_size1 = function(data)
    local h = sct.history(data)
    assert.equal(1, #h.rows)
    assert.equal(data:byte(35), h.rows[1].temperature_c)
    assert.equal(0, h.rows[1].minutes_ago)
  end,
  phy_no_terminator = function(data)
    local p = phy.decode(data)
    assert.equal(126, #p.counters)
    assert.equal(126, p.counters[126].value)
    assert.is_string(warned(p, "no_end"))
  end,
  phy_size0 = function(data)
    local p = phy.decode(data)
    assert.equal(0, #p.counters)
    assert.is_string(warned(p, "invalid_entry"))
  end,
  phy_badsum = function(data)
    local p = phy.decode(data)
    assert.is_false(p.checksum_ok)
    assert.is_string(warned(p, "checksum"))
    assert.equal(10, #p.counters)
  end,
  phy_empty = function(data)
    local p = phy.decode(data)
    assert.equal(0, #p.counters)
    assert.equal(0, #p.warnings)
  end,
  phy_64bit_full = function(data)
    local c = phy.decode(data).counters[1]
    assert.equal("18446744073709551615", c.value)
    assert.is_true(c.saturated)
    assert.equal(8, c.size_bytes)
  end,
  devstat_wrong_page = function(data)
    local d = device_statistics.decode(data)
    assert.matches("page 1 says that it is page 9", warned(d, "wrong_page"))
    assert.not_equal(1, d.pages[1].page)
    assert.is_nil(device_statistics.value(d, "power_on_resets"))
    assert.equal("integer", math.type(device_statistics.value(d, "spindle_hours")))
  end,
  devstat_list_255 = function(data)
    local d = device_statistics.decode(data)
    assert.is_string(warned(d, "list") or warned(d, "missing_page"))
    local pages = {}
    for i, p in ipairs(d.pages) do pages[i] = p.page end
    assert.same({1, 3, 4, 5, 6}, pages)
  end,
  devstat_list_0 = function(data)
    local d = device_statistics.decode(data)
    assert.is_false(d.supported)
    assert.equal(0, #d.pages)
    assert.is_string(warned(d, "no_pages"))
  end,
  exterr_index0 = function(data)
    local e = error_log.extended(data)
    assert.equal(1564, e.count)
    assert.equal(0, #e.entries)
    assert.is_string(warned(e, "index"))
  end,
  exterr_index999 = function(data)
    local e = error_log.extended(data)
    assert.equal(1564, e.count)
    assert.equal(0, #e.entries)
    assert.is_string(warned(e, "index"))
  end,
  selftest_index22 = function(data)
    local t = self_test_log.simple(data)
    assert.equal(0, #t.entries)
    assert.is_string(warned(t, "index"))
  end,
  smart_data_badsum = function(data)
    local s = smart_data.decode(data)
    assert.is_false(s.checksum_ok)
    assert.is_string(warned(s, "checksum"))
    assert.equal(17, #s.attributes)
  end,
  smart_data_zero = function(data)
    local s = smart_data.decode(data)
    assert.equal(0, #s.attributes)
    assert.is_true(s.checksum_ok)
  end,
  smart_data_dup_id = function(data)
    local s = smart_data.decode(data)
    assert.equal(1, s.attributes[1].id)
    assert.equal(1, s.attributes[2].id)
    assert.equal(s.attributes[1], smart_data.find(s, 1))
    assert.is_string(warned(s, "duplicate_id"))
  end,
  -- Our choice: as smartctl has it, 0 counts and fails; FEh is no value and never does.
  smart_data_invalid_norm = function(data)
    local s = smart_data.decode(data, fixtures.read "ata/WD6000HLHX-01JJPV0-a/smart_thresholds.bin")
    assert.equal(0, s.attributes[1].value)
    assert.equal("failing_now", s.attributes[1].state)
    assert.matches("attribute 1: value 0, worst 254", warned(s, "normalized_value"))
  end,
}

-- Read by the transports, not by these decoders.
local ELSEWHERE = {blob = true, nvme_smart_log = true}

describe("a malformed page", function()
  local expected = fixtures.json "broken/expected.json"

  local files = {}
  for file in pairs(expected) do table.insert(files, file) end
  table.sort(files)
  for _, file in ipairs(files) do
    local case = expected[file]
    if not ELSEWHERE[case.kind] then
      local name = file:gsub("%.bin$", "")
      it(("(%s: %s) gives: %s"):format(name, case.what, case.must), function()
        assert(CASES[name], "no spec for " .. name)(read(name))
      end)
    end
  end
end)

describe("a page cut short", function()
  local page = fixtures.read "ata/ST14000NM001G-2KJ103-a/smart_data.bin"

  it("gives the attributes that are whole and a warning", function()
    local s = smart_data.decode(page:sub(1, 100))
    assert.equal(8, #s.attributes)
    assert.is_nil(s.self_test)
    assert.matches("100 bytes of 512", warned(s, "short"))
  end)

  it("that is empty gives nothing and a warning", function()
    for _, decode in ipairs {
      smart_data.decode, sct.status, sct.history, phy.decode, device_statistics.decode,
      error_log.summary,
      error_log.extended, self_test_log.simple, self_test_log.extended, self_test_log.selective,
    } do
      assert.is_string(warned(decode(""), "short"))
    end
  end)
end)
