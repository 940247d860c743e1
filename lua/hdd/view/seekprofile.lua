-- SPDX-License-Identifier: GPL-3.0-or-later
--- A seek profile as text: the curve, the distances, the numbers that matter.
-- @module hdd.view.seekprofile

local text = require "hdd.view.text"
local units = require "hdd.units"

local M = {}

local COLUMNS <const> = {
  "stroke_share", "distance_bytes", "seek_us", "fitted_us", "latency_min_us", "latency_mean_us",
  "latency_max_us", "ios", "errors", "flag",
}
local DROP <const> = { "ios", "errors", "latency_max_us", "latency_min_us", "distance_bytes" }

-- Latencies get the table's best unit, seek times with them.
local function shown(row)
  return setmetatable({
    stroke_share = string.format("%s %%", units.fixed(row.stroke_share * 100,
      row.stroke_share < 0.001 and 5 or row.stroke_share < 0.1 and 3 or 1)),
    latency_seek_us = row.seek_us, latency_fitted_us = row.fitted_us,
  }, { __index = row })
end

--- How it was measured, in a sentence.
function M.how(document)
  local p = document.parameters
  local how = string.format("reads of %s, one at a time: %d distances with %d samples each, %d random reads",
    units.block(p.block_size), p.distances, p.samples, p.accesses)
  if p.from > 0 or p.to ~= document.drive.size_bytes then
    how = how .. string.format(", %s to %s", units.decimal_bytes(p.from), units.decimal_bytes(p.to))
  end
  return how
end

--- The distances.
function M.show(page, document, options)
  if #document.seeks > 0 then
    local rows, keys = {}, {}
    for i, row in ipairs(document.seeks) do rows[i] = shown(row) end
    for i, key in ipairs(COLUMNS) do
      keys[i] = (key == "seek_us" or key == "fitted_us") and "latency_" .. key or key
    end
    page:add(text.table(rows, keys, { width = options.width, utf8 = options.utf8, drop = DROP }))
  end
  local sentences = document.does_not_apply or {}
  if #document.seeks == 0 and #sentences == 0 then sentences = { "No seek was measured." } end
  for i, sentence in ipairs(sentences) do
    if i > 1 or #document.seeks > 0 then page:gap() end
    page:say("", sentence)
  end
end

local function latency(us)
  return us and units.latency(us * 1000)
end

local function rotation_fact(rotation)
  if not rotation then return nil end
  local fact = string.format("%s rpm (%s), a turn takes %s", units.fixed(rotation.rpm, 1),
    rotation.source == "drive" and "the drive says so" or rotation.source,
    latency(rotation.revolution_us))
  if rotation.deviation_percent then
    fact = fact .. string.format("; %+.2f %% off the %d rpm stated", rotation.deviation_percent,
      rotation.stated_rpm)
  end
  return fact
end

local function curve_fact(fit)
  if not fit then return nil end
  return string.format("%.3f + %.3f * sqrt(d) ms up to d = %.2f, %.3f + %.3f * d ms beyond (d: share of "
    .. "the stroke); rows lie %s off it", fit.a_us / 1000, fit.b_us / 1000, fit.knee_share,
    fit.c_us / 1000, fit.e_us / 1000, latency(fit.residual_us))
end

local function ahead_fact(buffer)
  if buffer.read_ahead_bytes == nil then return nil end
  local behind = buffer.reads_behind and ", and what lies before a block" or ""
  if buffer.read_ahead_bytes == 0 then return "none" .. behind end
  return units.bytes(buffer.read_ahead_bytes) .. (buffer.read_ahead_or_more and " or more" or "") .. behind
end

--- The result in a few lines.
function M.summarize(page, document)
  local s, buffer, access = document.summary, document.buffer or {}, document.access or {}
  page:fact("rotation", rotation_fact(document.rotation))
  page:fact("seek", s.seek_average_us and string.format("%s on average, %s to the next track, %s full stroke",
    latency(s.seek_average_us), latency(s.seek_track_to_track_us) or "n/a", latency(s.seek_full_stroke_us)))
  page:fact("curve", curve_fact(document.fit))
  page:fact("access", access.latency_mean_us and string.format("%s on average (%s IOPS), p99 %s, of %d random reads",
    latency(access.latency_mean_us), units.fixed(s.access_iops, 1), latency(access.latency_p99_us), access.ios))
  page:fact("reread", buffer.reread_us and string.format("%s, first %s%s", latency(buffer.reread_us),
    latency(buffer.first_read_us), buffer.hit == false and ": not from a buffer" or ""))
  page:fact("read-ahead", ahead_fact(buffer))
  page:fact("places", buffer.places and string.format("%d%s in the buffer at once", buffer.places,
    buffer.places_or_more and " or more" or ""))
  page:fact("burst", buffer.burst_bytes_per_s and units.rate(buffer.burst_bytes_per_s)
    .. " (repeated reads of " .. units.block(buffer.burst_block_bytes) .. ")")
  page:fact("errors", units.fixed(document.errors))
end

return M
