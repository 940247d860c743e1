--- How long a turn of the platter takes, where the drive does not say.
--
-- A disk that reads backwards, each block right before the last one, has to wait for a whole turn
-- each time: completions come a whole number of turns apart. Some are seen late, on a busy machine
-- most of them, but never early; the turn is that period at which most of them agree.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.turn
local statistics = require "hdd.statistics"

local M = {}

local READS <const> = 48
local SLOWEST_NS <const>, FASTEST_NS <const> = 20000000, 3000000 -- 3000 and 20000 rpm
local FINE <const> = 0.0006 -- from one period that is tried to the next

-- Where in the turn completions come, in so many parts; what lies in two of them agrees.
local PARTS <const> = 48

-- So many of all must agree, and of periods that are as good as the best the longest counts: halves
-- and thirds of the turn are periods, too.
local AGREE <const>, AS_GOOD <const> = 0.3, 0.85

-- Speeds that were sold; what is as near to one is that one.
local NOMINAL_RPM <const>, NEAR <const> = { 3600, 4200, 5400, 5900, 7200, 10000, 15000 }, 0.01

-- The most completions that agree at a period.
local function agreeing(times, period)
  local parts, first, scale, most = {}, times[1], PARTS / period, 0
  for i = 1, #times do
    local part = (times[i] - first) % period * scale // 1
    parts[part] = (parts[part] or 0) + 1
  end
  for part, count in pairs(parts) do
    local both = count + (parts[(part + 1) % PARTS] or 0)
    if both > most then most = both end
  end
  return most
end

local function nominal(turn)
  for _, rpm in ipairs(NOMINAL_RPM) do
    if math.abs(turn * rpm / 60e9 - 1) < NEAR then return 60e9 / rpm end
  end
  return turn
end

--- The turn from the times at which such reads were done, as it was measured.
-- @tparam {number,...} times  ns, ascending
-- @treturn ?number  ns, within a thousandth; nil when there is no period that would be a disk's
-- @usage turn.period({ 0, 6001000, 12002000, 24004000, ... })
function M.period(times)
  if #times < READS / 2 then return nil end
  local gaps = {}
  for i = 2, #times do gaps[#gaps + 1] = times[i] - times[i - 1] end
  local typical = math.max(statistics.median(gaps), statistics.mean(gaps))
  local scores, best = {}, 0
  local period, longest = FASTEST_NS, math.min(SLOWEST_NS, typical * 1.5)
  while period <= longest do
    local score = agreeing(times, period)
    scores[#scores + 1] = { period = period, score = score }
    best = math.max(best, score)
    period = period * (1 + FINE)
  end
  if best < AGREE * #times then return nil end
  for i = #scores, 1, -1 do
    if scores[i].score >= AS_GOOD * best then
      -- The middle of the periods that are as good.
      local k = i
      while k > 1 and scores[k - 1].score >= AS_GOOD * best do k = k - 1 end
      return (scores[i].period + scores[k].period) / 2
    end
  end
end

--- The same, of a speed that was sold when it is near to one.
-- @tparam {number,...} times  ns, ascending
-- @treturn ?number  ns
-- @usage turn.from({ 0, 6001000, 12002000, 24004000, ... })
function M.from(times)
  local period = M.period(times)
  return period and nominal(period)
end

-- The turn as seen at one place; nil, too, when the drive has the place in its buffer.
local function measure_at(probe, place, block)
  local reads, times = {}, {}
  for i = 1, READS do reads[i] = { place - i * block, block } end
  for _, answer in ipairs(probe:sequence(reads, "measuring the rotation", true)) do
    if answer.ns then times[#times + 1] = answer.begun_ns + answer.ns end
  end
  return M.from(times)
end

--- Measures the turn of a drive with 48 reads at a place, at as many places as it takes for two to
-- agree, three at most.
-- @tparam Probe probe
-- @tparam integer from   first byte of where it may read
-- @tparam integer to     its end
-- @tparam integer block  logical block size, bytes
-- @treturn ?number  ns; nil: no turning was found
function M.measure(probe, from, to, block)
  local length, found = to - from, {}
  if length < 8 * READS * block then return nil end
  for _, share in ipairs { 0.5, 0.3, 0.7 } do
    local place = from + math.floor(length * share) // block * block
    local turn = measure_at(probe, place, block)
    for _, other in ipairs(found) do
      if turn and math.abs(turn / other - 1) < NEAR then return turn end
    end
    found[#found + 1] = turn
  end
  return nil
end

return M
