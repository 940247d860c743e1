-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua.zoneprofile/1: how fast the drive reads across its surface.

local common = require "hdd.schema.common"

local parameters = {
  { "block_size", "integer", "bytes of a read" },
  { "depth", "integer", "reads kept in flight" },
  { "zone_size", "integer", "bytes read in each zone" },
  { "zone_skip", "integer?", "bytes left out between two zones; null when `count` spreads them" },
  { "count", "integer?", "zones spread evenly over the range, in place of `zone_skip`" },
  { "from", "integer", "first byte of the range" },
  { "to", "integer", "end of the range, exclusive" },
  { "passes", "integer", "how often each zone is read" },
  { "quick", "boolean?", "the short form that answers in about a minute" },
  { "max_errors", "integer?", "failed reads after which the run ends" },
  { "rpm", "integer?", "turns a minute, given for a drive that does not tell" },
}

local zones = { "zones", "list", "one for each zone that was read, ascending", of = {
  { "offset_bytes", "integer", "where the zone begins" },
  { "length_bytes", "integer", "bytes read in it, each pass" },
  { "elapsed_s", "number?", "first submission to last completion within the zone" },
  { "bandwidth_bytes_per_s", "number?",
    "bytes read over `elapsed_s`; of several passes the median one's, as `elapsed_s` is" },
  { "latency_p50_us", "number?", "median time of a read, all passes" },
  { "latency_p99_us", "number?", "99th percentile" },
  { "latency_max_us", "number?", "the slowest read" },
  { "flagged", "boolean", "true: look at this zone, `reason` says why" },
  { "reason", "string?", "why it is flagged: `slow`, `fast`, `errors`, `unwritten` …" },
  { "expected_bytes_per_s", "number?", "what its neighbours and the drive's curve lead to expect" },
  { "bandwidth_min_bytes_per_s", "number?", "slowest pass" },
  { "bandwidth_max_bytes_per_s", "number?", "fastest pass" },
  { "latency_max_offset_bytes", "integer?", "where the slowest read began" },
  { "ios", "integer?", "reads that succeeded, all passes: the percentiles' sample" },
  { "errors", "integer?", "reads that failed, all passes" },
  { "time_s", "number?", "when the zone was begun, from the start of the run" },
} }

local summary = {
  { "outer_bytes_per_s", "number?", "rate of the first zone (lowest LBA)" },
  { "inner_bytes_per_s", "number?", "rate of the last zone" },
  { "ratio", "number?", "outer to inner" },
  { "mean_bytes_per_s", "number?", "mean of the zones' rates" },
  { "fastest_bytes_per_s", "number?", "the fastest zone" },
  { "fastest_offset_bytes", "integer?", "where it begins" },
  { "slowest_bytes_per_s", "number?", "the slowest zone" },
  { "slowest_offset_bytes", "integer?", "where it begins" },
  { "full_read_s", "number?", "time that reading the whole drive would take: the profile integrated" },
  { "flagged_zones", "integer?", "how many zones are flagged" },
  { "read_bytes", "integer?", "bytes read in all" },
  { "elapsed_s", "number?", "time that the run took" },
}

return {
  name = "hddlua.zoneprofile/1",
  about = "How fast the drive reads across its surface: the rate of each zone over its own time.",
  rows = "zones",
  fields = common.document(parameters, { zones }, summary),
}
