--- The surface scan: every block of a drive is read and graded by what it took; what could not be
-- read, and what was slow, is narrowed down to the sectors. docs/surface.md says how.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface
-- @usage local document = assert(surface.run(drive, { from = "10%", to = "20%" }))
-- for _, range in ipairs(document.unreadable) do print(range.offset_bytes, range.length_bytes) end
local cover = require "hdd.procedure.surface.cover"
local core = require "hdd.core"
local grade = require "hdd.procedure.surface.grade"
local hdd = require "hdd"
local measurement = require "hdd.procedure.measurement"
local parameters = require "hdd.procedure.parameters"
local probe = require "hdd.procedure.surface.probe"
local results = require "hdd.procedure.surface.results"
local rotation = require "hdd.procedure.rotation"
local scan = require "hdd.procedure.surface.scan"
local slow = require "hdd.procedure.surface.slow"
local turn = require "hdd.procedure.surface.turn"
local unreadable = require "hdd.procedure.surface.unreadable"

local M = {}

--- The schema of its documents.
M.schema = "hddlua.surface/1"

local KNOWN <const> = {
  "from", "to", "domain", "block_size", "depth", "revolutions", "slow", "rereads", "narrow_reads",
  "retries", "max_errors", "rpm", "resume",
}

local CELLS <const> = 1024
local SAVE_NS <const>, TELL_NS <const> = 2000000000, 250000000
local EINVAL <const> = 22

-- The parts that are to be read, on logical blocks' boundaries and inside the range.
local function read_domain(reader)
  local given, block = reader.given.domain, reader.drive.logical_block_size
  if given == nil then return end
  if type(given) ~= "table" then
    reader:refuse("domain", given, "must be a list of offset_bytes and length_bytes")
    return
  end
  local from, to, list = reader.values.from, reader.values.to, {}
  for i, part in ipairs(given) do
    local offset, length = part.offset_bytes, part.length_bytes
    if math.type(offset) ~= "integer" or math.type(length) ~= "integer" or offset < 0
      or length < 1 then
      reader:refuse(string.format("domain[%d]", i), nil,
        "must have offset_bytes and length_bytes, whole numbers")
      return
    end
    local first = math.max(from, offset // block * block)
    local last = math.min(to, offset < to and (offset + length + block - 1) // block * block or to)
    if first < last then list[#list + 1] = { offset_bytes = first, length_bytes = last - first } end
  end
  if #list == 0 then reader:refuse("domain", nil, "no part of it lies in the range") end
  reader.values.domain = list
end

local function plan(drive, given)
  local reader = parameters.reader(given, drive, KNOWN)
  reader:range()
  read_domain(reader)
  local block_size = reader:bytes("block_size", 1 << 20, 1)
  if block_size > 64 << 20 then
    reader:refuse("block_size", block_size, "must be at most 67108864 bytes")
  end
  reader:integer("depth", 4, 1, 4096)
  reader:integer("revolutions", 2, 2, 1000)
  reader:number("slow", 0.1, 0, 3600, "seconds", true)
  reader:integer("rereads", 20000, 0, math.maxinteger)
  reader:integer("narrow_reads", 64, 1, math.maxinteger)
  reader:integer("retries", 3, 0, 1000)
  reader:integer("max_errors", 10000, 1, math.maxinteger)
  reader:integer("rpm", nil, 0, 100000)
  return reader:finish()
end

-- What must be as it was for a scan to be resumed.
local SAME <const> = { "from", "to", "block_size", "revolutions" }

-- Why a scan can't go on from an earlier document; nil when it can.
local function problem_of(drive, p, old)
  if old.schema ~= M.schema then return "it is no surface scan" end
  local was, is = old.drive or {}, drive:identity()
  for _, key in ipairs { "serial", "model", "size_bytes" } do
    if was[key] and is[key] and was[key] ~= is[key] then
      return string.format("it is of another drive: its %s is %s, and was %s", key,
        tostring(is[key]), tostring(was[key]))
    end
  end
  for _, key in ipairs(SAME) do
    local before = old.parameters and old.parameters[key]
    if before ~= p[key] then
      return string.format("it was made with another %s: %s, not %s", key, tostring(before),
        tostring(p[key]))
    end
  end
end

-- The state of the procedure: what all its steps work on.
local function state_of(m, p, old)
  local s = {
    m = m, p = p, drive = m.drive, probe = probe.new(m), histogram = hdd.histogram(), failed = {},
    spent = 0, reread = 0, cleared = 0, busy_s = 0.0, busy_bytes = 0, unreadable = {},
    slow = {}, recovered = {}, told_ns = 0, saved_ns = core.now(), before_s = 0.0,
    read_before = 0,
  }
  if old and old.schema then
    local before = results.restore(old)
    s.cover, s.cells, s.restored = before.cover, before.cells, before
    s.unreadable, s.slow, s.recovered = before.unreadable, before.slow, before.recovered
    local sum = old.summary or {}
    s.busy_s, s.busy_bytes = sum.scan_s or 0.0, sum.scan_bytes or 0
    s.before_s, s.read_before = sum.elapsed_s or 0.0, sum.read_bytes or 0
    s.reread, s.cleared = sum.rereads or 0, sum.cleared_blocks or 0
  else
    s.cover = cover.new(p.from, p.to, p.domain and "x" or "?")
    for _, part in ipairs(p.domain or {}) do
      s.cover:set(part.offset_bytes, part.offset_bytes + part.length_bytes, "?")
    end
    for _, part in ipairs(old and old.blocks or {}) do
      for _, inside in ipairs(s.cover:ranges("?", part.from, part.to)) do
        s.cover:set(inside.from, inside.to, part.state)
        if part.state == "-" then
          s.unreadable[#s.unreadable + 1] = { from = inside.from, to = inside.to, exact = false }
        end
      end
    end
  end
  if not s.cells or #s.cells == 0 then s.cells = results.cells(p.from, p.to, p.block_size, CELLS) end
  return s
end

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

-- What the steps call: suspects, re-graded blocks, failures that turn up late, progress, saving.
local function add_services(s)
  local m, d = s.m, s.m.document
  local waiting = {}
  function s.suspects()
    local list = waiting
    waiting = {}
    table.move(s.grader.suspects, 1, #s.grader.suspects, #list + 1, list)
    s.grader.suspects = {}
    return list
  end
  function s.keep_suspects(list)
    table.move(list, 1, #list, #waiting + 1, waiting)
  end
  function s.waiting()
    local list = table.move(waiting, 1, #waiting, 1, {})
    return table.move(s.grader.suspects, 1, #s.grader.suspects, #list + 1, list)
  end
  function s.clear(suspect, spent_ns)
    s.cleared = s.cleared + (suspect.unscanned and 0 or 1)
    if suspect.unscanned then return end
    local due_ns = suspect.pace * suspect.length
    s.grader:regrade(suspect, due_ns > 0 and due_ns or spent_ns, 0)
  end
  function s.note_failed(offset, length, name)
    s.cover:set(offset, offset + length, "*")
    s.failed[offset] = { length = length, error = name }
  end
  function s.tell(stage, share, offset)
    if core.now() - s.told_ns < TELL_NS then return end
    s.told_ns = core.now()
    m:report { stage = stage, share = share, position_bytes = offset }
  end
  function s.save()
    if not m.observer.save or core.now() - s.saved_ns < SAVE_NS then return end
    M.describe(s, d)
    m:save()
    s.saved_ns = core.now()
  end
end

local function bytes_of(rows)
  local sum = 0
  for _, row in ipairs(rows) do sum = sum + row.length_bytes end
  return sum
end

local function verdict_of(s, d)
  if #d.unreadable > 0 or s.cover:bytes("*/") > 0 then return "unreadable" end
  if #d.slow > 0 or #d.recovered > 0 then return "slow" end
  if s.cover:bytes("?") > 0 or #d.suspects > 0 then return "incomplete" end
  return "clean"
end

--- Writes the state into the document.
-- @local
function M.describe(s, d)
  d.rotation = s.turn_ns and { revolution_us = s.turn_ns / 1000, source = s.turn_source } or nil
  d.classes = results.classes(s.grader.classes)
  d.turns = s.turn_ns and results.turns(s.grader.turns) or nil
  d.unreadable, d.slow = results.unreadable(s.unreadable), results.slow(s.slow)
  d.recovered, d.suspects = results.recovered(s.recovered), results.suspects(s.waiting())
  d.coverage, d.map = results.coverage(s.cover), results.map(s.cells, s.cover, s.slow)
  local span, covered = s.cover:bytes("?*/-+"), s.cover:bytes("*/-+")
  local sum = d.summary
  sum.verdict, sum.span_bytes, sum.covered_bytes = verdict_of(s, d), span, covered
  sum.covered_percent = span > 0 and covered * 100 / span or nil
  sum.scan_s, sum.scan_bytes = s.busy_s, s.busy_bytes
  sum.bandwidth_bytes_per_s = s.busy_s > 0 and s.busy_bytes / s.busy_s or nil
  sum.unreadable_ranges, sum.unreadable_bytes = #d.unreadable, bytes_of(d.unreadable)
  sum.slow_ranges, sum.slow_bytes = #d.slow, bytes_of(d.slow)
  sum.recovered_ranges, sum.cleared_blocks = #d.recovered, s.cleared
  sum.suspected_blocks = s.cleared + #d.suspects + (s.confirmed or 0)
  sum.rereads, sum.narrow_reads = s.reread, s.narrowed
  sum.read_bytes = s.read_before + s.m.issued_bytes + s.m.read_bytes
  sum.elapsed_s = s.before_s + s.m:time_s()
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

local function warn(s)
  local m, d = s.m, s.m.document
  if s.spent > 0 then
    m:warn(string.format("%d places hold more unreadable sectors than could be told apart with %d "
      .. "reads a MiB (narrow_reads): they are listed as ranges that are not exact", s.spent,
      s.p.narrow_reads))
  end
  if #d.suspects > 0 and not m.over then
    m:warn(string.format("%d blocks that were slow in the scan were not read again: the budget for "
      .. "that is spent (rereads: %d)", #d.suspects, s.p.rereads))
  end
  if s.grader.unlisted > 0 then
    m:warn(string.format("%d more blocks were slow in the scan than are listed",
      s.grader.unlisted))
  end
end

local function begin(s, old)
  local m = s.m
  if not restored_turn(s, old) and not m.over then find_turn(s) end
  s.grader = grade.new {
    block_size = s.p.block_size, depth = s.p.depth, turn_ns = s.turn_ns, slow_ns = s.p.slow * 1e9, map = s.cells,
  }
  if s.restored then
    s.grader.classes, s.grader.turns = s.restored.classes, s.restored.turns
  end
  add_services(s)
  if s.restored then s.keep_suspects(s.restored.suspects) end
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
  local p, message, code = plan(drive, given)
  if not p then return nil, message, code end
  local resume = given and given.resume
  local old = resume and resume.schema and resume or nil
  if old then
    if not p.domain then p.domain = old.parameters and old.parameters.domain end
    local problem = problem_of(drive, p, old)
    if problem then return nil, "resume: this scan cannot go on from it: " .. problem, EINVAL end
  end
  local m = measurement.begin(drive, M.schema, p, observer)
  local s = state_of(m, p, resume)
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
  M.describe(s, m.document)
  warn(s)
  local d = m:finish()
  d.summary.read_bytes = s.read_before + m.issued_bytes + m.read_bytes
  d.summary.elapsed_s = s.before_s + m:time_s()
  return d
end

return M
