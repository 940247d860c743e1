--- NVMe SMART / Health Information (log 02h): the drive's own warnings, wear, temperatures,
-- counters.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.nvme_health

local bytes = require "hdd.drive.bytes"
local nvme_bytes = require "hdd.drive.nvme_bytes"

local M = {}

-- The bits of the critical warning.
local WARNINGS = {
  [0] = {"spare", "its spare blocks are nearly used up"},
  {"temperature", "its temperature is over or under a limit"},
  {"reliability", "its reliability is degraded by errors of the medium or within"},
  {"read_only", "it has become read-only"},
  {"backup", "the backup of its volatile memory has failed"},
  {"persistent_memory", "its persistent memory region is read-only or unreliable"},
}

local RESERVED = {"reserved", "a bit that no standard describes"}

-- A data unit is 1000 blocks of 512 bytes, whatever the namespace's block size.
local DATA_UNIT_BYTES <const> = 512000

local COUNTERS = {
  [32] = "data_units_read", [48] = "data_units_written", [64] = "host_read_commands",
  [80] = "host_write_commands", [96] = "controller_busy_minutes", [112] = "power_cycles",
  [128] = "power_on_hours", [144] = "unsafe_shutdowns", [160] = "media_errors",
  [176] = "error_log_entries",
}

local function critical_warnings(result)
  result.critical_warnings = bytes.list()
  for bit = 0, 7 do
    if (result.critical_warning or 0) >> bit & 1 == 1 then
      local known = WARNINGS[bit] or RESERVED
      table.insert(result.critical_warnings, {bit = bit, name = known[1], message = known[2]})
      if known == RESERVED then
        bytes.warn(result, "reserved_bit", "bit %d of the critical warning is reserved", bit)
      end
    end
  end
end

local function percent(result, key, value, limit)
  if value and value > limit then
    bytes.warn(result, "percentage", "%s: %d %% is not believed", key, value)
  else
    result[key] = value
  end
end

local function temperatures(data, result)
  local kelvin
  result.temperature_c, kelvin = nvme_bytes.celsius(data, 1)
  if kelvin then bytes.warn(result, "temperature", "temperature: %d K is not believed", kelvin) end
  result.sensors = bytes.list()
  for k = 1, 8 do
    local celsius, odd = nvme_bytes.celsius(data, 198 + k * 2)
    if celsius then table.insert(result.sensors, {sensor = k, temperature_c = celsius}) end
    if odd then bytes.warn(result, "temperature", "sensor %d: %d K is not believed", k, odd) end
  end
end

-- Drives without thresholds (older than version 1.2) do not count the time above them: zeroes there
-- are no times.
local function times_too_hot(data, result, controller)
  local warning, critical = bytes.u32(data, 192), bytes.u32(data, 196)
  local told = not controller or controller.warning_temperature_c
    or controller.critical_temperature_c
  if told or warning ~= 0 then result.warning_temperature_minutes = warning end
  if told or critical ~= 0 then result.critical_temperature_minutes = critical end
  if bytes.is_zero(data, 216, 16) then return end
  result.throttling = {
    light_count = bytes.u32(data, 216), heavy_count = bytes.u32(data, 220),
    light_s = bytes.u32(data, 224), heavy_s = bytes.u32(data, 228),
  }
end

local function check(data, result)
  if #data > 0 and not data:find("[^\xff]") then
    result.doubtful = true
    bytes.warn(result, "all_ones",
      "every byte of the log is FFh: the drive did not answer, nothing in it is believed")
  end
  local busy, hours = result.controller_busy_minutes, result.power_on_hours
  if math.type(busy) == "integer" and math.type(hours) == "integer" and busy // 60 > hours + 1 then
    bytes.warn(result, "busy_time",
      "%d busy minutes are more than the %d power-on hours: not minutes", busy, hours)
  end
end

--- Decode the SMART / Health log.
-- @tparam string data  log 02h, 512 bytes
-- @tparam[opt] table controller  from `nvme_identify.controller`: says whether the drive has
--   temperature limits
-- @treturn table  `critical_warning` (bits), `critical_warnings[] {bit name message}` for those
--   set, `temperature_c` (absent when not reported), `sensors[] {sensor temperature_c}`,
--   `available_spare_percent spare_threshold_percent life_used_percent` (up to 255: wear may exceed
--   what was planned), `endurance_group_warning`, counters: `data_units_read data_units_written
--   data_read_bytes data_written_bytes host_read_commands host_write_commands
--   controller_busy_minutes power_cycles power_on_hours unsafe_shutdowns media_errors
--   error_log_entries`, each an integer, above 2^63-1 a string of its digits;
--   `warning_temperature_minutes critical_temperature_minutes`, `throttling {light_count
--   heavy_count light_s heavy_s}`, `doubtful` when nothing should be believed, `warnings`
-- @usage local h = nvme_health.decode(page); print(h.temperature_c, h.life_used_percent)
function M.decode(data, controller)
  local result = bytes.result(data, 512)
  result.critical_warning = bytes.u8(data, 0)
  critical_warnings(result)
  temperatures(data, result)
  percent(result, "available_spare_percent", bytes.u8(data, 3), 100)
  percent(result, "spare_threshold_percent", bytes.u8(data, 4), 100)
  result.life_used_percent = bytes.u8(data, 5)
  result.endurance_group_warning = bytes.u8(data, 6)
  for at, key in pairs(COUNTERS) do result[key] = nvme_bytes.counter(data, at) end
  result.data_read_bytes = nvme_bytes.counter(data, 32, DATA_UNIT_BYTES)
  result.data_written_bytes = nvme_bytes.counter(data, 48, DATA_UNIT_BYTES)
  times_too_hot(data, result, controller)
  check(data, result)
  return result
end

return M
