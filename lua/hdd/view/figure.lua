--- A figure: what is drawn, as plain data, whoever draws it.
--
-- A figure has a title, axes with units, series, drives and a description in words; hdd.view.figures
-- makes them of documents. They are drawn as SVG, PNG (by gnuplot) and text here, as an interactive
-- chart by hdd.view.figure.chart. All numbers are in their axis' unit; false is a gap. The keys are
-- listed in docs/figures.md.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure
-- @usage for _, f in ipairs(figures.of { document }) do
--   io.write(figure.text(f, { width = 80, utf8 = true }))
-- end
local gnuplot = require "hdd.view.figure.gnuplot"
local palette = require "hdd.view.figure.palette"
local scale = require "hdd.view.figure.scale"
local terminal = require "hdd.view.figure.terminal"

local M = {}

--- Lengths of dash and gap in px, by a series' `dash`; {} is solid.
M.DASHES = palette.DASHES
--- In Chart.js' words, by a series' `marker`.
M.MARKERS = palette.MARKERS

--- An axis with its unit.
-- @tparam table axis
-- @treturn string  "position (GB)"
M.axis_title = scale.title

--- The colour of a series.
-- @tparam integer index  of a series' `colour`; it wraps round
-- @tparam[opt="light"] string theme  "light" or "dark"
-- @treturn string  "#0072b2"
function M.colour(index, theme)
  return palette.pick(palette.theme(theme).series, index)
end

--- A value with its unit.
-- @tparam ?number|boolean value  false: a gap
-- @tparam table axis
-- @treturn string  "154.8 MB/s"; "n/a" for a gap
function M.value(value, axis)
  if axis.scale == "category" then return tostring((axis.ticks or {})[value] or "n/a") end
  if not scale.fits(value, { scale = axis.scale == "time" and "time" or "linear" }) then return "n/a" end
  if axis.scale == "time" then return os.date("!%Y-%m-%d %H:%M:%S UTC", math.floor(value)) end
  local text = scale.number(value)
  return axis.unit and axis.unit ~= "" and text .. " " .. axis.unit or text
end

-- The number alone, as the head says the unit.
local function cell(value, axis)
  if axis.scale == "category" or axis.scale == "time" then return M.value(value, axis) end
  return M.value(value, { scale = axis.scale })
end

local function axis_of(f, series)
  return series.panel == 2 and f.y2 or f.y
end

-- The cells of a heat map as rows, in the order given.
local function heat_rows(f, series)
  local rows = {}
  for i, c in ipairs(series.cells) do
    rows[i] = { cell(c[1], f.x) .. " – " .. cell(c[2], f.x), cell(c[3], f.y) .. " – " .. cell(c[4], f.y),
      cell(c[5], f.z) }
  end
  return { M.axis_title(f.x), M.axis_title(f.y), M.axis_title(f.z) }, rows
end

--- The numbers of a figure as a table: x, then a column for each series.
-- @tparam table f
-- @treturn {string,...}  head
-- @treturn {{string,...},...}  rows, ascending in x; a series has "" where it has no such x
-- @usage local head, rows = figure.table(f)
function M.table(f)
  local columns, at, xs = {}, {}, {}
  for _, series in ipairs(f.series) do
    if series.kind == "heat" then return heat_rows(f, series) end
    columns[#columns + 1] = series
  end
  local head = { M.axis_title(f.x) }
  for c, series in ipairs(columns) do
    local axis = axis_of(f, series)
    head[c + 1] = M.axis_title { label = series.name, unit = axis.unit }
    for i, x in ipairs(series.x) do
      if not at[x] then
        at[x] = {}
        xs[#xs + 1] = x
      end
      if series.kind == "band" then
        at[x][c] = cell(series.low[i], axis) .. " – " .. cell(series.high[i], axis)
      else
        at[x][c] = cell(series.y[i], axis)
      end
    end
  end
  table.sort(xs)
  local rows = {}
  for r, x in ipairs(xs) do
    rows[r] = { cell(x, f.x) }
    for c = 1, #columns do rows[r][c + 1] = at[x][c] or "" end
  end
  return head, rows
end

--- Draws a figure as SVG, by gnuplot.
-- @tparam table f
-- @tparam[opt] table options  `width` (960), `height` (540; px), `theme` ("light", "dark")
-- @treturn string  an SVG file
-- @return or nil, message: gnuplot is missing (which package), or failed
-- @usage local svg = assert(figure.svg(f, { theme = "dark" }))
function M.svg(f, options)
  return gnuplot.draw(f, "svg", options)
end

--- Draws a figure as PNG, by gnuplot.
-- @tparam table f
-- @tparam[opt] table options  as for `svg`
-- @treturn string  a PNG file
-- @return or nil, message
function M.png(f, options)
  return gnuplot.draw(f, "png", options)
end

--- Can SVG and PNG be drawn here?
-- @treturn boolean  true
-- @return or nil, message that names the package
function M.can_draw()
  return gnuplot.find()
end

--- Draws a figure with characters.
-- @tparam table f
-- @tparam[opt] table options  `width` (80), `height` (20; rows), `utf8` (false), `colour` (false)
-- @treturn string  lines; a sentence when there is nothing to draw
-- @usage io.write(figure.text(f, { utf8 = true }))
function M.text(f, options)
  return terminal.draw(f, options)
end

return M
