--- What drives say of themselves as OpenMetrics text, for node_exporter's textfile collector: under
-- smartctl_exporter's names where it has one, so that dashboards and alerts go on working, and
-- under `hddlua_` what nobody else tells. The text is right in Prometheus' older format as well.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.openmetrics
local device_statistics = require "hdd.drive.device_statistics"
local printable = require "hdd.printable"
local units = require "hdd.units"

local M = {}

-- name, type, help, in the order of the text.
local FAMILIES = {
  {"smartctl_device", "gauge", "Device info"},
  {"smartctl_device_capacity_bytes", "gauge", "Device capacity in bytes"},
  {"smartctl_device_capacity_blocks", "gauge", "Device capacity in blocks"},
  {"smartctl_device_block_size", "gauge", "Device block size"},
  {"smartctl_device_interface_speed", "gauge", "Device interface speed, bits per second"},
  {"smartctl_device_rotation_rate", "gauge", "Device rotation rate"},
  {"smartctl_device_smart_status", "gauge", "General smart status: 1 good, 0 failing"},
  {"smartctl_device_temperature", "gauge", "Device temperature celsius"},
  {"smartctl_device_power_on_seconds", "gauge", "Device power on seconds"},
  {"smartctl_device_power_cycle_count", "gauge", "Device power cycle count"},
  {"smartctl_device_attribute", "gauge", "Device attributes"},
  {"smartctl_device_statistics", "gauge", "Device statistics"},
  {"smartctl_device_error_log_count", "gauge", "Device SMART error log count"},
  {"smartctl_device_self_test_log_count", "gauge", "Device SMART self test log count"},
  {"smartctl_device_self_test_log_error_count", "gauge", "Device SMART self test log error count"},
  {"smartctl_device_erc_seconds", "gauge", "Device SMART Error Recovery Control Seconds"},
  {"smartctl_device_percentage_used", "gauge", "Device write percentage used"},
  {"smartctl_device_available_spare", "gauge", "Percentage of the spare capacity left"},
  {"smartctl_device_available_spare_threshold", "gauge", "Spare below which the drive warns"},
  {"smartctl_device_critical_warning", "gauge", "Critical warnings of the controller, as bits"},
  {"smartctl_device_media_errors", "gauge", "Unrecovered data integrity errors"},
  {"smartctl_device_num_err_log_entries", "gauge", "Error information log entries over its life"},
  {"smartctl_device_bytes_read", "gauge", "Bytes that hosts have read"},
  {"smartctl_device_bytes_written", "gauge", "Bytes that hosts have written"},
  {"smartctl_scsi_grown_defect_list", "gauge", "Device SCSI grown defect list counter"},
  {"smartctl_read_total_uncorrected_errors", "gauge", "Read total uncorrected errors"},
  {"smartctl_write_total_uncorrected_errors", "gauge", "Write total uncorrected errors"},
  {"hddlua_drive_read", "gauge", "1: the drive was read, 0: it could not be"},
  {"hddlua_drive_standby", "gauge", "1: the drive was asleep, and was left so"},
  {"hddlua_health", "gauge", "The verdict: 1 for the one that holds"},
  {"hddlua_health_reasons", "gauge", "Reasons of the verdict, by severity"},
  {"hddlua_phy_events", "counter", "SATA Phy event counters since their reset"},
  {"hddlua_phy_event_saturated", "gauge", "1: the counter is full, there may have been more"},
  {"hddlua_pending_defects", "gauge", "Sectors in the pending defects log"},
  {"hddlua_temperature_limit_celsius", "gauge", "The drive's own highest operating temperature"},
  {"hddlua_sct_temperature_celsius", "gauge", "SCT: lowest and highest temperatures"},
  {"hddlua_sct_over_limit", "gauge", "SCT: how often the drive was over its temperature limit"},
}

local function escape(text)
  return (printable.utf8(tostring(text)):gsub("\\", "\\\\"):gsub("\n", "\\n"):gsub('"', '\\"'))
end

local function number(value)
  if type(value) == "boolean" then return value and "1" or "0" end
  if type(value) == "string" then return value end -- digits beyond 2^63
  return units.exact(value)
end

local Metrics = {}
Metrics.__index = Metrics

-- labels: a list of name, value; a value of nil is an empty one.
function Metrics:add(name, labels, value, suffix)
  if value == nil or value ~= value or value == math.huge or value == -math.huge then return end
  local texts = {}
  for i = 1, #labels, 2 do
    texts[#texts + 1] = ('%s="%s"'):format(labels[i], escape(labels[i + 1]))
  end
  self[name] = self[name] or {}
  table.insert(self[name], ("%s%s{%s} %s"):format(name, suffix or "", table.concat(texts, ","),
    number(value)))
end

-- "PO--CK" of smartctl, and its long form.
local LETTERS = {"P", "O", "S", "R", "C", "K"}
local LONG = {
  "prefailure", "updated_online", "performance", "error_rate", "event_count", "auto_keep",
}

local function flags(value, letters, none, separator)
  local list = {}
  for bit, letter in ipairs(letters) do
    if value >> (bit - 1) & 1 == 1 then list[#list + 1] = letter
    elseif none then list[#list + 1] = none end
  end
  return table.concat(list, separator)
end

local function attributes(m, device, said)
  for _, a in ipairs(said.smart and said.smart.attributes or {}) do
    local function put(kind, value)
      m:add("smartctl_device_attribute", {
        "device", device, "attribute_name", a.label,
        "attribute_flags_short", flags(a.flags, LETTERS, "-", ""),
        "attribute_flags_long", flags(a.flags, LONG, nil, ","),
        "attribute_value_type", kind, "attribute_id", a.id,
      }, value)
    end
    put("value", a.value)
    put("worst", a.worst)
    put("thresh", a.threshold)
    put("raw", a.raw)
  end
end

local function info(m, device, said)
  local id = said.identity or {}
  m:add("smartctl_device", {
    "device", device, "interface", said.kind == "ata" and "sat" or said.kind,
    "protocol", ({ata = "ATA", nvme = "NVMe", scsi = "SCSI"})[said.kind],
    "model_family", said.smart and said.smart.family or "", "model_name", id.model or "",
    "serial_number", id.serial or "", "ata_additional_product_id", id.additional_product_id or "",
    "firmware_version", id.firmware or "", "ata_version", id.ata_version or "",
    "sata_version", id.sata_version or "", "form_factor", id.form_factor or "",
  }, 1)
  local d = {"device", device}
  m:add("smartctl_device_capacity_bytes", d, id.size_bytes)
  m:add("smartctl_device_capacity_blocks", d, id.sectors)
  m:add("smartctl_device_block_size", {"device", device, "blocks_type", "logical"},
    id.logical_sector_size_bytes)
  m:add("smartctl_device_block_size", {"device", device, "blocks_type", "physical"},
    id.physical_sector_size_bytes)
  m:add("smartctl_device_rotation_rate", d, id.rotation_rpm or id.solid_state and 0 or nil)
  local link = id.link or {}
  for _, kind in ipairs {"max", "current"} do
    local speed = link[kind .. "_mbit_per_s"]
    m:add("smartctl_device_interface_speed", {"device", device, "speed_type", kind},
      speed and speed * 1000000)
  end
end

local function vitals(m, device, said)
  local d = {"device", device}
  local id, own = said.identity or {}, nil
  for _, r in ipairs(said.verdict.reasons) do
    if r.name == "own_status" and r.severity ~= "unknown" then
      own = own ~= false and r.severity ~= "failing"
    end
  end
  m:add("smartctl_device_smart_status", d, own)
  m:add("smartctl_device_temperature", {"device", device, "temperature_type", "current"},
    said.temperature and said.temperature.temperature_c)
  m:add("smartctl_device_temperature", {"device", device, "temperature_type", "drive_trip"},
    said.kind == "scsi" and said.temperature_page and said.temperature_page.reference_c or nil)
  local hours = said.power_on and said.power_on.power_on_hours
  m:add("smartctl_device_power_on_seconds", d, hours and math.floor(hours * 3600 + 0.5))
  m:add("smartctl_device_power_cycle_count", d,
    said.power_cycles and said.power_cycles.power_cycles)
  local status = said.sct and said.sct.status or {}
  m:add("hddlua_temperature_limit_celsius", {"device", device, "model_name", id.model or "",
    "serial_number", id.serial or ""}, status.max_operating_c or id.warning_temperature_c)
end

local function logs(m, device, said)
  local d = {"device", device}
  if said.kind == "ata" then
    m:add("smartctl_device_error_log_count", {"device", device, "error_log_type",
      said.error_log and said.error_log.pages and "extended" or "summary"},
      said.error_log and said.error_log.count)
  end
  local tests = said.self_test_log
  if tests then
    local failed = 0
    for _, e in ipairs(tests.entries) do failed = failed + (e.failed and 1 or 0) end
    local labels = {
      "device", device, "self_test_log_type", tests.pages and "extended" or "standard",
    }
    m:add("smartctl_device_self_test_log_count", labels, #tests.entries)
    m:add("smartctl_device_self_test_log_error_count", labels, failed)
  end
  local erc = said.sct and said.sct.error_recovery or {}
  for _, kind in ipairs {"read", "write"} do
    m:add("smartctl_device_erc_seconds", {"device", device, "op_type", kind},
      erc[kind] and erc[kind].ms / 1000)
  end
  for _, page in ipairs(said.statistics and said.statistics.pages or {}) do
    for _, f in ipairs(page.statistics) do
      m:add("smartctl_device_statistics", {"device", device, "statistic_table", page.name,
        "statistic_name", f.name}, f.value)
    end
  end
  local h = said.health_log
  if h and not h.doubtful then
    m:add("smartctl_device_percentage_used", d, h.life_used_percent)
    m:add("smartctl_device_available_spare", d, h.available_spare_percent)
    m:add("smartctl_device_available_spare_threshold", d, h.spare_threshold_percent)
    m:add("smartctl_device_critical_warning", d, h.critical_warning)
    m:add("smartctl_device_media_errors", d, h.media_errors)
    m:add("smartctl_device_num_err_log_entries", d, h.error_log_entries)
    m:add("smartctl_device_bytes_read", d, h.data_read_bytes)
    m:add("smartctl_device_bytes_written", d, h.data_written_bytes)
  else
    m:add("smartctl_device_percentage_used", d,
      device_statistics.value(said.statistics, "life_used_percent"))
  end
  m:add("smartctl_scsi_grown_defect_list", d, said.grown_defects and said.grown_defects.count)
  for _, kind in ipairs {"read", "write"} do
    local counters = said[kind .. "_errors"]
    m:add(("smartctl_%s_total_uncorrected_errors"):format(kind), d,
      counters and counters.uncorrected)
  end
end

local function ours(m, device, said)
  local id = said.identity or {}
  local function labels(...)
    return {"device", device, "model_name", id.model or "", "serial_number", id.serial or "", ...}
  end
  for _, status in ipairs {"good", "warning", "failing", "unknown"} do
    m:add("hddlua_health", labels("status", status), said.verdict.status == status)
  end
  local counts = {failing = 0, warning = 0, unknown = 0, notice = 0, good = 0}
  for _, r in ipairs(said.verdict.reasons) do counts[r.severity] = counts[r.severity] + 1 end
  for _, severity in ipairs {"failing", "warning", "unknown", "notice", "good"} do
    m:add("hddlua_health_reasons", labels("severity", severity), counts[severity])
  end
  for _, c in ipairs(said.phy and said.phy.counters or {}) do
    local of = labels("id", ("0x%04x"):format(c.id), "name", c.name)
    m:add("hddlua_phy_events", of, c.value, "_total")
    m:add("hddlua_phy_event_saturated", of, c.saturated or false)
  end
  m:add("hddlua_pending_defects", labels(), said.pending_defects and said.pending_defects.count)
  local status = said.sct and said.sct.status
  if status and not status.temperature_doubtful then
    for _, kind in ipairs {"power_cycle_lowest", "power_cycle_highest", "lifetime_lowest",
      "lifetime_highest"} do
      m:add("hddlua_sct_temperature_celsius", labels("type", kind), status[kind .. "_c"])
    end
    m:add("hddlua_sct_over_limit", labels(), status.over_limit_count)
  end
end

--- The text.
-- @tparam {table,...} states  each `path`, and `said` (what `hdd.health.read` gave), `asleep`,
--   `message` (why it could not be read)
-- @treturn string
-- @usage file.write("drives.prom", openmetrics.text({{path = "/dev/sdb", said = drive:smart()}}),
--   {force = true})
function M.text(states)
  local m = setmetatable({}, Metrics)
  for _, state in ipairs(states) do
    local device = state.path:match("^/dev/(.+)$") or state.path
    m:add("hddlua_drive_read", {"device", device},
      state.said ~= nil and not state.asleep and not state.message)
    m:add("hddlua_drive_standby", {"device", device}, state.asleep or false)
    -- What is not known now is not told: an old value would look like one.
    if state.said and not state.asleep and not state.message then
      info(m, device, state.said)
      vitals(m, device, state.said)
      attributes(m, device, state.said)
      logs(m, device, state.said)
      ours(m, device, state.said)
    end
  end
  local lines = {}
  for _, family in ipairs(FAMILIES) do
    local name = family[1]
    if m[name] then
      lines[#lines + 1] = ("# HELP %s %s"):format(name, family[3])
      lines[#lines + 1] = ("# TYPE %s %s"):format(name, family[2])
      table.move(m[name], 1, #m[name], #lines + 1, lines)
    end
  end
  lines[#lines + 1] = "# EOF"
  return table.concat(lines, "\n") .. "\n"
end

return M
