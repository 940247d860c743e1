-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua.compare/1: drives, or runs of one, held against one another.

local common = require "hdd.schema.common"

local VERDICTS <const> = { "faster", "slower", "no difference shown", "not judged" }

local function of_common(name)
  for _, field in ipairs(common.document({}, {}, {})) do
    if field[1] == name then return field end
  end
end

local parameters = {
  { "level", "number", "of the confidence intervals, 0 to 1" },
  { "anyway", "boolean", "true: compared although settings differ that change what is measured" },
}

local sides = { "sides", "list", "what was compared; the others are held against the first", of = {
  { "name", "string", "what it is called here" },
  { "documents", "integer", "how many it has" },
  { "drive", "object", "of which drive they are", of = {
    { "model", "string?", "as in its documents" },
    { "serial", "string?", "serial number" },
    { "size_bytes", "integer?", "capacity" },
    { "name", "string?", "the kernel's name for it then" },
    { "path", "string?", "as it was named" },
  } },
  { "kinds", "list", "kinds of measurement that it has", of = "string" },
} }

local comparisons = { "comparisons", "list", "one for each further side and kind that both have", of = {
  { "side", "integer", "which of `sides`: 2 and up" },
  { "kind", "string", "`zoneprofile`, `qdsweep`, `seekprofile`, `surface`" },
  { "refused", "string?", "why they cannot be compared; there are no metrics then" },
  { "verdict", "string?", "on the primary metric", one_of = VERDICTS },
  { "sentence", "string?", "the same, written out" },
  { "notes", "list", "what was converted, what this cannot see: a sentence each", of = "string" },
  { "differences", "list", "settings in which the first runs differ", of = {
    { "key", "string", "`parameters.depth` …" },
    { "a", "string?", "of the first side, as text" },
    { "b", "string?", "of the other" },
  } },
} }

local metrics = { "metrics", "list", "what was held against one another, all comparisons'", of = {
  { "side", "integer", "which of `sides`: 2 and up" },
  { "kind", "string", "of which measurement" },
  { "scope", "string", "of the run, of a part of the surface, of a row of the sweep",
    one_of = { "whole", "stretch", "row" } },
  { "name", "string", "what; its end is the unit" },
  { "primary", "boolean", "true: the verdict on the whole comparison is this one's" },
  { "block_size_bytes", "integer?", "of a row" },
  { "depth", "integer?", "of a row" },
  { "from_share", "number?", "of a stretch: where it begins, 0 to 1 of the drive" },
  { "to_share", "number?", "and ends" },
  { "from_bytes", "integer?", "the same on the first drive" },
  { "to_bytes", "integer?", "null: the end of the drive" },
  { "a", "number?", "value of the first side" },
  { "b", "number?", "value of the other" },
  { "change_percent", "number?", "of b against a", signed = true },
  { "low_percent", "number?", "its interval: of `whole` each at the level, of `stretch` and `row` all together",
    signed = true },
  { "high_percent", "number?", "its other end", signed = true },
  { "verdict", "string", "is it more than chance?", one_of = VERDICTS },
  { "unit", "string?", "what the interval is made of", one_of = { "runs", "zones", "batches", "rows" } },
  { "n", "integer?", "how many of them" },
} }

local function reading(key, about)
  return { key, "object", about, of = {
    { "path", "string?", "drive or file" },
    { "kind", "string?", "`drive`, `snapshot`, `recording`" },
    { "read_at", "time?", "when the drive was read" },
    { "model", "string?", "model" },
    { "serial", "string?", "serial number" },
  } }
end

local capabilities = { "capabilities", "list", "what the drives can do, where both sides have a health snapshot", of = {
  { "side", "integer", "which of `sides`: 2 and up" },
  reading("a", "the first side's reading"),
  reading("b", "the other's"),
  { "result", "object", "as in hddlua.capdiff/1" },
} }

return {
  name = "hddlua.compare/1",
  about = "Drives, or runs of one, held against one another: what differs by more than chance.",
  rows = "metrics",
  fields = {
    { "schema", "string", "this schema's name and version" },
    of_common "tool", of_common "host",
    { "parameters", "object", "how it was compared", of = parameters },
    { "started_at", "time", "wall clock" },
    { "finished_at", "time?", "wall clock" },
    { "status", "string", "failed: nothing could be compared",
      one_of = { "running", "complete", "interrupted", "failed" } },
    sides, comparisons, metrics, capabilities,
    of_common "warnings",
  },
}
