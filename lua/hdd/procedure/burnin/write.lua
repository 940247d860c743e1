--- The writing phases of a burn-in: all blocks are written, flushed, and verified; what does not hold
-- what was written is looked into.
--
-- In slices of some seconds, each of which is saved: after a crash writing goes on from what is known to
-- be durable, verifying from what was verified. Nothing that was written is left unverified.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.write
local capacity = require "hdd.procedure.capacity"
local inquiry = require "hdd.procedure.burnin.inquiry"
local units = require "hdd.units"

local M = {}

local SLICE_S <const> = 10
local BLOCK <const>, DEPTH <const> = 1 << 20, 4
local LISTED <const> = 1000 -- failures of a kind that the document lists

--- What a phase writes or verifies: each writing phase of the run is a pass of its own.
-- @tparam Run run
-- @tparam table entry  of the document's `phases`: the write, or its verify
-- @treturn table  the `stamp` of a job
function M.stamp(run, entry)
  local pass = 0
  for _, phase in ipairs(run.document.phases) do
    if phase.kind == "write" then pass = pass + 1 end
    if phase == entry then break end
  end
  return { pattern = entry.pattern, pass = pass, seed = run.parameters.seed, serial = run.stamp_serial }
end

--- Tries whether the drive is as large as it says.
-- @tparam Run run
-- @tparam table entry  of the document's `phases`
-- @treturn boolean  true
-- @return or nil, message, code
function M.capacity(run, entry)
  local found, message, code = capacity.run(run.drive, { seed = run.parameters.seed }, {
    progress = function(state) run:report { stage = state.stage, share = state.share } end,
  })
  if not found then return nil, message, code end
  if found.verdict == "interrupted" then run.m.over = run.m.over or "interrupted" end
  entry.result, run.document.capacity = found.verdict, found
  return true
end

-- What is told while a slice runs.
local function state_of(run, from, slice_from, stage)
  local size = run.usable_bytes
  return function(progress)
    local at = progress.done_to_bytes or slice_from
    return {
      stage = stage, share = size > 0 and (at - from) / (size - from) or 1,
      position_bytes = progress.position_bytes,
      bandwidth_bytes_per_s = progress.elapsed_s > 0 and progress.bytes / progress.elapsed_s or nil,
    }
  end
end

local function put(list, rows, run)
  for _, row in ipairs(rows) do
    if #list >= LISTED then return end
    row.phase = run.index
    list[#list + 1] = row
  end
end

local function take_write(run, entry, result)
  local d, failures, flushes = run.document, {}, {}
  for i, f in ipairs(result.failures) do
    failures[i] = {
      offset_bytes = f.offset_bytes, length_bytes = f.length_bytes, error = f.error, code = f.code,
    }
  end
  for i, f in ipairs(result.flush_failures or {}) do
    flushes[i] = {
      offset_bytes = f.from_bytes, length_bytes = f.to_bytes - f.from_bytes, error = f.error,
      code = f.code,
    }
  end
  put(d.write_failures, failures, run)
  put(d.flush_failures, flushes, run)
  entry.errors = entry.errors + result.errors
  entry.written_bytes = entry.written_bytes + result.bytes
end

-- Goes through the drive in slices from `entry.covered_bytes` on. `one` starts a slice and takes its
-- result; it returns to where the work is done.
local function in_slices(run, entry, one)
  while entry.covered_bytes < run.usable_bytes and not run:over() do
    run:cool_down()
    local before_s = run:time_s()
    local to, message, code = one(entry.covered_bytes)
    if not to then return nil, message, code end
    entry.busy_s = entry.busy_s + run:time_s() - before_s
    local stuck = to == entry.covered_bytes and not run:over()
    entry.covered_bytes = to
    entry.bandwidth_bytes_per_s = entry.busy_s > 0 and entry.covered_bytes / entry.busy_s or nil
    run:checkpoint(nil, run:over() ~= nil)
    if stuck then return nil, "nothing was done in a while", 110 end
  end
  return true
end

local function begin(entry)
  entry.covered_bytes, entry.errors = entry.covered_bytes or 0, entry.errors or 0
  entry.busy_s = entry.busy_s or 0.0
end

--- Writes all.
-- @tparam Run run
-- @tparam table entry  of the document's `phases`; its `covered_bytes` is durable
-- @treturn boolean  true
-- @return or nil, message, code
function M.write(run, entry)
  begin(entry)
  entry.written_bytes = entry.written_bytes or 0
  local stamp = M.stamp(run, entry)
  return in_slices(run, entry, function(from)
    local result, message, code = run:write_job({
      operation = "write", stamp = stamp, offset = from, length = run.usable_bytes - from,
      block_size = math.min(BLOCK, run.usable_bytes), depth = DEPTH, runtime = SLICE_S, intervals = 2,
      slowest = 0,
    }, state_of(run, 0, from))
    if not result then return nil, message, code end
    take_write(run, entry, result)
    -- What a flush failed for counts as written: the verify will tell.
    local to = result.flush_error and result.done_to_bytes or result.durable_to_bytes
    return to or from
  end)
end

-- Parts of a run that the drive refused to take are no mismatch: they are write errors.
local function was_refused(run, mismatch, first_phase)
  for _, f in ipairs(run.document.write_failures) do
    if f.phase >= first_phase and f.offset_bytes < mismatch.offset_bytes + mismatch.length_bytes
      and mismatch.offset_bytes < f.offset_bytes + f.length_bytes then
      return true
    end
  end
  return false
end

local function continues(last, m)
  if not last or last.kind ~= m.kind then return false end
  if last.offset_bytes + last.length_bytes ~= m.offset_bytes then return false end
  local a, b = last.found and last.found.offset_bytes, m.found and m.found.offset_bytes
  return (a == nil) == (b == nil) and (a == nil or a + last.length_bytes == b)
end

local function take_verify(run, entry, result)
  local d, block = run.document, run.drive.logical_block_size
  for _, m in ipairs(result.mismatches or {}) do
    if not was_refused(run, m, run.index - 1) then
      m.phase, m.loop, m.pattern = run.index, entry.loop, entry.pattern
      m.blocks = m.length_bytes // block
      local last = d.mismatches[#d.mismatches]
      if last and last.phase == run.index and continues(last, m) then
        last.length_bytes, last.blocks = last.length_bytes + m.length_bytes, last.blocks + m.blocks
        last.bits = last.bits and m.bits and last.bits + m.bits
      elseif #d.mismatches < LISTED then
        table.insert(d.mismatches, m)
      end
    end
  end
  entry.mismatching_blocks = entry.mismatching_blocks
    + (result.mismatch_blocks and result.mismatch_blocks.total or 0)
  entry.errors, entry.read_bytes = entry.errors + result.errors, entry.read_bytes + result.bytes
  for _, f in ipairs(result.failures) do
    if #d.unreadable < LISTED then
      table.insert(d.unreadable, {
        offset_bytes = f.offset_bytes, length_bytes = f.length_bytes, exact = false, error = f.error,
        phase = run.index,
      })
    end
  end
end

--- Verifies what the phase before has written.
-- @tparam Run run
-- @tparam table entry  of the document's `phases`
-- @treturn boolean  true
-- @return or nil, message, code
function M.verify(run, entry)
  begin(entry)
  entry.read_bytes, entry.mismatching_blocks = entry.read_bytes or 0, entry.mismatching_blocks or 0
  local stamp = M.stamp(run, entry)
  local done, message, code = in_slices(run, entry, function(from)
    local result, why, number = run:job({
      operation = "verify", stamp = stamp, offset = from, length = run.usable_bytes - from,
      block_size = math.min(BLOCK, run.usable_bytes), depth = DEPTH, runtime = SLICE_S, intervals = 2,
      slowest = 0,
    }, state_of(run, 0, from))
    if not result then return nil, why, number end
    take_verify(run, entry, result)
    return result.done_to_bytes or from
  end)
  if not done then return nil, message, code end
  if run:over() then return true end
  return inquiry.run(run, entry, stamp)
end

--- What a run has left on the drive, in a sentence.
-- @tparam table d  document
-- @treturn ?string  nil of a run that was not to write
function M.left(d)
  if not d.parameters.write then return nil end
  local last, before
  for _, phase in ipairs(d.phases) do
    if phase.kind == "write" and (phase.covered_bytes or 0) > 0 then last, before = phase, last end
    if phase.kind == "write" and phase.status == "running" and not phase.covered_bytes then
      return "writing had begun: its first blocks may be overwritten"
    end
  end
  if not last then return "nothing has been written: its data is as it was" end
  local size = d.drive.size_bytes
  if last.covered_bytes >= size // d.drive.logical_block_size_bytes * d.drive.logical_block_size_bytes then
    return string.format("all of it was overwritten (%s, last): partition table, file systems and data "
      .. "are gone", last.pattern)
  end
  return string.format("overwritten with %s up to byte %d (%s of %s)%s, and perhaps a little further: "
    .. "partition table, file systems and data are gone", last.pattern, last.covered_bytes,
    units.decimal_bytes(last.covered_bytes), units.decimal_bytes(size),
    before and ", and behind that with " .. before.pattern or "; what is behind that is as it was")
end

return M
