--- A burn-in session from the command line: drives are opened and their states found, a plan is shown,
-- all are run at once behind a live screen, what comes of it is hdd.cli.burnin.results's.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.burnin
local batch = require "hdd.procedure.burnin.batch"
local burnin = require "hdd.procedure.burnin"
local cli = require "hdd.cli"
local contention = require "hdd.procedure.contention"
local criteria = require "hdd.procedure.burnin.criteria"
local document = require "hdd.document"
local frame = require "hdd.cli.health"
local hdd = require "hdd"
local inhibit = require "hdd.cli.inhibit"
local lfs = require "lfs"
local live = require "hdd.cli.live"
local state = require "hdd.state"
local task = require "hdd.task"
local view = require "hdd.view.burnin"

local M = {}

-- One drive of the session. `problem` is why it can't be run.
local Entry = {}
Entry.__index = Entry

local function name_of(drive)
  local name = drive.name or drive.path
  return drive.serial and not drive.identity_of and name .. " " .. drive.serial or name
end

function Entry:refuse(message)
  self.problem = self.problem or message
  if self.state then self.state:close() end
  if self.drive then self.drive:close() end
  self.state, self.drive = nil, nil
  return false
end

-- The state that is there is read, or a new one begun.
function Entry:open_state(options)
  local identity = self.drive:identity()
  local message
  self.state, message = state.open("burnin", identity, {
    path = state.path("burnin", identity, options.state), version = burnin.CHECKPOINT,
    resume = options.resume, force = options.force,
  })
  if not self.state then return self:refuse(message) end
  if not options.resume then return true end
  local saved, why = document.decode(self.state.data.document)
  if not saved then return self:refuse(self.state.path .. ": " .. why) end
  self.parameters = saved.parameters
  self.saved = saved
  return true
end

-- Parameters of an earlier part have only levels: a judge of the user's is read again.
local function resumed_parameters(saved)
  local p = {}
  for key, value in pairs(saved) do p[key] = value end
  if p.hours then p.loops = nil end
  if p.criteria_path then
    local given, message = criteria.load(p.criteria_path)
    if not given then return nil, message end
    p.criteria = given
  end
  return p
end

local function open_entry(path, given, options)
  local self = setmetatable({ path = path, name = path, parameters = given }, Entry)
  local message
  self.drive, message = hdd.open(path, { buffered = options.buffered })
  if not self.drive then
    self:refuse(message)
    return self
  end
  self.identity = self.drive:identity()
  self.name = name_of(self.identity)
  if not self:open_state(options) then return self end
  if options.resume then
    self.parameters, message = resumed_parameters(self.parameters)
    if not self.parameters then self:refuse(message) end
  end
  return self
end

-- The drives of the states that are there.
local function drives_of_states(options)
  local paths = {}
  for _, found in ipairs(state.list(options.state)) do
    if found.problem then
      frame.say(found.path .. ": " .. found.problem)
    elseif found.procedure == "burnin" then
      local path, message = state.find(found)
      if path then paths[#paths + 1] = path else frame.say(message) end
    end
  end
  if #paths == 0 then cli.refuse("there is no burn-in to go on with") end
  return paths
end

--- Opens the drives of a session. What can't be opened ends the script with status 2, unless there are
-- others that are only read.
-- @tparam {string,...} paths   none with `resume`: those whose states are there
-- @tparam table given          parameters
-- @tparam table options        `state`, `resume`, `force`, `buffered`
-- @treturn {Entry,...}
function M.open(paths, given, options)
  if options.resume and #paths == 0 then paths = drives_of_states(options) end
  if options.state and #paths > 1 and lfs.attributes(options.state, "mode") == "file" then
    cli.refuse("--state: the states of several drives go into a folder, and it is a file")
  end
  local entries, ready = {}, 0
  for i, path in ipairs(paths) do
    entries[i] = open_entry(path, given, options)
    ready = ready + (entries[i].problem and 0 or 1)
  end
  for _, entry in ipairs(entries) do
    if entry.problem then
      if ready == 0 or given.write then cli.refuse(entry.problem) end
      frame.say(entry.problem .. " (the others go on)")
    end
  end
  return entries
end

--- Shows what will be done, and how long it will take.
-- @tparam {Entry,...} entries
-- @tparam table look  `width`, `utf8`
-- @treturn string
function M.plan(entries, look)
  local plans = {}
  task.each(entries, function(entry)
    if entry.problem or entry.saved then return true end
    local planned, message = burnin.plan(entry.drive, entry.parameters)
    if not planned then return entry:refuse(message) end
    planned.drive, entry.planned = entry.identity, planned
    return true
  end)
  for _, entry in ipairs(entries) do
    if entry.planned then plans[#plans + 1] = entry.planned end
    if entry.saved then
      plans[#plans + 1] = {
        drive = entry.identity, phases = entry.saved.phases, all_s = entry.saved.plan.all_s,
        bytes_per_s = entry.saved.plan.bytes_per_s,
      }
    end
    if entry.problem and not entry.drive and #entries == 1 then cli.refuse(entry.problem) end
  end
  return #plans > 0 and view.plan(plans, look) or ""
end

--- Reads the drives alone and all at once: is the controller or the link the limit?
-- @tparam {Entry,...} entries
-- @tparam table options  `max_parallel`, `contention` (false: do not), `resume`
-- @treturn ?string  a sentence; nil of a single drive
function M.contention(entries, options)
  local drives = {}
  for _, entry in ipairs(entries) do
    if entry.planned then drives[#drives + 1] = entry.drive end
  end
  if #drives < 2 or options.max_parallel == 1 or options.contention == false then return nil end
  local found, message = contention.run(drives)
  if not found then return message end
  for _, entry in ipairs(entries) do entry.contention = found end
  return found.sentence
end

-- What a drive's run is told with.
local function observer_of(entry, screen, i)
  local kept = entry.state
  return {
    resume = kept.data, interruptions = kept.interruptions, plan = entry.planned,
    contention = entry.contention,
    progress = function(told) screen:show(i, told) end,
    checkpoint = function(make, now)
      entry.make = make
      if now then kept:save(make()) else kept:keep(make) end
    end,
  }
end

--- Runs all that can be run.
-- @tparam {Entry,...} entries
-- @tparam table options  `max_parallel`, `charset`
-- @treturn {table,...}  `name` and `document` or `message`, in the order of the entries
function M.run(entries, options)
  local names, jobs, results = {}, {}, {}
  for i, entry in ipairs(entries) do names[i] = entry.name end
  local inhibitor <close>, why = inhibit.hold("burn-in of " .. table.concat(names, ", "))
  if not inhibitor then frame.say(why) end
  local screen <close> = live.new(names, { charset = options.charset })
  for i, entry in ipairs(entries) do
    if not entry.problem then
      jobs[#jobs + 1] = {
        index = i, drive = entry.drive, parameters = entry.parameters,
        observer = observer_of(entry, screen, i),
        done = function(d)
          screen:show(i, { mode = "done", verdict = d.verdict.status, share = 1, errors = d.errors,
            elapsed_s = d.summary.elapsed_s })
        end,
      }
    end
    results[i] = { name = entry.name, entry = entry, message = entry.problem }
  end
  for _, r in ipairs(batch.run(jobs, { max_parallel = options.max_parallel })) do
    local result = results[r.entry.index]
    result.document, result.message, result.code = r.document, r.message, r.code
    result.traceback = r.traceback
  end
  return results
end

return M
