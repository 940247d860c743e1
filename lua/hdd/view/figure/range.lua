--- The axes of a figure's panels, by what is drawn in them.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure.range
local scale = require "hdd.view.figure.scale"

local M = {}

local FINE <const> = 8 -- an axis ends at one of so many steps, be there a tick or not

-- Least and greatest of what can be drawn, in a table that grows.
local function include(bounds, value, axis)
  if scale.fits(value, axis) then
    bounds.low = math.min(bounds.low or value, value)
    bounds.high = math.max(bounds.high or value, value)
  end
end

local function include_all(bounds, list, axis)
  for _, value in ipairs(list or {}) do include(bounds, value, axis) end
end

local function scaled(axis, bounds, count)
  local low, high = scale.extent(axis, bounds.low, bounds.high, math.max(count, FINE))
  return { axis = axis, low = low, high = high, ticks = scale.ticks(axis, low, high, count) }
end

--- The axes of a panel.
-- @tparam table f
-- @tparam integer number  1, or 2: the lower one
-- @tparam integer across  ticks wanted on x
-- @tparam integer down    ticks wanted on y
-- @treturn table  `number`; `x`, `y`, `z` (nil without a heat map): `axis`, `low`, `high`, `ticks`;
--   `empty`: true where nothing can be drawn
-- @usage local panel = range.panel(f, 1, 6, 5)
function M.panel(f, number, across, down)
  local xs, ys, zs = {}, {}, {}
  local y_axis = number == 2 and f.y2 or f.y
  for _, series in ipairs(f.series) do
    include_all(xs, series.x, f.x)
    local here = (series.panel or 1) == number
    if here then
      include_all(ys, series.y, y_axis)
      include_all(ys, series.low, y_axis)
      include_all(ys, series.high, y_axis)
    end
    for _, cell in ipairs(series.cells or {}) do
      include(xs, cell[1], f.x)
      include(xs, cell[2], f.x)
      if here then
        include(ys, cell[3], y_axis)
        include(ys, cell[4], y_axis)
        include(zs, cell[5], f.z)
      end
    end
  end
  return {
    number = number, empty = ys.low == nil or xs.low == nil,
    x = scaled(f.x, xs, across), y = scaled(y_axis, ys, down),
    z = f.z and number == 1 and scaled(f.z, zs, down) or nil,
  }
end

return M
