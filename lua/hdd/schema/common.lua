-- SPDX-License-Identifier: GPL-3.0-or-later
-- What every document has in common: which tool, host and drive, with which parameters, when, how it
-- ended, and what went wrong on the way.
--
-- A field is { key, type, what it means }. Types: boolean, integer, number, string, time (UTC, ISO 8601),
-- object and list, whose members are in `of` (fields, or for a list the name of a scalar type; without
-- `of`: anything). "?" behind a type: may be unknown, which is null in JSON and nil in Lua. Numbers are
-- finite and not negative. The order here is the order in the file.

local M = {}

M.tool = { "tool", "object", "the program that measured", of = {
  { "name", "string", "`hddlua`" },
  { "version", "string", "its version" },
} }

M.host = { "host", "object", "the machine that it ran on", of = {
  { "name", "string?", "host name" },
  { "kernel", "string?", "kernel release" },
  { "cpu", "string?", "processor, as it names itself" },
  { "cpus", "integer?", "processors that are on line" },
} }

M.drive = { "drive", "object", "the drive's identity as found when the run began", of = {
  { "path", "string", "as the user gave it" },
  { "real_path", "string?", "the same with links followed" },
  { "name", "string?", "kernel name, `sdb`" },
  { "kind", "string?", "`disk`, `partition`, `loop`, `device-mapper`, `md`, `file` or `character`" },
  { "parent", "string?", "of a partition: kernel name of the drive that it is on" },
  { "vendor", "string?", "vendor, where the transport has one" },
  { "model", "string?", "model, padding removed" },
  { "serial", "string?", "serial number, padding removed" },
  { "firmware", "string?", "firmware revision" },
  { "wwn", "string?", "world wide name" },
  { "transport", "string?", "`sata`, `sas`, `nvme`, `usb`, `virtio` …" },
  { "size_bytes", "integer", "size of what was read" },
  { "logical_block_size_bytes", "integer", "the unit of an LBA" },
  { "physical_block_size_bytes", "integer?", "sector on the medium, as the drive reports it" },
  { "rotational", "boolean?", "the kernel's flag; it is wrong behind some bridges and controllers" },
  { "rotation_rate_rpm", "integer?", "the drive's own word, where it could be asked" },
  { "queue_depth_limit", "integer?", "requests that the kernel keeps in the drive at once" },
  { "scheduler", "string?", "I/O scheduler found when the run began" },
  { "direct", "boolean?", "true: read with O_DIRECT, past the page cache" },
  { "partitions", "list?", "kernel names of its partitions", of = "string" },
  { "holders", "list?", "kernel names of what is built on it (md, LVM, crypt)", of = "string" },
  { "mounts", "list?", "where it, or what is on it, is mounted", of = "string" },
} }

M.failures = { "failures", "list", "the first failed reads, in order of time; the list is bounded, `errors` counts all", of = {
  { "offset_bytes", "integer", "where the read began" },
  { "length_bytes", "integer?", "how much was asked for" },
  { "code", "integer?", "errno value" },
  { "error", "string?", "its name, `EIO`; `short` for a read that ended early" },
  { "latency_ns", "integer?", "how long the drive took to fail" },
  { "time_s", "number?", "when it failed, from the start of the run" },
} }

M.slowest = { "slowest", "list?", "the slowest reads of the run, slowest first; the list is bounded", of = {
  { "offset_bytes", "integer", "where the read began" },
  { "latency_ns", "integer", "submission to completion" },
  { "time_s", "number?", "when it completed, from the start of the run" },
} }

M.stalls = { "stalls", "list?", "times without any completion, longer than the stall limit", of = {
  { "time_s", "number?", "when it began, from the start of the run" },
  { "elapsed_s", "number", "how long it lasted; it counts in every rate" },
  { "offset_bytes", "integer?", "the oldest read that was waiting" },
} }

M.foreign = { "foreign", "object?", "other programs' I/O on the drive meanwhile (its own counters, less ours)", of = {
  { "read_bytes", "integer?", "read by others" },
  { "written_bytes", "integer?", "written by others" },
} }

--- The fields of a whole document: `own` between what is common at the head and at the foot.
-- @tparam table parameters  fields of `parameters`
-- @tparam table own         the procedure's own fields
-- @tparam table summary     fields of `summary`
-- @treturn table            fields, in order
-- @usage return { name = "hddlua.seek/1", fields = common.document(parameters, { samples }, summary) }
function M.document(parameters, own, summary)
  local fields = {
    { "schema", "string", "this schema's name and version" },
    M.tool, M.host, M.drive,
    { "parameters", "object", "all of them, defaults filled in: passed back they repeat the run", of = parameters },
    { "started_at", "time", "wall clock" },
    { "finished_at", "time?", "wall clock; null while the run goes on" },
    { "status", "string", "how far it came", one_of = { "running", "complete", "interrupted", "failed" } },
  }
  table.move(own, 1, #own, #fields + 1, fields)
  local foot = {
    { "summary", "object", "the run in a few numbers", of = summary },
    { "errors", "integer", "failed reads in all" },
    M.failures, M.slowest, M.stalls, M.foreign,
    { "steal", "number?", "share of the processors' time that the hypervisor took, 0 to 1" },
    { "warnings", "list", "what a reader must know before trusting the numbers, a sentence each", of = "string" },
  }
  return table.move(foot, 1, #foot, #fields + 1, fields)
end

return M
