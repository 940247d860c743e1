--- Figures of zone profiles: the rate across the drive, and how long its reads took.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figures.zoneprofile
local curve = require "hdd.curve"
local parts = require "hdd.view.figures.parts"
local statistics = require "hdd.statistics"
local units = require "hdd.units"

local GB <const>, MB <const> = 1e9, 1e6
local SINGLE <const> = 40     -- from so many zones on the line is a median over neighbours
local FITTED_POINTS <const> = 60

-- What can be drawn of the zones: position of the middle, rates, in GB and MB/s.
local function points_of(run)
  local zones = parts.list(run.document.zones)
  local every = math.max(1, math.ceil(#zones / parts.MOST_POINTS))
  local points = {}
  for i = 1, #zones, every do
    local zone = parts.list(zones[i])
    local offset, length = parts.number(zone.offset_bytes), parts.number(zone.length_bytes) or 0
    if offset then
      points[#points + 1] = {
        zone = zone, x = (offset + length / 2) / GB,
        y = parts.number(zone.bandwidth_bytes_per_s, MB) or false,
        low = parts.number(zone.bandwidth_min_bytes_per_s, MB),
        high = parts.number(zone.bandwidth_max_bytes_per_s, MB),
        flagged = zone.flagged == true,
        reason = type(zone.reason) == "string" and zone.reason or "flagged",
      }
    end
  end
  return points, every
end

local function column(points, key)
  local list = {}
  for i, point in ipairs(points) do list[i] = point[key] or false end
  return list
end

-- The median, the tenth and the ninetieth of each hundred of the rates around each zone.
local function around(points, width)
  local middle, low, high = {}, {}, {}
  for i, point in ipairs(points) do
    local near = {}
    for j = math.max(1, i - width), math.min(#points, i + width) do
      if points[j].y then near[#near + 1] = points[j].y end
    end
    middle[i] = point.y and statistics.median(near) or false
    low[i] = point.y and statistics.percentile(near, 10) or false
    high[i] = point.y and statistics.percentile(near, 90) or false
  end
  return middle, low, high
end

local function fit_series(run, drive, points)
  local xs, ys = {}, {}
  for _, point in ipairs(points) do
    if point.y and point.y > 0 and not point.flagged then
      xs[#xs + 1], ys[#ys + 1] = point.x, point.y
    end
  end
  if #xs < 5 then return nil end
  local fitted, x, y = curve.fit(xs, ys), {}, {}
  for i = 0, FITTED_POINTS do
    x[i + 1] = xs[1] + (xs[#xs] - xs[1]) * i / FITTED_POINTS
    y[i + 1] = fitted(x[i + 1])
  end
  return parts.series(run, drive, { name = run.name .. ", fitted", role = "fit", kind = "line",
    x = x, y = y, dash = 3, faint = true })
end

local function flagged_series(run, drive, points)
  local x, y, labels = {}, {}, {}
  for _, point in ipairs(points) do
    if point.flagged and point.y then
      x[#x + 1], y[#y + 1], labels[#labels + 1] = point.x, point.y, point.reason
    end
  end
  if #x == 0 then return nil end
  return parts.series(run, drive, { name = run.name .. ", flagged", role = "flagged", kind = "points",
    x = x, y = y, labels = labels, legend = true, marker = 5 })
end

-- From back to front: band, single zones, fitted curve, line, flagged zones.
local function add_run(f, run, drive)
  local points, every = points_of(run)
  local x, y = column(points, "x"), column(points, "y")
  local line, low, high = y, nil, nil
  if #points >= SINGLE then line, low, high = around(points, math.max(2, #points // 64)) end
  local passes = parts.number(parts.list(run.document.parameters).passes) or 1
  if passes > 1 then low, high = column(points, "low"), column(points, "high") end
  local function add(series)
    if series then f.series[#f.series + 1] = parts.series(run, drive, series) end
  end
  if low then
    add { name = run.name .. (passes > 1 and ", slowest to fastest pass" or ", spread"),
      role = "spread", kind = "band", x = x, low = low, high = high, faint = true }
  end
  if #points >= SINGLE then
    add { name = run.name .. ", single zones", role = "single", kind = "points", x = x, y = y,
      faint = true }
  end
  add(fit_series(run, drive, points))
  add { role = "value", kind = "line", x = x, y = line, legend = true }
  add(flagged_series(run, drive, points))
  if every > 1 then
    f.notes[#f.notes + 1] = string.format("%s: one zone in %d is drawn.", run.name, every)
  end
  return #points
end

local function describe(run, zones)
  local s = parts.list(run.document.summary)
  local outer, inner = parts.number(s.outer_bytes_per_s, MB), parts.number(s.inner_bytes_per_s, MB)
  local text = { string.format("%s: %d zones", run.name, zones) }
  if outer and inner then
    text[1] = text[1] .. string.format(", from %s MB/s outside to %s MB/s inside", units.fixed(outer, 1),
      units.fixed(inner, 1))
  end
  local full, flagged = parts.number(s.full_read_s), parts.number(s.flagged_zones)
  if full then
    text[#text + 1] = "reading all of it would take " .. units.duration_text(full)
  end
  if flagged and flagged > 0 then
    text[#text + 1] = string.format("%s %s flagged", units.fixed(flagged), flagged == 1 and "zone is" or
      "zones are")
  end
  return table.concat(text, "; ") .. "."
end

local function profile(runs)
  local f = parts.figure("zoneprofile", "Read rate across the drive", runs, {
    x = { label = "position", unit = "GB", scale = "linear", min = 0, tight = true },
    y = { label = "rate", unit = "MB/s", scale = "linear", min = 0 },
  })
  local words, smooth = {}, false
  for drive, run in ipairs(runs) do
    local zones = add_run(f, run, drive)
    smooth = smooth or zones >= SINGLE
    words[drive] = describe(run, zones)
    parts.note_status(f, run)
  end
  parts.arrange(f)
  f.description = table.concat(words, " ")
  if smooth then
    f.notes[#f.notes + 1] = "Line: the median of the zones around each; pale: single zones and their "
      .. "spread (tenth to ninetieth percentile, of several passes slowest to fastest)."
  end
  return f
end

local LATENCIES <const> = {
  { "latency_p50_us", "median" }, { "latency_p99_us", "99th percentile" },
  { "latency_max_us", "slowest read" },
}

local function latency(runs)
  local f = parts.figure("zone-latency", "Time of a read across the drive", runs, {
    x = { label = "position", unit = "GB", scale = "linear", min = 0, tight = true },
    y = { label = "time of a read", unit = "ms", scale = "log" },
  })
  local words = {}
  for drive, run in ipairs(runs) do
    local points = points_of(run)
    local most
    for n, what in ipairs(LATENCIES) do
      local x, y = {}, {}
      for i, point in ipairs(points) do
        local value = parts.number(point.zone[what[1]], 1000)
        x[i], y[i] = point.x, value and value > 0 and value or false
        if n == 3 and value then most = math.max(most or 0, value) end
      end
      f.series[#f.series + 1] = parts.series(run, drive, {
        name = run.name .. ", " .. what[2], role = n == 1 and "value" or n == 2 and "p99" or "slowest",
        kind = n == 3 and "points" or "line", x = x, y = y, legend = n == 1, faint = n > 1,
        label = what[2],
      })
    end
    if most then
      words[#words + 1] = string.format("%s: the slowest read took %s ms.", run.name, units.fixed(most, 1))
    end
  end
  parts.arrange(f)
  f.description = table.concat(words, " ")
  f.notes[1] = "Full line: median of each zone; pale line: 99th percentile; points: the slowest read."
  return f
end

return function(runs)
  local list = {}
  for _, f in ipairs { profile(runs), latency(runs) } do
    if parts.has_points(f) then list[#list + 1] = f end
  end
  return list, #list == 0 and { "No zone has a rate: there is nothing to draw of the zone profile." } or {}
end
