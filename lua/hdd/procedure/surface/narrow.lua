--- From a range that cannot be read, or is slow, to the blocks that are to blame, with few reads. Pure:
-- the reads are done by a function that is handed in.
--
-- A read of several blocks tells only whether any of them is bad. The first bad one is found by
-- halving, those behind it one by one, and what then is left is tried as a whole and, if bad, searched
-- again. Of a long run the end is found by halving, too, and its middle is not read.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.narrow
local M = {}

-- Bad blocks in a row that are read one by one before the end of the run is searched for.
local ONE_BY_ONE <const> = 20

-- The search ran out of reads.
local SPENT <const> = {}

local Search = {}
Search.__index = Search

local function at(self, index)
  return self.from + index * self.block
end

-- Is any block of [a, b) bad? Blocks are counted from the start of the range.
local function bad(self, a, b)
  if self.left <= 0 then error(SPENT, 0) end
  self.left = self.left - 1
  return self.test(at(self, a), at(self, b))
end

local function add(self, a, b, exact)
  self.runs[#self.runs + 1] = { from = at(self, a), to = at(self, b), exact = exact }
end

-- The first bad block of [a, b), which holds one; nil when in the end none is to be found.
local function first_of(self, a, b)
  local seen = b - a == 1 -- the block that is left was itself found bad
  while b - a > 1 do
    local middle = (a + b) // 2
    if bad(self, a, middle) then
      b, seen = middle, middle - a == 1
    else
      a, seen, self.known = middle, false, middle
    end
  end
  return (seen or bad(self, a, a + 1)) and a or nil
end

-- The run that begins at `first`: its end (exclusive), whether each of its blocks was read, and from
-- where on nothing is known (b: all is).
local function end_of(self, first, b)
  local e = first + 1
  while e < b and e - first < ONE_BY_ONE do
    if not bad(self, e, e + 1) then return e, true, e + 1 end
    e = e + 1
  end
  if e == b or not bad(self, e, b) then return e, true, b end
  -- Block e - 1 is bad, and one behind it: the last bad one of [e, b).
  local last, behind = e, b
  while behind - last > 1 do
    local middle = (last + behind) // 2
    if bad(self, middle, behind) then last = middle else behind = middle end
  end
  return last + 1, false, b
end

local function search(self, a, b)
  local tries = 0
  while a < b do
    self.known = a -- a bad block lies from here on
    local first = first_of(self, a, b)
    if not first then
      -- What failed before reads well now. Is anything left at all?
      tries = tries + 1
      if tries > 2 or not bad(self, a, b) then
        self.vanished = true
        return
      end
    else
      self.known = first
      local behind, exact, unknown = end_of(self, first, b)
      add(self, first, behind, exact)
      a, self.known = unknown, nil
      if a >= b or not bad(self, a, b) then return end
    end
  end
end

--- Finds the bad blocks of a range that is known to hold at least one.
-- @tparam integer from      first byte
-- @tparam integer to        end, exclusive; both on a block's boundary
-- @tparam integer block     bytes
-- @tparam integer reads     that may be made at most
-- @tparam function test     (from, to) -> is any block of these bytes bad?
-- @treturn {table,...}      runs of bad blocks, ascending: `from`, `to`, `exact` (false: it may hold
--   good blocks, too)
-- @treturn boolean          vanished: bad blocks that could be read after all
-- @treturn ?integer         from here to the end the range was not searched any more: no reads were
--   left
-- @usage local runs = narrow.find(offset, offset + (1 << 20), 512, 64, function(from, to)
--   return not readable(from, to)
-- end)
function M.find(from, to, block, reads, test)
  local self = setmetatable({
    from = from, block = block, left = reads, test = test, runs = {}, vanished = false,
  }, Search)
  local count = (to - from + block - 1) // block
  local ok, failure = pcall(search, self, 0, count)
  if not ok and failure ~= SPENT then error(failure, 0) end
  if ok then return self.runs, self.vanished, nil end
  local last = self.runs[#self.runs]
  local unsearched = self.known and at(self, self.known) or last and last.to or from
  add(self, (unsearched - from) // block, count, false)
  self.runs[#self.runs].to = to
  return self.runs, self.vanished, unsearched
end

return M
