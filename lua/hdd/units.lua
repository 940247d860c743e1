-- SPDX-License-Identifier: GPL-3.0-or-later
--- Sizes, times and rates: read from the command line, written for a person.
-- The readers have the shape of an argparse converter: a value, or nil and a message that names what
-- was given and what is allowed. Sizes and offsets are integers, exact up to 2^63-1. The writers print a
-- decimal point in every locale, and "n/a" for what is unknown or not finite.
-- @module hdd.units

local M = {}

local BINARY, DECIMAL = {}, {}
for power, letter in ipairs { "K", "M", "G", "T", "P", "E" } do
  BINARY[letter], DECIMAL[letter] = 1 << 10 * power, math.tointeger(10 ^ (3 * power))
  M[letter .. "iB"] = BINARY[letter]
  M[(letter == "K" and "k" or letter) .. "B"] = DECIMAL[letter]
end

local SIZES = "bytes (4096), 64k 256m 2g or KiB MiB GiB TiB (binary), kB MB GB TB (decimal)"
local DURATIONS = "seconds (90), or 500ms 10s 2m 1h 3d, or a sum of them (1h30m)"

local function refuse(text, what, allowed)
  return nil, string.format("%q is no %s: allowed are %s", tostring(text), what, allowed)
end

-- The factor of a size's suffix, nil when there is no such suffix. One letter is fio's, in either
-- case; `kb` and `Ki` mean different things to different programs and are refused.
local function factor_of(suffix)
  if suffix == "" or suffix == "B" then return 1 end
  local letter, rest = suffix:match("^(%a)(%a*)$")
  if not letter then return nil end
  letter = letter:upper()
  if rest == "" or rest:lower() == "ib" then return BINARY[letter] end
  return rest == "B" and DECIMAL[letter] or nil
end

-- `digits` as an integer, nil when it does not fit (tonumber would give a float).
local function to_integer(digits)
  digits = digits:gsub("^0+(%d)", "%1")
  if #digits > 19 then return nil end
  local value = math.tointeger(tonumber(digits))
  return value and string.format("%d", value) == digits and value or nil
end

-- whole.fraction * factor as an exact integer; nil, reason when it is too large or has a remainder.
local function scale(whole, fraction, factor)
  local value = to_integer(whole)
  if not value or value > math.maxinteger // factor then return nil, "larger than 2^63-1 bytes" end
  value = value * factor
  fraction = fraction:gsub("0+$", "")
  if fraction == "" then return value end
  local part, divisor = to_integer(fraction), 10 ^ #fraction
  if not part or #fraction > 18 or part > math.maxinteger // factor then
    return nil, "given with too many digits"
  end
  part, divisor = part * factor, math.tointeger(divisor)
  if part % divisor ~= 0 then return nil, "not a whole number of bytes" end
  part = part // divisor
  if value > math.maxinteger - part then return nil, "larger than 2^63-1 bytes" end
  return value + part
end

--- Reads a size: fio's rule, with the two-letter units told apart.
-- @tparam string text  `4096`, `64k`, `256m`, `2g` (binary), `KiB`, `MiB` (binary), `kB`, `MB`
--   (decimal), `0x1000`, `1.5g`
-- @treturn integer  bytes
-- @return or nil, message
-- @usage units.size("64k") --> 65536
function M.size(text)
  local given = tostring(text):match("^%s*(.-)%s*$")
  local hex = given:match("^0[xX](%x+)$")
  if hex then
    hex = hex:gsub("^0+(%x)", "%1")
    local value = #hex <= 16 and math.tointeger(tonumber(hex, 16))
    if value and value >= 0 then return value end
    return refuse(text, "size (larger than 2^63-1 bytes)", SIZES)
  end
  local whole, point, fraction, suffix = given:match("^(%d+)(%.?)(%d*)%s?(%a*)$")
  local factor = whole and (point == "") == (fraction == "") and factor_of(suffix)
  if not factor then return refuse(text, "size", SIZES) end
  local value, why = scale(whole, fraction, factor)
  if not value then return refuse(text, "size (" .. why .. ")", SIZES) end
  return value
end

-- A reader of comma-separated lists of what `read_one` reads.
local function list_of(read_one)
  return function(text)
    local values = {}
    for item in (tostring(text) .. ","):gmatch("%s*([^,]*),") do
      local value, message = read_one(item)
      if not value then
        if item ~= text then message = message .. string.format(" (in %q)", tostring(text)) end
        return nil, message
      end
      values[#values + 1] = value
    end
    return values
  end
end

--- Reads a size above 0, such as that of a block.
-- @tparam string text  as `size`
-- @treturn integer  bytes, at least 1
-- @return or nil, message
-- @usage units.positive_size("64k") --> 65536
function M.positive_size(text)
  local value, message = M.size(text)
  if value == 0 then return refuse(text, "size above 0", SIZES) end
  return value, message
end

--- Reads a whole number of at least 1, such as a depth or a count.
-- @tparam string text  decimal digits
-- @treturn integer
-- @return or nil, message
-- @usage units.integer("16") --> 16
function M.integer(text)
  local digits = tostring(text):match("^%s*(%d+)%s*$")
  local value = digits and to_integer(digits)
  if not value or value < 1 then
    return refuse(text, "whole number above 0", "1, 2, 3 … up to 2^63-1")
  end
  return value
end

--- Reads a list of sizes above 0.
-- @function sizes
-- @tparam string text  `512,4096` or `4k,64k`
-- @treturn {integer,...}  bytes, in the order given
-- @return or nil, message
M.sizes = list_of(M.positive_size)

--- Reads a list of whole numbers of at least 1.
-- @function integers
-- @tparam string text  `1,2,4,8`
-- @treturn {integer,...}  in the order given
-- @return or nil, message
M.integers = list_of(M.integer)

--- Reads a whole number of any sign, such as a random seed.
-- @tparam string text  decimal digits, or hexadecimal ones behind `0x`
-- @treturn integer
-- @return or nil, message
-- @usage units.seed("-7") --> -7
function M.seed(text)
  text = tostring(text)
  local given = text:match("^%s*(%-?%d+)%s*$") or text:match("^%s*(0[xX]%x+)%s*$")
  local value = given and math.tointeger(tonumber(given))
  if not value then return refuse(text, "seed", "whole numbers from -2^63 to 2^63-1") end
  return value
end

local SECONDS = { [""] = 1, s = 1, m = 60, h = 3600, d = 86400, ms = 1e-3, us = 1e-6 }

--- Reads a duration.
-- @tparam string text  `90` (seconds), `10s`, `2m`, `1h`, `500ms`, `.5s`, `1h30m`
-- @treturn number  seconds; an integer when it is whole
-- @return or nil, message
-- @usage units.duration("1h30m") --> 5400
function M.duration(text)
  local given = tostring(text):match("^%s*(.-)%s*$")
  local total, position = 0, 1
  repeat
    local number, unit, behind = given:match("^(%d*%.?%d*)(%a*)()", position)
    if not tonumber(number) then number = nil end
    local seconds = number and SECONDS[unit]
    if not seconds or unit == "" and (position > 1 or behind <= #given) then
      return refuse(text, "duration", DURATIONS)
    end
    total, position = total + tonumber(number) * seconds, behind
  until position > #given
  if total > 3.2e9 then return refuse(text, "duration (more than 100 years)", DURATIONS) end
  return math.tointeger(total) or total
end

--- Reads a share: a percentage, or a number from 0 to 1.
-- @tparam string text  `2%` or `0.02`
-- @treturn number  0 to 1
-- @return or nil, message
-- @usage units.ratio("2%") --> 0.02
function M.ratio(text)
  local number, percent = tostring(text):match("^%s*(%d*%.?%d+)%s?(%%?)%s*$")
  local value = number and tonumber(number) / (percent == "%" and 100 or 1)
  if not value or value > 1 then return refuse(text, "share", "0% to 100%, or 0 to 1 (0.02)") end
  return value
end

--- Reads a place on a drive whose size is not known yet: checks its form only.
-- @tparam string text  a size, a percentage (`50%`), or a number of logical blocks (`2048s`)
-- @treturn string  as given, for `offset`
-- @return or nil, message
-- @usage units.position("50%") --> "50%"
function M.position(text)
  local value, message = M.offset(text, math.maxinteger, 1)
  if not value then return nil, message end
  return text
end

--- The offset of a place on a drive of a known size.
-- @tparam string|integer text  bytes, a size, a percentage of the drive (`50%`), or a number of
--   logical blocks (`2048s`)
-- @tparam integer size   of the drive, bytes
-- @tparam integer block  logical block size, bytes: a percentage is rounded down to it
-- @treturn integer  bytes from the start; at most `size`
-- @return or nil, message
-- @usage units.offset("50%", drive.size, drive.logical_block_size)
function M.offset(text, size, block)
  local number = tostring(text):match("^%s*(%d+%.?%d*)%s?%%%s*$")
  local blocks = tostring(text):match("^%s*(%d+)s%s*$")
  local allowed = "0 to the drive's size, " .. SIZES .. "; 0% to 100%; logical blocks (2048s)"
  local value
  if number then
    local percent = tonumber(number)
    if percent > 100 then return refuse(text, "place on the drive", allowed) end
    -- In two steps, as size * percent would leave the integers that a float holds exactly.
    local millionths = math.floor(percent * 1000000 + 0.5)
    value = size // 100000000 * millionths + size % 100000000 * millionths // 100000000
    if percent < 100 then value = value // block * block end
  elseif blocks then
    value = to_integer(blocks)
    value = value and value <= math.maxinteger // block and value * block
  else
    local message
    value, message = M.size(text)
    if not value then return nil, message:match("^(.*allowed are ).*$") .. allowed end
  end
  if not value or value > size then
    return nil, string.format("%q is behind the end of the drive: it has %d bytes",
      tostring(text), size)
  end
  return value
end

-- string.format writes the locale's decimal separator (which may be several bytes long).
local function with_point(s)
  return (s:gsub("[^0-9eE+%-]+", "."))
end

local function is_finite(value)
  return type(value) == "number" and value == value and value ~= math.huge and value ~= -math.huge
end

--- A number with a fixed count of digits behind the decimal point, whatever the locale.
-- @tparam ?number value
-- @tparam[opt=0] integer digits
-- @treturn string  "n/a" for nil, NaN and infinity
-- @usage units.fixed(1.25, 1) --> "1.2"
function M.fixed(value, digits)
  if not is_finite(value) then return "n/a" end
  if value == 0 then value = 0.0 end -- not -0
  if math.type(value) == "integer" and (digits or 0) == 0 then return string.format("%d", value) end
  return with_point(string.format("%." .. (digits or 0) .. "f", value))
end

--- A number in the fewest digits that read back as the same value, whatever the locale. Integers
-- have no point, floats always have one or an exponent: so the subtype survives too.
-- @tparam ?number value
-- @treturn string  "n/a" for nil, NaN and infinity
-- @usage units.exact(0.1) --> "0.1"
function M.exact(value)
  if not is_finite(value) then return "n/a" end
  if math.type(value) == "integer" then return string.format("%d", value) end
  for digits = 15, 17 do
    local text = string.format("%." .. digits .. "g", value)
    if digits == 17 or tonumber(text) == value then
      text = with_point(text)
      return text:find("[.e]") and text or text .. ".0"
    end
  end
end

-- `value` with three significant digits in the largest unit of `steps` ({limit, factor, name}) that
-- leaves at least 1. The limits are a little below the next unit, as 999.96 would print as 1000.0.
local function in_steps(value, steps)
  for i = #steps, 1, -1 do
    local factor, name = steps[i][1], steps[i][2]
    if value >= factor * 0.99995 or i == 1 then
      local scaled = value / factor
      local digits = steps[i].whole and 0 or scaled < 9.995 and 2 or scaled < 999.95 and 1 or 0
      return M.fixed(scaled, digits) .. " " .. name
    end
  end
end

local function steps(base, names)
  local list = {}
  for i, name in ipairs(names) do list[i] = { base ^ (i - 1), name, whole = i == 1 } end
  return list
end

local DECIMAL_BYTES = steps(1000, { "B", "kB", "MB", "GB", "TB", "PB", "EB" })
local BINARY_BYTES = steps(1024, { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" })
local TIMES = { { 1, "ns", whole = true }, { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" } }

--- A size in decimal units, as on the drive's label.
-- @tparam ?number bytes
-- @treturn string  "600.1 GB"
-- @usage units.decimal_bytes(600127266816) --> "600.1 GB"
function M.decimal_bytes(bytes)
  return is_finite(bytes) and in_steps(bytes, DECIMAL_BYTES) or "n/a"
end

--- A size in binary units.
-- @tparam ?number bytes
-- @treturn string  "558.9 GiB"
-- @usage units.binary_bytes(65536) --> "64.0 KiB"
function M.binary_bytes(bytes)
  return is_finite(bytes) and in_steps(bytes, BINARY_BYTES) or "n/a"
end

--- A size in both kinds of units.
-- @tparam ?number bytes
-- @treturn string  "600.1 GB (558.9 GiB)"; below 1000 the bytes alone
function M.bytes(bytes)
  if not is_finite(bytes) or bytes < 1000 then return M.decimal_bytes(bytes) end
  return M.decimal_bytes(bytes) .. " (" .. M.binary_bytes(bytes) .. ")"
end

--- The size of a block or a zone, which is a power of two more often than not.
-- @tparam ?integer bytes
-- @treturn string  "4 KiB", "256 MiB", "512 B"; bytes where no binary unit fits whole
function M.block(bytes)
  if not is_finite(bytes) then return "n/a" end
  for i = #BINARY_BYTES, 2, -1 do
    local factor = BINARY_BYTES[i][1]
    if bytes >= factor and bytes % factor == 0 then
      return string.format("%d %s", bytes // factor, BINARY_BYTES[i][2])
    end
  end
  return M.fixed(bytes, 0) .. " B"
end

--- A rate, decimal and binary.
-- @tparam ?number bytes_per_s
-- @treturn string  "154.8 MB/s (147.6 MiB/s)"
-- @usage units.rate(result.bandwidth_bytes_per_s)
function M.rate(bytes_per_s)
  if not is_finite(bytes_per_s) then return "n/a" end
  local digits = bytes_per_s < 9995000 and 2 or 1
  return string.format("%s MB/s (%s MiB/s)",
    M.fixed(bytes_per_s / M.MB, digits), M.fixed(bytes_per_s / M.MiB, digits))
end

--- A latency in the unit that fits it.
-- @tparam ?number ns  nanoseconds
-- @treturn string  "850 ns", "86.2 us", "8.06 ms", "1.20 s"
-- @usage units.latency(8060000) --> "8.06 ms"
function M.latency(ns)
  return is_finite(ns) and in_steps(ns, TIMES) or "n/a"
end

--- A duration as a person says it.
-- @tparam ?number seconds
-- @treturn string  "0.35 s", "42 s", "3 min 20 s", "1 h 04 min", "2 d 03 h"
-- @usage units.duration_text(200) --> "3 min 20 s"
function M.duration_text(seconds)
  if not is_finite(seconds) then return "n/a" end
  if seconds < 9.995 then return M.fixed(seconds, 2) .. " s" end
  if seconds < 59.5 then return M.fixed(seconds, 0) .. " s" end
  local whole = math.floor(seconds + 0.5)
  if whole < 3600 then return string.format("%d min %02d s", whole // 60, whole % 60) end
  whole = (whole + 30) // 60
  if whole < 1440 then return string.format("%d h %02d min", whole // 60, whole % 60) end
  whole = (whole + 30) // 60
  return string.format("%d d %02d h", whole // 24, whole % 24)
end

--- The LBA that an offset lies in.
-- @tparam ?integer offset  bytes
-- @tparam integer block    logical block size, bytes
-- @treturn string  decimal digits; "n/a" when the offset is unknown
-- @usage units.lba(1048576, 512) --> "2048"
function M.lba(offset, block)
  return offset and string.format("%d", offset // block) or "n/a"
end

--- A count with its noun.
-- @tparam integer count
-- @tparam string one   the noun of one
-- @tparam string many  of none and of several
-- @treturn string
-- @usage units.counted(1, "zone", "zones") --> "1 zone"
function M.counted(count, one, many)
  return string.format("%d %s", count, count == 1 and one or many)
end

return M
