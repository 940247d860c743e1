-- SPDX-License-Identifier: GPL-3.0-or-later
--- A burn-in as text: the plan, what each phase found, the verdict with its reasons; and several drives
-- beside one another on a page.
-- @module hdd.view.burnin

local printable = require "hdd.printable"
local statistics = require "hdd.statistics"
local text = require "hdd.view.text"
local units = require "hdd.units"

local M = {}

local LISTED <const> = 20 -- ranges of a kind

local function name_of(drive)
  local name = drive.name or drive.path or "?"
  return drive.serial and not drive.identity_of and name .. " " .. drive.serial or name
end

local function joined(list)
  local parts = {}
  for _, part in ipairs(list) do parts[#parts + 1] = part or nil end
  return table.concat(parts, ", ")
end

--- How it was done, in a line.
-- @tparam table d  document
-- @treturn string
function M.how(d)
  local p = d.parameters
  return joined {
    p.hours and string.format("loops for %s h", units.exact(p.hours)) or p.loops
      and string.format("%d loop%s", p.loops, p.loops == 1 and "" or "s") or "",
    p.write and "ALL DATA OVERWRITTEN with " .. table.concat(p.patterns, ", ") or "nothing was written",
  }
end

local function place_of(range, d)
  local block = d.drive.logical_block_size_bytes or 512
  if block == 0 then block = 512 end
  local first = range.offset_bytes // block
  local last = (range.offset_bytes + range.length_bytes - 1) // block
  return string.format("LBA %d%s, offset %d, %d bytes", first,
    last > first and string.format(" to %d", last) or "", range.offset_bytes, range.length_bytes)
end

local function found_in(phase)
  return joined {
    phase.result or false,
    phase.bandwidth_bytes_per_s and units.rate(phase.bandwidth_bytes_per_s):match("^[%d.]+ MB/s") or false,
    phase.iops and units.fixed(phase.iops, 1) .. " IOPS" or false,
    phase.errors and phase.errors > 0 and string.format("%d errors", phase.errors) or false,
  }
end

local function show_phases(page, d)
  local rows, messages, seen = {}, {}, {}
  for i, phase in ipairs(d.phases) do
    rows[i] = {
      phase = string.format("%d %s%s", i, (phase.loop or 1) > 1 and "loop " .. phase.loop .. ": " or "",
        phase.name),
      status = phase.status, took = phase.elapsed_s and units.duration_text(phase.elapsed_s) or "",
      at_end = phase.temperature_c and units.fixed(phase.temperature_c, 0) .. " °C" or "",
      found = found_in(phase),
    }
    if phase.message and not seen[phase.message] then
      seen[phase.message] = true
      messages[#messages + 1] = string.format("%s: %s", phase.name, phase.message)
    end
  end
  page:add(text.table(rows, { "phase", "status", "took", "at_end", "found" },
    { width = page.width, utf8 = page.utf8, drop = { "at_end" } }))
  for _, message in ipairs(messages) do page:say("    ", message, "  ") end
end

local function show_changes(page, d)
  local any = false
  for i, phase in ipairs(d.phases) do
    for _, change in ipairs(phase.changes or {}) do
      if not any then
        page:gap()
        page:say("", "Counters of the drive that grew:")
      end
      any = true
      page:say("    ", string.format("%s: %s to %s in phase %d, %s (%s)", change.what,
        tostring(change.from or "?"), tostring(change.to or "?"), i, phase.name, change.concerns), "  ")
    end
  end
end

local function show_ranges(page, d, list, title, describe)
  if #list == 0 then return end
  page:gap()
  page:say("", title)
  for i = 1, math.min(#list, LISTED) do
    page:say("    ", place_of(list[i], d) .. describe(list[i]), "  ")
  end
  if #list > LISTED then page:say("", string.format("and %d more", #list - LISTED), "  ") end
end

local function mismatch_text(m)
  local parts = { "", m.kind }
  if m.landed_offset_bytes then
    parts[#parts + 1] = string.format("went to offset %d", m.landed_offset_bytes)
  elseif m.found and m.found.offset_bytes then
    parts[#parts + 1] = string.format("what is there belongs to offset %d", m.found.offset_bytes)
  end
  if m.bits then parts[#parts + 1] = string.format("%d wrong bits", m.bits) end
  if m.first and m.first.expected then
    parts[#parts + 1] = string.format("expected %s, found %s", m.first.expected, m.first.found or "?")
  end
  if m.reread then parts[#parts + 1] = "read again: " .. m.reread end
  return table.concat(parts, ", ")
end

local function cost_text(range)
  return range.latency_us and ", " .. units.latency(range.latency_us * 1000) or ""
end

local function error_text(range)
  return range.error and ", " .. range.error or ""
end

-- Zones that have changed most; of a long list only those that are slower.
local function show_baseline(page, d)
  local zones = d.baseline and d.baseline.zones
  if not zones or #zones == 0 then return end
  local rows, ratios = {}, {}
  for _, zone in ipairs(zones) do
    ratios[#ratios + 1] = zone.ratio
    if zone.ratio and zone.ratio < 0.95 then
      rows[#rows + 1] = {
        offset_bytes = zone.offset_bytes, before = units.rate(zone.before_bytes_per_s),
        after = units.rate(zone.after_bytes_per_s), percent = units.fixed(zone.ratio * 100, 1),
      }
    end
  end
  page:gap()
  page:say("  ", string.format("Rate after and before in %d zones: %s %% at the median, %s %% at least.",
    #zones, units.fixed((statistics.median(ratios) or 0) * 100, 1),
    units.fixed((statistics.percentile(ratios, 0) or 0) * 100, 1)))
  if #rows > 0 then
    page:add(text.table(table.move(rows, 1, LISTED, 1, {}), { "offset_bytes", "before", "after", "percent" },
      { width = page.width, utf8 = page.utf8 }))
  end
end

--- The phases and what they found.
-- @tparam Page page   of hdd.view.report
-- @tparam table d     document
function M.show(page, d)
  show_phases(page, d)
  show_changes(page, d)
  show_ranges(page, d, d.unreadable, "Unreadable:", error_text)
  show_ranges(page, d, d.mismatches, "Did not hold what was written:", mismatch_text)
  show_ranges(page, d, d.write_failures, "Writes that failed:", error_text)
  show_ranges(page, d, d.slow, "Slow each time:", cost_text)
  show_ranges(page, d, d.recovered, "Read only at a later try:", error_text)
  show_baseline(page, d)
end

--- The verdict and its reasons.
-- @tparam Page page
-- @tparam table d
function M.summarize(page, d)
  local s = d.summary
  page:fact("read", s.read_bytes and units.bytes(s.read_bytes))
  page:fact("written", s.written_bytes and s.written_bytes > 0 and units.bytes(s.written_bytes))
  page:fact("hottest", s.temperature_max_c and units.fixed(s.temperature_max_c, 0) .. " °C")
  for _, break_ in ipairs(d.interruptions or {}) do
    page:fact("resumed", string.format("%s, %s (last saved %s)", break_.resumed_at or "?", break_.reason,
      break_.saved_at))
  end
  page:fact("drive", s.state)
  page:gap()
  page:say("", "Verdict: " .. (d.verdict.status or "none"))
  for _, reason in ipairs(d.verdict.reasons or {}) do
    page:say("        ", string.format("%s%s", reason.what,
      reason.where and string.format(" (%s%s)", reason.phase_name and reason.phase_name .. "; " or "",
        reason.where) or ""), string.format("  %-5s ", reason.status))
  end
end

--- The plan of one drive or several, before it begins.
-- @tparam {table,...} plans   `drive` (identity), `phases`, `all_s`, `bytes_per_s`
-- @tparam table options  `width`, `utf8`
-- @treturn string
function M.plan(plans, options)
  local out = {}
  local function say(line) out[#out + 1] = printable.clip(line, options.width or 80) end
  for _, entry in ipairs(plans) do
    local drive = entry.drive
    say(printable.line(string.format("%s, %s%s%s", name_of(drive), drive.model and drive.model .. ", " or "",
      units.bytes(drive.size_bytes), entry.bytes_per_s and ", reads at about "
      .. units.rate(entry.bytes_per_s) or ""), not options.utf8))
    for i, phase in ipairs(entry.phases) do
      say(string.format("  %2d  %-28s %s", i,
        (phase.loop and phase.loop > 1 and "loop " .. phase.loop .. ": " or "") .. phase.name,
        phase.planned_s and units.duration_text(phase.planned_s) or "unknown"))
    end
    say(string.format("      %-28s %s", "in all", entry.all_s and units.duration_text(entry.all_s)
      or "unknown"))
  end
  return table.concat(out, "\n") .. "\n"
end

local function percent(ratio)
  return ratio and units.fixed(ratio * 100, 1) or "n/a"
end

local function rate_of(d)
  local measured = d.baseline and (d.baseline.after or d.baseline.before)
  local first = measured and measured.zones[1]
  return first and first.bandwidth_bytes_per_s
end

--- A page on a batch: a line for each drive, what is odd about single ones, and why drives did not pass.
-- @tparam {table,...} results  `name`, and `document` or `message`
-- @tparam {table,...} odd      of hdd.procedure.burnin.batch
-- @tparam table options  `width`, `utf8`
-- @treturn string
function M.batch(results, odd, options)
  local rows, counts, strange = {}, { PASS = 0, WARN = 0, FAIL = 0 }, {}
  for _, entry in ipairs(odd) do strange[entry.index] = true end
  for i, r in ipairs(results) do
    local d = r.document
    local status = d and d.verdict.status or "FAIL"
    counts[status] = counts[status] + 1
    rows[i] = {
      drive = (strange[i] and "* " or "  ") .. (d and name_of(d.drive) or r.name), verdict = status,
      rate = d and units.rate(rate_of(d)):match("^[%d.]+ MB/s") or "n/a",
      ["of median %"] = d and percent(d.batch and d.batch.ratio) or "n/a",
      hottest = d and d.summary.temperature_max_c and units.fixed(d.summary.temperature_max_c, 0) .. " °C"
        or "n/a",
      errors = d and d.errors or "n/a", took = d and units.duration_text(d.summary.elapsed_s) or "n/a",
    }
  end
  local out = {
    string.format("%d drives: %d PASS, %d WARN, %d FAIL\n\n", #results, counts.PASS, counts.WARN,
      counts.FAIL),
    text.table(rows, { "drive", "verdict", "rate", "of median %", "hottest", "errors", "took" },
      { width = options.width, utf8 = options.utf8, drop = { "took", "hottest" } }),
  }
  local function say(start, line)
    out[#out + 1] = text.wrap(printable.line(line, not options.utf8), options.width, "    ", start)
  end
  if #odd > 0 then out[#out + 1] = "\nOdd beside the others (*):\n" end
  for _, entry in ipairs(odd) do
    local r = results[entry.index]
    say("  ", string.format("%s: %s", name_of(r.document.drive), entry.what))
  end
  if counts.WARN + counts.FAIL > 0 then out[#out + 1] = "\nWhy:\n" end
  for _, r in ipairs(results) do
    if not r.document then
      say("  ", string.format("%s: FAIL: %s", r.name, r.message or "no result"))
    else
      for _, reason in ipairs(r.document.verdict.reasons or {}) do
        say("  ", string.format("%s: %s: %s", name_of(r.document.drive), reason.status, reason.what))
      end
    end
  end
  return table.concat(out)
end

return M
