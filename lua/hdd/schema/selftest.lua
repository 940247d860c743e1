-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua.selftest/1: a self-test of a drive, from its start to its verdict.

local documents = require "hdd.schema.health"

local parameters = {
  { "type", "string", "the test",
    one_of = { "short", "extended", "conveyance", "selective", "running" } },
  { "wait", "boolean", "true: waited for its end" },
  { "spans", "list?", "of a selective test: the ranges that it reads", of = {
    { "first_lba", "integer", "its first block" },
    { "last_lba", "integer", "its last block" },
  } },
  { "poll", "number", "seconds between two looks at it" },
  { "limit", "number?", "seconds after which it is given up waiting for" },
  { "stall", "number", "seconds without progress that are told" },
  { "grace", "number?", "seconds in which it had to show that it runs" },
  { "keep_awake", "boolean?", "true: a block was read at each look, to keep the drive awake" },
  { "wake", "boolean?", "true: a drive in standby was to be woken" },
  { "as", "string?", "the kind of drive that the path was taken as: `ata`, `nvme`, `scsi`" },
}

local progress = { "progress", "list", "what the drive said on the way, when it changed", of = {
  { "elapsed_s", "number", "since the start" },
  { "remaining_percent", "integer?", "in the drive's own word" },
} }

local summary = {
  { "verdict", "string?", "what came of it",
    one_of = { "passed", "failed", "aborted", "interrupted", "running", "unknown" } },
  { "result", "string?", "in the standard's words" },
  { "failing_lba", "integer?", "the first block that failed, where the drive tells it" },
  { "confirmed", "boolean?", "true: a new entry in the drive's log says the same" },
  { "health", "string?", "the verdict on the drive as a whole, afterwards" },
  { "elapsed_s", "number?", "from its start to its end as it was seen" },
  { "estimate_s", "number?", "how long the drive said that it would take" },
  { "remaining_percent", "integer?", "of a test that did not come to its end" },
}

return {
  name = "hddlua.selftest/1",
  about = "A self-test of a drive: started, watched, and what came of it.",
  rows = "progress",
  fields = documents.document(parameters, { progress }, summary),
}
