--- Log directories: which ATA logs a drive has, and how many pages each (GP log 00h, SMART log
-- 00h).
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.log_directory

local bytes = require "hdd.drive.bytes"

local M = {}

local NAMES = {
  [0x00] = "log directory", [0x01] = "summary SMART error log",
  [0x02] = "comprehensive SMART error log", [0x03] = "extended comprehensive SMART error log",
  [0x04] = "device statistics", [0x05] = "compact flash association",
  [0x06] = "SMART self-test log", [0x07] = "extended self-test log", [0x08] = "power conditions",
  [0x09] = "selective self-test log", [0x0a] = "device statistics notification", [0x0b] = "CFast",
  [0x0c] = "pending defects", [0x0d] = "LPS mis-alignment",
  [0x0f] = "sense data for successful NCQ commands", [0x10] = "NCQ command error",
  [0x11] = "SATA Phy event counters", [0x12] = "SATA NCQ non-data",
  [0x13] = "SATA NCQ send and receive", [0x14] = "hybrid information", [0x15] = "rebuild assist",
  [0x16] = "out of band management", [0x18] = "command duration limits", [0x19] = "LBA status",
  [0x20] = "streaming performance", [0x21] = "write stream error", [0x22] = "read stream error",
  [0x23] = "delayed sector", [0x24] = "current device internal status",
  [0x25] = "saved device internal status", [0x2f] = "set sector configuration",
  [0x30] = "IDENTIFY DEVICE data", [0x42] = "mutate configurations",
  [0x47] = "concurrent positioning ranges", [0x53] = "sense data",
  [0x59] = "power consumption control", [0xe0] = "SCT command and status",
  [0xe1] = "SCT data transfer",
}

--- What a log is for.
-- @tparam integer address  0 to 255
-- @treturn string
-- @usage log_directory.name(0x11)  --> "SATA Phy event counters"
function M.name(address)
  if NAMES[address] then return NAMES[address] end
  if address >= 0x80 and address <= 0x9f then return "host's own" end
  if address >= 0xa0 and address <= 0xdf then return "maker's own" end
  return "reserved"
end

local function decode(data, pages_of)
  local result = bytes.result(data, 512)
  result.version = bytes.u16(data, 0)
  result.logs = bytes.list()
  if result.version == 0 or result.version == 0xffff then
    bytes.warn(result, "version", "the log directory has version %d: nothing in it is believed",
      result.version)
    return result
  end
  if result.version then table.insert(result.logs, {address = 0, pages = 1, name = NAMES[0]}) end
  for address = 1, 255 do
    local pages = pages_of(address)
    if pages and pages > 0 then
      table.insert(result.logs, {address = address, pages = pages, name = M.name(address)})
    end
  end
  return result
end

--- Decode the general purpose log directory.
-- @tparam string data  GP log 00h, 512 bytes
-- @treturn table  `version`, `logs[] {address pages name}` by address, `warnings`. Some drives
--   claim 65535 pages.
-- @usage local directory = log_directory.general_purpose(page)
function M.general_purpose(data)
  return decode(data, function(address) return bytes.u16(data, address * 2) end)
end

--- Decode the SMART log directory.
-- @tparam string data  SMART log 00h, 512 bytes
-- @treturn table  as @{general_purpose}; at most 255 pages
-- @usage local directory = log_directory.smart(page)
function M.smart(data)
  return decode(data, function(address) return bytes.u8(data, address * 2) end)
end

--- How many pages a log has.
-- @tparam ?table directory  as decoded
-- @tparam integer address   0 to 255
-- @treturn integer  0 when there is no such log
-- @usage if log_directory.pages(directory, 0x11) > 0 then ... end
function M.pages(directory, address)
  for _, log in ipairs(directory and directory.logs or {}) do
    if log.address == address then return log.pages end
  end
  return 0
end

return M
