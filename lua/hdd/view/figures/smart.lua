--- Figures of snapshots: the drive's own history of temperatures, and how attributes have changed from
-- one snapshot of a drive to the next.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figures.smart
local calendar = require "hdd.calendar"
local parts = require "hdd.view.figures.parts"
local units = require "hdd.units"

local MOST_TRENDS <const> = 12
local MINUTES <const> = 60

local function temperatures(runs)
  local f = parts.figure("temperature-history", "Temperature, as the drive has noted it", runs, {
    x = { label = "before it was read", unit = "h", scale = "linear", max = 0, tight = true },
    y = { label = "temperature", unit = "°C", scale = "linear" },
  })
  local words = {}
  for drive, run in ipairs(runs) do
    local history = parts.list(parts.list(parts.list(run.document.health).sct).temperature_history)
    local x, y, low, high = {}, {}, nil, nil
    for _, row in ipairs(parts.list(history.rows)) do
      local ago, value = parts.number(row.minutes_ago, MINUTES), parts.number(row.temperature_c)
      if ago then
        x[#x + 1], y[#y + 1] = -ago, value or false
        if value then low, high = math.min(low or value, value), math.max(high or value, value) end
      end
    end
    if low then
      f.series[#f.series + 1] = parts.series(run, drive, {
        role = "value", kind = "line", x = x, y = y, legend = true,
      })
      words[#words + 1] = string.format("%s: %d to %d °C in the last %s h.", run.name, low, high,
        units.fixed(-x[1], 1))
    end
  end
  f.description = table.concat(words, " ")
  return f
end

-- The attributes of a snapshot that are tables.
local function attributes_of(run)
  local list = {}
  for _, attribute in ipairs(parts.list(parts.list(parts.list(run.document.health).smart).attributes)) do
    if type(attribute) == "table" then list[#list + 1] = attribute end
  end
  return list
end

-- Snapshots of one drive in the order of their times; a drive with one has no trend.
local function by_drive(runs)
  local groups, order = {}, {}
  for _, run in ipairs(runs) do
    run.at = calendar.seconds(parts.list(run.document.source).read_at)
      or calendar.seconds(run.document.started_at)
    local group = groups[run.colour]
    if not group then
      group = { run = run, snapshots = {} }
      groups[run.colour], order[#order + 1] = group, group
    end
    if run.at then table.insert(group.snapshots, run) end
  end
  for _, group in ipairs(order) do
    table.sort(group.snapshots, function(a, b) return a.at < b.at end)
  end
  return order
end

-- id -> name of the attributes whose raw value has changed on some drive.
local function changed(groups)
  local names, ids = {}, {}
  for _, group in ipairs(groups) do
    local first = {}
    for _, run in ipairs(group.snapshots) do
      for _, attribute in ipairs(attributes_of(run)) do
        local id, raw = parts.number(attribute.id), parts.number(attribute.raw)
        if id and raw then
          first[id] = first[id] or raw
          if raw ~= first[id] and not names[id] then
            names[id] = tostring(attribute.name or "attribute")
            ids[#ids + 1] = id
          end
        end
      end
    end
  end
  table.sort(ids)
  return ids, names
end

-- The drives of the groups, not their snapshots: a name without the time that tells those apart.
local function drives_of(groups)
  local drives = {}
  for i, group in ipairs(groups) do
    local run = setmetatable({}, { __index = group.run })
    run.name = group.run.name:gsub(" %d+%-%d+%-%d+ %d+:%d+$", "")
    drives[i] = run
  end
  return drives
end

local function trend(groups, id, name)
  local drives = drives_of(groups)
  local f = parts.figure(string.format("attribute-%d", id), string.format("Attribute %d: %s", id, name),
    drives, {
      x = { label = "read", scale = "time" },
      y = { label = "raw value", scale = "linear" },
    })
  local words = {}
  for drive, group in ipairs(groups) do
    local x, y = {}, {}
    for _, run in ipairs(group.snapshots) do
      for _, attribute in ipairs(attributes_of(run)) do
        if attribute.id == id and parts.number(attribute.raw) then
          x[#x + 1], y[#y + 1] = run.at, attribute.raw
        end
      end
    end
    if #x > 1 then
      f.series[#f.series + 1] = parts.series(drives[drive], drive, {
        role = "value", kind = "line", x = x, y = y, legend = true,
      })
      words[#words + 1] = string.format("%s: from %s to %s.", drives[drive].name, units.fixed(y[1]),
        units.fixed(y[#y]))
    end
  end
  f.description = table.concat(words, " ")
  return f
end

return function(runs)
  local list, notes = {}, {}
  local history = temperatures(runs)
  if parts.has_points(history) then list[1] = history end
  local groups = by_drive(runs)
  local ids, names = changed(groups)
  for i, id in ipairs(ids) do
    if i > MOST_TRENDS then
      notes[1] = string.format("%d more attributes have changed than are drawn.", #ids - MOST_TRENDS)
      break
    end
    list[#list + 1] = trend(groups, id, names[id])
  end
  if #list == 0 then
    notes[#notes + 1] = "The drive keeps no history of temperatures, and one snapshot has no trend."
  end
  return list, notes
end
