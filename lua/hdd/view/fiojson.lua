--- A fio job's document in the layout of fio's own JSON, for the tools that read that.
--
-- The keys are those of fio 3.33. What fio measures and hddlua does not is there, as readers look for it,
-- and 0: submission latency (slat; an I/O's latency is one number, from before its submission to its
-- completion, and stands for clat and lat), context switches, page faults. docs/fio.md has the list.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.fiojson
local calendar = require "hdd.calendar"
local json = require "hdd.json"
local version = require "hdd.version"

local M = {}

-- An object with its keys in order: a list of {key, value}, values may be such objects.
local Ordered = {}

local function ordered(list)
  return setmetatable(list, Ordered)
end

-- As JSON text: lists of such objects and what is below the top level are in one line each.
local function encode(value, indent)
  if type(value) ~= "table" then return (json.encode(value, nil, true):gsub("\n$", "")) end
  local pieces, is_object = {}, getmetatable(value) == Ordered
  local inner = indent and indent .. "  "
  for i, member in ipairs(value) do
    if is_object then
      local below = indent and type(member[2]) == "table" and inner or nil
      pieces[i] = encode(member[1]) .. ": " .. encode(member[2], below)
    else
      pieces[i] = encode(member)
    end
  end
  local open, close = is_object and "{" or "[", is_object and "}" or "]"
  if not indent or #pieces == 0 then return open .. table.concat(pieces, ", ") .. close end
  return open .. "\n" .. inner .. table.concat(pieces, ",\n" .. inner) .. "\n" .. indent .. close
end

local function whole(value)
  return math.tointeger(math.floor((value or 0) + 0.5)) or 0
end

local function ns(value_us)
  return whole((value_us or 0) * 1000)
end

local function latency(row, n, extra)
  local list = {
    { "min", ns(row.latency_min_us) }, { "max", ns(row.latency_max_us) },
    { "mean", (row.latency_mean_us or 0) * 1000.0 }, { "stddev", (row.latency_stddev_us or 0) * 1000.0 },
    { "N", n },
  }
  return ordered(table.move(extra or {}, 1, #(extra or {}), #list + 1, list))
end

local NO_LATENCY <const> = {}

local function percentiles_of(row)
  local list = {}
  for i, p in ipairs(row.percentiles or {}) do
    list[i] = { (string.format("%.6f", p.percent):gsub(",", ".")), p.latency_ns }
  end
  return ordered(list)
end

local function bins_of(row)
  local list = {}
  for i, bin in ipairs(row.bins or {}) do list[i] = { tostring(bin.latency_ns), bin.count } end
  return ordered(list)
end

local NOTHING <const> = { ios = 0, bytes = 0, errors = 0, percentiles = {}, bins = {} }

-- One direction: read, write, trim.
local function direction(row, all, with_bins)
  local rate, n = row.bandwidth_bytes_per_s or 0, row.ios
  local extra = {}
  if n > 0 then extra[1] = { "percentile", percentiles_of(row) } end
  if n > 0 and with_bins then extra[2] = { "bins", bins_of(row) } end
  local bw, iops = row.bandwidth_samples or {}, row.iops_samples or {}
  return ordered {
    { "io_bytes", row.bytes }, { "io_kbytes", row.bytes >> 10 }, { "bw_bytes", whole(rate) },
    { "bw", whole(rate / 1024) }, { "iops", (row.iops or 0) + 0.0 }, { "runtime", whole((row.elapsed_s or 0) * 1000) },
    { "total_ios", n }, { "short_ios", 0 }, { "drop_ios", 0 },
    { "slat_ns", latency(NO_LATENCY, 0) }, { "clat_ns", latency(row, n, extra) }, { "lat_ns", latency(row, n) },
    { "bw_min", whole((bw.min or 0) / 1024) }, { "bw_max", whole((bw.max or 0) / 1024) },
    { "bw_agg", all > 0 and rate * 100 / all or 0.0 }, { "bw_mean", (bw.mean or 0) / 1024 },
    { "bw_dev", (bw.stddev or 0) / 1024 }, { "bw_samples", bw.samples or 0 },
    { "iops_min", whole(iops.min) }, { "iops_max", whole(iops.max) }, { "iops_mean", (iops.mean or 0) + 0.0 },
    { "iops_stddev", (iops.stddev or 0) + 0.0 }, { "iops_samples", iops.samples or 0 },
  }
end

-- The share, in per cent, of reads below each limit and not below the one before.
local function shares(row, limits, unit_ns, from_ns, last)
  local list, below = {}, from_ns
  for i, limit in ipairs(limits) do
    local count, to = 0, limit * unit_ns
    for _, bin in ipairs(row.bins or {}) do
      if bin.latency_ns >= below and bin.latency_ns < to then count = count + bin.count end
    end
    list[i], below = { tostring(limit), row.ios > 0 and count * 100.0 / row.ios or 0.0 }, to
  end
  if last then
    local count = 0
    for _, bin in ipairs(row.bins or {}) do
      if bin.latency_ns >= below then count = count + bin.count end
    end
    list[#list + 1] = { ">=" .. limits[#limits], row.ios > 0 and count * 100.0 / row.ios or 0.0 }
  end
  return ordered(list)
end

local SHORT <const> = { 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 }
local LONG <const> = { 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000 }

-- All I/Os at the step that holds a depth.
local function depths(steps, last, depth, n)
  local list, placed = {}, n == 0
  for i, step in ipairs(steps) do
    local here = not placed and depth <= step
    placed = placed or here
    list[i] = { tostring(step), here and 100.0 or 0.0 }
  end
  list[#list + 1] = { last, placed and 0.0 or 100.0 }
  return ordered(list)
end

local ALIASES <const> = { blocksize = "bs", readwrite = "rw" }

-- Options as an object, with fio's short names. fio leaves out what was not given; its readers want these.
local function options_of(list, defaults)
  local value = {}
  local function set(key, text)
    for _, pair in ipairs(value) do
      if pair[1] == key then
        pair[2] = text
        return
      end
    end
    value[#value + 1] = { key, text }
  end
  for _, pair in ipairs(defaults or {}) do set(pair[1], pair[2]) end
  for _, option in ipairs(list or {}) do set(ALIASES[option.name] or option.name, option.value) end
  return ordered(value)
end

local function defaults_of(row, document)
  local given = {}
  for _, option in ipairs(document.global_options or {}) do given[ALIASES[option.name] or option.name] = true end
  local list = {}
  for _, pair in ipairs {
    { "name", row.name }, { "filename", document.drive and document.drive.path }, { "rw", row.rw },
    { "bs", tostring(row.block_size_bytes) }, { "iodepth", tostring(row.depth) },
    { "numjobs", tostring(row.numjobs or 1) },
  } do
    if pair[2] and not given[pair[1]] then list[#list + 1] = pair end
  end
  return list
end

local function percent(seconds, elapsed)
  return elapsed and elapsed > 0 and (seconds or 0) * 100 / elapsed or 0.0
end

local function job_of(row, document, with_bins, all)
  return ordered {
    { "jobname", row.name }, { "groupid", row.group or 0 }, { "error", row.errors > 0 and 5 or 0 }, { "eta", 0 },
    { "elapsed", math.ceil((row.ramp_s or 0) + (row.elapsed_s or 0)) },
    { "job options", options_of(row.options, defaults_of(row, document)) },
    { "read", direction(row, all, with_bins) }, { "write", direction(NOTHING, 0) }, { "trim", direction(NOTHING, 0) },
    { "sync", ordered { { "total_ios", 0 }, { "lat_ns", latency(NO_LATENCY, 0) } } },
    { "job_runtime", whole((row.elapsed_s or 0) * 1000) },
    { "usr_cpu", percent(row.cpu_user_s, row.elapsed_s) }, { "sys_cpu", percent(row.cpu_system_s, row.elapsed_s) },
    { "ctx", 0 }, { "majf", 0 }, { "minf", 0 },
    { "iodepth_level", depths({ 1, 2, 4, 8, 16, 32 }, ">=64", row.depth, row.ios) },
    { "iodepth_submit", depths({ 0, 4, 8, 16, 32, 64 }, ">=64", 1, row.ios) },
    { "iodepth_complete", depths({ 0, 4, 8, 16, 32, 64 }, ">=64", 1, row.ios) },
    { "latency_ns", shares(row, SHORT, 1, 0) }, { "latency_us", shares(row, SHORT, 1000, 1000) },
    { "latency_ms", shares(row, LONG, 1000000, 1000000, true) },
    { "latency_depth", row.depth }, { "latency_target", 0 }, { "latency_percentile", 100.0 }, { "latency_window", 0 },
  }
end

local function disks_of(list)
  local disks = {}
  for i, disk in ipairs(list or {}) do
    disks[i] = ordered {
      { "name", disk.name }, { "read_ios", disk.read_ios or 0 }, { "write_ios", disk.write_ios or 0 },
      { "read_merges", disk.read_merges or 0 }, { "write_merges", disk.write_merges or 0 },
      { "read_ticks", disk.read_ticks_ms or 0 }, { "write_ticks", disk.write_ticks_ms or 0 },
      { "in_queue", disk.in_queue_ms or 0 }, { "util", disk.util_percent or 0.0 },
    }
  end
  return disks
end

local DAYS <const> = { [0] = "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed" }
local MONTHS <const> = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" }

-- As ctime has it.
local function spelled(text, seconds)
  local y, mo, d, time = tostring(text):match("^(%d+)-(%d+)-(%d+)T(%d+:%d+:%d+)")
  if not y then return "" end
  return string.format("%s %s %2d %s %s", DAYS[seconds // 86400 % 7], MONTHS[math.tointeger(mo)],
    math.tointeger(d), time, y)
end

--- The document as fio's JSON.
-- @tparam table document      of schema hddlua.fiojob/1
-- @tparam[opt] table options  `bins` (false: fio's json+, with the histogram of each job)
-- @treturn string
-- @return or nil, message when it is of another schema
-- @usage io.write(assert(fiojson.document(document, { bins = true })))
function M.document(document, options)
  if type(document.jobs) ~= "table" then
    return nil, string.format("fio's JSON is made of a fio job, not of %s", tostring(document.schema))
  end
  local ended = document.finished_at or document.started_at
  local seconds, jobs = calendar.seconds(ended) or 0, {}
  local group = {}
  for _, row in ipairs(document.jobs) do
    group[row.group or 0] = (group[row.group or 0] or 0) + (row.bandwidth_bytes_per_s or 0)
  end
  for i, row in ipairs(document.jobs) do
    jobs[i] = job_of(row, document, options and options.bins, group[row.group or 0])
  end
  return encode(ordered {
    { "fio version", "hddlua-" .. version }, { "timestamp", seconds }, { "timestamp_ms", seconds * 1000 },
    { "time", spelled(ended, seconds) }, { "global options", options_of(document.global_options) },
    { "jobs", jobs }, { "disk_util", disks_of(document.disk_util) },
  }, "") .. "\n"
end

return M
