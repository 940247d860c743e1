--- Axes: where they begin and end, their ticks, and where a value lies between.
--
-- All renderers ask here, so that a figure has the same axes wherever it is drawn.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure.scale
local units = require "hdd.units"

local M = {}

local MINUTE <const>, HOUR <const>, DAY <const> = 60, 3600, 86400

-- Steps of a time axis, and how a tick is written.
local TIME_STEPS <const> = {
  { 1, "%H:%M:%S" }, { 5, "%H:%M:%S" }, { 15, "%H:%M:%S" }, { 30, "%H:%M:%S" },
  { MINUTE, "%H:%M" }, { 5 * MINUTE, "%H:%M" }, { 15 * MINUTE, "%H:%M" }, { 30 * MINUTE, "%H:%M" },
  { HOUR, "%H:%M" }, { 2 * HOUR, "%H:%M" }, { 6 * HOUR, "%d. %H:%M" }, { 12 * HOUR, "%d. %H:%M" },
  { DAY, "%b %d" }, { 2 * DAY, "%b %d" }, { 7 * DAY, "%b %d" }, { 14 * DAY, "%b %d" },
  { 30 * DAY, "%Y-%m-%d" }, { 91 * DAY, "%Y-%m-%d" }, { 182 * DAY, "%Y-%m-%d" },
  { 365 * DAY, "%Y-%m-%d" }, { 5 * 365 * DAY, "%Y-%m-%d" }, { 25 * 365 * DAY, "%Y-%m-%d" },
}
local TIME_MOST <const> = 253402300799 -- the last second that four digits of a year can say

--- An axis with its unit.
-- @tparam table axis
-- @treturn string  "position (GB)"
-- @usage scale.title(f.x)
function M.title(axis)
  if not axis.unit or axis.unit == "" then return axis.label end
  return string.format("%s (%s)", axis.label, axis.unit)
end

--- Can it be drawn there?
-- @param value
-- @tparam table axis
-- @treturn boolean  false for what is no finite number, and for 0 and less on a logarithmic axis
function M.fits(value, axis)
  if type(value) ~= "number" or value ~= value or value == math.huge or value == -math.huge then
    return false
  end
  if axis.scale == "time" then return value >= 0 and value <= TIME_MOST end
  return axis.scale ~= "log" or value > 0
end

-- 1, 2 or 5 times a power of ten: the smallest that is not below `least`.
local function nice_step(least)
  local power = 10.0 ^ math.floor(math.log(least, 10))
  for _, factor in ipairs { 1, 2, 5, 10 } do
    if factor * power >= least * 0.999999 then return factor * power end
  end
  return 10 * power
end

local function time_step(span, count)
  for _, step in ipairs(TIME_STEPS) do
    if span / step[1] <= count then return step[1], step[2] end
  end
  return TIME_STEPS[#TIME_STEPS][1] * math.ceil(span / TIME_STEPS[#TIME_STEPS][1] / count), "%Y-%m-%d"
end

-- Widens what has no width.
local function widen(low, high, axis)
  if high > low then return low, high end
  if axis.scale == "log" then return low / 2, high * 2 end
  if axis.scale == "time" then return low - MINUTE, high + MINUTE end
  local by = low == 0 and 1 or math.abs(low) * 0.1
  if axis.min then return low, low + by end
  return low - by, high + by
end

-- 1, 2 or 5 times a power of ten, at most (`up` false) or at least `value`.
local function log_bound(value, up)
  local power = 10.0 ^ math.floor(math.log(value, 10) + 1e-9)
  local best = power
  for _, factor in ipairs { 1, 2, 5, 10 } do
    local bound = factor * power
    if up and bound >= value * 0.999 then return bound end
    if not up and bound <= value * 1.001 then best = bound end
  end
  return best
end

--- Where an axis begins and ends.
-- @tparam table axis
-- @tparam ?number low    least of what is drawn; nil: nothing is
-- @tparam ?number high   greatest
-- @tparam[opt=6] integer count  ticks wanted
-- @treturn number low
-- @treturn number high   always above `low`
-- @usage local low, high = scale.extent(figure.y, 95.5, 154.8)
function M.extent(axis, low, high, count)
  if axis.scale == "category" then return 0.5, math.max(#(axis.ticks or {}), 1) + 0.5 end
  local default = axis.scale == "log" and 1 or 0
  low, high = axis.min or low or default, axis.max or high or axis.min or default + 1
  if axis.scale == "log" then low, high = math.max(low, 1e-12), math.max(high, 1e-12) end
  if high < low then high = low end
  low, high = widen(low, high, axis)
  if axis.scale == "log" then
    if high / low < 4 then low, high = low / 1.5, high * 1.5 end
    return axis.min or log_bound(low, false), axis.max or log_bound(high, true)
  elseif axis.scale == "time" then
    return low, high
  end
  local step = nice_step((high - low) / (count or 6))
  if not axis.min then low = math.floor(low / step + 1e-9) * step end
  if not axis.max and not axis.tight then high = math.ceil(high / step - 1e-9) * step end
  return low, high
end

--- A number as a tick or value says it: no more digits than it has.
-- @tparam number value
-- @tparam[opt=4] integer digits  significant ones
-- @treturn string
-- @usage scale.number(0.30000000000000004) --> "0.3"
function M.number(value, digits)
  digits = digits or 4
  if value ~= 0 and (math.abs(value) >= 1e7 or math.abs(value) < 1e-4) then
    local mantissa, power = string.format("%." .. digits - 1 .. "e", value):match("^(.-)e(.*)$")
    mantissa = units.fixed(tonumber((mantissa:gsub("[^%d+-]+", "."))), digits - 1)
    if mantissa:find("%.") then mantissa = mantissa:gsub("%.?0+$", "") end
    return mantissa .. "e" .. math.tointeger(tonumber(power))
  end
  local whole = value == 0 and 1 or math.floor(math.log(math.abs(value), 10)) + 1
  local text = units.fixed(value, math.max(0, digits - math.max(whole, -3)))
  if text:find("%.") then text = text:gsub("%.?0+$", "") end
  return text
end

local function linear_ticks(low, high, count)
  local step = nice_step((high - low) / count)
  local ticks = {}
  for n = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6) do
    local value = n * step
    ticks[#ticks + 1] = { value = value, text = M.number(value, 6) }
  end
  return ticks
end

-- Each power of ten; where there are few of them 2 and 5 times it, too; where there are many, not all.
local function log_ticks(low, high, count)
  local first, last = math.floor(math.log(low, 10) + 1e-9), math.ceil(math.log(high, 10) - 1e-9)
  local decades = math.log(high / low, 10)
  local factors = decades * 3 <= count + 1 and { 1, 2, 5 } or { 1 }
  local every = math.max(1, math.ceil(decades / count))
  local ticks = {}
  for power = first, last do
    if (power - first) % every == 0 then
      for _, factor in ipairs(factors) do
        local value = factor * 10.0 ^ power
        if value >= low * 0.999 and value <= high * 1.001 then
          ticks[#ticks + 1] = { value = value, text = M.number(value) }
        end
      end
    end
  end
  return ticks
end

local function time_ticks(low, high, count)
  local step, form = time_step(high - low, count)
  local ticks = {}
  for n = math.ceil(low / step), high // step do
    local value = math.floor(n * step)
    ticks[#ticks + 1] = { value = value, text = os.date("!" .. form, value) }
  end
  return ticks
end

local function given_ticks(axis, low, high)
  local ticks = {}
  for i, tick in ipairs(axis.ticks) do
    if axis.scale == "category" then
      ticks[i] = { value = i, text = tostring(tick) }
    elseif M.fits(tick, axis) and tick >= low and tick <= high then
      ticks[#ticks + 1] = { value = tick, text = M.number(tick, 6) }
    end
  end
  return ticks
end

--- The ticks of an axis.
-- @tparam table axis
-- @tparam number low
-- @tparam number high
-- @tparam[opt=6] integer count  how many are wanted, about
-- @treturn {table,...}  `value`, `text`; ascending
-- @usage for _, tick in ipairs(scale.ticks(f.x, low, high)) do print(tick.text) end
function M.ticks(axis, low, high, count)
  count = count or 6
  if axis.ticks then
    local ticks = given_ticks(axis, low, high)
    if #ticks > 0 then return ticks end
  end
  if axis.scale == "log" then return log_ticks(low, high, count) end
  if axis.scale == "time" then return time_ticks(low, high, count) end
  return linear_ticks(low, high, count)
end

--- Where a value lies on its axis.
-- @tparam number value
-- @tparam table axis
-- @tparam number low
-- @tparam number high
-- @treturn number  0 at `low`, 1 at `high`; beyond for what lies outside
function M.place(value, axis, low, high)
  if axis.scale == "log" then
    return math.log(math.max(value, 1e-300) / low) / math.log(high / low)
  end
  return (value - low) / (high - low)
end

return M
