--- A review of drives: what each says of itself, random reads by depth, the zone profile, if wanted the
-- seek profile; each part a document of its own, so that a review that was interrupted goes on with
-- the parts that are missing.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.review
-- @usage local reviewed = assert(review.run({ drive }, { quick = true }))
-- print(reviewed[1].parts.zoneprofile.summary.full_read_s)
local core = require "hdd.core"
local qdsweep = require "hdd.procedure.qdsweep"
local seekprofile = require "hdd.procedure.seekprofile"
local snapshot = require "hdd.procedure.snapshot"
local task = require "hdd.task"
local zoneprofile = require "hdd.procedure.zoneprofile"

local M = {}

-- The founding comparison: 10 s of ramp, 120 s a row; 256 MiB every 2 GiB.
local LONG <const> = {
  qdsweep = { depths = { 1, 2, 4, 8, 16, 24 }, ramp = 10, runtime = 120 },
  zoneprofile = { zone_size = 256 << 20, zone_skip = 2 << 30, block_size = 65536, depth = 2 },
  seekprofile = {},
}
local QUICK <const> = { qdsweep = { quick = true }, zoneprofile = { quick = true }, seekprofile = { quick = true } }
local PROCEDURES <const> = { qdsweep = qdsweep, zoneprofile = zoneprofile, seekprofile = seekprofile }
local KNOWN <const> = { quick = true, seek = true, at_once = true, qdsweep = true, zoneprofile = true,
  seekprofile = true }
local EINVAL <const> = 22

--- The parts, in the order in which they are made.
-- @tparam[opt] table given  parameters of `run`
-- @treturn {string,...}
function M.parts(given)
  local list = { "smart", "qdsweep", "zoneprofile" }
  if given and given.seek then list[#list + 1] = "seekprofile" end
  return list
end

--- What a part is measured with.
-- @tparam string part
-- @tparam[opt] table given  parameters of `run`
-- @treturn table
function M.parameters(part, given)
  local base, own = (given and given.quick and QUICK or LONG)[part] or {}, given and given[part] or {}
  local merged = {}
  for key, value in pairs(base) do merged[key] = value end
  if own.count then merged.zone_skip = nil end -- one or the other spaces the zones
  for key, value in pairs(own) do merged[key] = value end
  return merged
end

--- Is an earlier document of a part good for this drive, or is it another's?
-- @tparam table d        document
-- @tparam table drive    open drive
-- @treturn boolean       true
-- @return or nil, message that names what differs
function M.is_of(d, drive)
  local identity = drive:identity()
  for _, key in ipairs { "serial", "model", "size_bytes" } do
    local was, is = (d.drive or {})[key], identity[key]
    if was and is and was ~= is and not (key == "size_bytes" and was == 0) then
      return nil, string.format("it is of another drive: %s %s, and %s has %s", key, tostring(was), drive.path,
        tostring(is))
    end
  end
  return true
end

local function observer_of(observer, drive, part)
  local name = drive.name or drive.path
  return {
    progress = observer.progress and function(state)
      local told = {}
      for key, value in pairs(state) do told[key] = value end
      told.stage = string.format("%s, %s: %s", name, part, state.stage or "")
      observer.progress(told)
    end,
  }
end

-- One part of one drive. A drive that says nothing of itself (a loop device, a bridge) is measured all
-- the same: then there is a note in place of the document.
local function run_part(entry, part, given, observer)
  if part == "smart" then
    local d, message = snapshot.run(entry.drive, {})
    if not d then entry.notes[#entry.notes + 1] = message end
    return d, d == nil
  end
  local d, message, code = PROCEDURES[part].run(entry.drive, M.parameters(part, given),
    observer_of(observer, entry.drive, part))
  if not d then
    entry.notes[#entry.notes + 1] = string.format("%s: %s", part, message)
    return nil, true, code
  end
  return d, d.status == "complete"
end

-- True to go on with this drive.
local function make_part(entry, part, given, observer)
  if entry.parts[part] or entry.over then return not entry.over end
  local d, complete = run_part(entry, part, given, observer)
  if d then
    entry.parts[part] = d
    if observer.part then observer.part(entry.drive, part, d) end
  end
  if not complete then entry.over = d and d.status or "failed" end
  if core.interrupt_pending() then entry.over = "interrupted" end
  return not entry.over
end

local function check(given)
  for key, value in pairs(given) do
    if not KNOWN[key] then
      return nil, string.format("%s %s: is no parameter of a review", key, tostring(value)), EINVAL
    end
  end
  return true
end

--- Reviews drives: part by part, each of all drives in turn, so that what changes on the machine
-- meanwhile hits all of them alike.
-- @tparam {Drive,...} drives
-- @tparam[opt] table given  `quick` (minutes in place of half an hour and more), `seek` (true: the seek
--   profile, too), `at_once` (true: all drives at the same time: they may slow each other down),
--   `qdsweep`, `zoneprofile`, `seekprofile` (parameters of these)
-- @tparam[opt] table observer  `progress`: see hdd.procedure.measurement; `part` = function(drive, part,
--   document), whenever one has ended
-- @tparam[opt] table have     parts that are there already: {[drive] = {[part] = document}}
-- @treturn {table,...}  of each drive: `drive`, `parts` (documents by name), `notes`, `over`
--   ("interrupted" or "failed" when parts are missing)
-- @return or nil, message, code
function M.run(drives, given, observer, have)
  given, observer = given or {}, observer or {}
  local ok, message, code = check(given)
  if not ok then return nil, message, code end
  local entries = {}
  for i, drive in ipairs(drives) do
    entries[i] = { drive = drive, notes = {}, parts = {} }
    for part, d in pairs(have and have[drive] or {}) do entries[i].parts[part] = d end
  end
  local parts = M.parts(given)
  if given.at_once then
    local of = {}
    for _, entry in ipairs(entries) do of[entry.drive] = entry end
    task.each(drives, function(drive)
      for _, part in ipairs(parts) do
        if not make_part(of[drive], part, given, { part = observer.part }) then break end
      end
    end)
    return entries
  end
  for _, part in ipairs(parts) do
    for _, entry in ipairs(entries) do
      make_part(entry, part, given, observer)
      if entry.over == "interrupted" then return entries end
    end
  end
  return entries
end

return M
