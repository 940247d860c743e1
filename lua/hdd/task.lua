--- Tasks: ordinary code for one drive, run for many at a time in one process.
--
-- A task is a coroutine made here. What waits in it (a run, a sleep, another task) lets the others
-- go on; all their waits are one poll. What waits in the main program runs the tasks meanwhile, and
-- only then: a task begins at the next wait, and those left over when the program ends are dropped.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.task
local core = require "hdd.core"

local M = {}

local Task = {}
Task.__index = Task
Task.__name = "hdd.task"

local EINTR <const> = 4
local REPORTED <const> = 16 -- errors that nobody collected, kept whole; the rest are counted

local current           -- the task that runs now; nil in the main program
local ready = {}        -- tasks to be resumed, in turn
local waiting = {}      -- waits that are not over yet, in the order in which they began
local attended = {}     -- fd -> function
local attending = false -- one of these functions runs
local uncollected = {}  -- failed tasks that nobody has waited for yet
local uncounted = 0     -- further ones

-- A wait: fd, deadline_ns, interruptible, cancel as in M.wait; awaited: a task; task: whose wait it
-- is, nil for the main program's. In the end over = true, and outcome = what M.wait returns.
local function finish(wait, outcome)
  wait.over, wait.outcome = true, outcome
  if wait.task then
    wait.task.wait_now = nil
    ready[#ready + 1] = wait.task
  end
end

local function ended(task, failure, traceback)
  task.state, task.co, task.start = "done", nil, nil
  task.failed, task.failure, task.traceback = failure ~= nil, failure, traceback
  for _, wait in ipairs(waiting) do
    if wait.awaited == task and not wait.over then finish(wait, true) end
  end
  if failure == nil or failure == core.interrupted then return end
  if #uncollected < REPORTED then
    uncollected[#uncollected + 1] = task
  else
    uncounted = uncounted + 1
  end
end

-- Runs a task until it waits or ends. An error closes what it held, which may bring another error.
-- After Ctrl-C each task has the grace time to itself, however long the others took.
local function resume(task)
  if task.state == "done" then return end -- cancelled before it began
  local co, arguments = task.co, task.start or {n = 0}
  current, task.start = task, nil
  core.interrupt_grace()
  local results = table.pack(coroutine.resume(co, table.unpack(arguments, 1, arguments.n)))
  core.interrupt_grace()
  current = nil
  if not results[1] then
    local traceback = debug.traceback(co)
    local _, failure = coroutine.close(co)
    ended(task, failure == nil and "nil" or failure, traceback)
  elseif coroutine.status(co) == "dead" then
    task.results = results
    ended(task)
  elseif not task.wait_now then -- it yielded by itself: the others have their turn
    ready[#ready + 1] = task
  end
end

local function attend(readable)
  local due = {}
  for fd in pairs(attended) do
    if readable[fd] then due[#due + 1] = fd end
  end
  for _, fd in ipairs(due) do
    attending = true
    local ok, done = xpcall(attended[fd], debug.traceback)
    attending = false
    if not ok then io.stderr:write("hddlua: ", tostring(done), "\n") end
    if done then attended[fd] = nil end
  end
end

-- One poll for all. False when there is nothing that could ever happen.
local function poll()
  local fds, deadline, hopeless = {}, math.maxinteger, true
  for _, wait in ipairs(waiting) do
    if not wait.over then
      fds[#fds + 1] = wait.fd
      deadline = math.min(deadline, wait.deadline_ns or math.maxinteger)
      hopeless = hopeless and not wait.interruptible
    end
  end
  for fd in pairs(attended) do fds[#fds + 1] = fd end
  local timeout
  if ready[1] then
    timeout = 0
  elseif deadline < math.maxinteger then
    timeout = math.max(0, deadline - core.now()) / 1e9
  elseif not fds[1] and hopeless then
    return false
  end
  local readable = assert(core.poll(fds, timeout))
  attend(readable)
  local now, interrupt = core.now(), core.interrupt_pending()
  local still = {}
  for _, wait in ipairs(waiting) do
    if not wait.over then -- else cancelled, or the task that it was for has ended
      if wait.fd and readable[wait.fd] then
        finish(wait, true)
      elseif wait.interruptible and interrupt then
        finish(wait, nil)
      elseif wait.deadline_ns and now >= wait.deadline_ns then
        finish(wait, false)
      else
        still[#still + 1] = wait
      end
    end
  end
  waiting = still
  return true
end

-- The main program's wait: every task that is ready has one turn, then everyone's waits are looked
-- at, and so on.
local function run_until_over(wait)
  waiting[#waiting + 1] = wait
  while true do
    for _ = 1, #ready do resume(table.remove(ready, 1)) end
    if wait.over then return end
    if not poll() then
      wait.over = true
      error("nothing can end this wait: the tasks wait for one another", 4)
    end
  end
end

-- Raises, at the level of the caller's caller, where nothing may wait.
local function check_place()
  local co, is_main = coroutine.running()
  if is_main then current = nil end -- whatever became of the task that an error left behind
  if attending then
    error("a pattern's or records' function must not wait", 4)
  elseif core.in_slot() then
    error("a queue's slot must not wait for anything but its own reads", 4)
  elseif current and co ~= current.co then
    error("in a task, only the task's own function may wait, not a coroutine made in it", 4)
  end
end

-- A cancelled task hears of it once, in the wait that it is in or in the next that can end: it may
-- have been running, or ready to, when it was cancelled (an observer that cancels its own scan).
local function tell_cancelled(wait)
  local task = wait.task
  if wait.cancel then
    task.told = true
    wait.cancel()
  elseif wait.interruptible or wait.awaited then
    task.told = true
    finish(wait, nil)
  end
end

-- Waits as M.wait, for whoever calls.
local function wait_for(wait)
  check_place()
  if not current then
    run_until_over(wait)
  else
    wait.task, current.wait_now = current, wait
    waiting[#waiting + 1] = wait
    if current.cancelled and not current.told then tell_cancelled(wait) end
    while not wait.over do coroutine.yield() end
  end
  return wait.outcome
end

--- Raise where nothing may wait: in a queue's slot, a pattern's function, a coroutine made in a task.
-- Whatever waits calls it first, so that it fails also when there would be nothing to wait for.
function M.may_wait()
  check_place()
end

--- Wait for a descriptor or a time. In a task the others go on meanwhile; in the main program the
-- tasks do. A signal alone does not end it, so that a job stopped by one can hand over what it has.
-- @tparam table what
--   `fd` (descriptor or open file that is to become readable),
--   `deadline_ns` (of the monotonic clock, see hdd.now),
--   `cancel` (function, called if this task is cancelled while it waits, or was since its last wait),
--   `interruptible` (true: a signal or M.cancel ends the wait, too)
-- @treturn boolean|nil true when it is readable, false at the deadline, nil when interrupted
-- @usage local ready = task.wait {fd = pipe, deadline_ns = hdd.now() + 1000000000}
function M.wait(what)
  return wait_for {
    fd = what.fd, deadline_ns = what.deadline_ns, cancel = what.cancel,
    interruptible = what.interruptible,
  }
end

--- Raise hdd.interrupted when Ctrl-C (SIGTERM, SIGHUP) is pending or this task was cancelled.
-- Whatever starts I/O calls it first.
-- @usage task.check()
function M.check()
  if core.interrupt_pending() or current and current.cancelled then
    error(core.interrupted, 0)
  end
end

--- Sleep. Raises hdd.interrupted as soon as there is reason to.
-- @tparam number seconds
-- @usage hdd.sleep(0.5)
function M.sleep(seconds)
  if type(seconds) ~= "number" or seconds < 0 or seconds ~= seconds then
    error("sleep: seconds, 0 or more, expected, not " .. tostring(seconds), 2)
  end
  M.check()
  local deadline_ns
  if seconds < 4e9 then deadline_ns = core.now() + math.floor(seconds * 1e9) end
  if wait_for {deadline_ns = deadline_ns, interruptible = true} == nil then
    error(core.interrupted, 0)
  end
  M.check()
end

--- Could nothing but the caller run on now, if the caller did not wait here but blocked?
-- @treturn boolean  false when other tasks are ready or wait for something that may come
-- @usage live = queue:step(task.alone())
function M.alone()
  if ready[1] or next(attended) then return false end
  for i = 1, #waiting do
    if not waiting[i].over and not waiting[i].awaited then return false end
  end
  return true
end

--- While anything waits, call a function whenever a descriptor is readable.
-- @tparam integer fd
-- @tparam function f  returns true when it is done and to be forgotten; must not wait itself
-- @usage task.attend(job:fd(), function() return job:attend() end)
function M.attend(fd, f)
  attended[fd] = f
end

--- Start a task. It begins at the next wait.
-- @tparam function f
-- @param ... its arguments
-- @treturn Task
-- @usage local t = hdd.task(function() return drive:run {runtime = 10} end)
--   print(t:wait().iops)
function M.spawn(f, ...)
  if type(f) ~= "function" then
    error("task: a function expected, not " .. type(f), 2)
  end
  local task = setmetatable({
    state = "running", co = coroutine.create(f), start = table.pack(...),
  }, Task)
  ready[#ready + 1] = task
  return task
end

-- The results, or the error with where it came from; both can be had again and again.
local function collect(task)
  if not task.failed then return table.unpack(task.results, 2, task.results.n) end
  for i, failed in ipairs(uncollected) do
    if failed == task then table.remove(uncollected, i) break end
  end
  if type(task.failure) == "string" then
    error(task.failure .. "\ntask's " .. task.traceback, 0)
  end
  error(task.failure, 0)
end

--- Wait until a task has ended. If the task that calls this is cancelled, the wait ends with
-- hdd.interrupted, and the other goes on.
-- @return what its function returned
-- @raise what its function raised; a message gets the task's traceback
-- @usage local result = t:wait()
function Task:wait()
  if self == current then error("a task cannot wait for itself", 2) end
  if self.state ~= "done" then
    if current and current.cancelled or not wait_for {awaited = self} then
      error(core.interrupted, 0)
    end
  end
  return collect(self)
end

--- End a task: what it waits for is stopped, and what it would start next raises hdd.interrupted
-- in it. Harmless when it has ended.
-- @usage t:cancel()
function Task:cancel()
  if self.state == "done" or self.cancelled then return end
  self.cancelled = true
  if self.start then
    ended(self, core.interrupted)
  elseif self.wait_now then
    tell_cancelled(self.wait_now)
  end
end

--- Has it ended?
-- @treturn boolean
-- @usage if t:done() then print(t:wait()) end
function Task:done()
  return self.state == "done"
end

function Task:__tostring()
  return ("hdd.task: %s"):format(self.state ~= "done" and "running" or
    self.failed and "failed" or "done")
end

-- What M.each says of one drive. `drive` is what the caller gave: a path or a Drive.
local function one(drive, f)
  local traceback
  local ok, result, message, code = xpcall(function()
    M.check()
    if type(drive) ~= "string" then return f(drive) end
    local open <close>, message, code = require("hdd").open(drive)
    if not open then return nil, message, code end
    return f(open)
  end, function(failure)
    traceback = debug.traceback("", 2):sub(2)
    return failure
  end)
  if not ok and result == core.interrupted then
    return {drive = drive, message = "interrupted", code = EINTR}
  elseif not ok then
    return {drive = drive, message = tostring(result), traceback = traceback}
  elseif result == nil and message ~= nil then -- it says itself that it failed
    return {drive = drive, message = message, code = code}
  end
  return {drive = drive, result = result}
end

--- Call a function for each of several drives, at the same time. One that fails or raises does not
-- end the others; Ctrl-C, or cancelling the task that called this, ends all.
-- @tparam {string|Drive,...} drives  paths are opened, and closed in the end; Drives are left open
-- @tparam function f  called with each Drive
-- @tparam[opt] table options  `max_parallel`: how many at a time (all)
-- @treturn {table,...} in the order of `drives`: `{drive =, result =}`, or `{drive =, message =}`
--   with `code` (errno value) or `traceback` where there is one; `drive` is what was given
-- @usage for _, r in ipairs(hdd.each({"/dev/sdb", "/dev/sdc"}, function(drive)
--     return drive:run {pattern = "random", ios = 1000}
--   end)) do print(r.drive, r.result and r.result.iops or r.message) end
function M.each(drives, f, options)
  local parallel = options and options.max_parallel or math.max(1, #drives)
  if type(f) ~= "function" then
    error("each: a function expected, not " .. type(f), 2)
  elseif math.type(parallel) ~= "integer" or parallel < 1 then
    error("each: max_parallel is an integer, 1 or more, not " .. tostring(parallel), 2)
  end
  M.check()
  local entries, workers, last = {}, {}, 0
  local function work()
    while last < #drives do
      last = last + 1
      local i = last
      entries[i] = one(drives[i], f)
    end
  end
  for i = 1, math.min(parallel, #drives) do workers[i] = M.spawn(work) end
  local function cancel()
    for _, worker in ipairs(workers) do worker:cancel() end
  end
  for _, worker in ipairs(workers) do
    if not worker:done() then wait_for {awaited = worker, cancel = cancel} end
    if worker.failed and worker.failure ~= core.interrupted then collect(worker) end
  end
  for i, drive in ipairs(drives) do
    entries[i] = entries[i] or {drive = drive, message = "interrupted", code = EINTR}
  end
  return entries
end

-- At the program's end: what went wrong unseen is told.
local function report()
  for _, task in ipairs(uncollected) do
    io.stderr:write("hddlua: a task failed, and nothing waited for it: ", tostring(task.failure),
      "\n", task.traceback, "\n")
  end
  if uncounted > 0 then io.stderr:write("hddlua: so did ", uncounted, " more\n") end
  -- An error in a finalizer is hddlua's exit status 1: a program with failed tasks has failed.
  if uncollected[1] then error("tasks have failed", 0) end
end

return setmetatable(M, {__gc = report})
