-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua.burnin/1: a burn-in of one drive: its phases, what each found, and the verdict.

local common = require "hdd.schema.common"

local parameters = {
  { "write", "boolean", "true: all data of the drive was overwritten" },
  { "patterns", "list", "what is written and verified in each loop", of = "string" },
  { "loops", "integer", "how often reading, stress and writing are done" },
  { "hours", "number?", "in place of `loops`: another loop is begun until so many have passed" },
  { "surface", "boolean", "true: everything is read" },
  { "stress", "number", "seconds of each kind of seek stress" },
  { "self_tests", "boolean", "true: the drive's short and long self-test" },
  { "baseline", "boolean", "true: rate and IOPS before and after" },
  { "capacity", "boolean", "true: looked for a false capacity" },
  { "max_temperature", "number?", "°C from which on the load waits; null: the drive's own limit" },
  { "criteria", "object", "by name, `warn` and `fail`: from when on (shares: below what)" },
  { "criteria_path", "string?", "file that they are from" },
  { "seed", "integer", "of random places and of what is written", signed = true },
  { "zone_count", "integer", "zones of the baseline" },
  { "zone_size", "integer", "bytes of each" },
  { "depths", "list", "queue depths of the baseline", of = "integer" },
  { "sweep_runtime", "number", "seconds of each" },
  { "rpm", "integer?", "turns a minute, given for a drive that does not tell" },
  { "max_errors", "integer", "failed reads and writes after which it ends" },
  { "overwrite_data", "boolean", "true: a file system or partition table was no reason to refuse" },
}

local function ranges(key, about, more)
  local fields = {
    { "offset_bytes", "integer", "first byte" },
    { "length_bytes", "integer", "how many bytes" },
    { "phase", "integer", "number of the phase that found it" },
  }
  return { key, "list", about, of = table.move(more, 1, #more, #fields + 1, fields) }
end

local change = {
  { "name", "string", "fixed, for programs: `attribute.197`" },
  { "what", "string", "for people" },
  { "where", "string?", "page or log" },
  { "from", "integer?", "before the phase" },
  { "to", "integer?", "after it" },
  { "growth", "integer?", "by how much it grew" },
  { "concerns", "string", "what it tells of", one_of = { "media", "cable", "log", "other" } },
}

local phases = { "phases", "list", "in the order in which they are run", of = {
  { "kind", "string", "what is done", one_of = {
    "smart", "capacity", "baseline", "selftest", "surface", "stress", "write", "verify" } },
  { "name", "string", "the same for people" },
  { "loop", "integer?", "the loop that it belongs to" },
  { "pattern", "string?", "what is written or verified" },
  { "type", "string?", "of a self-test" },
  { "when", "string?", "of a baseline: `before` or `after`" },
  { "status", "string", "what became of it", one_of = {
    "waiting", "running", "complete", "interrupted", "failed", "skipped", "not run" } },
  { "message", "string?", "why it was skipped or failed, or what the drive said" },
  { "result", "string?", "what came of it, in a word" },
  { "planned_s", "number?", "estimated before the run" },
  { "started_at", "time?", "wall clock" },
  { "time_s", "number?", "when it began, from the start of the run, interruptions left out" },
  { "elapsed_s", "number?", "how long it took, all parts" },
  { "errors", "integer?", "reads or writes that failed" },
  { "read_bytes", "integer?", "read in it" },
  { "written_bytes", "integer?", "written in it" },
  { "covered_bytes", "integer?", "of the surface: tried, written, or verified" },
  { "busy_s", "number?", "of writing and verifying: what that took, pauses left out" },
  { "mismatching_blocks", "integer?", "of verifying: all of them, `mismatches` may list fewer" },
  { "bandwidth_bytes_per_s", "number?", "rate" },
  { "iops", "number?", "of a baseline, at its first depth" },
  { "failing_lba", "integer?", "of a self-test" },
  { "temperature_c", "number?", "at its end", signed = true },
  { "changes", "list?", "counters that the drive keeps and that grew in it", of = change },
  { "patterns", "list?", "of the seek stress, one by one", of = {
    { "pattern", "string", "`random`, `full stroke` or `butterfly`" },
    { "depth", "integer", "reads in flight" },
    { "ios", "integer", "reads that succeeded" },
    { "errors", "integer", "reads that failed" },
    { "elapsed_s", "number", "how long" },
    { "read_bytes", "integer", "read" },
    { "iops", "number?", "reads a second" },
    { "latency_p50_us", "number?", "median" },
    { "latency_p99_us", "number?", "99th percentile" },
    { "latency_max_us", "number?", "the slowest" },
  } },
  { "intervals", "list?", "of the seek stress, in slices", of = {
    { "pattern", "string", "as above" },
    { "time_s", "number", "when it began, from the start of the run" },
    { "elapsed_s", "number", "how long it was" },
    { "ios", "integer", "reads" },
    { "errors", "integer", "failed ones" },
    { "iops", "number?", "reads a second" },
    { "latency_max_us", "number?", "the slowest" },
    { "sampled", "boolean", "true: the drive was asked for its temperature just before" },
    { "temperature_c", "number?", "as last seen", signed = true },
  } },
  { "classes", "list?", "of a surface read, see hddlua.surface/1" },
  { "map", "list?", "of a surface read, see hddlua.surface/1" },
} }

local zone = {
  { "offset_bytes", "integer", "where the zone begins" },
  { "length_bytes", "integer", "how long it is" },
}

local function with(fields, more)
  return table.move(more, 1, #more, #fields + 1, table.move(fields, 1, #fields, 1, {}))
end

local measured = {
  { "zones", "list", "zone profile", of = with(zone, {
    { "bandwidth_bytes_per_s", "number?", "its rate" },
    { "reason", "string?", "why it was flagged" },
    { "again", "integer?", "times that it was read again because it seemed slower than before" },
  }) },
  { "rows", "list", "random reads", of = {
    { "block_size_bytes", "integer", "bytes of a read" },
    { "depth", "integer", "reads in flight" },
    { "iops", "number?", "reads a second" },
    { "iops_ci95", "number?", "half width of its 95 % confidence interval" },
    { "latency_p50_us", "number?", "median" },
    { "latency_p99_us", "number?", "99th percentile" },
  } },
}

local baseline = { "baseline", "object", "how fast the drive is, before and after", of = {
  { "before", "object?", "before the load", of = measured },
  { "after", "object?", "after it", of = measured },
  { "zones", "list?", "zone by zone", of = with(zone, {
    { "before_bytes_per_s", "number?", "rate before" },
    { "after_bytes_per_s", "number?", "rate after" },
    { "ratio", "number?", "the one as a share of the other" },
    { "again", "integer?", "times that it was read again to be sure" },
  }) },
  { "sweep", "list?", "depth by depth", of = {
    { "block_size_bytes", "integer", "bytes of a read" },
    { "depth", "integer", "reads in flight" },
    { "before_iops", "number?", "before" },
    { "after_iops", "number?", "after" },
    { "ratio", "number?", "the one as a share of the other" },
  } },
} }

local batch = { "batch", "object?", "beside the other drives of its model in the same run", of = {
  { "drives", "integer", "how many there are, this one included" },
  { "ratio", "number?", "its mean rate as a share of their median" },
  { "zones", "list", "zone by zone", of = with(zone, {
    { "bandwidth_bytes_per_s", "number?", "this drive's rate" },
    { "median_bytes_per_s", "number?", "the median of all" },
    { "ratio", "number?", "the one as a share of the other" },
  }) },
} }

local own = {
  { "plan", "object", "what was known before", of = {
    { "bytes_per_s", "number?", "rate found by the quick look" },
    { "all_s", "number?", "estimate for all phases" },
    { "stamp_name", "string?", "the drive's name in the stamps" },
  } },
  phases,
  { "verdict", "object", "what came of it, and why", of = {
    { "status", "string?", "the worst of the reasons", one_of = { "PASS", "WARN", "FAIL" } },
    { "reasons", "list?", "worst first", of = {
      { "status", "string", "`FAIL` or `WARN`" },
      { "name", "string", "the criterion" },
      { "what", "string", "for people" },
      { "where", "string?", "where in this document" },
      { "phase", "integer?", "the phase that it was found in" },
      { "phase_name", "string?", "its name" },
    } },
  } },
  ranges("unreadable", "what cannot be read, in logical blocks", {
    { "exact", "boolean", "false: good blocks may be among them" },
    { "error", "string?", "errno's name" },
    { "tries", "integer?", "later tries that failed, and one" },
  }),
  ranges("slow", "what is slow each time it is read", {
    { "latency_us", "number?", "time of a read of it" },
    { "revolutions", "integer?", "extra revolutions that it costs" },
    { "exact", "boolean", "false: other blocks may be among them" },
  }),
  ranges("recovered", "what could be read at a later try", {
    { "error", "string?", "of the tries that failed" },
    { "tries", "integer?", "how many those were" },
  }),
  ranges("mismatches", "what did not hold what was written, in runs of one kind; the list is bounded", {
    { "loop", "integer?", "the loop" },
    { "pattern", "string", "what had been written" },
    { "kind", "string", "what is the matter", one_of = {
      "bit rot", "lost write", "misdirected write", "foreign drive", "zeroes", "unknown" } },
    { "blocks", "integer", "logical blocks" },
    { "bits", "integer?", "of bit rot: wrong bits" },
    { "reread", "string?", "when it was read again: `same`, `different`, `good` or `unreadable`" },
    { "rewrite", "string?",
      "when it was written again: `held` the new data, `kept` the old, or something `else`" },
    { "landed_offset_bytes", "integer?", "of a misdirected write: where it went" },
    { "found", "object?", "what a recognised stamp says of where it belongs" },
    { "first", "object?", "the first wrong byte", of = {
      { "offset_bytes", "integer?", "where" },
      { "expected", "string?", "16 bytes from there on, as they should be" },
      { "found", "string?", "as they are" },
    } },
  }),
  ranges("write_failures", "writes that failed; the list is bounded", {
    { "error", "string?", "errno's name" },
    { "code", "integer?", "errno value" },
  }),
  ranges("flush_failures", "flushes that failed, and what had been written since the last one", {
    { "error", "string?", "errno's name" },
    { "code", "integer?", "errno value" },
  }),
  baseline,
  batch,
  { "capacity", "object?", "is it as large as it says?", of = {
    { "verdict", "string", "`honest`, `false`, `unknown` or `interrupted`" },
    { "sentence", "string?", "for people" },
    { "size_bytes", "integer", "as it says" },
    { "true_size_bytes", "integer?", "of a false one" },
    { "places", "integer", "how many were stamped" },
    { "restored", "integer", "what lay there was put back at so many" },
    { "mismatches", "list", "places that do not hold their stamp", of = {
      { "offset_bytes", "integer", "where" },
      { "kind", "string", "what is there" },
      { "found_offset_bytes", "integer?", "the place whose stamp is there" },
      { "error", "string?", "errno's name" },
    } },
    { "not_restored", "list", "places whose data could not be put back", of = {
      { "offset_bytes", "integer", "where" },
      { "length_bytes", "integer", "how much" },
      { "error", "string?", "why" },
      { "code", "integer?", "errno value" },
    } },
    { "failures", "list", "places that could not be read, and were left alone", of = {
      { "offset_bytes", "integer", "where" },
      { "length_bytes", "integer", "how much" },
      { "error", "string?", "why" },
      { "code", "integer?", "errno value" },
    } },
    { "seed", "integer?", "of the stamps", signed = true },
  } },
  { "contention", "object?", "what the drives of this run keep from one another", of = {
    { "drives", "integer", "how many were read" },
    { "alone_bytes_per_s", "number?", "their rates one at a time, added up" },
    { "together_bytes_per_s", "number?", "all at once" },
    { "ratio", "number?", "the one as a share of the other" },
    { "limited", "boolean", "true: one of them lost more than a tenth of its rate" },
    { "sentence", "string?", "for people" },
  } },
  { "zoned", "object?", "of a zoned drive", of = {
    { "model", "string", "`host-managed`" },
    { "zones", "integer?", "how many zones there are" },
    { "readable_bytes", "integer?", "below the write pointers" },
    { "ranges", "list?", "what that is; the list is bounded", of = {
      { "offset_bytes", "integer", "where it begins" },
      { "length_bytes", "integer", "how long it is" },
    } },
  } },
  { "smart", "list", "what the drive said of itself, each time it was asked", of = {
    { "phase", "integer", "after this phase" },
    { "time_s", "number", "when" },
    { "status", "string", "`failing`, `warning`, `good` or `unknown`" },
    { "temperature_c", "number?", "then", signed = true },
    { "power_on_hours", "number?", "then" },
    { "reasons", "list", "why, see hddlua.smart/1" },
  } },
  { "health", "object", "all of it, the first time and the last, see hddlua.smart/1", of = {
    { "before", "object?", "the first" },
    { "after", "object?", "the last" },
  } },
  { "timeline", "list", "what happened when; the list is bounded", of = {
    { "time_s", "number", "from the start of the run, interruptions left out" },
    { "phase", "integer", "number of the phase" },
    { "event", "string",
      "`begun`, `resumed`, `ended`, `changed`, `sample`, `hot`, `cool` …" },
    { "what", "string?", "of what" },
    { "temperature_c", "number?", "then", signed = true },
    { "limit_c", "number?", "of `hot` and `cool`", signed = true },
    { "paused_s", "number?", "of `cool`: how long the load waited" },
    { "from", "integer?", "of `changed`" },
    { "to", "integer?", "of `changed`" },
  } },
  { "interruptions", "list", "breaks of a run that was resumed", of = {
    { "saved_at", "time", "when the last checkpoint was saved" },
    { "resumed_at", "time?", "when it went on" },
    { "reason", "string", "`stopped`, `killed` or `reboot`" },
  } },
}

local summary = {
  { "verdict", "string?", "PASS, WARN or FAIL" },
  { "loops", "integer?", "loops of which something was completed" },
  { "last_phase", "integer?", "number of the phase that it came to" },
  { "read_bytes", "integer?", "read in all" },
  { "written_bytes", "integer?", "written in all" },
  { "unreadable_bytes", "integer?", "how many" },
  { "slow_bytes", "integer?", "how many" },
  { "mismatching_blocks", "integer?", "how many" },
  { "write_errors", "integer?", "how many" },
  { "temperature_max_c", "number?", "the hottest that was seen", signed = true },
  { "state", "string?", "what the run has left on the drive, in a sentence" },
  { "elapsed_s", "number?", "time that the run took, interruptions left out" },
}

return {
  name = "hddlua.burnin/1",
  about = "A burn-in of one drive: its phases, what each of them found, and the verdict.",
  rows = "phases",
  fields = common.document(parameters, own, summary),
}
