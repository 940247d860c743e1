--- From large reads that failed to the very blocks that cannot be read, with a bounded number of
-- reads for each MiB, and a later try for each: sectors that then can be read are `recovered`.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.unreadable
local narrow = require "hdd.procedure.surface.narrow"

local M = {}

local MIB <const> = 1 << 20
local ONE_BY_ONE <const> = 8 -- blocks of a run that are tried each by itself, in the last try

-- The measurement is over in the middle of a search.
local OVER <const> = {}

-- A range without any unreadable block, but in which reads have failed: what is known best is the
-- smallest of them.
local function note_recovered(s, failed, runs)
  local function holds(range, list)
    for _, one in ipairs(list) do
      if one ~= range and one.from >= range.from and one.to <= range.to
        and (one.to - one.from < range.to - range.from) then
        return true
      end
    end
  end
  for i, range in ipairs(failed) do
    local tries, again = 0, false
    for k, other in ipairs(failed) do
      if other.from <= range.from and other.to >= range.to then tries = tries + 1 end
      again = again or k < i and other.from == range.from and other.to == range.to
    end
    local touches = false
    for _, run in ipairs(runs) do
      touches = touches or run.from < range.to and run.to > range.from
    end
    if not touches and not again and not holds(range, failed) then
      s.recovered[#s.recovered + 1] = {
        from = range.from, to = range.to, error = range.error, tries = tries,
      }
    end
  end
end

-- Reads that may still be made in the MiB of a place: what was read of it before, and the later tries,
-- are taken off.
local function budget(s, offset)
  return s.p.narrow_reads - 1 - s.p.retries - s.probe:reads_near(offset)
end

-- A range of a MiB at most, that is known to hold a bad block unless `known` is false.
local function search(s, from, to, known)
  local failed = {}
  local function fails(a, b)
    local answer = s.probe:read(a, b - a, "narrowing down what could not be read")
    if not answer then error(OVER, 0) end
    if answer.ns then
      s.cover:set(a, b, "+")
      return false
    end
    failed[#failed + 1] = { from = a, to = b, error = answer.error }
    return true
  end
  if known then
    failed[1] = { from = from, to = to, error = known.error }
  elseif not fails(from, to) then
    return
  end
  local runs, _, rest = narrow.find(from, to, s.drive.logical_block_size, budget(s, from), fails)
  -- What neither was read nor was found bad behaves now so, now so: it is listed as it is.
  for _, run in ipairs(runs) do s.cover:set(run.from, run.to, "-") end
  for _, part in ipairs(s.cover:ranges("*/?", from, to)) do
    s.cover:set(part.from, part.to, "-")
    runs[#runs + 1] = { from = part.from, to = part.to, exact = false }
  end
  if rest then s.spent = s.spent + 1 end
  note_recovered(s, failed, runs)
  for _, run in ipairs(runs) do
    for i = #failed, 1, -1 do
      if failed[i].from <= run.from and failed[i].to >= run.to then
        run.error = run.error or failed[i].error
      end
    end
    s.unreadable[#s.unreadable + 1] = run
  end
  table.sort(s.unreadable, function(a, b) return a.from < b.from end)
end

--- Narrows down all that failed in the scan.
-- @tparam table s  the state of the procedure
-- @treturn boolean  true, also when the measurement is over
function M.narrow(s)
  local pieces = {}
  for _, part in ipairs(s.cover:ranges("*/")) do
    local from = part.from
    while from < part.to do
      local known = s.failed[from]
      local to = math.min(part.to, from + (known and known.length or s.p.block_size))
      if not known or to - from > MIB then to, known = math.min(to, from + MIB), nil end
      pieces[#pieces + 1] = { from = from, to = to, known = known }
      from = to
    end
  end
  for i, piece in ipairs(pieces) do
    s.tell("narrowing down what could not be read", (i - 1) / #pieces, piece.from)
    local ok, failure = pcall(search, s, piece.from, piece.to, piece.known)
    if not ok and failure ~= OVER then error(failure, 0) end
    if s.m.over then return true end
    s.save()
  end
  return true
end

-- Tries a run once more; returns the parts that can't be read still.
local function try_again(s, run, last)
  local block, stage = s.drive.logical_block_size, "later tries of unreadable sectors"
  local function reads(a, b)
    local answer = s.probe:read(a, b - a, stage)
    if not answer or not answer.ns then return false end
    s.cover:set(a, b, "+")
    s.recovered[#s.recovered + 1] = { from = a, to = b, error = run.error, tries = run.tries }
    return true
  end
  run.tries = (run.tries or 1) + 1
  if not run.exact and run.to - run.from > MIB then return { run } end
  if reads(run.from, run.to) then return {} end
  local count = (run.to - run.from) // block
  if not last or count == 1 or count > ONE_BY_ONE or not run.exact
    or s.p.narrow_reads - s.probe:reads_near(run.from) < count then
    return { run }
  end
  local left = {}
  for from = run.from, run.to - block, block do
    if s.m.over or not reads(from, from + block) then
      local before = left[#left]
      if before and before.to == from then
        before.to = from + block
      else
        left[#left + 1] = {
          from = from, to = from + block, exact = true, error = run.error, tries = run.tries,
        }
      end
    end
  end
  return left
end

--- Tries each unreadable run again, as often as the parameters say. A run that was too long for its
-- budget of reads is not worn any further.
-- @tparam table s
-- @treturn boolean  true
function M.retry(s)
  for try = 1, s.p.retries do
    local left = {}
    for i, run in ipairs(s.unreadable) do
      s.tell("later tries of unreadable sectors", (i - 1) / #s.unreadable, run.from)
      local spent = s.probe:reads_near(run.from) >= s.p.narrow_reads
      local still = (s.m.over or spent) and { run } or try_again(s, run, try == s.p.retries)
      table.move(still, 1, #still, #left + 1, left)
    end
    s.unreadable = left
    if s.m.over then return true end
  end
  return true
end

return M
