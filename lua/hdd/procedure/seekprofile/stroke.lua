--- Where on the arm's stroke a place of the drive lies. Pure.
--
-- A drive does not tell its cylinders, but a cylinder passes in the same time wherever it is: what a
-- sequential reader takes from the first byte to a place, over what it takes for all, is the share of
-- the cylinders that lie before it. So the rates at some places make a scale of the stroke, 0 at the
-- first byte and 1 at the last, on which equal distances are equal numbers of cylinders.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.seekprofile.stroke

local M = {}
local Stroke = {}
Stroke.__index = Stroke

-- The slowness (ns a byte) at a place: straight lines between those that were measured.
local function slowness_at(points, place)
  local last = points[#points]
  if place <= points[1].place then return 1e9 / points[1].rate end
  for i = 2, #points do
    local a, b = points[i - 1], points[i]
    if place <= b.place then
      local t = (place - a.place) / (b.place - a.place)
      return 1e9 / (a.rate + t * (b.rate - a.rate))
    end
  end
  return 1e9 / last.rate
end

local STEPS <const> = 1024

--- A scale of the stroke.
-- @tparam integer from  first byte of the range
-- @tparam integer to    its end
-- @tparam {table,...} points  ascending, at least one: `place` (bytes), `rate` (bytes/s) there
-- @treturn Stroke  `full_ns`: what reading all of it takes
-- @usage local scale = stroke.new(0, drive.size, { { place = 0, rate = 150e6 }, ... })
function M.new(from, to, points)
  local self = setmetatable({ from = from, to = to, points = points, ns = { [0] = 0.0 } }, Stroke)
  self.step = (to - from) / STEPS
  for i = 1, STEPS do
    self.ns[i] = self.ns[i - 1] + self.step * slowness_at(points, from + (i - 0.5) * self.step)
  end
  self.full_ns = self.ns[STEPS]
  return self
end

--- The share of the stroke at which a place lies.
-- @tparam number place  bytes
-- @treturn number  0 to 1
function Stroke:share(place)
  local x = (place - self.from) / self.step
  local i = math.max(0, math.min(STEPS - 1, math.floor(x)))
  return (self.ns[i] + (x - i) * (self.ns[i + 1] - self.ns[i])) / self.full_ns
end

--- The place at a share of the stroke.
-- @tparam number share  0 to 1
-- @treturn number  bytes, a float
function Stroke:place(share)
  local ns, low, high = share * self.full_ns, 0, STEPS - 1
  while low < high do
    local middle = (low + high + 1) // 2
    if self.ns[middle] <= ns then low = middle else high = middle - 1 end
  end
  local part = (ns - self.ns[low]) / (self.ns[low + 1] - self.ns[low])
  return self.from + (low + part) * self.step
end

--- The rate at a place.
-- @tparam number place  bytes
-- @treturn number  bytes/s
function Stroke:rate(place)
  return 1e9 / slowness_at(self.points, place)
end

return M
