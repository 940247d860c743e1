--- The document of a seek profile, made of what was measured so far.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.seekprofile.conclusion
local fit = require "hdd.procedure.seekprofile.fit"
local seeks = require "hdd.procedure.seekprofile.seeks"
local statistics = require "hdd.statistics"
local units = require "hdd.units"

local M = {}

-- A row is flagged when it is off the curve by so many of its own deviations, and by this share.
local SIGMAS <const>, SHARE <const> = 5, 0.1

-- Such a share of late reads is no chance.
local LATE <const> = 0.005

-- Spindles keep their speed within a thousandth or two; what differs more was said wrongly.
local SAME_SPEED <const> = 0.005

local function us(ns)
  return ns and ns / 1000
end

local function rotation_of(s)
  if not s.turn_ns then return nil end
  local rotation = {
    rpm = 60e9 / s.turn_ns, revolution_us = s.turn_ns / 1000, source = s.turn_source,
    stated_rpm = s.stated_rpm,
  }
  if s.spin then
    rotation.places, rotation.spread_percent = s.spin.places, s.spin.spread * 100
  end
  if s.spin and s.stated_rpm then
    rotation.deviation_percent = (rotation.rpm / s.stated_rpm - 1) * 100
  end
  return rotation
end

local function access_of(s)
  local latencies = s.access and s.access.latencies
  if not latencies then return nil end
  local mean = statistics.mean(latencies)
  return {
    ios = #latencies, errors = s.access.errors, latency_mean_us = us(mean),
    latency_p50_us = us(statistics.percentile(latencies, 50)),
    latency_p99_us = us(statistics.percentile(latencies, 99)),
    latency_max_us = us(statistics.percentile(latencies, 100)),
    seek_us = mean and s.turn_ns
      and math.max(0.0, us(mean - s.turn_ns / 2 - (s.hit_ns or 0))) or nil,
  }
end

-- Are more completions seen late than the odd one? By those that took more than a turn too long.
local function is_late(s)
  local late, all = 0, 0
  for _, row in ipairs(s.rows) do
    late = late + seeks.evaluate(row.latencies, s.turn_ns, 0).late
    all = all + #row.latencies
  end
  return late > LATE * all
end

local function row_of(s, row)
  local entry = seeks.evaluate(row.latencies, s.turn_ns, s.hit_ns or 0, s.late and (s.fastest_ns or 0))
  entry.stroke_share, entry.distance_bytes = row.share, row.bytes // s.rounds
  entry.ios, entry.errors, entry.cached = #row.latencies, row.errors, row.cached
  entry.flagged = false
  return entry
end

local function judge(entry, curve)
  if entry.errors > 0 then
    entry.flagged, entry.reason = true, "errors"
  elseif not entry.seek_us then
    entry.flagged, entry.reason = true, entry.cached > 0 and "cached" or "no read"
  end
  if not (curve and entry.seek_us) then return end
  entry.fitted_us = math.max(0.0, fit.at(curve, entry.stroke_share))
  local off = math.abs(entry.seek_us - entry.fitted_us)
  if not entry.flagged and off > math.max(SIGMAS * entry.uncertainty_us, SHARE * entry.fitted_us) then
    entry.flagged, entry.reason = true, "off the curve"
  end
end

local function curve_of(rows)
  local points = {}
  for _, row in ipairs(rows) do
    if row.seek_us and row.errors == 0 then points[#points + 1] = { d = row.stroke_share, us = row.seek_us } end
  end
  return fit.curve(points)
end

-- The curve in the document's words.
local function described(curve)
  return curve and {
    a_us = curve.a_us, b_us = curve.b_us, c_us = curve.c_us, e_us = curve.e_us,
    knee_share = curve.knee, residual_us = curve.residual_us, points = curve.points,
  }
end

local function summarize(s, d, curve)
  local sum, rows = d.summary, d.seeks
  sum.rpm = d.rotation and d.rotation.rpm
  sum.revolution_us = d.rotation and d.rotation.revolution_us
  sum.seek_average_us = curve and fit.average(curve, s.stroke)
  sum.seek_track_to_track_us = rows and rows[1] and rows[1].seek_us
  sum.seek_full_stroke_us = curve and fit.at(curve, 1)
  sum.access_average_us = d.access and d.access.latency_mean_us
  sum.access_iops = sum.access_average_us and 1e6 / sum.access_average_us
  if d.buffer then
    sum.overhead_us = s.hit_ns and s.hit_ns / 1000
    sum.read_ahead_bytes, sum.burst_bytes_per_s = d.buffer.read_ahead_bytes, d.buffer.burst_bytes_per_s
  end
end

--- Writes what was measured so far into the document.
-- @tparam table s  the procedure's state
function M.fill(s)
  local d = s.m.document
  d.rotating, d.rotation = s.rotating, rotation_of(s)
  d.access = access_of(s)
  d.seeks = {}
  s.late = s.rounds and is_late(s)
  for i, row in ipairs(s.rounds and s.rows or {}) do d.seeks[i] = row_of(s, row) end
  local curve = curve_of(d.seeks)
  for _, entry in ipairs(d.seeks) do judge(entry, curve) end
  d.fit = described(curve)
  summarize(s, d, curve)
end

-- What can't be said of this drive, and why: sentences.
local function gaps(s)
  local list = {}
  if s.m.over and not s.turn_ns then return list end
  if s.rotating == false then
    list[1] = "It does not turn: rotation speed, seek times, average seek and seek curve do not apply, "
      .. "and what the buffer holds can't be told from what it does not. Access times and the rate of "
      .. "repeated reads are shown."
  elseif not s.turn_ns then
    list[1] = "No turning was found, as with flash, a file, or a drive that answers backward reads from "
      .. "its buffer: rotation speed, seek times, average seek and seek curve do not apply. If it does "
      .. "turn, its speed can be given (rpm)."
  end
  if s.turn_ns and not s.rows and not s.m.over then
    list[#list + 1] = "The range is too small for a seek curve: it has less than 256 tracks."
  end
  return list
end

local function say_of_rotation(s)
  local m, rotation = s.m, s.m.document.rotation
  if s.turn_ns and not s.spin then
    m:warn(string.format("the rotation could not be measured: %s rpm are believed (%s)",
      units.fixed(rotation.rpm, 0), rotation.source == "given" and "rpm was given" or "the drive says so"))
  elseif rotation and rotation.deviation_percent
    and math.abs(rotation.deviation_percent) > SAME_SPEED * 100 then
    m:warn(string.format("it turns at %s rpm, not at the %d that %s", units.fixed(rotation.rpm, 1),
      rotation.stated_rpm, s.p.rpm and "were given" or "the drive states"))
  end
end

--- Adds to the finished document what does not apply, and the warnings.
-- @tparam table s  the procedure's state
function M.warn(s)
  local m, d = s.m, s.m.document
  d.does_not_apply = gaps(s)
  say_of_rotation(s)
  if s.turn_ns and d.buffer and d.buffer.hit == false then
    m:warn("a block that is read twice takes a turn both times: the drive has no read buffer, or it is "
      .. "off. The overhead of a command is not known and is part of the seek times")
  end
  if s.late then
    m:warn("many completions were seen late (the machine is busy with something else): seek times are "
      .. "worked out from the fastest reads alone, and are less exact")
  end
  local flagged = 0
  for _, row in ipairs(d.seeks) do if row.flagged then flagged = flagged + 1 end end
  if flagged > 0 then
    m:warn(string.format("%d of %d distances are flagged", flagged, #d.seeks))
  end
  local direct, curve = d.access and d.access.seek_us, d.summary.seek_average_us
  if direct and curve and not m.over and math.abs(direct / curve - 1) > 0.15 then
    m:warn(string.format("the average seek is %s by the curve, but %s by the random reads: something "
      .. "else used the drive or the processors, or the model does not fit it",
      units.latency(curve * 1000), units.latency(direct * 1000)))
  end
end

return M
