--- The rows of a fio job's document, made of what its jobs yielded.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.fiojob.results
local core = require "hdd.core"
local files = require "hdd.sysfs.files"
local hdd = require "hdd"
local statistics = require "hdd.statistics"

local M = {}

local function us(ns)
  return ns and ns / 1000
end

--- Options in the document's words.
-- @tparam {table,...} list  of {`name`, `value`}
-- @treturn {table,...}  the last of each name, with the value that an option alone stands for
function M.options(list)
  local place, out = {}, {}
  for _, option in ipairs(list) do
    local at = place[option.name] or #out + 1
    place[option.name] = at
    out[at] = { name = option.name, value = option.value or "1" }
  end
  return out
end

-- Mean and standard deviation of what was done in each interval of all jobs' series.
local function samples_of(parts, value)
  local list = {}
  for _, result in ipairs(parts) do
    for i, interval in ipairs(result.series) do
      -- The last one is seldom whole.
      if interval.elapsed_s > 0 and (i < #result.series or #result.series == 1) then
        list[#list + 1] = value(interval) / interval.elapsed_s
      end
    end
  end
  return {
    samples = #list, min = statistics.percentile(list, 0), max = statistics.percentile(list, 100),
    mean = statistics.mean(list), stddev = statistics.deviation(list),
  }
end

-- What is spread around the mean, from the buckets.
local function deviation_of(bins, mean_ns, count)
  if not mean_ns or count < 2 then return nil end
  local squares = 0.0
  for _, bin in ipairs(bins) do squares = squares + bin.count * (bin.latency_ns - mean_ns) ^ 2 end
  return math.sqrt(squares / (count - 1))
end

local function bins_of(histogram)
  local bins = {}
  for i, bucket in ipairs(histogram:buckets()) do
    bins[i] = { latency_ns = (bucket.low_ns + bucket.high_ns) // 2, count = bucket.count }
  end
  return bins
end

local function percentiles_of(histogram, list)
  local out = {}
  if histogram:count() == 0 then return out end
  for i, p in ipairs(list) do out[i] = { percent = p + 0.0, latency_ns = histogram:percentile(p) } end
  return out
end

local function most(parts, key)
  local largest = 0
  for _, part in ipairs(parts) do largest = math.max(largest, part[key] or 0) end
  return largest
end

local function latencies(row, histogram, percentiles)
  row.latency_min_us, row.latency_max_us = us(histogram:min()), us(histogram:max())
  row.latency_mean_us = us(histogram:mean())
  for key, p in pairs { p50 = 50, p95 = 95, p99 = 99, p999 = 99.9 } do
    row["latency_" .. key .. "_us"] = us(histogram:percentile(p))
  end
  row.bins = bins_of(histogram)
  row.latency_stddev_us = us(deviation_of(row.bins, histogram:mean(), histogram:count()))
  row.percentiles = percentiles_of(histogram, percentiles)
end

-- Jobs that are shown as one, or one that is alone.
local function row_of(jobs)
  local first, parts, histogram = jobs[1], {}, hdd.histogram()
  for i, job in ipairs(jobs) do
    parts[i] = job.result
    histogram:merge(job.result.latency)
  end
  local elapsed = most(parts, "elapsed_s")
  local row = {
    name = first.name, number = first.number, group = first.group, rw = first.rw,
    block_size_bytes = first.block_size, depth = first.depth, numjobs = first.numjobs, merged = #jobs,
    offset_bytes = first.start.offset, length_bytes = first.start.length,
    zone_size_bytes = first.start.zone_size, zone_skip_bytes = first.start.zone_skip,
    ramp_s = first.ramp, runtime_s = first.runtime, started_s = first.started_s, elapsed_s = elapsed,
    ios = statistics.sum(parts, "ios"), bytes = statistics.sum(parts, "bytes"),
    errors = statistics.sum(parts, "errors"),
    iops = elapsed > 0 and statistics.sum(parts, "iops") or nil,
    bandwidth_bytes_per_s = elapsed > 0 and statistics.sum(parts, "bandwidth_bytes_per_s") or nil,
    iops_ci95 = #parts == 1 and parts[1].iops_ci95 or nil,
    depth_achieved = statistics.sum(parts, "depth_achieved"), stopped_by = parts[1].stopped_by,
    cpu_user_s = most(parts, "cpu_user_s"), cpu_system_s = most(parts, "cpu_system_s"),
    options = M.options(first.given),
  }
  latencies(row, histogram, first.percentiles)
  row.bandwidth_samples = samples_of(parts, function(interval) return interval.bytes end)
  row.iops_samples = samples_of(parts, function(interval) return interval.ios end)
  return row
end

--- The rows of what has run so far: one a job; those of a group that report as one are one.
-- @tparam table plan  of hdd.fio.plan, its jobs with a `result`
-- @treturn {table,...}
function M.rows(plan)
  local rows, together = {}, {}
  for _, job in ipairs(plan.jobs) do
    if job.result then
      local group = job.group_reporting and together[job.group]
      if group then
        group[#group + 1] = job
      else
        local jobs = { job }
        rows[#rows + 1] = jobs
        if job.group_reporting then together[job.group] = jobs end
      end
    end
  end
  for i, jobs in ipairs(rows) do rows[i] = row_of(jobs) end
  return rows
end

local KEYS <const> = {
  "read_ios", "read_merges", "read_sectors", "read_ticks_ms", "write_ios", "write_merges", "write_sectors",
  "write_ticks_ms", "in_flight", "io_ticks_ms", "in_queue_ms",
}

--- The block device's own counters; nil of what has none.
-- @tparam Drive drive
-- @treturn ?table
function M.disk(drive)
  if drive.type ~= "block" then return nil end
  local name = (drive.parent or drive.name or ""):gsub("/", "!")
  local text = files.bytes(files.roots.sys .. "/block/" .. name .. "/stat")
  if not text then return nil end
  local found, i = { name = name, at_ns = core.now() }, 0
  for value in text:gmatch("%d+") do
    i = i + 1
    if KEYS[i] then found[KEYS[i]] = math.tointeger(tonumber(value)) end
  end
  return i >= #KEYS and found or nil
end

--- What a device's counters counted between two looks.
-- @tparam ?table before  of `disk`
-- @tparam ?table after
-- @treturn {table,...}  a list of one, or of none
function M.disk_util(before, after)
  if not before or not after then return {} end
  local used = { name = after.name }
  for _, key in ipairs(KEYS) do
    if key ~= "in_flight" then used[key] = math.max(0, after[key] - before[key]) end
  end
  local elapsed_ms = (after.at_ns - before.at_ns) / 1e6
  used.util_percent = elapsed_ms > 0 and math.min(100, used.io_ticks_ms * 100 / elapsed_ms) or nil
  return { used }
end

--- The run in a few numbers.
-- @tparam table d  the document
function M.summarize(d)
  local s = d.summary
  s.jobs = #d.jobs
  for _, row in ipairs(d.jobs) do
    if row.iops and (not s.best_iops or row.iops > s.best_iops) then s.best_iops = row.iops end
    if row.bandwidth_bytes_per_s and (not s.best_bytes_per_s or row.bandwidth_bytes_per_s > s.best_bytes_per_s) then
      s.best_bytes_per_s = row.bandwidth_bytes_per_s
    end
  end
end

return M
