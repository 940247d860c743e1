--- The state of a surface scan: what all its steps work on, and what they call.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.state
local core = require "hdd.core"
local cover = require "hdd.procedure.surface.cover"
local describe = require "hdd.procedure.surface.describe"
local grade = require "hdd.procedure.surface.grade"
local hdd = require "hdd"
local kernel_log = require "hdd.kernel_log"
local probe = require "hdd.procedure.surface.probe"
local results = require "hdd.procedure.surface.results"

local M = {}

local CELLS <const> = 1024
local SAVE_NS <const>, TELL_NS <const> = 2000000000, 250000000

--- Begins.
-- @tparam Measurement m
-- @tparam table p         parameters
-- @tparam[opt] table old  document or mapfile to go on from
-- @treturn table  the state; `suspects` … `save` are there when it has a grader, see `grade`
-- @usage local s = state.new(m, p, resume)
function M.new(m, p, old)
  local s = {
    m = m, p = p, drive = m.drive, probe = probe.new(m), histogram = hdd.histogram(), failed = {},
    spent = 0, reread = 0, cleared = 0, busy_s = 0.0, busy_bytes = 0, unreadable = {},
    slow = {}, recovered = {}, told_ns = 0, saved_ns = core.now(), before_s = 0.0,
    read_before = 0, kernel_log = kernel_log.begin(m.drive),
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
    describe.write(s, d)
    m:save()
    s.saved_ns = core.now()
  end
end

--- Grading begins: the turn is known, or that there is none.
-- @tparam table s  the state
-- @usage state.grade(s)
function M.grade(s)
  s.grader = grade.new {
    block_size = s.p.block_size, depth = s.p.depth, turn_ns = s.turn_ns, slow_ns = s.p.slow * 1e9,
    map = s.cells,
  }
  if s.restored then
    s.grader.classes, s.grader.turns = s.restored.classes, s.restored.turns
  end
  add_services(s)
  if s.restored then s.keep_suspects(s.restored.suspects) end
end

return M
