--- NVMe Identify: who a controller is and what it can do, and how large a namespace is.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.nvme_identify

local bytes = require "hdd.drive.bytes"
local nvme_bytes = require "hdd.drive.nvme_bytes"

local M = {}

-- Feature = byte of its field, bytes in it, bit.
local FEATURES = {
  security = {256, 2, 0}, format = {256, 2, 1}, download_firmware = {256, 2, 2},
  namespace_management = {256, 2, 3}, self_test = {256, 2, 4}, directives = {256, 2, 5},
  management_interface = {256, 2, 6}, virtualization = {256, 2, 7}, doorbell_buffer = {256, 2, 8},
  lba_status = {256, 2, 9}, health_log_per_namespace = {261, 1, 0}, commands_log = {261, 1, 1},
  long_log_reads = {261, 1, 2}, telemetry = {261, 1, 3}, persistent_event_log = {261, 1, 4},
  host_thermal_management = {322, 2, 0}, sanitize_crypto_erase = {328, 4, 0},
  sanitize_block_erase = {328, 4, 1}, sanitize_overwrite = {328, 4, 2}, compare = {520, 2, 0},
  write_uncorrectable = {520, 2, 1}, trim = {520, 2, 2}, write_zeroes = {520, 2, 3},
  saved_features = {520, 2, 4}, reservations = {520, 2, 5}, timestamp = {520, 2, 6},
  verify = {520, 2, 7}, copy = {520, 2, 8}, write_cache = {525, 1, 0},
}

local CONTROLLERS = {"I/O", "discovery", "administrative"}

local function features(data)
  local list = {}
  for name, f in pairs(FEATURES) do
    local field = bytes.number(data, f[1], f[2])
    if field then list[name] = {supported = field >> f[3] & 1 == 1} end
  end
  return list
end

local function version(code)
  if not code or code == 0 or code == 0xffffffff then return nil end
  local major, minor, tertiary = code >> 16, code >> 8 & 255, code & 255
  if tertiary == 0 then return ("%d.%d"):format(major, minor) end
  return ("%d.%d.%d"):format(major, minor, tertiary)
end

-- A field in which 0 means "not reported".
local function reported(n)
  if n ~= 0 then return n end
end

-- One less is stored than is meant.
local function from_zero(n) return n and n + 1 end

local function power_states(data, last)
  local list = bytes.list()
  for k = 0, math.min(last or -1, 31) do
    local at = 2048 + k * 32
    local power, flags = bytes.u16(data, at), bytes.u8(data, at + 3)
    if not flags then break end
    -- Of the page's second half nothing may have been read: such a state is all zero.
    if not bytes.is_zero(data, at, 32) then
      -- In 0.1 mW or in 10 mW.
      local unit_uw = flags & 1 == 1 and 100 or 10000
      table.insert(list, {
        state = k, operational = flags & 2 == 0, max_power_uw = reported(power * unit_uw),
        entry_us = reported(bytes.u32(data, at + 4)), exit_us = reported(bytes.u32(data, at + 8)),
      })
    end
  end
  return list
end

local function firmware_slots(data)
  local field = bytes.u8(data, 260)
  if not field then return nil end
  return {
    count = field >> 1 & 7, first_is_read_only = field & 1 == 1,
    activation_without_reset = field >> 4 & 1 == 1,
  }
end

-- The largest transfer, in units of the controller's smallest page, which no log tells.
local function max_transfer(data)
  local power = bytes.u8(data, 77)
  if power and power > 0 and power < 32 then return 1 << power end
end

local TEMPERATURES = {
  {"warning_temperature_c", 266}, {"critical_temperature_c", 268},
  {"lowest_managed_temperature_c", 324}, {"highest_managed_temperature_c", 326},
}

local function temperatures(data, result)
  for _, t in ipairs(TEMPERATURES) do
    local key = t[1]
    local celsius, kelvin = nvme_bytes.celsius(data, t[2])
    result[key] = celsius
    if kelvin then bytes.warn(result, "temperature", "%s: %d K is not believed", key, kelvin) end
  end
end

--- Decode Identify Controller. Absent keys were not reported.
-- @tparam string data  4096 bytes (fewer leave fields absent)
-- @treturn table  `model serial firmware`, `vendor_id subsystem_vendor_id ieee_oui controller_id`
--   (integers), `version` ("1.3"), `version_code`, `controller_type`, `nqn`, `arbitration_burst`,
--   `max_transfer_pages` (of the controller's own page size), `resume_latency_us entry_latency_us`,
--   `aborts_at_once events_at_once error_log_entries`, `firmware_slots {count first_is_read_only
--   activation_without_reset}`, `features {NAME = {supported}}`, `admin_commands log_attributes
--   sanitize_capabilities` (their bits as read), `warning_temperature_c critical_temperature_c
--   lowest_managed_temperature_c highest_managed_temperature_c`, `total_capacity_bytes
--   unallocated_capacity_bytes` (a string of digits above 2^63-1), `extended_self_test_minutes`,
--   `host_buffer_wanted_bytes`, `namespaces`, `power_state_count`, `power_states[] {state
--   operational max_power_uw entry_us exit_us}`, `solid_state`, `warnings`
-- @usage local id = nvme_identify.controller(page); print(id.model, id.warning_temperature_c)
function M.controller(data)
  local result = bytes.result(data, 4096)
  result.vendor_id, result.subsystem_vendor_id = bytes.u16(data, 0), bytes.u16(data, 2)
  result.serial, result.model = bytes.text(data:sub(5, 24)), bytes.text(data:sub(25, 64))
  result.firmware = bytes.text(data:sub(65, 72))
  if not result.model then
    bytes.warn(result, "no_model", "Identify Controller holds no model name")
  end
  result.arbitration_burst = bytes.u8(data, 72)
  result.ieee_oui = bytes.number(data, 73, 3)
  result.max_transfer_pages = max_transfer(data)
  result.controller_id = bytes.u16(data, 78)
  result.version_code = bytes.u32(data, 80)
  result.version = version(result.version_code)
  result.resume_latency_us = reported(bytes.u32(data, 84))
  result.entry_latency_us = reported(bytes.u32(data, 88))
  result.controller_type = CONTROLLERS[bytes.u8(data, 111)]
  result.admin_commands, result.log_attributes = bytes.u16(data, 256), bytes.u8(data, 261)
  result.aborts_at_once = from_zero(bytes.u8(data, 258))
  result.events_at_once = from_zero(bytes.u8(data, 259))
  result.firmware_slots = firmware_slots(data)
  result.error_log_entries = from_zero(bytes.u8(data, 262))
  result.power_state_count = from_zero(bytes.u8(data, 263))
  temperatures(data, result)
  result.host_buffer_wanted_bytes = reported((bytes.u32(data, 272) or 0) * 4096)
  result.total_capacity_bytes = reported(nvme_bytes.counter(data, 280))
  if result.total_capacity_bytes then
    result.unallocated_capacity_bytes = nvme_bytes.counter(data, 296)
  end
  result.extended_self_test_minutes = reported(bytes.u16(data, 316))
  result.sanitize_capabilities = bytes.u32(data, 328)
  result.namespaces = reported(bytes.u32(data, 516))
  result.features = features(data)
  result.nqn = bytes.text((data:sub(769, 1024):gsub("%z.*", "")))
  result.power_states = power_states(data, bytes.u8(data, 263))
  result.solid_state = true
  return result
end

-- The format in use: the low four bits, and two more above where there are more than 16 formats.
local function format_number(flags, formats)
  return flags & 15 | (formats > 16 and flags >> 5 & 3 or 0) << 4
end

local function blocks_in_bytes(blocks, size)
  if not blocks or not size or blocks < 0 or blocks > math.maxinteger // size then return nil end
  return blocks * size
end

local function identifier(data, offset, length)
  if #data >= offset + length and not bytes.is_zero(data, offset, length) then
    return bytes.hex(data:sub(offset + 1, offset + length))
  end
end

--- Decode Identify Namespace.
-- @tparam string data  4096 bytes (fewer leave fields absent)
-- @treturn table  `blocks capacity_blocks used_blocks` (a string of digits above 2^63-1),
--   `size_bytes capacity_bytes used_bytes`, `logical_sector_size_bytes metadata_bytes`, `formats[]
--   {number logical_sector_size_bytes metadata_bytes relative_performance in_use}`,
--   `thin_provisioned`, `nvm_capacity_bytes`, `eui64 nguid` (hexadecimal digits), `warnings`; a
--   namespace that is not there is all zero and has no blocks
-- @usage local ns = nvme_identify.namespace(page); print(ns.size_bytes)
function M.namespace(data)
  local result = bytes.result(data, 4096)
  local blocks, capacity, used = bytes.u64(data, 0), bytes.u64(data, 8), bytes.u64(data, 16)
  result.blocks, result.capacity_blocks = bytes.unsigned(blocks), bytes.unsigned(capacity)
  result.used_blocks = bytes.unsigned(used)
  result.formats = bytes.list()
  local traits, last, in_use = bytes.u8(data, 24), bytes.u8(data, 25), bytes.u8(data, 26)
  if traits then result.thin_provisioned = traits & 1 == 1 end
  if not in_use then return result end
  if last > 63 then
    bytes.warn(result, "formats", "%d formats are more than there can be", last + 1)
  end
  local number = format_number(in_use, last + 1)
  for k = 0, math.min(last, 63) do
    local format = bytes.u32(data, 128 + k * 4)
    if not format then break end
    local power = format >> 16 & 255
    -- Two to the power of 9 is the least there is; 0 marks an unused format.
    if power >= 9 and power <= 24 then
      local size, metadata = 1 << power, format & 0xffff
      table.insert(result.formats, {
        number = k, logical_sector_size_bytes = size, metadata_bytes = metadata,
        relative_performance = format >> 24 & 3, in_use = k == number,
      })
      if k == number then
        result.logical_sector_size_bytes, result.metadata_bytes = size, metadata
      end
    end
  end
  local size = result.logical_sector_size_bytes
  if not size and blocks ~= 0 then
    bytes.warn(result, "sector_size", "format %d, in use, has no block size that can be believed",
      number)
  end
  result.size_bytes = blocks_in_bytes(blocks, size)
  result.capacity_bytes = blocks_in_bytes(capacity, size)
  result.used_bytes = blocks_in_bytes(used, size)
  result.nvm_capacity_bytes = reported(nvme_bytes.counter(data, 48))
  result.nguid, result.eui64 = identifier(data, 104, 16), identifier(data, 120, 8)
  return result
end

return M
