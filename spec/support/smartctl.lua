--- smartctl's JSON beside what we say of the same drive: every field that both have.
-- SPDX-License-Identifier: GPL-3.0-or-later
local folders = require "spec.support.drive_folder"
local json = require "dkjson"
local place = require "spec.support.place"
local process = require "spec.support.process"
local sgreplay = require "spec.support.sgreplay"
local shell = require "spec.support.shell"

local M = {}

local function find(list, key, value)
  for _, entry in ipairs(list or {}) do
    if entry[key] == value then return entry end
  end
end

local STATE = {failing_now = "now", failed_past = "past"}

-- Each puts pairs(field, theirs, ours); a field that either lacks is none that both have.
local function identity(put, t, s)
  local id, wwn = s.identity, t.wwn or {}
  put("model_name", t.model_name, id.model)
  put("serial_number", t.serial_number, id.serial)
  put("firmware_version", t.firmware_version, id.firmware)
  put("wwn.naa", wwn.naa, id.wwn_naa)
  put("wwn.oui", wwn.oui, id.wwn_oui)
  put("wwn.id", wwn.id, id.wwn_id)
  put("user_capacity.bytes", (t.user_capacity or {}).bytes, id.size_bytes)
  put("user_capacity.blocks", (t.user_capacity or {}).blocks, id.sectors)
  put("logical_block_size", t.logical_block_size, id.logical_sector_size_bytes)
  put("physical_block_size", t.physical_block_size, id.physical_sector_size_bytes)
  put("rotation_rate", t.rotation_rate, id.rotation_rpm or id.solid_state and 0 or nil)
  put("form_factor.name", (t.form_factor or {}).name, id.form_factor)
  put("smart_status.passed", (t.smart_status or {}).passed, s.smart_status and s.smart_status == "passed")
  put("temperature.current", (t.temperature or {}).current, s.temperature.temperature_c)
  put("power_on_time.hours", (t.power_on_time or {}).hours,
    s.power_on.power_on_hours and s.power_on.power_on_hours // 1)
  put("power_cycle_count", t.power_cycle_count, s.power_cycles and s.power_cycles.power_cycles)
end

local function ata_features(put, t, s)
  local id = s.identity
  local function feature(name) return id.features[name] or {} end
  put("model_family", t.model_family, s.smart and s.smart.family)
  put("ata_version.string", t.ata_version and t.ata_version.string, id.ata_version)
  put("sata_version.string", t.sata_version and t.sata_version.string, id.sata_version)
  local speed = t.interface_speed or {}
  for _, kind in ipairs {"max", "current"} do
    local one = speed[kind]
    put("interface_speed." .. kind, one and one.units_per_second * one.bits_per_unit // 1000000,
      id.link and id.link[kind .. "_mbit_per_s"])
  end
  put("trim.supported", (t.trim or {}).supported, feature("trim").supported)
  put("smart_support.available", (t.smart_support or {}).available, feature("smart").supported)
  put("smart_support.enabled", (t.smart_support or {}).enabled, feature("smart").enabled)
  put("ata_apm.enabled", (t.ata_apm or {}).enabled, feature("advanced_power_management").enabled)
  put("ata_apm.level", (t.ata_apm or {}).level, feature("advanced_power_management").level)
  put("ata_aam.enabled", (t.ata_aam or {}).enabled, feature("automatic_acoustic_management").enabled)
  put("read_lookahead.enabled", (t.read_lookahead or {}).enabled, feature("look_ahead").enabled)
  put("write_cache.enabled", (t.write_cache or {}).enabled, feature("write_cache").enabled)
  local security = id.security or {}
  put("ata_security.enabled", (t.ata_security or {}).enabled, security.enabled)
  put("ata_security.frozen", (t.ata_security or {}).frozen, security.frozen)
  put("ata_sct_capabilities.value", (t.ata_sct_capabilities or {}).value, id.sct and id.sct.value)
end

local function smart_data(put, t, s)
  local data, smart = t.ata_smart_data or {}, s.smart
  if not smart then return end
  local offline, test = data.offline_data_collection or {}, data.self_test or {}
  put("offline.status", (offline.status or {}).value, smart.offline.status)
  put("offline.completion_seconds", offline.completion_seconds, smart.offline.seconds)
  put("self_test.status", (test.status or {}).value, smart.self_test.status)
  for _, kind in ipairs {"short", "extended", "conveyance"} do
    put("polling_minutes." .. kind, (test.polling_minutes or {})[kind], smart.test_minutes[kind])
  end
  local can, caps = data.capabilities or {}, smart.capabilities or {}
  put("capabilities.self_tests", can.self_tests_supported, caps.self_test)
  put("capabilities.conveyance", can.conveyance_self_test_supported, caps.conveyance_self_test)
  put("capabilities.selective", can.selective_self_test_supported, caps.selective_self_test)
  put("capabilities.surface_scan", can.offline_surface_scan_supported, caps.surface_scan)
  put("capabilities.error_logging", can.error_logging_supported, smart.error_logging.supported)
  local table_ = t.ata_smart_attributes or {}
  put("attributes.revision", table_.revision, smart.revision)
  put("attributes.count", table_.table and #table_.table, #smart.attributes)
  for i, a in ipairs(table_.table or {}) do
    local own = smart.attributes[i]
    local name = ("attribute %d."):format(a.id)
    put(name .. "id", a.id, own.id)
    put(name .. "name", a.name, own.label)
    put(name .. "value", a.value, own.value)
    put(name .. "worst", a.worst, own.worst)
    put(name .. "thresh", a.thresh, own.threshold)
    put(name .. "flags", a.flags.value, own.flags)
    put(name .. "when_failed", a.when_failed, STATE[own.state] or "")
    put(name .. "raw.value", a.raw.value, own.raw)
  end
end

local function logs(put, t, s)
  local directory = t.ata_log_directory or {}
  for _, entry in ipairs(directory.table or {}) do
    local gp = find(s.log_directory and s.log_directory.logs, "address", entry.address)
    local smart = find(s.smart_log_directory and s.smart_log_directory.logs, "address", entry.address)
    put(("log %02Xh.gp_sectors"):format(entry.address), entry.gp_sectors, gp and gp.pages)
    put(("log %02Xh.smart_sectors"):format(entry.address), entry.smart_sectors, smart and smart.pages)
  end
  local errors = (t.ata_smart_error_log or {}).extended or (t.ata_smart_error_log or {}).summary
  local own = s.error_log
  if errors and own then
    put("error_log.count", errors.count, own.count)
    for i, e in ipairs(errors.table or {}) do
      local mine = own.entries[i] or {}
      local name = ("error %d."):format(e.error_number)
      put(name .. "error_number", e.error_number, mine.number)
      put(name .. "lifetime_hours", e.lifetime_hours, mine.power_on_hours)
      local registers = e.completion_registers or {}
      put(name .. "error", registers.error, mine.error)
      put(name .. "status", registers.status, mine.status)
      put(name .. "lba", registers.lba, mine.lba)
      put(name .. "command", e.previous_commands and e.previous_commands[1]
        and e.previous_commands[1].registers.command, mine.commands and mine.commands[1]
        and mine.commands[1].command)
    end
  end
  local tests = (t.ata_smart_self_test_log or {}).extended or (t.ata_smart_self_test_log or {}).standard
  if tests and s.self_test_log then
    for i, e in ipairs(tests.table or {}) do
      local mine = s.self_test_log.entries[i] or {}
      local name = ("self-test %d."):format(i)
      put(name .. "type", e.type.value, mine.type_code)
      put(name .. "status", e.status.value, mine.status)
      put(name .. "lifetime_hours", e.lifetime_hours, mine.hours_16_bit)
      put(name .. "lba", e.lba, mine.lba)
    end
  end
  local selective = t.ata_smart_selective_self_test_log
  if selective and s.selective_self_test_log then
    for i, span in ipairs(selective.table) do
      local mine = s.selective_self_test_log.spans[i]
      put(("selective %d.lba_min"):format(i), span.lba_min, mine and mine.first_lba)
      put(("selective %d.lba_max"):format(i), span.lba_max, mine and mine.last_lba)
    end
    put("selective.flags", selective.flags.value, s.selective_self_test_log.flags)
    put("selective.resume", selective.power_up_scan_resume_minutes,
      s.selective_self_test_log.resume_minutes)
  end
end

local function sct(put, t, s)
  local own = s.sct or {}
  local status, mine = t.ata_sct_status, own.status
  if status and mine then
    put("sct.format_version", status.format_version, mine.format_version)
    put("sct.sct_version", status.sct_version, mine.sct_version)
    put("sct.device_state", (status.device_state or {}).value, mine.device_state_code)
    local heat = status.temperature or {}
    put("sct.current", heat.current, mine.temperature_c)
    put("sct.power_cycle_min", heat.power_cycle_min, mine.power_cycle_lowest_c)
    put("sct.power_cycle_max", heat.power_cycle_max, mine.power_cycle_highest_c)
    put("sct.lifetime_min", heat.lifetime_min, mine.lifetime_lowest_c)
    put("sct.lifetime_max", heat.lifetime_max, mine.lifetime_highest_c)
    put("sct.op_limit_max", heat.op_limit_max, mine.max_operating_c)
    put("sct.over_limit_count", heat.over_limit_count, mine.over_limit_count)
    put("sct.under_limit_count", heat.under_limit_count, mine.under_limit_count)
    put("sct.smart_status", (status.smart_status or {}).passed, mine.smart_status and mine.smart_status
      == "passed")
  end
  local history, rows = t.ata_sct_temperature_history, own.temperature_history
  if history and rows then
    put("history.version", history.version, rows.version)
    put("history.sampling", history.sampling_period_minutes, rows.sampling_minutes)
    put("history.interval", history.logging_interval_minutes, rows.interval_minutes)
    put("history.size", history.size, rows.size)
    put("history.index", history.index, rows.index)
    local heat = history.temperature or {}
    put("history.op_limit_min", heat.op_limit_min, rows.recommended_lowest_c)
    put("history.op_limit_max", heat.op_limit_max, rows.recommended_highest_c)
    put("history.limit_min", heat.limit_min, rows.limit_lowest_c)
    put("history.limit_max", heat.limit_max, rows.limit_highest_c)
    for i = 1, #(history.table or {}) do
      local theirs = history.table[i]
      put(("history[%d]"):format(i), theirs ~= json.null and theirs or "none",
        rows.rows[i] and (rows.rows[i].temperature_c or "none"))
    end
  end
  for _, kind in ipairs {"read", "write"} do
    put("erc." .. kind, ((t.ata_sct_erc or {})[kind] or {}).deciseconds,
      ((own.error_recovery or {})[kind] or {}).deciseconds)
  end
end

local function statistics(put, t, s)
  for _, page in ipairs((t.ata_device_statistics or {}).pages or {}) do
    local own = find(s.statistics and s.statistics.pages, "page", page.number)
    for _, f in ipairs(page.table or {}) do
      local mine = own and find(own.statistics, "offset", f.offset) or {}
      local name = ("statistic %d/%d."):format(page.number, f.offset)
      put(name .. "name", f.name, mine.name)
      put(name .. "value", f.value, mine.value)
      put(name .. "flags", f.flags.value, mine.flags)
    end
  end
  for _, c in ipairs((t.sata_phy_event_counters or {}).table or {}) do
    local mine = find(s.phy and s.phy.counters, "id", c.id) or {}
    local name = ("phy %04Xh."):format(c.id)
    put(name .. "size", c.size, mine.size_bytes)
    put(name .. "value", c.value, mine.value)
    put(name .. "overflow", c.overflow, mine.saturated)
    put(name .. "name", c.name, mine.name)
  end
  local pending, own = t.ata_pending_defects_log, s.pending_defects
  if pending and own then
    put("pending_defects.count", pending.count, own.count)
    for i, d in ipairs(pending.table or {}) do
      put(("pending_defects[%d].lba"):format(i), d.lba, own.defects[i] and own.defects[i].lba)
    end
  end
end

local HEALTH = {
  critical_warning = "critical_warning", temperature = "temperature_c",
  available_spare = "available_spare_percent", available_spare_threshold = "spare_threshold_percent",
  percentage_used = "life_used_percent", data_units_read = "data_units_read",
  data_units_written = "data_units_written", host_reads = "host_read_commands",
  host_writes = "host_write_commands", controller_busy_time = "controller_busy_minutes",
  power_cycles = "power_cycles", power_on_hours = "power_on_hours", unsafe_shutdowns = "unsafe_shutdowns",
  media_errors = "media_errors", num_err_log_entries = "error_log_entries",
  warning_temp_time = "warning_temperature_minutes", critical_comp_time = "critical_temperature_minutes",
}

local function nvme(put, t, s)
  put("nvme_version.string", (t.nvme_version or {}).string, s.identity.version)
  put("nvme_total_capacity", t.nvme_total_capacity, s.controller and s.controller.total_capacity_bytes)
  put("nvme_controller_id", t.nvme_controller_id, s.controller and s.controller.controller_id)
  put("nvme_number_of_namespaces", t.nvme_number_of_namespaces, s.controller and s.controller.namespaces)
  local log = t.nvme_smart_health_information_log or {}
  for theirs, ours in pairs(HEALTH) do
    put("health." .. theirs, log[theirs], s.health_log and s.health_log[ours])
  end
  for i, celsius in ipairs(log.temperature_sensors or {}) do
    local sensor = s.health_log and find(s.health_log.sensors, "sensor", i)
    put(("health.sensor[%d]"):format(i), celsius, sensor and sensor.temperature_c)
  end
end

local function scsi(put, t, s)
  local inquiry = s.inquiry or {}
  put("vendor", t.vendor, inquiry.vendor)
  put("product", t.product, inquiry.product)
  put("revision", t.revision, inquiry.revision)
  put("scsi_version", t.scsi_version, s.identity.scsi_version)
  put("logical_unit_id", t.logical_unit_id, s.identity.wwn and "0x" .. s.identity.wwn)
  put("scsi_grown_defect_list", t.scsi_grown_defect_list, s.grown_defects and s.grown_defects.count)
  put("temperature.drive_trip", (t.temperature or {}).drive_trip,
    s.temperature_page and s.temperature_page.reference_c)
  for _, kind in ipairs {"read", "write", "verify"} do
    local theirs, ours = (t.scsi_error_counter_log or {})[kind], s[kind .. "_errors"]
    if theirs and ours then
      put(kind .. ".eccfast", theirs.errors_corrected_by_eccfast, ours.corrected_without_delay)
      put(kind .. ".eccdelayed", theirs.errors_corrected_by_eccdelayed, ours.corrected_with_delay)
      put(kind .. ".rereads", theirs.errors_corrected_by_rereads_rewrites, ours.corrected_by_repetition)
      put(kind .. ".total", theirs.total_errors_corrected, ours.corrected)
      put(kind .. ".algorithm", theirs.correction_algorithm_invocations, ours.correction_runs)
      put(kind .. ".uncorrected", theirs.total_uncorrected_errors, ours.uncorrected)
    end
  end
end

--- Compares.
-- @tparam table theirs  smartctl's JSON
-- @tparam table said    what `hdd.health.read` gave
-- @treturn integer  fields that both have and agree on
-- @treturn {table,...}  the others: `{field, theirs, ours}`
function M.compare(theirs, said)
  local same, differ = 0, {}
  local function put(field, a, b)
    if a == nil or b == nil or a == json.null then return end
    if a == b then same = same + 1 else differ[#differ + 1] = {field = field, theirs = a, ours = b} end
  end
  identity(put, theirs, said)
  if said.kind == "ata" then
    for _, f in ipairs {ata_features, smart_data, logs, sct, statistics} do f(put, theirs, said) end
  elseif said.kind == "nvme" then
    nvme(put, theirs, said)
  else
    scsi(put, theirs, said)
  end
  return same, differ
end

-- smartctl ends where an NVMe drive has no namespace page, as two of the fixtures: it gets another
-- drive's, and what it says of that is not compared.
local function with_namespace(home, drive)
  local page = "nvme_id_ns.bin"
  if not drive:find("^nvme/") or shell.read("spec/fixtures/smart/" .. drive .. "/" .. page) then
    return drive
  end
  local other = assert(shell.read("spec/fixtures/smart/nvme/KXG60ZNV512G_TOSHIBA/" .. page))
  return folders.copy(home, drive, {[page] = other}), true
end

--- What smartctl says of a drive of the fixtures, through the real calls.
-- @tparam string drive  folder of the fixtures: "ata/WD6000HLHX-01JJPV0-a"
-- @treturn table  its JSON
function M.ask(drive)
  local kind = drive:match("^%l+")
  local home <close> = place.new()
  local folder, borrowed = with_namespace(home, drive)
  local env, path = sgreplay.environment(folder)
  local r = process.run({"smartctl", "-j", "-x", "-g", "all", "-d", kind == "ata" and "sat" or kind, path},
    {env = env})
  local said = assert(json.decode(r.stdout, 1, json.null), drive .. ": no JSON: " .. r.stdout:sub(1, 200))
  if borrowed then said.user_capacity, said.logical_block_size = nil, nil end
  return said
end

return M
