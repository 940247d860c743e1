--- Every decoder of pages, with pages for it: of all recorded drives, the broken ones of the
-- fixtures, and some that no recorded drive has. For specs that break them further.
-- SPDX-License-Identifier: GPL-3.0-or-later
local device_statistics = require "hdd.drive.device_statistics"
local error_log = require "hdd.drive.error_log"
local farm = require "hdd.drive.farm"
local farm_log = require "spec.support.farm_log"
local fixtures = require "spec.support.drive_fixtures"
local identify = require "hdd.drive.identify"
local log_directory = require "hdd.drive.log_directory"
local make = require "spec.support.smart_page"
local ncq_error = require "hdd.drive.ncq_error"
local nvme_errors = require "hdd.drive.nvme_errors"
local nvme_health = require "hdd.drive.nvme_health"
local nvme_identify = require "hdd.drive.nvme_identify"
local nvme_self_test = require "hdd.drive.nvme_self_test"
local pages = require "spec.support.page_fixtures"
local pending_defects = require "hdd.drive.pending_defects"
local phy = require "hdd.drive.phy"
local scsi_answers = require "hdd.drive.scsi_answers"
local scsi_identity = require "hdd.drive.scsi_identity"
local scsi_logs = require "hdd.drive.scsi_logs"
local scsi_ports = require "hdd.drive.scsi_ports"
local scsi_sense = require "hdd.drive.scsi_sense"
local sct = require "hdd.drive.sct"
local self_test_log = require "hdd.drive.self_test_log"
local smart_data = require "hdd.drive.smart_data"

local M = {}

-- --- ATA ------------------------------------------------------------------------------------

-- SMART data are decoded by family, and with the thresholds beside them, which may be broken too.
local THRESHOLDS = fixtures.read "ata/HUS724020ALA640-a/smart_thresholds.bin"
local MODELS = {
  "ST14000NM001G", "Maxtor 6Y080L0", "SAMSUNG SP0812C", "Corsair Force 3 SSD",
  "INTEL SSDSC2BA012T4", "Crucial_CT1050MX300SSD1", "Samsung SSD 870 QVO", "FUJITSU MHY2120BH",
  "WDC WD6000HLHX", "X", "HGST HUH721212ALN604", "MTFDDAK128MAM-1J1", "SAMSUNG SV1204H",
}

local function any_smart_data(data)
  return smart_data.decode(data, math.random(4) == 1 and data or THRESHOLDS, {
    model = MODELS[math.random(#MODELS)], firmware = "0085000B",
    solid_state = ({true, false})[math.random(3)], logical_sector_size_bytes = 4096,
  })
end

local ATA = {
  ["identify.bin"] = identify.decode, ["smart_data.bin"] = any_smart_data,
  ["smart_thresholds.bin"] = smart_data.decode, ["smartlog_00.bin"] = log_directory.smart,
  ["smartlog_01.bin"] = error_log.summary,
  ["smartlog_06.bin"] = function(data)
    return self_test_log.simple(data, math.random(0, 200000))
  end,
  ["smartlog_09.bin"] = self_test_log.selective, ["smartlog_e0.bin"] = sct.status,
  ["smartlog_e1_t2.bin"] = sct.history, ["gplog_00.bin"] = log_directory.general_purpose,
  ["gplog_03.bin"] = error_log.extended,
  ["gplog_04.bin"] = function(data)
    return device_statistics.decode(data, {[255] = data:sub(1, 512)})
  end,
  ["gplog_07.bin"] = function(data)
    return self_test_log.extended(data, math.random(0, 200000) / 2)
  end,
  ["gplog_0c.bin"] = pending_defects.decode, ["gplog_11.bin"] = phy.decode,
}

local function of_ata(put)
  for _, drive in ipairs(fixtures.ata()) do
    for file, decode in pairs(ATA) do
      put(drive .. " " .. file, fixtures.read("ata/" .. drive .. "/" .. file), decode)
    end
  end
  for file, case in pairs(fixtures.json "broken/expected.json") do
    if case.kind == "sct_status" then put(file, fixtures.read("broken/" .. file), sct.status) end
  end
  put("farm", farm_log.pages(farm_log.example()), farm.decode)
  put("ncq", make.sealed "\5\0\65\64\1\2\3\64\4\5\6\0\8\0\3\17\4\1\2\3\4\5\6", ncq_error.decode)
end

-- --- NVMe -----------------------------------------------------------------------------------

local function of_nvme(put)
  for _, drive in ipairs(pages.drives "nvme") do
    local p = pages.pages("nvme", drive.folder)
    put(drive.name .. " controller", p.identify, nvme_identify.controller)
    put(drive.name .. " namespace", p.namespace, nvme_identify.namespace)
    put(drive.name .. " health", p.logs[2], function(data)
      return nvme_health.decode(data, math.random(2) == 1 and {} or nil)
    end)
  end
  local test = string.pack("<BBBBi8I4i8BBI2", 0x27, 2, 15, 0, 500, 1, 4711, 2, 0x81, 0)
  put("nvme self-tests", "\2\30\0\0" .. test:rep(20), nvme_self_test.decode)
  put("nvme errors", string.pack("<i8I2I2I2I2i8I4", 981, 3, 9, 0x503, 0, 4711, 1):rep(3)
    .. ("\0"):rep(100), nvme_errors.decode)
end

-- --- SCSI -----------------------------------------------------------------------------------

local function error_counters(page)
  return function(data) return scsi_logs.error_counters(data, page) end
end

local LOGS = {
  [0x00] = scsi_logs.pages, [0x02] = error_counters(2), [0x03] = error_counters(3),
  [0x05] = error_counters(5), [0x06] = scsi_logs.non_medium_errors, [0x0d] = scsi_logs.temperature,
  [0x0e] = scsi_logs.start_stop, [0x10] = scsi_logs.self_tests, [0x11] = scsi_logs.solid_state,
  [0x15] = scsi_logs.background_scan, [0x18] = scsi_ports.decode, [0x2f] = scsi_logs.exceptions,
}
local VITAL_PAGES = {
  [0x00] = scsi_identity.pages, [0x80] = scsi_identity.serial, [0x83] = scsi_identity.designators,
  [0xb1] = scsi_identity.characteristics,
}

local function made_for_scsi(put)
  local finding = string.pack(">I2BBI4BBBI5i8", 1, 3, 20, 600, 0x43, 0x11, 0, 0, 4711)
  put("environment", "\x4d\1\0\x0c\0\0\3\8\0\38\42\19\38\31\x80\x80", scsi_logs.environment)
  put("background scan", "\x15\0\1\x78" .. string.pack(">I2BBI4BBI2I2I2", 0, 3, 12, 600, 0, 1, 2, 3,
    4) .. finding:rep(15), scsi_logs.background_scan)
  put("fixed sense", "\xf0\0\3\0\1\2\3\x0a\0\0\0\0\x11\0\0\x80\1\2", scsi_sense.decode)
  put("descriptor sense", "\x72\3\x11\0\0\0\0\x14\0\x0a\x80\0" .. string.pack(">i8", 99)
    .. "\2\6\0\0\x80\1\2\0", scsi_sense.decode)
  put("designators",
    "\0\x83\0\x20\x02\x01\0\x08VENDOR X\x61\x93\0\x08\x50\0\xc5\0\1\2\3\4\1\3\0\4\1\2\3\4",
    scsi_identity.designators)
  put("defects", string.pack(">BBI2I4", 0, 0x0d, 0, 64) .. ("\1\2\3\4\5\6\7\8"):rep(8),
    scsi_answers.decode)
  put("short defects", string.pack(">BBI2", 0, 0x08, 16) .. ("\1\2\3\4"):rep(4),
    function(data) return scsi_answers.decode(data, {short = true}) end)
end

local function of_scsi(put)
  for _, drive in ipairs(pages.drives "scsi") do
    local p = pages.pages("scsi", drive.folder)
    put(drive.name .. " inquiry", p.inquiry, scsi_identity.inquiry)
    put(drive.name .. " capacity", p.capacity, scsi_identity.capacity)
    put(drive.name .. " defects", p.defects, scsi_answers.decode)
    put(drive.name .. " mode 1Ch", p.modes[0x1c], function(data)
      return scsi_answers.exceptions_control(data, {short = math.random(2) == 1})
    end)
    for page, decode in pairs(VITAL_PAGES) do
      put(("%s VPD %02Xh"):format(drive.name, page), p.vpd[page], decode)
    end
    for page, decode in pairs(LOGS) do
      put(("%s log %02Xh"):format(drive.name, page), p.logs[page], decode)
    end
  end
  made_for_scsi(put)
end

--- Pages with their decoders, in a fixed order.
-- @treturn {table,...}  `name`, `data`, `decode`, `kind` ("ata", "nvme", "scsi")
function M.pages()
  local list = {}
  for kind, of in pairs {ata = of_ata, nvme = of_nvme, scsi = of_scsi} do
    of(function(name, data, decode)
      if data then
        list[#list + 1] = {name = name, data = data, decode = decode, kind = kind}
      end
    end)
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

return M
