--- Where everything of a figure lies in a picture: title, legend, panels, labels at the lines.
--
-- Lengths are px from the left above while they are worked out, shares of the picture from the left
-- below when they are handed out, as gnuplot wants them. How wide text is can only be guessed here;
-- the guess is on the wide side.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure.gnuplot.layout
local direct = require "hdd.view.figure.gnuplot.direct"
local palette = require "hdd.view.figure.palette"
local printable = require "hdd.printable"
local range = require "hdd.view.figure.range"
local scale = require "hdd.view.figure.scale"
local text = require "hdd.view.text"

local M = {}

local EDGE <const> = 12
local SAMPLE <const> = 34 -- length of a line in the legend
local GAP <const> = 8

local function width_of(words, size)
  return printable.width(words) * size * 0.62
end

local function clipped(words, size, room)
  return printable.clip(printable.line(words), math.max(4, math.floor(room / (size * 0.62))))
end

-- What the legend lists: nothing where the subtitle has said it.
local function entries_of(f, labelled)
  local list = {}
  for _, series in ipairs(f.series) do
    local alone = series.role == "value" and #f.drives <= 1
    if series.legend and not alone and not labelled[series] and series.kind ~= "heat" then
      local name = series.name
      if series.role == "flagged" and #f.drives == 1 then name = series.label or "flagged" end
      list[#list + 1] = { series = series, name = printable.line(name) }
    end
  end
  return list
end

-- Legend entries in lines that fit; returns its samples and texts in px and its height.
local function legend_of(entries, size, left, room, top)
  local x, y, samples, texts = left, top, {}, {}
  for _, entry in ipairs(entries) do
    local name = clipped(entry.name, size, room - SAMPLE - GAP)
    local width = SAMPLE + GAP + width_of(name, size)
    if x > left and x + width > left + room then x, y = left, y + size * 1.6 end
    samples[#samples + 1] = { series = entry.series, x0 = x, x1 = x + SAMPLE, y = y }
    texts[#texts + 1] = { text = name, x = x + SAMPLE + GAP, y = y, size = size }
    x = x + width + 2 * GAP + 4
  end
  return samples, texts, #entries > 0 and y - top + size * 1.9 or 0
end

-- Notes as small lines at the foot.
local function foot_of(f, size, room, most)
  local lines = {}
  for _, note in ipairs(f.notes) do
    local wrapped = text.wrap(printable.line(note), math.max(20, math.floor(room / (size * 0.56))))
    for line in wrapped:gmatch("[^\n]+") do
      if #lines < most then lines[#lines + 1] = line end
    end
  end
  return lines
end

local function widest(ticks, size)
  local width = 0
  for _, tick in ipairs(ticks) do width = math.max(width, width_of(printable.line(tick.text), size)) end
  return width
end

-- Ticks of a category or time axis are long: fewer of them where there is no room.
local function thin_ticks(scaled, size, room)
  local need = widest(scaled.ticks, size) + 10
  local most = math.max(2, math.floor(room / need))
  if #scaled.ticks <= most then return end
  local kept, every = {}, math.ceil(#scaled.ticks / most)
  for i, tick in ipairs(scaled.ticks) do
    if (i - 1) % every == 0 then kept[#kept + 1] = tick end
  end
  scaled.ticks = kept
end

-- From px to shares.
local function to_shares(item, width, height)
  for _, key in ipairs { "x", "x0", "x1", "left", "right" } do
    if type(item[key]) == "number" then item[key] = item[key] / width end
  end
  for _, key in ipairs { "y", "top", "bottom" } do
    if type(item[key]) == "number" then item[key] = 1 - item[key] / height end
  end
end

local function annotate(f, panel, size, theme)
  for _, note in ipairs(f.annotations) do
    if (note.panel or 1) == panel.number and scale.fits(note.x, panel.x.axis)
      and scale.fits(note.y, panel.y.axis) then
      local right = scale.place(note.x, panel.x.axis, panel.x.low, panel.x.high) > 0.7
      panel.texts[#panel.texts + 1] = {
        at = "first", x = note.x, y = note.y, text = note.text, size = size, point = 6,
        align = right and "right" or "left",
        colour = note.drive and palette.pick(theme.series, note.drive) or theme.ink,
      }
    end
  end
end

--- The layout.
-- @tparam table f
-- @tparam integer width   px
-- @tparam integer height  px
-- @tparam table theme     of hdd.view.figure.palette
-- @treturn table  `font` (px), `texts`, `samples` (of the legend), `panels`, `box` (of the colours)
function M.of(f, width, height, theme)
  local font = math.max(10, math.min(14, 9.5 + width / 320))
  local small = font - 1.5
  local room = width - 2 * EDGE
  local texts, y = {}, EDGE + font * 0.7
  local function say(words, size, more)
    local item = more or {}
    item.text, item.size, item.x, item.y = words, size, EDGE, y
    texts[#texts + 1] = item
  end
  say(clipped(f.title, font + 3, room), font + 3, { bold = true })
  y = y + font * 1.6
  if f.subtitle and height >= 200 then
    say(clipped(f.subtitle, font, room), font, { colour = theme.faint })
    y = y + font * 1.6
  end

  local foot = height >= 300 and foot_of(f, small, room, height >= 420 and 3 or 2) or {}
  local foot_height = #foot * small * 1.35 + (#foot > 0 and 6 or 0)

  -- A first guess of the panels' size decides how many ticks there are, and so how wide they are.
  local count = f.y2 and 2 or 1
  local across = math.max(2, math.floor((width - 120) / 90))
  local down = math.max(2, math.floor((height - 140) / 55 / count))
  local panels, tick_width = {}, 0
  for n = 1, count do
    panels[n] = range.panel(f, n, across, down)
    panels[n].texts = {}
    tick_width = math.max(tick_width, widest(panels[n].y.ticks, small))
  end
  local left = EDGE + font * 1.6 + tick_width + 10
  local right = width - EDGE - GAP
  local box
  if panels[1].z then right = right - (widest(panels[1].z.ticks, small) + 18 + font * 2.2) end

  local labels, labelled = {}, {}
  if width >= 600 and not panels[1].z then
    local label_width
    labels, labelled, label_width = direct.choose(f, panels[1], width_of, font)
    right = right - label_width
  end
  local samples, legend_texts, legend_height = legend_of(entries_of(f, labelled), font, EDGE, room,
    y + font * 0.1)
  y = y + legend_height
  local top = y + 2
  local bottom = height - EDGE - foot_height - font * 1.5 - small * 1.6
  bottom = math.max(bottom, top + 30)

  local gap = count == 2 and font * 1.5 or 0
  local each = (bottom - top - gap * (count - 1)) / count
  for n, panel in ipairs(panels) do
    panel.left, panel.right = left, right
    panel.top = top + (n - 1) * (each + gap)
    panel.bottom = panel.top + each
    panel.named_ticks = n == count
    thin_ticks(panel.x, small, right - left)
    texts[#texts + 1] = { text = clipped(scale.title(panel.y.axis), font, each * 1.15), size = font,
      x = EDGE + font * 0.5, y = (panel.top + panel.bottom) / 2, rotate = true, align = "center" }
  end
  texts[#texts + 1] = { text = clipped(scale.title(f.x), font, right - left), size = font,
    x = (left + right) / 2, y = bottom + small * 1.6 + font, align = "center" }
  for i, line in ipairs(foot) do
    texts[#texts + 1] = { text = line, size = small, x = EDGE, colour = theme.faint,
      y = height - EDGE - (#foot - i) * small * 1.35 }
  end
  if panels[1].z then
    box = { x = (right + 14) / width, y = 1 - bottom / height, width = 12 / width,
      height = (bottom - top) / height }
    texts[#texts + 1] = { text = clipped(scale.title(f.z), font, bottom - top), size = font,
      x = width - EDGE - font * 0.3, y = (top + bottom) / 2, rotate = true, align = "center" }
  end
  for _, item in ipairs(direct.place(labels, panels[1], font, theme)) do texts[#texts + 1] = item end
  table.move(legend_texts, 1, #legend_texts, #texts + 1, texts)
  for _, list in ipairs { texts, samples, panels } do
    for _, item in ipairs(list) do to_shares(item, width, height) end
  end
  for _, panel in ipairs(panels) do annotate(f, panel, small, theme) end
  return { font = font, texts = texts, samples = samples, panels = panels, box = box }
end

return M
