-- Counts of what went wrong on the medium and on the link, each in whatever places a drive keeps it:
-- attributes, device statistics, logs. One reason for each kind, with all of its sources.
-- SPDX-License-Identifier: GPL-3.0-or-later

local device_statistics = require "hdd.drive.device_statistics"

-- An attribute counts only under a name that says so: makers use the same number for other things.
local KINDS = {
  {
    name = "pending", severity = "warning", attributes = {{197, "^pending sectors"}},
    text = "pending sectors: %s, unreadable until they are written or replaced",
    statistics = {"reallocation_candidates", "pending_errors"},
    log = {"pending_defects", "count", "pending defects log"},
  },
  {
    name = "uncorrectable", severity = "warning",
    attributes = {{198, "^offline uncorrectable sectors"}},
    text = "uncorrectable sectors: %s, found by the drive's own scan",
  },
  {
    name = "reported_uncorrectable", severity = "warning",
    attributes = {{187, "^reported uncorrectable errors"}, {187, "^uncorrectable errors"}},
    text = "errors reported to the host as uncorrectable: %s", statistics = {"uncorrectable_errors"},
  },
  {
    -- Flash replaces blocks as a matter of course.
    name = "reallocated", severity = "warning", flash = "notice",
    attributes = {{5, "^reallocated"}, {5, "^retired blocks"}},
    text = "reallocated sectors: %s, replaced by spare ones", statistics = {"reallocated_sectors"},
    log = {"grown_defects", "count", "grown defect list"},
  },
  {
    name = "reallocation_events", severity = "notice", unless = "reallocated",
    attributes = {{196, "^reallocation events"}}, text = "reallocation events: %s",
  },
  {
    name = "end_to_end", severity = "warning", attributes = {{184, "^end%-to%-end errors"}},
    text = "end-to-end errors: %s, within the drive's own electronics",
  },
  {
    name = "spin_up", severity = "warning", attributes = {{10, "^spin retries"}},
    text = "spin-ups that failed at the first try: %s", statistics = {"start_failures"},
  },
  {
    name = "timeouts", severity = "notice", attributes = {{188, "^command time%-outs"}},
    text = "command time-outs: %s",
  },
  {
    -- It never goes back: one that no longer grows tells of a cable that was.
    name = "crc", severity = "warning", steady = "notice", attributes = {{199, "^interface CRC errors"}},
    text = "interface CRC errors: %s; check the cable, its plugs and the power supply",
    statistics = {"interface_crc_errors"},
  },
  {
    name = "media_errors", severity = "warning", log = {"health_log", "media_errors", "SMART / Health log"},
    text = "media errors: %s times data could not be read back intact",
  },
  {
    name = "uncorrected_reads", severity = "warning", text = "uncorrected errors in reading: %s",
    log = {"read_errors", "uncorrected", "read error counters"},
  },
  {
    name = "uncorrected_writes", severity = "warning", text = "uncorrected errors in writing: %s",
    log = {"write_errors", "uncorrected", "write error counters"},
  },
  {
    name = "uncorrected_verifies", severity = "warning", text = "uncorrected errors in verifying: %s",
    log = {"verify_errors", "uncorrected", "verify error counters"},
  },
}

-- More than this is no count, whatever the field's width.
local MAX <const> = 0xfffffffe

local function count_of(a)
  local m = a.meaning or {}
  return m.sectors or m.blocks or m.count
end

local function attribute_named(said, id, name)
  for _, a in ipairs(said.smart and said.smart.attributes or {}) do
    if a.id == id then return a.verified and a.name:find(name) and a or nil end
  end
end

-- All places of a kind that say a number: {where, value}.
local function places(said, kind)
  local list = {}
  local function put(where, value, ever)
    if value then list[#list + 1] = {where = where, value = value, ever = ever} end
  end
  for _, rule in ipairs(kind.attributes or {}) do
    local a = attribute_named(said, rule[1], rule[2])
    -- Some drives count all there ever were, which says nothing about now.
    if a then put(("attribute %d"):format(a.id), count_of(a), a.name:find ", ever$" and a.name or nil) end
  end
  for _, key in ipairs(kind.statistics or {}) do
    put("device statistics: " .. key, device_statistics.value(said.statistics, key))
  end
  local log = kind.log and said[kind.log[1]]
  if log and not log.doubtful then put(kind.log[3], log[kind.log[2]]) end
  return list
end

-- A string of digits is beyond 2^63, where no drive counts. Nor are there more bad sectors than sectors.
local function believable(said, value)
  if type(value) ~= "number" or value > MAX then return false end
  local sectors = said.identity and said.identity.sectors
  return not sectors or value <= sectors
end

local function growth_of(before, kind, where, value)
  for _, p in ipairs(before and places(before, kind) or {}) do
    local same = p.where == where and believable(before, p.value)
    if same and value >= p.value then return value - p.value end
  end
end

local function severity_of(said, kind, growth)
  if growth == 0 and kind.steady then return kind.steady end
  return said.identity and said.identity.solid_state and kind.flash or kind.severity
end

-- Attributes whose raw value should be a count and can't be one.
local function impossible(said, add)
  for _, kind in ipairs(KINDS) do
    for _, rule in ipairs(kind.attributes or {}) do
      local a = attribute_named(said, rule[1], rule[2])
      if a and not count_of(a) and a.raw > 0xffffffff then
        add("notice", "not_a_count", ("attribute %d"):format(a.id), a.raw,
          ("%s: the raw value %s is no count"):format(a.name, a.raw_hex))
      end
    end
  end
end

return function(said, add, before)
  local told = {}
  for _, kind in ipairs(KINDS) do
    local sources, first = {}, nil
    for _, p in ipairs(places(said, kind)) do
      if not believable(said, p.value) then
        add("notice", "not_a_count", p.where, p.value,
          ("%s: %s is no count"):format(kind.name, p.value))
      else
        sources[#sources + 1] = p
        if p.value > 0 and not first then first = p end
      end
    end
    if first and not (kind.unless and told[kind.unless]) then
      told[kind.name] = true
      local growth = growth_of(before, kind, first.where, first.value)
      local severity = first.ever and "notice" or severity_of(said, kind, growth)
      local text = first.ever and first.ever .. ": %s" or kind.text
      add(severity, kind.name, first.where, first.value, text:format(first.value),
        {growth = growth, sources = #sources > 1 and sources or nil})
    end
  end
  impossible(said, add)
end
