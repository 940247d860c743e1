--- The surface scan: every block of a drive is read and graded by what it took; what could not be
-- read, and what was slow, is narrowed down to the sectors. docs/surface.md says how.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface
-- @usage local document = assert(surface.run(drive, { from = "10%", to = "20%" }))
-- for _, range in ipairs(document.unreadable) do print(range.offset_bytes, range.length_bytes) end
local describe = require "hdd.procedure.surface.describe"
local measurement = require "hdd.procedure.measurement"
local plan = require "hdd.procedure.surface.plan"
local rotation = require "hdd.procedure.rotation"
local scan = require "hdd.procedure.surface.scan"
local slow = require "hdd.procedure.surface.slow"
local state = require "hdd.procedure.surface.state"
local turn = require "hdd.procedure.surface.turn"
local unreadable = require "hdd.procedure.surface.unreadable"

local M = {}

--- The schema of its documents.
M.schema = "hddlua.surface/1"

local EINVAL <const> = 22

-- The turn of the drive: what is given, what it says, what is measured.
local function find_turn(s)
  local turning = rotation.of(s.drive, s.p.rpm)
  if turning.rotating == false and (s.p.rpm or s.drive.transport == "nvme") then return end
  if turning.rpm and not turning.assumed then
    s.turn_ns, s.turn_source = 60e9 / turning.rpm, s.p.rpm and "given" or "drive"
    return
  end
  local parts = s.cover:ranges("?*/-+")
  table.sort(parts, function(a, b) return a.to - a.from > b.to - b.from end)
  s.turn_ns, s.turn_source = turn.measure(s.probe, parts[1].from, parts[1].to,
    s.drive.logical_block_size), "measured"
  if not s.turn_ns and turning.rotating and s.drive.kind == "disk" then
    s.turn_ns, s.turn_source = 60e9 / 7200, "assumed"
    s.m:warn("the drive does not tell how fast it turns, and it could not be measured: 7200 rpm are "
      .. "assumed (rpm sets it)")
  end
end

local function restored_turn(s, old)
  local r = old and old.rotation
  if r then s.turn_ns, s.turn_source = r.revolution_us * 1000, r.source end
  return r ~= nil
end

-- Blocks that failed in the scan have no time of their own there: what of them can be read is looked
-- at, too.
local function suspect_failed(s)
  local list = {}
  for offset, failed in pairs(s.failed) do
    list[#list + 1] = {
      offset = offset, length = failed.length, own_ns = 0, extra_ns = math.maxinteger, pace = s.grader:pace_at(offset),
      unscanned = true,
    }
  end
  s.failed = {}
  s.keep_suspects(list)
end

local function narrow_all(s)
  if not next(s.failed) and s.cover:bytes("*/") == 0 then return true end
  local before = s.probe.reads
  unreadable.narrow(s)
  s.narrowed = (s.narrowed or 0) + s.probe.reads - before
end

local function measure(s)
  local m = s.m
  local scanned, message, code = scan.new(s):run()
  if not scanned then return nil, message, code end
  if m.over then return true end
  narrow_all(s)
  if m.over then return true end
  suspect_failed(s)
  local suspected = #s.waiting()
  slow.confirm(s)
  s.confirmed = suspected - #s.waiting() - s.cleared
  if m.over then return true end
  narrow_all(s) -- what failed only when it was read again
  if m.over then return true end
  local before = s.probe.reads
  unreadable.retry(s)
  s.narrowed = (s.narrowed or 0) + s.probe.reads - before
  return true
end

local function begin(s, old)
  if not restored_turn(s, old) and not s.m.over then find_turn(s) end
  state.grade(s)
end

local function note_break(m, s, old)
  m.document.interruptions = old and old.interruptions or {}
  if not old then return end
  m.document.errors = old.errors or 0
  m.document.failures, m.document.stalls = old.failures or {}, old.stalls or {}
  m.document.slowest = old.slowest or {}
  m.document.interruptions[#m.document.interruptions + 1] = {
    at = old.finished_at, resumed_at = m.document.started_at,
    covered_bytes = s.cover:bytes("*/-+"),
  }
end

--- Scans the surface of a drive.
-- @tparam Drive drive
-- @tparam[opt] table given  parameters, all optional: `from` and `to` (bytes, or "50%"; the whole
--   drive), `domain` (list of `offset_bytes` and `length_bytes`: only these parts), `block_size`
--   (1 MiB), `depth` (4), `revolutions` (2: from so many extra turns on a sector is slow), `slow`
--   (0.1 s: the same for a drive that does not turn), `rereads` (20000: reads that may go into
--   confirming slow blocks), `narrow_reads` (64: in a MiB, into finding its bad sectors), `retries`
--   (3), `max_errors` (10000: failed reads after which the drive is spared the rest), `rpm` (of a
--   drive that does not tell; 0: it does not turn), `resume` (an earlier document of the same scan, or
--   a table with the `blocks` of a mapfile: what they say was tried is not read again)
-- @tparam[opt] table observer  `progress`, `save`: see hdd.procedure.measurement
-- @treturn table  a document of schema hddlua.surface/1
-- @return or nil, message, code when it could not be begun
-- @usage local document = assert(surface.run(drive, { from = 0, to = 10 * hdd.GiB }))
function M.run(drive, given, observer)
  local p, message, code = plan.read(drive, given)
  if not p then return nil, message, code end
  local resume = given and given.resume
  local old = resume and resume.schema and resume or nil
  if old then
    if not p.domain then p.domain = old.parameters and old.parameters.domain end
    local problem = plan.problem(drive, p, old, M.schema)
    if problem then return nil, "resume: this scan cannot go on from it: " .. problem, EINVAL end
  end
  local m = measurement.begin(drive, M.schema, p, observer)
  local s = state.new(m, p, resume)
  local log <close> = s.kernel_log -- luacheck: ignore
  note_break(m, s, old)
  local done
  done, message, code = m:attempt(function()
    local parts = s.cover:ranges("?*/-+")
    local awake, why, number = m:wake(parts[1].from, parts[1].to)
    if not awake then return nil, why, number end
    begin(s, old)
    if m.over then return true end
    return measure(s)
  end)
  if not done then return nil, message, code end
  if not s.grader then begin(s, old or {}) end
  describe.write(s, m.document)
  describe.warn(s)
  local d = m:finish()
  d.summary.read_bytes = s.read_before + m.issued_bytes + m.read_bytes
  d.summary.elapsed_s = s.before_s + m:time_s()
  return d
end

return M
