--- A burn-in under way, as its phases see it: the document, the clock that goes on over interruptions,
-- checkpoints, the time line, the drive's temperature, and what the drive says of itself.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.run
local capdiff = require "hdd.drive.capdiff"
local cooling = require "hdd.procedure.cooling"
local document = require "hdd.document"
local health = require "hdd.health"
local json = require "hdd.json"
local measurement = require "hdd.procedure.measurement"
local plan = require "hdd.procedure.burnin.plan"
local snapshot = require "hdd.procedure.snapshot"

local M = {}
local Run = {}
Run.__index = Run

local EVENTS <const> = 4096 -- in the time line

-- Counters that tell of the way to the drive, and of its medium; the rest tell of neither.
local CABLE <const> = { "^phy%.", "^sas%.", "^attribute%.199", "crc", "^statistics%..*transport" }
local MEDIA <const> = {
  "^attribute%.5%f[%D]", "^attribute%.187", "^attribute%.19[678]", "^attribute%.184", "pending",
  "reallocat", "uncorrect", "media_errors", "defect",
}

-- An entry in these may be nothing but a command of ours that the drive does not know.
local LOG <const> = { ["error_log.count"] = true, ["health.error_log_entries"] = true }

-- Numbers that go down again, but are faults when they rise.
local RISING <const> = { "^attribute%.19[78]$", "pending", "defect", "critical_warning" }

local function is_rising_fault(change)
  if math.type(change.a) ~= "integer" or math.type(change.b) ~= "integer" or change.b <= change.a then
    return false
  end
  for _, pattern in ipairs(RISING) do
    if change.name:find(pattern) then return true end
  end
  return false
end

local function concerns(name)
  if LOG[name] then return "log" end
  for _, pattern in ipairs(CABLE) do
    if name:find(pattern) then return "cable" end
  end
  for _, pattern in ipairs(MEDIA) do
    if name:find(pattern) then return "media" end
  end
  return "other"
end

--- Begins, or goes on from a checkpoint.
-- @tparam Drive drive
-- @tparam string schema
-- @tparam table parameters
-- @tparam table observer
-- @tparam ?table data  of a checkpoint
-- @treturn Run
function M.begin(drive, schema, parameters, observer, data)
  local m = measurement.begin(drive, schema, parameters, {})
  local self = setmetatable({
    m = m, drive = drive, document = m.document, observer = observer or {}, index = 1,
  }, Run)
  -- A file may be a recording of another drive's words: it has none of its own.
  if drive.type ~= "block" then self.no_smart = "a file has no SMART" end
  if data then self:restore(data) end
  return self
end

-- What was saved is gone on with; the clock stood still in between.
function Run:restore(data)
  local old = assert(document.decode(data.document))
  old.status, old.finished_at = "running", nil
  self.m.document, self.document = old, old
  self.m.started_ns = self.m.started_ns - math.floor((old.summary.elapsed_s or 0) * 1e9)
  for i, sentence in ipairs(old.warnings) do
    self.m.notes[sentence:gsub("%d+", "#")] = { times = 1, index = i, sentence = sentence }
  end
  old.failures, old.slowest, old.stalls = old.failures or {}, old.slowest or {}, old.stalls or {}
  self.index, self.resume = data.phase, data.resume
  self.said = old.health.after or old.health.before
end

--- Puts down what drives that run at the same time keep from one another.
-- @tparam ?table found  of hdd.procedure.contention
function Run:note_contention(found)
  if not found then return end
  self.document.contention = {
    drives = #found.drives, alone_bytes_per_s = found.alone_bytes_per_s,
    together_bytes_per_s = found.together_bytes_per_s, ratio = found.ratio, limited = found.limited,
    sentence = found.sentence,
  }
  if found.limited then
    self:warn("rates here are not the drive's alone: " .. found.sentence)
  end
end

--- Seconds since it began, interruptions left out.
function Run:time_s()
  return self.m:time_s()
end

--- Adds an entry to the time line.
-- @tparam table entry  `event` and what belongs to it
function Run:event(entry)
  local list = self.document.timeline
  entry.time_s, entry.phase = entry.time_s or self:time_s(), self.index
  if #list < EVENTS then list[#list + 1] = entry end
end

function Run:warn(sentence)
  self.m:warn(sentence)
end

-- How much of the plan is done, by its estimates, and what is left.
local function progress_of(self, share)
  local done_s, all_s = 0, 0
  for i, phase in ipairs(self.document.phases) do
    local planned_s = phase.planned_s or 0
    all_s = all_s + planned_s
    if i < self.index then
      done_s = done_s + planned_s
    elseif i == self.index then
      done_s = done_s + planned_s * math.min(1, share or 0)
    end
  end
  if all_s <= 0 then return nil end
  return done_s / all_s, all_s - done_s
end

--- Tells how far it is: the phase's state, in the whole.
-- @tparam table state  of the phase: `stage`, `share`, …
function Run:report(state)
  local phase = self.document.phases[self.index]
  local title = plan.title(phase, self.loops)
  local told = {}
  for key, value in pairs(state) do told[key] = value end
  told.stage = state.stage and state.stage ~= "" and title .. ", " .. state.stage or title
  told.phase_share = state.share
  told.share, told.left_s = progress_of(self, state.share)
  told.errors = math.max(state.errors or 0, self.document.errors)
  told.elapsed_s, told.temperature_c = self:time_s(), self.temperature_c
  if self.observer.progress then self.observer.progress(told) end
end

--- Hands what to go on from to the observer, which saves it when it is time.
-- @tparam ?function resume  makes the phase's own part
-- @tparam[opt] boolean now  at once
function Run:checkpoint(resume, now)
  if not self.observer.checkpoint then return end
  self.observer.checkpoint(function()
    self.document.summary.elapsed_s = self:time_s()
    return {
      document = document.encode(self.document), phase = self.index,
      resume = resume and resume() or nil,
    }
  end, now)
end

--- Runs a job of the drive, in the phase's name.
-- @tparam table options   of `drive:start`
-- @tparam function state  of the job's progress: what is told, see `report`
-- @treturn table  its results
-- @return or nil, message, code
function Run:job(options, state)
  self.m.observer = { progress = function(told) self:report(told) end }
  return self.m:run(options, state)
end

--- Runs a job that writes. Its failures are no failed reads: they are not added to those.
-- @tparam table options
-- @tparam function state
-- @treturn table  its results
-- @return or nil, message, code
function Run:write_job(options, state)
  local d, m = self.document, self.m
  m.document = setmetatable({ errors = d.errors + #d.write_failures, failures = {}, slowest = {} },
    { __index = d })
  local result, message, code = self:job(options, state)
  m.document = d
  return result, message, code
end

--- The guard of the drive's temperature, made when a load first asks for it: by then SMART has been read,
-- where there is any.
-- @treturn ?Guard  see hdd.procedure.cooling; nil of a drive that has no temperature to tell
function Run:guard()
  if self.cooling == nil then
    local sensor = self.observer.sensor or {}
    self.cooling = (not self.no_smart or sensor.temperature ~= nil) and cooling.new(self.drive,
      { limit_c = self.parameters.max_temperature, said = self.said or {}, every = sensor.every }, {
        temperature = sensor.temperature, time_s = function() return self:time_s() end,
        event = function(entry)
          self.sampled = true
          self.temperature_c = entry.temperature_c or self.temperature_c
          self:event(entry)
        end,
      })
  end
  return self.cooling or nil
end

--- Between two slices of a load: the temperature is looked at, at most once a minute; a drive that is
-- too hot has a pause until it has cooled.
-- @treturn boolean  was it looked at?
function Run:cool_down()
  local guard = self:guard()
  if not guard then return false end
  self.sampled = false
  if guard:look() == "hot" then self:cool() end
  return self.sampled
end

--- Waits until a drive that is too hot has cooled. The load has been stopped.
function Run:cool()
  self:guard():wait(function(state) self:report(state) end)
end

--- Is it over before its time? "interrupted", "failed" or nil.
function Run:over()
  return self.m.over
end

-- What has changed since the last reading, as far as it is a counter of things that go wrong.
local function changes_between(before, now)
  local list = {}
  local compared = capdiff.compare(before, now)
  if compared.same_drive == false then return list end
  local function put(c, growth)
    list[#list + 1] = {
      name = c.name, what = c.what, where = c.where, from = math.tointeger(c.a),
      to = math.tointeger(c.b), growth = math.tointeger(growth), concerns = concerns(c.name),
    }
  end
  for _, c in ipairs(compared.counters) do
    if c.growth and c.growth > 0 then put(c, c.growth) end
  end
  for _, c in ipairs(compared.gauges) do
    if is_rising_fault(c) then put(c, c.b - c.a) end
  end
  return list
end
M.changes_between = changes_between

--- Reads what the drive says of itself; what has changed since it was last read belongs to the phase
-- that has just ended.
-- @tparam table entry  the phase
-- @treturn ?table  what hdd.health.read gives; nil when there is nothing to be had
function Run:look(entry)
  if self.no_smart then return nil, self.no_smart end
  local said, message = health.read(self.drive, { wake = true })
  if not said then
    -- A drive that never said anything has none; one that did may be busy.
    if not self.said then self.no_smart = message end
    return nil, message
  end
  local d = self.document
  local facts = snapshot.document(said)
  if self.said then
    entry.changes = changes_between(self.said, said)
    for _, change in ipairs(entry.changes) do
      self:event { event = "changed", what = change.what, from = change.from, to = change.to }
    end
  end
  if not d.health.before then d.health.before = facts.health end
  d.health.after = facts.health
  self.said = said
  d.smart[#d.smart + 1] = {
    phase = self.index, time_s = self:time_s(), status = said.verdict.status,
    temperature_c = facts.summary.temperature_c, power_on_hours = facts.summary.power_on_hours,
    reasons = json.list {},
  }
  local reasons = d.smart[#d.smart].reasons
  for i, r in ipairs(facts.verdict.reasons) do
    reasons[i] = { severity = r.severity, name = r.name, what = r.what, where = r.where }
  end
  self.temperature_c = facts.summary.temperature_c or self.temperature_c
  entry.temperature_c = facts.summary.temperature_c
  return said
end

return M
