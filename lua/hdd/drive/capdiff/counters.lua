-- The numbers that change in a drive's life, as named facts: put(group, name, what, value, traits).
-- Groups: "lifetime" (totals that only say how much it was used), "counters" (things that went
-- wrong),
-- "gauges" (numbers that go up and down). Traits: `saturated` (it stands at its largest value),
-- `resets` (a power cycle or a command sets it to 0).
-- SPDX-License-Identifier: GPL-3.0-or-later

-- Attributes by what they are, where their meaning is known. The rest is a gauge.
local LIFETIME = {
  [4] = true, [9] = true, [12] = true, [192] = true, [193] = true, [225] = true, [240] = true,
  [241] = true, [242] = true, [243] = true, [246] = true,
}
local FAULTS = {
  [5] = true, [10] = true, [11] = true, [171] = true, [172] = true, [174] = true, [181] = true,
  [182] = true, [183] = true, [184] = true, [187] = true, [188] = true, [189] = true, [196] = true,
  [199] = true, [223] = true, [254] = true,
}

-- The one number of a meaning that counts.
local COUNTING = {
  "count", "sectors", "blocks", "power_on_hours", "head_flying_hours", "data_bytes",
  "erase_cycles", "errors",
}

local function counted(a)
  for _, key in ipairs(COUNTING) do
    local value = a.meaning and a.meaning[key]
    if value then return value, key end
  end
end

local function group_of(a, value)
  if not value or not a.verified then return "gauges" end
  return LIFETIME[a.id] and "lifetime" or FAULTS[a.id] and "counters" or "gauges"
end

local function attributes(said, put)
  local seen = {}
  for _, a in ipairs(said.smart.attributes) do
    if not seen[a.id] then
      seen[a.id] = true
      local value, key = counted(a)
      local t = a.meaning and a.meaning.temperature_c
      local what = ("attribute %d (%s)"):format(a.id, a.name)
      put(group_of(a, value), ("attribute.%d"):format(a.id), what, value or t or a.raw,
        {unit = key or t and "temperature_c" or "raw"})
      put("gauges", ("attribute.%d.value"):format(a.id), what .. ": normalized value", a.value)
    end
  end
end

local GAUGES = {
  pending_errors = true, reallocation_candidates = true, workload_percent = true, usage_rate = true,
  resource_availability = true, random_write_resources_used = true, life_used_percent = true,
  min_empty_zones = true,
}
local TOTALS = {
  power_on_resets = true, power_on_hours = true, sectors_written = true, write_commands = true,
  sectors_read = true, read_commands = true, spindle_hours = true, head_flying_hours = true,
  head_loads = true, zones_emptied = true,
}

local function statistics(said, put)
  for _, page in ipairs(said.statistics.pages) do
    for _, f in ipairs(page.statistics) do
      local key = f.key
      -- The drive's clock is no count.
      if key and f.value and key ~= "time_stamp_ms" then
        local gauge = GAUGES[key] or key:find "_c$" or key:find "^max_"
        put(gauge and "gauges" or TOTALS[key] and "lifetime" or "counters", "statistics." .. key,
          "device statistic " .. f.name, f.value)
      end
    end
  end
end

local function sct_status(said, put)
  local s = said.sct.status
  put("gauges", "sct.temperature_c", "SCT temperature", s.temperature_c)
  put("gauges", "sct.lifetime_highest_c", "highest temperature of its life", s.lifetime_highest_c)
  put("gauges", "sct.lifetime_lowest_c", "lowest temperature of its life", s.lifetime_lowest_c)
  put("counters", "sct.over_limit_count", "times over the temperature limit", s.over_limit_count)
  put("counters", "sct.under_limit_count", "times under the temperature limit", s.under_limit_count)
end

local function phy(said, put)
  for _, c in ipairs(said.phy.counters) do
    put("counters", ("phy.%d"):format(c.id), ("Phy event counter %d (%s)"):format(c.id, c.name),
      c.value,
      {saturated = c.saturated, resets = true})
  end
end

local function errors(said, put)
  local log = said.error_log
  put("counters", "error_log.count", "errors in the error log", log.count,
    {saturated = log.count_saturated})
end

local function self_tests(said, put)
  local newest = said.self_test_log.entries[1]
  put("gauges", "self_test_log.newest", "result of the newest self-test", newest and newest.result)
end

local function defects(key, what)
  return function(said, put) put("gauges", key, what, said[key].count) end
end

local HEALTH = {
  {"lifetime", "power_on_hours"}, {"lifetime", "power_cycles"}, {"lifetime", "data_read_bytes"},
  {"lifetime", "data_written_bytes"}, {"lifetime", "host_read_commands"},
  {"lifetime", "host_write_commands"},
  {"lifetime", "controller_busy_minutes"}, {"lifetime", "unsafe_shutdowns"},
  {"counters", "media_errors"},
  {"counters", "error_log_entries"}, {"counters", "warning_temperature_minutes"},
  {"counters", "critical_temperature_minutes"}, {"gauges", "critical_warning"},
  {"gauges", "temperature_c"},
  {"gauges", "available_spare_percent"}, {"gauges", "life_used_percent"},
}

local function spaced(name) return (name:gsub("_", " ")) end

local function health(said, put)
  for _, f in ipairs(HEALTH) do put(f[1], "health." .. f[2], spaced(f[2]),
    said.health_log[f[2]]) end
end

local SCSI_COUNTERS = {
  {"corrected", "gauges"}, {"uncorrected", "counters"}, {"processed_bytes", "lifetime"},
}

local function error_counters(key, what)
  return function(said, put)
    local full = {}
    for _, name in ipairs(said[key].saturated) do full[name] = true end
    for _, f in ipairs(SCSI_COUNTERS) do
      put(f[2], key .. "." .. f[1], what .. ": " .. spaced(f[1]), said[key][f[1]],
        {saturated = full[f[1]]})
    end
  end
end

local function non_medium(said, put)
  local e = said.non_medium_errors
  put("counters", "non_medium_errors", "non-medium errors", e.count, {saturated = e.saturated})
end

local function start_stop(said, put)
  put("lifetime", "start_stop_cycles", "start-stop cycles", said.start_stop.start_stop_cycles)
  put("lifetime", "load_cycles", "load cycles", said.start_stop.load_cycles)
end

local function scan(said, put)
  put("lifetime", "power_on_minutes", "power-on minutes", said.background_scan.power_on_minutes)
  put("lifetime", "medium_scans", "background medium scans", said.background_scan.medium_scans)
end

local function solid_state(said, put)
  put("gauges", "solid_state.life_used_percent", "life used, per cent",
    said.solid_state.life_used_percent)
end

local function sas(said, put)
  for _, port in ipairs(said.sas.ports) do
    for _, p in ipairs(port.phys) do
      for _, key in ipairs {"invalid_dwords", "disparity_errors", "sync_losses",
        "reset_problems"} do
        put("counters", ("sas.%d.%d.%s"):format(port.number, p.id, key),
          ("%s of phy %d, port %d"):format(spaced(key), p.id, port.number), p[key],
          {saturated = p[key] == 0xffffffff, resets = true})
      end
    end
  end
end

local function farm(said, put)
  put("lifetime", "farm.power_on_hours", "power-on hours (FARM)", said.farm.drive
    and said.farm.drive.power_on_hours)
  local names = {}
  for key, value in pairs(said.farm.errors or {}) do
    if math.type(value) == "integer" then names[#names + 1] = key end
  end
  table.sort(names)
  for _, key in ipairs(names) do
    local gauge = key == "reallocation_candidates" or key:find "^spin_retry_" or key:find "_index$"
    put(gauge and "gauges" or "counters", "farm." .. key, spaced(key) .. " (FARM)",
      said.farm.errors[key])
  end
end

-- What a section is called, whether it was read, its facts.
return {
  {"SMART data", function(s) return s.smart end, attributes},
  {"device statistics", function(s) return s.statistics and s.statistics.supported end, statistics},
  {"SCT status", function(s) return s.sct and s.sct.status end, sct_status},
  {"Phy event counters", function(s) return s.phy end, phy},
  {"error log", function(s) return s.error_log and s.error_log.count end, errors},
  {"self-test log", function(s) return s.self_test_log end, self_tests},
  {"pending defects log", function(s) return s.pending_defects end,
    defects("pending_defects", "sectors in the pending defects log")},
  {"SMART / Health log", function(s) return s.health_log and not s.health_log.doubtful end, health},
  {"read error counters", function(s) return s.read_errors end,
    error_counters("read_errors", "reading")},
  {"write error counters", function(s) return s.write_errors end,
    error_counters("write_errors", "writing")},
  {"verify error counters", function(s) return s.verify_errors end,
    error_counters("verify_errors", "verifying")},
  {"non-medium error counter", function(s) return s.non_medium_errors end, non_medium},
  {"grown defect list", function(s) return s.grown_defects end,
    defects("grown_defects", "grown defects")},
  {"start-stop cycle counter", function(s) return s.start_stop end, start_stop},
  {"background scan page", function(s) return s.background_scan end, scan},
  {"solid state media page", function(s) return s.solid_state end, solid_state},
  {"SAS ports", function(s) return s.sas end, sas},
  {"FARM", function(s) return s.farm and s.farm.supported end, farm},
}
