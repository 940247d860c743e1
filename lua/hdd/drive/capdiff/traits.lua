-- What a drive is, can do and is set to, as named facts: put(group, name, what, value). What it
-- can't do is no fact, so that "no" and "not told" are alike. Facts come in sections; one that was
-- not
-- read of both drives says nothing about a difference.
-- SPDX-License-Identifier: GPL-3.0-or-later

local IDENTITY = {
  {"model", "model"}, {"serial", "serial number"}, {"firmware", "firmware"},
  {"additional_product_id", "additional product identifier"}, {"wwn", "world wide name"},
  {"size_bytes", "size in bytes"}, {"logical_sector_size_bytes", "logical block size"},
  {"physical_sector_size_bytes", "physical block size"}, {"rotation_rpm", "rotation rate"},
  {"solid_state", "solid state"}, {"form_factor", "form factor"}, {"zoned", "zoned"},
}

local STANDARDS = {
  {"ata_standard", "ATA standard"}, {"ata_version", "ATA version"},
  {"sata_version", "SATA version"},
  {"version", "NVMe version"}, {"scsi_version", "SCSI version"}, {"transport", "transport"},
  {"protection_type", "protection information type"},
  {"warning_temperature_c", "temperature at which the drive warns"},
  {"critical_temperature_c", "critical temperature"},
}

local function spaced(name) return (name:gsub("_", " ")) end

-- In order, so that two runs list alike.
local function sorted(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return ipairs(names)
end

local function capability(put, name, what, value)
  if value then put("capabilities", name, what, value) end
end

local function setting(put, name, what, value) put("settings", name, what, value) end

local function features(id, put)
  for _, name in sorted(id.features or {}) do
    local f = id.features[name]
    capability(put, "features." .. name, "feature " .. spaced(name), f.supported)
    for _, key in sorted(f) do
      local full = ("features.%s.%s"):format(name, key)
      if key == "enabled" then
        if f.supported then setting(put, full, spaced(name) .. " enabled", f.enabled) end
      elseif key == "level" then
        setting(put, full, spaced(name) .. " level", f.level)
      elseif key ~= "supported" then
        capability(put, full, ("%s: %s"):format(spaced(name), spaced(key)), f[key])
      end
    end
  end
end

local function identity(said, put)
  local id = said.identity
  for _, f in ipairs(IDENTITY) do put("identity", f[1], f[2], id[f[1]]) end
  for _, f in ipairs(STANDARDS) do capability(put, f[1], f[2], id[f[1]]) end
  features(id, put)
  local link, ncq, sata, security = id.link or {}, id.ncq or {}, id.sata or {}, id.security or {}
  capability(put, "link.max_mbit_per_s", "fastest link in Mbit/s", link.max_mbit_per_s)
  setting(put, "link.current_mbit_per_s", "link now in Mbit/s", link.current_mbit_per_s)
  for _, key in sorted(ncq) do
    capability(put, "ncq." .. key, key == "depth" and "NCQ depth" or "NCQ " .. spaced(key),
      ncq[key])
  end
  capability(put, "sata.phy_event_counters", "Phy event counters", sata.phy_event_counters)
  for _, key in ipairs {"supported", "enhanced_erase", "erase_minutes", "enhanced_erase_minutes"} do
    capability(put, "security." .. key, "security: " .. spaced(key), security[key])
  end
  for _, key in ipairs {"enabled", "locked", "frozen"} do
    if security.supported then setting(put, "security." .. key, "security " .. key,
      security[key]) end
  end
  for _, key in ipairs {"supported", "write_same", "error_recovery_control", "feature_control",
    "data_tables"} do
    capability(put, "sct." .. key, "SCT " .. spaced(key), id.sct and id.sct[key])
  end
end

local function smart(said, put)
  local s = said.smart
  for _, key in sorted(s.capabilities or {}) do
    if key ~= "value" then capability(put, "smart." .. key, "SMART " .. spaced(key),
      s.capabilities[key]) end
  end
  for _, key in sorted(s.test_minutes or {}) do
    capability(put, "test_minutes." .. key, ("minutes of the %s self-test"):format(key),
      s.test_minutes[key])
  end
  if s.error_logging then capability(put, "smart.error_logging", "SMART error logging",
    s.error_logging.supported) end
  if s.offline then
    capability(put, "smart.offline_seconds", "seconds of off-line data collection",
      s.offline.seconds and s.offline.seconds > 0 and s.offline.seconds)
    setting(put, "smart.automatic", "automatic off-line data collection", s.offline.automatic)
  end
  local seen = {}
  for _, a in ipairs(s.attributes) do
    if not seen[a.id] then
      local name, what = ("attribute.%d"):format(a.id), ("attribute %d (%s)"):format(a.id, a.name)
      capability(put, name, what, true)
      capability(put, name .. ".threshold", what .. ": threshold", a.threshold)
      capability(put, name .. ".pre_fail", what .. ": pre-fail", a.pre_fail)
      seen[a.id] = true
    end
  end
end

local function sct_status(said, put)
  local s = said.sct.status
  capability(put, "sct.status.format_version", "SCT status version", s.format_version)
  capability(put, "sct.status.sct_version", "SCT version (maker's own)", s.sct_version)
  capability(put, "sct.status.sct_level", "SCT level", s.sct_level)
  capability(put, "sct.status.max_operating_c", "highest operating temperature", s.max_operating_c)
  capability(put, "sct.status.smallest_erc_ms", "shortest error recovery time in ms",
    s.smallest_erc_ms)
end

local HISTORY = {
  {"version", "temperature history version"}, {"size", "temperature history rows"},
  {"recommended_highest_c", "recommended highest temperature"},
  {"recommended_lowest_c", "recommended lowest temperature"},
  {"limit_highest_c", "highest temperature allowed"},
  {"limit_lowest_c", "lowest temperature allowed"},
}

local function sct_history(said, put)
  local h = said.sct.temperature_history
  for _, f in ipairs(HISTORY) do
    capability(put, "sct.temperature_history." .. f[1], f[2], h[f[1]])
  end
  setting(put, "sct.temperature_history.interval_minutes",
    "temperature history interval in minutes",
    h.interval_minutes)
end

local function recovery(said, put)
  for _, way in ipairs {"read", "write"} do
    local timer = said.sct.error_recovery[way]
    if timer then
      setting(put, "sct.error_recovery." .. way,
        ("error recovery time-out of a %s in ms (0: none)"):format(way),
        timer.ms)
    end
  end
end

-- Addresses as ranges: "A0-A7 BD".
local function ranges(addresses)
  local parts, first = {}, nil
  for i, address in ipairs(addresses) do
    first = first or address
    if addresses[i + 1] ~= address + 1 then
      parts[#parts + 1] = first == address and ("%02X"):format(address)
        or ("%02X-%02X"):format(first, address)
      first = nil
    end
  end
  return parts[1] and table.concat(parts, " ")
end

-- What the maker's own logs are for nobody knows: they are one fact, not sixty.
local function directory(key, what)
  return function(said, put)
    local own = {}
    for _, log in ipairs(said[key].logs) do
      if log.address >= 0xa0 and log.address <= 0xdf then
        own[#own + 1] = log.address
      else
        capability(put, ("%s.%02xh"):format(key, log.address),
          ("%s %02Xh (%s), pages"):format(what, log.address, log.name), log.pages)
      end
    end
    capability(put, key .. ".makers_own", ("%ss of the maker's own, hexadecimal"):format(what),
      ranges(own))
  end
end

local function phy(said, put)
  for _, c in ipairs(said.phy.counters) do
    capability(put, ("phy.%d"):format(c.id),
      ("Phy event counter %d (%s), size in bytes"):format(c.id, c.name), c.size_bytes)
  end
end

local function statistics(said, put)
  for _, page in ipairs(said.statistics.pages) do
    for _, f in ipairs(page.statistics) do
      if f.key then
        capability(put, "statistics." .. f.key,
          ("device statistic %s (%s)"):format(f.name, page.name), true)
      end
    end
  end
end

local CONTROLLER = {
  {"max_transfer_pages", "largest transfer in pages"}, {"namespaces", "namespaces"},
  {"error_log_entries", "error log entries"}, {"power_state_count", "power states"},
  {"extended_self_test_minutes", "minutes of the extended self-test"},
  {"host_buffer_wanted_bytes", "host memory wanted in bytes"},
  {"controller_type", "controller type"},
}

local function controller(said, put)
  local c = said.controller
  for _, f in ipairs(CONTROLLER) do capability(put, "controller." .. f[1], f[2], c[f[1]]) end
  if c.firmware_slots then
    capability(put, "controller.firmware_slots", "firmware slots", c.firmware_slots.count)
  end
end

local function namespace(said, put)
  local ns = said.namespace
  for _, f in ipairs(ns.formats) do
    capability(put, ("namespace.format.%d+%d"):format(f.logical_sector_size_bytes,
      f.metadata_bytes),
      ("block format of %d bytes and %d of metadata"):format(f.logical_sector_size_bytes,
        f.metadata_bytes), true)
  end
  setting(put, "namespace.metadata_bytes", "metadata of a block in bytes", ns.metadata_bytes)
end

local function pages(key, what)
  return function(said, put)
    for _, p in ipairs(said[key].pages) do
      capability(put, ("%s.%02xh"):format(key, p.page),
        ("%s %02Xh (%s)"):format(what, p.page, p.name), true)
    end
  end
end

local function exceptions_control(said, put)
  local c = said.exceptions_control
  for _, key in ipairs {"enabled", "temperature_warning", "method", "interval_ms"} do
    setting(put, "exceptions." .. key, "informational exceptions: " .. spaced(key), c[key])
  end
end

local function sas(said, put)
  local count = 0
  for _, port in ipairs(said.sas.ports) do count = count + #port.phys end
  capability(put, "sas.ports", "SAS ports", #said.sas.ports)
  capability(put, "sas.phys", "SAS phys", count)
end

-- What a section is called, whether it was read, its facts.
return {
  {"identity", function(s) return s.identity end, identity},
  {"SMART data", function(s) return s.smart end, smart},
  {"SCT status", function(s) return s.sct and s.sct.status end, sct_status},
  {"SCT temperature history", function(s) return s.sct and s.sct.temperature_history end,
    sct_history},
  {"SCT error recovery", function(s) return s.sct and s.sct.error_recovery end, recovery},
  {"log directory", function(s) return s.log_directory end, directory("log_directory", "log")},
  {"SMART log directory", function(s) return s.smart_log_directory end,
    directory("smart_log_directory", "SMART log")},
  {"Phy event counters", function(s) return s.phy end, phy},
  {"device statistics", function(s) return s.statistics and s.statistics.supported end, statistics},
  {"Identify Controller", function(s) return s.controller end, controller},
  {"Identify Namespace", function(s) return s.namespace end, namespace},
  {"vital product data", function(s) return s.vital_pages end,
    pages("vital_pages", "vital product data page")},
  {"log pages", function(s) return s.log_pages end, pages("log_pages", "log page")},
  {"mode page 1Ch", function(s) return s.exceptions_control end, exceptions_control},
  {"SAS ports", function(s) return s.sas end, sas},
}
