--- Figures of queue-depth sweeps: IOPS and latency against depth, one against the other, and how the
-- latencies are distributed.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figures.qdsweep
local parts = require "hdd.view.figures.parts"
local units = require "hdd.units"

local WIDE <const> = 64 -- from such a ratio of depths on their axis is logarithmic

-- The rows of a run by block size: `{size, rows}`, sizes ascending, rows by depth.
local function groups_of(run)
  local by_size, sizes = {}, {}
  for _, row in ipairs(parts.list(run.document.rows)) do
    row = parts.list(row)
    local size, depth = parts.number(row.block_size_bytes), parts.number(row.depth)
    if size and depth and depth > 0 then
      if not by_size[size] then
        by_size[size] = {}
        sizes[#sizes + 1] = size
      end
      table.insert(by_size[size], row)
    end
  end
  table.sort(sizes)
  local groups = {}
  for i, size in ipairs(sizes) do
    table.sort(by_size[size], function(a, b) return a.depth < b.depth end)
    groups[i] = { size = size, rows = by_size[size] }
  end
  return groups
end

local function depth_axis(runs)
  local seen, ticks = {}, {}
  for _, run in ipairs(runs) do
    for _, group in ipairs(run.groups) do
      for _, row in ipairs(group.rows) do
        if not seen[row.depth] then
          seen[row.depth] = true
          ticks[#ticks + 1] = row.depth
        end
      end
    end
  end
  table.sort(ticks)
  local wide = #ticks > 1 and ticks[#ticks] / ticks[1] >= WIDE
  return {
    label = "queue depth", scale = wide and "log" or "linear", min = not wide and 0 or nil, tight = true,
    ticks = #ticks > 0 and #ticks <= 16 and ticks or nil,
  }
end

-- A series of each run and block size; `point` gives x, y, and the ends of an error bar of a row.
local function add_lines(f, runs, point)
  for drive, run in ipairs(runs) do
    for g, group in ipairs(run.groups) do
      local x, y, low, high, labels = {}, {}, {}, {}, {}
      for _, row in ipairs(group.rows) do
        local px, py, half = point(row)
        if px then
          x[#x + 1], y[#y + 1] = px, py or false
          low[#low + 1], high[#high + 1] = py and half and py - half or false, py and half and py + half or false
          labels[#labels + 1] = string.format("depth %s%s", units.fixed(row.depth),
            row.flagged and ", not plausible" or "")
        end
      end
      local size = units.block(group.size)
      f.series[#f.series + 1] = parts.series(run, drive, {
        name = #run.groups > 1 and run.name .. ", " .. size or run.name, label = size,
        role = g == #run.groups and "value" or "value-" .. size:lower():gsub(" ", ""),
        kind = "line", x = x, y = y, low = low, high = high, labels = labels,
        legend = g == #run.groups, faint = g < #run.groups or nil,
      })
    end
  end
end

local function sizes_note(f, runs)
  local several, said = false, {}
  for _, run in ipairs(runs) do
    local names = {}
    for i, group in ipairs(run.groups) do names[i] = units.block(group.size) end
    several = several or #names > 1
    said[#said + 1] = table.concat(names, ", ")
  end
  if not several then return end
  for i = 2, #said do
    if said[i] ~= said[1] then said[1] = "several sizes" end
  end
  f.notes[#f.notes + 1] = string.format("Reads of %s; the largest is the strong line.", said[1])
end

local function describe(runs)
  local words = {}
  for _, run in ipairs(runs) do
    for _, group in ipairs(run.groups) do
      local first, last = group.rows[1], group.rows[#group.rows]
      local a, b = parts.number(first.iops), parts.number(last.iops)
      if a and b then
        words[#words + 1] = string.format(
          "%s, reads of %s: %s IOPS at depth %s, %s at depth %s.", run.name, units.block(group.size),
          units.fixed(a, 1), units.fixed(first.depth), units.fixed(b, 1), units.fixed(last.depth))
      end
    end
  end
  return table.concat(words, " ")
end

local function finish(f, runs)
  f.description = describe(runs)
  sizes_note(f, runs)
  parts.arrange(f)
  for _, run in ipairs(runs) do parts.note_status(f, run) end
  return f
end

local function iops(runs)
  local f = parts.figure("iops", "Random reads a second by queue depth", runs, {
    x = depth_axis(runs), y = { label = "reads a second", unit = "IOPS", scale = "linear", min = 0 },
  })
  add_lines(f, runs, function(row)
    return row.depth, parts.number(row.iops), parts.number(row.iops_ci95)
  end)
  return finish(f, runs)
end

local function latency(runs)
  local f = parts.figure("latency", "Time of a random read by queue depth", runs, {
    x = depth_axis(runs), y = { label = "mean time of a read", unit = "ms", scale = "linear", min = 0 },
  })
  add_lines(f, runs, function(row) return row.depth, parts.number(row.latency_mean_us, 1000) end)
  return finish(f, runs)
end

local function latency_iops(runs)
  local f = parts.figure("latency-iops", "What more reads a second cost in time", runs, {
    x = { label = "reads a second", unit = "IOPS", scale = "linear" },
    y = { label = "mean time of a read", unit = "ms", scale = "linear", min = 0 },
  })
  add_lines(f, runs, function(row) return parts.number(row.iops), parts.number(row.latency_mean_us, 1000) end)
  f = finish(f, runs)
  f.notes[#f.notes + 1] = "Each point is a queue depth, rising from the left below."
  return f
end

local PERCENTILES <const> = {
  { "latency_p50_us", "50" }, { "latency_p95_us", "95" }, { "latency_p99_us", "99" },
  { "latency_p999_us", "99.9" }, { "latency_max_us", "100" },
}

-- Of each drive its largest block size: at the least and the greatest depth.
local function percentiles(runs)
  local ticks = {}
  for i, p in ipairs(PERCENTILES) do ticks[i] = p[2] end
  local f = parts.figure("percentiles", "How the times of random reads are distributed", runs, {
    x = { label = "percentile", unit = "%", scale = "category", ticks = ticks },
    y = { label = "time of a read", unit = "ms", scale = "log" },
  })
  for drive, run in ipairs(runs) do
    local group = run.groups[#run.groups]
    local rows = group and group.rows or {}
    for n, row in ipairs(#rows > 1 and { rows[1], rows[#rows] } or rows) do
      local x, y = {}, {}
      for i, p in ipairs(PERCENTILES) do
        local value = parts.number(row[p[1]], 1000)
        x[i], y[i] = i, value and value > 0 and value or false
      end
      local depth = "depth " .. units.fixed(row.depth)
      f.series[#f.series + 1] = parts.series(run, drive, {
        name = run.name .. ", " .. depth, label = depth, role = n == 1 and "value" or "value-deepest",
        kind = "line", x = x, y = y, legend = n == 1, faint = n > 1 or nil,
      })
    end
  end
  f.notes[1] = "Strong: the least queue depth; pale: the greatest. 100 %: the slowest read."
  return finish(f, runs)
end

return function(runs)
  local list = {}
  for _, run in ipairs(runs) do run.groups = groups_of(run) end
  for _, draw in ipairs { iops, latency, latency_iops, percentiles } do
    local f = draw(runs)
    if parts.has_points(f) then list[#list + 1] = f end
  end
  return list, #list == 0 and { "No row has a result: there is nothing to draw of the sweep." } or {}
end
