--- Values of fio's options, as a job file has them. Pure.
-- Each reader returns a value, or nil and why not.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.fio.values
local units = require "hdd.units"

local M = {}

--- A size: fio's k, m, g, t (in either case, b behind them or not) are binary.
-- @tparam string text  "64k", "256m", "0x1000"
-- @treturn integer  bytes
-- @return or nil, message
-- @usage values.size("64kb") --> 65536
function M.size(text)
  local plain = text:gsub("^(%d+%s*[kKmMgGtTpP])[bB]$", "%1")
  if plain:find("[iI][bB]?$") then
    return nil, string.format("%q is 1000 based to fio, unless kb_base is 1000: write it as bytes, or "
      .. "with k, m, g, which are 1024 based", text)
  end
  return units.size(plain)
end

--- A size, or a share of the file or device.
-- @tparam string text  as `size`, or "50%"
-- @treturn integer|table  bytes, or a table with `percent`
-- @return or nil, message
-- @usage values.place("25%").percent --> 25.0
function M.place(text)
  local percent = text:match("^(%d+%.?%d*)%%$")
  if not percent then return M.size(text) end
  percent = tonumber(percent)
  if percent > 100 then return nil, "must be at most 100 %" end
  return { percent = percent }
end

--- What a `place` is of a whole.
-- @tparam integer|table place  of `place`
-- @tparam integer whole        bytes
-- @treturn integer  bytes
function M.of(place, whole)
  if type(place) ~= "table" then return place end
  return math.min(whole, math.floor(whole * (place.percent / 100)))
end

--- A whole number.
-- @tparam string text
-- @treturn integer
-- @return or nil, message
function M.integer(text)
  local value = text:match("^%-?%d+$") and math.tointeger(tonumber(text))
  if value then return value end
  return nil, string.format("%q is no whole number", text)
end

--- A time; without a unit it is in seconds.
-- @tparam string text  "120", "2m", "500ms"
-- @treturn number  seconds
-- @return or nil, message
function M.time(text)
  return units.duration(text)
end

--- Yes or no. An option that stands alone means yes.
-- @tparam ?string text
-- @treturn boolean
-- @return or nil, message
function M.flag(text)
  if text == nil or text == "1" or text == "true" then return true end
  if text == "0" or text == "false" then return false end
  return nil, string.format("%q must be 1 or 0", text)
end

--- Percentiles, as fio separates them: by colons.
-- @tparam string text  "50:99:99.9"
-- @treturn {number,...}  ascending
-- @return or nil, message
function M.percentiles(text)
  local list = {}
  for item in text:gmatch("[^:,]+") do
    local value = tonumber(item)
    if not value or value <= 0 or value > 100 then
      return nil, string.format("%q is no percentile: they lie between 0 and 100", item)
    end
    list[#list + 1] = value + 0.0
  end
  if #list == 0 or #list > 20 then return nil, "1 to 20 percentiles are needed" end
  table.sort(list)
  return list
end

return M
