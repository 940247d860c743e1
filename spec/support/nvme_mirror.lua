--- What our decoders made of an NVMe drive, put into the shape of a fixture's expected.json, so that
-- the two can be compared value by value. Nothing here looks at the expected values.
-- SPDX-License-Identifier: GPL-3.0-or-later
local json = require "dkjson"

local M = {}

local function kelvin(celsius) return celsius and celsius + 273 end

local function less_one(n) return n and n - 1 end

local function identity(c)
  return {
    vid = c.vendor_id, ssvid = c.subsystem_vendor_id, ieee_oui = c.ieee_oui,
    cntlid = c.controller_id,
    version = c.version_code, rab = c.arbitration_burst,
    -- A power of two with us.
    mdts = c.max_transfer_pages and math.tointeger(math.log(c.max_transfer_pages, 2)),
    rtd3r_us = c.resume_latency_us, rtd3e_us = c.entry_latency_us, oacs = c.admin_commands,
    -- Counted from 0 with them.
    acl = less_one(c.aborts_at_once), aerl = less_one(c.events_at_once),
    elpe = less_one(c.error_log_entries),
    npss = less_one(c.power_state_count), lpa = c.log_attributes,
    frmw = c.firmware_slots.count << 1 | (c.firmware_slots.first_is_read_only and 1 or 0)
      | (c.firmware_slots.activation_without_reset and 16 or 0),
    wctemp_kelvin = kelvin(c.warning_temperature_c),
    cctemp_kelvin = kelvin(c.critical_temperature_c),
    mntmt_kelvin = kelvin(c.lowest_managed_temperature_c),
    mxtmt_kelvin = kelvin(c.highest_managed_temperature_c),
    -- Absent with us when it is not told, which is 0 in the page.
    total_capacity = c.total_capacity_bytes or 0,
    unallocated_capacity = c.unallocated_capacity_bytes or 0,
    nn = c.namespaces, edstt_minutes = c.extended_self_test_minutes,
    hctma = c.features.host_thermal_management.supported and 1 or 0,
    sanicap = c.sanitize_capabilities,
  }
end

local SAME = {
  "critical_warning", "data_units_read", "data_units_written", "power_cycles", "power_on_hours",
  "unsafe_shutdowns",
  "media_errors",
}

local function health(h)
  local said = {
    temperature_kelvin = kelvin(h.temperature_c), temperature_celsius = h.temperature_c,
    available_spare = h.available_spare_percent,
    available_spare_threshold = h.spare_threshold_percent,
    percentage_used = h.life_used_percent, host_reads = h.host_read_commands,
    host_writes = h.host_write_commands,
    controller_busy_time = h.controller_busy_minutes, num_err_log_entries = h.error_log_entries,
    warning_temp_time = h.warning_temperature_minutes,
    critical_comp_time = h.critical_temperature_minutes,
    temperature_sensors_kelvin = {}, temperature_sensors_celsius = {},
  }
  for _, key in ipairs(SAME) do said[key] = h[key] end
  local last = h.sensors[#h.sensors]
  for k = 1, last and last.sensor or 0 do
    said.temperature_sensors_kelvin[k], said.temperature_sensors_celsius[k] = json.null, json.null
  end
  for _, s in ipairs(h.sensors) do
    said.temperature_sensors_kelvin[s.sensor] = kelvin(s.temperature_c)
    said.temperature_sensors_celsius[s.sensor] = s.temperature_c
  end
  return said
end

--- Our values in the shape of expected.json.
-- @tparam table said  from hdd.drive.nvme
-- @treturn table
function M.of(said)
  local c, ns = said.controller, said.namespace
  return {
    model = c.model, serial = c.serial, firmware = c.firmware, identify = identity(c),
    health = health(said.health_log),
    namespace = ns and {
      nsze = ns.blocks, ncap = ns.capacity_blocks, nuse = ns.used_blocks,
      lba_size = ns.logical_sector_size_bytes,
    },
  }
end

return M
