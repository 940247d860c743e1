--- A figure as a gnuplot script that draws it on standard output.
--
-- Text is never enhanced (gnuplot's markup) and stands in single quotes, where gnuplot looks for
-- neither backquotes nor macros nor escapes; a quote in it is doubled, control bytes are written out.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure.gnuplot.script
local layout = require "hdd.view.figure.gnuplot.layout"
local palette = require "hdd.view.figure.palette"
local printable = require "hdd.printable"
local scale = require "hdd.view.figure.scale"
local units = require "hdd.units"

local M = {}

local POINT_TYPES <const> = {
  circle = 7, triangle = 9, rect = 5, rectRot = 13, crossRot = 2, star = 3, rectRounded = 4,
}
local LINE <const>, PALE_LINE <const>, FIT_LINE <const> = 2.2, 1.1, 1.5
local MARKED <const> = 30   -- from so many points on a line has markers only here and there
local MOST_TEXT <const> = 200

local function quoted(text)
  return "'" .. printable.clip(printable.line(text), MOST_TEXT):gsub("'", "''") .. "'"
end

local number = units.exact

-- A colour, mixed with the ground where it is pale.
local function mixed(colour, ground, share)
  local parts = {}
  for i = 2, 6, 2 do
    local a, b = tonumber(colour:sub(i, i + 1), 16), tonumber(ground:sub(i, i + 1), 16)
    parts[#parts + 1] = string.format("%02x", math.floor(a * share + b * (1 - share) + 0.5))
  end
  return "#" .. table.concat(parts)
end

local function dash_of(series)
  local dash = palette.pick(palette.DASHES, series.dash)
  if #dash == 0 then return "solid" end
  return "(" .. table.concat(dash, ",") .. ")"
end

local function colour_of(series, theme)
  return palette.pick(theme.series, series.colour)
end

local function marker_of(series)
  return POINT_TYPES[palette.pick(palette.MARKERS, series.marker)]
end

-- Data as a block of the script; a gap is an empty line, which breaks lines and bands.
local function add_data(out, name, series, axes)
  local x_axis, y_axis = axes.x.axis, axes.y.axis
  out[#out + 1] = "$" .. name .. " << EOD"
  local rows = 0
  for i, x in ipairs(series.x or {}) do
    local y = series.kind == "band" and series.low[i] or series.y and series.y[i]
    local low, high = series.low and series.low[i], series.high and series.high[i]
    if scale.fits(x, x_axis) and scale.fits(y, y_axis) and (series.kind ~= "band" or scale.fits(high, y_axis))
    then
      local whiskers = scale.fits(low, y_axis) and scale.fits(high, y_axis)
      out[#out + 1] = table.concat({ number(x), number(y), number(whiskers and low or y),
        number(whiskers and high or y) }, " ")
      rows = rows + 1
    else
      out[#out + 1] = ""
    end
  end
  for _, cell in ipairs(series.cells or {}) do
    if scale.fits(cell[5], axes.z.axis) then
      local words = {}
      for i = 1, 5 do words[i] = number(cell[i]) end
      out[#out + 1] = table.concat(words, " ")
      rows = rows + 1
    end
  end
  out[#out + 1] = "EOD"
  return rows > 0, rows
end

-- The elements of a `plot` command that draw a series.
local DRAW = {}

function DRAW.band(name, series, theme)
  return { string.format("$%s using 1:3:4 with filledcurves lc rgb '%s' "
    .. "fs transparent solid 0.2 noborder", name, colour_of(series, theme)) }
end

function DRAW.line(name, series, theme, rows)
  local colour, width = colour_of(series, theme), LINE
  if series.faint then colour, width = mixed(colour, theme.ground, 0.7), PALE_LINE end
  if series.role == "fit" then width = FIT_LINE end
  local style = string.format("lw %s lc rgb '%s' dt %s", number(width), colour, dash_of(series))
  local list = {}
  if series.low then
    list[1] = string.format("$%s using 1:2:3:4 with yerrorbars pt 0 lw 1 lc rgb '%s'", name, colour)
  end
  if series.role == "fit" or series.role == "limit" then
    list[#list + 1] = string.format("$%s using 1:2 with lines %s", name, style)
  else
    local every = rows > MARKED and -math.ceil(rows / 7) or 1
    list[#list + 1] = string.format("$%s using 1:2 with linespoints %s pt %d ps %s pi %d", name, style,
      marker_of(series), series.faint and "0.6" or "0.9", every)
  end
  return list
end

function DRAW.step(name, series, theme)
  return { string.format("$%s using 1:2 with steps lw %s lc rgb '%s' dt %s", name, number(LINE),
    colour_of(series, theme), dash_of(series)) }
end

function DRAW.points(name, series, theme)
  local colour, size, width = colour_of(series, theme), "0.9", 1
  if series.role == "flagged" then size, width = "1.6", 2.5 end
  if series.faint then colour, size = mixed(colour, theme.ground, 0.55), "0.4" end
  local list = {}
  if series.low then
    list[1] = string.format("$%s using 1:2:3:4 with yerrorbars pt 0 lw 1 lc rgb '%s'", name, colour)
  end
  list[#list + 1] = string.format("$%s using 1:2 with points lw %s lc rgb '%s' pt %d ps %s", name,
    number(width), colour, marker_of(series), size)
  return list
end

function DRAW.bars(name, series, theme)
  return { string.format("$%s using 1:2 with boxes lc rgb '%s' fs solid 0.8 border", name,
    colour_of(series, theme)) }
end

function DRAW.heat(name)
  return { string.format("$%s using (0.5*($1+$2)):(0.5*($3+$4)):1:2:3:4:5 with boxxyerror lc palette "
    .. "fs solid noborder", name) }
end

local function ticks_of(letter, scaled, theme)
  local words = {}
  for i, tick in ipairs(scaled.ticks) do
    words[i] = quoted(tick.text) .. " " .. number(tick.value)
  end
  return string.format("set %stics nomirror scale 0.5 textcolor rgb '%s' (%s)", letter, theme.faint,
    table.concat(words, ", "))
end

local function set_axis(out, letter, scaled, theme)
  out[#out + 1] = (scaled.axis.scale == "log" and "set" or "unset") .. " logscale " .. letter
  out[#out + 1] = string.format("set %srange [%s:%s] noextend", letter, number(scaled.low),
    number(scaled.high))
  out[#out + 1] = ticks_of(letter, scaled, theme)
end

local function set_palette(out, scaled, theme, theme_name, box)
  local colours = {}
  for i, colour in ipairs(palette.heat(theme_name)) do
    colours[i] = string.format("%d '%s'", i - 1, colour)
  end
  out[#out + 1] = "set palette defined (" .. table.concat(colours, ", ") .. ")"
  set_axis(out, "cb", scaled, theme)
  out[#out + 1] = string.format("set colorbox vertical user origin screen %s,%s size screen %s,%s",
    number(box.x), number(box.y), number(box.width), number(box.height))
end

-- Text at a place of the picture, in shares of its width and height from the left below.
local function add_label(out, text, theme)
  out[#out + 1] = string.format("set label %s at %s %s,%s %s%s textcolor rgb '%s' font '%s,%s'%s",
    quoted(text.text), text.at or "screen", number(text.x), number(text.y), text.align or "left",
    text.rotate and " rotate by 90" or "", text.colour or theme.ink, text.bold and ":Bold" or "",
    number(text.size), text.point and string.format(" point pt %d ps 1 lc rgb '%s' offset character 0.8,0.4",
      text.point, text.colour or theme.ink) or "")
end

local function add_sample(out, sample, theme)
  local series = sample.series
  local colour = colour_of(series, theme)
  if series.kind == "line" or series.kind == "step" then
    out[#out + 1] = string.format(
      "set arrow from screen %s,%s to screen %s,%s nohead lw %s lc rgb '%s' dt %s", number(sample.x0),
      number(sample.y), number(sample.x1), number(sample.y), number(LINE), colour, dash_of(series))
  end
  local point = (series.kind == "bars" or series.kind == "band") and 5 or marker_of(series)
  if series.role ~= "fit" and series.role ~= "limit" then
    out[#out + 1] = string.format("set label '' at screen %s,%s point pt %d ps 1 lw 2 lc rgb '%s'",
      number((sample.x0 + sample.x1) / 2), number(sample.y), point, colour)
  end
end

local function add_panel(out, f, panel, look, theme, theme_name)
  for _, m in ipairs { { "l", panel.left }, { "r", panel.right }, { "t", panel.top }, { "b", panel.bottom } } do
    out[#out + 1] = string.format("set %smargin at screen %s", m[1], number(m[2]))
  end
  set_axis(out, "x", panel.x, theme)
  set_axis(out, "y", panel.y, theme)
  if panel.z then set_palette(out, panel.z, theme, theme_name, look.box) end
  if not panel.named_ticks then out[#out + 1] = "set format x ''; set xtics format ''" end
  local draws = {}
  for i, series in ipairs(f.series) do
    if (series.panel or 1) == panel.number then
      local name = "s" .. i
      local any, rows = add_data(out, name, series, panel)
      if any then
        local list = DRAW[series.kind](name, series, theme, rows)
        table.move(list, 1, #list, #draws + 1, draws)
      end
    end
  end
  -- A panel without a point is drawn empty.
  if #draws == 0 then draws[1] = "NaN" end
  out[#out + 1] = "plot " .. table.concat(draws, ", \\\n  ")
end

--- The script.
-- @tparam table f
-- @tparam string form  "svg" or "png"
-- @tparam table options  `width` (960), `height` (540; px), `theme`
-- @treturn string
-- @usage io.write(script.of(f, "svg", { theme = "dark" }))
function M.of(f, form, options)
  local theme = palette.theme(options.theme)
  local width = math.max(160, math.min(math.floor(options.width or 960), 8000))
  local height = math.max(120, math.min(math.floor(options.height or 540), 8000))
  local look = layout.of(f, width, height, theme)
  local out = {
    "set encoding utf8",
    string.format("set terminal %s size %d,%d noenhanced font '%s,%s' background rgb '%s' linewidth 1",
      form == "svg" and "svg" or "pngcairo", width, height, form == "svg" and "Arial" or "Sans",
      -- A pt of pngcairo is 4/3 px.
      number(form == "svg" and look.font or look.font * 0.75), theme.ground),
    "unset key", "set datafile missing", "set errorbars small", "set clip two",
    string.format("set border 3 lw 1 lc rgb '%s'", theme.faint),
    string.format("set grid back lt 1 lw 0.7 lc rgb '%s' dt solid", theme.grid),
  }
  local factor = form == "svg" and 1 or 0.75
  out[#out + 1] = "set multiplot"
  for n, panel in ipairs(look.panels) do
    if n == 1 then
      for _, text in ipairs(look.texts) do
        text.size = text.size * factor
        add_label(out, text, theme)
      end
      for _, sample in ipairs(look.samples) do add_sample(out, sample, theme) end
    else
      out[#out + 1] = "unset label; unset arrow"
    end
    for _, text in ipairs(panel.texts) do
      text.size = text.size * factor
      add_label(out, text, theme)
    end
    add_panel(out, f, panel, look, theme, options.theme)
  end
  out[#out + 1] = "unset multiplot\n"
  return table.concat(out, "\n")
end

return M
