-- SPDX-License-Identifier: GPL-3.0-or-later
--- The rate of a drive over its surface: which zones do not fit in, and how long a full read takes.
--
-- A platter of even areal density reads at B(x) = B_o * sqrt(1 - x (1 - k^2)) at the share x of its
-- capacity, k being inner over outer rate. B^2 is therefore a straight line, and that is fitted, by
-- medians of slopes (Theil and Sen), which up to a quarter of wrong zones do not move. Real drives
-- follow it in steps, and not exactly; flash does not fall at all (slope 0). So a zone is judged by
-- its neighbours, after the fitted curve has been divided out: what the zones before it, those behind
-- it, or those around it have as their median is expected of it, whichever is nearest. The edge of a
-- step always has one side that agrees; a weak region has none. Where the rate rises for good (two
-- actuators with half of the addresses each, drives joined end to end) a new curve begins.
-- @module hdd.curve

local statistics = require "hdd.statistics"

local M = {}

-- At most `limit` points that stand for all: medians of equal runs.
local function thinned(positions, values, limit)
  local n = #positions
  if n <= limit then return positions, values end
  local xs, ys = {}, {}
  for i = 1, limit do
    local first, last = (i - 1) * n // limit + 1, i * n // limit
    xs[i] = statistics.median(table.move(positions, first, last, 1, {}))
    ys[i] = statistics.median(table.move(values, first, last, 1, {}))
  end
  return xs, ys
end

-- The median line through points: slope and height at 0.
local function line_through(xs, ys)
  local slopes, heights = {}, {}
  for i = 1, #xs do
    for j = i + 1, #xs do
      if xs[j] ~= xs[i] then slopes[#slopes + 1] = (ys[j] - ys[i]) / (xs[j] - xs[i]) end
    end
  end
  local slope = statistics.median(slopes) or 0
  for i = 1, #xs do heights[i] = ys[i] - slope * xs[i] end
  return slope, statistics.median(heights)
end

--- Fits the falling curve of a drive.
-- @tparam {number,...} positions  ascending, in any unit (bytes, or a share)
-- @tparam {number,...} rates      measured there, above 0
-- @treturn ?function  position -> fitted rate, above 0; nil without points
-- @usage local fitted = curve.fit(offsets, rates); print(fitted(0) / fitted(drive.size))
function M.fit(positions, rates)
  if #positions == 0 then return nil end
  local scale = math.max(math.abs(positions[1]), math.abs(positions[#positions]), 1)
  local xs, squares = {}, {}
  for i, position in ipairs(positions) do xs[i], squares[i] = position / scale, rates[i] ^ 2 end
  local slope, height = line_through(thinned(xs, squares, 120))
  local least = statistics.median(squares) / 100 -- a line that meets zero is no drive's
  return function(position)
    return math.sqrt(math.max(height + slope * position / scale, least))
  end
end

-- The medians of up to `width` trusted neighbours before i, behind it, and around it.
local function neighbours(ratios, trusted, i, width)
  local before, behind = {}, {}
  local j = i - 1
  while j >= 1 and #before < width do
    if trusted[j] then before[#before + 1] = ratios[j] end
    j = j - 1
  end
  j = i + 1
  while j <= #ratios and #behind < width do
    if trusted[j] then behind[#behind + 1] = ratios[j] end
    j = j + 1
  end
  local around = table.move(before, 1, #before, 1, {})
  table.move(behind, 1, #behind, #around + 1, around)
  if trusted[i] then around[#around + 1] = ratios[i] end
  return #before >= 3 and statistics.median(before), #behind >= 3 and statistics.median(behind),
    statistics.median(around)
end

-- What is expected of zone i, as a ratio to the fitted curve.
local function expected_ratio(ratios, trusted, i, width)
  local before, behind, best = neighbours(ratios, trusted, i, width)
  for _, candidate in ipairs { before or best, behind or best } do
    if math.abs(ratios[i] - candidate) < math.abs(ratios[i] - best) then best = candidate end
  end
  return best
end

-- How much the fitted curve changes from a zone to its neighbours: where in its step a zone lies is
-- not known better than that.
local function slack_of(fits, i)
  local below, above = fits[i - 1] or fits[i], fits[i + 1] or fits[i]
  return math.max(math.abs(below - fits[i]), math.abs(above - fits[i])) / fits[i]
end

-- Judges every zone once; returns the expected ratios, which zones fit in, and whether that changed.
local function judge_once(ratios, slacks, trusted, width, options)
  local expected, distances, good, changed = {}, {}, {}, false
  for i = 1, #ratios do
    expected[i] = expected_ratio(ratios, trusted, i, width)
    if trusted[i] then distances[#distances + 1] = math.abs(ratios[i] / expected[i] - 1) end
  end
  local noise = 1.4826 * (statistics.median(distances) or 0)
  local allowed = math.max(options.tolerance or 0.05, (options.sigmas or 6) * noise)
  for i = 1, #ratios do
    good[i] = math.abs(ratios[i] / expected[i] - 1) <= math.max(allowed, slacks[i])
    changed = changed or good[i] ~= trusted[i]
  end
  return expected, good, changed
end

-- For each point the rate expected there and whether it fits in.
local function judge_points(positions, rates, fitted, options)
  local n, fits, ratios, slacks, trusted = #positions, {}, {}, {}, {}
  for i = 1, n do
    fits[i] = fitted(positions[i])
    ratios[i], trusted[i] = rates[i] / fits[i], true
  end
  if n < 5 then return fits, trusted end
  for i = 1, n do slacks[i] = slack_of(fits, i) end
  local width = math.max(5, math.min(n // 10, 20))
  local expected, changed
  for _ = 1, 6 do
    expected, trusted, changed = judge_once(ratios, slacks, trusted, width, options)
    if not changed then break end
  end
  for i = 1, n do expected[i] = expected[i] * fits[i] end
  return expected, trusted
end

local COARSE = 100 -- points of the second, coarse look at a long profile

-- Judges runs of zones, and marks in `expected` and `good` the zones that make a run stand out, on to
-- where they end in the runs beside it.
local function judge_runs(positions, rates, fitted, options, expected, good)
  local n = #positions
  local xs, ys = thinned(positions, rates, COARSE)
  local run_expected, run_good = judge_points(xs, ys, fitted, options)
  for run = 1, COARSE do
    local slow = ys[run] < run_expected[run]
    local function mark(i)
      local wanted = run_expected[run] * fitted(positions[i]) / fitted(xs[run])
      local off = rates[i] / wanted - 1
      if (off < 0) ~= slow or math.abs(off) <= (options.tolerance or 0.05) then return false end
      if good[i] then good[i], expected[i] = false, wanted end
      return true
    end
    if not run_good[run] then
      local first, last = (run - 1) * n // COARSE + 1, run * n // COARSE
      for i = first, last do mark(i) end
      while first > 1 and mark(first - 1) do first = first - 1 end
      while last < n and mark(last + 1) do last = last + 1 end
    end
  end
end

-- The last zone before the rate rises for good, by a fifth at least, if there is one: the fifth of the
-- profile before it against the fifth behind.
local function rise_in(positions, rates)
  local n = #positions
  local _, ys = thinned(positions, rates, COARSE)
  local points, most, at = #ys, 1.2, nil
  local width = points // 5
  if width < 3 then return nil end
  for i = width, points - width do
    local before = statistics.median(table.move(ys, i - width + 1, i, 1, {}))
    local behind = statistics.median(table.move(ys, i + 1, i + width, 1, {}))
    if behind > most * before then most, at = behind / before, i end
  end
  if not at then return nil end
  -- Thinned points stand for runs of zones: the rise is where one zone differs most from the next.
  local best
  for i = math.max(1, (at - 1) * n // points), math.min(n - 1, (at + 1) * n // points) do
    if not best or rates[i + 1] / rates[i] > rates[best + 1] / rates[best] then best = i end
  end
  return best
end

local function judge_stretch(positions, rates, options)
  local fitted = M.fit(positions, rates)
  local expected, good = judge_points(positions, rates, fitted, options)
  if #positions > COARSE then judge_runs(positions, rates, fitted, options, expected, good) end
  local verdicts = {}
  for i = 1, #positions do
    verdicts[i] = {
      expected = expected[i], flagged = not good[i],
      reason = not good[i] and (rates[i] < expected[i] and "slow" or "fast") or nil,
    }
  end
  return verdicts
end

--- Which zones are far off what the drive's curve and their neighbours lead to expect.
-- A zone is flagged when it is off by more than the tolerance, six times the spread of the profile,
-- and what the curve falls from zone to zone. A flagged zone no longer counts as a neighbour, and the
-- rest is judged again; a long profile is judged a second time in 100 runs of zones. So a region of up
-- to a tenth of the profile is found to its edges. With fewer than 5 zones nothing is flagged.
-- @tparam {number,...} positions  ascending
-- @tparam {number,...} rates      above 0
-- @tparam[opt] table options      `tolerance` (0.05: 5 %), `sigmas` (6)
-- @treturn {table,...}  for each zone `expected` (rate), `flagged`, `reason` ("slow", "fast" or nil)
-- @usage for i, verdict in ipairs(curve.judge(offsets, rates)) do zones[i].flagged = verdict.flagged end
function M.judge(positions, rates, options)
  options = options or {}
  local n, rise = #positions, rise_in(positions, rates)
  if n == 0 then return {} end
  if not rise then return judge_stretch(positions, rates, options) end
  local function part(first, last)
    return judge_stretch(table.move(positions, first, last, 1, {}),
      table.move(rates, first, last, 1, {}), options)
  end
  local behind = part(rise + 1, n)
  return table.move(behind, 1, #behind, rise + 1, part(1, rise))
end

--- The time that reading a range takes, by integrating the time per byte over the profile: straight
-- between the middles of the zones; beyond the first and the last their own rate counts.
-- @tparam {table,...} zones  ascending, of `offset_bytes`, `length_bytes`, `bandwidth_bytes_per_s`;
--   those without a rate are passed over
-- @tparam integer from  bytes
-- @tparam integer to    bytes, exclusive
-- @treturn ?number  seconds; nil when no zone has a rate
-- @usage summary.full_read_s = curve.read_time(zones, 0, drive.size)
function M.read_time(zones, from, to)
  local xs, costs = {}, {}
  for _, zone in ipairs(zones) do
    local rate = zone.bandwidth_bytes_per_s
    if rate and rate > 0 and rate < math.huge then
      xs[#xs + 1], costs[#costs + 1] = zone.offset_bytes + zone.length_bytes / 2, 1 / rate
    end
  end
  if #xs == 0 or to <= from then return nil end
  local function cost_at(x) -- seconds a byte at x
    if x <= xs[1] then return costs[1] end
    for i = 2, #xs do
      if x <= xs[i] then
        return costs[i - 1] + (costs[i] - costs[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1])
      end
    end
    return costs[#costs]
  end
  -- The time of a stretch between two corners of the broken line is that at its mean.
  local seconds, x, cost = 0.0, from, cost_at(from)
  local function go_to(next_x, next_cost)
    seconds = seconds + (next_x - x) * (cost + next_cost) / 2
    x, cost = next_x, next_cost
  end
  for i, corner in ipairs(xs) do
    if corner > from and corner < to then go_to(corner, costs[i]) end
  end
  go_to(to, cost_at(to))
  return seconds
end

return M
