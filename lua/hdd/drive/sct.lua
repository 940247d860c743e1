--- SMART Command Transport: status (log E0h), temperature history (data table 2, log E1h), error
-- recovery time-outs and feature states. None of these pages has a checksum, so that every value is
-- looked at before it is believed.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.sct

local bytes = require "hdd.drive.bytes"

local M = {}

local STATES = {
  [0] = "active", "standby", "sleep", "self-test in background",
  "off-line collection in background", "SCT command in background",
}

-- No drive is made for less.
local MIN_MAX_OPERATING_C = 40

local SMART_STATUS = {[0xc24f] = "passed", [0x2cf4] = "failed"}

-- An old draft of the page had no lowest temperatures and no counters; zeroes are no zero degrees
-- then.
local function is_old(data)
  return bytes.is_zero(data, 201, 1) and bytes.is_zero(data, 203, 1) and bytes.is_zero(data, 206, 8)
end

local function temperatures(data, result)
  local t = {
    current = bytes.celsius(data, 200), cycle_max = bytes.celsius(data, 202),
    life_max = bytes.celsius(data, 204),
  }
  if not result.old_format then
    t.cycle_min, t.life_min = bytes.celsius(data, 201), bytes.celsius(data, 203)
  end
  local max_operating = bytes.s8(data, 205)
  if max_operating and max_operating >= MIN_MAX_OPERATING_C then
    t.max_operating = max_operating
  elseif max_operating and max_operating > 0 then
    bytes.warn(result, "max_operating", "%d °C is no drive's highest operating temperature "
      .. "(the byte was once for an average)", max_operating)
  end
  if t.cycle_min and t.cycle_max and t.cycle_min > t.cycle_max then
    bytes.warn(result, "temperature_range",
      "lowest %d °C above highest %d °C in this power cycle: neither is believed",
      t.cycle_min, t.cycle_max)
    t.cycle_min, t.cycle_max = nil, nil
  end
  if t.life_min and t.life_max and t.life_min > t.life_max then
    bytes.warn(result, "temperature_range",
      "lowest %d °C above highest %d °C of its life: neither is believed",
      t.life_min, t.life_max)
    t.life_min, t.life_max = nil, nil
  end
  if t.cycle_min and t.life_min and t.cycle_min < t.life_min then
    bytes.warn(result, "temperature_range",
      "lowest of this power cycle (%d °C) below lowest of its life (%d °C)",
      t.cycle_min, t.life_min)
  end
  -- A drive without a sensor leaves all at 0.
  if t.current == 0 and (t.cycle_max or 0) == 0 and (t.life_max or 0) == 0
    and (t.life_min or 0) == 0 then
    bytes.warn(result, "no_sensor", "all temperatures are 0 °C: the drive probably has no sensor")
    result.temperature_doubtful = true
  end
  result.temperature_c, result.max_operating_c = t.current, t.max_operating
  result.power_cycle_lowest_c, result.power_cycle_highest_c = t.cycle_min, t.cycle_max
  result.lifetime_lowest_c, result.lifetime_highest_c = t.life_min, t.life_max
end

-- Minutes beyond a limit: more than 2^31 of them are four thousand years.
local function limit_counter(data, at, result, what)
  local value = bytes.u32(data, at)
  if not value or value < 1 << 31 then return value end
  bytes.warn(result, "limit_counter", "%s: %08Xh is no count", what, value)
end

--- Decode the SCT status page.
-- @tparam string data  log E0h, 512 bytes
-- @treturn table  `format_version sct_version sct_level segment_initialised`, `device_state
--   device_state_code`, `busy` (another SCT command is running: send none), `last_command {status
--   action function_code}`, `temperature_c power_cycle_lowest_c power_cycle_highest_c
--   lifetime_lowest_c lifetime_highest_c max_operating_c`, `over_limit_count under_limit_count`,
--   `smart_status` ("passed", "failed"; absent when not told), `smallest_erc_ms`, `old_format`,
--   `vendor_hex`, `warnings`. Of a format that no standard describes only the versions are given.
-- @usage local s = sct.status(page); print(s.format_version, s.temperature_c)
function M.status(data)
  local result = bytes.result(data, 512)
  local version = bytes.u16(data, 0)
  result.format_version, result.sct_version = version, bytes.u16(data, 2)
  if version ~= 2 and version ~= 3 then
    if version == 0 then
      bytes.warn(result, "version", "SCT status is not supported (format version 0)")
    elseif version then
      bytes.warn(result, "version", "SCT status has format version %d, which no standard "
        .. "describes: its values are not read", version)
    end
    if version == 0 or version == 0xffff then result.sct_version = nil end
    return result
  end
  result.sct_level = bytes.u16(data, 4)
  local flags = bytes.u32(data, 6)
  if flags then result.segment_initialised = flags & 1 == 1 end
  result.device_state_code = bytes.u8(data, 10)
  if result.device_state_code then
    result.device_state = STATES[result.device_state_code] or "reserved state"
  end
  local status = bytes.u16(data, 14)
  result.busy = status == 0xffff
  result.last_command = {
    status = status, action = bytes.u16(data, 16), function_code = bytes.u16(data, 18),
  }
  result.old_format = is_old(data)
  temperatures(data, result)
  if not result.old_format then
    result.over_limit_count = limit_counter(data, 206, result, "times over the temperature limit")
    result.under_limit_count = limit_counter(data, 210, result, "times under the temperature limit")
  end
  local word = bytes.u16(data, 214)
  result.smart_status = SMART_STATUS[word]
  if word and word ~= 0 and not result.smart_status then
    bytes.warn(result, "smart_status", "SMART status word %04Xh is neither passed nor failed", word)
  end
  local smallest = bytes.u16(data, 216)
  if smallest and smallest > 0 and smallest < 0x8000 then
    result.smallest_erc_ms = smallest * 100
  end
  if #data >= 512 then result.vendor_hex = bytes.hex(data:sub(481, 512)) end
  return result
end

--- Decode the SCT temperature history.
-- @tparam string data  data table 2 as read from log E1h, 512 bytes
-- @tparam[opt] table options  `index_ahead`: this family's index points one row too far
-- @treturn table  `version sampling_minutes interval_minutes`, `recommended_highest_c
--   recommended_lowest_c limit_highest_c limit_lowest_c`, `size index` as the drive says, `valid`,
--   `rows[]` oldest first `{temperature_c minutes_ago}` (no temperature: none was taken, as before
--   the first use or at power-on; minutes of powered-on time, absent when the drive tells no
--   interval), `doubtful` for a version that no standard describes, `warnings`
-- @usage for _, row in ipairs(sct.history(page).rows) do
--   print(row.minutes_ago, row.temperature_c)
-- end
function M.history(data, options)
  local result = bytes.result(data, 512)
  result.rows = bytes.list()
  result.version = bytes.u16(data, 0)
  result.sampling_minutes, result.interval_minutes = bytes.u16(data, 2), bytes.u16(data, 4)
  result.recommended_highest_c = bytes.celsius(data, 6)
  result.limit_highest_c = bytes.celsius(data, 7)
  result.recommended_lowest_c = bytes.celsius(data, 8)
  result.limit_lowest_c = bytes.celsius(data, 9)
  local size, index = bytes.u16(data, 30), bytes.u16(data, 32)
  result.size, result.index, result.valid = size, index, false
  if not index then return result end
  if result.version ~= 2 and result.version ~= 3 then
    result.doubtful = true
    bytes.warn(result, "version", "the temperature history has version %d, which no standard "
      .. "describes: a guess at best", result.version)
  end
  if size == 0 then
    bytes.warn(result, "empty", "the temperature history has no rows")
    return result
  elseif size > 478 then
    bytes.warn(result, "size",
      "a temperature history of %d rows does not fit its page: no row is read", size)
    return result
  elseif index == 0xffff then
    bytes.warn(result, "never_written", "the temperature history was never written")
    return result
  elseif index >= size then
    bytes.warn_of_index(result, "row", index, size)
    return result
  end
  result.valid = true
  if options and options.index_ahead then index = (index - 1) % size end
  local interval = result.interval_minutes
  if interval == 0 then
    result.interval_minutes = nil
    bytes.warn(result, "interval", "the drive tells no logging interval: the rows have no times")
  end
  if result.sampling_minutes == 0 then result.sampling_minutes = nil end
  for k = 1, size do
    local row = {temperature_c = bytes.celsius(data, 34 + (index + k) % size)}
    if interval > 0 then row.minutes_ago = (size - k) * interval end
    result.rows[k] = row
  end
  return result
end

--- An error recovery time-out.
-- @tparam integer deciseconds  as the drive gives it, in steps of 100 ms; 0 when there is no limit
-- @treturn table  `{enabled, deciseconds, ms}`
-- @usage sct.error_recovery(70)  --> {enabled = true, deciseconds = 70, ms = 7000}
function M.error_recovery(deciseconds)
  return {enabled = deciseconds > 0, deciseconds = deciseconds, ms = deciseconds * 100}
end

local FEATURE_STATES = {
  ["write cache"] = {"as SET FEATURES says", "enabled", "disabled"},
  reordering = {"enabled", "disabled"},
}

--- An SCT feature's state.
-- @tparam string feature  "write cache", "reordering" (of cached writes), "interval" (of the
--   temperature history)
-- @tparam integer value  as the drive gives it
-- @treturn table  `{value, state}`, of "interval" `{value, minutes}`; no state for a value that the
--   standard does not know
-- @usage sct.feature("reordering", 1).state  --> "enabled"
function M.feature(feature, value)
  if feature == "interval" then return {value = value, minutes = value} end
  return {value = value, state = FEATURE_STATES[feature][value]}
end

return M
