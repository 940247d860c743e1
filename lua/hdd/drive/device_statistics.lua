--- Device statistics (log 04h): the standard's own counters, with standard units.
-- Where they exist they are to be preferred to SMART attributes, whose units are makers' habits.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.device_statistics

local bytes = require "hdd.drive.bytes"

local M = {}

-- A log of 256 pages full of unnamed fields is no drive's; what is decoded has this bound.
local MAX_FIELDS = 1024

-- Page, then offset = {key with its unit, the standard's name, bytes}. Temperatures are signed.
local PAGES = {
  [1] = {name = "General Statistics",
    [8] = {"power_on_resets", "Lifetime Power-On Resets", 4},
    [16] = {"power_on_hours", "Power-on Hours", 4},
    [24] = {"sectors_written", "Logical Sectors Written", 6},
    [32] = {"write_commands", "Number of Write Commands", 6},
    [40] = {"sectors_read", "Logical Sectors Read", 6},
    [48] = {"read_commands", "Number of Read Commands", 6},
    [56] = {"time_stamp_ms", "Date and Time TimeStamp", 6},
    [64] = {"pending_errors", "Pending Error Count", 4},
    [72] = {"workload_utilization", "Workload Utilization", 2},
    [80] = {"usage_rate", "Utilization Usage Rate", 6},
    [88] = {"resource_availability", "Resource Availability", 7},
    [96] = {"random_write_resources_used", "Random Write Resources Used", 1}},
  [2] = {name = "Free-Fall Statistics",
    [8] = {"free_fall_events", "Number of Free-Fall Events Detected", 4},
    [16] = {"shock_events", "Overlimit Shock Events", 4}},
  [3] = {name = "Rotating Media Statistics",
    [8] = {"spindle_hours", "Spindle Motor Power-on Hours", 4},
    [16] = {"head_flying_hours", "Head Flying Hours", 4},
    [24] = {"head_loads", "Head Load Events", 4},
    [32] = {"reallocated_sectors", "Number of Reallocated Logical Sectors", 4},
    [40] = {"read_recovery_attempts", "Read Recovery Attempts", 4},
    [48] = {"start_failures", "Number of Mechanical Start Failures", 4},
    [56] = {"reallocation_candidates", "Number of Realloc. Candidate Logical Sectors", 4},
    [64] = {"emergency_unloads", "Number of High Priority Unload Events", 4}},
  [4] = {name = "General Errors Statistics",
    [8] = {"uncorrectable_errors", "Number of Reported Uncorrectable Errors", 4},
    [16] = {"resets_during_commands", "Resets Between Cmd Acceptance and Completion", 4},
    [24] = {"element_status_changes", "Physical Element Status Changed", 4}},
  [5] = {name = "Temperature Statistics",
    [8] = {"temperature_c", "Current Temperature", -1},
    [16] = {"average_short_term_c", "Average Short Term Temperature", -1},
    [24] = {"average_long_term_c", "Average Long Term Temperature", -1},
    [32] = {"highest_c", "Highest Temperature", -1}, [40] = {"lowest_c", "Lowest Temperature", -1},
    [48] = {"highest_average_short_term_c", "Highest Average Short Term Temperature", -1},
    [56] = {"lowest_average_short_term_c", "Lowest Average Short Term Temperature", -1},
    [64] = {"highest_average_long_term_c", "Highest Average Long Term Temperature", -1},
    [72] = {"lowest_average_long_term_c", "Lowest Average Long Term Temperature", -1},
    [80] = {"over_temperature_minutes", "Time in Over-Temperature", 4},
    [88] = {"max_operating_c", "Specified Maximum Operating Temperature", -1},
    [96] = {"under_temperature_minutes", "Time in Under-Temperature", 4},
    [104] = {"min_operating_c", "Specified Minimum Operating Temperature", -1}},
  [6] = {name = "Transport Statistics",
    [8] = {"hardware_resets", "Number of Hardware Resets", 4},
    [16] = {"asr_events", "Number of ASR Events", 4},
    [24] = {"interface_crc_errors", "Number of Interface CRC Errors", 4}},
  [7] = {name = "Solid State Device Statistics",
    [8] = {"life_used_percent", "Percentage Used Endurance Indicator", 1}},
  [8] = {name = "Zoned Device Statistics",
    [8] = {"max_open_zones", "Maximum Open Zones", 4},
    [16] = {"max_explicitly_open_zones", "Maximum Explicitly Open Zones", 4},
    [24] = {"max_implicitly_open_zones", "Maximum Implicitly Open Zones", 4},
    [32] = {"min_empty_zones", "Minimum Empty Zones", 4},
    [40] = {"max_non_sequential_zones", "Maximum Non-Sequential Zones", 4},
    [48] = {"zones_emptied", "Zones Emptied", 4},
    [56] = {"suboptimal_write_commands", "Suboptimal Write Commands", 4},
    [64] = {"commands_beyond_optimum", "Commands Exceeding Optimal Limit", 4},
    [72] = {"failed_explicit_opens", "Failed Explicit Opens", 4},
    [80] = {"read_rule_violations", "Read Rule Violations", 4},
    [88] = {"write_rule_violations", "Write Rule Violations", 4}},
  [0x09] = {name = "Command Duration Limits Statistics"},
  [0xff] = {name = "Vendor Specific Statistics"},
}

local function read_field(data, at, offset, known, vendor)
  local flags = bytes.u8(data, at + 7)
  if not flags or flags & 0x80 == 0 then return nil end
  local size = known and known[3] or 7
  local field = {
    offset = offset, key = known and known[1],
    name = known and known[2] or vendor and "Vendor Specific" or "Unknown",
    size_bytes = math.abs(size), flags = flags, valid = flags >> 6 & 1 == 1,
    normalized = flags >> 5 & 1 == 1, notification = flags >> 4 & 1 == 1,
    condition_met = flags >> 3 & 1 == 1, read_then_initialized = flags >> 2 & 1 == 1,
  }
  if field.valid then
    field.value = size == -1 and bytes.celsius(data, at) or size ~= -1
      and bytes.number(data, at, size) or nil
  end
  return field
end

-- The page numbers that page 0 lists, each once; nil when there is no list.
local function listed_pages(data, result)
  local count = bytes.u8(data, 8)
  if not count or count == 0 then return nil end
  local list, seen = {}, {}
  for k = 0, count - 1 do
    local page = bytes.u8(data, 9 + k)
    if not page or 9 + k > 511 then break end
    if page ~= 0 and not seen[page] then
      seen[page] = true
      list[#list + 1] = page
    end
  end
  if 9 + count > 512 then
    bytes.warn(result, "list", "page 0 counts %d pages, more than it can list", count)
  end
  return list
end

local function read_page(data, at, page, result, budget)
  local known, vendor = PAGES[page] or {}, page >= 0x80
  local decoded = {
    page = page,
    name = known.name or vendor and "Vendor Specific Statistics" or "Unknown Statistics",
    revision = bytes.u16(data, at), statistics = bytes.list(),
  }
  for offset = 8, 504, 8 do
    local field = read_field(data, at + offset, offset, known[offset], vendor)
    if field then
      budget = budget - 1
      if budget < 0 then
        bytes.warn(result, "cut", "more than %d fields: the rest is not shown", MAX_FIELDS)
        break
      end
      table.insert(decoded.statistics, field)
    end
  end
  table.insert(result.pages, decoded)
  return budget
end

--- Decode the device statistics.
-- @tparam string data  log 04h from page 0 on, as many pages as were read
-- @tparam[opt] table extra  further pages by number, for those far behind: `{[255] = "..."}`
-- @treturn table  `supported`, `pages[] {page name revision statistics[] {offset key name
--   size_bytes value valid normalized notification condition_met read_then_initialized flags}}`:
--   the key has the value's unit, a value is there only when the drive calls it valid; fields that
--   no standard names have no key; `warnings`
-- @usage local statistics = device_statistics.decode(pages)
--   print(device_statistics.value(statistics, "power_on_hours"))
function M.decode(data, extra)
  local result = bytes.result(data, 512)
  result.pages, result.supported = bytes.list(), false
  local list = listed_pages(data, result)
  if not list then
    bytes.warn(result, "no_pages", "page 0 lists no pages: device statistics are not available")
    return result
  elseif bytes.u8(data, 2) ~= 0 then
    bytes.warn(result, "wrong_page", "page 0 says that it is page %d", bytes.u8(data, 2))
  end
  result.supported = true
  local budget = MAX_FIELDS
  for _, page in ipairs(list) do
    local source, at = data, page * 512
    if at + 512 > #data then source, at = extra and extra[page], 0 end
    local number = source and bytes.u8(source, at + 2)
    if not number or at + 512 > #source then
      if PAGES[page] then
        bytes.warn(result, "missing_page", "page %d is listed but was not read", page)
      end
    elseif number ~= page then
      bytes.warn(result, "wrong_page", "page %d says that it is page %d: skipped", page, number)
    elseif budget > 0 then
      budget = read_page(source, at, page, result, budget)
    end
  end
  return result
end

--- A statistic's value by its key.
-- @tparam ?table decoded  what `decode` gave
-- @tparam string key      "power_on_hours", "life_used_percent" ...
-- @treturn ?integer  nil when the drive has no valid one
-- @usage local hours = device_statistics.value(stats, "power_on_hours")
function M.value(decoded, key)
  for _, page in ipairs(decoded and decoded.pages or {}) do
    for _, field in ipairs(page.statistics) do
      if field.key == key then return field.value end
    end
  end
end

return M
