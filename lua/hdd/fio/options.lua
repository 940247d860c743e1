--- What fio's options mean to a job of reads. Pure.
--
-- An option is understood, or accepted with a note when it makes no difference to a read here, or
-- refused: nothing is left out in silence.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.fio.options
local values = require "hdd.fio.values"

local M = {}

local ALIASES <const> = {
  blocksize = "bs", readwrite = "rw", io_limit = "io_size", wait_for_previous = "stonewall",
  file_service_type = "file_service", use_os_rand = "os_rand", zone_size = "zonesize",
  zone_skip = "zoneskip", zone_range = "zonerange", fadvise = "fadvise_hint",
}

-- Engines that have one request in flight, whatever iodepth says.
local SYNCHRONOUS <const> = {
  sync = true, psync = true, vsync = true, pvsync = true, pvsync2 = true, mmap = true, splice = true,
}
local ASYNCHRONOUS <const> = {
  libaio = true, io_uring = true, posixaio = true, aio = true, linuxaio = true, rbd = false,
}

local READS <const> = { read = "sequential", randread = "random" }

-- With fio's percentile list these are always there.
M.PERCENTILES = {
  1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99,
}

-- Handlers: job, value -> why it is refused (nil: it is not), note.
local UNDERSTOOD = {}

local function set(key, read, check)
  return function(job, value)
    if value == nil and read ~= values.flag then return "a value is missing" end
    local got, why = read(value)
    if got == nil then return why end
    why = check and check(got)
    if why then return why end
    job[key] = got
  end
end

local function at_least(least)
  return function(value)
    if value < least then return string.format("must be at least %s", tostring(least)) end
  end
end

UNDERSTOOD.filename = set("filename", function(text)
  if text:gsub("\\:", ""):find(":", 1, true) then
    return nil, "several files in one job are not supported: run them one after the other"
  end
  return (text:gsub("\\:", ":"))
end)
UNDERSTOOD.directory = set("directory", function(text) return text end)
UNDERSTOOD.name = set("name", function(text) return text end)
UNDERSTOOD.description = set("description", function(text) return text end)

function UNDERSTOOD.rw(job, value)
  local base, every = (value or ""):match("^(%a+):?(.*)$")
  job.pattern = READS[base]
  if not job.pattern then
    return "only reads are run (read, randread): hddlua writes nothing to a drive here"
  end
  if every ~= "" then return "a number or an offset behind the colon is not supported" end
  job.rw = base
end

function UNDERSTOOD.bs(job, value)
  if value == nil then return "a value is missing" end
  local reads = value:match("^[^,]*")
  if reads:find("-", 1, true) then return "a range of block sizes is not supported" end
  local size, why = values.size(reads)
  if not size then return why end
  if size < 512 or size > 64 << 20 then return "must lie between 512 bytes and 64 MiB" end
  job.block_size = size
end

UNDERSTOOD.iodepth = set("depth", values.integer, function(depth)
  if depth < 1 or depth > 4096 then return "must lie between 1 and 4096" end
end)
UNDERSTOOD.numjobs = set("numjobs", values.integer, function(count)
  if count < 1 or count > 64 then return "must lie between 1 and 64" end
end)
UNDERSTOOD.size = set("size", values.place)
UNDERSTOOD.io_size = set("io_size", values.place)
UNDERSTOOD.offset = set("offset", values.place)
UNDERSTOOD.offset_increment = set("offset_increment", values.place)
UNDERSTOOD.number_ios = set("number_ios", values.integer, at_least(0))
UNDERSTOOD.loops = set("loops", values.integer, at_least(1))
UNDERSTOOD.runtime = set("runtime", values.time)
UNDERSTOOD.ramp_time = set("ramp", values.time)
UNDERSTOOD.time_based = set("time_based", values.flag)
UNDERSTOOD.stonewall = set("stonewall", values.flag)
UNDERSTOOD.new_group = set("new_group", values.flag)
UNDERSTOOD.group_reporting = set("group_reporting", values.flag)
UNDERSTOOD.direct = set("direct", values.flag)
UNDERSTOOD.zonesize = set("zone_size", values.size)
UNDERSTOOD.zonerange = set("zone_range", values.size)
UNDERSTOOD.zoneskip = set("zone_skip", values.size)
UNDERSTOOD.randseed = set("seed", values.integer, at_least(0))
UNDERSTOOD.percentile_list = set("percentiles", values.percentiles)
UNDERSTOOD.log_avg_msec = set("log_avg_ms", values.integer, at_least(0))
UNDERSTOOD.log_offset = set("log_offset", values.flag)
UNDERSTOOD.per_job_logs = set("per_job_logs", values.flag)

function UNDERSTOOD.buffered(job, value)
  local yes, why = values.flag(value)
  if yes == nil then return why end
  job.direct = not yes
end

function UNDERSTOOD.zonemode(job, value)
  if value == "zbd" then return "zonemode=zbd is not supported: only none and strided are" end
  if value ~= "strided" and value ~= "none" then return "must be none or strided" end
  job.zone_mode = value
end

function UNDERSTOOD.ioscheduler(job, value)
  if value == nil or not value:find("^[%w_-]+$") then return "must be the name of a scheduler" end
  job.scheduler = value
  if value == "noop" then
    job.scheduler = "none"
    return nil, "noop is taken as none, which is what it is called since Linux 5"
  end
end

function UNDERSTOOD.ioengine(job, value)
  job.engine = value
  if ASYNCHRONOUS[value] then
    return nil, value ~= "io_uring" and "reads go through io_uring" or nil
  elseif SYNCHRONOUS[value] then
    job.synchronous = true
    return nil, "reads go through io_uring, one at a time, as this engine makes them"
  end
  return "not an engine for reads of a drive or file that is supported: libaio, io_uring, posixaio, sync, "
    .. "psync, vsync, pvsync, pvsync2, mmap"
end

for _, kind in ipairs { "bw", "lat", "iops" } do
  UNDERSTOOD["write_" .. kind .. "_log"] = function(job, value)
    job.logs = job.logs or {}
    job.logs[kind] = value ~= nil and value ~= "" and value or true
  end
end

-- Accepted whatever their value is: they make no difference here. The text says why, when that is not
-- plain.
local NOTED <const> = {
  thread = "each job is a thread", invalidate = "with direct=1 the page cache plays no part",
  norandommap = "random blocks are always drawn one by one, so that some may be read twice",
  randrepeat = "the same seed always gives the same blocks",
  allrandrepeat = "the same seed always gives the same blocks",
  random_generator = "the generator is hddlua's own", gtod_reduce = "", clocksource = "the clock is CLOCK_MONOTONIC",
  refill_buffers = "", zero_buffers = "", scramble_buffers = "", buffer_compress_percentage = "",
  fallocate = "nothing is written", overwrite = "nothing is written", fsync_on_close = "nothing is written",
  end_fsync = "nothing is written", create_on_open = "nothing is written", create_serialize = "nothing is written",
  fsync = "nothing is written", fdatasync = "nothing is written", allow_mounted_write = "nothing is written",
  fadvise_hint = "", disable_lat = "latencies are always measured", disable_clat = "latencies are always measured",
  disable_slat = "", disable_bw_measurement = "", clat_percentiles = "", lat_percentiles = "", slat_percentiles = "",
  write_hint = "", unified_rw_reporting = "", significant_figures = "", log_entries = "", disk_util = "",
  stats = "", bwavgtime = "", iopsavgtime = "", ["hugepage-size"] = "", mem = "", lockmem = "",
  unit_base = "", rw_sequencer = "", registerfiles = "", fixedbufs = "", userspace_reap = "",
  continue_on_error = "a failed read is counted, and the job goes on up to max_errors",
}

-- Accepted with the one value that is the default, refused with any other.
local ONLY <const> = {
  kb_base = "1024", iodepth_batch = "1", iodepth_batch_submit = "1", iodepth_batch_complete = "1",
  iodepth_batch_complete_min = "1", nrfiles = "1", openfiles = "1", rwmixread = "100", rwmixwrite = "0",
  random_distribution = "random", percentage_random = "100", startdelay = "0", thinktime = "0",
  log_max_value = "0", hipri = "0", cmdprio_percentage = "0", io_submit_mode = "inline",
  readonly = "1", fill_device = "0", pre_read = "0", log_unix_epoch = "0", log_prio = "0", exitall = "0",
  sync = "0", file_service = "roundrobin", read_beyond_wp = "0", nice = "0",
}

-- Those that only a workload of writes has.
local WRITES <const> = {
  verify = true, do_verify = true, verify_pattern = true, trim_percentage = true, file_append = true,
  atomic = true, verify_backlog = true, verify_only = true, unlink = true, write_iolog = true,
}

--- Takes one option into a job.
-- @tparam table job     changed
-- @tparam string name   as written
-- @tparam ?string value
-- @treturn boolean  true
-- @treturn ?string  a note: what is different here
-- @return or nil, why it is refused
-- @usage assert(options.take(job, "iodepth", "8"))
function M.take(job, name, value)
  local key = ALIASES[name] or name
  local only = ONLY[key]
  if only then
    if value ~= nil and value == only then return true end
    if WRITES[key] then return nil, "only reads are run: hddlua writes nothing to a drive here" end
    return nil, string.format("not supported, but for its default, %s", only)
  end
  local handler = UNDERSTOOD[key]
  if handler then
    local why, note = handler(job, value)
    if why then return nil, why end
    return true, note
  end
  local note = NOTED[key]
  if note then return true, note ~= "" and note or "makes no difference here" end
  if WRITES[key] then return nil, "only reads are run: hddlua writes nothing to a drive here" end
  return nil, "not supported"
end

--- Whether an engine has one request in flight, whatever iodepth says.
-- @tparam table job
-- @treturn boolean
function M.one_at_a_time(job)
  return job.synchronous == true or job.direct ~= true and job.engine ~= "io_uring"
end

return M
