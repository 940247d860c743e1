--- The figure of seek profiles: seek time against distance, measured and fitted.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figures.seekprofile
local parts = require "hdd.view.figures.parts"
local units = require "hdd.units"

local MS <const>, PERCENT <const> = 1e3, 100
local FITTED_POINTS <const> = 80

-- What lies on the curve, and what is to be looked at, each with its error bars.
local function columns_of(run)
  local good = { x = {}, y = {}, low = {}, high = {}, labels = {} }
  local bad = { x = {}, y = {}, labels = {} }
  for _, row in ipairs(parts.list(run.document.seeks)) do
    row = parts.list(row)
    local share, seek = parts.number(row.stroke_share, 1 / PERCENT), parts.number(row.seek_us, MS)
    if share and seek then
      local to = row.flagged == true and bad or good
      local half = parts.number(row.uncertainty_us, MS) or 0
      local n = #to.x + 1
      to.x[n], to.y[n] = share, seek
      to.labels[n] = type(row.reason) == "string" and row.reason
        or units.fixed(parts.number(row.ios) or 0) .. " reads"
      if to.low then to.low[n], to.high[n] = seek - half, seek + half end
    end
  end
  return good, bad
end

-- The curve, denser where it is steep.
local function fitted(run)
  local fit = parts.list(run.document.fit)
  local a, b = parts.number(fit.a_us), parts.number(fit.b_us)
  local c, e, knee = parts.number(fit.c_us), parts.number(fit.e_us), parts.number(fit.knee_share)
  if not (a and b and c and e and knee) then return nil end
  local x, y = {}, {}
  for i = 1, FITTED_POINTS do
    local share = (i / FITTED_POINTS) ^ 2
    x[i] = share * PERCENT
    y[i] = (share <= knee and a + b * math.sqrt(share) or c + e * share) / MS
  end
  return { x = x, y = y }
end

local function describe(run)
  local s = parts.list(run.document.summary)
  local words = {}
  local function say(key, what)
    local value = parts.number(s[key], MS)
    if value then words[#words + 1] = string.format("%s %s ms", what, units.fixed(value, 2)) end
  end
  say("seek_track_to_track_us", "track to track")
  say("seek_average_us", "average")
  say("seek_full_stroke_us", "full stroke")
  return #words > 0 and run.name .. ": " .. table.concat(words, ", ") .. "." or nil
end

return function(runs)
  local f = parts.figure("seek", "Seek time by distance", runs, {
    x = { label = "distance, of the full stroke", unit = "%", scale = "linear", min = 0, max = 100,
      tight = true },
    y = { label = "seek time", unit = "ms", scale = "linear", min = 0 },
  })
  local words = {}
  for drive, run in ipairs(runs) do
    local good, bad = columns_of(run)
    local line = fitted(run)
    local function add(series)
      f.series[#f.series + 1] = parts.series(run, drive, series)
    end
    if line then
      add { name = run.name .. ", fitted", role = "fit", kind = "line", x = line.x, y = line.y,
        faint = true, label = "fitted" }
    end
    add { role = "value", kind = "points", x = good.x, y = good.y, low = good.low, high = good.high,
      labels = good.labels, legend = true }
    if #bad.x > 0 then
      add { name = run.name .. ", flagged", role = "flagged", kind = "points", x = bad.x, y = bad.y,
        labels = bad.labels, legend = true, marker = 5 }
    end
    words[#words + 1] = describe(run)
    parts.note_status(f, run)
  end
  parts.arrange(f)
  f.description = table.concat(words, " ")
  f.notes[#f.notes + 1] = "Points: measured, without turn and overhead; line: a + b·√d for short "
    .. "distances, c + e·d for long ones."
  if not parts.has_points(f) then
    return {}, { "Nothing turns, or no seek was measured: there is no seek curve to draw." }
  end
  return { f }
end
