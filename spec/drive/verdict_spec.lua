-- The verdict on every recorded drive, pinned with its reasons, and the rules it keeps to.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local ata_drives = require "spec.support.ata_fixtures"
local fixtures = require "spec.support.drive_fixtures"
local make = require "spec.support.smart_page"
local pages = require "spec.support.page_fixtures"
local smart_data = require "hdd.drive.smart_data"
local nvme = require "hdd.drive.nvme"
local verdict = require "hdd.drive.verdict"

-- Status, then each reason as "severity name: where = value".
local EXPECTED = {
  ["CT1050MX300SSD1-a"] = {"failing",
    "failing own_status: SMART RETURN STATUS = failed",
    "warning attribute_now: attribute 202 = 0",
    "warning wear: device statistics: life_used_percent = 111",
    "notice reallocated: attribute 5 = 2",
  },
  ["CorsairForce3-a"] = {"good",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["GB0250EAFYK-a"] = {"good",
    "notice timeouts: attribute 188 = 2",
    "notice errors: error log = 4",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["HDN724030ALE640-a"] = {"warning",
    "warning crc: attribute 199 = 387374",
    "warning phy: Phy event counter 1 = 65535",
    "notice errors: error log = 65535",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["HUH721212ALN604-a"] = {"warning",
    "warning pending: attribute 197 = 1",
    "warning uncorrectable: attribute 198 = 15",
    "warning reported_uncorrectable: device statistics: uncorrectable_errors = 19",
    "warning unreadable: error log = 4",
    "warning phy: Phy event counter 2 = 1",
    "notice errors: error log = 19",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["HUS724020ALA640-a"] = {"failing",
    "failing own_status: SMART RETURN STATUS = failed",
    "failing attribute_now: attribute 5 = 1",
    "warning pending: attribute 197 = 86",
    "warning reported_uncorrectable: device statistics: uncorrectable_errors = 12038",
    "warning reallocated: attribute 5 = 1303",
    "warning spin_up: device statistics: start_failures = 1",
    "warning unreadable: error log = 4",
    "notice self_test: self-test log = 7",
    "notice errors: error log = 12038",
  },
  ["MG03ACA200-a"] = {"warning",
    "warning reported_uncorrectable: device statistics: uncorrectable_errors = 37",
    "warning reallocated: attribute 5 = 1",
    "unknown own_status: SMART RETURN STATUS = nil",
    "notice errors: error log = 37",
    "notice unreadable: error log = 8",
    "good attributes: attributes = 3",
  },
  ["MK000480GWXFF-a"] = {"good",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["MZ7LM960HCHP-00003-a"] = {"good",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["SP0812C-a"] = {"good",
    "notice errors: error log = 1699",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["SSDSC2BA012T4-a"] = {"good",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["ST14000NM001G-2KJ103-a"] = {"warning",
    "warning pending: attribute 197 = 184",
    "warning uncorrectable: attribute 198 = 184",
    "warning reported_uncorrectable: attribute 187 = 152",
    "warning reallocated: attribute 5 = 9168",
    "warning self_test: self-test log = 7",
    "warning unreadable: error log = 8",
    "notice timeouts: attribute 188 = 2",
    "notice errors: error log = 152",
    "notice link_speed: IDENTIFY DEVICE = 3000",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["ST2000LM007-1R8174-a"] = {"warning",
    "warning reported_uncorrectable: device statistics: uncorrectable_errors = 32",
    "warning reallocated: attribute 5 = 88",
    "notice timeouts: attribute 188 = 13",
    "notice errors: error log = 1",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["ST8000AS0002-1NA17Z-a"] = {"warning",
    "warning pending: attribute 197 = 16",
    "warning uncorrectable: attribute 198 = 16",
    "warning reported_uncorrectable: attribute 187 = 3",
    "warning unreadable: error log = 3",
    "notice errors: error log = 3",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["WD3000GLFS-01F8U0-a"] = {"warning",
    "warning crc: attribute 199 = 244",
    "warning unreadable: error log = 3",
    "notice errors: error log = 15464",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["WD3000HLFS-01G6U4-a"] = {"warning",
    "warning pending: attribute 197 = 32",
    "warning unreadable: error log = 1",
    "notice errors: error log = 1795",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["WD3000HLHX-01JJPV0-a"] = {"good",
    "notice errors: error log = 24",
    "notice unreadable: error log = 8",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["WD6000HLHX-01JJPV0-a"] = {"warning",
    "warning crc: attribute 199 = 25",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["WD6000HLHX-01JJPV0-b"] = {"warning",
    "warning pending: attribute 197 = 53",
    "warning uncorrectable: attribute 198 = 2",
    "warning crc: attribute 199 = 1",
    "warning unreadable: error log = 8",
    "notice errors: error log = 1564",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["megaraid-wd4000fyyx-a"] = {"good",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["ssd-crucial-m4-x"] = {"good",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["ssd-samsung-840-x"] = {"warning",
    "warning crc: attribute 199 = 108",
    "warning phy: Phy event counter 1 = 7",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["ssd-samsung-860evo-x"] = {"good",
    "good own_status: SMART RETURN STATUS = passed",
  },
  ["usb-jmicron-hitachi-failed-a"] = {"failing",
    "failing own_status: SMART RETURN STATUS = failed",
    "failing attribute_now: attribute 5 = 1",
    "warning pending: attribute 197 = 8",
    "warning reallocated: attribute 5 = 1975",
    "warning self_test: self-test log = 7",
    "notice errors: error log = 56",
    "notice link_speed: IDENTIFY DEVICE = 1500",
  },
  ["CT500P1SSD8_worn"] = {"failing",
    "failing own_status: SMART / Health log = 4",
    "warning wear: SMART / Health log = 114",
  },
  ["INTEL_MEMPEK1W032GA"] = {"good",
    "good own_status: SMART / Health log = 0",
  },
  ["INTEL_SSDPE2KX080T8"] = {"good",
    "good own_status: SMART / Health log = 0",
  },
  ["KXG60ZNV512G_TOSHIBA"] = {"good",
    "good own_status: SMART / Health log = 0",
  },
  ["Micron_7450_MTFDKCC3T2TFS"] = {"good",
    "good own_status: SMART / Health log = 0",
  },
  ["SSD_970_EVO_Plus_cw0d"] = {"failing",
    "failing own_status: SMART / Health log = 13",
    "failing own_status: SMART / Health log = 13",
    "failing own_status: SMART / Health log = 13",
    "warning wear: SMART / Health log = 113",
    "notice errors: SMART / Health log = 22",
  },
  ["HITACHI_H109060SESUN600G"] = {"good",
    "good own_status: informational exceptions page = 00h/00h",
  },
  ["SAMSUNG_MZILT7T6HALA"] = {"good",
    "notice non_medium_errors: non-medium error counter = 10237",
    "notice phy: phy 0 of port 1 = 4",
    "good own_status: informational exceptions page = 00h/00h",
  },
  ["SAS_predicted_failure"] = {"failing",
    "failing own_status: informational exceptions page = 5Dh/10h",
    "warning reallocated: grown defect list = 1873",
    "warning uncorrected_reads: read error counters = 37",
    "warning uncorrected_writes: write error counters = 2",
    "warning self_test: self-test log = 7",
    "notice non_medium_errors: non-medium error counter = 412",
  },
  ["SEAGATE_ST373453LC"] = {"unknown",
    "unknown own_status: mode page 1Ch = false",
  },
  ["SEAGATE_ST4000NM0043"] = {"warning",
    "warning reallocated: grown defect list = 56",
    "good own_status: informational exceptions page = 00h/00h",
  },
}

local function lines(v)
  local list = {v.status}
  for _, r in ipairs(v.reasons) do
    list[#list + 1] = ("%s %s: %s = %s"):format(r.severity, r.name, r.where, tostring(r.value))
  end
  return list
end

local function reason(v, name)
  for _, r in ipairs(v.reasons) do
    if r.name == name then return r end
  end
end

-- All recorded drives: {name, function that decodes it}.
local function recorded()
  local list = {}
  for _, name in ipairs(fixtures.ata()) do
    list[#list + 1] = {name, function() return ata_drives.decode(name) end}
  end
  for _, kind in ipairs {"nvme", "scsi"} do
    for _, drive in ipairs(pages.drives(kind)) do
      if EXPECTED[drive.name] then
        list[#list + 1] = {drive.name, function() return pages.decode(kind, drive.folder) end}
      end
    end
  end
  return list
end

describe("the verdict on", function()
  local drives = recorded()

  for _, one in ipairs(drives) do
    it(one[1] .. " is that expected, for the reasons expected", function()
      local v = verdict.judge(one[2]())
      assert.same(EXPECTED[one[1]], lines(v))
      for _, r in ipairs(v.reasons) do assert.is_string(r.what) end
    end)
  end

  it("all drives is pinned", function()
    local pinned, right = 0, 0
    for _ in pairs(EXPECTED) do pinned = pinned + 1 end
    for _, one in ipairs(drives) do
      if table.concat(EXPECTED[one[1]], "\n") == table.concat(lines(verdict.judge(one[2]())), "\n") then
        right = right + 1
      end
    end
    print(("\n%d of %d verdicts as expected"):format(right, pinned))
    assert.equal(35, pinned)
    assert.equal(pinned, right)
  end)
end)

-- An ATA drive of some attributes: {id=, raw=, value=, worst=, flags=}, and thresholds {id,
-- threshold}.
local function drive(attributes, options)
  options = options or {}
  local identity = options.identity or {model = "WDC WD6000HLHX-01JJPV0", serial = "S1",
    solid_state = false,
    sectors = 1172123568}
  local thresholds = options.thresholds and make.thresholds(options.thresholds)
  local status = "passed"
  if options.status ~= nil then status = options.status or nil end
  return {
    identity = identity, smart_status = status,
    smart = smart_data.decode(options.page or make.data(attributes), thresholds, identity),
  }
end

describe("a verdict", function()
  it("names the drive's own status among its reasons, always", function()
    for _, status in ipairs {"passed", "failed", false} do
      assert.is_table(reason(verdict.judge(drive({}, {status = status})), "own_status"))
    end
    assert.is_table(reason(verdict.judge {}, "own_status"))
    assert.equal("unknown", verdict.judge({}).status)
    assert.equal("unknown", verdict.judge({kind = "nvme"}).status)
    assert.equal("unknown", verdict.judge({kind = "scsi"}).status)
  end)

  it("of a good drive is good, for that reason alone", function()
    assert.same({"good", "good own_status: SMART RETURN STATUS = passed"},
      lines(verdict.judge(drive {{id = 5}})))
  end)

  it("is failing when the drive says so, and says when no attribute tells why", function()
    local v = verdict.judge(drive({{id = 5}},
      {status = "failed", thresholds = {{5, 140}}, page = make.data {{id = 5, value = 200}}}))
    assert.equal("failing", v.status)
    assert.is_table(reason(v, "no_attribute"))
  end)

  it("points out pending, uncorrectable and reallocated sectors beside a good status", function()
    local v = verdict.judge(drive {{id = 5, raw = 2872}, {id = 197, raw = 624},
      {id = 198, raw = 624}})
    assert.same({
      "warning", "warning pending: attribute 197 = 624",
      "warning uncorrectable: attribute 198 = 624",
      "warning reallocated: attribute 5 = 2872", "good own_status: SMART RETURN STATUS = passed",
    }, lines(v))
  end)

  it("does not take garbage for trillions of sectors", function()
    local v = verdict.judge(drive {{id = 197, raw = 0xffffffffffff}, {id = 198, raw = 0xffffffff},
      {id = 5, raw = 1172123569}})
    assert.equal("good", v.status)
    for _, r in ipairs(v.reasons) do assert.is_true(r.name == "own_status"
      or r.name == "not_a_count") end
    assert.equal(4, #v.reasons)
  end)

  it("does not take a count of all sectors that were ever pending for those of now", function()
    local old = {model = "SAMSUNG HD501LJ", solid_state = false}
    local v = verdict.judge(drive({{id = 197, raw = 1}}, {identity = old}))
    assert.equal("good", v.status)
    assert.matches("pending sectors, ever: 1", reason(v, "pending").what)
  end)

  it("on interface CRC errors speaks of the cable", function()
    local v = verdict.judge(drive {{id = 199, raw = 500}})
    assert.equal("warning", v.status)
    assert.equal("attribute 199", reason(v, "crc").where)
    assert.matches("cable", reason(v, "crc").what)
  end)

  it("never derives a failure from a threshold of 0 or none", function()
    for _, thresholds in ipairs {false, {{5, 0}}, {{1, 51}}} do
      local v = verdict.judge(drive({{id = 5, value = 0, worst = 0, flags = 0x33}},
        {thresholds = thresholds or nil}))
      assert.equal("good", v.status)
    end
  end)

  it("tells pre-fail from old-age, and now from the past", function()
    local function one(value, worst, flags, id)
      id = id or 3
      return verdict.judge(drive({{id = id, value = value, worst = worst, flags = flags}},
        {thresholds = {{id, 50}}}))
    end
    assert.equal("failing", one(50, 50, 0x33).status)
    assert.equal("warning", one(50, 50, 0x32).status)
    assert.equal("warning", one(100, 40, 0x33).status)
    assert.equal("good", one(100, 40, 0x32).status)
    assert.equal("notice", reason(one(100, 40, 0x32, 190), "attribute_past").severity)
    assert.equal("warning", reason(one(40, 40, 0x32, 190), "attribute_now").severity)
    assert.equal("good", one(51, 51, 0x33).status)
  end)

  it("does not count a wrong checksum as a failure of the drive", function()
    local page = make.data {{id = 3, value = 10, worst = 10, flags = 0x33}}
    local broken = page:sub(1, 511) .. string.char((page:byte(512) + 1) & 255)
    local v = verdict.judge(drive({}, {page = broken, thresholds = {{3, 50}}}))
    assert.equal("warning", v.status)
    assert.matches("doubtful", reason(v, "checksum").what)
    v = verdict.judge(drive({}, {page = (make.data {{id = 3}}):sub(1, 511) .. "\1",
      thresholds = {{3, 50}}}))
    assert.equal("good", v.status)
  end)

  it("attaches no alarm to attributes of unknown meaning", function()
    local unknown = {model = "SOME FLASH 1", solid_state = true}
    local attributes = {}
    for _, id in ipairs {170, 173, 174, 181, 183, 187, 189, 196, 199, 202, 206, 5, 197} do
      table.insert(attributes, {id = id, raw = 77})
    end
    assert.same({"good", "good own_status: SMART RETURN STATUS = passed"},
      lines(verdict.judge(drive(attributes, {identity = unknown}))))
  end)

  it("makes no life left of a wear attribute without a model's rule, nor of a bare 0", function()
    local wear = {{id = 230, raw = 1}, {id = 169, value = 93}, {id = 202, value = 40, raw = 60},
      {id = 231, value = 0}}
    for _, model in ipairs {"SOME FLASH 1", "Corsair Force 3 SSD"} do
      local identity = {model = model, solid_state = true}
      assert.equal("good", verdict.judge(drive(wear, {identity = identity})).status)
    end
    local v = verdict.judge(drive({{id = 202, value = 2, raw = 98}},
      {identity = {model = "CT500MX500SSD1", solid_state = true}}))
    assert.equal("notice", reason(v, "wear").severity)
    assert.equal(98, reason(v, "wear").value)
  end)

  it("lays FARM's hours against attribute 9", function()
    local said = drive {{id = 9, raw = 20}}
    said.farm = {drive = {power_on_hours = 30000}}
    said.power_on = require("hdd.drive.vitals").power_on(said)
    local r = reason(verdict.judge(said), "hours_reset")
    assert.equal("warning", r.severity)
    assert.equal(20, r.value)
    assert.matches("30000", r.what)
  end)

  it("tells a link slower than both ends can do from one whose other end is not known", function()
    local function linked(now, host)
      local said = drive {}
      said.identity.link = {current_mbit_per_s = now, max_mbit_per_s = 6000}
      said.link = host and {speed = "1.5 Gbps", maximum_speed = host}
      return reason(verdict.judge(said), "link_speed")
    end
    assert.equal("warning", linked(1500, "6.0 Gbps").severity)
    assert.equal("warning", linked(1500, "3.0 Gbps").severity)
    assert.is_nil(linked(1500, "1.5 Gbps"))
    assert.is_nil(linked(6000, "6.0 Gbps"))
    assert.equal("notice", linked(3000).severity)
    local said = nvme.decode {}
    said.link = {speed = "8.0 GT/s PCIe", maximum_speed = "16.0 GT/s PCIe", lanes = 4,
      maximum_lanes = 4}
    assert.equal("notice", reason(verdict.judge(said), "link_speed").severity)
    said.link.maximum_speed, said.link.lanes = "8.0 GT/s PCIe", 2
    assert.matches("on 2 lanes", reason(verdict.judge(said), "link_speed").what)
  end)

  it("counts ordinary Phy events and a maker's own as no fault, and full counters as at least",
    function()
    local function phy(id, value, more)
      local counter = {id = id, value = value, name = "R_ERR response for data FIS",
        ordinary = false, vendor = false}
      for k, v in pairs(more or {}) do counter[k] = v end
      local said = drive {}
      said.phy = {checksum_ok = true, counters = {counter}}
      return said
    end
    assert.is_nil(reason(verdict.judge(phy(10, 99, {ordinary = true})), "phy"))
    assert.is_nil(reason(verdict.judge(phy(0x8000, 99, {vendor = true})), "phy"))
    local full = reason(verdict.judge(phy(2, "18446744073709551615", {saturated = true})), "phy")
    assert.matches("at least 18446744073709551615", full.what)
    assert.is_true(full.at_least)
    local doubtful = phy(2, 5)
    doubtful.phy.checksum_ok = false
    assert.equal("notice", reason(verdict.judge(doubtful), "phy").severity)
    assert.equal(3, reason(verdict.judge(phy(2, 8), phy(2, 5)), "phy").growth)
    assert.equal(8, reason(verdict.judge(phy(2, 8), phy(2, 50)), "phy").growth)
  end)

  it("knows growth since an earlier day, of the same drive only", function()
    local function crc(raw) return drive {{id = 199, raw = raw}} end
    assert.equal(12, reason(verdict.judge(crc(512), crc(500)), "crc").growth)
    assert.equal("warning", reason(verdict.judge(crc(512), crc(500)), "crc").severity)
    assert.equal("notice", reason(verdict.judge(crc(500), crc(500)), "crc").severity)
    local other = crc(400)
    other.identity.serial = "S2"
    assert.is_nil(reason(verdict.judge(crc(500), other), "crc").growth)
    assert.is_nil(reason(verdict.judge(crc(3), crc(500)), "crc").growth)
  end)

  it("measures heat by the drive's own limits", function()
    local function heat(celsius, limit, recommended)
      local said = drive {}
      said.temperature = {temperature_c = celsius, source = "SCT status"}
      said.sct = {status = {max_operating_c = limit},
        temperature_history = {recommended_highest_c = recommended}}
      return reason(verdict.judge(said), "temperature")
    end
    assert.equal("warning", heat(61, 60).severity)
    assert.is_nil(heat(60, 60))
    assert.equal("notice", heat(58, 60, 55).severity)
    assert.is_nil(heat(61, 5))    -- no limit of a drive
    assert.is_nil(heat(61, 127))
    local said = pages.decode("nvme", "KXG60ZNV512G_TOSHIBA", function(p)
      p.logs[2] = p.logs[2]:sub(1, 1) .. string.pack("<I2", 273 + 71) .. p.logs[2]:sub(4)
    end)
    assert.equal("warning", reason(verdict.judge(said), "temperature").severity)
  end)

  it("takes a later pass of the same or a wider self-test into account", function()
    local function tests(...)
      local said = drive {}
      said.self_test_log = {entries = {...}}
      return reason(verdict.judge(said), "self_test")
    end
    local failed = {type = "short", code = 7, failed = true, result = "failed: read element",
      lba = 99}
    assert.equal("warning", tests(failed).severity)
    assert.equal(99, tests(failed).lba)
    assert.equal("notice", tests({type = "extended", code = 0}, failed).severity)
    assert.equal("warning", tests({type = "conveyance", code = 0}, failed).severity)
    assert.equal("warning", tests(failed, {type = "extended", code = 0}).severity)
    assert.is_nil(tests({type = "short", code = 1, result = "aborted by the host"}))
  end)

  it("names each of NVMe's warnings, and believes nothing of a log of all ones", function()
    local v = verdict.judge(nvme.decode {logs = {[2] = fixtures.read "broken/nvme_log_all_warnings.bin"}})
    assert.equal("failing", v.status)
    local named = 0
    for _, r in ipairs(v.reasons) do named = named + (r.warning and 1 or 0) end
    assert.equal(6, named)
    assert.same({"unknown", "unknown own_status: SMART / Health log = nil"},
      lines(verdict.judge(nvme.decode {logs = {[2] = fixtures.read "broken/nvme_log_ff.bin"}})))
  end)

  it("holds the spare blocks against the drive's own threshold, bit or no bit", function()
    local function spare(left)
      return verdict.judge(pages.decode("nvme", "KXG60ZNV512G_TOSHIBA", function(p)
        p.logs[2] = p.logs[2]:sub(1, 3) .. string.char(left) .. p.logs[2]:sub(5)
      end))
    end
    assert.equal("failing", spare(9).status)
    assert.equal("good", spare(10).status)
  end)

  it("of a SCSI drive tells a warning from a prediction, and a scan that found bad places", function()
    local function exceptions(asc, ascq)
      return verdict.judge(pages.decode("scsi", "HITACHI_H109060SESUN600G", function(p)
        p.logs[0x2f] = string.char(0x2f, 0, 0, 8, 0, 0, 3, 4, asc, ascq, 26, 85)
      end))
    end
    assert.equal("failing", exceptions(0x5d, 0).status)
    assert.equal("warning", exceptions(0x0b, 1).status)
    assert.equal("unknown", exceptions(0x5d, 0xff).status)  -- a test of its alarm
    local finding = string.pack(">I2BBI4BBBI5i8", 1, 3, 20, 600, 0x13, 0x11, 0, 0, 4711)
    local v = verdict.judge(pages.decode("scsi", "HITACHI_H109060SESUN600G", function(p)
      p.logs[0x15] = p.logs[0x15]:sub(1, 3) .. string.char(16 + #finding) .. p.logs[0x15]:sub(5) .. finding
    end))
    assert.equal("warning", reason(v, "scan_findings").severity)
  end)

  it("says that SMART is disabled", function()
    local said = {identity = {features = {smart = {supported = true, enabled = false}}}}
    local v = verdict.judge(said)
    assert.equal("unknown", v.status)
    assert.matches("disabled", v.reasons[1].what)
  end)
end)
