-- Numbers of drives as a person says them; shared by the views of what a drive says of itself.
-- SPDX-License-Identifier: GPL-3.0-or-later
local units = require "hdd.units"

local M = {}

-- Digits in groups of three, which only people want.
function M.grouped(n)
  if math.type(n) == "float" then n = math.tointeger(n) or n end
  if math.type(n) ~= "integer" then return tostring(n) end
  local digits = ("%d"):format(n)
  local sign, body = digits:match("^(%-?)(%d+)$")
  return sign .. body:reverse():gsub("(%d%d%d)", "%1 "):reverse():gsub("^ ", "")
end

function M.gigabits(mbit_per_s) return units.fixed(mbit_per_s / 1000, 1) .. " Gb/s" end

-- "84428 h (9.6 years)"
function M.hours(hours)
  local whole = units.fixed(hours, 0)
  if hours < 8766 then
    if hours < 48 then return whole .. " h" end
    return ("%s h (%s days)"):format(whole, units.fixed(hours / 24, 0))
  end
  return ("%s h (%s years)"):format(whole, units.fixed(hours / 8766, 1))
end

function M.age(hours)
  if hours < 48 then return ("%d h ago"):format(hours) end
  if hours < 8766 then return ("%s days ago"):format(units.fixed(hours / 24, 0)) end
  return ("%s years ago"):format(units.fixed(hours / 8766, 1))
end

function M.celsius(c)
  return units.fixed(c, math.type(c) == "integer" and 0 or c % 1 == 0 and 0 or 1) .. " °C"
end

-- A count of bytes; above 2^63 - 1 decoders give a string of digits.
function M.data(bytes)
  if type(bytes) == "string" then return bytes .. " B" end
  return units.decimal_bytes(bytes)
end

function M.on(flag)
  if flag == nil then return "unknown" end
  return flag and "on" or "off"
end

return M
