-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua.capdiff/1: what differs between two drives, or in one drive between two days.

local function side(name)
  return { name, "object", name == "a" and "the one" or "the other", of = {
    { "path", "string?", "the drive, snapshot, recording or blob" },
    { "kind", "string?", "what `path` is", one_of = { "drive", "recording", "snapshot" } },
    { "read_at", "time?", "when the drive was read" },
    { "model", "string?", "its model" },
    { "serial", "string?", "its serial number" },
  } }
end

local function differences(name, about, more)
  local of = {
    { "name", "string", "fixed, for programs: `sct.status.format_version`, `attribute.199` …" },
    { "what", "string", "for people" },
    { "where", "string", "the page or log" },
    { "a", "any?", "the value of the one", signed = true },
    { "b", "any?", "that of the other", signed = true },
    { "only", "string?", "which of them has it", one_of = { "a", "b" } },
  }
  table.move(more or {}, 1, #(more or {}), #of + 1, of)
  return { name, "list", about, of = of }
end

local GROWTH = {
  { "change", "string?", "how it got from one to the other; null where only one has it",
    one_of = { "grew", "reset", "wrapped", "saturated" } },
  { "growth", "number?", "by how much, where that can be told" },
  { "at_least", "boolean?", "true: it may have been more" },
}

return {
  name = "hddlua.capdiff/1",
  about = "Two drives, or one at two times, laid against one another.",
  fields = {
    { "schema", "string", "this schema's name and version" },
    side "a",
    side "b",
    { "same_drive", "boolean?", "null: a serial number is missing, and they are taken for two" },
    { "reversed", "boolean?", "of one drive: b is the earlier reading" },
    { "elapsed_s", "integer?", "of one drive: between the two, where the times are known" },
    { "elapsed_power_on_hours", "number?", "of one drive: by its own clock" },
    differences("identity", "who they are"),
    differences("capabilities", "what they can do"),
    differences("settings", "how they are set"),
    differences("counters", "of one drive: what went wrong in between", GROWTH),
    differences("lifetime", "of one drive: totals of use", GROWTH),
    differences("gauges", "of one drive: numbers that go up and down"),
    { "steady", "list", "of one drive: counters that are not 0 and did not move", of = {
      { "name", "string", "as above" },
      { "what", "string", "for people" },
      { "where", "string", "the page or log" },
      { "value", "any", "in both", signed = true },
    } },
    differences("states", "of two drives: all their numbers that differ"),
    { "not_compared", "list", "what was read of one alone", of = {
      { "where", "string", "the page or log" },
      { "only", "string", "of which of them", one_of = { "a", "b" } },
    } },
    { "warnings", "list", "what to know before trusting this", of = {
      { "name", "string", "fixed, for programs" },
      { "message", "string", "for people" },
    } },
  },
}
