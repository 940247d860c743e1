--- fio's JSON (and JSON+) read: its jobs of reads as documents that can be laid beside hddlua's own.
-- Pure. Versions from 2.1 on are read: microseconds ("clat") and nanoseconds ("clat_ns").
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.fio.json
local document = require "hdd.document"
local json = require "hdd.json"
local values = require "hdd.fio.values"

local M = {}

local EINVAL <const>, EBADMSG <const> = 22, 74

-- Long ones are of many jobs with all their bins; beyond this they are no result.
local LARGEST <const> = 256 << 20

local function number(value)
  if type(value) == "string" then value = tonumber(value) end
  if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge then return nil end
  return value >= 0 and value or nil
end

local function integer(value)
  value = number(value)
  return value and value < 2 ^ 62 and math.tointeger(math.floor(value)) or nil
end

local function object(value)
  return type(value) == "table" and value ~= json.null and value or {}
end

--- Is it fio's JSON, by its looks?
-- @tparam string|table what  text, or what was decoded
-- @treturn boolean
-- @usage if fiojson.is(text) then ... end
function M.is(what)
  if type(what) == "table" then
    return what["fio version"] ~= nil and (type(what.jobs) == "table" or type(what.client_stats) == "table")
  end
  return type(what) == "string" and what:find('"fio version"', 1, true) ~= nil
end

-- What is JSON in the text: fio writes complaints before it.
local function decoded(text, name)
  if #text > LARGEST then return nil, name .. ": larger than any result of fio's" end
  local from = text:find("^%s*{") or text:find("\n{", 1, true)
  if not from then return nil, name .. ": it is not JSON" end
  -- fio 2's own text may follow.
  local value, message = json.decode(text:sub(from))
  if not value then return nil, string.format("%s: it is not JSON: %s", name, message) end
  if not M.is(value) then return nil, name .. ": it is JSON, but not fio's: it has no \"fio version\" and jobs" end
  return value, from > 1 and text:sub(1, from - 1):find("%S") ~= nil
end

-- Options of a job: those of [global] are below it.
local function options_of(job, global)
  return setmetatable(object(job["job options"]), { __index = object(global) })
end

local function plain_options(given)
  local list, names = {}, {}
  for name in pairs(given) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  for i, name in ipairs(names) do
    local value = given[name]
    list[i] = { name = name, value = type(value) == "string" and value or tostring(value) }
  end
  return list
end

-- A latency of a job, in microseconds, whatever the version calls it.
local function latency_of(side, key)
  local found = object(side[key .. "_ns"])
  if next(found) then return found, 1e-3 end
  return object(side[key]), 1
end

local function percentile(found, factor, p)
  local all = object(found.percentile)
  local value = number(all[string.format("%.6f", p)]) or number(all[string.format("%.2f", p)])
  return value and value * factor
end

-- Percentiles and bins in the document's words.
local function spread_of(found, factor)
  local percentiles, bins = {}, {}
  for key, value in pairs(object(found.percentile)) do
    local p, v = number(key), number(value)
    local ns = v and integer(v * (factor * 1000))
    if p and ns and p <= 100 then
      percentiles[#percentiles + 1] = { percent = p + 0.0, latency_ns = ns }
    end
  end
  for key, value in pairs(object(found.bins)) do
    local at, count = integer(key), integer(value)
    if at and count then bins[#bins + 1] = { latency_ns = at, count = count } end
  end
  table.sort(percentiles, function(a, b) return a.percent < b.percent end)
  table.sort(bins, function(a, b) return a.latency_ns < b.latency_ns end)
  return percentiles, bins
end

local function samples_of(side, prefix, deviation, factor)
  local count = integer(side[prefix .. "_samples"])
  if not count then return nil end
  local function scaled(key)
    local value = number(side[prefix .. "_" .. key])
    return value and value * factor
  end
  return {
    samples = count, min = scaled("min"), max = scaled("max"), mean = scaled("mean"),
    stddev = scaled(deviation),
  }
end

local function block_size_of(text)
  local reads = type(text) == "string" and text:match("^[^,]*") or "4096"
  return reads ~= "" and values.size(reads) or nil
end

-- The row of a job's reads; nil when there are none, or it is not known what they were.
local function row_of(job, value, number_of_job, notes)
  local side, options = object(job.read), options_of(job, value["global options"])
  local ios = integer(side.total_ios) or 0
  if ios == 0 then return nil end
  local name = type(job.jobname) == "string" and job.jobname or "job"
  local rw = options.rw or options.readwrite or "read"
  local block_size = block_size_of(options.bs or options.blocksize)
  if not block_size or block_size == 0 then
    notes[#notes + 1] = string.format("job %s is left out: its block size %q is no single size", name,
      tostring(options.bs))
    return nil
  end
  local clat, factor = latency_of(side, "clat")
  local lat, lat_factor = latency_of(side, "lat")
  local of_lat = next(object(lat.percentile)) ~= nil
  local from, from_factor = of_lat and lat or clat, of_lat and lat_factor or factor
  local percentiles, bins = spread_of(from, from_factor)
  local mean = number(lat.mean) and lat or clat
  local runtime_ms = number(side.runtime)
  local bytes = integer(side.io_bytes) or 0
  -- Before version 3 that was KiB.
  if tostring(value["fio version"]):find("^fio%-[12]%.") then bytes = bytes * 1024 end
  local errors = integer(object(job).total_err) or 0
  if (integer(job.error) or 0) > 0 then
    errors = math.max(errors, 1)
    notes[#notes + 1] = string.format("job %s ended with error %d", name, integer(job.error))
  end
  local bandwidth = number(side.bw_bytes) or number(side.bw) and side.bw * 1024
  return {
    name = name, number = number_of_job, group = integer(job.groupid) or 0, rw = tostring(rw),
    block_size_bytes = block_size, depth = integer(options.iodepth) or 1, numjobs = integer(options.numjobs) or 1,
    merged = 1, iops = number(side.iops), bandwidth_bytes_per_s = bandwidth,
    latency_mean_us = number(mean.mean) and mean.mean * factor,
    latency_stddev_us = number(mean.stddev) and mean.stddev * factor,
    latency_min_us = number(mean.min) and mean.min * factor,
    latency_max_us = number(mean.max) and mean.max * factor,
    latency_p50_us = percentile(from, from_factor, 50), latency_p95_us = percentile(from, from_factor, 95),
    latency_p99_us = percentile(from, from_factor, 99), latency_p999_us = percentile(from, from_factor, 99.9),
    ios = ios, bytes = bytes, errors = errors, elapsed_s = runtime_ms and runtime_ms / 1000,
    ramp_s = values.time(tostring(options.ramp_time or "0")) or nil,
    runtime_s = options.runtime and values.time(tostring(options.runtime)) or nil,
    bandwidth_samples = samples_of(side, "bw", "dev", 1024), iops_samples = samples_of(side, "iops", "stddev", 1),
    percentiles = percentiles, bins = bins, options = plain_options(object(job["job options"])),
  }, not of_lat and next(object(clat.percentile)) ~= nil
end

-- The drive as far as fio tells: a path and a size that it does not know.
local function drive_of(rows, given, value)
  local paths = {}
  for _, job in ipairs(given) do
    local options = options_of(job, value["global options"])
    local path = options.filename or type(job.jobname) == "string" and job.jobname:match("^/.+") or nil
    if path and paths[#paths] ~= path then paths[#paths + 1] = path end
  end
  local disks = {}
  for _, disk in ipairs(object(value.disk_util)) do
    if type(disk) == "table" and type(disk.name) == "string" then disks[#disks + 1] = disk.name end
  end
  local path = paths[1] or disks[1] and "/dev/" .. disks[1] or "unknown"
  return {
    path = tostring(path), name = #disks == 1 and disks[1] or tostring(path):match("[^/]*$"), size_bytes = 0,
    logical_block_size_bytes = 512,
  }, #paths > 1 and #rows > 1
end

local function time_of(value)
  local seconds = integer(value.timestamp) or 0
  return os.date("!%Y-%m-%dT%H:%M:%SZ", math.min(seconds, 253402300799))
end

-- A document that fio has measured and not this program.
local function begin(schema, drive, parameters, value)
  local d = document.new(schema, drive, parameters)
  local name, version = tostring(value["fio version"]):match("^(%a+)%-(.+)$")
  d.tool = { name = name or "fio", version = version or tostring(value["fio version"]) }
  d.host = {}
  d.started_at, d.finished_at, d.status = time_of(value), time_of(value), "complete"
  return d
end

local function distinct(rows, key)
  local list, seen = {}, {}
  for _, row in ipairs(rows) do
    if not seen[row[key]] then
      seen[row[key]] = true
      list[#list + 1] = row[key]
    end
  end
  return list
end

local SWEEP_KEYS <const> = {
  "block_size_bytes", "depth", "iops", "bandwidth_bytes_per_s", "latency_mean_us", "latency_p50_us", "latency_p95_us",
  "latency_p99_us", "latency_p999_us", "latency_max_us", "ios", "errors", "elapsed_s",
}

local function summarize(d)
  local sum = d.summary
  for _, row in ipairs(d.rows) do
    if row.iops and (not sum.best_iops or row.iops > sum.best_iops) then
      sum.best_iops, sum.best_iops_depth, sum.best_iops_block_size_bytes = row.iops, row.depth, row.block_size_bytes
    end
  end
  return d
end

-- The rows of a sweep: of clones that ran together the depth is not what iodepth says.
local function sweep_rows(rows, notes)
  local list = {}
  for _, row in ipairs(rows) do
    if row.rw == "randread" then
      if row.numjobs > 1 then
        notes[#notes + 1] = string.format("job %s is left out of the sweep: numjobs=%d makes its depth "
          .. "another", row.name, row.numjobs)
      else
        local entry = { flagged = row.errors > 0, reason = row.errors > 0 and "it ended with an error" or nil }
        for _, key in ipairs(SWEEP_KEYS) do entry[key] = row[key] end
        list[#list + 1] = entry
      end
    end
  end
  return list
end

local function sweep_of(rows, list, drive, value)
  if #list == 0 then return nil end
  local first = rows[1]
  local d = begin("hddlua.qdsweep/1", drive, {
    depths = distinct(list, "depth"), block_sizes = distinct(list, "block_size_bytes"), ramp = first.ramp_s or 0,
    runtime = first.runtime_s or first.elapsed_s or 0, from = 0, to = drive.size_bytes, seed = 0,
  }, value)
  d.rows = list
  for _, row in ipairs(list) do d.errors = d.errors + row.errors end
  return summarize(d)
end

local function total(rows, key)
  local sum = 0
  for _, row in ipairs(rows) do sum = sum + row[key] end
  return sum
end

--- Reads fio's JSON.
-- @tparam string text
-- @tparam[opt] table options  `name` (of the file, for messages)
-- @treturn {table,...}  documents: a sweep (hddlua.qdsweep/1) when there are random reads, and all jobs of
--   reads (hddlua.fiojob/1). Neither knows the drive's serial number or size
-- @treturn {string,...}  what to know about them, a sentence each
-- @return or nil, message, code (74: it is none; 22: it has no reads)
-- @usage local documents, notes = assert(fiojson.read(text, { name = "4k.json" }))
function M.read(text, options)
  local name = options and options.name or "fio's JSON"
  local value, complaints = decoded(text, name)
  if not value then return nil, complaints, EBADMSG end
  local notes, rows, others, of_clat = {}, {}, 0, false
  if complaints then notes[1] = "fio wrote messages before the JSON: they are not looked at" end
  local given = object(value.jobs)
  if #given == 0 then given = object(value.client_stats) end
  for i, job in ipairs(given) do
    if type(job) == "table" and job.jobname ~= "All clients" then
      local row, clat = row_of(job, value, i, notes)
      rows[#rows + 1] = row
      of_clat = of_clat or clat
      if (integer(object(job.write).total_ios) or 0) > 0 then others = others + 1 end
    end
  end
  if others > 0 then
    notes[#notes + 1] = string.format("%d job%s wrote: writes are left out", others, others == 1 and "" or "s")
  end
  if #rows == 0 then return nil, name .. ": it has no job with reads", EINVAL end
  if of_clat and not tostring(value["fio version"]):find("^hddlua") then
    notes[#notes + 1] = "percentiles are fio's completion latencies (clat), which leave out the time of submission"
  end
  local drive, several = drive_of(rows, given, value)
  if several then notes[#notes + 1] = "the jobs read several files: only the first is named" end
  local job = begin("hddlua.fiojob/1", drive, { name = name }, value)
  job.jobs, job.notes, job.errors = rows, {}, total(rows, "errors")
  job.global_options = plain_options(object(value["global options"]))
  job.summary = { jobs = #rows }
  local list = {}
  list[1] = sweep_of(rows, sweep_rows(rows, notes), drive, value)
  list[#list + 1] = job
  return list, notes
end

--- Sweeps of one drive, each of a file of its own as bench-fio makes them, as one.
-- @tparam {table,...} documents  of schema hddlua.qdsweep/1
-- @treturn table  a sweep with all rows, by block size and depth
-- @return or nil, message, code (22) when they are of different files
-- @usage local sweep = assert(fiojson.join(sweeps))
function M.join(documents)
  local first = documents[1]
  if not first then return nil, "there is nothing to be joined", EINVAL end
  local joined = document.new("hddlua.qdsweep/1", first.drive, first.parameters)
  joined.tool, joined.host = first.tool, first.host
  joined.started_at, joined.finished_at, joined.status = first.started_at, first.finished_at, "complete"
  for _, d in ipairs(documents) do
    if d.drive.path ~= first.drive.path then
      return nil, string.format("%s and %s are not the same drive", first.drive.path, d.drive.path), EINVAL
    end
    for _, row in ipairs(d.rows) do joined.rows[#joined.rows + 1] = row end
    joined.errors = joined.errors + d.errors
    if d.started_at < joined.started_at then joined.started_at = d.started_at end
    if d.finished_at > joined.finished_at then joined.finished_at = d.finished_at end
  end
  table.sort(joined.rows, function(a, b)
    if a.block_size_bytes ~= b.block_size_bytes then return a.block_size_bytes < b.block_size_bytes end
    return a.depth < b.depth
  end)
  joined.parameters.depths = distinct(joined.rows, "depth")
  joined.parameters.block_sizes = distinct(joined.rows, "block_size_bytes")
  table.sort(joined.parameters.depths)
  return summarize(joined)
end

return M
