--- Two small answers of SCSI drives: READ DEFECT DATA, and the mode page that switches
-- informational
-- exceptions (1Ch).
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.scsi_answers

local bytes = require "hdd.drive.bytes"
local scsi_bytes = require "hdd.drive.scsi_bytes"

local M = {}

-- Name and bytes of an element, by the format in which the drive chose to answer.
local FORMATS = {
  [0] = {"short block", 4}, {"extended bytes from index", 8}, {"extended physical sector", 8},
  {"long block", 8}, {"bytes from index", 8}, {"physical sector", 8},
}

-- So many addresses are listed; the count is told whole.
local MAX_ENTRIES <const> = 4096

-- A cylinder, a head, and a sector or a number of bytes.
local function place(data, at)
  return {
    cylinder = scsi_bytes.number(data, at, 3), head = bytes.u8(data, at + 3),
    position = scsi_bytes.u32(data, at + 4),
  }
end

--- Decode READ DEFECT DATA.
-- @tparam string data  the answer of the 12 byte command (B7h), as much as was read
-- @tparam[opt] table options  `short`: it was the 10 byte command (37h), whose header has 4 bytes
-- @treturn table  `grown primary` (which lists are in it), `format`, `count` (whole, however much
--   was read), `defects[]`: `{lba}` in the block formats, else `{cylinder head position}`;
--   `warnings`
-- @usage print(scsi_answers.decode(answer).count)
function M.decode(data, options)
  local short = options and options.short
  local header = short and 4 or 8
  local result = bytes.result(data, header)
  result.defects = bytes.list()
  local flags = bytes.u8(data, 1)
  local length = short and scsi_bytes.u16(data, 2) or not short and scsi_bytes.u32(data, 4)
  if not flags or not length then return result end
  result.primary, result.grown = flags >> 4 & 1 == 1, flags >> 3 & 1 == 1
  local format = FORMATS[flags & 7]
  if not format then
    bytes.warn(result, "format", "defects in format %d are not understood", flags & 7)
    return result
  end
  local size = format[2]
  result.format, result.count = format[1], length // size
  if length % size ~= 0 then
    bytes.warn(result, "length", "%d bytes are no whole number of %d byte elements", length, size)
  end
  local shown = math.min(result.count, (#data - header) // size, MAX_ENTRIES)
  for k = 0, shown - 1 do
    local at = header + k * size
    if flags & 7 == 0 then
      result.defects[k + 1] = {lba = scsi_bytes.u32(data, at)}
    elseif flags & 7 == 3 then
      result.defects[k + 1] = {lba = scsi_bytes.u64(data, at)}
    else
      result.defects[k + 1] = place(data, at)
    end
  end
  if result.count > shown then
    bytes.warn(result, "cut", "%d of %d defects are shown", shown, result.count)
  end
  return result
end

local METHODS = {
  [0] = "none", "asynchronous", "unit attention", "recovered error, if allowed", "recovered error",
  "no sense", "on request",
}

--- Decode the informational exceptions control mode page (1Ch).
-- @tparam string data  the answer of MODE SENSE (10)
-- @tparam[opt] table options  `short`: it was MODE SENSE (6), whose header has 4 bytes
-- @treturn table  `enabled` (the drive looks for failures to come), `temperature_warning` (it warns
--   of heat), `test` (it plays a failure), `performance`, `log_errors`, `method method_code` (how
--   it reports), `interval_ms` and `reports` (absent when not limited), `warnings`
-- @usage if not scsi_answers.exceptions_control(answer).enabled then ... end
function M.exceptions_control(data, options)
  local short = options and options.short
  local result = bytes.result(data, short and 4 or 8)
  local descriptors = short and bytes.u8(data, 3) or not short and scsi_bytes.u16(data, 6)
  if not descriptors then return result end
  local at = (short and 4 or 8) + descriptors
  local page = bytes.u8(data, at)
  if not page then
    bytes.warn(result, "no_page", "the answer holds no mode page")
    return result
  elseif page & 0x3f ~= 0x1c or page & 0x40 ~= 0 then
    bytes.warn(result, "wrong_page", "mode page 1Ch was asked for, %02Xh came: not read",
      page & 0x3f)
    return result
  end
  local flags, method = bytes.u8(data, at + 2), bytes.u8(data, at + 3)
  if not method then return result end
  local function bit(n) return flags >> n & 1 == 1 end
  result.enabled, result.temperature_warning, result.test = not bit(3), bit(4), bit(2)
  result.performance, result.log_errors = bit(7), bit(0)
  result.method_code, result.method = method & 15, METHODS[method & 15] or "reserved"
  local tenths, reports = scsi_bytes.u32(data, at + 4), scsi_bytes.u32(data, at + 8)
  if tenths and tenths > 0 and tenths < 0xffffffff then result.interval_ms = tenths * 100 end
  if reports ~= 0 then result.reports = reports end
  return result
end

return M
