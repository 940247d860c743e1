--- A job file made into jobs: which run together, on what, and how. Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.fio.plan
local options = require "hdd.fio.options"
local values = require "hdd.fio.values"

local M = {}

local EINVAL <const> = 22
local DEFAULT_BLOCK <const> = 4096
local MOST_JOBS <const> = 256

local function at(parsed, line)
  return string.format("%s:%d: ", parsed.name, line)
end

-- Notes say something once, however many jobs it holds for.
local function add_note(plan, sentence)
  if plan.noted[sentence] then return end
  plan.noted[sentence] = true
  plan.notes[#plan.notes + 1] = sentence
end

local function shown(option)
  return option.value and option.name .. "=" .. option.value or option.name
end

-- A job of a section: its own options come after those of [global], and the last one counts.
local function job_of(plan, parsed, section)
  local job = { name = section.name, line = section.line, lines = {}, given = {} }
  for _, list in ipairs { section.globals, section.options } do
    for _, option in ipairs(list) do
      local ok, note = options.take(job, option.name, option.value)
      if not ok then
        return nil, string.format("%s%s: %s", at(parsed, option.line), shown(option), note)
      end
      if note then add_note(plan, string.format("%s: %s", shown(option), note)) end
      job.lines[option.name] = option.line
      if list == section.options then job.given[#job.given + 1] = option end
    end
  end
  return job
end

-- The file of a job: what is said, else the section's name when that is a path, as in fio's own
-- zone profile.
local function file_of(job, override)
  if override then return override end
  local name = job.filename or job.name:find("^/") and job.name or nil
  if name and job.directory and not name:find("^/") then name = job.directory .. "/" .. name end
  return name
end

local function set_zones(plan, parsed, job)
  local wanted = job.zone_size or job.zone_skip or job.zone_range
  if job.zone_mode == "none" or not wanted and not job.zone_mode then return true end
  local line = at(parsed, job.lines.zonesize or job.lines.zoneskip or job.lines.zonemode or job.line)
  if not job.zone_size or job.zone_size < 1 then return nil, line .. "zonesize: needed for zones" end
  if job.pattern == "random" then
    return nil, line .. "zonesize: zones are only supported with rw=read"
  end
  local range = job.zone_range or job.zone_size
  if range < job.zone_size then
    return nil, line .. "zonerange: smaller than zonesize: reading a range again is not supported"
  end
  if job.zone_size % job.block_size ~= 0 then
    return nil, line .. string.format("zonesize: %d is no multiple of the block size (%d)",
      job.zone_size, job.block_size)
  end
  job.strided, job.skip = true, range - job.zone_size + (job.zone_skip or 0)
  job.once = job.zone_mode == nil
  if job.once then
    add_note(plan, "zonesize without zonemode: the zones are read once from first to last (fio before "
      .. "3.33 meant strided; of today it refuses)")
  end
  return true
end

local function set_depth(plan, job)
  job.depth = job.depth or 1
  if job.depth > 1 and options.one_at_a_time(job) then
    add_note(plan, string.format("iodepth=%d: %s has one read in flight, so the depth is 1", job.depth,
      job.synchronous and "ioengine=" .. job.engine or "without direct=1 an asynchronous engine"))
    job.depth = 1
  end
end

local function complete(plan, parsed, job)
  if not job.rw then
    job.rw, job.pattern = "read", "sequential" -- fio's default
  end
  job.block_size = job.block_size or DEFAULT_BLOCK
  job.numjobs, job.loops = job.numjobs or 1, job.loops or 1
  job.ramp = job.ramp or 0
  job.percentiles = job.percentiles or options.PERCENTILES
  set_depth(plan, job)
  if job.runtime == 0 then job.runtime = nil end
  if job.time_based and not job.runtime then
    return nil, at(parsed, job.lines.time_based or job.line) .. "time_based: needs runtime"
  end
  return set_zones(plan, parsed, job)
end

-- The clones that numjobs asks for; each has its place among all jobs, which its logs are named by.
local function add_clones(plan, job)
  for i = 1, job.numjobs do
    local clone = setmetatable({
      number = #plan.jobs + 1, clone = i, group = plan.group, seed = (job.seed or 0) + i,
    }, { __index = job })
    plan.jobs[clone.number] = clone
  end
end

-- A job that waits for those before it begins a group.
local function set_group(plan, job)
  if #plan.jobs > 0 and (job.stonewall or job.new_group) then plan.group = plan.group + 1 end
  if #plan.jobs > 0 and job.stonewall then plan.wave = plan.wave + 1 end
  job.wave = plan.wave
end

-- What all jobs have in common: the file, and how it is opened.
local function agree(plan, parsed, job, key, value, words)
  if plan[key] == nil then plan[key] = value end
  if plan[key] ~= value then
    return nil, string.format("%s%s: %s, but %s before: run them one after the other, in job files of "
      .. "their own", at(parsed, job.line), job.name, words(value), words(plan[key]))
  end
  return true
end

local function describe_file(name) return "it reads " .. name end
local function describe_direct(direct) return direct and "direct=1" or "direct=0" end

--- Makes a plan.
-- @tparam table parsed         of hdd.fio.jobfile
-- @tparam[opt] string override what is read, whatever the job file says
-- @treturn table  `filename`, `direct`, `scheduler` (or nil), `jobs`, `notes` (sentences). A job has `name`,
--   `number`, `clone`, `group`, `wave` (those of one wave run together), `rw`, `pattern`, `block_size`,
--   `depth`, `offset`, `size`, `io_size`, `runtime`, `ramp`, `time_based`, `loops`, `strided`, `zone_size`,
--   `skip`, `once`, `seed`, `logs`, `percentiles`, `group_reporting`, `given` (its own options)
-- @return or nil, message with file and line, code
-- @usage local plan = assert(plans.new(assert(jobfile.parse(text)), "/dev/sdX"))
function M.new(parsed, override)
  local plan = { jobs = {}, notes = {}, noted = {}, group = 0, wave = 0 }
  for _, section in ipairs(parsed.sections) do
    local job, message = job_of(plan, parsed, section)
    if not job then return nil, message, EINVAL end
    local ok
    ok, message = complete(plan, parsed, job)
    if not ok then return nil, message, EINVAL end
    local file = file_of(job, override)
    if not file then
      return nil, string.format("%s%s: what it reads is not said: filename=, or --filename; hddlua makes no "
        .. "files", at(parsed, section.line), job.name), EINVAL
    end
    ok, message = agree(plan, parsed, job, "filename", file, describe_file)
    if not ok then return nil, message, EINVAL end
    ok, message = agree(plan, parsed, job, "direct", job.direct == true, describe_direct)
    if not ok then return nil, message, EINVAL end
    plan.scheduler = plan.scheduler or job.scheduler
    set_group(plan, job)
    if #plan.jobs + job.numjobs > MOST_JOBS then
      return nil, string.format("%s: more than %d jobs", parsed.name, MOST_JOBS), EINVAL
    end
    add_clones(plan, job)
  end
  plan.globals = parsed.sections[#parsed.sections].globals
  plan.noted = nil
  if not plan.direct then
    plan.notes[#plan.notes + 1] = "without direct=1 reads go through the page cache, which is not emptied first"
  end
  return plan
end

-- The range of a job on a device or file, whole blocks; nil and why there is none.
local function range_of(job, drive)
  local offset = values.of(job.offset or 0, drive.size)
    + (job.clone - 1) * values.of(job.offset_increment or 0, drive.size)
  if type(job.offset) == "table" then offset = offset // job.block_size * job.block_size end
  if offset >= drive.size then
    return nil, string.format("offset %d lies behind the end (%d bytes)", offset, drive.size)
  end
  local left = drive.size - offset
  local size = job.size and values.of(job.size, drive.size) or 0
  if size == 0 then size = left end
  if size > left and drive.kind == "file" and type(job.size) ~= "table" then
    return nil, string.format("size: %d bytes from offset %d, but the file has %d: fio would make it larger, "
      .. "hddlua writes nothing", size, offset, drive.size)
  end
  size = math.min(size, left) // job.block_size * job.block_size
  if size < job.block_size then return nil, "the range holds no whole block" end
  return offset, size
end

--- What a job is to the core: the options of `drive:start`, and what else is known of it now.
-- @tparam table job    of a plan
-- @tparam Drive|table drive  `size`, `kind`, `logical_block_size`
-- @treturn table  for `drive:start`
-- @return or nil, message
-- @usage drive:start(assert(plans.start(job, drive)))
function M.start(job, drive)
  local block = drive.logical_block_size
  if job.direct and job.block_size % block ~= 0 then
    return nil, string.format("%s: bs: %d is no multiple of the drive's logical block size, %d", job.name,
      job.block_size, block)
  end
  local offset, length = range_of(job, drive)
  if not offset then return nil, string.format("%s: %s", job.name, length) end
  if job.direct and offset % block ~= 0 then
    return nil, string.format("%s: offset: %d is no multiple of the drive's logical block size, %d", job.name, offset,
      block)
  end
  local amount = values.of(job.io_size or 0, drive.size)
  if amount == 0 then amount = length end
  local start = {
    pattern = job.strided and "strided" or job.pattern, offset = offset, length = length,
    block_size = job.block_size, depth = job.depth, ramp = job.ramp > 0 and job.ramp or nil,
    runtime = job.runtime, seed = job.seed,
  }
  if job.strided then start.zone_size, start.zone_skip = job.zone_size, job.skip end
  if job.time_based then
    start.loop = job.pattern == "sequential" or nil
  elseif not job.once then
    start.bytes = amount * job.loops // job.block_size * job.block_size
    start.loop = job.pattern == "sequential" and (start.bytes > length or job.strided) or nil
    if job.number_ios and job.number_ios > 0 then start.ios = job.number_ios end
  end
  return start
end

return M
