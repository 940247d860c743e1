--- A metric's verdict in words. Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.compare.words
local units = require "hdd.units"

local M = {}

local NAMES <const> = {
  mean_bytes_per_s = "mean rate", full_read_s = "time to read all of it", outer_bytes_per_s = "rate of the first zone",
  inner_bytes_per_s = "rate of the last zone", ratio = "first to last zone", bandwidth_bytes_per_s = "rate",
  iops_geometric_mean = "IOPS, geometric mean", iops = "IOPS", latency_p50_us = "median latency",
  latency_p99_us = "99 % latency", latency_p999_us = "99.9 % latency", seek_average_us = "average seek",
  seek_track_to_track_us = "track to track", seek_full_stroke_us = "full stroke",
  access_average_us = "average access", overhead_us = "a command's overhead", rpm = "turns a minute",
}

--- What a metric is called.
-- @tparam table metric
-- @treturn string
function M.name(metric)
  return NAMES[metric.name] or metric.name
end

--- A value of a metric, with its unit.
-- @tparam table metric
-- @tparam ?number value
-- @treturn string
function M.value(metric, value)
  if not value then return "" end
  if metric.name:find("_bytes_per_s$") then return units.fixed(value / 1e6, 1) .. " MB/s" end
  if metric.name:find("_us$") then return units.latency(math.floor(value * 1000 + 0.5)) end
  if metric.name:find("_s$") then return units.duration_text(value) end
  return units.fixed(value, value < 10 and 2 or 1)
end

-- As many digits as the interval is wide: 5.2 ± 0.3, 27 ± 4.
local function digits_of(half)
  if half >= 10 then return 0 end
  return half >= 1 and 1 or 2
end

local LOPSIDED <const> = 1.2 -- the longer side of an interval over the shorter, from when on both ends are told

-- The interval behind a change: "± 0.3", or where its sides differ "(3 to 58)". `sign` is -1 to turn
-- both about.
local function interval_of(metric, digits, sign)
  local change, low, high = metric.change_percent, metric.low_percent, metric.high_percent
  local up, down = high - change, change - low
  if math.max(up, down) <= LOPSIDED * math.min(up, down) or math.max(up, down) < 0.1 then
    return "± " .. units.fixed(math.max(up, down), digits)
  end
  if sign < 0 then low, high = -high, -low end
  if high > 1000 then return "(" .. units.fixed(low, digits) .. " or more)" end
  return string.format("(%s to %s)", units.fixed(low, digits), units.fixed(high, digits))
end

local function digits_for(metric)
  return digits_of(math.max(metric.high_percent - metric.change_percent, metric.change_percent - metric.low_percent))
end

--- Change and interval: "-5.2 % ± 0.3", "+27 % (3 to 58)".
-- @tparam table metric
-- @treturn string
function M.change(metric)
  local change = metric.change_percent
  if not change then return "" end
  local digits = metric.low_percent and digits_for(metric) or 1
  local text = (change > 0 and "+" or "") .. units.fixed(change, digits) .. " %"
  return metric.low_percent and text .. " " .. interval_of(metric, digits, 1) or text
end

local UNITS <const> = {
  runs = "%d runs of each", zones = "%d zones, one run of a side", batches = "the batches of each row",
  rows = "the scatter of %d rows",
}

-- "5.2 % ± 0.3": of a change below 0 the interval is turned about, too.
local function by_how_much(metric)
  local digits = digits_for(metric)
  return string.format("%s %% %s", units.fixed(math.abs(metric.change_percent), digits),
    interval_of(metric, digits, metric.change_percent < 0 and -1 or 1))
end

--- The verdict as a sentence.
-- @tparam table metric
-- @tparam string first   name of the side that it is held against
-- @tparam string other
-- @tparam number level   of the interval
-- @treturn string
-- @usage words.sentence(metric, "old", "new", 0.95)
--   --> "new is faster than old by 27.3 % ± 0.6 (mean rate; 95 % interval from 40 zones, …)"
function M.sentence(metric, first, other, level)
  local name = M.name(metric)
  if metric.verdict == "not judged" then
    return string.format("%s and %s: not judged (%s: there is nothing to tell its scatter from)", other, first, name)
  end
  local from = string.format(UNITS[metric.unit], metric.n)
  local interval = string.format("%s; %s %% interval from %s", name, string.format("%g", level * 100), from)
  if metric.verdict == "no difference shown" then
    return string.format("no difference shown between %s and %s: %s (%s)", other, first, M.change(metric), interval)
  end
  return string.format("%s is %s than %s by %s (%s)", other, metric.verdict, first, by_how_much(metric), interval)
end

return M
