-- Logs of failed commands, of self-tests, of pending defects; directories; statistics.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local device_statistics = require "hdd.drive.device_statistics"
local error_log = require "hdd.drive.error_log"
local fixtures = require "spec.support.drive_fixtures"
local log_directory = require "hdd.drive.log_directory"
local make = require "spec.support.smart_page"
local ncq_error = require "hdd.drive.ncq_error"
local pending_defects = require "hdd.drive.pending_defects"
local self_test_log = require "hdd.drive.self_test_log"

local function read(drive, file) return assert(fixtures.read("ata/" .. drive .. "/" .. file)) end

local function warned(result, name)
  for _, w in ipairs(result.warnings) do if w.name == name then return w.message end end
end

describe("the extended error log", function()
  it("names commands, registers and states, newest first", function()
    local e = error_log.extended(read("WD3000HLHX-01JJPV0-a", "gplog_03.bin"))
    local newest = e.entries[1]
    assert.equal(24, newest.number)
    assert.same({"UNC"}, setmetatable(newest.error_names, nil))
    assert.same({"ERR"}, setmetatable(newest.status_names, nil))
    assert.equal("active or idle", newest.state_name)
    assert.equal("READ DMA EXT", newest.commands[1].command_name)
    assert.equal(23, e.entries[2].number)
  end)

  it("of the first VelociRaptors is read as the 28 bit records that it holds", function()
    local e = error_log.extended(read("WD3000GLFS-01F8U0-a", "gplog_03.bin"))
    assert.equal("28-bit", e.layout)
    assert.is_string(warned(e, "layout"))
    assert.is_nil(e.entries[1].lba)
    assert.equal(257, e.entries[1].lba_doubtful)
    assert.equal(0x51, e.entries[1].status)
  end)

  it("keeps a saturated count apart from a count", function()
    local e = error_log.extended(read("HDN724030ALE640-a", "gplog_03.bin"))
    assert.is_true(e.count_saturated)
    assert.is_nil(error_log.extended(read("WD3000HLHX-01JJPV0-a", "gplog_03.bin")).count_saturated)
  end)

  it("passes over slots that are empty, and keeps the numbers", function()
    local page = read("WD3000HLHX-01JJPV0-a", "gplog_03.bin")
    local e = error_log.extended(page)
    local slot = e.entries[2].slot
    local at = slot // 4 * 512 + 4 + slot % 4 * 124
    local gone = error_log.extended(page:sub(1, at) .. ("\0"):rep(124) .. page:sub(at + 125))
    assert.equal(#e.entries - 1, #gone.entries)
    assert.equal(e.entries[3].number, gone.entries[2].number)
    assert.is_false(gone.checksum_ok)
  end)

  it("of thousands of pages is read in part", function()
    local entry = ("\1"):rep(124)
    local page = "\1\0" .. "%s" .. entry:rep(4)
    local log = page:format(string.pack("<I2", 4000)) .. string.pack("<I2", 65535) .. ("\0"):rep(10)
    log = log .. (("\0"):rep(4) .. entry:rep(4) .. ("\0"):rep(12)):rep(999)
    local began = os.clock()
    local e = error_log.extended(log)
    assert.is_true(os.clock() - began < 0.05)
    assert.equal(256, #e.entries)
    assert.is_string(warned(e, "cut"))
  end)
end)

describe("the summary error log", function()
  it("has the address in 28 bits", function()
    local e = error_log.summary(read("SP0812C-a", "smartlog_01.bin"))
    assert.equal(1699, e.count)
    assert.equal(1699, e.entries[1].number)
    assert.same({"ABRT"}, setmetatable(e.entries[1].error_names, nil))
  end)
end)

describe("the self-test log", function()
  local function log(...)
    local parts = {string.pack("<I2", 1)}
    for _, hours in ipairs {...} do  -- oldest first
      parts[#parts + 1] = string.pack("<BBI2BI4", 1, 0, hours, 0, 0xffffffff) .. ("\0"):rep(15)
    end
    local page = table.concat(parts)
    return make.sealed(page .. ("\0"):rep(508 - #page) .. string.char(select("#", ...)))
  end

  it("gives the age of a test although its hours wrap at 65536", function()
    local t = self_test_log.simple(log(1770), 67346)
    assert.equal(1770, t.entries[1].hours_16_bit)
    assert.equal(67306, t.entries[1].power_on_hours)
    assert.equal(40, t.entries[1].age_hours)
    assert.is_true(t.hours_wrapped)
    assert.is_string(warned(t, "hours_wrap"))
  end)

  it("puts tests before and after the wrap in order", function()
    local t = self_test_log.extended(read("WD3000GLFS-01F8U0-a", "gplog_07.bin"), 84428)
    assert.equal(75251, t.entries[1].power_on_hours)
    assert.equal(74935, t.entries[3].power_on_hours)
    assert.equal(46974, t.entries[4].power_on_hours)
    for i = 2, #t.entries do
      assert.is_true(t.entries[i].power_on_hours <= t.entries[i - 1].power_on_hours)
    end
  end)

  it("says that it can't tell without the drive's hours", function()
    local t = self_test_log.simple(log(1770))
    assert.is_nil(t.entries[1].power_on_hours)
    assert.is_nil(t.entries[1].age_hours)
  end)

  it("bears hours that tick apart, and says when tests are later than the drive", function()
    local t = self_test_log.simple(log(99, 101), 100)
    assert.equal(101, t.entries[1].power_on_hours)
    assert.equal(0, t.entries[1].age_hours)
    assert.equal(0, #t.warnings)
    t = self_test_log.simple(log(500), 100)
    assert.equal(500, t.entries[1].power_on_hours)
    assert.is_string(warned(t, "order"))
  end)

  it("takes hours with a fraction", function()
    local t = self_test_log.simple(log(99), 100.5)
    assert.equal("integer", math.type(t.entries[1].age_hours))
    assert.equal(1, t.entries[1].age_hours)
  end)

  it("gives the failing address", function()
    local t = self_test_log.extended(read("HUS724020ALA640-a", "gplog_07.bin"))
    local failed
    for _, e in ipairs(t.entries) do failed = failed or e.failed and e end
    assert.equal("failed: read element", failed.result)
    assert.equal(2901265099, failed.lba)
  end)

  it("wraps around the ring of its slots", function()
    local parts = {string.pack("<I2", 1)}
    for k = 1, 21 do
      parts[#parts + 1] = string.pack("<BBI2BI4", 1, 0, (k + 16) % 21 + 1, 0, 0xffffffff)
        .. ("\0"):rep(15)
    end
    local page = table.concat(parts)
    local t = self_test_log.simple(make.sealed(page .. ("\0"):rep(508 - #page) .. "\4"))
    for k = 1, 21 do assert.equal(22 - k, t.entries[k].hours_16_bit) end
  end)
end)

describe("the selective self-test log", function()
  it("gives spans, progress and flags", function()
    local page = string.pack("<I2i8i8", 1, 1000, 1999) .. ("\0"):rep(474)
      .. string.pack("<i8I2I2", 1500, 1, 0x1a)
    local s = self_test_log.selective(make.sealed(page .. ("\0"):rep(4) .. string.pack("<I2", 60)))
    assert.same({first_lba = 1000, last_lba = 1999}, s.spans[1])
    assert.equal(5, #s.spans)
    assert.equal(1500, s.current_lba)
    assert.equal(1, s.current_span)
    assert.is_true(s.scan_rest and s.pending and s.active)
    assert.equal(60, s.resume_minutes)
  end)
end)

describe("pending defects", function()
  it("have an hour only where the drive knows it", function()
    local p = pending_defects.decode(read("HUH721212ALN604-a", "gplog_0c.bin"))
    assert.equal(1, p.count)
    assert.equal(18514875, p.defects[1].lba)
    assert.is_nil(p.defects[1].power_on_hours)
  end)

  it("beyond the pages that were read are counted, not made up", function()
    local p = pending_defects.decode(string.pack("<I4", 1000) .. ("\0"):rep(508))
    assert.equal(1000, p.count)
    assert.equal(31, #p.defects)
    assert.is_string(warned(p, "cut"))
  end)
end)

describe("the NCQ error log", function()
  it("gives the queued command that failed", function()
    local page = "\5\0\x41\x40" .. "\x56\x34\x12" .. "\x40" .. "\x78\0\0" .. "\0" .. "\8\0"
      .. "\3\x11\4" .. string.pack("<I6", 0x78123457)
    local e = ncq_error.decode(make.sealed(page))
    assert.is_true(e.queued)
    assert.equal(5, e.tag)
    assert.equal(0x78123456, e.lba)
    assert.same({"UNC"}, setmetatable(e.error_names, nil))
    assert.same({key = 3, asc = 0x11, ascq = 4}, e.sense)
    assert.equal(0x78123457, e.final_lba)
  end)

  it("without a queued command says so", function()
    assert.is_false(ncq_error.decode(make.sealed("\x80")).queued)
    assert.is_false(ncq_error.decode(("\0"):rep(512)).queued)
  end)
end)

describe("a log directory", function()
  it("names logs and gives their pages", function()
    local d = log_directory.general_purpose(read("WD6000HLHX-01JJPV0-a", "gplog_00.bin"))
    assert.equal(6, log_directory.pages(d, 0x03))
    assert.equal(0, log_directory.pages(d, 0x04))
    assert.equal(0, log_directory.pages(nil, 0x04))
    assert.equal("SATA Phy event counters", log_directory.name(0x11))
    assert.equal("maker's own", log_directory.name(0xc1))
  end)

  it("of no version is not believed", function()
    local d = log_directory.general_purpose(("\xff"):rep(512))
    assert.equal(0, #d.logs)
    assert.is_string(warned(d, "version"))
  end)
end)

describe("device statistics", function()
  local function field(value, flags) return string.pack("<I7B", value, flags) end
  local function page(number, ...) return string.pack("<I2BBI4", 1, number, 0, 0)
    .. table.concat({...}) end
  local function padded(p) return p .. ("\0"):rep(512 - #p) end
  local function log(list, ...)
    local parts = {padded(string.pack("<I2BI4BB", 1, 0, 0, 0, #list)
      .. string.char(table.unpack(list)))}
    for _, p in ipairs {...} do parts[#parts + 1] = padded(p) end
    return table.concat(parts)
  end

  it("give values by key where the drive calls them valid", function()
    local d = device_statistics.decode(log({0, 1},
      page(1, field(7, 0xc0), field(100, 0x80), field(9, 0))))
    assert.equal(7, device_statistics.value(d, "power_on_resets"))
    assert.is_nil(device_statistics.value(d, "power_on_hours"))
    assert.equal(2, #d.pages[1].statistics)
    assert.is_false(d.pages[1].statistics[2].valid)
  end)

  it("may exceed 100 per cent of the life", function()
    local d = device_statistics.decode(read("CT1050MX300SSD1-a", "gplog_04.bin"))
    assert.equal(111, device_statistics.value(d, "life_used_percent"))
  end)

  it("have signed temperatures, 80h being none", function()
    local temperatures = page(5, field(0xf6, 0xc0), field(0x80, 0xc0))
    local d = device_statistics.decode(log({0, 5}) .. ("\0"):rep(2048) .. padded(temperatures))
    assert.equal(-10, device_statistics.value(d, "temperature_c"))
    assert.is_nil(device_statistics.value(d, "average_short_term_c"))
  end)

  it("take pages from elsewhere, and name those that were not read", function()
    local d = device_statistics.decode(read("HUH721212ALN604-a", "gplog_04.bin"), {
      [255] = read("HUH721212ALN604-a", "gplog_04_pff.bin"),
    })
    assert.equal(255, d.pages[#d.pages].page)
    d = device_statistics.decode(read("HUH721212ALN604-a", "gplog_04.bin"))
    assert.matches("page 255", warned(d, "missing_page"))
  end)
end)
