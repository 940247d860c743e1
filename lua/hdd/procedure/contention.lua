--- What several drives keep from one another: each is read alone, then all at once. Where the sum of
-- their rates is less together, the controller, the link that they share, or the machine is the limit, and
-- figures of drives that run at the same time say nothing of each.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.contention
-- @usage print(assert(contention.run { drive_b, drive_c }).sentence)
local core = require "hdd.core"
local task = require "hdd.task"
local units = require "hdd.units"

local M = {}

local EINVAL <const> = 22
local RUNTIME_S <const>, BLOCK <const>, DEPTH <const> = 2, 1 << 20, 2
local KEPT <const> = 0.9 -- of its rate alone, from which on a drive counts as undisturbed
local SLICE_S <const> = 0.25

local function megabytes(rate)
  return units.fixed(rate / 1e6, 1) .. " MB/s"
end

local function percent(ratio)
  return units.fixed(ratio * 100, 0) .. " %"
end

local function sentence_of(r, count)
  if count < 2 then return "fewer than two drives could be read: nothing to be compared" end
  local sums = string.format("together they read %s, %s of the %s that they read one at a time",
    megabytes(r.together_bytes_per_s), percent(r.ratio), megabytes(r.alone_bytes_per_s))
  if not r.limited then return sums .. ": none is held up by the others" end
  local whose = #r.slowed == count and ""
    or string.format(" (of %s)", table.concat(r.slowed, ", "))
  return string.format("%s: the controller, the link or this machine%s is the limit. At most %d at a time "
    .. "keep their rate (--max-parallel %d)", sums, whose, r.max_parallel, r.max_parallel)
end

--- What rates alone and together say. Pure.
-- @tparam {table,...} drives  each with `name`, `alone_bytes_per_s`, `together_bytes_per_s`; `ratio` is
--   set. Those without both rates do not count
-- @treturn table  as of `run`
-- @usage contention.judge { { name = "sdb", alone_bytes_per_s = 2e8, together_bytes_per_s = 1e8 }, … }
function M.judge(drives)
  local r = { drives = drives, alone_bytes_per_s = 0.0, together_bytes_per_s = 0.0, slowed = {} }
  local count = 0
  for _, d in ipairs(drives) do
    if (d.alone_bytes_per_s or 0) > 0 and d.together_bytes_per_s then
      count = count + 1
      d.ratio = d.together_bytes_per_s / d.alone_bytes_per_s
      r.alone_bytes_per_s = r.alone_bytes_per_s + d.alone_bytes_per_s
      r.together_bytes_per_s = r.together_bytes_per_s + d.together_bytes_per_s
      if d.ratio < KEPT then r.slowed[#r.slowed + 1] = d.name end
    end
  end
  r.ratio = r.alone_bytes_per_s > 0 and r.together_bytes_per_s / r.alone_bytes_per_s or nil
  r.limited = count >= 2 and #r.slowed > 0
  if r.limited then r.max_parallel = math.max(1, math.floor(r.ratio * count + 0.05)) end
  r.sentence = sentence_of(r, count)
  return r
end

-- Reads go on where those before ended: nothing comes from a drive's cache, and nothing from another zone.
local function start(entry, drive, p)
  local length = drive.size - entry.next
  if length < p.block_size * 16 then entry.next, length = 0, drive.size end
  return drive:start {
    block_size = math.min(p.block_size, length // drive.logical_block_size * drive.logical_block_size),
    depth = p.depth, offset = entry.next, length = length, loop = true, runtime = p.runtime, slowest = 0,
  }
end

local function finish(entry, drive, job, key)
  local result = job:wait()
  if result.interrupted then task.check() end -- raises hdd.interrupted
  entry[key] = result.ios > 0 and result.bandwidth_bytes_per_s or nil
  if not entry[key] then entry.error = "no read of it succeeded" end
  local block = drive.logical_block_size
  entry.next = (entry.next + result.issued_bytes) % drive.size // block * block
end

local function wait_for(job, report)
  while not job:wait(SLICE_S) do report(job:progress().elapsed_s or 0) end
end

--- Reads drives one at a time, then all at once: sequentially, for a short time each.
-- @tparam {Drive,...} drives
-- @tparam ?table given  `runtime` (2 s each), `block_size` (1048576), `depth` (2)
-- @tparam ?table observer  `progress` = function(state): `stage`, `share`
-- @treturn table  `drives` of {`path`, `name`, `controller` (its driver), `alone_bytes_per_s`,
--   `together_bytes_per_s`, `ratio`, `error`}; `alone_bytes_per_s` and `together_bytes_per_s` (sums),
--   `ratio`; `limited`: true when one of them kept less than 90 % of its rate; `slowed`, which; `max_parallel`:
--   how many at a time would keep theirs; `sentence`
-- @return or nil, message, code
function M.run(drives, given, observer)
  given = given or {}
  local p = {
    runtime = given.runtime or RUNTIME_S, block_size = given.block_size or BLOCK,
    depth = given.depth or DEPTH,
  }
  if type(p.runtime) ~= "number" or p.runtime ~= p.runtime or p.runtime <= 0 then
    return nil, "runtime: must be a number of seconds above 0", EINVAL
  end
  task.may_wait()
  local entries = {}
  for i, drive in ipairs(drives) do
    entries[i] = { path = drive.path, name = drive.name, controller = drive.controller, next = 0 }
  end
  if #drives < 2 then return M.judge(entries) end
  local whole_s, done_s = p.runtime * (#drives + 1), 0
  local function report(stage)
    return function(s)
      if observer and observer.progress then
        observer.progress { stage = stage, share = math.min(1, (done_s + s) / whole_s),
          left_s = math.max(0, whole_s - done_s - s) }
      end
    end
  end
  for i, drive in ipairs(drives) do
    local job, message = start(entries[i], drive, p)
    if job then
      wait_for(job, report("reading " .. entries[i].name .. " alone"))
      finish(entries[i], drive, job, "alone_bytes_per_s")
    else
      entries[i].error = message
    end
    done_s = done_s + p.runtime
  end
  local jobs, began_ns = {}, core.now()
  for i, drive in ipairs(drives) do
    if not entries[i].error then jobs[i], entries[i].error = start(entries[i], drive, p) end
  end
  for i, drive in ipairs(drives) do
    if jobs[i] then
      wait_for(jobs[i], function() report("reading all")((core.now() - began_ns) / 1e9) end)
      finish(entries[i], drive, jobs[i], "together_bytes_per_s")
    end
  end
  for _, entry in ipairs(entries) do entry.next = nil end
  return M.judge(entries)
end

return M
