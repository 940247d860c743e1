--- How fast the platters turn, measured.
--
-- Reads that go backwards block by block each wait for a whole turn, less the block (see
-- hdd.procedure.surface.turn). Over a hundred of them the turn is known to some millionths, as long as
-- most completions are seen in time: the slope is the median of those of all pairs (Theil and Sen), and
-- of several places the median counts, as a place may lie where one track ends and the next begins.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.seekprofile.spin
local statistics = require "hdd.statistics"
local turn = require "hdd.procedure.surface.turn"

local M = {}

-- So many reads at a place, and the places, as shares of the range.
local READS <const> = 128
local PLACES <const> = { 0.5, 0.3, 0.7, 0.1, 0.9 }

-- The first reads: they tell the turn to a thousandth, which is enough to count the turns of all.
local FIRST <const> = 48

-- Two places agree when they differ by no more than this share.
local NEAR <const> = 0.003

-- The median slope through (turn number, time), when the turn is nearly known.
local function slope(times, count, period)
  local numbers, slopes = {}, {}
  for i = 1, count do numbers[i] = math.floor((times[i] - times[1]) / period + 0.5) end
  for i = 1, count do
    for j = i + 1, count do
      local turns = numbers[j] - numbers[i]
      if turns > 0 then slopes[#slopes + 1] = (times[j] - times[i]) / turns end
    end
  end
  return statistics.median(slopes)
end

--- The turn from the times of reads that went backwards.
-- @tparam {number,...} times  ns, of their completions
-- @tparam number block_ns     how long a block takes to pass
-- @treturn ?number  ns; nil when there is no turn to be seen
-- @usage spin.turn(times, 512 / rate * 1e9)
function M.turn(times, block_ns)
  -- Each place is a block earlier in the turn than the one before.
  local same = {}
  for i, time in ipairs(times) do same[i] = time + (i - 1) * block_ns end
  local coarse = turn.period(table.move(same, 1, math.min(FIRST, #same), 1, {}))
  if not coarse then return nil end
  local fine = slope(same, math.min(FIRST, #same), coarse)
  if not fine or math.abs(fine / coarse - 1) > NEAR then return nil end
  return slope(same, #same, fine)
end

--- What several places say together.
-- @tparam {number,...} turns  ns
-- @treturn ?table  `turn_ns` (the median of those that agree), `places` (how many do), `spread` (the
--   largest difference among them, as a share); nil unless two agree
function M.agreed(turns)
  local best
  for _, one in ipairs(turns) do
    local near = {}
    for _, other in ipairs(turns) do
      if math.abs(other / one - 1) <= NEAR then near[#near + 1] = other end
    end
    if not best or #near > #best then best = near end
  end
  if not best or #best < 2 then return nil end
  table.sort(best)
  return {
    turn_ns = statistics.median(best), places = #best, spread = best[#best] / best[1] - 1,
  }
end

-- A time for each read, in order; a failed one has none and ends the row there.
local function times_at(run, place, block)
  local offsets, times = {}, {}
  for i = 1, READS do offsets[i] = place - i * block end
  local reads, message, code = run(offsets)
  if not reads then return nil, message, code end
  for i, read in ipairs(reads) do
    if read.code ~= 0 then break end
    times[i] = read.time_ns
  end
  return times
end

--- Measures the turn at up to five places.
-- @tparam function run     offsets -> reads (`time_ns`, `code`), or nil, message, code; an empty list
--   when the measurement is over
-- @tparam Stroke stroke    of the range
-- @tparam integer block    bytes: the step, a physical block
-- @treturn table  `turn_ns`, `places`, `spread`; without them when no turning was found
-- @return or nil, message, code
function M.measure(run, stroke, block)
  local span, turns = stroke.to - stroke.from, {}
  if span < 8 * READS * block then return {} end
  for i, share in ipairs(PLACES) do
    local place = stroke.from + math.floor(span * share) // block * block
    local times, message, code = times_at(run, place, block)
    if not times then return nil, message, code end
    turns[#turns + 1] = M.turn(times, block / stroke:rate(place) * 1e9)
    if i == 2 and #turns == 0 then return {} end
  end
  return M.agreed(turns) or {}
end

return M
