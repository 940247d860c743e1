--- LOG SENSE pages of SCSI and SAS drives: error counters, temperature, start-stop, self-tests,
-- wear, background scan, informational exceptions. (Page 18h, of SAS ports: hdd.drive.scsi_ports.)
-- Counters have as many bytes as the drive likes; above 2^63-1 they are strings of digits.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.scsi_logs

local bytes = require "hdd.drive.bytes"
local scsi_bytes = require "hdd.drive.scsi_bytes"
local scsi_sense = require "hdd.drive.scsi_sense"

local M = {}

local PAGES = {
  [0x00] = "supported log pages", [0x01] = "buffer over-run/under-run",
  [0x02] = "write error counters", [0x03] = "read error counters", [0x05] = "verify error counters",
  [0x06] = "non-medium errors", [0x07] = "last errors", [0x08] = "format status",
  [0x0b] = "last deferred errors", [0x0c] = "logical block provisioning", [0x0d] = "temperature",
  [0x0e] = "start-stop cycle counter", [0x0f] = "application client", [0x10] = "self-test results",
  [0x11] = "solid state media", [0x14] = "zoned block device statistics",
  [0x15] = "background scan", [0x16] = "ATA pass-through results", [0x17] = "non-volatile cache",
  [0x18] = "protocol-specific port", [0x19] = "general statistics and performance",
  [0x1a] = "power condition transitions", [0x2f] = "informational exceptions",
}

--- Decode the list of log pages (00h).
-- @tparam string data
-- @treturn table  `pages[] {page name}`, `warnings`
-- @usage for _, p in ipairs(scsi_logs.pages(page).pages) do print(p.page, p.name) end
function M.pages(data)
  local result = bytes.result(data, 4)
  result.pages = bytes.list()
  local length = scsi_bytes.u16(data, 2)
  if not length then return result end
  local found = bytes.u8(data, 0) & 0x3f
  if found ~= 0 then
    bytes.warn(result, "wrong_page", "log page 00h was asked for, %02Xh came: not read", found)
    return result
  end
  if 4 + length > #data then
    bytes.warn(result, "short", "%d bytes of %d: the rest is missing", #data, 4 + length)
  end
  for k = 5, math.min(#data, 4 + length, 4 + 64) do
    local page = data:byte(k) & 0x3f
    local own = page >= 0x30 and page <= 0x3e
    local name = PAGES[page] or own and "maker's own" or "reserved"
    table.insert(result.pages, {page = page, name = name})
  end
  return result
end

local ERROR_COUNTERS = {
  [0] = "corrected_without_delay", "corrected_with_delay", "corrected_by_repetition", "corrected",
  "correction_runs", "processed_bytes", "uncorrected",
}

--- Decode the error counters of reading (03h), writing (02h) or verifying (05h).
-- @tparam string data
-- @tparam integer page  02h, 03h or 05h
-- @treturn table  `corrected_without_delay corrected_with_delay corrected_by_repetition corrected
--   correction_runs processed_bytes uncorrected`, `saturated[]` (the keys of counters that stand at
--   their largest value), `warnings`; absent are those that the drive does not keep
-- @usage print(scsi_logs.error_counters(page, 0x03).uncorrected)
function M.error_counters(data, page)
  local result, parameters = scsi_bytes.log(data, page)
  result.saturated = bytes.list()
  for _, p in ipairs(parameters) do
    local key = ERROR_COUNTERS[p.code]
    if key then
      local value, full = scsi_bytes.counter(p.data)
      result[key] = value
      if full then table.insert(result.saturated, key) end
    end
  end
  return result
end

--- Decode the non-medium error counter (06h): faults of link, commands and the like.
-- @tparam string data
-- @treturn table  `count saturated`, `warnings`
-- @usage print(scsi_logs.non_medium_errors(page).count)
function M.non_medium_errors(data)
  local result, parameters = scsi_bytes.log(data, 0x06)
  for _, p in ipairs(parameters) do
    if p.code == 0 then result.count, result.saturated = scsi_bytes.counter(p.data) end
  end
  return result
end

-- An unsigned byte in which FFh means unknown.
local function celsius(result, what, value)
  if not value or value == 255 then return nil end
  if value <= 127 then return value end
  bytes.warn(result, "temperature", "%s: %d °C is not believed", what, value)
end

--- Decode the temperature page (0Dh).
-- @tparam string data
-- @treturn table  `temperature_c`, `reference_c` (where the drive sees its limit), each absent when
--   unknown; `temperature_doubtful` when all is 0, as drives have it that keep the page without a
--   sensor; `warnings`
-- @usage print(scsi_logs.temperature(page).temperature_c)
function M.temperature(data)
  local result, parameters = scsi_bytes.log(data, 0x0d)
  for _, p in ipairs(parameters) do
    local value = bytes.u8(p.data, 1)
    if p.code == 0 then result.temperature_c = celsius(result, "temperature", value) end
    if p.code == 1 then result.reference_c = celsius(result, "reference temperature", value) end
  end
  if result.reference_c == 0 then result.reference_c = nil end
  if result.temperature_c == 0 and not result.reference_c then
    result.temperature_doubtful = true
    bytes.warn(result, "no_sensor", "all temperatures are 0 °C: the page is probably not kept")
  end
  return result
end

--- Decode the environment page (0Dh/01h), which newer drives keep beside or instead of the
-- temperature page.
-- @tparam string data
-- @treturn table  `temperature_c lifetime_highest_c lifetime_lowest_c power_cycle_highest_c
--   power_cycle_lowest_c`, `warnings`
-- @usage print(scsi_logs.environment(page).lifetime_highest_c)
function M.environment(data)
  local result, parameters = scsi_bytes.log(data, 0x0d, 0x01)
  for _, p in ipairs(parameters) do
    if p.code == 0 then
      result.temperature_c = bytes.celsius(p.data, 1)
      result.lifetime_highest_c = bytes.celsius(p.data, 2)
      result.lifetime_lowest_c = bytes.celsius(p.data, 3)
      result.power_cycle_highest_c = bytes.celsius(p.data, 4)
      result.power_cycle_lowest_c = bytes.celsius(p.data, 5)
    end
  end
  return result
end

local CYCLES = {
  [3] = "rated_start_stop_cycles", [4] = "start_stop_cycles", [5] = "rated_load_cycles",
  [6] = "load_cycles",
}

--- Decode the start-stop cycle counter (0Eh).
-- @tparam string data
-- @treturn table  `manufactured_year manufactured_week`, `rated_start_stop_cycles start_stop_cycles
--   rated_load_cycles load_cycles`, `warnings`
-- @usage print(scsi_logs.start_stop(page).start_stop_cycles)
function M.start_stop(data)
  local result, parameters = scsi_bytes.log(data, 0x0e)
  for _, p in ipairs(parameters) do
    if p.code == 1 then
      local year, week = p.data:match("^(%d%d%d%d)(%d%d)")
      -- A week of 00 or a year of 0000 was never set.
      if year and year ~= "0000" and tonumber(week) >= 1 and tonumber(week) <= 53 then
        result.manufactured_year = math.tointeger(year)
        result.manufactured_week = math.tointeger(week)
      end
    elseif CYCLES[p.code] then
      -- All ones is "not given".
      local value, full = scsi_bytes.counter(p.data)
      if not full then result[CYCLES[p.code]] = value end
    end
  end
  return result
end

local TESTS = {
  [0] = "off-line", "short", "extended", "reserved", "abort", "short captive", "extended captive",
  "reserved",
}

local RESULTS = {
  [0] = "completed without error", "aborted by the host", "interrupted by a reset",
  "fatal or unknown error", "failed: unknown segment", "failed: first segment",
  "failed: second segment", "failed", [15] = "in progress",
}

local function test(p)
  local first, where = bytes.u8(p.data, 0), bytes.u8(p.data, 1)
  local code, type_code = first & 15, first >> 5
  local hours, lba = scsi_bytes.u16(p.data, 2), scsi_bytes.number(p.data, 4, 8)
  local key, asc, ascq = bytes.u8(p.data, 12), bytes.u8(p.data, 13), bytes.u8(p.data, 14)
  local e = {
    number = p.code, status = first, code = code, result = RESULTS[code] or "reserved code",
    type_code = type_code, type = TESTS[type_code], failed = code >= 3 and code <= 7,
    in_progress = code == 15,
    -- The field stays at 65535 once it is full, and is 0 while the test runs.
    power_on_hours = (code ~= 15 or hours > 0) and hours or nil,
    hours_saturated = hours == 65535 or nil,
    segment = code >= 4 and code <= 7 and where > 0 and where or nil,
  }
  if lba ~= -1 and (lba ~= 0 or e.failed) then e.lba = bytes.unsigned(lba) end
  if key & 15 ~= 0 or asc ~= 0 then
    e.sense = {key = key & 15, asc = asc, ascq = ascq, text = scsi_sense.text(asc, ascq)}
  end
  return e
end

--- Decode the self-test results (10h). Entries have the shape of the ATA self-test logs.
-- @tparam string data
-- @treturn table  `entries[]` newest first `{number type type_code status code result failed
--   in_progress power_on_hours hours_saturated segment lba sense {key asc ascq text}}`, `warnings`
-- @usage print(scsi_logs.self_tests(page).entries[1].result)
function M.self_tests(data)
  local result, parameters = scsi_bytes.log(data, 0x10)
  result.entries = bytes.list()
  for _, p in ipairs(parameters) do
    if p.code >= 1 and p.code <= 20 and #p.data >= 16 and #result.entries < 20 then
      local e = test(p)
      -- A place that was never used is all zero but for its address.
      if e.status ~= 0 or scsi_bytes.u16(p.data, 2) ~= 0 then table.insert(result.entries, e) end
    end
  end
  return result
end

--- Decode the solid state media page (11h).
-- @tparam string data
-- @treturn table  `life_used_percent` (may exceed 100), `warnings`
-- @usage print(scsi_logs.solid_state(page).life_used_percent)
function M.solid_state(data)
  local result, parameters = scsi_bytes.log(data, 0x11)
  for _, p in ipairs(parameters) do
    if p.code == 1 then result.life_used_percent = bytes.u8(p.data, 3) end
  end
  return result
end

local SCANS = {
  [0] = "idle", "medium scan in progress", "pre-scan in progress", "halted by a fatal error",
  "halted by a pattern of errors", "halted: no primary defect list",
  "halted for a maker's own reason", "halted by the temperature", "waiting for its interval",
}

local REASSIGNED = {
  "needs reassignment or a write", "reassigned by the drive", "reserved", "reassignment failed",
  "recovered by rewriting", "reassigned by the host, contains valid data",
  "reassigned by the host, without valid data", "reassignment by the host failed",
}

-- One place that the scan found.
local function finding(p)
  local first = bytes.u8(p.data, 4)
  local asc, ascq = bytes.u8(p.data, 5), bytes.u8(p.data, 6)
  return {
    power_on_minutes = scsi_bytes.u32(p.data, 0), state_code = first >> 4,
    state = REASSIGNED[first >> 4] or "reserved",
    sense = {key = first & 15, asc = asc, ascq = ascq, text = scsi_sense.text(asc, ascq)},
    lba = scsi_bytes.u64(p.data, 12),
  }
end

--- Decode the background scan results (15h).
-- @tparam string data
-- @treturn table  `power_on_minutes` (of the drive), `status status_code`, `halted`, `scans
--   medium_scans`, `progress_percent` and `progress_65536` of the scan that runs, `findings[] {lba
--   state state_code power_on_minutes sense {key asc ascq text}}`, `warnings`
-- @usage print(scsi_logs.background_scan(page).power_on_minutes // 60)
function M.background_scan(data)
  local result, parameters = scsi_bytes.log(data, 0x15)
  result.findings = bytes.list()
  for _, p in ipairs(parameters) do
    if p.code == 0 then
      local minutes, code = scsi_bytes.u32(p.data, 0), bytes.u8(p.data, 5)
      local done = scsi_bytes.u16(p.data, 8)
      if minutes ~= 0xffffffff then result.power_on_minutes = minutes end
      if code then
        result.status_code, result.status = code, SCANS[code] or "reserved"
        result.halted = code >= 3 and code <= 7
      end
      result.scans, result.medium_scans = scsi_bytes.u16(p.data, 6), scsi_bytes.u16(p.data, 10)
      result.progress_65536, result.progress_percent = done, done and done * 100 // 65536
    elseif p.code >= 1 and p.code <= 0x800 and #p.data >= 20 and #result.findings < 2048 then
      table.insert(result.findings, finding(p))
    end
  end
  return result
end

local STATUS = {[0] = "good", [0x0b] = "warning", [0x5d] = "failing"}

--- Decode the informational exceptions page (2Fh): the drive's own word on its health.
-- @tparam string data
-- @treturn table  `status` ("good", "warning" for ASC 0Bh, "failing" for ASC 5Dh; absent when
--   nothing was said or it is something else), `asc ascq text`, `temperature_c`, `trip_c` (a habit
--   of makers), `warnings`
-- @usage print(scsi_logs.exceptions(page).status)
function M.exceptions(data)
  local result, parameters = scsi_bytes.log(data, 0x2f)
  for _, p in ipairs(parameters) do
    local asc, ascq = bytes.u8(p.data, 0), bytes.u8(p.data, 1)
    if p.code == 0 and ascq then
      result.asc, result.ascq, result.text = asc, ascq, scsi_sense.text(asc, ascq)
      -- 5Dh/FFh is what a drive says when a host asks it to try its alarm.
      if asc ~= 0x5d or ascq ~= 0xff then result.status = STATUS[asc] end
      result.temperature_c = celsius(result, "temperature", bytes.u8(p.data, 2))
      local trip = celsius(result, "trip temperature", bytes.u8(p.data, 3))
      if trip ~= 0 then result.trip_c = trip end
    end
  end
  return result
end

return M
