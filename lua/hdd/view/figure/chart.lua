--- A figure as an interactive chart: a configuration of Chart.js, and the JavaScript that a page needs
-- for it.
--
-- The configuration is plain data. What Chart.js wants functions for (ticks, hovering, the legend,
-- heat maps) is in chart.js beside this file, which finds what it needs below `hddlua`.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure.chart
-- @usage local page = "<script>" .. assert(chart.library()) .. "</script><script>" .. chart.script()
--   .. "</script><canvas id=c></canvas><script>hddluaChart(document.getElementById('c'), "
--   .. json.encode(chart.configuration(f)):gsub("<", "\\u003c") .. ", 'light')</script>"
local palette = require "hdd.view.figure.palette"
local range = require "hdd.view.figure.range"
local scale = require "hdd.view.figure.scale"

local M = {}

local LIBRARY <const> = "/usr/share/javascript/chart.js/chart.min.js" -- of Debian's libjs-chart.js
local ACROSS <const>, DOWN <const> = 10, 7 -- ticks; where there is no room some are left out

-- Seven digits are more than a screen shows.
local function rounded(value, axis)
  if math.type(value) == "integer" or axis.scale == "time" or value == 0 then return value end
  local factor = 10.0 ^ (6 - math.floor(math.log(math.abs(value), 10)))
  local short = math.floor(value * factor + 0.5) / factor
  return short == short and math.abs(short) ~= math.huge and short or value
end

-- Points; one without y is a gap.
local function points_of(series, key, x_axis, y_axis)
  local list = {}
  for i, x in ipairs(series.x or {}) do
    if scale.fits(x, x_axis) then
      local y = (series[key] or {})[i]
      local point = { x = rounded(x, x_axis) }
      if scale.fits(y, y_axis) then point.y = rounded(y, y_axis) end
      list[#list + 1] = point
    end
  end
  return list
end

local function labels_of(series, x_axis)
  if not series.labels then return nil end
  local list = {}
  for i, x in ipairs(series.x) do
    if scale.fits(x, x_axis) then list[#list + 1] = series.labels[i] or "" end
  end
  return list
end

local function dataset(f, series, key, more)
  local y_axis = series.panel == 2 and f.y2 or f.y
  local own = {
    role = series.role, kind = series.kind, drive = series.drive, legend = series.legend == true,
    colour = series.colour or 1, dash = palette.pick(palette.DASHES, series.dash),
    marker = palette.pick(palette.MARKERS, series.marker), faint = series.faint == true,
    labels = labels_of(series, f.x), part = more and more.part, what = series.label,
  }
  return {
    label = series.name, data = points_of(series, key, f.x, y_axis),
    type = series.kind == "bars" and "bar" or "line",
    yAxisID = series.panel == 2 and "y2" or "y",
    showLine = series.kind ~= "points" and series.kind ~= "heat",
    stepped = series.kind == "step" and "before" or false, spanGaps = false,
    fill = more and more.fill or false, hddlua = own,
  }
end

-- The cells of a heat map, and a point in the middle of each for hovering.
local function heat_of(f, series, z)
  local cells, points = {}, {}
  for _, cell in ipairs(series.cells) do
    if scale.fits(cell[5], f.z) then
      local share = scale.place(cell[5], f.z, z.low, z.high)
      cells[#cells + 1] = {
        rounded(cell[1], f.x), rounded(cell[2], f.x), rounded(cell[3], f.y), rounded(cell[4], f.y),
        rounded(cell[5], f.z), math.floor(math.max(0, math.min(share, 1)) * 1000 + 0.5) / 1000,
      }
      points[#points + 1] = { x = (cell[1] + cell[2]) / 2, y = f.y.scale == "log"
        and math.sqrt(cell[3] * cell[4]) or (cell[3] + cell[4]) / 2 }
    end
  end
  return cells, points
end

local function datasets_of(f, panel)
  local list, heat = {}, false
  for _, series in ipairs(f.series) do
    if series.kind == "band" then
      list[#list + 1] = dataset(f, series, "low", { part = "low" })
      list[#list + 1] = dataset(f, series, "high", { part = "high", fill = "-1" })
    elseif series.kind == "heat" then
      local own = dataset(f, series, "y")
      heat, own.data = heat_of(f, series, panel.z)
      list[#list + 1] = own
    else
      local own = dataset(f, series, "y")
      if series.low and series.high then
        own.hddlua.low = points_of(series, "low", f.x, f.y)
        own.hddlua.high = points_of(series, "high", f.x, f.y)
      end
      list[#list + 1] = own
    end
  end
  -- Chart.js draws what has the least order in front.
  for i, own in ipairs(list) do own.order = #list - i end
  return list, heat
end

local function axis_of(scaled)
  local axis, ticks = scaled.axis, {}
  for i, tick in ipairs(scaled.ticks) do ticks[i] = { value = tick.value, label = tick.text } end
  return {
    label = axis.label, unit = axis.unit or "", scale = axis.scale, low = scaled.low, high = scaled.high,
    ticks = ticks, names = axis.scale == "category" and axis.ticks or false,
  }
end

local function scale_of(scaled, more)
  local axis = scaled.axis
  local options = {
    type = axis.scale == "log" and "logarithmic" or "linear", min = scaled.low, max = scaled.high,
    title = { display = true, text = scale.title(axis) },
  }
  for key, value in pairs(more or {}) do options[key] = value end
  return options
end

--- The configuration of a chart, for `hddluaChart`.
-- @tparam table f
-- @treturn table  plain: JSON as it stands; text in it is from outside, escape it for where it goes
-- @usage local configuration = chart.configuration(f)
function M.configuration(f)
  local panel = range.panel(f, 1, ACROSS, DOWN)
  local datasets, heat = datasets_of(f, panel)
  local names = {}
  for i, drive in ipairs(f.drives) do names[i] = drive.name end
  local scales = {
    x = scale_of(panel.x),
    y = scale_of(panel.y, f.y2 and { stack = "panels", stackWeight = 1 }),
  }
  local axes = { x = axis_of(panel.x), y = axis_of(panel.y), z = panel.z and axis_of(panel.z) or false }
  if f.y2 then
    local lower = range.panel(f, 2, ACROSS, DOWN)
    -- The panel that is named first lies below.
    scales.y2 = scale_of(lower.y, { stack = "panels", stackWeight = 1 })
    axes.y2 = axis_of(lower.y)
  end
  local marks = {}
  for i, note in ipairs(f.annotations) do
    marks[i] = { x = note.x, y = note.y, text = note.text, axis = note.panel == 2 and "y2" or "y",
      drive = note.drive or false }
  end
  return {
    type = "line",
    data = { datasets = datasets },
    options = {
      animation = false, responsive = true, maintainAspectRatio = false, normalized = true,
      parsing = true, scales = scales,
      interaction = { mode = heat and "nearest" or "x", intersect = false, axis = heat and "xy" or "x" },
    },
    hddlua = {
      id = f.id, title = f.title, drives = names, heat = heat, axes = axes, annotations = marks,
    },
  }
end

local function read(path)
  local stream, message = io.open(path, "rb")
  if not stream then return nil, message end
  local text = stream:read("a")
  stream:close()
  return text
end

--- The library, to be inlined first.
-- @treturn string
-- @return or nil, message that names the package
-- @usage local library = assert(chart.library())
function M.library()
  local text = read(LIBRARY)
  if not text then
    return nil, "Chart.js is not installed: interactive charts need the package libjs-chart.js "
      .. "(apt-get install libjs-chart.js)"
  end
  local version = text:sub(1, 200):match("Chart%.js v(%d+)")
  if version ~= "3" then
    return nil, string.format("%s is of version %s of Chart.js: version 3 is needed", LIBRARY, version or "?")
  end
  return (text:gsub("//# sourceMappingURL=[^\n]*", ""):gsub("</([sS][cC][rR][iI][pP][tT])", "<\\/%1"))
end

--- What defines `hddluaChart`, `hddluaTheme` and `hddluaToggle`, to be inlined after the library.
-- @treturn string
-- @usage page:add("<script>" .. chart.script() .. "</script>")
function M.script()
  local place = package.path:gsub("%?%.lua", "?.js")
  local path = assert(package.searchpath("hdd.view.figure.chart", place))
  local text = assert(read(path))
  -- The colours are told once, in hdd.view.figure.palette.
  local themes = {}
  for _, name in ipairs { "light", "dark" } do
    local theme = palette.theme(name)
    local function list(colours) return '["' .. table.concat(colours, '","') .. '"]' end
    themes[#themes + 1] = string.format(
      '%s:{ground:"%s",ink:"%s",faint:"%s",grid:"%s",alert:"%s",series:%s,heat:%s}', name, theme.ground,
      theme.ink, theme.faint, theme.grid, theme.alert, list(theme.series), list(palette.heat(name)))
  end
  return (text:gsub("HDDLUA_THEMES", function() return "{" .. table.concat(themes, ",") .. "}" end, 1))
end

return M
