--- The verdict of a burn-in: PASS, WARN or FAIL, each with its reasons and where to look. Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.verdict
-- @usage document.verdict = verdict.judge(document, assert(criteria.merge()))
local criteria = require "hdd.procedure.burnin.criteria"
local statistics = require "hdd.statistics"
local units = require "hdd.units"

local M = {}

local ORDER <const> = { FAIL = 1, WARN = 2 }

local function phase_name(d, i)
  local phase = d.phases[i]
  if not phase then return nil end
  return string.format("phase %d, %s", i, phase.name)
end

local function lba(d, offset)
  local block = d.drive.logical_block_size_bytes or 512
  return string.format("LBA %s", units.lba(offset, block > 0 and block or 512))
end

-- A judge: of one side of a document, calls put(name, value, what, where, phase).
local JUDGES = {}

local function ranges(name, list_name, what)
  return function(d, put)
    local list = d[list_name]
    if #list == 0 then return end
    local first = list[1]
    put(name, name:find("_bytes") and statistics.sum(list, "length_bytes") or #list,
      string.format("%s: %s in %s, the first at %s", what, units.bytes(statistics.sum(list, "length_bytes")),
        units.counted(#list, "range", "ranges"), lba(d, first.offset_bytes)), list_name .. "[]", first.phase)
  end
end

JUDGES[#JUDGES + 1] = ranges("unreadable_bytes", "unreadable", "cannot be read")
JUDGES[#JUDGES + 1] = ranges("recovered_ranges", "recovered", "read only at a later try")
JUDGES[#JUDGES + 1] = ranges("slow_bytes", "slow", "slow each time it is read")

-- Reads that failed elsewhere than in the surface read, which lists its own.
JUDGES[#JUDGES + 1] = function(d, put)
  for i, phase in ipairs(d.phases) do
    if phase.kind ~= "surface" and (phase.errors or 0) > 0 and phase.kind ~= "write" then
      put("read_errors", phase.errors, string.format("%s failed in the %s",
        units.counted(phase.errors, "read", "reads"), phase.name), "failures[]", i)
    end
  end
end

local KINDS <const> = {
  "bit rot", "lost write", "misdirected write", "foreign drive", "zeroes", "unknown",
}

JUDGES[#JUDGES + 1] = function(d, put)
  local write_errors, flushes = #(d.write_failures or {}), #(d.flush_failures or {})
  if write_errors > 0 then
    local first = d.write_failures[1]
    put("write_errors", write_errors, string.format("%s failed, the first at %s",
      units.counted(write_errors, "write", "writes"), lba(d, first.offset_bytes)), "write_failures[]",
      first.phase)
  end
  if flushes > 0 then
    put("flush_errors", flushes, string.format("%s of its cache failed: what was written before may be "
      .. "lost", units.counted(flushes, "flush", "flushes")), "flush_failures[]", d.flush_failures[1].phase)
  end
  for _, kind in ipairs(KINDS) do
    local blocks, first = 0, nil
    for _, mismatch in ipairs(d.mismatches or {}) do
      if mismatch.kind == kind then
        blocks, first = blocks + (mismatch.blocks or 1), first or mismatch
      end
    end
    if blocks > 0 then
      put("mismatching_blocks", blocks, string.format("%s: %s did not hold what was written, the first "
        .. "at %s", kind, units.counted(blocks, "block", "blocks"), lba(d, first.offset_bytes)),
        "mismatches[]", first.phase)
    end
  end
end

JUDGES[#JUDGES + 1] = function(d, put)
  local c = d.capacity
  if c and c.verdict == "false" then
    put("false_capacity", 1, c.sentence or "its capacity is false", "capacity")
  end
  if #(d.stalls or {}) > 0 then
    local longest = 0
    for _, stall in ipairs(d.stalls) do longest = math.max(longest, stall.elapsed_s) end
    put("stalls", #d.stalls, string.format("nothing was answered for a while, %s, the longest %s",
      #d.stalls == 1 and "once" or #d.stalls .. " times", units.duration_text(longest)), "stalls[]")
  end
end

local function concern_text(change)
  if change.concerns == "cable" then return ": look at cable, connectors and backplane" end
  return ""
end

-- What the drive said of itself.
JUDGES[#JUDGES + 1] = function(d, put)
  for i, phase in ipairs(d.phases) do
    for _, change in ipairs(phase.changes or {}) do
      put(change.concerns .. "_growth", change.growth, string.format("%s grew by %s to %s in the %s%s",
        change.what, change.growth, change.to, phase.name, concern_text(change)),
        string.format("phases[%d].changes[]", i), i)
    end
    if phase.kind == "selftest" and phase.result == "failed" then
      put("self_tests_failed", 1, string.format("the %s failed: %s%s", phase.name,
        phase.message or "no reason given",
        phase.failing_lba and string.format(" at LBA %d", phase.failing_lba) or ""),
        string.format("phases[%d]", i), i)
    elseif phase.kind == "selftest" and phase.result and phase.result ~= "passed" then
      put("self_tests_unfinished", 1, string.format("the %s came to no end: %s", phase.name,
        phase.message or phase.result), string.format("phases[%d]", i), i)
    elseif phase.status == "failed" and not (d.status == "failed" and i == d.summary.last_phase) then
      put("phases_not_run", 1, string.format("the %s could not be run: %s", phase.name,
        phase.message or "no reason known"), string.format("phases[%d]", i), i)
    end
  end
  local last = d.smart[#d.smart]
  for _, reason in ipairs(last and last.reasons or {}) do
    if reason.severity == "failing" or reason.severity == "warning" then
      put("health_" .. reason.severity, 1, "SMART: " .. reason.what, reason.where or "smart[]",
        last.phase)
    end
  end
  local over = 0
  for _, entry in ipairs(d.timeline) do
    if entry.event == "hot" then over = over + 1 end
  end
  if over > 0 then
    put("over_temperature", over, string.format("too hot %s: the load waited",
      over == 1 and "once" or over .. " times"), "timeline[]")
  end
end

-- The worst row of a list by `ratio`, and how many reach a level.
local function worst_of(list, rules, name)
  local worst, n
  for _, row in ipairs(list or {}) do
    if criteria.grade(rules, name, row.ratio) then
      n = (n or 0) + 1
      if not worst or row.ratio < worst.ratio then worst = row end
    end
  end
  return worst, n
end

JUDGES[#JUDGES + 1] = function(d, put, rules)
  local worst, n = worst_of(d.baseline.zones, rules, "zone_ratio")
  if worst then
    put("zone_ratio", worst.ratio, string.format("%s slower than before, the worst at %s: %s %% of %s",
      units.counted(n, "zone is", "zones are"), units.decimal_bytes(worst.offset_bytes),
      units.fixed(worst.ratio * 100, 1), units.rate(worst.before_bytes_per_s)), "baseline.zones[]")
  end
  worst = worst_of(d.baseline.sweep, rules, "iops_ratio")
  if worst then
    put("iops_ratio", worst.ratio, string.format("random reads at depth %d have become slower: %s %% of "
      .. "%s IOPS", worst.depth, units.fixed(worst.ratio * 100, 1), units.fixed(worst.before_iops, 1)),
      "baseline.sweep[]")
  end
end

-- Against the other drives of its model that were tested with it.
JUDGES[#JUDGES + 1] = function(d, put, rules)
  local batch = d.batch
  if not batch then return end
  local worst, n = worst_of(batch.zones, rules, "batch_ratio")
  if worst then
    put("batch_ratio", worst.ratio, string.format("%s slower than its batch of %d, the worst at %s: "
      .. "%s %% of the median %s", units.counted(n, "zone is", "zones are"), batch.drives,
      units.decimal_bytes(worst.offset_bytes), units.fixed(worst.ratio * 100, 1),
      units.rate(worst.median_bytes_per_s)), "batch.zones[]")
  elseif batch.ratio then
    put("batch_above", batch.ratio, string.format("faster than its batch of %d: %s %% of the median; is it "
      .. "another model or firmware?", batch.drives, units.fixed(batch.ratio * 100, 1)), "batch")
  end
end

--- Judges a burn-in.
-- @tparam table d      its document
-- @tparam table rules  criteria, merged with the defaults
-- @treturn table  `status` ("PASS", "WARN", "FAIL"), `reasons` of {`status`, `name` (the criterion),
--   `what`, `where` (in the document), `phase` (number), `phase_name`}, worst first
function M.judge(d, rules)
  local reasons = {}
  local function add(status, name, what, where, phase)
    if not ORDER[status] then
      error(string.format("a reason is FAIL or WARN, not %s", tostring(status)), 2)
    end
    reasons[#reasons + 1] = {
      status = status, name = name, what = what, where = where, phase = phase,
      phase_name = phase and phase_name(d, phase), order = #reasons,
    }
  end
  local function put(name, value, what, where, phase)
    local status = criteria.grade(rules, name, value)
    if status then add(status, name, what, where, phase) end
  end
  if d.status == "failed" then
    local last = d.phases[d.summary.last_phase or 0]
    add("FAIL", "drive", last and last.message or d.warnings[#d.warnings] or "the drive failed",
      "warnings[]", d.summary.last_phase)
  end
  if d.status == "interrupted" then
    add("WARN", "interrupted", "interrupted: not all of the plan was done", "phases[]",
      d.summary.last_phase)
  end
  for _, judge in ipairs(JUDGES) do judge(d, put, rules) end
  if rules.judge then rules.judge(d, add) end
  table.sort(reasons, function(a, b)
    if a.status ~= b.status then return ORDER[a.status] < ORDER[b.status] end
    return a.order < b.order
  end)
  for _, reason in ipairs(reasons) do reason.order = nil end
  return { status = reasons[1] and reasons[1].status or "PASS", reasons = reasons }
end

return M
