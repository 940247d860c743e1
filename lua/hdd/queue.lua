--- One read at a time, for scripts that decide from each completion.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @classmod hdd.queue
local core = require "hdd.core"
local foreign = require "hdd.foreign"
local task = require "hdd.task"

local Queue = core.Queue
local M = {}

local drives = setmetatable({}, {__mode = "k"}) -- queue -> its drive
local in_use = setmetatable({}, {__mode = "k"}) -- queue -> true while it calls a function

-- However it ends: slots that have not ended do so now, and what was read is accounted for.
local use = {__close = function(self)
  local queue = self.queue
  in_use[queue] = nil
  queue:cancel()
  if self.watch then self.watch:finish(queue:issued() - self.before) end
end}

--- Open a queue. Users call `drive:queue`.
-- @tparam Drive drive
-- @tparam[opt] table options  `depth` (1), `block_size` (4096) and others of `drive:run`
-- @treturn[1] Queue
-- @return[2] nil, message, code
function M.open(drive, options)
  task.check()
  local queue, message, code = core.queue(drive.device, options)
  if not queue then return nil, message, code end
  drives[queue] = drive
  return queue
end

--- Call a function in a coroutine for each slot, until all have returned.
--
-- `slot:read(offset[, length[, data]])` reads `length` bytes (block_size) and returns the latency in
-- ns, and the bytes as a string if `data` is true; or nil, message, code. The other slots go on
-- meanwhile.
-- @tparam function f  called with its slot
-- @treturn table results as of `drive:run`, with `timing = "script"`: a completion may have waited
--   for Lua code before it was stamped
-- @usage local q <close> = drive:queue {depth = 4, block_size = 512}
-- q:each(function(slot)
--   for _ = 1, 100 do print(slot:read(hdd.random(drive.size, 512))) end
-- end)
function Queue:each(f)
  if type(f) ~= "function" then error("each: a function expected, not " .. type(f), 2) end
  task.check()
  task.may_wait()
  if in_use[self] then error("this queue is in use: its slots have not all ended", 2) end
  in_use[self] = true
  local before = self:issued()
  local now <close> = setmetatable({queue = self, before = before}, use)
  now.watch = foreign.begin(drives[self], function() return self:issued() - before end)
  local live, message, code = self:begin(f)
  if not live then return nil, message, code end
  while live > 0 do
    -- Alone, the queue waits in its own ring: a poll a read would cost a fast drive its IOPS.
    local alone = task.alone()
    if not alone then task.wait {fd = assert(self:fd()), interruptible = true} end
    live = self:step(alone)
    task.check()
  end
  local result = self:outcome()
  local watch = now.watch
  now.watch = nil
  result.foreign, result.steal = watch:finish(self:issued() - before)
  return result
end

return M
