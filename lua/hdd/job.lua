--- A workload that runs: what the C core's Job does, and waiting for it.
--
-- - `:progress()`: how far it is, without stopping it: `phase` ("starting", "ramp", "run", "drain",
--   "finished"), `ios`, `bytes`, `errors` (of the counted part), `issued_bytes` (ramp and all),
--   `elapsed_s` (since its start), `position_bytes` (of the last completion), `idle_s` (since then, or
--   since something is in flight), `oldest_offset_bytes` (what has been waited for longest, in a
--   silence), `records_error` (why the file of records is not written any more), `done_to_bytes`,
--   `durable_to_bytes` (of a write) and `mismatches` (of a verify)
-- - `:snapshot()`: `latency` (Histogram) and `series` as they were at one instant; nil until the
--   job's thread has made one. Each call asks for the next
-- - `:stop()`: end it; what was measured is its result
-- - `:finished()`: has it ended?
-- - `:fd()` and `:attend()` are the scheduler's: the descriptor becomes readable when the job wants
--   offsets, someone to take its records, or has finished
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @classmod hdd.job
local core = require "hdd.core"
local task = require "hdd.task"

local Job = core.Job
local M = {}

local ETIMEDOUT <const> = 110

local watches = setmetatable({}, {__mode = "k"}) -- job -> its foreign.Watch, until it has finished

-- Whether these are options at all is for the core to say.
local function in_flight_bytes(options)
  if type(options) ~= "table" then return 0 end
  local depth, block_size = options.depth or 1, options.block_size or 4096
  return math.type(depth) == "integer" and math.type(block_size) == "integer" and depth * block_size or 0
end

-- What was issued, as bytes read and bytes written.
local function by_direction(bytes, writes)
  if writes then return 0, bytes end
  return bytes, 0
end

--- Start a job. Users call `drive:start`.
-- @tparam Drive drive
-- @tparam table options  see `hdd.device`
-- @treturn[1] Job
-- @return[2] nil, message, code
function M.start(drive, options)
  task.check()
  local job, message, code
  local watch
  local writes = type(options) == "table" and options.operation == "write"
  if drive.type ~= "character" then -- no drive: nobody's I/O on it matters
    watch = require("hdd.foreign").begin(drive, function()
      return by_direction(job and job:progress().issued_bytes or 0, writes)
    end, in_flight_bytes(options))
  end
  job, message, code = core.start(drive.device, options)
  if not job then return nil, message, code end
  watches[job] = watch
  if type(options.pattern) == "function" or type(options.records) == "function" then
    task.attend(job:fd(), function() return job:attend() end)
  end
  return job
end

-- A job that nobody will wait for any more is stopped: the wait raised, or its task was closed.
local unwatched = {__close = function(guard) guard.job:stop() end}

--- Start a job and wait for its end. Users call `drive:run`.
-- @tparam Drive drive
-- @tparam table options  see `hdd.device`
-- @treturn[1] table its results
-- @return[2] nil, message, code
function M.run(drive, options)
  task.may_wait()
  local job, message, code = M.start(drive, options)
  if not job then return nil, message, code end
  local guard <close> = setmetatable({job = job}, unwatched)
  return guard.job:wait()
end

--- The results of a finished job; nil while it runs.
-- Raises what its pattern function or its record function has raised.
-- @treturn ?table see `hdd.device`
-- @usage local r = job:result()
function Job:result()
  if not self:finished() then return nil end
  local watch = watches[self]
  watches[self] = nil
  local result = self:outcome()
  if watch then
    result.foreign, result.steal = watch:finish(by_direction(result.issued_bytes, result.operation == "write"))
  end
  return result
end

--- Wait until a job has finished. In a task the others go on meanwhile. After Ctrl-C the result is
-- what was measured until then, with `interrupted` set.
-- @tparam[opt] number timeout_s
-- @treturn[1] table the results, as of `Job:result`
-- @return[2] nil, message, code (110, ETIMEDOUT)
-- @usage local job = assert(drive:start {pattern = "random", runtime = 60})
-- local r = job:wait()
function Job:wait(timeout_s)
  task.may_wait()
  local deadline_ns = timeout_s and core.now() + math.floor(timeout_s * 1e9)
  while not self:attend() do
    local ready = task.wait {
      fd = self:fd(), deadline_ns = deadline_ns, cancel = function() self:stop() end,
    }
    if not ready then return nil, "the job still runs: timed out", ETIMEDOUT end
  end
  return self:result()
end

return M
