--- Single timed reads at a quiet moment: nothing else is in flight. They are counted, for the budget
-- and for each MiB; failed ones are accounted for in the document.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.probe
local core = require "hdd.core"

local M = {}
local Probe = {}
Probe.__index = Probe

-- A kernel tries a failing read several times, each with a time-out of half a minute.
local PATIENCE_S <const> = 600

local MOST_BYTES <const>, FAILURES <const> = 1 << 20, 256
local MIB <const> = 20 -- bits

-- ENXIO, EBADF, ENODEV, ENOTCONN, ESHUTDOWN, ENOMEDIUM: no bad block, the drive is gone.
local GONE <const> = {
  [6] = true, [9] = true, [19] = true, [107] = true, [108] = true, [123] = true,
}

--- Begins.
-- @tparam Measurement m
-- @treturn Probe  `reads`: how many were made
function M.new(m)
  return setmetatable({ m = m, reads = 0, in_mib = {} }, Probe)
end

--- How many reads began in the MiB that holds a byte. Those of the scan are not among them.
function Probe:reads_near(offset)
  return self.in_mib[offset >> MIB] or 0
end

local function count(self, offset)
  self.reads = self.reads + 1
  self.in_mib[offset >> MIB] = (self.in_mib[offset >> MIB] or 0) + 1
end

--- Accounts for a failed read, made by a probe or by a job. Too many end the run.
-- @tparam table failure  an entry of a document's `failures`
function Probe:failed(failure)
  local m, d = self.m, self.m.document
  if GONE[failure.code] then
    m:fail(string.format("device lost at offset %d", failure.offset_bytes))
    return
  end
  d.errors = d.errors + 1
  if #d.failures < FAILURES then d.failures[#d.failures + 1] = failure end
  if d.errors >= m.max_errors then
    m:fail("too many read errors (max_errors): the drive is spared the rest")
  end
end

local function settle(self, offset, length, answer)
  if answer.ns then return end
  answer.error = (answer.message or ""):match("%f[%u](E[%u%d]+)%f[^%u%d]")
  self:failed {
    offset_bytes = offset, length_bytes = length, code = answer.code, error = answer.error,
    latency_ns = answer.failed_ns, time_s = self.m:time_s(),
  }
end

--- Makes reads one right after the other.
-- @tparam {table,...} reads  each `{offset, length}`, bytes
-- @tparam string stage       what the observer is told
-- @tparam[opt] boolean unrelated  true: they are not made because of what lies there, and do not count
-- @treturn {table,...}  an answer for each that was made: `ns`, or `code`, `error` and `failed_ns`;
--   `begun_ns`. When fewer came than were asked for, the measurement is over.
-- @usage local answers = probe:sequence({ { offset, 4096 }, { offset + 4096, 4096 } }, "confirming")
function Probe:sequence(reads, stage, unrelated)
  local m, answers, longest = self.m, {}, 1
  if m.over then return answers end
  for _, read in ipairs(reads) do longest = math.max(longest, read[2]) end
  local state = { stage = stage }
  local done, message = m:perform(math.max(longest, MOST_BYTES), function(slot)
    for i, read in ipairs(reads) do
      local answer = { begun_ns = core.now() }
      state.offset = read[1]
      answer.ns, answer.message, answer.code = slot:read(read[1], read[2])
      if not answer.ns then answer.failed_ns = core.now() - answer.begun_ns end
      answers[i] = answer
    end
  end, state, PATIENCE_S)
  for i, answer in ipairs(answers) do
    if not unrelated then count(self, reads[i][1]) end
    settle(self, reads[i][1], reads[i][2], answer)
  end
  if not done then m:fail("the drive no longer answers: " .. message) end
  if m.over then
    for i = #answers, 1, -1 do answers[i] = nil end
  end
  return answers
end

--- Makes one read.
-- @tparam integer offset  bytes
-- @tparam integer length  bytes
-- @tparam string stage
-- @treturn ?table  the answer, see `sequence`; nil when the measurement is over
function Probe:read(offset, length, stage)
  return self:sequence({ { offset, length } }, stage)[1]
end

return M
