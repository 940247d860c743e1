--- The seek curve: a formula through measured seek times. Pure.
--
-- Short seeks spend their time accelerating and braking, long ones coasting. So the time grows with
-- the root of the distance at first and with the distance itself from some point, the knee, on:
--
--     d <= knee: a + b * sqrt(d)         d > knee: c + e * d
--
-- as Ruemmler and Wilkes model it ("An introduction to disk drive modeling", IEEE Computer 27(3), March
-- 1994). Both meet at the knee here. d is a share of the full stroke; times are in microseconds.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.seekprofile.fit
local statistics = require "hdd.statistics"

local M = {}

local KNEE_FROM <const>, KNEE_TO <const>, KNEE_STEP <const> = 0.1, 0.6, 0.01
local LEAST <const> = 6       -- points below which there is no curve
local FAR <const> = 4         -- a point so many deviations off is left out

-- Solves a 3 by 3 system in place; nil when it has no single solution.
local function solve(m, v)
  for i = 1, 3 do
    local pivot = i
    for r = i + 1, 3 do if math.abs(m[r][i]) > math.abs(m[pivot][i]) then pivot = r end end
    m[i], m[pivot], v[i], v[pivot] = m[pivot], m[i], v[pivot], v[i]
    if math.abs(m[i][i]) < 1e-12 then return nil end
    for r = i + 1, 3 do
      local factor = m[r][i] / m[i][i]
      for c = i, 3 do m[r][c] = m[r][c] - factor * m[i][c] end
      v[r] = v[r] - factor * v[i]
    end
  end
  for i = 3, 1, -1 do
    for c = i + 1, 3 do v[i] = v[i] - m[i][c] * v[c] end
    v[i] = v[i] / m[i][i]
  end
  return v
end

-- Least squares with the knee given: a + b * sqrt(min(d, knee)) + e * max(0, d - knee).
local function with_knee(points, knee)
  local m, v = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }, { 0, 0, 0 }
  for _, p in ipairs(points) do
    local basis = { 1, math.sqrt(math.min(p.d, knee)), math.max(0, p.d - knee) }
    for r = 1, 3 do
      for c = 1, 3 do m[r][c] = m[r][c] + basis[r] * basis[c] end
      v[r] = v[r] + basis[r] * p.us
    end
  end
  local x = solve(m, v)
  if not x then return nil end
  local curve = {
    a_us = x[1], b_us = x[2], e_us = x[3], knee = knee,
    c_us = x[1] + x[2] * math.sqrt(knee) - x[3] * knee,
  }
  local squares = 0
  for _, p in ipairs(points) do squares = squares + (M.at(curve, p.d) - p.us) ^ 2 end
  return curve, squares
end

local function best(points)
  local found, least
  local knee = KNEE_FROM
  while knee <= KNEE_TO do
    local curve, squares = with_knee(points, knee)
    -- An arm never takes less time for a longer way.
    if curve and curve.b_us >= 0 and curve.e_us >= 0 and (not least or squares < least) then
      found, least = curve, squares
    end
    knee = knee + KNEE_STEP
  end
  return found
end

--- The time that a curve gives a distance.
-- @tparam table curve  of `curve`
-- @tparam number d     share of the stroke, 0 to 1
-- @treturn number  microseconds; 0 for no distance
function M.at(curve, d)
  if d <= 0 then return 0.0 end
  if d <= curve.knee then return curve.a_us + curve.b_us * math.sqrt(d) end
  return curve.c_us + curve.e_us * d
end

--- Fits the curve. Points that are far off it are left out the second time.
-- @tparam {table,...} points  `d` (share of the stroke, above 0), `us` (seek time)
-- @treturn ?table  `a_us`, `b_us`, `c_us`, `e_us`, `knee`, `residual_us` (the median distance of a
--   point from it), `points` (how many count); nil when there are too few
-- @usage local curve = fit.curve({ { d = 0.001, us = 900 }, ... }); print(fit.at(curve, 1 / 3))
function M.curve(points)
  local kept, curve = points, nil
  for round = 1, 2 do
    if #kept < LEAST then return nil end
    curve = best(kept)
    if not curve then return nil end
    local off, all = {}, kept
    for i, p in ipairs(all) do off[i] = math.abs(M.at(curve, p.d) - p.us) end
    local typical = statistics.median(off)
    curve.residual_us, curve.points = typical, #all
    if round == 1 then
      kept = {}
      for i, p in ipairs(all) do
        if off[i] <= FAR * math.max(1.4826 * typical, 1) then kept[#kept + 1] = p end
      end
    end
  end
  return curve
end

local GRID <const> = 200

--- The average seek: the mean over pairs of places that are drawn evenly from all bytes, as random
-- reads go.
-- @tparam table curve    of `curve`
-- @tparam Stroke stroke  see hdd.procedure.seekprofile.stroke
-- @treturn number  microseconds
function M.average(curve, stroke)
  local shares, sum = {}, 0.0
  for i = 1, GRID do
    shares[i] = stroke:share(stroke.from + (i - 0.5) / GRID * (stroke.to - stroke.from))
  end
  for i = 1, GRID do
    for j = 1, GRID do sum = sum + M.at(curve, math.abs(shares[i] - shares[j])) end
  end
  return sum / GRID ^ 2
end

return M
