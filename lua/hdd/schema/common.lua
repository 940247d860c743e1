-- SPDX-License-Identifier: GPL-3.0-or-later
--- What every document has in common: which tool, host and drive, with which parameters, when, how it
-- ended, and what went wrong on the way.
--
-- A field is { key, type, what it means }. Types: boolean, integer, number, string, time (UTC,
-- ISO 8601), object and list, whose members are in `of` (fields, or for a list the name of a scalar
-- type; without `of`: anything). "?" behind a type: may be unknown, which is null in JSON and nil in
-- Lua. Numbers are finite, and not negative unless `signed`. The order here is that in the file.
-- @module hdd.schema.common

local drive = require "hdd.schema.drive"

local M = {}

local tool = { "tool", "object", "the program that measured", of = {
  { "name", "string", "`hddlua`" },
  { "version", "string", "its version" },
} }

local host = { "host", "object", "the machine that it ran on", of = {
  { "name", "string?", "host name" },
  { "kernel", "string?", "kernel release" },
  { "cpu", "string?", "processor, as it names itself" },
  { "cpus", "integer?", "processors on line" },
} }

local failures = { "failures", "list",
  "the first failed reads in order of time; the list is bounded, `errors` counts all", of = {
    { "offset_bytes", "integer", "where the read began" },
    { "length_bytes", "integer?", "how much was asked for" },
    { "code", "integer?", "errno value" },
    { "error", "string?", "its name, `EIO`" },
    { "latency_ns", "integer?", "how long the drive took to fail" },
    { "time_s", "number?", "when it failed, from the start of the run" },
  } }

local slowest = { "slowest", "list?",
  "the slowest reads of the run, slowest first; the list is bounded", of = {
    { "offset_bytes", "integer", "where the read began" },
    { "latency_ns", "integer", "submission to completion" },
    { "time_s", "number?", "when it completed, from the start of the run" },
  } }

local stalls = { "stalls", "list?",
  "times without any completion, longer than the stall limit", of = {
    { "time_s", "number?", "when it began, from the start of the run" },
    { "elapsed_s", "number", "how long it lasted; it counts in every rate" },
    { "offset_bytes", "integer?", "the oldest read that was waiting" },
  } }

local foreign = { "foreign", "object?",
  "other programs' I/O on the drive meanwhile (its own counters, less ours)", of = {
    { "read_bytes", "integer?", "read by others" },
    { "written_bytes", "integer?", "written by others" },
  } }

--- The fields of a whole document: `own` between what is common at the head and at the foot.
-- @tparam table parameters  fields of `parameters`
-- @tparam table own         the procedure's own fields
-- @tparam table summary     fields of `summary`
-- @treturn table            fields, in order
-- @usage return { name = "hddlua.seek/1", fields = common.document(parameters, own, summary) }
function M.document(parameters, own, summary)
  local fields = {
    { "schema", "string", "this schema's name and version" },
    tool, host, drive,
    { "parameters", "object", "all of them, defaults filled in: passed back they repeat the run",
      of = parameters },
    { "started_at", "time", "wall clock" },
    { "finished_at", "time?", "wall clock; null while the run goes on" },
    { "status", "string", "how far it came",
      one_of = { "running", "complete", "interrupted", "failed" } },
  }
  table.move(own, 1, #own, #fields + 1, fields)
  local foot = {
    { "summary", "object", "the run in a few numbers", of = summary },
    { "errors", "integer", "failed reads in all" },
    failures, slowest, stalls,
    { "wake_s", "number?", "time that the untimed first read took: the spin-up of a sleeping drive" },
    foreign,
    { "steal", "number?", "share of processor time that the hypervisor took, 0 to 1" },
    { "warnings", "list", "what to know before trusting the numbers, a sentence each",
      of = "string" },
  }
  return table.move(foot, 1, #foot, #fields + 1, fields)
end

return M
