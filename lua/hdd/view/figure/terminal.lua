--- Draws figures with characters: dots of Braille where there is UTF-8, one character a drive where
-- there is not. Several lines have signs on them, so that no colour is needed to tell them apart.
-- Text alone comes out, and colours if wanted; nothing moves a cursor.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure.terminal
local canvas = require "hdd.view.figure.terminal.canvas"
local palette = require "hdd.view.figure.palette"
local printable = require "hdd.printable"
local range = require "hdd.view.figure.range"
local scale = require "hdd.view.figure.scale"
local text = require "hdd.view.text"

local M = {}

local LEAST_COLUMNS <const>, LEAST_ROWS <const> = 24, 5
local SIGNS <const> = {
  utf8 = { "●", "▲", "■", "◆", "○", "△", "□" }, ascii = { "*", "o", "+", "x", "#", "@", "=" },
}
local FLAG <const> = { utf8 = "╳", ascii = "!" }
local SHADES <const> = { utf8 = { "·", "░", "▒", "▓", "█" }, ascii = { ".", ":", "o", "O", "@" } }
-- Of 256 colours, near those of Okabe and Ito, and legible on white and on black.
local COLOURS <const> = { 32, 166, 29, 244, 169, 172, 39 }

local function painter(options)
  if not options.colour then return function(words) return words end end
  return function(words, index)
    if not index then return words end
    return string.format("\27[38;5;%dm%s\27[0m", palette.pick(COLOURS, index), words)
  end
end

-- What there is room for: no bands and single points; pale lines only where one drive is alone.
local function visible(f)
  local list = {}
  for _, series in ipairs(f.series) do
    local shown = series.kind ~= "band" and series.role ~= "single" and series.role ~= "fit"
    if series.faint and #f.drives > 1 then shown = false end
    if shown then list[#list + 1] = series end
  end
  return list
end

-- Gives each series its sign; returns what the legend says.
local function sign_all(series_list, f, set, paint, ascii)
  local signs, legend, next_sign, flagged = {}, {}, 1, {}
  for _, series in ipairs(series_list) do
    if series.role == "flagged" then
      signs[series] = FLAG[set]
      local what = series.label or "flagged"
      if not flagged[what] then
        flagged[what], flagged[#flagged + 1] = true, what
      end
    elseif series.kind ~= "heat" then
      signs[series] = palette.pick(SIGNS[set], next_sign)
      next_sign = next_sign + 1
      local name = #f.drives == 1 and series.label or series.name
      legend[#legend + 1] = { paint(signs[series], series.colour), printable.line(name, ascii) }
    end
  end
  if #legend < 2 then legend = {} end
  if flagged[1] then
    legend[#legend + 1] = { FLAG[set], printable.line(table.concat(flagged, ", "), ascii) }
  end
  return signs, legend
end

local function add_legend(lines, legend, width)
  local line, used = "", 0
  for _, entry in ipairs(legend) do
    local name = printable.clip(entry[2], width - 2)
    local need = printable.width(name) + 2
    if used > 0 and used + 3 + need > width then
      lines[#lines + 1] = line
      line, used = "", 0
    end
    line = line .. (used > 0 and "   " or "") .. entry[1] .. " " .. name
    used = used + (used > 0 and 3 or 0) + need
  end
  if used > 0 then lines[#lines + 1] = line end
end

local function axis_title(axis, ascii)
  return printable.line(scale.title(axis), ascii)
end

-- The line below a panel, and the texts of the ticks, each under its own.
local function x_axis(panel, columns, left, options)
  local line, labels, free = {}, {}, 0
  local u = options.utf8
  for c = 1, columns do line[c] = u and "─" or "-" end
  for _, tick in ipairs(panel.x.ticks) do
    local place = scale.place(tick.value, panel.x.axis, panel.x.low, panel.x.high)
    local column = math.floor(place * (columns - 1) + 0.5) + 1
    local words = printable.line(tick.text, not u)
    local size = printable.width(words)
    local from = math.max(1, math.min(left + column - size // 2, left + columns - size + 1))
    if column >= 1 and column <= columns and from > free then
      line[column] = u and "┴" or "+"
      labels[#labels + 1] = string.rep(" ", from - 1 - (free > 0 and free - 1 or 0)) .. words
      free = from + size
    end
  end
  return string.rep(" ", left) .. (u and "└" or "+") .. table.concat(line), table.concat(labels)
end

-- Ticks by row, and how wide they are.
local function y_ticks(panel, rows, ascii)
  local by_row, width = {}, 0
  for _, tick in ipairs(panel.y.ticks) do
    local place = scale.place(tick.value, panel.y.axis, panel.y.low, panel.y.high)
    local row = rows - math.floor(place * (rows - 1) + 0.5)
    if row >= 1 and row <= rows and not by_row[row] then
      by_row[row] = printable.clip(printable.line(tick.text, ascii), 14)
      width = math.max(width, printable.width(by_row[row]))
    end
  end
  return by_row, width
end

local function heat_legend(panel, shades, f, width, ascii)
  local words = {}
  for i, shade in ipairs(shades) do
    local share = (i - 1) / #shades
    local value = panel.z.axis.scale == "log"
      and panel.z.low * (panel.z.high / panel.z.low) ^ share
      or panel.z.low + (panel.z.high - panel.z.low) * share
    words[i] = shade .. " from " .. scale.number(value, 2)
  end
  return text.wrap(axis_title(f.z, ascii) .. ": " .. table.concat(words, "  "), width):gsub("\n$", "")
end

local function draw_panel(lines, f, panel, series_list, signs, look)
  local ascii = not look.utf8
  local ticks, width = y_ticks(panel, look.rows, ascii)
  width = math.max(width, look.tick_width or 0)
  local columns = look.width - width - 1
  local area = canvas.new(columns, look.rows, look.utf8)
  for _, series in ipairs(series_list) do
    if (series.panel or 1) == panel.number then
      area:draw(series, panel, signs[series], look.shades)
    end
  end
  lines[#lines + 1] = printable.clip(axis_title(panel.y.axis, ascii), look.width)
  for row, cells in ipairs(area:lines(look.paint)) do
    local tick = ticks[row]
    lines[#lines + 1] = string.rep(" ", width - printable.width(tick or "")) .. (tick or "")
      .. (look.utf8 and (tick and "┤" or "│") or (tick and "+" or "|")) .. cells
  end
  local line, labels = x_axis(panel, columns, width, look)
  lines[#lines + 1] = line
  if look.last then
    lines[#lines + 1] = labels
    local title = printable.clip(axis_title(f.x, ascii), look.width)
    lines[#lines + 1] = string.rep(" ", math.max(0, (look.width + width - printable.width(title)) // 2)) .. title
  end
end

local function sentence(f, width, ascii)
  local words = f.description ~= "" and f.description or "There is nothing to draw."
  return text.wrap(printable.line(words, ascii), width)
end

--- Draws a figure.
-- @tparam table f
-- @tparam[opt] table options  `width` (80), `height` (20; rows in all), `utf8` (false), `colour` (false)
-- @treturn string  lines without trailing spaces, none wider than `width`; a sentence where there is
--   nothing to draw or no room
-- @usage io.write(terminal.draw(f, { width = 80, utf8 = true, colour = true }))
function M.draw(f, options)
  options = options or {}
  local width, height = math.max(1, options.width or 80), options.height or 20
  local ascii, set = not options.utf8, options.utf8 and "utf8" or "ascii"
  local count = f.y2 and 2 or 1
  local lines = { printable.clip(printable.line(f.title, ascii), width) }
  local paint = painter(options)
  local series_list = visible(f)
  local signs, legend = sign_all(series_list, f, set, paint, ascii)
  add_legend(lines, legend, width)
  local rows = (height - #lines - 2 * count - 2 - (f.z and 2 or 0)) // count
  if width < LEAST_COLUMNS or rows < LEAST_ROWS then return sentence(f, width, ascii) end
  local panels, any, tick_width = {}, false, 0
  for n = 1, count do
    panels[n] = range.panel(f, n, math.max(2, (width - 10) // 12), math.max(2, rows // 3))
    any = any or not panels[n].empty
    tick_width = math.max(tick_width, select(2, y_ticks(panels[n], rows, ascii)))
  end
  if not any then return sentence(f, width, ascii) end
  for n, panel in ipairs(panels) do
    draw_panel(lines, f, panel, series_list, signs, {
      width = width, rows = rows, utf8 = options.utf8, paint = paint, last = n == count,
      shades = SHADES[set], tick_width = tick_width,
    })
  end
  if f.z then lines[#lines + 1] = heat_legend(panels[1], SHADES[set], f, width, ascii) end
  for i, line in ipairs(lines) do lines[i] = line:gsub(" +$", "") end
  return table.concat(lines, "\n") .. "\n"
end

return M
