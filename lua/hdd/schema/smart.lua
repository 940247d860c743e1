-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua.smart/1: what a drive said of itself at one time, to be compared with later ones.

local documents = require "hdd.schema.health"

local parameters = {
  { "all", "boolean?", "true: also what only engineers read" },
  { "wake", "boolean?", "true: a drive in standby was to be woken" },
  { "as", "string?", "the kind of drive that the path was taken as: `ata`, `nvme`, `scsi`" },
}

local source = { "source", "object", "where it was read", of = {
  { "path", "string", "the drive, or the file" },
  { "name", "string?", "its name without folders" },
  { "part_of", "string?", "the whole drive's kernel name, when `path` was a part of it" },
  { "kind", "string", "what `path` is", one_of = { "drive", "recording", "snapshot" } },
  { "read_at", "time?", "when the drive was read; null of a blob, which does not tell" },
  { "anonymised", "boolean?", "of a recording: serial numbers and names were taken out" },
} }

local verdict = { "verdict", "object", "is it healthy, and why", of = {
  { "status", "string", "the worst of the reasons",
    one_of = { "failing", "warning", "good", "unknown" } },
  { "reasons", "list", "worst first", of = {
    { "severity", "string", "`failing`, `warning`, `unknown`, `notice` (no alarm), `good`" },
    { "name", "string", "fixed, for programs: `pending`, `crc`, `own_status` …" },
    { "what", "string", "for people" },
    { "where", "string?", "the place of the value" },
  } },
} }

local missing = { "missing", "list", "what could not be read", of = {
  { "what", "string", "page or log" },
  { "reason", "string", "`not supported`, `disabled`, `timed out` …" },
  { "message", "string?", "the same in full" },
  { "code", "integer?", "errno value" },
} }

local health = { "health", "object",
  "all that was decoded, by section, as `hdd.drive.ata`, `.nvme` or `.scsi` gives it" }

local summary = {
  { "status", "string?", "the verdict's" },
  { "temperature_c", "number?", "now", signed = true },
  { "power_on_hours", "number?", "powered on in its life" },
  { "power_cycles", "integer?", "how often it was switched on" },
  { "incomplete", "string?", "why the drive did not answer any more, if it did not" },
}

return {
  name = "hddlua.smart/1",
  about = "What a drive said of itself at one time: identity, verdict, and every page decoded.",
  fields = documents.document(parameters, { source, verdict, missing, health }, summary),
}
