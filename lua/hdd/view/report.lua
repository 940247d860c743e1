-- SPDX-License-Identifier: GPL-3.0-or-later
--- A whole document as text for a person: the drive, how it was measured, the rows, the result in a
-- few lines, what went wrong.
-- @module hdd.view.report

local bars = require "hdd.view.bars"
local printable = require "hdd.printable"
local text = require "hdd.view.text"
local units = require "hdd.units"

local M = {}

-- A page in the making: lines of a width, with what comes from outside made harmless.
local Page = {}
Page.__index = Page

function Page:add(block)
  self[#self + 1] = block
end

-- A sentence; further lines of it are indented.
function Page:say(indent, sentence, start)
  self:add(text.wrap(printable.line(sentence, not self.utf8), self.width, indent, start))
end

function Page:gap()
  if #self > 0 then self:add("\n") end
end

-- A name and its value, when that is known.
function Page:fact(name, value)
  if value and value ~= "n/a" then
    self:say(string.rep(" ", 11), value, name .. string.rep(" ", 11 - #name))
  end
end

-- What is known of the arguments, with commas between.
local function joined(...)
  local list = {}
  for i = 1, select("#", ...) do
    local part = select(i, ...)
    if part then list[#list + 1] = part end
  end
  return table.concat(list, ", ")
end

local function turning(drive)
  local rpm = drive.rotation_rpm
  if rpm and rpm > 0 then return string.format("%d rpm", rpm) end
  if rpm == 0 or drive.rotational == false then return "not rotating" end
  return drive.rotational and "rotating"
end

-- What was read: a drive by its model; a partition or file by its name and what it is on.
local function name_of(drive)
  local owner = drive.model or drive.identity_of
  if drive.identity_of and drive.name then return drive.name .. " on " .. owner end
  return owner or drive.name or drive.path or "a drive without a name"
end

local function describe_drive(page, drive)
  page:say("  ", joined(name_of(drive),
    drive.serial and "serial " .. drive.serial, drive.size_bytes and units.bytes(drive.size_bytes)))
  local place = drive.path or drive.real_path or "path unknown"
  if drive.real_path and drive.real_path ~= place then
    place = string.format("%s (%s)", place, drive.real_path)
  end
  page:say("  ", joined(place, drive.kind ~= "disk" and drive.kind,
    drive.transport ~= drive.kind and drive.transport, turning(drive),
    drive.firmware and "firmware " .. drive.firmware,
    drive.logical_block_size_bytes and drive.logical_block_size_bytes .. "-byte blocks",
    drive.direct == false and "read through the page cache"))
end

local function range_of(parameters, size)
  local from, to = parameters.from, parameters.to
  if not (from and to and size and size > 0) or from == 0 and to == size then return nil end
  return string.format("%s to %s (%s %% of the drive)", units.decimal_bytes(from), units.decimal_bytes(to),
    units.fixed((to - from) * 100 / size, 1))
end

local function describe_zones(document)
  local p = document.parameters
  return joined(units.counted(#document.zones, "zone", "zones") .. " of " .. units.block(p.zone_size),
    p.block_size and "read in blocks of " .. units.block(p.block_size),
    p.depth and "at depth " .. p.depth,
    p.passes and units.counted(p.passes, "pass", "passes"),
    range_of(p, document.drive.size_bytes))
end

local function describe_sweep(document)
  local p = document.parameters
  return joined("random reads",
    p.precision and "until " .. units.fixed(p.precision * 100, 1) .. " % exact",
    p.runtime and (p.precision and "at most " or "") .. units.duration_text(p.runtime) .. " a row",
    p.ramp and units.duration_text(p.ramp) .. " ramp before",
    p.scheduler and "scheduler " .. p.scheduler,
    p.seed and string.format("seed %d", p.seed),
    range_of(p, document.drive.size_bytes) or "over the whole drive")
end

local STATUS = {
  running = "Not finished: what was measured so far.",
  interrupted = "Interrupted: what was measured until then.",
  failed = "Failed: what was measured until then.",
}

local function describe_run(page, document, how)
  page:say("  ", how)
  local times = joined(document.started_at and "begun " .. document.started_at,
    document.summary.elapsed_s and "took " .. units.duration_text(document.summary.elapsed_s))
  if times ~= "" then page:say("  ", times) end
  if STATUS[document.status] then page:say("", STATUS[document.status]) end
end

local function at(offset, document)
  if not offset then return "" end
  local block = document.drive.logical_block_size_bytes
  return string.format(" at %s%s", units.decimal_bytes(offset),
    block and block > 0 and string.format(" (LBA %s)", units.lba(offset, block)) or "")
end

-- The first entries of a list, ten or `most`, a line each, and how many there are beyond.
local function list_some(page, list, title, describe, most)
  if not list or #list == 0 then return end
  page:gap()
  page:say("", title)
  for i = 1, math.min(#list, most or 10) do page:say("    ", describe(list[i]), "  ") end
  if #list > 10 and not most then page:say("", string.format("and %d more", #list - 10), "  ") end
end

local function describe_faults(page, document)
  local errors = document.errors or 0
  list_some(page, document.failures, units.counted(errors, "failed read:", "failed reads:"), function(failure)
    return joined(string.format("%s%s", failure.error or "error", at(failure.offset_bytes, document)),
      failure.length_bytes and units.block(failure.length_bytes),
      failure.latency_ns and "after " .. units.latency(failure.latency_ns))
  end)
  list_some(page, document.slowest, "Slowest reads:", function(read)
    return units.latency(read.latency_ns) .. at(read.offset_bytes, document)
  end, 3)
  list_some(page, document.stalls, "Nothing completed for a while:", function(stall)
    return units.duration_text(stall.elapsed_s) .. at(stall.offset_bytes, document)
  end)
  if #(document.warnings or {}) > 0 then page:gap() end
  for _, warning in ipairs(document.warnings or {}) do page:say("  ", warning, "Warning: ") end
end

local function rate_at(summary, name, document)
  local rate = summary[name .. "_bytes_per_s"]
  return rate and units.rate(rate) .. at(summary[name .. "_offset_bytes"], document)
end

local function summarize_profile(page, document)
  local s = document.summary
  page:fact("outer", units.rate(s.outer_bytes_per_s))
  page:fact("inner", units.rate(s.inner_bytes_per_s))
  page:fact("ratio", units.fixed(s.ratio, 2))
  page:fact("mean", units.rate(s.mean_bytes_per_s))
  page:fact("fastest", rate_at(s, "fastest", document))
  page:fact("slowest", rate_at(s, "slowest", document))
  page:fact("full read", s.full_read_s
    and units.duration_text(s.full_read_s) .. " (estimated from this profile)")
  page:fact("flagged", s.flagged_zones and units.counted(s.flagged_zones, "zone", "zones"))
  page:fact("read", units.bytes(s.read_bytes))
  page:fact("errors", units.fixed(document.errors))
end

local function summarize_sweep(page, document)
  local s = document.summary
  page:fact("best", s.best_iops and s.best_iops_depth and string.format("%s IOPS at depth %d%s",
    units.fixed(s.best_iops, s.best_iops < 1000 and 1 or 0), s.best_iops_depth,
    s.best_iops_block_size_bytes and " with blocks of " .. units.block(s.best_iops_block_size_bytes) or ""))
  page:fact("gain", s.gain and units.fixed(s.gain, 2) .. " times depth 1")
  page:fact("span", units.bytes(s.span_bytes))
  page:fact("read", units.bytes(s.read_bytes))
  page:fact("errors", units.fixed(document.errors))
end

local ZONE_COLUMNS = {
  "offset_bytes", "bandwidth_bytes_per_s", "bandwidth_bytes_per_s:MiB", "latency_p50_us",
  "latency_p99_us", "latency_max_us", "expected_bytes_per_s", "flag",
}
local PASS_COLUMNS = {
  "offset_bytes", "bandwidth_bytes_per_s", "bandwidth_bytes_per_s:MiB", "bandwidth_min_bytes_per_s",
  "bandwidth_max_bytes_per_s", "latency_p50_us", "latency_p99_us", "latency_max_us", "flag",
}
local SWEEP_COLUMNS = {
  "block_size_bytes", "depth", "iops", "iops_ci95", "bandwidth_bytes_per_s",
  "bandwidth_bytes_per_s:MiB", "latency_mean_us", "latency_p50_us", "latency_p95_us", "latency_p99_us",
  "latency_p999_us", "latency_max_us", "gain", "ios", "errors", "flag",
}
local DROP = {
  "expected_bytes_per_s", "ios", "bandwidth_bytes_per_s:MiB", "latency_p95_us", "gain",
  "latency_p999_us", "latency_p50_us", "iops_ci95", "latency_max_us",
}

local function flagged_of(rows)
  local list = {}
  for _, row in ipairs(rows) do
    if row.flagged then list[#list + 1] = row end
  end
  return list
end

local function show_zones(page, document, options)
  local zones = document.zones
  page:add(bars.profile(zones, { width = options.width or 80, utf8 = options.utf8, lines = options.lines }))
  page:gap()
  local rows, limit = zones, options.rows or 100
  if #zones > limit then
    rows = flagged_of(zones)
    page:say("", string.format("%d zones, of which %d are flagged%s", #zones, #rows,
      #rows > limit and string.format("; the first %d:", limit) or #rows > 0 and ":" or "."))
    rows = table.move(rows, 1, math.min(#rows, limit), 1, {})
    if #rows == 0 then return end
  end
  local passes = (document.parameters.passes or 1) > 1
  page:add(text.table(rows, passes and PASS_COLUMNS or ZONE_COLUMNS,
    { width = options.width, utf8 = options.utf8, drop = DROP }))
end

-- Reasons are sentences: in the table they are marked, below it written out.
local function show_sweep(page, document, options)
  local rows, reasons = {}, {}
  for i, row in ipairs(document.rows) do
    if row.flagged then
      reasons[#reasons + 1] = string.format("* depth %s, %s: %s", tostring(row.depth or "n/a"),
        units.block(row.block_size_bytes), row.reason or "not plausible")
      rows[i] = setmetatable({ reason = "*" }, { __index = row })
    else
      rows[i] = row
    end
  end
  page:add(text.table(rows, SWEEP_COLUMNS, { width = options.width, utf8 = options.utf8, drop = DROP }))
  for _, reason in ipairs(reasons) do page:say("  ", reason) end
end

local FORMS = {
  zoneprofile = { how = describe_zones, show = show_zones, summarize = summarize_profile },
  qdsweep = { how = describe_sweep, show = show_sweep, summarize = summarize_sweep },
  surface = "hdd.view.surface",
  seekprofile = "hdd.view.seekprofile",
  fiojob = "hdd.view.fiojob", burnin = "hdd.view.burnin",
}

--- A whole document as text.
-- @tparam table document      a zone profile, a sweep or a surface scan, see docs/documents.md
-- @tparam[opt] table options  `width` (80; false: as wide as it comes), `utf8` (false), `rows` (100: of
--   a longer profile only the flagged zones are listed), `lines` (25, of the bars)
-- @treturn string
-- @return or nil, message when there is no text form of its schema
-- @usage io.write(report.text(document, { width = 80, utf8 = true }))
function M.text(document, options)
  local form = FORMS[tostring(document.schema):match("^hddlua%.(.-)/") or ""]
  if not form then
    return nil, string.format("no text form of the schema %q", tostring(document.schema))
  end
  if type(form) == "string" then form = require(form) end
  options = setmetatable({}, { __index = options or {} })
  if options.width == nil then options.width = 80 end
  if options.width then options.width = math.max(1, options.width) end
  local page = setmetatable({ width = options.width or nil, utf8 = options.utf8 }, Page)
  describe_drive(page, document.drive)
  describe_run(page, document, form.how(document))
  page:gap()
  form.show(page, document, options)
  page:gap()
  form.summarize(page, document)
  describe_faults(page, document)
  return table.concat(page)
end

return M
