--- What a surface scan knows so far, as its document has it: lists, map, summary, verdict.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.describe
local results = require "hdd.procedure.surface.results"
local statistics = require "hdd.statistics"

local M = {}

local MESSAGES <const> = 256

local function verdict_of(s, d)
  if #d.unreadable > 0 or s.cover:bytes("*/") > 0 then return "unreadable" end
  if #d.slow > 0 or #d.recovered > 0 then return "slow" end
  if s.cover:bytes("?") > 0 or #d.suspects > 0 then return "incomplete" end
  return "clean"
end

-- What the kernel has said of the drive since the last time; a sick drive makes it say a lot.
local function note_kernel(s, d)
  local list = d.kernel_messages or {}
  for _, message in ipairs(s.kernel_log:take()) do
    if #list < MESSAGES then
      list[#list + 1] = { time_s = message.time_s, text = message.text }
    else
      s.m:warn(string.format("the kernel said more of the drive than is listed: %d messages are",
        MESSAGES))
    end
  end
  d.kernel_messages = list[1] and list or nil
end

--- Writes what is known into the document.
-- @tparam table s  the state
-- @tparam table d  the document
-- @usage describe.write(s, s.m.document)
function M.write(s, d)
  d.rotation = s.turn_ns and { revolution_us = s.turn_ns / 1000, source = s.turn_source } or nil
  d.classes = results.classes(s.grader.classes)
  d.turns = s.turn_ns and results.turns(s.grader.turns) or nil
  d.unreadable, d.slow = results.unreadable(s.unreadable), results.slow(s.slow)
  d.recovered, d.suspects = results.recovered(s.recovered), results.suspects(s.waiting())
  d.coverage, d.map = results.coverage(s.cover), results.map(s.cells, s.cover, s.slow)
  note_kernel(s, d)
  local span, covered = s.cover:bytes("?*/-+"), s.cover:bytes("*/-+")
  local sum = d.summary
  sum.verdict, sum.span_bytes, sum.covered_bytes = verdict_of(s, d), span, covered
  sum.covered_percent = span > 0 and covered * 100 / span or nil
  sum.scan_s, sum.scan_bytes = s.busy_s, s.busy_bytes
  sum.bandwidth_bytes_per_s = s.busy_s > 0 and s.busy_bytes / s.busy_s or nil
  sum.unreadable_ranges, sum.unreadable_bytes = #d.unreadable, statistics.sum(d.unreadable, "length_bytes")
  sum.slow_ranges, sum.slow_bytes = #d.slow, statistics.sum(d.slow, "length_bytes")
  sum.recovered_ranges, sum.cleared_blocks = #d.recovered, s.cleared
  sum.suspected_blocks = s.cleared + #d.suspects + (s.confirmed or 0)
  sum.rereads, sum.narrow_reads = s.reread, s.narrowed
  sum.read_bytes = s.read_before + s.m.issued_bytes + s.m.read_bytes
  sum.elapsed_s = s.before_s + s.m:time_s()
end

--- Warns of what the lists do not hold.
-- @tparam table s  the state
-- @usage describe.warn(s)
function M.warn(s)
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

return M
