--- What the rooms of hdd.view.figures share: numbers out of documents, series of a run.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figures.parts
local M = {}

--- More points than this in a series show nothing more, and make files large.
M.MOST_POINTS = 2000

--- A number of a document in the unit of an axis.
-- @param value            whatever is there
-- @tparam[opt=1] number divisor
-- @treturn ?number  nil for what is no finite number
-- @usage parts.number(zone.offset_bytes, 1e9)
function M.number(value, divisor)
  if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge then return nil end
  return divisor and value / divisor or value
end

--- A list in a document.
-- @param value
-- @treturn table  an empty one for what is none
function M.list(value)
  return type(value) == "table" and value or {}
end

--- A series of a run: its drive, colour, dash and marker.
-- @tparam table run     of hdd.view.figures
-- @tparam integer drive index into the figure's drives
-- @tparam table series  what is its own
-- @treturn table  the same
function M.series(run, drive, series)
  series.drive = drive
  series.name = series.name or run.name
  series.legend = series.legend or false
  series.colour = series.colour or run.colour
  series.dash = series.dash or run.dash
  series.marker = series.marker or series.dash
  return series
end

--- A figure without series yet.
-- @tparam string id
-- @tparam string title
-- @tparam {table,...} runs
-- @tparam table axes   `x`, `y`, and `y2`, `z`
-- @treturn table
function M.figure(id, title, runs, axes)
  local drives, names = {}, {}
  for i, run in ipairs(runs) do
    drives[i] = { name = run.name, serial = run.serial, document = run.index }
    names[i] = run.name
  end
  return {
    id = id, title = title, subtitle = table.concat(names, ", "), description = "",
    x = axes.x, y = axes.y, y2 = axes.y2, z = axes.z,
    drives = drives, series = {}, annotations = {}, notes = {},
  }
end

local ORDER <const> = { spread = 1, single = 2, slowest = 2, p99 = 2, fit = 3, limit = 3, flagged = 5 }

--- Brings the series of several drives into the order in which they are drawn: bands at the back,
-- then what is pale, then lines, flagged points in front.
-- @tparam table f
function M.arrange(f)
  local place = {}
  for i, series in ipairs(f.series) do
    place[series] = (ORDER[series.role] or series.faint and 3 or 4) * 1e6 + i
  end
  table.sort(f.series, function(a, b) return place[a] < place[b] end)
end

--- Says of a run that it did not come to its end.
-- @tparam table f
-- @tparam table run
function M.note_status(f, run)
  local status = run.document.status
  if status == "interrupted" or status == "failed" or status == "running" then
    f.notes[#f.notes + 1] = string.format("%s: the measurement is %s: what was measured until then.",
      run.name, status == "running" and "not finished" or status)
  end
end

--- Is there something to see?
-- @tparam table f
-- @treturn boolean
function M.has_points(f)
  for _, series in ipairs(f.series) do
    if series.cells and #series.cells > 0 then return true end
    for _, y in ipairs(series.y or series.low or {}) do
      if y then return true end
    end
  end
  return false
end

return M
