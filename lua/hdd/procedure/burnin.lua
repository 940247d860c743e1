--- The burn-in: everything that can be asked of a drive before it is trusted with data, phase by
-- phase, to a verdict with its reasons. docs/burnin.md says what is done and judged.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin
-- @usage local document = assert(burnin.run(drive, { stress = 60 }))
-- print(document.verdict.status)
-- for _, reason in ipairs(document.verdict.reasons) do print(reason.what, reason.where) end
local consent = require "hdd.consent"
local criteria = require "hdd.procedure.burnin.criteria"
local own_word = require "hdd.procedure.burnin.own_word"
local parameters = require "hdd.procedure.parameters"
local plan = require "hdd.procedure.burnin.plan"
local run = require "hdd.procedure.burnin.run"
local statistics = require "hdd.statistics"
local verdict = require "hdd.procedure.burnin.verdict"
local write = require "hdd.procedure.burnin.write"
local zoned = require "hdd.procedure.burnin.zoned"

local M = {}

--- The schema of its documents.
M.schema = "hddlua.burnin/1"

--- The version of what a checkpoint holds, for hdd.state.
M.CHECKPOINT = 1

local KNOWN <const> = {
  "write", "patterns", "loops", "hours", "surface", "stress", "self_tests", "baseline", "capacity",
  "max_temperature", "criteria", "criteria_path", "seed", "zone_count", "zone_size", "depths",
  "sweep_runtime", "rpm", "max_errors", "overwrite_data",
}

local PATTERNS <const> = {
  stamp = true, aa = true, ["55"] = true, ff = true, ["00"] = true, random = true,
}
local LOOPS <const> = 10000
local EBADF <const>, ENODEV <const> = 9, 19

-- How each kind of phase is run: f(run, entry, resume) -> true, or nil, message, code.
local PHASES = {
  smart = own_word.smart, selftest = own_word.selftest,
  surface = require("hdd.procedure.burnin.surface").run,
  stress = require("hdd.procedure.burnin.stress").run,
  baseline = require("hdd.procedure.burnin.baseline").run,
  capacity = write.capacity, write = write.write, verify = write.verify,
}

local function read_patterns(reader)
  local list = reader.given.patterns or { "stamp" }
  if type(list) ~= "table" or #list == 0 then
    reader:refuse("patterns", nil, "must be a list of stamp, aa, 55, ff, 00, random")
    return
  end
  for i, pattern in ipairs(list) do
    if not PATTERNS[pattern] then
      reader:refuse(string.format("patterns[%d]", i), pattern,
        "must be one of stamp, aa, 55, ff, 00, random")
    end
  end
  reader.values.patterns = table.move(list, 1, #list, 1, {})
end

local function read_depths(reader)
  local list = reader.given.depths or { 1, 8 }
  for i, depth in ipairs(list) do
    if math.type(depth) ~= "integer" or depth < 1 or depth > 4096 then
      reader:refuse(string.format("depths[%d]", i), depth, "must be a whole number from 1 to 4096")
    end
  end
  reader.values.depths = table.move(list, 1, #list, 1, {})
end

--- Checks parameters and fills in defaults.
-- @tparam Drive drive
-- @tparam ?table given  see `run`
-- @treturn table
-- @return or nil, message, code
function M.parameters(drive, given)
  local reader = parameters.reader(given, drive, KNOWN)
  reader:boolean("write", false)
  read_patterns(reader)
  read_depths(reader)
  reader:integer("loops", 1, 1, LOOPS)
  reader:number("hours", nil, 0, 8784, "hours", true)
  for _, key in ipairs { "surface", "self_tests", "baseline" } do reader:boolean(key, true) end
  for _, key in ipairs { "capacity", "overwrite_data" } do reader:boolean(key, false) end
  reader:number("stress", 300, 0, 31536000, "seconds")
  reader:number("max_temperature", nil, 0, 150, "°C", true)
  reader:integer("seed", math.random(0, 0x7FFFFFFF), math.mininteger, math.maxinteger)
  local block = drive.logical_block_size
  local span = drive.size // block * block
  local count = reader:integer("zone_count", math.max(1, math.min(20, span // (1 << 20))), 1, 1000)
  local size = reader:bytes("zone_size", math.min(64 << 20, math.max(block, span // count // block * block)), 1)
  if size * count > span then
    reader:refuse("zone_size", size, string.format("%d zones of it do not fit the drive", count))
  end
  reader:number("sweep_runtime", 5, 0, 86400, "seconds", true)
  reader:integer("rpm", nil, 0, 100000)
  reader:integer("max_errors", 10000, 1, math.maxinteger)
  if reader:has("hours") and reader:has("loops") then
    reader:refuse("hours", nil, "cannot be had together with loops")
  elseif reader.values.capacity and not reader.values.write then
    reader:refuse("capacity", nil, "writes: it needs write as well")
  end
  local merged, message = criteria.merge(reader.given.criteria)
  if not merged then reader:refuse("criteria", nil, message) end
  reader.values.criteria, reader.values.criteria_path = merged, reader.given.criteria_path
  return reader:finish()
end

-- The levels alone, for the document: functions are no JSON.
local function plain_criteria(rules)
  local levels = {}
  for name, level in pairs(rules) do
    if type(level) == "table" then levels[name] = { warn = level.warn, fail = level.fail } end
  end
  return levels
end

local function document_parameters(p)
  local copy = {}
  for key, value in pairs(p) do copy[key] = value end
  copy.criteria = plain_criteria(p.criteria)
  return copy
end

-- Another loop is put before what comes after the loops, as long as the hours are not over.
local function add_loop(r)
  local p, list = r.parameters, r.document.phases
  local last = r.index
  if not p.hours or not list[last].loop or (list[last + 1] and list[last + 1].loop) then return end
  if r:time_s() >= p.hours * 3600 then return end
  local loop, model = list[last].loop + 1, {}
  for _, phase in ipairs(list) do
    if phase.loop == list[last].loop then model[phase.kind .. (phase.pattern or "")] = phase.planned_s end
  end
  for i, phase in ipairs(plan.loop(p, loop)) do
    phase.planned_s = model[phase.kind .. (phase.pattern or "")]
    phase.status = "waiting"
    table.insert(list, last + i, phase)
  end
end

-- What became of the drive after a phase that could not be run, or was ended.
local function is_lost(code)
  return code == ENODEV
end

-- Why a phase has nothing to do on a zoned drive.
local function why_not(r, entry)
  if not r.zoned then return nil end
  if entry.kind == "baseline" then
    return "a host-managed zoned drive: what can be read of it changes with what is written"
  elseif (entry.kind == "surface" or entry.kind == "stress") and r.zoned.readable_bytes < r.block_size then
    return "nothing has been written to its zones: there is nothing to be read"
  end
end

local function run_phase(r, entry, resume)
  r.entry = entry
  entry.status, entry.started_at = "running", entry.started_at or os.date("!%Y-%m-%dT%H:%M:%SZ")
  entry.time_s = entry.time_s or r:time_s()
  r:event { event = resume and "resumed" or "begun", what = entry.name }
  r:checkpoint(resume and function() return resume end or nil, true)
  local begun_s, before_s = r:time_s(), entry.elapsed_s or 0.0
  local done, message, code = true, nil, nil
  local skipped = why_not(r, entry)
  if skipped then
    entry.status, entry.message = "skipped", skipped
  else
    done, message, code = PHASES[entry.kind](r, entry, resume)
  end
  entry.elapsed_s = before_s + r:time_s() - begun_s
  if not done then
    entry.status, entry.message = "failed", message
    r:warn(entry.name .. ": " .. message)
    if is_lost(code) then r.m.over = r.m.over or "failed" end
  elseif r:over() == "interrupted" then
    entry.status = "interrupted"
  elseif r:over() then
    entry.status = "failed"
    entry.message = r.document.warnings[#r.document.warnings]
  elseif entry.status == "running" then
    entry.status = "complete"
  end
end

local function after_phase(r, entry)
  if r:over() == "interrupted" then return end
  if entry.kind ~= "smart" and entry.status ~= "skipped" then r:look(entry) end
  r:event { event = "ended", what = entry.name, temperature_c = entry.temperature_c }
end

local function run_phases(r, list)
  while r.index <= #list do
    local entry, resume = list[r.index], r.resume
    r.resume = nil
    if entry.status == "waiting" or entry.status == "running" or entry.status == "interrupted" then
      run_phase(r, entry, resume)
      if r:over() == "interrupted" then return true end
      after_phase(r, entry)
      if r:over() then return true end
    end
    add_loop(r)
    r.index = r.index + 1
    r:checkpoint(nil, true)
  end
  return true
end

-- The summary, the verdict, and what was not run.
local function conclude(r)
  local d = r.document
  for _, phase in ipairs(d.phases) do
    if phase.status == "waiting" and d.status ~= "interrupted" then phase.status = "not run" end
  end
  local s = d.summary
  s.elapsed_s = r:time_s()
  s.last_phase = math.min(r.index, #d.phases)
  s.read_bytes, s.written_bytes = statistics.sum(d.phases, "read_bytes"), statistics.sum(d.phases, "written_bytes")
  s.unreadable_bytes = statistics.sum(d.unreadable, "length_bytes")
  s.slow_bytes = statistics.sum(d.slow, "length_bytes")
  s.mismatching_blocks, s.write_errors = statistics.sum(d.mismatches, "blocks"), #d.write_failures
  s.state = write.left(d)
  local hottest
  for _, entry in ipairs(d.timeline) do
    if entry.temperature_c and entry.temperature_c > (hottest or -300) then hottest = entry.temperature_c end
  end
  s.temperature_max_c = hottest
  s.loops = 0
  for _, phase in ipairs(d.phases) do
    if phase.loop and phase.status == "complete" then s.loops = math.max(s.loops, phase.loop) end
  end
end

--- Judges a document, or judges it again with what is known of its batch.
-- @tparam table d      document; its `verdict` is set
-- @tparam table rules  merged criteria
function M.judge(d, rules)
  d.verdict = verdict.judge(d, rules)
  d.summary.verdict = d.verdict.status
end

-- What the estimates are made from. Only a drive has SMART and self-tests.
local function facts_of(drive, quick)
  return {
    size_bytes = drive.size, bytes_per_s = quick.bytes_per_s, smart = drive.type == "block" or false,
  }
end

--- Makes the plan of a burn-in: a few seconds of reading at places all over the drive.
-- @tparam Drive drive
-- @tparam ?table given  parameters, see `run`
-- @treturn table  `phases` (see hdd.procedure.burnin.plan), `all_s` (seconds in all, nil when that can't
--   be told), `bytes_per_s`, `parameters`
-- @return or nil, message, code
-- @usage for _, phase in ipairs(assert(burnin.plan(drive)).phases) do print(phase.name, phase.planned_s) end
function M.plan(drive, given)
  local p, message, code = M.parameters(drive, given)
  if not p then return nil, message, code end
  local quick
  quick, message, code = plan.quick(drive, drive.size)
  if not quick then return nil, message, code end
  local phases, all_s = plan.make(p, facts_of(drive, quick))
  return { phases = phases, all_s = all_s, bytes_per_s = quick.bytes_per_s, parameters = p }
end

local function begin(drive, p, planned, observer)
  local data = observer and observer.resume
  local r = run.begin(drive, M.schema, document_parameters(p), observer, data)
  r.parameters, r.usable_bytes = p, drive.size // drive.logical_block_size * drive.logical_block_size
  r.block_size = math.min(math.max(4096, drive.logical_block_size), r.usable_bytes)
  r.loops = not p.hours and p.loops or nil
  r.zoned = zoned.look(drive)
  local d = r.document
  if not data then
    d.phases, d.plan = planned.phases, { bytes_per_s = planned.bytes_per_s, all_s = planned.all_s }
    for _, phase in ipairs(d.phases) do phase.status = "waiting" end
    -- In every stamp; a drive without a serial number may have another name after a reboot.
    d.plan.stamp_name = p.write and consent.name(drive) or nil
  end
  r.stamp_serial = d.plan.stamp_name
  d.zoned = r.zoned and zoned.document(r.zoned) or d.zoned
  if r.zoned and r.zoned.problem then r:warn("its zones are not known: " .. r.zoned.problem) end
  return r
end

--- Burns a drive in.
-- @tparam Drive drive       for `write` opened for writing
-- @tparam[opt] table given  parameters, all optional: `write` (false), `patterns` ({"stamp"}; aa, 55,
--   ff, 00, random), `loops` (1) or `hours`, `surface` (true), `stress` (300 s of each of three kinds),
--   `self_tests` (true), `baseline` (true), `capacity` (false), `max_temperature` (°C; the drive's
--   own limit), `criteria` (see hdd.procedure.burnin.criteria), `seed`, `zone_count` (20), `zone_size`
--   (64 MiB), `depths` ({1, 8}) and `sweep_runtime` (5 s) of the baseline, `rpm`, `max_errors` (10000)
-- @tparam[opt] table observer  `progress` = function(state), see hdd.procedure.measurement;
--   `checkpoint` = function(make, now): make() gives what a run can go on from, to be saved when it is
--   time, or `now`; `resume`: what was saved, to be gone on from; `interruptions` (list, of hdd.state);
--   `contention`: what hdd.procedure.contention found of the drives that are burnt in at the same time;
--   `plan`: what `plan` gave, if it was asked for before; `sensor` ({`temperature`, `every`}): in
--   place of the drive's own thermometer
-- @treturn table  a document of schema hddlua.burnin/1
-- @return or nil, message, code when it could not be begun
-- @usage local document = assert(burnin.run(drive, { loops = 2 }))
function M.run(drive, given, observer)
  local planned, p, message, code
  observer = observer or {}
  if observer.resume then
    p, message, code = M.parameters(drive, given)
  else
    planned, message, code = observer.plan, nil, nil
    if not planned then planned, message, code = M.plan(drive, given) end
    p = planned and planned.parameters
  end
  if not p then return nil, message, code end
  if p.write and not drive.writable then
    return nil, "write: the drive was not opened for writing (hdd.open's `write`)", EBADF
  end
  local r = begin(drive, p, planned, observer)
  r.document.interruptions = observer.interruptions or {}
  r:note_contention(observer.contention)
  local done
  done, message, code = r.m:attempt(function()
    r.m.jobs = math.max(1, r.m.jobs) -- whatever happens from here on, there is a document of it
    return run_phases(r, r.document.phases)
  end)
  if not done then return nil, message, code end
  local d = r.m:finish()
  conclude(r)
  M.judge(d, p.criteria)
  return d
end

return M
