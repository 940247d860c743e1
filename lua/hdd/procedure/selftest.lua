--- A drive's self-test, to a verdict: started, watched, and what came of it.
--
-- The drive's state says when it is over, and a new entry in its log confirms that: a time is never
-- taken for a result. A test that stands still, is ended by a reset or by another program, is
-- reported as just that. Ctrl-C ends the waiting; the test goes on in the drive.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.selftest
local core = require "hdd.core"
local document = require "hdd.document"
local health = require "hdd.health"
local kinds = require "hdd.procedure.selftest.kinds"
local snapshot = require "hdd.procedure.snapshot"
local task = require "hdd.task"
local transport = require "hdd.transport"
local units = require "hdd.units"

local M = {}

local EBUSY <const>, EOPNOTSUPP <const>, ENODEV <const> = 16, 95, 19
local TYPES <const> = {
  short = true, extended = true, conveyance = true, selective = true, running = true,
}
local SILENT_LOOKS <const> = 5       -- in a row that failed: the drive no longer answers
local STALL_S <const> = 600          -- without progress, and at least two tenths of the test
local GRACE_S <const> = 5            -- in which a test that was started shows that it runs
local LOG_S <const>, LOG_LOOKS <const> = 1, 5 -- that a drive may take to write its log
local UNKNOWN_LIMIT_S <const> = 48 * 3600 -- where the drive gives no estimate

--- Parameters with their defaults.
-- @tparam[opt] table given
-- @treturn table
-- @usage local p = selftest.parameters {type = "extended"}; print(p.stall)
function M.parameters(given)
  given = given or {}
  local p = {
    type = given.type or "short", wait = given.wait ~= false, spans = given.spans,
    poll = given.poll, limit = given.limit, stall = given.stall or STALL_S,
    grace = given.grace or GRACE_S, keep_awake = given.keep_awake, wake = given.wake, as = given.as,
  }
  if not TYPES[p.type] then
    error(("self-test: type = %s: must be short, extended, conveyance, selective or running")
      :format(tostring(p.type)), 3)
  end
  return p
end

-- What is known of a test that runs.
local Watch = {}
Watch.__index = Watch

function Watch:elapsed_s() return (core.now() - self.started_ns) / 1e9 end

function Watch:warn(sentence) table.insert(self.document.warnings, sentence) end

-- By the drive's own estimate, less what has passed since it last said how far it is.
function Watch:left_s()
  if not self.estimate_s or not self.remaining then return nil end
  local since_s = (core.now() - self.changed_ns) / 1e9
  return math.max(0, self.estimate_s * self.remaining / 100 - since_s)
end

function Watch:report()
  local progress = self.observer.progress
  if not progress then return end
  progress {
    stage = self.parameters.type .. " self-test", elapsed_s = self:elapsed_s(),
    share = self.remaining and 1 - self.remaining / 100 or nil, left_s = self:left_s(), errors = 0,
  }
end

function Watch:note(remaining)
  if remaining == self.remaining and self.noted then return end
  self.remaining, self.noted, self.changed_ns = remaining, true, core.now()
  table.insert(self.document.progress,
    {elapsed_s = self:elapsed_s(), remaining_percent = remaining})
  if self.observer.save then self.observer.save(self.document) end
end

-- A test that says the same for long is told once; it may go on all the same.
function Watch:look_for_stall()
  local still_s = (core.now() - self.changed_ns) / 1e9
  local limit = math.max(self.parameters.stall, self.estimate_s and self.estimate_s / 10 * 2 or 0)
  if still_s > limit and not self.stalled then
    self.stalled = true
    self:warn(("no progress for %s, with %s left"):format(units.duration_text(still_s),
      self.remaining and self.remaining .. " %" or "an unknown part"))
  end
end

-- Sleeps until the next look; false after an interruption.
function Watch:pause(poll_s)
  local until_ns = core.now() + math.floor(poll_s * 1e9)
  repeat
    self:report()
    local ok, failure = pcall(task.sleep, math.min(1, math.max(0, (until_ns - core.now()) / 1e9)))
    if not ok then
      if failure == core.interrupted then return false end
      error(failure, 0)
    end
  until core.now() >= until_ns
  return true
end

local function keep_awake(path)
  local drive <close> = require("hdd").open(path)
  if drive then drive:run {pattern = "random", block_size = 4096, ios = 1, seed = core.now()} end
end

-- Has the drive's log a new entry?
function Watch:is_noted(t, kind)
  local entries, bytes = kind.log(t)
  return bytes ~= self.log_before and entries ~= nil and entries[1] ~= nil
end

-- Until the drive says that it is over. Its last state, or nil and why the waiting ended.
function Watch:follow(t, kind)
  local silent, p = 0, self.parameters
  while true do
    local state, message, code = kind.look(t)
    if state and state.in_progress then
      silent, self.seen = 0, true
      self:note(state.remaining_percent)
      self:look_for_stall()
    elseif state and (self.seen or self:is_noted(t, kind) or self:elapsed_s() > p.grace) then
      return state
    elseif not state then
      silent = silent + 1
      if silent >= SILENT_LOOKS or code == ENODEV then
        return nil, "the drive no longer answers: " .. message
      end
    end
    if self:elapsed_s() > self.limit_s then
      return nil, ("still not over after %s, the limit of waiting"):format(
        units.duration_text(self.limit_s))
    end
    if p.keep_awake then keep_awake(t.path) end
    if not self:pause(p.poll) then return nil, "interrupted" end
  end
end

local VERDICTS = {[0] = "passed", "aborted", "interrupted"}

-- ATA's and SCSI's codes; NVMe's 3, 4 and 9 are aborts as well, 5 to 7 failures.
local function verdict_of(kind_name, e)
  if e.failed then return "failed" end
  if kind_name == "nvme" and (e.code == 3 or e.code == 4 or e.code == 8 or e.code == 9) then
    return "aborted"
  end
  return VERDICTS[e.code] or (e.code == 3 and "failed") or "unknown"
end

-- Is it healthy besides? A test that passed is not all.
function Watch:judge(t)
  local said = health.read(t)
  if not said then return end
  self.document.summary.health = said.verdict.status
  local worst = said.verdict.reasons[1]
  if said.verdict.status == "failing" or said.verdict.status == "warning" then
    self:warn("besides, something speaks against the drive (hddlua smart tells all): "
      .. worst.what)
  end
end

function Watch:conclude(t, kind, state)
  local is_new = self:is_noted(t, kind)
  for _ = 1, LOG_LOOKS do
    if is_new or not self:pause(LOG_S / LOG_LOOKS) then break end
    is_new = self:is_noted(t, kind)
  end
  local entries = kind.log(t)
  local newest = is_new and entries and entries[1] or nil
  local s = self.document.summary
  s.elapsed_s = self:elapsed_s()
  if not newest and (not self.seen or state.code == nil) then
    s.verdict, s.confirmed = "unknown", false
    self:warn("the drive was never seen testing, and its log has no new entry: "
      .. "nothing shows that it ran")
    return
  end
  -- The state decides; a log that says something else confirms nothing.
  s.confirmed = newest ~= nil and newest.code == state.code
  local entry = s.confirmed and newest or state
  s.verdict, s.result = verdict_of(t.kind, entry), entry.result
  s.failing_lba = s.verdict == "failed" and math.tointeger(entry.lba) or nil
  if newest and not s.confirmed then
    self:warn(("the drive's state is %q, the newest entry of its log %q: the state counts")
      :format(state.result, newest.result))
  elseif not newest then
    self:warn("the drive's log has no new entry: its state alone tells the result")
  end
  if s.verdict == "passed" and self.estimate_s and s.elapsed_s > 2 * self.estimate_s then
    self:warn(("it took %s, the drive's estimate was %s"):format(units.duration_text(s.elapsed_s),
      units.duration_text(self.estimate_s)))
  end
end

local function said_of(t)
  local said = {source = health.source(t)}
  local pages = t.kind == "scsi" and require("hdd.pages").read(t) or {identify = t.identify}
  if t.kind == "nvme" then pages.namespace = require("hdd.transport.nvme").namespace(t) end
  said.identity = require("hdd.drive." .. t.kind).decode(pages).identity
  return said
end

local function begin(t, parameters, observer)
  return setmetatable({
    document = document.new("hddlua.selftest/1", snapshot.drive(said_of(t)), parameters),
    parameters = parameters, observer = observer or {}, started_ns = core.now(),
    changed_ns = core.now(),
  }, Watch)
end

-- Starts the test, or joins the one that runs. True, or nil, message, code.
local function start(t, kind, parameters)
  local state, message, code = kind.look(t)
  local running = parameters.type == "running"
  if not running then
    local why = kind.refusal(t, parameters.type)
    if why then return nil, t.path .. ": " .. why, EOPNOTSUPP end
  end
  if not state then return nil, message, code end
  if state.in_progress and not running then
    local left = state.remaining_percent and state.remaining_percent .. " %" or "some"
    return nil, ("%s: a self-test is running already (%s left): wait for it (type running), "
      .. "or end it"):format(t.path, left), EBUSY
  elseif running then
    if state.in_progress then return true end
    return nil, t.path .. ": no self-test is running", EOPNOTSUPP
  end
  return kind.start(t, parameters)
end

local function poll_of(parameters, estimate_s)
  if parameters.poll then return parameters.poll end
  return math.min(60, math.max(1, (estimate_s or 600) / 100))
end

--- Run a self-test.
-- @tparam string|Drive drive
-- @tparam[opt] table parameters  `type` ("short", "extended", "conveyance", "selective", or
--   "running": the one that runs already), `wait` (true; false: only started), `spans` (selective:
--   1 to 5 `{first_lba, last_lba}`), `poll` (s between two looks: a hundredth of the estimate, 1 to
--   60), `limit` (s of waiting: three times the estimate, 48 h where there is none), `stall` (s
--   without progress that are told, 600), `grace` (s in which a test that was started shows that it
--   runs, 5), `keep_awake` (true: a block is read at each look),
--   `wake`, `as`
-- @tparam[opt] table observer  `progress`, `save`
-- @treturn[1] table  document, schema hddlua.selftest/1: `summary {verdict result failing_lba
--   confirmed elapsed_s estimate_s}`
-- @return[2] nil, message, code  when it could not be started
-- @usage local d = assert(selftest.run("/dev/sdb", {type = "extended"})); print(d.summary.verdict)
function M.run(drive, parameters, observer)
  parameters = M.parameters(parameters)
  local t <close>, message, code = transport.open(drive,
    {consent = "self-tests", wake = parameters.wake, as = parameters.as})
  if not t then return nil, message, code end
  local kind = kinds[t.kind]
  local estimate_s = parameters.type ~= "running" and kind.estimate_s(t, parameters.type) or nil
  parameters.poll = poll_of(parameters, estimate_s)
  parameters.limit = parameters.limit or estimate_s and estimate_s * 3 + 600 or UNKNOWN_LIMIT_S
  local _, before = kind.log(t)
  local ok
  ok, message, code = start(t, kind, parameters)
  if not ok then return nil, message, code end
  local watch = begin(t, parameters, observer)
  local d = watch.document
  watch.estimate_s, watch.limit_s = estimate_s, parameters.limit
  watch.seen, watch.log_before = parameters.type == "running", before
  d.summary.estimate_s = estimate_s
  if not parameters.wait then
    d.summary.verdict = "running"
    return document.finish(d, "complete")
  end
  local state, why = watch:follow(t, kind)
  if state then
    watch:conclude(t, kind, state)
    watch:judge(t)
    return document.finish(d, "complete")
  end
  d.summary.verdict = why == "interrupted" and "running" or "unknown"
  d.summary.elapsed_s, d.summary.remaining_percent = watch:elapsed_s(), watch.remaining
  if why ~= "interrupted" then watch:warn(why) end
  return document.finish(d, why == "interrupted" and "interrupted" or "failed")
end

--- End the self-test that runs.
-- @tparam string|Drive drive
-- @tparam[opt] table options  `wake`, `as`
-- @treturn[1] string  "aborted", or "none" when none was running
-- @return[2] nil, message, code
-- @usage assert(selftest.abort("/dev/sdb"))
function M.abort(drive, options)
  options = options or {}
  local t <close>, message, code = transport.open(drive,
    {consent = "self-tests", wake = options.wake, as = options.as})
  if not t then return nil, message, code end
  local kind, state = kinds[t.kind]
  state, message, code = kind.look(t)
  if not state then return nil, message, code end
  if not state.in_progress then return "none" end
  local ok
  ok, message, code = kind.abort(t)
  if not ok then return nil, message, code end
  return "aborted"
end

return M
