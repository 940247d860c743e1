-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua.qdsweep/1: random reads at each queue depth and block size.

local common = require "hdd.schema.common"

local parameters = {
  { "depths", "list", "queue depths, in the order measured", of = "integer" },
  { "block_sizes", "list", "bytes of a read, in the order measured", of = "integer" },
  { "ramp", "number", "seconds before counting starts, each row" },
  { "runtime", "number", "seconds counted at most, each row" },
  { "runtime_min", "number?", "seconds counted at least, with `precision`" },
  { "precision", "number?",
    "a row is done when the 95 % interval of its IOPS is within this share of them; null: never" },
  { "from", "integer", "first byte of the range that is read" },
  { "to", "integer", "its end, exclusive" },
  { "seed", "integer", "of the random offsets", signed = true },
  { "scheduler", "string?", "I/O scheduler set for the run; null: left as found" },
  { "quick", "boolean?", "the short form" },
  { "max_errors", "integer?", "failed reads after which the run ends" },
  { "rpm", "integer?", "turns a minute, given for a drive that does not tell" },
}

local rows = { "rows", "list", "one for each block size and depth, in the order measured", of = {
  { "block_size_bytes", "integer", "bytes of a read" },
  { "depth", "integer", "reads kept in flight" },
  { "iops", "number?", "reads per second, ramp left out" },
  { "iops_ci95", "number?", "half width of the 95 % confidence interval of `iops` (batch means)" },
  { "bandwidth_bytes_per_s", "number?", "bytes over `elapsed_s`" },
  { "latency_mean_us", "number?", "mean time of a read, submission to completion" },
  { "latency_p50_us", "number?", "median" },
  { "latency_p95_us", "number?", "95th percentile" },
  { "latency_p99_us", "number?", "99th percentile" },
  { "latency_p999_us", "number?", "99.9th percentile" },
  { "latency_max_us", "number?", "the slowest read" },
  { "ios", "integer", "reads that succeeded: the percentiles' sample" },
  { "errors", "integer", "reads that failed" },
  { "elapsed_s", "number?", "first submission to last completion of the counted part" },
  { "gain", "number?", "`iops` over those of depth 1 at the same block size" },
  { "depth_achieved", "number?", "mean number of reads really in flight" },
  { "stopped_by", "string?", "what ended the row: `runtime`, `precision`, `interrupt` …" },
  { "flagged", "boolean?", "true: not plausible, `reason` says why" },
  { "reason", "string?", "the sanity verdict on a flagged row" },
  { "time_s", "number?", "when the row was begun, from the start of the run" },
} }

local summary = {
  { "best_iops", "number?", "most reads per second of any row" },
  { "best_iops_depth", "integer?", "at this depth" },
  { "best_iops_block_size_bytes", "integer?", "and this block size" },
  { "gain", "number?", "the largest gain over depth 1" },
  { "span_bytes", "integer?", "the range that the reads were spread over" },
  { "span_percent", "number?", "the same as a share of the drive" },
  { "flagged_rows", "integer?", "how many rows are flagged" },
  { "read_bytes", "integer?", "bytes read in all, ramps included" },
  { "elapsed_s", "number?", "time that the run took, ramps included" },
}

return {
  name = "hddlua.qdsweep/1",
  about = "Random reads per second, and how long each takes, at each queue depth and block size.",
  rows = "rows",
  fields = common.document(parameters, { rows }, summary),
}
