--- Colours, dashes and markers of figures.
--
-- The colours are those of Okabe and Ito, which people who see no red, no green or no blue tell
-- apart, in an order in which neighbours differ in brightness, too, and each theme has those that
-- stand out from its ground. Dash and marker say the same again, for print without colour.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure.palette
local M = {}

--- What a theme is made of: `ground`, `ink` (text), `faint` (secondary text), `grid`, `alert`, and
-- `series`, in the order in which drives get them.
M.THEMES = {
  light = {
    ground = "#ffffff", ink = "#1a1a1a", faint = "#595959", grid = "#dcdcdc", alert = "#b00020",
    series = { "#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#e69f00", "#56b4e9" },
  },
  dark = {
    ground = "#161a1d", ink = "#eceff1", faint = "#a7b0b6", grid = "#3a4147", alert = "#ff6b6b",
    series = { "#56b4e9", "#e69f00", "#2fc79a", "#f2f2f2", "#e39ac4", "#f0e442", "#ff8a3d" },
  },
}

--- Lengths of dash and gap in px; {} is solid.
M.DASHES = { {}, { 8, 4 }, { 2, 3 }, { 10, 3, 2, 3 }, { 14, 5 }, { 5, 2, 5, 5 }, { 3, 6 } }

--- In Chart.js' words.
M.MARKERS = { "circle", "triangle", "rect", "rectRot", "crossRot", "star", "rectRounded" }

-- Brightness falls evenly from the first to the last: a heat map survives a photocopier. The end that
-- is much is the one that stands out from the ground.
local HEAT <const> = {
  { 253, 231, 37 }, { 160, 218, 57 }, { 74, 193, 109 }, { 31, 161, 135 }, { 39, 127, 142 },
  { 54, 92, 141 }, { 70, 50, 126 }, { 68, 1, 84 },
}

--- The colours of a heat map, from little to much, evenly spaced.
-- @tparam[opt="light"] string theme
-- @treturn {string,...}  "#rrggbb"
-- @usage local steps = palette.heat "dark"
function M.heat(theme)
  local steps = {}
  for i, colour in ipairs(HEAT) do
    local place = theme == "dark" and #HEAT + 1 - i or i
    steps[place] = string.format("#%02x%02x%02x", table.unpack(colour))
  end
  return steps
end

--- A theme by its name.
-- @tparam[opt="light"] string name
-- @treturn table
function M.theme(name)
  return M.THEMES[name or "light"] or error("no theme " .. tostring(name) .. ": light or dark", 2)
end

--- The element of a list that an index stands for, which wraps round.
-- @tparam table list
-- @tparam ?integer index  (1)
-- @return the element
-- @usage palette.pick(palette.DASHES, series.dash)
function M.pick(list, index)
  return list[((index or 1) - 1) % #list + 1]
end

return M
