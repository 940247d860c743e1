-- SCSI and SAS drives: how the recorded ones read, and odd answers.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local json = require "dkjson"
local pages = require "spec.support.page_fixtures"
local scsi = require "hdd.drive.scsi"
local scsi_answers = require "hdd.drive.scsi_answers"
local scsi_identity = require "hdd.drive.scsi_identity"
local scsi_logs = require "hdd.drive.scsi_logs"
local scsi_ports = require "hdd.drive.scsi_ports"
local scsi_sense = require "hdd.drive.scsi_sense"

local function warned(result, name)
  for _, w in ipairs(result.warnings) do
    if w.name == name then return w.message end
  end
end

describe("the decoders of SCSI drives", function()
  local drives = pages.drives "scsi"

  for _, drive in ipairs(drives) do
    it("read every page of " .. drive.name .. " without a warning, and list all of its log pages",
      function()
      local said = pages.decode("scsi", drive.folder)
      local listed = {}
      for _, p in ipairs(said.log_pages.pages) do listed[p.page] = true end
      for page in pairs(pages.pages("scsi", drive.folder).logs) do assert.is_true(listed[page],
        page) end
      for key, part in pairs(said) do
        if type(part) == "table" and part.warnings then
          assert.equal(0, #part.warnings, key .. ": " .. json.encode(part.warnings))
        end
      end
    end)
  end
end)

describe("a SCSI drive", function()
  it("is named, aged and measured from its pages", function()
    local said = pages.decode("scsi", "SEAGATE_ST4000NM0043")
    assert.equal("SEAGATE ST4000NM0043", said.identity.model)
    assert.equal("SAS", said.identity.transport)
    assert.equal(34, said.temperature.temperature_c)
    assert.equal("temperature page", said.temperature.source)
    assert.equal(2612973 / 60, said.power_on.power_on_hours)
    assert.equal(56, #said.grown_defects.defects)
    assert.equal("long block", said.grown_defects.format)
    assert.equal(0x1000, said.grown_defects.defects[1].lba)
  end)

  it("whose temperature page is all 0 is measured by its environment page", function()
    local zero = "\x0d\0\0\x0c\0\0\3\2\0\0\0\1\3\2\0\0"
    local environment = "\x4d\1\0\x0c\0\0\3\8\0\38\42\19\38\31\x80\x80"
    local said = scsi.decode {logs = {[0x0d] = zero}, environment = environment}
    assert.equal(38, said.temperature.temperature_c)
    assert.equal("environment page", said.temperature.source)
    assert.is_true(said.temperature.sources[1].doubtful)
    assert.equal(42, said.environment.lifetime_highest_c)
    assert.is_string(warned(said.temperature_page, "no_sensor"))
    assert.is_nil(scsi.decode({logs = {[0x0d] = zero}}).temperature.temperature_c)
  end)
end)

describe("a log page", function()
  it("with counters of other lengths is read as it is", function()
    local page = "\3\0\0\x29" .. "\0\3\3\2\1\0" .. "\0\6\3\x0c" .. ("\0"):rep(11) .. "\7"
      .. "\0\5\3\8"
      .. ("\xff"):rep(8) .. "\0\0\3\1\xff" .. "\0\1\3\0"
    page = page:sub(1, 3) .. string.char(#page - 4) .. page:sub(5)
    local e = scsi_logs.error_counters(page, 3)
    assert.equal(256, e.corrected)
    assert.equal(7, e.uncorrected)
    assert.equal("18446744073709551615", e.processed_bytes)
    assert.equal(255, e.corrected_without_delay)
    assert.same({"processed_bytes", "corrected_without_delay"}, {table.unpack(e.saturated)})
    assert.is_nil(e.corrected_with_delay)
  end)

  it("of another number, or cut off, gives a warning", function()
    local page = pages.pages("scsi", "SEAGATE_ST4000NM0043").logs[0x03]
    local e = scsi_logs.error_counters(page, 2)
    assert.matches("02h/00h was asked for, 03h/00h came", warned(e, "wrong_page"))
    assert.is_nil(e.uncorrected)
    e = scsi_logs.error_counters(page:sub(1, 26), 3)
    assert.equal(300357663, e.corrected_without_delay)
    assert.is_nil(e.corrected_by_repetition)
    assert.is_string(warned(e, "short"))
    assert.is_string(warned(e, "parameter"))
  end)

  it("of temperatures takes FFh and impossible ones as unknown", function()
    local t = scsi_logs.temperature "\x0d\0\0\x0c\0\0\3\2\0\255\0\1\3\2\0\200"
    assert.is_nil(t.temperature_c)
    assert.is_nil(t.reference_c)
    assert.matches("200 °C", warned(t, "temperature"))
    assert.is_nil(t.temperature_doubtful)
  end)

  it("of the background scan lists what was found", function()
    local finding = string.pack(">I4BBBI5i8", 600, 0x43, 0x11, 0, 0, 4711)
    local state = string.pack(">I4BBI2I2I2", 6000, 0, 3, 5, 0, 5)
    local s = scsi_logs.background_scan("\x15\0\0\x28" .. "\0\0\3\x0c" .. state .. "\0\1\3\x14"
      .. finding)
    assert.is_true(s.halted)
    assert.equal("halted by a fatal error", s.status)
    assert.equal(6000, s.power_on_minutes)
    assert.equal(0, #s.warnings)
    assert.same({
      power_on_minutes = 600, state_code = 4, state = "reassignment failed", lba = 4711,
      sense = {key = 3, asc = 0x11, ascq = 0, text = "unrecovered read error"},
    }, s.findings[1])
  end)

  it("of informational exceptions takes a test of the alarm for what it is", function()
    assert.is_nil(scsi_logs.exceptions("\x2f\0\0\8\0\0\3\4\x5d\xff\30\60").status)
    assert.equal("warning", scsi_logs.exceptions("\x2f\0\0\8\0\0\3\4\x0b\1\70\60").status)
    assert.equal("failing", scsi_logs.exceptions("\x2f\0\0\8\0\0\3\4\x5d\0\30\60").status)
    assert.is_nil(scsi_logs.exceptions("\x2f\0\0\0").status)
  end)
end)

describe("vital product data", function()
  it("is trimmed, printable, and its world wide name the logical unit's", function()
    assert.equal("A\\x1bB", scsi_identity.serial("\0\x80\0\8  A\27B   ").serial)
    local d = scsi_identity.designators("\0\x83\0\x2a"
      .. "\x02\x01\0\x08VENDOR X" .. "\x01\x02\0\x08" .. "\0\x25\x38\1\2\3\4\5"
      .. "\x61\x93\0\x08" .. "\x50\0\xc5\0\1\2\3\4" .. "\x01\3\0\x02")
    assert.equal("0025380102030405", d.wwn)
    assert.equal("VENDOR X", d.designators[1].identifier)
    assert.equal("SAS", d.designators[3].protocol)
    assert.is_nil(d.designators[1].protocol)
    assert.is_string(warned(d, "designator"))
  end)

  it("that is another page is not read", function()
    assert.is_nil(scsi_identity.characteristics("\0\x80\0\4\x1c\x20\0\2").rotation_rpm)
    assert.equal(7200, scsi_identity.characteristics("\0\xb1\0\4\x1c\x20\0\2").rotation_rpm)
  end)
end)

describe("READ CAPACITY (16)", function()
  local function capacity(last, size, exponent)
    return scsi_identity.capacity(string.pack(">i8I4BBI2", last, size, 0, exponent, 0xc000)
      .. ("\0"):rep(16))
  end

  it("keeps every digit of a large drive, and does not believe more than there can be", function()
    local c = capacity((1 << 53) + 1, 512, 3)
    assert.equal(((1 << 53) + 2) * 512, c.size_bytes)
    assert.equal(4096, c.physical_sector_size_bytes)
    assert.is_true(c.trim.supported)
    for _, odd in ipairs {-1, math.maxinteger, math.maxinteger // 512} do
      c = capacity(odd, 512, 0)
      assert.is_nil(c.size_bytes)
      assert.is_string(warned(c, "size"))
    end
    assert.is_nil(capacity(1000, 0, 0).logical_sector_size_bytes)
  end)
end)

describe("READ DEFECT DATA", function()
  it("counts what it could not list, in each format and with either header", function()
    local d = scsi_answers.decode(string.pack(">BBI2I4", 0, 0x0b, 0, 80)
      .. string.pack(">i8i8", 5, -1))
    assert.equal(10, d.count)
    assert.same({{lba = 5}, {lba = "18446744073709551615"}}, {table.unpack(d.defects)})
    assert.matches("2 of 10", warned(d, "cut"))
    d = scsi_answers.decode(string.pack(">BBI2I3BI4", 0, 0x1d, 8, 70000, 3, 400), {short = true})
    assert.is_true(d.primary and d.grown)
    assert.same({cylinder = 70000, head = 3, position = 400}, d.defects[1])
    d = scsi_answers.decode(string.pack(">BBI2I4", 0, 0x0e, 0, 8))
    assert.is_nil(d.count)
    assert.is_string(warned(d, "format"))
  end)
end)

describe("the mode page of informational exceptions", function()
  it("is found behind block descriptors and either header", function()
    local page = "\x9c\x0a\x08\6" .. string.pack(">I4I4", 36000, 0)
    for _, c in ipairs {
      scsi_answers.exceptions_control(string.pack(">I2BBBBI2", 26, 0, 0, 0, 0, 8) .. ("\0"):rep(8)
        .. page),
      scsi_answers.exceptions_control("\x0f\0\0\0" .. page, {short = true}),
    } do
      assert.is_false(c.enabled)
      assert.equal("on request", c.method)
      assert.equal(3600000, c.interval_ms)
      assert.is_nil(c.reports)
    end
    assert.is_string(warned(scsi_answers.exceptions_control "\0\6\0\0\0\0\0\0", "no_page"))
  end)
end)

describe("sense data", function()
  it("is read in fixed and in descriptor format", function()
    local fixed = "\xf0\0\3" .. string.pack(">I4", 313210053) .. "\x0a\0\0\0\0\x11\0\0\0\0\0"
    local descriptor = "\x72\3\x11\0\0\0\0\x0c\0\x0a\x80\0" .. string.pack(">i8", 313210053)
    for format, data in pairs {fixed = fixed, descriptor = descriptor} do
      local s = scsi_sense.decode(data)
      assert.equal(format, s.format)
      assert.equal("medium error", s.key_name)
      assert.equal("unrecovered read error", s.text)
      assert.equal(313210053, s.information)
      assert.is_false(s.deferred)
      assert.equal(0, #s.warnings)
    end
  end)

  it("tells progress, deferred errors, and what it can't read", function()
    local s = scsi_sense.decode "\x70\0\2\0\0\0\0\x0a\0\0\0\0\4\9\0\x80\x80\0"
    assert.equal(50, s.progress_percent)
    assert.equal("self-test in progress", s.text)
    assert.is_true(scsi_sense.decode("\x73\4\x44\0\0\0\0\0").deferred)
    assert.is_string(warned(scsi_sense.decode(("\0"):rep(18)), "format"))
    assert.is_string(warned(scsi_sense.decode "\x72\3\x11\0\0\0\0\x0c\0\x0a\x80", "descriptor"))
    assert.is_string(warned(scsi_sense.decode "", "short"))
  end)

  it("names what a drive predicts", function()
    assert.equal("hardware impending failure: general hard drive failure",
      scsi_sense.text(0x5d, 0x10))
    assert.equal("servo impending failure: data error rate too high", scsi_sense.text(0x5d, 0x42))
    assert.equal("failure prediction threshold exceeded", scsi_sense.text(0x5d, 0xef))
    assert.equal("warning: temperature exceeded", scsi_sense.text(0x0b, 1))
    assert.equal("maker's own", scsi_sense.text(0xa0, 1))
  end)
end)

describe("SAS ports", function()
  it("tell rates and neighbours in words", function()
    local phy = pages.decode("scsi", "SAMSUNG_MZILT7T6HALA").sas.ports[1].phys[1]
    assert.equal("12 Gb/s", phy.rate)
    assert.equal(12000, phy.rate_mbit_per_s)
    assert.equal("end device", phy.attached)
    assert.equal("loss of synchronization", phy.reason)
    assert.equal("received errors", phy.events[1].name)
    local empty = pages.decode("scsi", "SAMSUNG_MZILT7T6HALA").sas.ports[2].phys[1]
    assert.is_nil(empty.attached_sas_address)
    assert.is_nil(empty.rate_mbit_per_s)
  end)

  it("that speak another protocol, or are cut off, are not read", function()
    local page = pages.pages("scsi", "SAMSUNG_MZILT7T6HALA").logs[0x18]
    assert.is_string(warned(scsi_ports.decode(page:sub(1, 8) .. "\0" .. page:sub(10)), "protocol"))
    local cut = scsi_ports.decode(page:sub(1, 11) .. "\2" .. page:sub(13))
    assert.is_string(warned(cut, "phy"))
    assert.equal(1, #cut.ports[1].phys)
  end)
end)
