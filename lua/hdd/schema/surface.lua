-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua.surface/1: every block read once, graded; the unreadable and the slow sectors.

local common = require "hdd.schema.common"

local parameters = {
  { "from", "integer", "first byte of the range" },
  { "to", "integer", "end of the range, exclusive" },
  { "domain", "list?", "the parts of it that are read; null: all", of = {
    { "offset_bytes", "integer", "where the part begins" },
    { "length_bytes", "integer", "how long it is" },
  } },
  { "block_size", "integer", "bytes of a read of the scan" },
  { "depth", "integer", "reads of the scan in flight" },
  { "revolutions", "integer", "extra revolutions from which on a sector is listed as slow" },
  { "slow", "number", "seconds from which on a read is slow, on a drive that does not turn" },
  { "rereads", "integer", "reads that may be spent on confirming slow blocks" },
  { "narrow_reads", "integer", "reads in a MiB that may be spent on finding its bad blocks" },
  { "retries", "integer", "later tries of each unreadable run" },
  { "max_errors", "integer", "failed reads after which the run ends" },
  { "rpm", "integer?", "turns a minute, given for a drive that does not tell" },
}

local function ranges(key, about, more)
  local fields = {
    { "offset_bytes", "integer", "first byte, from the start of what was scanned" },
    { "length_bytes", "integer", "how many bytes" },
  }
  return { key, "list", about, of = table.move(more, 1, #more, #fields + 1, fields) }
end

local own = {
  { "rotation", "object?", "the turn that blocks were held against; null: it does not turn", of = {
    { "revolution_us", "number", "time of a revolution" },
    { "source", "string", "where that is from",
      one_of = { "given", "drive", "measured", "assumed" } },
  } },
  { "classes", "list", "blocks of the scan by their own time", of = {
    { "from_us", "number", "from this time on" },
    { "below_us", "number?", "to this; null: no end" },
    { "blocks", "integer", "how many" },
  } },
  { "turns", "list?", "blocks by the extra revolutions over the median around them", of = {
    { "revolutions", "integer", "as many; the last row: or more" },
    { "blocks", "integer", "how many" },
  } },
  ranges("unreadable", "what cannot be read, in logical blocks, ascending", {
    { "exact", "boolean", "false: good blocks may be among them, no more reads were spent" },
    { "error", "string?", "errno's name" },
    { "tries", "integer?", "later tries that failed, and one" },
  }),
  ranges("slow", "what was slow in the scan and each time after, ascending", {
    { "latency_us", "number?", "time of a read of it" },
    { "revolutions", "integer?", "extra revolutions that it costs" },
    { "exact", "boolean", "false: other blocks may be among them" },
  }),
  ranges("recovered", "what could be read at a later try; where exactly the fault was is not known", {
    { "error", "string?", "of the tries that failed" },
    { "tries", "integer?", "how many those were" },
  }),
  ranges("suspects", "blocks that were slow in the scan and were not re-read: see `rereads`", {
    { "latency_us", "number", "own time in the scan" },
    { "extra_us", "number", "beyond the median around it" },
    { "expected_us", "number", "that median" },
  }),
  { "map", "list", "the range in equal parts", of = {
    { "offset_bytes", "integer", "where the part begins" },
    { "length_bytes", "integer", "how long it is" },
    { "blocks", "integer", "blocks of the scan that began in it" },
    { "failed_blocks", "integer", "of these failed in the scan, whatever was found later" },
    { "read_bytes", "integer", "what the others held" },
    { "busy_s", "number", "what they took the drive" },
    { "bandwidth_bytes_per_s", "number?", "the one over the other" },
    { "latency_max_us", "number?", "own time of the slowest of them" },
    { "slow_bytes", "integer", "listed as slow" },
    { "unreadable_bytes", "integer", "unreadable, or failed and not narrowed down yet" },
    { "untried_bytes", "integer", "not read yet" },
  } },
  { "coverage", "list", "what has become of each part, ascending: what a mapfile holds", of = {
    { "offset_bytes", "integer", "where it begins" },
    { "length_bytes", "integer", "how long it is" },
    { "status", "string", "what became of it",
      one_of = { "untried", "failed", "unreadable", "read" } },
  } },
  { "interruptions", "list", "breaks of a scan that was resumed", of = {
    { "at", "time?", "when the earlier part ended" },
    { "resumed_at", "time", "when the next began" },
    { "covered_bytes", "integer", "what had been tried by then" },
  } },
  { "kernel_messages", "list?", "what the kernel said of the drive meanwhile", of = {
    { "time_s", "number", "from the start of this part of the run" },
    { "text", "string", "as it was" },
  } },
}

local summary = {
  { "verdict", "string?", "`clean`, `slow`, `unreadable` or `incomplete`" },
  { "span_bytes", "integer?", "what was to be read" },
  { "covered_bytes", "integer?", "what was tried" },
  { "covered_percent", "number?", "the same as a share" },
  { "bandwidth_bytes_per_s", "number?", "rate of the scan" },
  { "unreadable_ranges", "integer?", "how many" },
  { "unreadable_bytes", "integer?", "how many" },
  { "slow_ranges", "integer?", "how many" },
  { "slow_bytes", "integer?", "how many" },
  { "recovered_ranges", "integer?", "how many" },
  { "suspected_blocks", "integer?", "slow in the scan" },
  { "cleared_blocks", "integer?", "of these fast when read again" },
  { "rereads", "integer?", "reads spent on them" },
  { "narrow_reads", "integer?", "reads spent on unreadable blocks" },
  { "read_bytes", "integer?", "bytes read in all" },
  { "scan_s", "number?", "time that the scan itself took, all parts" },
  { "scan_bytes", "integer?", "bytes that it read" },
  { "elapsed_s", "number?", "time that the run took" },
}

return {
  name = "hddlua.surface/1",
  about = "Every block of a drive read once and graded by its time; the sectors that cannot be read "
    .. "and those that are slow each time.",
  rows = "map",
  fields = common.document(parameters, own, summary),
}
