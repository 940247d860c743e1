--- Reading fields out of what a drive sent: bounds-checked, little-endian, never an error.
-- Offsets count from 0, as the standards print them. A field that lies beyond the end of the
-- bytes is nil, so that a decoder can say what is missing instead of failing.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.bytes

local M = {}

local byte, sub, unpack = string.byte, string.sub, string.unpack

--- An empty list that stays a list (`[]`) when it is written as JSON.
-- @treturn table  an empty array
-- @usage local entries = bytes.list()
function M.list()
  return setmetatable({}, {__jsontype = "array"})
end

--- One unsigned byte.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer  0 to 255; nil beyond the end
-- @usage local status = bytes.u8(page, 363)
function M.u8(data, offset)
  return byte(data, offset + 1)
end

--- One signed byte.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer  -128 to 127; nil beyond the end
-- @usage local lowest = bytes.s8(page, 9)
function M.s8(data, offset)
  local b = byte(data, offset + 1)
  if b and b > 127 then return b - 256 end
  return b
end

--- A temperature in one signed byte, where 80h means that there is none.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer  degrees Celsius, -127 to 127; nil when unknown
-- @usage local now = bytes.celsius(page, 200)
function M.celsius(data, offset)
  local t = M.s8(data, offset)
  if t ~= -128 then return t end
end

--- An unsigned 16 bit number, low byte first.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer  0 to 65535; nil beyond the end
-- @usage local version = bytes.u16(page, 0)
function M.u16(data, offset)
  local low, high = byte(data, offset + 1, offset + 2)
  if high then return low | high << 8 end
end

--- An unsigned 32 bit number, low byte first.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer  nil beyond the end
-- @usage local count = bytes.u32(page, 0)
function M.u32(data, offset)
  if offset + 4 <= #data then return (unpack("<I4", data, offset + 1)) end
end

--- An unsigned 48 bit number, low byte first.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer  nil beyond the end
-- @usage local raw = bytes.u48(page, 5)
function M.u48(data, offset)
  if offset + 6 <= #data then return (unpack("<I6", data, offset + 1)) end
end

--- A 64 bit number, low byte first, as Lua's signed integer: see @{unsigned}.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer  nil beyond the end
-- @usage local lba = bytes.u64(page, 2)
function M.u64(data, offset)
  if offset + 8 <= #data then return (unpack("<i8", data, offset + 1)) end
end

--- An unsigned number of any length from 1 to 8 bytes, low byte first.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @tparam integer size    bytes, 1 to 8
-- @treturn ?integer  nil beyond the end; 64 bit numbers as Lua's signed integer
-- @usage local value = bytes.number(page, 8, 7)
function M.number(data, offset, size)
  if offset + size > #data then return nil end
  return (unpack(size == 8 and "<i8" or "<I" .. size, data, offset + 1))
end

--- The unsigned meaning of a 64 bit integer. Lua's integers end at 2^63-1; what is larger comes
-- as a string of its decimal digits, so that no digit is lost and no sign appears.
-- @tparam ?integer n  64 bits
-- @treturn ?integer|string
-- @usage bytes.unsigned(-1)  --> "18446744073709551615"
function M.unsigned(n)
  if n == nil or n >= 0 then return n end
  local tens = (n >> 1) // 5
  return ("%d%d"):format(tens, n - tens * 10)
end

--- Whether the 512 bytes at an offset add up to 0 modulo 256, as pages with a checksum must.
-- @tparam string data        bytes of one page or more
-- @tparam[opt=0] integer offset  where the page starts
-- @treturn ?boolean  nil when the page is not complete
-- @usage if bytes.sum_is_right(page) == false then ... end
function M.sum_is_right(data, offset)
  offset = offset or 0
  if offset + 512 > #data then return nil end
  local sum = 0
  for at = offset + 1, offset + 512, 16 do
    local a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p = byte(data, at, at + 15)
    sum = sum + a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p
  end
  return sum & 255 == 0
end

--- Whether a stretch of bytes is all zero (a stretch beyond the end is).
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @tparam integer length  bytes
-- @treturn boolean
-- @usage if bytes.is_zero(page, 4, 124) then ... end  -- an unused slot
function M.is_zero(data, offset, length)
  return not sub(data, offset + 1, offset + length):find("[^\0]")
end

--- Text as a drive gives it: padding trimmed, everything but printable ASCII written as \xNN, so
-- that it is valid JSON and harmless on a terminal.
-- @tparam string raw
-- @treturn ?string  nil when nothing is left
-- @usage bytes.text("WD\255  ")  --> "WD\\xff"
function M.text(raw)
  local trimmed = raw:match("^[ \0]*(.-)[ \0]*$")
  if trimmed == "" then return nil end
  return (trimmed:gsub("[^\32-\126]", function(c) return ("\\x%02x"):format(byte(c)) end))
end

--- The text of an ATA string field, whose two characters in each word are swapped.
-- @tparam string data    bytes of a page
-- @tparam integer word   first 16 bit word
-- @tparam integer count  words
-- @treturn ?string  nil when empty
-- @usage local serial = bytes.ata_text(identify, 10, 10)
function M.ata_text(data, word, count)
  local field = sub(data, word * 2 + 1, (word + count) * 2)
  return M.text((field:gsub("(.)(.)", "%2%1")))
end

--- Bytes as lower-case hexadecimal digits, in their order.
-- @tparam string raw
-- @treturn string
-- @usage bytes.hex("\1\255")  --> "01ff"
function M.hex(raw)
  return (raw:gsub(".", function(c) return ("%02x"):format(byte(c)) end))
end

--- Note that something in the bytes can't be trusted. Each decoder's result has a list
-- `warnings` of `{name, message}`; the name is fixed, for programs, the message for people.
-- @tparam table result  what the decoder returns
-- @tparam string name   "checksum", "short", "index" ...
-- @tparam string message  with string.format's arguments after it
-- @usage bytes.warn(result, "index", "index %d of a ring of %d", index, size)
function M.warn(result, name, message, ...)
  local warnings = result.warnings
  warnings[#warnings + 1] = {name = name,
    message = select("#", ...) > 0 and message:format(...) or message}
end

--- Note that a log's index of its newest entry is impossible.
-- @tparam table result   what the decoder returns
-- @tparam string what    "error", "test", "row"
-- @tparam integer index  as the drive says
-- @tparam integer size   how many entries there can be
-- @usage bytes.warn_of_index(result, "test", 22, 21)
function M.warn_of_index(result, what, index, size)
  M.warn(result, "index", "the newest %s is said to be number %d of %d: %ss can't be put in order",
    what, index, size, what)
end

--- A fresh result: its list of warnings, and a warning when the page is shorter than it must be.
-- @tparam string data     bytes of the page
-- @tparam integer length  bytes that it must have
-- @treturn table  `{warnings = {}}`
-- @usage local result = bytes.result(page, 512)
function M.result(data, length)
  local result = {warnings = M.list()}
  if #data < length then
    M.warn(result, "short", "%d bytes of %d: the rest is missing", #data, length)
  end
  return result
end

--- Note the state of a page's checksum in a result: `checksum_ok` and, when wrong, a warning.
-- @tparam table result    what the decoder returns
-- @tparam string data     bytes
-- @tparam[opt=0] integer offset  where the page starts
-- @tparam[opt="page"] string what  the page's name in the warning
-- @usage bytes.check_sum(result, page)
function M.check_sum(result, data, offset, what)
  local right = M.sum_is_right(data, offset)
  if right == false then
    result.checksum_ok = false
    M.warn(result, "checksum", "the checksum of the %s is wrong: its values are doubtful",
      what or "page")
  elseif result.checksum_ok == nil then
    result.checksum_ok = right
  end
end

return M
