-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua.seekprofile/1: rotation, seek time against distance, access time, the drive's buffer.

local common = require "hdd.schema.common"

local parameters = {
  { "from", "integer", "first byte of the range" },
  { "to", "integer", "end of the range, exclusive" },
  { "quick", "boolean?", "the short form" },
  { "block_size", "integer", "bytes of a read" },
  { "distances", "integer", "how many distances are measured" },
  { "samples", "integer", "reads of each" },
  { "accesses", "integer", "random reads" },
  { "seed", "integer", "of the places" },
  { "rpm", "integer?", "turns a minute, given for a drive whose turning can't be measured" },
  { "max_errors", "integer", "failed reads after which the run ends" },
}

local own = {
  { "rotating", "boolean?", "does it turn? null: no turning was found, and nothing else is known" },
  { "rotation", "object?", "how fast it turns", of = {
    { "rpm", "number", "turns a minute" },
    { "revolution_us", "number", "time of one" },
    { "source", "string", "where that is from", one_of = { "measured", "given", "drive" } },
    { "stated_rpm", "integer?", "what the drive, or the user, says" },
    { "deviation_percent", "number?", "of the measured speed from that", signed = true },
    { "places", "integer?", "places that agree on it" },
    { "spread_percent", "number?", "slowest to fastest of them" },
  } },
  { "rates", "list", "the sequential rate at some places: what the scale of the stroke is made of", of = {
    { "offset_bytes", "integer", "where" },
    { "bandwidth_bytes_per_s", "number", "how fast" },
  } },
  { "buffer", "object?", "what the drive's buffer does", of = {
    { "first_read_us", "number", "median time of a read of a block that is not in it" },
    { "reread_us", "number", "median time of the same read again: the overhead of a command" },
    { "hit", "boolean?", "does the second read come from the buffer? null: nothing turns, can't be told" },
    { "read_ahead_bytes", "integer?", "how far the drive reads on when nobody asks" },
    { "read_ahead_or_more", "boolean?", "true: further than could be looked" },
    { "reads_behind", "boolean?", "is the block before the one that was read there, too?" },
    { "places", "integer?", "how many places it holds data of, within a 16th" },
    { "places_or_more", "boolean?", "true: more than were tried" },
    { "burst_bytes_per_s", "number?", "rate at which it is emptied: bytes over time, long less short read" },
    { "burst_block_bytes", "integer?", "the long read" },
  } },
  { "access", "object?", "random reads over the range, one at a time", of = {
    { "ios", "integer", "reads that succeeded" },
    { "errors", "integer", "reads that failed" },
    { "latency_mean_us", "number?", "the average access time" },
    { "latency_p50_us", "number?", "median" },
    { "latency_p99_us", "number?", "99th percentile" },
    { "latency_max_us", "number?", "the slowest" },
    { "seek_us", "number?", "the mean less half a turn and the overhead: another measure of the average seek" },
  } },
  { "seeks", "list", "one for each distance, ascending", of = {
    { "stroke_share", "number", "distance as a share of the arm's stroke over the range" },
    { "distance_bytes", "integer", "mean distance of the two places in bytes" },
    { "seek_us", "number?", "seek time: middle of fastest and slowest read, less half a turn and the overhead" },
    { "uncertainty_us", "number?", "its standard deviation, from the number of reads" },
    { "fitted_us", "number?", "what the fitted curve gives" },
    { "latency_min_us", "number?", "fastest read" },
    { "latency_mean_us", "number?", "mean" },
    { "latency_max_us", "number?", "slowest read" },
    { "ios", "integer", "reads that count" },
    { "late", "integer", "of these, left out of `seek_us`: more than a turn slower than the fastest" },
    { "cached", "integer", "reads that the buffer answered" },
    { "errors", "integer", "reads that failed" },
    { "flagged", "boolean", "true: look at it, `reason` says why" },
    { "reason", "string?", "`errors`, `cached`, `no read`, `off the curve`" },
  } },
  { "fit", "object?",
    "seek time of the share d of the stroke: a + b * sqrt(d) up to the knee, c + e * d beyond", of = {
      { "a_us", "number", "a", signed = true },
      { "b_us", "number", "b" },
      { "c_us", "number", "c", signed = true },
      { "e_us", "number", "e" },
      { "knee_share", "number", "where the two meet" },
      { "residual_us", "number", "median distance of a row from the curve" },
      { "points", "integer", "rows that it was fitted to" },
    } },
  { "does_not_apply", "list?", "what can't be said of this drive, and why: a sentence each", of = "string" },
}

local summary = {
  { "rpm", "number?", "turns a minute" },
  { "revolution_us", "number?", "time of a turn" },
  { "seek_average_us", "number?", "mean seek of random reads: the curve over evenly drawn pairs of places" },
  { "seek_track_to_track_us", "number?", "the shortest distance: to the next track or the one after" },
  { "seek_full_stroke_us", "number?", "the curve at the whole stroke" },
  { "access_average_us", "number?", "mean time of a random read" },
  { "access_iops", "number?", "a second over that" },
  { "overhead_us", "number?", "what a command takes without seek and turn" },
  { "read_ahead_bytes", "integer?", "as in `buffer`" },
  { "burst_bytes_per_s", "number?", "as in `buffer`" },
  { "read_bytes", "integer?", "bytes read in all" },
  { "elapsed_s", "number?", "time that the run took" },
}

return {
  name = "hddlua.seekprofile/1",
  about = "Rotation speed, seek time against distance with its curve, access time, the drive's buffer.",
  rows = "seeks",
  fields = common.document(parameters, own, summary),
}
