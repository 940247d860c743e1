--- Names beside the ends of lines, where there is room: nobody has to look them up in a legend.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure.gnuplot.direct
local palette = require "hdd.view.figure.palette"
local printable = require "hdd.printable"
local scale = require "hdd.view.figure.scale"

local M = {}

local MOST <const> = 8    -- labels; more of them is a legend's work
local LONGEST <const> = 240 -- px
local GAP <const> = 10

-- The last point of a line, as shares of the panel.
local function end_of(series, panel)
  for i = #series.x, 1, -1 do
    if scale.fits(series.y[i], panel.y.axis) and scale.fits(series.x[i], panel.x.axis) then
      return scale.place(series.x[i], panel.x.axis, panel.x.low, panel.x.high),
        scale.place(series.y[i], panel.y.axis, panel.y.low, panel.y.high)
    end
  end
end

local function words_of(series, f)
  if series.legend and series.role == "value" and #f.drives > 1 then return series.name end
  return series.label
end

--- Which lines are named at their ends: all that have a name to show, or none.
-- @tparam table f
-- @tparam table panel  the upper one
-- @tparam function width_of  text, size -> px
-- @tparam number font  px
-- @treturn {table,...}  labels
-- @treturn table  series -> true: those that need no place in the legend
-- @treturn number  px that they need right of the panel
function M.choose(f, panel, width_of, font)
  local labels, labelled, width = {}, {}, 0
  for _, series in ipairs(f.series) do
    local words = series.kind == "line" and (series.panel or 1) == 1 and words_of(series, f)
    local x, y
    if words then x, y = end_of(series, panel) end
    if x then
      labels[#labels + 1] = { text = printable.line(words), x = x, y = y, series = series }
      width = math.max(width, width_of(printable.line(words), font))
      -- Lines that end far from the edge have others beside their end.
      if x < 0.93 and #f.drives > 1 then labels.inside = true end
    end
  end
  if #labels > MOST or width > LONGEST or labels.inside then return {}, {}, 0 end
  for _, label in ipairs(labels) do
    if label.series.legend then labelled[label.series] = true end
  end
  return labels, labelled, #labels > 0 and width + GAP or 0
end

--- Where they go: beside their ends, but not over one another.
-- @tparam {table,...} labels  of `choose`
-- @tparam table panel  with `left`, `right`, `top`, `bottom` in px
-- @tparam number font  px
-- @tparam table theme
-- @treturn {table,...}  texts
function M.place(labels, panel, font, theme)
  local least = font * 1.3
  for _, label in ipairs(labels) do
    label.px = panel.bottom - label.y * (panel.bottom - panel.top)
  end
  table.sort(labels, function(a, b) return a.px < b.px end)
  for _ = 1, 40 do
    local moved = false
    for i = 2, #labels do
      local short = least - (labels[i].px - labels[i - 1].px)
      if short > 0.01 then
        labels[i].px, labels[i - 1].px = labels[i].px + short / 2, labels[i - 1].px - short / 2
        moved = true
      end
    end
    if not moved then break end
  end
  local texts = {}
  for i, label in ipairs(labels) do
    texts[i] = {
      text = label.text, size = font, y = label.px,
      x = panel.left + label.x * (panel.right - panel.left) + GAP,
      colour = palette.pick(theme.series, label.series.colour),
    }
  end
  return texts
end

return M
