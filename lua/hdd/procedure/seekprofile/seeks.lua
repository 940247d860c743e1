--- Seek time against distance: which reads show it, and what their times say. Pure.
--
-- A read at depth 1 takes the command's overhead, the seek, and the wait until its block comes round,
-- which is anything from nothing to a whole turn. Of many pairs of places that are equally far apart
-- the fastest had to wait for next to nothing and the slowest for nearly a turn (the minimum time
-- between request completions of Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI disk
-- drive parameters", SIGMETRICS 1995). The middle of the two, less half a turn and the overhead, is the
-- seek: it is off by turn / sqrt(2 (n + 1) (n + 2)), where a mean would be off by turn / sqrt(12 n).
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.seekprofile.seeks
local statistics = require "hdd.statistics"

local M = {}

-- The shortest distance in tracks: with half a track less it is still more than one, as a track is
-- longer than rate times turn by what head and cylinder switches cost.
local SHORTEST_TRACKS <const> = 1.75

-- From here on distances are evenly spread; below each is so many times the one before.
local EVEN_FROM <const>, LONGEST <const> = 0.3, 0.99

-- On fewer tracks there is no curve to be seen.
local LEAST_TRACKS <const> = 256

-- Shorter distances are gone backwards only: what lies ahead may be in the buffer already.
local AHEAD <const> = 64 << 20

-- What is slower than the fastest by more than a turn and this share of it was held up elsewhere.
local SLACK <const> = 0.02

--- Distances to be measured, shares of the stroke.
-- @tparam Stroke stroke
-- @tparam number turn_ns
-- @tparam integer count  at least 6
-- @treturn ?{number,...}  ascending; nil when the range is too small
-- @usage local shares = seeks.distances(stroke, 6e6, 24)
function M.distances(stroke, turn_ns, count)
  local tracks = stroke.full_ns / turn_ns
  if tracks < LEAST_TRACKS then return nil end
  local list, even = {}, count // 3
  local short = count - even
  local least = SHORTEST_TRACKS / tracks
  for i = 1, short do list[i] = least * (EVEN_FROM / least) ^ ((i - 1) / short) end
  for i = 0, even - 1 do
    list[#list + 1] = EVEN_FROM + (LONGEST - EVEN_FROM) * i / (even - 1)
  end
  return list
end

--- Two places a distance apart. Places that are equally many bytes apart have the same angle between
-- them all over a zone; so the distance is spread over a track, to have every wait for the turn.
-- @tparam Stroke stroke
-- @tparam number share      of the stroke, their mean distance
-- @tparam number spread     0 to 1: where in that track it is to be
-- @tparam table with        `turn_ns`, `block` (bytes; places are multiples of it from the start of the
--   range), `random` (() -> 0 to 1)
-- @treturn integer  bytes: where the arm is brought to first
-- @treturn integer  bytes: where it is sent from there
function M.pair(stroke, share, spread, with)
  local block, random = with.block, with.random
  share = share + (spread - 0.5) * with.turn_ns / stroke.full_ns
  local place = random() * (1 - share)
  local first, second = stroke:place(place), stroke:place(place + share)
  local back = second - first < AHEAD or random() < 0.5
  local function aligned(bytes)
    local n = math.floor((bytes - stroke.from) / block)
    return stroke.from + math.max(0, math.min(n, (stroke.to - stroke.from) // block - 1)) * block
  end
  first, second = aligned(first), aligned(second)
  if back then return second, first end
  return first, second
end

--- What the times of reads that are equally far from the ones before say.
-- @tparam {number,...} latencies  ns
-- @tparam ?number turn_ns         nil: not known, and then there is no seek time
-- @tparam number overhead_ns      of a command
-- @tparam[opt] number fastest_ns  the overhead at its best: on a machine that is seen to be late the
--   slowest read says nothing, and the seek is worked out from the fastest alone
-- @treturn table  `seek_us`, `uncertainty_us` (standard deviation), `latency_min_us`,
--   `latency_mean_us`, `latency_max_us`, `late` (reads that took a turn more than others)
-- @usage print(seeks.evaluate(row.latencies, 6e6, 150e3).seek_us)
function M.evaluate(latencies, turn_ns, overhead_ns, fastest_ns)
  local sorted = table.move(latencies, 1, #latencies, 1, {})
  table.sort(sorted)
  local n = #sorted
  if n == 0 then return { late = 0 } end
  local found = {
    latency_min_us = sorted[1] / 1000, latency_max_us = sorted[n] / 1000,
    latency_mean_us = statistics.mean(sorted) / 1000, late = 0,
  }
  if not turn_ns then return found end
  while n > 1 and sorted[n] - sorted[1] > turn_ns * (1 + SLACK) do n = n - 1 end
  found.late = #sorted - n
  local ns = (sorted[1] + sorted[n]) / 2 - turn_ns / 2 - overhead_ns
  found.uncertainty_us = turn_ns / 1000 / math.sqrt(2 * (n + 1) * (n + 2))
  if fastest_ns then
    -- It waited for a part in n + 1 of a turn, on average.
    ns = sorted[1] - turn_ns / (#sorted + 1) - fastest_ns
    found.uncertainty_us = turn_ns / 1000 / (#sorted + 1)
  end
  found.seek_us = math.max(0.0, ns / 1000)
  return found
end

return M
