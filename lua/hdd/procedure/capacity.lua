--- Is a drive as large as it says? Stamps are written at each power of two, at parts of the size and at
-- the very end, and read back after the drive's cache has been filled with other data: a drive that lies
-- answers with another place's stamp, or with none. What lay there is read before and written back after,
-- however it ends. docs/long-runs.md says more.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.capacity
-- @usage local drive <close> = assert(hdd.open("/dev/sdb", { write = { serial = "WD-WXL0E12345" } }))
-- print(assert(capacity.run(drive)).sentence)
local core = require "hdd.core"
local judge = require "hdd.procedure.capacity.judge"
local parameters = require "hdd.procedure.parameters"
local task = require "hdd.task"

local M = {}

local EBADF <const> = 9
local LEAST_BLOCK <const>, MOST_BLOCK <const> = 4096, 1 << 20
local EVICT <const> = 256 << 20
local FAILURES <const> = 64

local function plan(drive, given)
  local reader = parameters.reader(given, drive, { "block_size", "evict", "seed" })
  local block = reader:bytes("block_size", math.max(drive.physical_block_size or 0, LEAST_BLOCK), 1)
  if block > MOST_BLOCK then reader:refuse("block_size", block, "must be at most 1048576 bytes") end
  if drive.size < 2 * block then reader:refuse("block_size", block, "the drive has not even two") end
  reader:integer("evict", EVICT, 0, 1 << 40)
  reader:integer("seed", math.random(1, math.maxinteger), math.mininteger, math.maxinteger)
  return reader:finish()
end

-- Saves what lies at the places; those that can't be read are left alone.
local function save(self, places)
  local queue <close>, message, code = self.drive:queue { block_size = self.p.block_size, slowest = 0 }
  if not queue then return nil, message, code end
  queue:each(function(slot)
    for i, place in ipairs(places) do
      if not self.saved[place] then
        local ns, data, number = slot:read(place, self.p.block_size, true)
        if ns then
          self.saved[place] = data
          table.insert(self.order, place)
        else
          self.result.failures[#self.result.failures + 1] = {
            offset_bytes = place, length_bytes = self.p.block_size, error = data, code = number,
          }
        end
      end
      if self.report then self.report("saving what lies there", i / #places) end
    end
  end)
  return true
end

-- Writes back what was saved: where two places are one, the same was saved of both. This is no job: it
-- is done after Ctrl-C, too.
local function put_back(self)
  for _, place in ipairs(self.order) do
    local done, message, code = core.put(self.drive.device, place, self.saved[place])
    if done then
      self.result.restored = self.result.restored + 1
    else
      table.insert(self.result.not_restored, {
        offset_bytes = place, length_bytes = self.p.block_size, error = message, code = code,
      })
    end
  end
  self.order = {}
end

local function run_list(self, operation, places)
  return self.drive:run {
    operation = operation, pattern = places, block_size = self.p.block_size,
    stamp = { seed = self.seed, pass = self.pass }, max_failures = math.max(#places, 1), slowest = 0,
  }
end

-- Fills the drive's cache with something else, so that what is read comes from the medium.
local function evict(self)
  local length = math.min(self.p.evict, self.drive.size) // (1 << 20) << 20
  if length == 0 then return true end
  local result, message, code = self.drive:run {
    block_size = 1 << 20, depth = 4, offset = self.evict_at, length = length, slowest = 0,
  }
  -- Half-way on next time: not what is still cached from this time.
  self.evict_at = self.drive.size - length - self.evict_at
  self.evict_at = math.max(0, self.evict_at) // self.drive.logical_block_size
    * self.drive.logical_block_size
  if not result then return nil, message, code end
  return true
end

-- Stamps places, and says what does not hold them: by offset, see judge.answers.
local function try(self, places)
  self.pass = self.pass + 1
  local written, message, code = run_list(self, "write", places)
  if not written then return nil, message, code end
  local bad = {}
  for _, failure in ipairs(written.failures) do
    bad[failure.offset_bytes] = { kind = "not written", error = failure.error }
  end
  task.check()
  local done
  done, message, code = evict(self)
  if not done then return nil, message, code end
  task.check()
  local checked
  checked, message, code = run_list(self, "verify", places)
  if not checked then return nil, message, code end
  for _, failure in ipairs(checked.failures) do
    bad[failure.offset_bytes] = bad[failure.offset_bytes]
      or { kind = "unreadable", error = failure.error }
  end
  for _, mismatch in ipairs(checked.mismatches) do
    local found = mismatch.found or {}
    local is_ours = found.seed == self.seed and found.pass == self.pass
    -- A run begins where it says; neighbours that differ alike make one run.
    for offset = mismatch.offset_bytes, mismatch.offset_bytes + mismatch.length_bytes - 1,
      self.p.block_size do
      local place = offset // self.p.block_size * self.p.block_size
      bad[place] = bad[place] or {
        kind = mismatch.kind, found_bytes = is_ours and found.offset_bytes
          and found.offset_bytes + offset - mismatch.offset_bytes or nil,
      }
    end
  end
  task.check()
  return bad
end

-- Finds where what is written begins to be lost, between a place that holds and one that does not.
local function search(self, good, bad)
  local block = self.p.block_size
  local steps, done = math.max(1, math.ceil(math.log((bad - good) / block, 2))), 0
  while bad - good > block do
    local middle = good + (bad - good) // block // 2 * block
    local saved, message, code = save(self, { middle })
    if not saved then return nil, message, code end
    if self.report then self.report("looking for its true end", done / steps) end
    local faults = { [middle] = true } -- what could not be read is not written to
    if self.saved[middle] then faults, message, code = try(self, { middle }) end
    if not faults then return nil, message, code end
    if faults[middle] then bad = middle else good = middle end
    done = done + 1
  end
  return bad
end

local function list_mismatches(result, places, bad)
  for _, place in ipairs(places) do
    if bad[place] and #result.mismatches < FAILURES then
      result.mismatches[#result.mismatches + 1] = {
        offset_bytes = place, kind = bad[place].kind, found_offset_bytes = bad[place].found_bytes,
        error = bad[place].error,
      }
    end
  end
end

-- The measuring part; what it has written is put back by its caller.
local function measure(self)
  local result, size = self.result, self.drive.size
  local done, message, code = save(self, judge.places(size, self.p.block_size))
  if not done then return nil, message, code end
  local places = table.move(self.order, 1, #self.order, 1, {})
  result.places = #places
  if #places == 0 then
    result.verdict, result.sentence = "unknown", "nothing could be read: nothing was written"
    return true
  end
  if self.report then self.report("stamping", 0) end
  local bad
  bad, message, code = try(self, places)
  if not bad then return nil, message, code end
  list_mismatches(result, places, bad)
  local answers, edge = judge.answers(places, bad), nil
  if answers.bad_bytes and answers.good_bytes and not answers.scattered then
    edge, message, code = search(self, answers.good_bytes, answers.bad_bytes)
    if not edge then return nil, message, code end
  end
  result.verdict, result.sentence, result.true_size_bytes =
    judge.verdict(size, #places, answers, edge)
  return true
end

--- Tries whether a drive is as large as it says.
-- @tparam Drive drive  opened for writing
-- @tparam ?table given  `block_size` (of a stamp: the physical block, 4096 at least), `evict` (bytes that
--   are read in between, so that nothing comes from the drive's cache: 268435456), `seed` (of the stamps,
--   any; the time is mixed into it)
-- @tparam ?table observer  `progress` = function(state): `stage`, `share`
-- @treturn table  `verdict` = "honest", "false", "unknown" or "interrupted"; `sentence`; `size_bytes`
--   (as it says), `true_size_bytes` (of a false one); `places`, how many were stamped; `mismatches` of
--   {`offset_bytes`, `kind`, `found_offset_bytes`, `error`}; `restored`, how many were put back, and
--   `not_restored`, `failures` (could not be read, and were left alone) of {`offset_bytes`,
--   `length_bytes`, `error`, `code`}
-- @return or nil, message, code when it could not be tried (9: not opened for writing)
function M.run(drive, given, observer)
  if not drive.writable then
    return nil, drive.path .. ": the capacity can only be tried on a drive that is opened for writing "
      .. "(--write)", EBADF
  end
  local p, message, code = plan(drive, given)
  if not p then return nil, message, code end
  local result = {
    verdict = "interrupted", size_bytes = drive.size, places = 0, mismatches = {}, restored = 0,
    not_restored = {}, failures = {},
  }
  local progress = observer and observer.progress
  local self = {
    drive = drive, p = p, result = result, saved = {}, order = {}, pass = 0, evict_at = 0,
    -- What an earlier try that was killed left behind is not to be taken for this one's.
    seed = p.seed ~ core.now(),
    report = progress and function(stage, share) progress { stage = stage, share = share } end,
  }
  local ok, done, why, number = xpcall(measure, function(failure)
    return failure == core.interrupted and failure or debug.traceback(tostring(failure), 2)
  end, self)
  put_back(self)
  if not ok and done ~= core.interrupted then error(done, 0) end
  if not ok then
    result.sentence = "interrupted before anything could be said of its size"
  elseif not done then
    return nil, why, number
  end
  if #result.not_restored > 0 then
    result.sentence = string.format("%s. What lay at %d of %d places could not be written back",
      result.sentence, #result.not_restored, result.restored + #result.not_restored)
  end
  return result
end

return M
