--- A measurement under way: the document that it fills, its clock, and what every procedure does
-- the same way: wake the drive, run jobs and account for what went wrong in them, tell how far it
-- is.
--
-- It is over before its time (`over` = "interrupted" or "failed") after Ctrl-C, when the task it
-- runs in is cancelled, when the drive is lost or no longer answers, and when there are too many
-- read errors.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.measurement
local core = require "hdd.core"
local document = require "hdd.document"
local foreign = require "hdd.foreign"
local task = require "hdd.task"
local units = require "hdd.units"

local M = {}
local Measurement = {}
Measurement.__index = Measurement

local SLICE_S <const> = 0.25 -- between two looks at a job
local WAKE_S <const>, READ_S <const> = 120, 30 -- a drive that takes longer does not answer
local FAILURES <const>, STALLS <const>, SLOWEST <const> = 256, 256, 16
local ETIMEDOUT <const> = 110

--- Begins: the document is there from now on, and the drive's counters are watched.
-- @tparam Drive drive
-- @tparam string schema        of the document
-- @tparam table parameters     all of them, defaults filled in
-- @tparam ?table observer      `progress` = function(state), at most a few times a second: `stage`,
--   `share` (0 to 1), `elapsed_s`, `left_s`, `errors`, and where known `bandwidth_bytes_per_s`,
--   `iops`, `position_bytes`, `idle_s`, `oldest_offset_bytes`; `save` = function(document),
--   whenever something was added to it
-- @treturn Measurement  `document`, `drive`, `over`
function M.begin(drive, schema, parameters, observer)
  local self = setmetatable({
    drive = drive, observer = observer or {}, max_errors = parameters.max_errors or math.maxinteger,
    document = document.new(schema, drive:identity(), parameters),
    started_ns = core.now(), jobs = 0, issued_bytes = 0, read_bytes = 0, notes = {},
  }, Measurement)
  self.document.failures, self.document.slowest, self.document.stalls = {}, {}, {}
  self.watch = foreign.begin(drive, function() return self.read_bytes end)
  if drive.in_memory then
    self:warn("it lies in memory (tmpfs, zram or the like): this measures no drive")
  end
  return self
end

--- Seconds since it began.
function Measurement:time_s()
  return (core.now() - self.started_ns) / 1e9
end

--- Adds a warning to the document, once: if it comes again, with other figures, it is counted.
-- @tparam string sentence
function Measurement:warn(sentence)
  local key = sentence:gsub("%d+", "#")
  local note = self.notes[key]
  if not note then
    note = { times = 0, index = #self.document.warnings + 1 }
    self.notes[key] = note
  elseif note.sentence == sentence then
    return
  end
  note.times, note.sentence = note.times + 1, sentence
  self.document.warnings[note.index] = sentence
    .. (note.times > 1 and string.format(" (the last of %d such)", note.times) or "")
end

-- Ends it before its time; the first reason counts.
function Measurement:fail(sentence)
  self.over = self.over or "failed"
  self:warn(sentence)
end

--- Tells the observer how far it is.
-- @tparam table state      `stage`, `share`, `left_s` and what else is known
-- @tparam ?table progress  of the job that runs
function Measurement:report(state, progress)
  if not self.observer.progress then return end
  progress = progress or {}
  state.elapsed_s = self:time_s()
  state.errors = self.document.errors + (progress.errors or 0)
  state.idle_s, state.oldest_offset_bytes = progress.idle_s, progress.oldest_offset_bytes
  self.observer.progress(state)
end

--- Hands the document to the observer, to be saved.
function Measurement:save()
  if self.observer.save then self.observer.save(self.document) end
end

-- Waits until the reads of a queue are done. One that takes too long stays with the kernel; its queue
-- is not used again.
local function await(self, queue, live, limit_s, state)
  local since_ns, issued = core.now(), queue:issued()
  while live > 0 do
    task.wait { fd = queue:fd(), deadline_ns = core.now() + math.floor(SLICE_S * 1e9) }
    live = queue:step(false)
    if queue:issued() ~= issued then since_ns, issued = core.now(), queue:issued() end
    local idle_s = (core.now() - since_ns) / 1e9
    if live > 0 and idle_s >= SLICE_S then
      self:report({ stage = state.stage },
        { idle_s = idle_s, oldest_offset_bytes = state.offset, errors = state.errors })
      task.check()
      if idle_s > limit_s then return false end
    end
  end
  return true
end

--- Calls a function with the slot of a queue of depth 1, for reads that are decided one by one.
-- @tparam integer length    bytes of its largest read
-- @tparam function f        called with the slot, see hdd.queue; it waits for nothing but its reads
-- @tparam table state       `stage` is what the observer is told while a read takes long; `offset`,
--   if f sets it, is where that read is
-- @tparam[opt=30] number limit_s  for each read
-- @treturn boolean  true
-- @return or nil, message, code when no queue could be had, or a read was not answered
function Measurement:perform(length, f, state, limit_s)
  task.check()
  if not self.queue or length > self.queue_block then
    if self.queue then self.queue:close() end
    local queue, message, code =
      self.drive:queue { block_size = length, slowest = 0, intervals = 2 }
    self.queue, self.queue_block = queue, length
    if not queue then return nil, message, code end
  end
  local queue = self.queue
  local before = queue:issued()
  local live = assert(queue:begin(f))
  local answered = await(self, queue, live, limit_s or READ_S, state)
  self.read_bytes = self.read_bytes + queue:issued() - before
  if answered then return true end
  queue:close()
  self.queue = nil
  return nil, string.format("no answer to a read%s for %s",
    state.offset and string.format(" at offset %d", state.offset) or "",
    units.duration_text(limit_s or READ_S)), ETIMEDOUT
end

--- One read that is not part of any result.
-- @tparam integer offset  bytes
-- @tparam integer length  bytes, at most 1 MiB
-- @tparam string stage    what the observer is told
-- @tparam[opt=30] number limit_s
-- @treturn string  the bytes
-- @return or nil, message, code
function Measurement:read(offset, length, stage, limit_s)
  local ns, data, code
  local done, message, number = self:perform(length, function(slot)
    ns, data, code = slot:read(offset, length, true)
  end, { stage = stage, offset = offset }, limit_s)
  if not done then return nil, message, number end
  if not ns then return nil, data, code end
  return data
end

--- Wakes the drive with a read at a random place of a range (what its buffer holds would not wake
-- it); the time is kept apart, as `wake_s` of the document.
-- @tparam integer from  bytes
-- @tparam integer to    bytes, exclusive
-- @treturn boolean  true
-- @return or nil, message, code when nothing can be read from here at all
function Measurement:wake(from, to)
  local block = math.max(self.drive.logical_block_size, 512)
  local count = math.max(1, (to - from) // block)
  local began_ns = core.now()
  local data, message, code = self:read(from + math.random(0, count - 1) * block,
    math.min(block, to - from), "waking the drive", WAKE_S)
  self.document.wake_s = (core.now() - began_ns) / 1e9
  if not data and not self.queue and code ~= ETIMEDOUT then return nil, message, code end
  if not data and code == ETIMEDOUT then self:fail("the drive does not answer: " .. message) end
  return true -- one bad sector is no reason to stop
end

-- Appends entries to a bounded list, their times made those of the whole run.
local function append(list, entries, most, start_s)
  for _, entry in ipairs(entries) do
    if #list >= most then return end
    entry.time_s = entry.time_s and entry.time_s + start_s
    list[#list + 1] = entry
  end
end

local function merge_slowest(list, entries, start_s)
  append(list, entries, #list + #entries, start_s)
  table.sort(list, function(a, b) return a.latency_ns > b.latency_ns end)
  for i = #list, SLOWEST + 1, -1 do list[i] = nil end
end

-- Why there must be no further job: "interrupted" or "failed", and a sentence for the document.
local function reason_to_end(self, result)
  if result.interrupted or result.stopped_by == "stop" then return "interrupted" end
  if result.stopped_by == "device lost" then return "failed" end -- it is among the job's warnings
  if result.stopped_by == "kernel" then return "failed" end
  if result.stopped_by == "closed" then return "failed", "the drive was closed" end
  if self.document.errors >= self.max_errors then
    return "failed", "too many read errors (max_errors): the drive is spared the rest"
  end
end

local function account(self, result, start_s)
  local d = self.document
  d.errors = d.errors + result.errors
  append(d.failures, result.failures, FAILURES, start_s)
  append(d.stalls, result.stalls, STALLS, start_s)
  merge_slowest(d.slowest, result.slowest, start_s)
  for _, warning in ipairs(result.warnings) do self:warn(warning) end
  self.issued_bytes = self.issued_bytes + result.issued_bytes
  local over, sentence = reason_to_end(self, result)
  self.over = self.over or over
  if sentence then self:warn(sentence) end
end

-- Reads were given up: does the drive answer another one? It may try for half a minute to read a bad
-- sector, and then it goes on.
local function look_for_life(self, offset, length)
  local block = self.drive.logical_block_size
  local place = offset + math.random(0, math.max(1, length // block) - 1) * block
  local done, data, message, code =
    pcall(self.read, self, place, block, "waiting for the drive to answer")
  if not done and data ~= core.interrupted then error(data, 0) end
  if not done then
    self.over = self.over or "interrupted"
  elseif not data and code == ETIMEDOUT then
    self:fail("the drive no longer answers: " .. message)
  end
end

--- Runs a job and accounts for it in the document. Ctrl-C and faults of the drive end it early, and
-- set `over`.
-- @tparam table options   of `drive:start`; its `max_errors` only ends the job
-- @tparam function state  of the job's progress: what the observer is told, see `begin`
-- @treturn table  results of `drive:run`
-- @return or nil, message, code when it could not be started
function Measurement:run(options, state)
  local most = math.max(1, self.max_errors - self.document.errors)
  options.max_errors = math.min(options.max_errors or most, most)
  local start_s = self:time_s() + (options.ramp or 0)
  local job, message, code = self.drive:start(options)
  if not job then return nil, message, code end
  self.jobs = self.jobs + 1
  local result
  repeat
    result = job:wait(SLICE_S)
    if not result and self.observer.progress then
      local progress = job:progress()
      self:report(state(progress), progress)
    end
  until result
  account(self, result, start_s)
  if #result.abandoned > 0 and not self.over then
    look_for_life(self, options.offset or 0, options.length or self.drive.size)
  end
  return result
end

--- Calls the measuring part of a procedure. Ctrl-C ends it, and so does what cannot be started once
-- something has been measured; other errors are raised on, with their traceback.
-- @tparam function f  returns true, or nil, message, code when it cannot be done
-- @treturn boolean  true, also when it is over before its time
-- @return or nil, message, code when nothing was measured
function Measurement:attempt(f)
  local ok, done, message, code = xpcall(f, function(failure)
    return failure == core.interrupted and failure or debug.traceback(tostring(failure), 2)
  end)
  if not ok and done ~= core.interrupted then error(done, 0) end
  if not ok then
    self.over = self.over or "interrupted"
  elseif not done then
    if self.jobs == 0 then
      self:close()
      return nil, message, code
    end
    self:fail(message)
  end
  return true
end

--- Lets go of what is open. Harmless the second time.
function Measurement:close()
  if self.queue then self.queue:close() end
  self.queue = nil
end

--- Ends the measurement: what others did on the drive meanwhile is added, and the document
-- finished.
-- @treturn table  the document
function Measurement:finish()
  self:close()
  local d = self.document
  d.foreign, d.steal = self.watch:finish(self.read_bytes)
  for _, warning in ipairs(foreign.warnings(d.foreign, d.steal, self.issued_bytes)) do
    self:warn(warning)
  end
  d.summary.read_bytes, d.summary.elapsed_s = self.issued_bytes, self:time_s()
  return document.finish(d, self.over or "complete")
end

return M
