--- Grades the blocks of a scan by what each took the drive. Pure: completions in, counts out.
--
-- With several reads in flight the latency of one contains that of those before it. So a block's own
-- time is from its submission, or from the last completion of a block before it if that came later,
-- to its completion: on a drive that serves one read after the other that is the time between two
-- completions, on one that serves many at once the latency.
--
-- On a drive that turns, a block also is held against the median around it: what retries cost is
-- whole turns that the reads behind it never make up for. A completion that this program merely was
-- late to see is made up for by the next ones, and does not count.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.grade
local M = {}
local Grader = {}
Grader.__index = Grader

--- Upper ends of the classes, ns: those of MHDD and whdd. What takes longer than the last is in one
-- more class.
M.CLASSES_NS = { 3000000, 10000000, 50000000, 150000000, 500000000 }

--- Blocks that cost as many extra turns, or more, are counted together.
M.MOST_TURNS = 8

-- Completions that are graded together, and those before and behind one that tell when the drive was
-- done with it.
local WINDOW <const>, BACK <const>, AHEAD <const> = 64, 3, 2

-- The blocks whose mean time counts as one, which hides some of how late this program was to see one
-- or the other; how many such means around a block, on either side, its median is taken from, and how
-- many there must be. A zone of another speed is a step in them.
local MEAN <const>, AROUND <const>, ENOUGH <const> = 3, 16, 12

-- From so many extra turns on a block is suspected. More than a turn below the limit of 2: on a busy
-- machine all completions before it may have been seen late, and it in time.
local SUSPECT_TURNS <const> = 0.75

-- Suspects that are kept: when there are more the worst half stays.
local SUSPECTS <const> = 4096

--- Begins.
-- @tparam table options  `block_size` (bytes), `depth` (reads in flight), `turn_ns` (of a drive that
--   turns), `slow_ns` (from this own time on a block is suspected, on a drive that does not turn),
--   `map` (list of cells with `from`, `to`, ascending: they get `blocks`, `bytes`, `busy_ns`,
--   `most_ns`, `failed`)
-- @treturn Grader  `classes` and `turns` (counts), `suspects` (list of `offset`, `length`, `own_ns`,
--   `extra_ns`, `pace` in ns a byte), `unlisted` (suspects that there was no room for)
function M.new(options)
  local self = setmetatable({
    block_size = options.block_size, depth = options.depth, turn_ns = options.turn_ns, slow_ns = options.slow_ns,
    map = options.map, cell = 1, classes = {}, turns = {}, suspects = {}, unlisted = 0,
    queue = {}, done = 0, recent = {}, recent_at = 0,
  }, Grader)
  for i = 1, #M.CLASSES_NS + 1 do self.classes[i] = 0 end
  for i = 0, M.MOST_TURNS do self.turns[i] = 0 end
  return self
end

--- The class of an own time.
-- @tparam integer ns
-- @treturn integer  index into `classes`
function M.class_of(ns)
  for i, limit in ipairs(M.CLASSES_NS) do
    if ns < limit then return i end
  end
  return #M.CLASSES_NS + 1
end

local function turns_of(self, extra_ns)
  if not self.turn_ns or extra_ns <= 0 then return 0 end
  return math.min(M.MOST_TURNS, math.floor(extra_ns / self.turn_ns + 0.25))
end

-- The latest completion before number i of a block that lies before it.
local function before(queue, i)
  local offset = queue[i].offset
  for k = i - 1, math.max(1, i - 64), -1 do
    if queue[k].offset < offset then return queue[k].done_ns end
  end
end

-- Notes the mean time of the last blocks, if they are whole ones that were read.
local function remember(self, i)
  local queue = self.queue
  if i <= MEAN then return end
  for k = i - MEAN, i do
    if queue[k].code ~= 0 or queue[k].length ~= self.block_size then return end
  end
  queue[i].mean_ns = (queue[i].done_ns - queue[i - MEAN].done_ns) / MEAN
  self.recent_at = self.recent_at % (2 * AROUND) + 1
  self.recent[self.recent_at] = queue[i].mean_ns
end

-- Slow blocks and late looks make a mean longer only: a little below the middle is nearer.
local function middle_of(means)
  table.sort(means)
  return means[math.max(1, #means * 2 // 5)]
end

-- The median time of a whole block around number i, or of the last that were read where there are too
-- few; nil while there are none.
local function typical(self, i)
  local queue, means = self.queue, {}
  for k = math.max(1, i - AROUND), math.min(#queue, i + AROUND) do
    means[#means + 1] = queue[k].mean_ns
  end
  if #means < ENOUGH then means = table.move(self.recent, 1, #self.recent, 1, {}) end
  if #means >= ENOUGH then self.typical_ns = middle_of(means) end
  return self.typical_ns
end

-- The time from when the drive was done with what came before completion i to when it was done with
-- it, ns: the earliest that those around it speak for. What is before a suspect does not count, but
-- for the one right before it.
local function shift(queue, i, typical_ns)
  local entry, last = queue[i], queue[i - 1]
  local from = last and last.done_ns or entry.submitted_ns
  for k = 1, BACK do
    local earlier = queue[i - 1 - k]
    if not earlier or k > 1 and (queue[i - k].suspect or queue[i - 1].suspect) then break end
    from = math.min(from, earlier.done_ns + k * typical_ns)
  end
  local to = entry.done_ns
  for k = 1, AHEAD do
    if queue[i + k] then to = math.min(to, queue[i + k].done_ns - k * typical_ns) end
  end
  return to - from
end

-- How much longer than all that was in flight would take a block was under way, if blocks behind it
-- came first; 0 for others.
local function put_off(self, i, typical_ns)
  local queue, entry = self.queue, self.queue[i]
  for k = i - 1, math.max(1, i - self.depth), -1 do
    if queue[k].offset > entry.offset then
      return entry.done_ns - entry.submitted_ns - self.depth * typical_ns
    end
  end
  return 0
end

local function suspect(self, entry, extra_ns, typical_ns)
  local list = self.suspects
  if #list >= SUSPECTS then
    table.sort(list, function(a, b) return a.extra_ns > b.extra_ns end)
    for i = #list, SUSPECTS // 2 + 1, -1 do list[i] = nil end
    self.unlisted = self.unlisted + SUSPECTS // 2
  end
  list[#list + 1] = {
    offset = entry.offset, length = entry.length, own_ns = entry.own_ns, extra_ns = extra_ns,
    pace = typical_ns and typical_ns / self.block_size or 0.0,
  }
end

-- The cell of the map that an offset lies in.
local function cell_of(self, offset)
  local map, i = self.map, self.cell
  if offset < map[i].from then i = 1 end
  while map[i + 1] and offset >= map[i].to do i = i + 1 end
  self.cell = i
  return map[i]
end

local function chart(self, entry, typical_ns)
  local cell = cell_of(self, entry.offset)
  cell.typical_ns = typical_ns or cell.typical_ns
  cell.blocks = (cell.blocks or 0) + 1
  if entry.code ~= 0 then
    cell.failed = (cell.failed or 0) + 1
    return
  end
  cell.bytes = (cell.bytes or 0) + entry.length
  cell.busy_ns = (cell.busy_ns or 0) + entry.own_ns
  cell.most_ns = math.max(cell.most_ns or 0, entry.own_ns)
end

-- The time beyond what a block of its length takes here.
local function extra_of(self, i, typical_ns)
  local queue, entry = self.queue, self.queue[i]
  if not typical_ns then return entry.own_ns end
  local due_ns = typical_ns * entry.length / self.block_size
  if not self.turn_ns then return entry.own_ns - due_ns end
  return math.max(shift(queue, i, typical_ns) - due_ns, put_off(self, i, typical_ns))
end

local function grade(self, i, typical_ns)
  local entry = self.queue[i]
  if self.map then chart(self, entry, typical_ns) end
  if entry.code ~= 0 then return end
  local extra_ns = extra_of(self, i, typical_ns)
  local class, turns = M.class_of(entry.own_ns), turns_of(self, extra_ns)
  self.classes[class] = self.classes[class] + 1
  self.turns[turns] = self.turns[turns] + 1
  local limit_ns = self.turn_ns and SUSPECT_TURNS * self.turn_ns or self.slow_ns
  if (self.turn_ns and extra_ns or entry.own_ns) >= limit_ns then
    entry.suspect = true
    suspect(self, entry, math.max(0, extra_ns), typical_ns)
  end
end

-- Grades what has been waiting but for `keep` completions, which are to be looked at by then.
local function grade_waiting(self, keep)
  local queue = self.queue
  for i = self.done + 1, #queue do
    local entry = queue[i]
    if not entry.own_ns then
      entry.own_ns = entry.done_ns - math.max(entry.submitted_ns, before(queue, i) or 0)
      remember(self, i)
    end
  end
  local last = #queue - keep
  for i = self.done + 1, last do grade(self, i, typical(self, i)) end
  self.done = math.max(self.done, last)
  -- Some stay, to be looked back at.
  local drop = self.done - WINDOW
  if drop > 0 then
    table.move(queue, drop + 1, #queue + drop, 1)
    self.done = self.done - drop
  end
end

--- Takes a completion, in the order in which they came.
-- @tparam integer offset        bytes
-- @tparam integer length        bytes
-- @tparam integer submitted_ns
-- @tparam integer done_ns       on the same clock, never before the last one's
-- @tparam integer code          errno value; 0: it was read
function Grader:add(offset, length, submitted_ns, done_ns, code)
  local queue = self.queue
  queue[#queue + 1] = {
    offset = offset, length = length, submitted_ns = submitted_ns, done_ns = done_ns, code = code,
  }
  if #queue - self.done >= WINDOW + AHEAD then grade_waiting(self, AHEAD) end
end

--- Ends a stretch of reads that followed one another: what comes next begins anew.
function Grader:finish()
  grade_waiting(self, 0)
  self.queue, self.done = {}, 0
end

--- What a byte takes around a place, ns: the median where it was scanned.
-- @tparam integer offset
-- @treturn number  0 when nothing is known
function Grader:pace_at(offset)
  local typical_ns, nearest = self.typical_ns, math.huge
  for _, cell in ipairs(self.map or {}) do
    local distance = math.abs(cell.from - offset)
    if cell.typical_ns and distance < nearest then
      typical_ns, nearest = cell.typical_ns, distance
    end
  end
  return typical_ns and typical_ns / self.block_size or 0.0
end

--- A suspect that re-reads have cleared, or that took less then: its block is graded anew.
-- @tparam table entry       of `suspects`
-- @tparam integer own_ns    what it takes
-- @tparam integer extra_ns  of that beyond the median
function Grader:regrade(entry, own_ns, extra_ns)
  local function move(counts, from, to)
    if from ~= to and counts[from] > 0 then
      counts[from], counts[to] = counts[from] - 1, counts[to] + 1
    end
  end
  move(self.classes, M.class_of(entry.own_ns), M.class_of(own_ns))
  move(self.turns, turns_of(self, entry.extra_ns), turns_of(self, extra_ns))
end

return M
