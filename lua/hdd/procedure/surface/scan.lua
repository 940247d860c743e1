--- Reads everything once: large reads, as many in flight as the drive needs, as a job. Where a read
-- fails the job ends, and the scan goes on behind, ever farther away while it meets nothing but
-- failures; what was skipped is read when the rest is done.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.scan

local M = {}
local Scan = {}
Scan.__index = Scan

local SKIP_MOST <const> = 64 << 20
local LOST_AFTER <const> = 16 -- failures in a row, until a place that was good is read again

--- Begins.
-- @tparam table surface  the state of the procedure: `m`, `p`, `cover`, `grader`, `probe`, `save`
-- @treturn Scan
function M.new(surface)
  return setmetatable({
    s = surface, total = surface.cover:bytes("?*/-+"), good = nil, streak = 0, first_failed = nil,
    begun_s = surface.m:time_s(), begun_bytes = surface.cover:bytes("*/-+"),
  }, Scan)
end

-- What the observer is told while the job from `offset` on runs.
local function state_of(self, stage)
  local s = self.s
  local done = s.cover:bytes("*/-+")
  return function(progress)
    local here = done + progress.bytes
    local spent = s.m:time_s() - self.begun_s
    local rate = spent > 0 and (here - self.begun_bytes) / spent or 0
    return {
      stage = stage, share = here / self.total, position_bytes = progress.position_bytes,
      left_s = rate > 0 and (self.total - here) / rate or nil,
      bandwidth_bytes_per_s = progress.elapsed_s > 0 and progress.bytes / progress.elapsed_s or nil,
    }
  end
end

-- Takes completions of the job; what was read in one go is noted in one go.
local function taker(self, from, to)
  local s, block = self.s, self.s.p.block_size
  local run = { from = from, to = from }
  local taken = { reached = from, bytes = 0 }
  function taken.flush()
    if run.to > run.from then s.cover:set(run.from, run.to, "+") end
    run.from = run.to
  end
  local function one(offset, length, done_ns, ns, code)
    s.grader:add(offset, length, done_ns - ns, done_ns, code)
    taken.reached = math.max(taken.reached, offset + length)
    if code ~= 0 then
      s.note_failed(offset, length)
      self.streak, self.first_failed = self.streak + 1, self.first_failed or offset
      taken.failed = true
      return
    end
    self.good, self.streak, self.first_failed = offset, 0, nil
    taken.bytes = taken.bytes + length
    if offset ~= run.to then
      taken.flush()
      run.from = offset
    end
    run.to = offset + length
  end
  function taken.take(batch)
    for i = 1, batch.n do
      local offset = batch.offset_bytes[i]
      one(offset, math.min(block, to - offset), batch.time_ns[i], batch.latency_ns[i], batch.code[i])
    end
    taken.flush()
    s.save()
  end
  return taken
end

-- A drive that is gone fails every read, and some do so with the error of a bad block: then what was
-- good fails, too.
local function is_lost(self)
  local s = self.s
  if self.streak < LOST_AFTER then return false end
  self.streak = 0
  if not self.good then return false end
  local answer = s.probe:read(self.good, s.drive.logical_block_size, "is the drive still there?")
  if not answer or answer.ns then return false end
  s.cover:set(self.first_failed, s.cover.list[#s.cover.list].to, "?")
  s.m:fail(string.format("device lost at offset %d", self.first_failed))
  return true
end

-- Reads [from, to) until it is done or a read fails. Returns where it came to and how much was read.
local function stretch(self, from, to, stage)
  local s, p = self.s, self.s.p
  local taken = taker(self, from, to)
  local result, message, code = s.m:run({
    pattern = "sequential", offset = from, length = to - from, block_size = p.block_size,
    depth = p.depth, max_errors = 1, records = taken.take, intervals = 2, histogram = s.histogram,
  }, state_of(self, stage))
  if not result then return nil, message, code end
  taken.flush()
  s.grader:finish()
  for _, failure in ipairs(result.failures) do
    local failed = s.failed[failure.offset_bytes]
    if failed then failed.error = failure.error end
  end
  s.busy_s, s.busy_bytes = s.busy_s + result.elapsed_s, s.busy_bytes + result.bytes
  if result.lost_offset_bytes then
    -- Its last failures were no bad blocks; the job has taken them back from its count.
    s.cover:set(result.lost_offset_bytes, to, "?")
  end
  return taken.reached, taken.bytes, taken.failed
end

-- One range, to its end. With `skip` a failure makes it leave out what follows.
local function range(self, from, to, skip, stage)
  local s, gap, block = self.s, 0, self.s.p.block_size
  while from < to do
    local reached, bytes, failed = stretch(self, from, to, stage)
    if not reached then return nil, bytes, failed end
    if s.m.over or is_lost(self) then return true end
    from = reached
    if failed and skip then
      gap = bytes > gap and block or math.min(math.max(block, 2 * gap), SKIP_MOST)
      from = math.min(to, from + gap)
    end
  end
  return true
end

--- Reads all that has not been tried: first with skipping, then what was left out.
-- @treturn boolean  true, also when the measurement is over
-- @return or nil, message, code when a job could not be started
function Scan:run()
  local s = self.s
  for pass, stage in ipairs { "reading", "reading what was skipped" } do
    for _, part in ipairs(s.cover:ranges("?")) do
      local done, message, code = range(self, part.from, part.to, pass == 1, stage)
      if not done then return nil, message, code end
      if s.m.over then return true end
    end
  end
  return true
end


return M
