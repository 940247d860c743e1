-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua.fiojob/1: a job file of fio's, run by hddlua, or what fio itself made of it.

local common = require "hdd.schema.common"

local parameters = {
  { "text", "string?", "the job file, its variables replaced; null of what fio ran" },
  { "name", "string?", "its name" },
  { "max_errors", "integer?", "failed reads after which the run ends" },
}

local function options(key, about)
  return { key, "list", about, of = {
    { "name", "string", "the option" },
    { "value", "string", "its value; 1 where it stands alone" },
  } }
end

local function samples(key, about)
  return { key, "object?", about, of = {
    { "samples", "integer", "how many" },
    { "min", "number?", "least" },
    { "max", "number?", "largest" },
    { "mean", "number?", "mean" },
    { "stddev", "number?", "standard deviation" },
  } }
end

local jobs = { "jobs", "list", "one for each job, or for those of a group that report as one", of = {
  { "name", "string", "of its section" },
  { "number", "integer", "place among all jobs, clones counted: what its logs are named by" },
  { "group", "integer", "jobs between two stonewalls have the same" },
  { "rw", "string", "`read` or `randread`" },
  { "block_size_bytes", "integer", "bytes of a read" },
  { "depth", "integer", "reads in flight that were asked for, of one job" },
  { "depth_achieved", "number?", "reads that were in flight on average, all jobs" },
  { "numjobs", "integer", "clones" },
  { "merged", "integer", "how many jobs are in this row" },
  { "iops", "number?", "reads per second" },
  { "iops_ci95", "number?", "half width of its 95 % confidence interval" },
  { "bandwidth_bytes_per_s", "number?", "bytes read over the time" },
  { "latency_mean_us", "number?", "mean" },
  { "latency_stddev_us", "number?", "standard deviation, from the histogram" },
  { "latency_min_us", "number?", "the fastest read" },
  { "latency_p50_us", "number?", "median" },
  { "latency_p95_us", "number?", "95th percentile" },
  { "latency_p99_us", "number?", "99th percentile" },
  { "latency_p999_us", "number?", "99.9th percentile" },
  { "latency_max_us", "number?", "the slowest read" },
  { "ios", "integer", "reads that succeeded in the counted part" },
  { "bytes", "integer", "what they read" },
  { "errors", "integer", "reads that failed" },
  { "started_s", "number?", "when it began, from the start of the run" },
  { "elapsed_s", "number?", "the counted part" },
  { "ramp_s", "number?", "before that" },
  { "runtime_s", "number?", "limit" },
  { "stopped_by", "string?", "`runtime`, `bytes`, `pattern`, …" },
  { "offset_bytes", "integer?", "where its range begins" },
  { "length_bytes", "integer?", "its length" },
  { "zone_size_bytes", "integer?", "bytes that are read of each zone" },
  { "zone_skip_bytes", "integer?", "bytes left out behind it" },
  { "cpu_user_s", "number?", "processor time of the whole process meanwhile" },
  { "cpu_system_s", "number?", "the same in the kernel" },
  samples("bandwidth_samples", "bytes per second in intervals of half a second, longer ones in long runs"),
  samples("iops_samples", "reads per second in them"),
  { "percentiles", "list", "those that fio would give", of = {
    { "percent", "number", "0 to 100" },
    { "latency_ns", "integer", "so long took so many per cent of the reads at most" },
  } },
  { "bins", "list", "the histogram of latencies", of = {
    { "latency_ns", "integer", "middle of the bin" },
    { "count", "integer", "reads in it" },
  } },
  options("options", "as its section has them"),
} }

local summary = {
  { "jobs", "integer?", "rows" },
  { "best_iops", "number?", "most reads per second" },
  { "best_bytes_per_s", "number?", "highest rate" },
  { "read_bytes", "integer?", "bytes read in all, ramps included" },
  { "elapsed_s", "number?", "time that the run took" },
}

local own = {
  jobs,
  options("global_options", "of the [global] sections"),
  { "notes", "list", "what is different from fio, a sentence each", of = "string" },
  { "disk_util", "list", "the block device's own counters during the run", of = {
    { "name", "string", "kernel name" },
    { "read_ios", "integer?", "reads" },
    { "read_merges", "integer?", "of these, merged" },
    { "read_sectors", "integer?", "512 bytes each" },
    { "read_ticks_ms", "integer?", "time that they took, summed" },
    { "write_ios", "integer?", "writes" },
    { "write_merges", "integer?", "of these, merged" },
    { "write_sectors", "integer?", "512 bytes each" },
    { "write_ticks_ms", "integer?", "time that they took, summed" },
    { "io_ticks_ms", "integer?", "time with anything in flight" },
    { "in_queue_ms", "integer?", "time in the queue, summed" },
    { "util_percent", "number?", "`io_ticks_ms` over the run" },
  } },
}

return {
  name = "hddlua.fiojob/1",
  about = "A job file of fio's for reads: what each of its jobs came to.",
  rows = "jobs",
  fields = common.document(parameters, own, summary),
}
