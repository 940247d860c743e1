--- All pages that a drive has to show, as bytes: what `hdd.drive` decodes and documents are made
-- of. What a drive lacks or refuses is listed with its reason, and the rest is read all the same.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.pages
local ata = require "hdd.transport.ata"
local bytes = require "hdd.drive.bytes"
local log_directory = require "hdd.drive.log_directory"
local nvme = require "hdd.transport.nvme"
local scsi = require "hdd.transport.scsi"
local transport = require "hdd.transport"

local M = {}

local LOG_PAGES_MOST <const> = 64 -- of what drives claim (up to 65535)
local STATISTICS_NEAR <const> = 32 -- pages up to here are read in one go
local FARM_PAGES <const> = 6 * 32 -- six of 16384 bytes

-- After these nothing more is asked: interrupted, closed, gone, still waiting.
local ENDS = {[4] = true, [6] = true, [9] = true, [19] = true, [115] = true}

-- Reads one thing, unless the reading has ended; failures are listed.
local function reader(t, result)
  return function(what, f, ...)
    if result.incomplete then return nil end
    local value, message, code = f(t, ...)
    if value ~= nil then return value end
    table.insert(result.failures, {what = what, message = message, code = code,
      reason = transport.reason(code)})
    if ENDS[code] then result.incomplete = message end
    return nil
  end
end

-- A word of IDENTIFY whose two upper bits say that it means something.
local function valid_word(identify, number)
  local word = bytes.u16(identify, number * 2)
  return word >> 14 == 1 and word or 0
end

local function word(identify, number)
  return bytes.u16(identify, number * 2)
end

-- --- ATA ------------------------------------------------------------------------------------

local GP_LOGS = {0x03, 0x06, 0x07, 0x0c, 0x10, 0x11, 0x12, 0x13}
local function read_statistics(get, pages, count)
  pages.logs[0x04] = get("device statistics", ata.log, 0x04, 0, 1)
  local first = pages.logs[0x04]
  if not first then return end
  local near, far = 0, {}
  for i = 1, bytes.u8(first, 8) do
    local page = bytes.u8(first, 8 + i)
    if page and page < math.min(STATISTICS_NEAR, count) then near = math.max(near, page)
    elseif page and page < count and #far < STATISTICS_NEAR then far[#far + 1] = page end
  end
  if near > 0 then
    pages.logs[0x04] = first .. (get("device statistics", ata.log, 0x04, 1, near) or "")
  end
  for _, page in ipairs(far) do
    local what = ("device statistics, page %d"):format(page)
    pages.statistics_extra[page] = get(what, ata.log, 0x04, page, 1)
  end
end

local function read_gp_logs(get, pages, options)
  if (valid_word(pages.identify, 84) | valid_word(pages.identify, 87)) & 32 == 0 then return end
  pages.logs[0x00] = get("log directory", ata.log, 0x00, 0, 1)
  if not pages.logs[0x00] then return end
  local directory = log_directory.general_purpose(pages.logs[0x00])
  for _, address in ipairs(GP_LOGS) do
    local count = math.min(log_directory.pages(directory, address), LOG_PAGES_MOST)
    if count > 0 then
      local what = log_directory.name(address) or ("log %02Xh"):format(address)
      pages.logs[address] = get(what, ata.log, address, 0, count)
    end
  end
  local statistics = log_directory.pages(directory, 0x04)
  if statistics > 0 then read_statistics(get, pages, statistics) end
  if options.all and log_directory.pages(directory, 0x30) > 0 then
    pages.logs[0x30] = get("identify device data log", ata.log, 0x30, 0,
      math.min(log_directory.pages(directory, 0x30), 9))
  end
  local farm = log_directory.pages(directory, 0xa6)
  if farm >= FARM_PAGES and bytes.ata_text(pages.identify, 27, 20):match("^ST") then
    pages.logs[0xa6] = get("FARM", ata.log, 0xa6, 0, FARM_PAGES)
  end
end

-- A log is read when the directory lists it or when the drive promises what is in it: either of the
-- two has been seen to be silent.
local function read_smart_logs(get, pages)
  local features = valid_word(pages.identify, 84) | valid_word(pages.identify, 87)
  local capability = pages.smart_data and bytes.u8(pages.smart_data, 367) or 0
  local logging = pages.smart_data and bytes.u8(pages.smart_data, 370) or 0
  local promised = {
    [0x01] = features & 1 ~= 0 or logging & 1 ~= 0,
    [0x06] = features & 2 ~= 0 or capability & 16 ~= 0,
    [0x09] = capability & 64 ~= 0,
  }
  if features & 3 ~= 0 then
    pages.smart_logs[0x00] = get("SMART log directory", ata.smart_log, 0x00)
  end
  local directory = pages.smart_logs[0x00] and log_directory.smart(pages.smart_logs[0x00])
  for _, address in ipairs {0x01, 0x06, 0x09} do
    if promised[address] or log_directory.pages(directory, address) > 0 then
      pages.smart_logs[address] = get(("SMART log %02Xh"):format(address), ata.smart_log, address)
    end
  end
end

local function read_sct(get, pages)
  local sct = word(pages.identify, 206)
  if sct & 1 == 0 or sct == 0xffff then return end
  pages.sct_status = get("SCT status", ata.sct_status)
  if not pages.sct_status then return end
  if sct & 0x20 ~= 0 then pages.sct_history = get("SCT temperature history", ata.sct_history) end
  if sct & 0x08 ~= 0 then
    pages.sct_erc_read = get("SCT error recovery time, read", ata.sct_erc, "read")
    pages.sct_erc_write = get("SCT error recovery time, write", ata.sct_erc, "write")
  end
  if sct & 0x10 ~= 0 then
    pages.sct_write_cache = get("SCT feature, write cache", ata.sct_feature, "write cache")
    pages.sct_reordering = get("SCT feature, reordering", ata.sct_feature, "reordering")
  end
end

local function read_ata(t, pages, options)
  local get = reader(t, pages)
  pages.identify = t.identify
  pages.logs, pages.smart_logs, pages.statistics_extra = {}, {}, {}
  local _, mode = t:standby()
  pages.power_mode = mode
  local supported = word(t.identify, 82)
  pages.smart_supported = supported ~= 0xffff and supported & 1 == 1
  pages.smart_enabled = pages.smart_supported and word(t.identify, 85) & 1 == 1
  if pages.smart_supported and not pages.smart_enabled then
    table.insert(pages.failures, {what = "SMART", reason = "disabled",
      message = t.path .. ": SMART is switched off in the drive, and was left so"})
  elseif pages.smart_supported then
    pages.smart_good = get("SMART status", ata.smart_status)
    pages.smart_data = get("SMART data", ata.smart_data)
    pages.smart_thresholds = get("SMART thresholds", ata.smart_thresholds)
    read_smart_logs(get, pages)
    read_sct(get, pages)
  end
  read_gp_logs(get, pages, options)
end

-- --- NVMe and SCSI --------------------------------------------------------------------------

local ERROR_ENTRY_BYTES <const>, ERROR_ENTRIES_MOST <const> = 64, 64

local function read_nvme(t, pages)
  local get = reader(t, pages)
  pages.identify = t.identify
  pages.logs = {}
  pages.namespace = get("namespace", nvme.namespace)
  pages.logs[0x02] = get("SMART / health", nvme.log, 0x02, 512)
  local entries = math.min(bytes.u8(t.identify, 262) + 1, ERROR_ENTRIES_MOST)
  pages.logs[0x01] = get("errors", nvme.log, 0x01, entries * ERROR_ENTRY_BYTES)
  if bytes.u16(t.identify, 256) & 16 ~= 0 then
    pages.logs[0x06] = get("self-tests", nvme.log, 0x06, 564)
  end
end

local VPD_PAGES = {0x80, 0x83, 0x89, 0xb1}
local SCSI_LOGS = {0x02, 0x03, 0x05, 0x06, 0x0d, 0x0e, 0x10, 0x11, 0x15, 0x18, 0x2f}

-- The numbers in a list of pages: VPD page 00h, log page 00h.
local function listed(page)
  local set = {}
  if not page or #page < 4 then return set end
  for i = 5, math.min(4 + string.unpack(">I2", page, 3), #page) do set[page:byte(i)] = true end
  return set
end

local function read_scsi(t, pages)
  local get = reader(t, pages)
  pages.inquiry, pages.vpd, pages.logs, pages.modes = t.inquiry, {}, {}, {}
  pages.vpd[0x00] = get("VPD pages", scsi.vpd, 0x00)
  local there = listed(pages.vpd[0x00])
  for _, page in ipairs(VPD_PAGES) do
    if there[page] then pages.vpd[page] = get(("VPD page %02Xh"):format(page), scsi.vpd, page) end
  end
  pages.capacity = get("capacity", scsi.capacity)
  pages.logs[0x00] = get("log pages", scsi.log, 0x00)
  there = listed(pages.logs[0x00])
  for _, page in ipairs(SCSI_LOGS) do
    if there[page] then pages.logs[page] = get(("log page %02Xh"):format(page), scsi.log, page) end
  end
  if there[0x0d] then pages.environment = get("environment", scsi.log, 0x0d, 0x01) end
  if pages.logs[0x00] then -- a bridge that keeps no logs has none of these either
    pages.modes[0x1c] = get("informational exceptions control", scsi.mode, 0x1c)
    pages.defects = get("grown defects", scsi.defects)
  end
end

--- Read all pages.
-- @tparam Channel t  see `hdd.transport`
-- @tparam[opt] table options  `all` (true: also what only engineers read)
-- @treturn table  `kind` and, of ATA drives, `identify`, `power_mode`, `smart_supported`,
--   `smart_enabled`, `smart_good` (the drive's own word; nil: unknown), `smart_data`,
--   `smart_thresholds`, `smart_logs` and `logs` (general purpose) by address, `statistics_extra` by
--   page, `sct_status`, `sct_history`, `sct_erc_read`, `sct_erc_write`, `sct_write_cache`,
--   `sct_reordering`; of NVMe drives `identify`, `namespace`, `logs`; of SCSI drives `inquiry`,
--   `vpd`, `capacity`, `logs`, `environment`, `modes`, `defects`; of all `failures[] {what message
--   code reason}`, and `incomplete` (a message) when the drive did not answer any more
-- @usage local pages = pages.read(t); print(#pages.logs[0x11], #pages.failures)
function M.read(t, options)
  local pages = {kind = t.kind, failures = bytes.list()}
  if t.kind == "ata" then
    read_ata(t, pages, options or {})
  elseif t.kind == "nvme" then
    read_nvme(t, pages)
  else
    read_scsi(t, pages)
  end
  return pages
end

return M
