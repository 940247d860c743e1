--- Reading what SCSI drives send: big-endian numbers and the parameters of a log page.
-- Offsets count from 0; what lies beyond the end is nil. See @{hdd.drive.bytes}.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.scsi_bytes

local bytes = require "hdd.drive.bytes"

local M = {}

local unpack = string.unpack

-- So many parameters of a page are looked at: no page of a drive has more.
local MAX_PARAMETERS <const> = 4096

--- An unsigned number of 1 to 8 bytes, high byte first.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @tparam integer size    bytes, 1 to 8
-- @treturn ?integer  nil beyond the end; 64 bit numbers as Lua's signed integer
-- @usage local last = scsi_bytes.number(page, 0, 8)
function M.number(data, offset, size)
  if offset + size > #data then return nil end
  return (unpack(size == 8 and ">i8" or ">I" .. size, data, offset + 1))
end

--- An unsigned 16 bit number, high byte first.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer
-- @usage local length = scsi_bytes.u16(page, 2)
function M.u16(data, offset) return M.number(data, offset, 2) end

--- An unsigned 32 bit number, high byte first.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer
-- @usage local minutes = scsi_bytes.u32(page, 8)
function M.u32(data, offset) return M.number(data, offset, 4) end

--- An unsigned 64 bit number, high byte first; above 2^63-1 a string of its digits.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer|string
-- @usage local lba = scsi_bytes.u64(page, 12)
function M.u64(data, offset) return bytes.unsigned(M.number(data, offset, 8)) end

--- A counter that fills its bytes, whatever their number: log parameters leave it to the drive.
-- @tparam string data  the counter's bytes alone
-- @treturn ?integer|string  above 2^63-1 a string of its digits; nil for no bytes, and for a number
--   that does not fit 64 bits
-- @treturn boolean  whether it stands at its largest value, beyond which it does not count
-- @usage local value, saturated = scsi_bytes.counter(parameter.data)
function M.counter(data)
  local size = #data
  if size == 0 then return nil, false end
  local saturated = not data:find("[^\xff]")
  if size > 8 then
    if not bytes.is_zero(data, 0, size - 8) then return nil, saturated end
    data, size = data:sub(-8), 8
  end
  return bytes.unsigned(M.number(data, 0, size)), saturated
end

--- The parameters of a log page, or the descriptors of a page with the same frame.
-- @tparam string data   the page from its start
-- @tparam integer page  the page that it must be
-- @tparam[opt=0] integer subpage
-- @treturn table    `{warnings}`: a fresh result, with warnings of a wrong page or a cut one
-- @treturn {table,...}  parameters `{code, flags, data}` in their order
-- @usage local result, parameters = scsi_bytes.log(page, 0x0d)
function M.log(data, page, subpage)
  local result, list = bytes.result(data, 4), {}
  local length = M.u16(data, 2)
  if not length then return result, list end
  local first, second = bytes.u8(data, 0), bytes.u8(data, 1)
  local found, found_sub = first & 0x3f, first & 0x40 ~= 0 and second or 0
  if found ~= page or found_sub ~= (subpage or 0) then
    bytes.warn(result, "wrong_page",
      "log page %02Xh/%02Xh was asked for, %02Xh/%02Xh came: not read",
      page, subpage or 0, found, found_sub)
    return result, list
  end
  local stop = math.min(4 + length, #data)
  if 4 + length > #data then
    bytes.warn(result, "short", "%d bytes of %d: the rest is missing", #data, 4 + length)
  end
  local at = 4
  while at + 4 <= stop and #list < MAX_PARAMETERS do
    local size = bytes.u8(data, at + 3)
    if at + 4 + size > stop then
      bytes.warn(result, "parameter", "parameter %04Xh is cut off: not read", M.u16(data, at))
      break
    end
    list[#list + 1] = {
      code = M.u16(data, at), flags = bytes.u8(data, at + 2),
      data = data:sub(at + 5, at + 4 + size),
    }
    at = at + 4 + size
  end
  return result, list
end

return M
