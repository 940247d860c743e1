--- Seagate's Field Accessible Reliability Metrics (FARM, GP log A6h): a drive's life as its maker
-- counts it. Its hours are not reset with the SMART attributes, so that a used drive sold as new
-- shows here.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.farm

local bytes = require "hdd.drive.bytes"

local M = {}

local PAGE = 16384
local SIGNATURE = 0x4641524d4552  -- "FARMER"
local MAX_HEADS = 24

-- Fields are 8 bytes: 56 bits of value, then flags (bit 7 supported, bit 6 valid). Number of the
-- field in its page = our key.
local DRIVE = {
  [7] = "sectors", [8] = "physical_sector_size_bytes", [9] = "logical_sector_size_bytes",
  [10] = "buffer_size_bytes", [11] = "heads", [13] = "rotation_rpm", [19] = "power_on_hours",
  [20] = "spindle_hours", [21] = "head_flying_hours", [22] = "head_loads", [23] = "power_cycles",
  [24] = "hardware_resets", [25] = "spin_up_ms", [30] = "time_to_ready_ms", [31] = "time_held_ms",
  [44] = "reassignable_sectors", [46] = "depopulated_heads_mask",
}

local WORKLOAD = {
  [3] = "read_commands", [4] = "write_commands", [5] = "random_read_commands",
  [6] = "random_write_commands", [7] = "other_commands", [8] = "sectors_written",
  [9] = "sectors_read", [10] = "dither_events", [11] = "dither_held_off_random",
  [12] = "dither_held_off_sequential",
  -- Of the last three frames, by the part of the drive's addresses in per cent.
  [13] = "reads_at_0_to_3", [14] = "reads_at_3_to_25", [15] = "reads_at_25_to_75",
  [16] = "reads_at_75_to_100", [17] = "writes_at_0_to_3", [18] = "writes_at_3_to_25",
  [19] = "writes_at_25_to_75", [20] = "writes_at_75_to_100",
}

local ERRORS = {
  [2] = "unrecoverable_reads", [3] = "unrecoverable_writes", [4] = "reallocated_sectors",
  [5] = "read_recovery_attempts", [6] = "start_failures", [7] = "reallocation_candidates",
  [8] = "asr_events", [9] = "interface_crc_errors", [10] = "spin_retries",
  [11] = "spin_retry_value", [12] = "spin_retry_worst", [13] = "end_to_end_errors",
  [14] = "timeouts", [15] = "timeouts_over_5_s", [16] = "timeouts_over_7_5_s",
  [17] = "firmware_assertions", [18] = "firmware_assertion_index", [19] = "uncorrectable_errors",
  [70] = "unrecoverable_reads_by_erc",
}

local ENVIRONMENT = {
  [2] = "temperature_c", [3] = "highest_c", [4] = "lowest_c", [5] = "average_short_term_c",
  [6] = "average_long_term_c", [7] = "highest_average_short_term_c",
  [8] = "lowest_average_short_term_c", [9] = "highest_average_long_term_c",
  [10] = "lowest_average_long_term_c", [11] = "over_temperature_minutes",
  [12] = "under_temperature_minutes", [13] = "max_operating_c", [14] = "min_operating_c",
  [17] = "humidity_permille", [19] = "motor_power", [20] = "supply_12_v_mv",
  [21] = "supply_12_v_lowest_mv", [22] = "supply_12_v_highest_mv", [23] = "supply_5_v_mv",
  [24] = "supply_5_v_lowest_mv", [25] = "supply_5_v_highest_mv", [26] = "power_12_v_average_mw",
  [27] = "power_12_v_lowest_mw", [28] = "power_12_v_highest_mw", [29] = "power_5_v_average_mw",
  [30] = "power_5_v_lowest_mw", [31] = "power_5_v_highest_mw",
}

local RELIABILITY = {
  [184] = "read_error_rate_raw", [185] = "read_error_rate_value", [186] = "read_error_rate_worst",
  [187] = "seek_error_rate_raw", [188] = "seek_error_rate_value", [189] = "seek_error_rate_worst",
  [190] = "emergency_unloads", [697] = "helium_pressure_trips", [1109] = "lbas_corrected_by_parity",
}

-- Values for each head: page, number of head 0's field, key.
local BY_HEAD = {
  {3, 71, "unrecoverable_reads_repeating"}, {3, 95, "unrecoverable_reads_unique"},
  {5, 88, "dvga_skip_writes"}, {5, 112, "rvga_skip_writes"}, {5, 136, "fvga_skip_writes"},
  {5, 160, "skip_write_threshold_exceeded"}, {5, 264, "mr_resistance"},
  {5, 649, "reallocated_sectors"}, {5, 673, "reallocation_candidates"},
  {5, 770, "write_power_on_s"}, {5, 821, "second_mr_resistance"},
}

local FORM_FACTORS = {"5.25 inches", "3.5 inches", "2.5 inches", "1.8 inches"}
local RECORDING = {[0] = "SMR", "CMR"}

local function field(data, page, number)
  local at = page * PAGE + number * 8
  local flags = bytes.u8(data, at + 7)
  if flags and flags & 0xc0 == 0xc0 then return bytes.number(data, at, 7) end
end

-- Four characters a field, two in each 16 bit word swapped.
local function text(data, page, first, last)
  local parts = {}
  for number = first, last do
    local value = field(data, page, number)
    if value then
      parts[#parts + 1] = string.pack("<I4", value & 0xffffffff):gsub("(.)(.)", "%2%1")
    end
  end
  return bytes.text(table.concat(parts))
end

local function section(data, page, keys)
  local result = {}
  if field(data, page, 0) ~= page then return nil end
  for number, key in pairs(keys) do
    local value = field(data, page, number)
    if value and key:find("_c$") then
      if value >= 1 << 55 then value = value - (1 << 56) end
      if value < -127 or value > 127 then value = nil end
    end
    result[key] = value
  end
  return result
end

local function drive_section(data)
  local drive = section(data, 1, DRIVE)
  if not drive then return nil end
  drive.serial = text(data, 1, 2, 3)
  drive.firmware = text(data, 1, 14, 15)
  drive.model = text(data, 1, 32, 41)
  local high, low = field(data, 1, 4), field(data, 1, 5)
  if high and low then
    local function swapped(n) return (n & 0xffff) << 16 | n >> 16 & 0xffff end
    drive.wwn = ("%08x%08x"):format(swapped(high), swapped(low))
  end
  local interface = field(data, 1, 6)
  drive.interface = interface and bytes.text(string.pack(">I4", interface & 0xffffffff))
  drive.form_factor = FORM_FACTORS[field(data, 1, 12)]
  drive.recording = RECORDING[field(data, 1, 42)]
  local depopulated = field(data, 1, 43)
  if depopulated then drive.depopulated = depopulated == 1 end
  drive.assembled_year_week = text(data, 1, 45, 45)
  return drive
end

local function assertions(data)
  local list = bytes.list()
  for k = 0, 7 do
    local information = field(data, 3, 21 + k)
    if information and information ~= 0 then
      table.insert(list, {
        information = information, time_stamp = field(data, 3, 54 + k),
        power_cycle = field(data, 3, 62 + k),
      })
    end
  end
  return list
end

local function heads(data, count)
  local list = bytes.list()
  for head = 0, math.min(count or 0, MAX_HEADS) - 1 do
    local one = {head = head}
    for _, source in ipairs(BY_HEAD) do
      if field(data, source[1], 0) == source[1] then
        one[source[3]] = field(data, source[1], source[2] + head)
      end
    end
    list[head + 1] = one
  end
  return list
end

--- Decode the FARM log.
-- @tparam string data  GP log A6h from its start: pages of 16384 bytes each
-- @treturn table  `supported`, `major minor pages log_size_bytes page_size_bytes heads_supported
--   copies capture_reason`, `drive` (with `power_on_hours spindle_hours head_flying_hours
--   power_cycles serial assembled_year_week recording` ...), `workload`, `errors` (with
--   `assertions[]`), `environment`, `reliability`, `heads[]`; absent are pages and fields that the
--   drive does not give; `warnings`
-- @usage local log = farm.decode(bytes); print(log.drive.power_on_hours)
function M.decode(data)
  local result = bytes.result(data, 72)
  result.supported = field(data, 0, 0) == SIGNATURE
  if not result.supported then
    bytes.warn(result, "signature", "the log has no FARM signature")
    return result
  end
  result.major, result.minor, result.pages = field(data, 0, 1), field(data, 0, 2), field(data, 0, 3)
  result.log_size_bytes, result.page_size_bytes = field(data, 0, 4), field(data, 0, 5)
  result.heads_supported = field(data, 0, 6)
  result.copies = field(data, 0, 7)
  result.capture_reason = field(data, 0, 8)
  if result.page_size_bytes and result.page_size_bytes ~= PAGE then
    bytes.warn(result, "page_size", "FARM pages of %d bytes are not understood",
      result.page_size_bytes)
    return result
  end
  result.drive = drive_section(data)
  result.workload = section(data, 2, WORKLOAD)
  result.errors = section(data, 3, ERRORS)
  if result.errors then result.errors.assertions = assertions(data) end
  result.environment = section(data, 4, ENVIRONMENT)
  result.reliability = section(data, 5, RELIABILITY)
  result.heads = heads(data, result.drive and result.drive.heads)
  if not result.drive then
    bytes.warn(result, "missing_page", "FARM page 1 (drive information) is missing")
  end
  return result
end

return M
