--- Runs a job file of fio's, as far as it reads. docs/fio.md says what is done with each option and how
-- each number is defined.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.fiojob
-- @usage local document = assert(fiojob.run(drive, { text = "[a]\nrw=randread\ndirect=1\nruntime=10\n" }))
-- print(document.jobs[1].iops)
local hdd = require "hdd"
local jobfile = require "hdd.fio.jobfile"
local measurement = require "hdd.procedure.measurement"
local parameters = require "hdd.procedure.parameters"
local plans = require "hdd.fio.plan"
local results = require "hdd.procedure.fiojob.results"
local scheduler = require "hdd.procedure.scheduler"

local M = {}

--- The schema of its documents.
M.schema = "hddlua.fiojob/1"

local KNOWN <const> = { "text", "name", "max_errors" }

local INTERVAL_S <const> = 0.5 -- what fio samples bandwidth and IOPS in

local function read_parameters(drive, given)
  local reader = parameters.reader(given, drive, KNOWN)
  for _, key in ipairs { "text", "name" } do
    local value = reader.given[key]
    if key == "name" and value == nil then value = "job file" end
    if type(value) ~= "string" then
      reader:refuse(key, nil, "the text of a job file is needed")
    end
    reader.values[key] = value
  end
  reader:integer("max_errors", 1000, 1, math.maxinteger)
  return reader:finish()
end

-- The jobs, and what each is to the core. What is read is the drive, whatever the text says.
local function plan(drive, p)
  local parsed, message, code = jobfile.parse(p.text, { name = p.name })
  if not parsed then return nil, message, code end
  local planned
  planned, message, code = plans.new(parsed, drive.path)
  if not planned then return nil, message, code end
  if planned.direct and drive.direct == false then
    table.insert(planned.notes, "direct=1: the drive was opened for reads through the page cache")
  end
  for _, job in ipairs(planned.jobs) do
    job.start, message = plans.start(job, drive)
    if not job.start then return nil, message, 22 end
  end
  p.text = parsed.text
  return planned
end

local function time_left(job, progress)
  local limit = job.runtime and job.runtime + job.ramp
  local bytes = job.start.bytes or not job.time_based and not job.strided and job.start.length
  local share = limit and progress.elapsed_s / limit or 0
  if bytes then share = math.max(share, progress.bytes / bytes) end
  return math.min(1, share), share > 0.005 and progress.elapsed_s * (1 - share) / share or nil
end

-- What the observer is told while a job runs; of several at once the one that it asks last.
local function state_of(s, job, wave)
  return function(progress)
    local share, left = time_left(job, progress)
    return {
      stage = #s.plan.jobs > 1 and string.format("%s (%d of %d)", job.name, job.number, #s.plan.jobs) or job.name,
      share = (wave + share) / s.waves, left_s = s.waves == 1 and left or nil,
      position_bytes = progress.position_bytes, iops = job.pattern == "random" and progress.elapsed_s > 0
        and progress.ios / progress.elapsed_s or nil,
      bandwidth_bytes_per_s = progress.elapsed_s > 0 and progress.bytes / progress.elapsed_s or nil,
    }
  end
end

local function run_job(s, job, wave)
  local options = {}
  for key, value in pairs(job.start) do options[key] = value end
  options.interval, options.intervals = INTERVAL_S, 2048
  options.records = s.records and s.records(job)
  job.started_s = s.m:time_s()
  local result, message, code = s.m:run(options, state_of(s, job, wave))
  job.result = result
  return result, message, code
end

-- Runs the jobs of a wave, all at once.
local function run_wave(s, wave)
  local jobs = {}
  for _, job in ipairs(s.plan.jobs) do
    if job.wave == wave then jobs[#jobs + 1] = job end
  end
  if #jobs == 1 then return run_job(s, jobs[1], wave) end
  local drives, taken = {}, 0
  for i = 1, #jobs do drives[i] = s.drive end
  local problem
  for _, entry in ipairs(hdd.each(drives, function()
    taken = taken + 1
    return run_job(s, jobs[taken], wave)
  end)) do
    if entry.traceback then error(entry.message .. "\n" .. entry.traceback, 0) end
    if not entry.result and entry.message ~= "interrupted" then problem = problem or entry end
  end
  if problem then return nil, problem.message, problem.code end
  return true
end

local function measure(s)
  for wave = 0, s.waves - 1 do
    local done, message, code = run_wave(s, wave)
    s.m.document.jobs = results.rows(s.plan)
    if not done then return nil, message, code end
    if s.m.over then break end
    s.m:save()
  end
  return true
end

local function set_scheduler(drive, name)
  if not name or scheduler.exists(drive) then return scheduler.set(drive, name) end
  return nil, "ioscheduler: what is read has none of its own; it stays as it is"
end

--- Runs a job file.
-- @tparam Drive drive  all jobs read it, whatever their `filename` says; without direct=1 in the job file
--   it should be open with `buffered`
-- @tparam table given  parameters: `text` of the job file, `name` of it for messages ("job file"),
--   `max_errors` (1000: failed reads after which the drive is spared the rest)
-- @tparam[opt] table observer  `progress`, `save`: see hdd.procedure.measurement; `records` =
--   function(job), called as a job begins: the path of a new file for the records of all its reads, or nil
-- @treturn table  a document of schema hddlua.fiojob/1
-- @treturn table  the jobs that ran, in the order of their numbers: `number`, `name`, `logs`, `block_size` …
-- @return or nil, message with file and line, code when it can't be run
-- @usage local document = assert(fiojob.run(drive, { text = text, name = "rate.fio" }))
function M.run(drive, given, observer)
  local p, message, code = read_parameters(drive, given)
  if not p then return nil, message, code end
  local planned
  planned, message, code = plan(drive, p)
  if not planned then return nil, message, code end
  local m = measurement.begin(drive, M.schema, p, observer)
  local d = m.document
  d.jobs, d.notes = {}, planned.notes
  local s = {
    m = m, drive = drive, plan = planned, waves = planned.jobs[#planned.jobs].wave + 1,
    records = observer and observer.records,
  }
  local setting <close>, warning = set_scheduler(drive, planned.scheduler) -- luacheck: ignore setting
  if warning then m:warn(warning) end
  local before = results.disk(drive)
  local done
  done, message, code = m:attempt(function()
    local first = planned.jobs[1].start
    local awake, why, number = m:wake(first.offset, first.offset + first.length)
    if not awake or m.over then return awake, why, number end
    return measure(s)
  end)
  if not done then return nil, message, code end
  d.jobs = results.rows(planned)
  d.global_options = results.options(planned.globals)
  d.disk_util = results.disk_util(before, results.disk(drive))
  results.summarize(d)
  return m:finish(), planned.jobs
end

return M
