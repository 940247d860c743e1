--- What the drive's buffer does: how fast it answers, how far it reads ahead, how many places it holds.
--
-- A block that is read twice comes from the buffer the second time: that takes the overhead of a
-- command and the way to the drive, and no turn. What is as fast is taken to be from the buffer, too.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.seekprofile.buffer
local hdd = require "hdd"
local statistics = require "hdd.statistics"

local M = {}
local Buffer = {}
Buffer.__index = Buffer

local HITS <const>, PAUSE_NS <const> = 24, 2e6 -- blocks that are read twice; when again, if nothing turns
local LEAST_AHEAD <const>, MOST_AHEAD <const> = 64 << 10, 64 << 20
local MOST_PLACES <const> = 512
local BURST <const>, LEAST_BURST <const>, BURSTS <const> = 256 << 10, 16 << 10, 24

local STAGE <const> = "looking at the buffer"

-- From the buffer is what takes no more than the hits did and this part of a turn: the first where a
-- miss waits for the turn alone, the second where it seeks, too.
local PART <const>, SEEK_PART <const> = 0.12, 0.33

--- Begins.
-- @tparam table with  `probe` (see hdd.procedure.surface.probe), `stroke`, `block` (bytes), `turn_ns` (nil:
--   nothing turns), `random` (() -> 0 to 1), `tell`
--   (called with how many reads come next; nil: 1)
-- @treturn Buffer
function M.new(with)
  return setmetatable(with, Buffer)
end

-- A place with room for some bytes behind it (and a block before it).
function Buffer:somewhere(room)
  local first = self.stroke.from + self.block
  local count = math.max(1, (self.stroke.to - first - room) // self.block)
  return first + math.floor(self.random() * count) * self.block
end

-- A timed read; nil when it failed.
function Buffer:time(offset, length)
  self.tell()
  local answer = self.probe:read(offset, length or self.block, STAGE)
  return answer and answer.ns
end

function Buffer:over()
  return self.probe.m.over
end

function Buffer:is_hit(ns, part)
  return ns and ns <= self.hit_ns + (part or PART) * self.turn_ns
end

--- Measures what a command takes when its data is in the buffer. There is a pause before each: the
-- machine dozes off while it waits for a seek, too, and is as slow to wake.
-- @treturn ?number  ns, the median; nil when nothing could be read
-- @treturn ?number  ns, the median of the reads before, that were not in the buffer
-- @treturn ?number  ns, what a tenth of the hits took at most
function Buffer:hits()
  local first, second = {}, {}
  for _ = 1, HITS do
    if self:over() then break end
    local place = self:somewhere(self.block)
    local miss = self:time(place)
    -- Without a buffer the rest of the turn has to be waited for, which is long enough to be told.
    hdd.sleep((self.turn_ns and self.turn_ns / 3 or PAUSE_NS) / 1e9)
    local hit = miss and self:time(place)
    if hit then first[#first + 1], second[#second + 1] = miss, hit end
  end
  self.hit_ns = statistics.median(second)
  return self.hit_ns, statistics.median(first), statistics.percentile(second, 10)
end

-- Does something hold in most of so many tries? A hit may be seen late, and a miss be lucky. nil when
-- it can't be told any more.
function Buffer:mostly(tries, try)
  local yes, no, most = 0, 0, tries // 2
  while yes <= most and no <= most do
    if self:over() then return nil end
    if try() then yes = yes + 1 else no = no + 1 end
  end
  return yes > most
end

-- Is what lies `ahead` bytes behind a block in the buffer when the drive has had time to read on? The
-- block itself is read again first, as a machine that has slept is slow to see its first completion.
function Buffer:reads_on(ahead)
  local place = self:somewhere(math.max(ahead, 0) + 2 * self.block)
  if not self:time(place) then return false end
  hdd.sleep((math.max(ahead, 0) / self.stroke:rate(place)) + 3e-9 * self.turn_ns)
  self.tell()
  local answers = self.probe:sequence({ { place, self.block }, { place + ahead, self.block } }, STAGE)
  return self:is_hit(answers[2] and answers[2].ns)
end

-- The largest whole number for which f holds, given that it holds for `low` and not for `high`; to
-- a part in 16.
local function last_of(low, high, f)
  while high - low > math.max(1, low // 16) do
    local middle = (low + high) // 2
    local holds = f(middle)
    if holds == nil then return nil end
    if holds then low = middle else high = middle end
  end
  return low
end

--- How far the drive reads ahead when nobody asks.
-- @treturn ?integer  bytes, within 64 KiB or a 16th: 0 when it does not; nil when it can't be told
-- @treturn ?boolean  true: further than could be looked
function Buffer:ahead()
  local span = self.stroke.to - self.stroke.from
  local most = math.min(MOST_AHEAD, span // 8) // LEAST_AHEAD
  local function holds(units)
    return self:mostly(5, function() return self:reads_on(units * LEAST_AHEAD) end)
  end
  local low, high = 0, 1
  while high <= most do
    local hit = holds(high)
    if hit == nil then return nil end
    if not hit then
      local found = last_of(low, high, holds)
      return found and found * LEAST_AHEAD
    end
    low, high = high, high * 2
  end
  return low * LEAST_AHEAD, true
end

--- Is the block before one that was read in the buffer, too?
-- @treturn ?boolean
function Buffer:behind()
  return self:mostly(5, function() return self:reads_on(-self.block) end)
end

-- Is the first of `count` places still in the buffer after the others were read?
function Buffer:keeps(count)
  return self:mostly(count <= 16 and 5 or 3, function()
    local reads = {}
    for i = 1, count do reads[i] = { self:somewhere(self.block), self.block } end
    reads[count + 1] = reads[1]
    self.tell(count)
    local answers = self.probe:sequence(reads, STAGE)
    return self:is_hit(answers[count + 1] and answers[count + 1].ns, SEEK_PART)
  end)
end

--- How many places the buffer holds data of.
-- @treturn ?integer  within a 16th; nil when it can't be told
-- @treturn ?boolean  true: more than were tried
function Buffer:places()
  local low, high = 1, 2
  while high <= MOST_PLACES do
    local kept = self:keeps(high)
    if kept == nil then return nil end
    if not kept then return last_of(low, high, function(count) return self:keeps(count) end) end
    low, high = high, high * 2
  end
  return low, true
end

--- The rate at which the buffer is emptied: what a long read takes more than a short one.
-- @treturn ?number  bytes/s; nil when it can't be told
-- @treturn ?integer  bytes of the long read
function Buffer:burst()
  local length = math.min(BURST, (self.stroke.to - self.stroke.from) // 8 // self.block * self.block)
  while length >= LEAST_BURST and length >= 2 * self.block do
    local long, short = {}, {}
    for _ = 1, BURSTS do
      if self:over() then return nil end
      local place = self:somewhere(length)
      self:time(place, length)
      long[#long + 1], short[#short + 1] = self:time(place, length), self:time(place)
    end
    local whole, part = statistics.median(long), statistics.median(short)
    if whole and part and whole > part
      and (not self.turn_ns or whole < self.hit_ns + self.turn_ns / 3) then
      return (length - self.block) / (whole - part) * 1e9, length
    end
    length = length // 2 // self.block * self.block
  end
  return nil
end

return M
