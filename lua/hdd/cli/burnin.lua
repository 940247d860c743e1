--- A burn-in session from the command line: drives are opened and their states found, a plan is shown,
-- all are run at once behind a live screen, and the results go where they belong.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.burnin
local batch = require "hdd.procedure.burnin.batch"
local burnin = require "hdd.procedure.burnin"
local cli = require "hdd.cli"
local consent = require "hdd.consent"
local core = require "hdd.core"
local criteria = require "hdd.procedure.burnin.criteria"
local document = require "hdd.document"
local frame = require "hdd.cli.health"
local hdd = require "hdd"
local lfs = require "lfs"
local live = require "hdd.cli.live"
local printable = require "hdd.printable"
local report = require "hdd.view.report"
local state = require "hdd.state"
local sysfs = require "hdd.sysfs"
local task = require "hdd.task"
local view = require "hdd.view.burnin"

local M = {}

local EBADMSG <const> = 74

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

-- What stands on the drive, for the person who is to give it up.
local function contents(signatures)
  local words = {}
  for i, s in ipairs(signatures) do
    words[i] = (s.type or s.usage or "data") .. (s.label and " \"" .. s.label .. "\"" or "")
  end
  return #words > 0 and "it holds " .. table.concat(words, ", ") or "nothing is recognised on it"
end

-- Asks for the drive's name to be typed.
local function typed(entry, name, signatures)
  io.stderr:write(printable.line(string.format("ALL DATA on %s (%s) will be overwritten; %s.",
    entry.path, entry.name, contents(signatures)), true), "\n",
    printable.line(string.format("Type %s to agree: ", name), true))
  io.stderr:flush()
  return printable.trim(io.stdin:read("l") or "") == name
end

local function listed(list, name)
  for _, one in ipairs(list or {}) do
    if one == name then return true end
  end
  return false
end

-- Was it agreed that this drive is written to? One that is gone on with was, if it is known by a serial
-- number of its own.
local function agree(entry, options, signatures)
  local name = consent.name(entry.drive)
  if listed(options.confirm, name) then return true end
  if entry.saved and entry.identity.serial == name then return true end
  local asks = core.isatty(io.stdin) and core.isatty(io.stderr)
  if asks and typed(entry, name, signatures) then return true end
  return nil, string.format("%s: not written to: %s (--confirm %s says so)", entry.path,
    asks and "that was not its name" or "that has to be agreed to by its serial number", name)
end

-- Opens a drive again, for writing. All checks are those of hdd.consent.
local function reopen(entry, options)
  local p = entry.parameters
  local write = { serial = consent.name(entry.drive), overwrite_data = p.overwrite_data or false }
  local found, message = consent.check(entry.path, {
    serial = write.serial, overwrite_data = write.overwrite_data, buffered = options.buffered,
  })
  if not found then return nil, message end
  local agreed
  agreed, message = agree(entry, options, found.signatures)
  if not agreed then return nil, message end
  entry.drive:close()
  entry.drive, message = hdd.open(entry.path, { write = write, buffered = options.buffered })
  if not entry.drive then return nil, message end
  if sysfs.difference(entry.identity, entry.drive:identity()) then
    return nil, entry.path .. ": it is another drive than a moment ago"
  end
  return true
end

--- Makes sure that every drive that is to be written to may be, before the first is: its name is given
-- (`confirm`) or typed. One that may not ends the script with status 2, and nothing is written at all.
-- @tparam {Entry,...} entries
-- @tparam table options  `confirm` (list of names), `buffered`
function M.confirm(entries, options)
  for _, entry in ipairs(entries) do
    if not entry.problem and entry.parameters.write then
      local ok, message = reopen(entry, options)
      if not ok then cli.refuse(message .. ". Nothing has been written.") end
    end
  end
end

-- What a drive's run is told with.
local function observer_of(entry, screen, i)
  local kept = entry.state
  return {
    resume = kept.data, interruptions = kept.interruptions, plan = entry.planned,
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

-- The documents are laid beside one another and judged anew.
local function judge_batch(results)
  local documents, rules = {}, {}
  for _, r in ipairs(results) do
    if r.document then
      documents[#documents + 1] = r.document
      rules[r.document] = assert(criteria.merge(r.entry.parameters.criteria))
    end
  end
  batch.compare(documents)
  for _, d in ipairs(documents) do
    if d.batch then burnin.judge(d, rules[d]) end
  end
  local odd, index = batch.odd(documents), {}
  for i, r in ipairs(results) do
    if r.document then index[r.document] = i end
  end
  for _, entry in ipairs(odd) do entry.index = index[documents[entry.index]] end
  return odd
end

-- Saves a document under a name of its own or the one that was asked for. A state is removed only once
-- its document is saved.
local function save(r, options)
  local d = r.document
  local path = frame.place(options.json or ".", document.file_name(d))
  if path == "-" then return frame.write("-", document.encode(d), options) end
  local ok, message, code = document.save(d, path, { force = options.force })
  if code == EBADMSG then -- a fault of ours, but no reason to lose what was measured
    frame.write(path, document.encode(d), { force = true })
  end
  if not ok then frame.say(message) else r.path = path end
  return ok and 0 or 3
end

-- The state goes when the document is there; after an interruption it is what to go on from.
local function settle(r, saved)
  local kept, d = r.entry.state, r.document
  if not kept then return end
  if d and d.status ~= "interrupted" and saved then
    kept:finish()
  else
    if d and d.status == "interrupted" and r.entry.make then kept:save(r.entry.make(), true) end
    kept:close()
  end
end

local function status_of(r)
  if not r.document then return r.traceback and 3 or r.code == 4 and 0 or 2 end
  return r.document.verdict.status == "FAIL" and 1 or 0
end

--- Saves and prints the results.
-- @tparam {table,...} results  of `run`
-- @tparam table options  `json`, `force`, `charset`
-- @tparam table look     `width`, `utf8`
-- @treturn integer  exit status
function M.finish(results, options, look)
  local signal = core.interrupt_pending()
  core.clear_interrupt()
  local odd = judge_batch(results)
  local status, unsaved, interrupted = 0, false, false
  for _, r in ipairs(results) do
    local saved = r.document and save(r, options) or 0
    unsaved = unsaved or saved ~= 0
    settle(r, saved == 0)
    status = frame.worse(status, status_of(r))
    interrupted = interrupted or r.document ~= nil and r.document.status == "interrupted"
    if r.traceback then frame.say(r.message .. "\n" .. r.traceback) end
  end
  if options.json ~= "-" then
    for _, r in ipairs(results) do
      if r.document then io.write(assert(report.text(r.document, look)), "\n") end
    end
    if #results > 1 then io.write(view.batch(results, odd, look)) end
  end
  for _, r in ipairs(results) do
    if r.path then frame.say("saved as " .. r.path) end
    if not r.document and not r.entry.problem then frame.say(r.name .. ": " .. r.message) end
    if r.document and r.document.status == "interrupted" then
      frame.say(string.format("%s: interrupted: `hddlua burnin --resume %s` goes on", r.name, r.entry.path))
    end
  end
  if unsaved then return 3 end
  if interrupted or signal then return 128 + (signal or 2) end
  return status
end

return M
