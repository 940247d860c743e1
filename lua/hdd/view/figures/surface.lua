--- Figures of surface scans: how long blocks took across the drive, what was slow or unreadable there,
-- and at what rate it was read.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figures.surface
local parts = require "hdd.view.figures.parts"
local units = require "hdd.units"

local GB <const>, MB <const>, MS <const> = 1e9, 1e6, 1e3

-- Points of the map's parts: position of the middle and a value of each.
local function points_of(run, value_of)
  local x, y = {}, {}
  for _, cell in ipairs(parts.list(run.document.map)) do
    cell = parts.list(cell)
    local offset, length = parts.number(cell.offset_bytes), parts.number(cell.length_bytes)
    if offset and length then
      x[#x + 1] = (offset + length / 2) / GB
      y[#y + 1] = value_of(cell) or false
    end
  end
  return x, y
end

local function positive(value, divisor)
  value = parts.number(value, divisor)
  return value and value > 0 and value or nil
end

-- Marks of listed ranges; `height` is for those that have no time of their own.
local function marks(run, drive, list, what, marker, height)
  local x, y, labels = {}, {}, {}
  for _, range in ipairs(parts.list(list)) do
    range = parts.list(range)
    local offset = parts.number(range.offset_bytes)
    if offset and #x < parts.MOST_POINTS then
      x[#x + 1], y[#y + 1] = offset / GB, positive(range.latency_us, MS) or height
      labels[#labels + 1] = string.format("%s, %s from byte %s on", what,
        units.decimal_bytes(parts.number(range.length_bytes) or 0),
        units.fixed(offset))
    end
  end
  if #x == 0 then return nil end
  return parts.series(run, drive, {
    name = run.name .. ", " .. what, role = "flagged", kind = "points", x = x, y = y, labels = labels,
    legend = true, marker = marker, label = what,
  })
end

local function describe(run)
  local s = parts.list(run.document.summary)
  local function count(key, what)
    local n = parts.number(s[key]) or 0
    return string.format("%s %s range%s", units.fixed(n), what, n == 1 and "" or "s")
  end
  return string.format("%s: %s, %s.", run.name, count("unreadable_ranges", "unreadable"),
    count("slow_ranges", "slow"))
end

local function latency(runs)
  local f = parts.figure("surface-latency", "Slowest block across the surface", runs, {
    x = { label = "position", unit = "GB", scale = "linear", min = 0, tight = true },
    y = { label = "time of a block", unit = "ms", scale = "log" },
  })
  local words = {}
  for drive, run in ipairs(runs) do
    local x, y = points_of(run, function(cell) return positive(cell.latency_max_us, MS) end)
    f.series[#f.series + 1] = parts.series(run, drive, {
      role = "value", kind = "line", x = x, y = y, legend = true,
    })
    local top = 1
    for _, value in ipairs(y) do top = math.max(top, value or 0) end
    f.series[#f.series + 1] = marks(run, drive, run.document.slow, "slow", 2, top)
    f.series[#f.series + 1] = marks(run, drive, run.document.unreadable, "unreadable", 5, top)
    words[drive] = describe(run)
    parts.note_status(f, run)
  end
  parts.arrange(f)
  f.description = table.concat(words, " ")
  f.notes[#f.notes + 1] = "Line: the slowest block of each part of the surface; marks: what was slow each "
    .. "time, at the time it took, and what could not be read, at the top."
  return f
end

local function rate(runs)
  local f = parts.figure("surface-rate", "Read rate of the surface scan", runs, {
    x = { label = "position", unit = "GB", scale = "linear", min = 0, tight = true },
    y = { label = "rate", unit = "MB/s", scale = "linear", min = 0 },
  })
  local words = {}
  for drive, run in ipairs(runs) do
    local x, y = points_of(run, function(cell) return positive(cell.bandwidth_bytes_per_s, MB) end)
    f.series[#f.series + 1] = parts.series(run, drive, {
      role = "value", kind = "line", x = x, y = y, legend = true,
    })
    local whole = positive(parts.list(run.document.summary).bandwidth_bytes_per_s, MB)
    if whole then
      words[#words + 1] = string.format("%s: %s MB/s over all.", run.name, units.fixed(whole, 1))
    end
    parts.note_status(f, run)
  end
  f.description = table.concat(words, " ")
  return f
end

return function(runs)
  local list = {}
  for _, f in ipairs { latency(runs), rate(runs) } do
    if parts.has_points(f) then list[#list + 1] = f end
  end
  return list, #list == 0 and { "Nothing was read: there is nothing to draw of the surface scan." } or {}
end
