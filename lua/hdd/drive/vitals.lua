--- The few numbers that everyone asks for, chosen among the places where a drive tells them:
-- temperature, power-on hours, power cycles. The choice names its source and keeps the others.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.vitals

local bytes = require "hdd.drive.bytes"
local device_statistics = require "hdd.drive.device_statistics"
local smart_data = require "hdd.drive.smart_data"

local M = {}

-- More than this between two sources is worth showing.
local DEGREES_APART, HOURS_APART = 5, 24

-- No drive has run for longer.
local MAX_HOURS = 30 * 8766

local function meaning(smart, id, key)
  local attribute = smart and smart_data.find(smart, id)
  return attribute and attribute.meaning and attribute.meaning[key]
end

local function statistic(parts, key) return device_statistics.value(parts.statistics, key) end

local function of_farm(parts, key)
  return parts.farm and parts.farm.drive and parts.farm.drive[key]
end

local function believable(hours)
  if hours and hours <= MAX_HOURS then return hours end
end

-- The first believable value is chosen; all are listed, with what sets them apart.
local function choose(candidates, key, apart)
  local result = {sources = bytes.list()}
  for _, c in ipairs(candidates) do
    if c.value then
      local found = {source = c.source, [key] = c.value, doubtful = c.doubtful or nil}
      table.insert(result.sources, found)
      if not c.doubtful and not result.source then
        result.source, result[key] = c.source, c.value
      end
    end
  end
  if not result.source then return result end
  for _, s in ipairs(result.sources) do
    if not s.doubtful and math.abs(s[key] - result[key]) > apart then result.disagree = true end
  end
  return result
end

--- The drive's temperature. The order: SCT status, device statistics, attribute 194, attribute 190,
-- FARM. A 0 is doubtful when nothing else says that the drive is that cold: drives without a sensor
-- give it.
-- @tparam table parts  what was decoded: `sct` (status), `statistics`, `smart`, `farm`; each may be
--   missing
-- @treturn table  `temperature_c source` (absent when unknown), `sources[] {source temperature_c
--   doubtful}`, `disagree` when two of them are more than 5 °C apart
-- @usage local t = vitals.temperature {sct = status, smart = smart}
--   print(t.temperature_c, t.source)
function M.temperature(parts)
  local sct, farm = parts.sct or {}, parts.farm and parts.farm.environment or {}
  local candidates = {
    {source = "SCT status", value = sct.temperature_c, doubtful = sct.temperature_doubtful},
    {source = "device statistics", value = statistic(parts, "temperature_c")},
    {source = "attribute 194", value = meaning(parts.smart, 194, "temperature_c")},
    {source = "attribute 190", value = meaning(parts.smart, 190, "temperature_c")},
    {source = "FARM", value = farm.temperature_c},
  }
  local cold = false
  for _, c in ipairs(candidates) do
    if c.value and c.value ~= 0 and math.abs(c.value) < 10 then cold = true end
  end
  for _, c in ipairs(candidates) do
    if c.value == 0 and not cold then c.doubtful = true end
  end
  return choose(candidates, "temperature_c", DEGREES_APART)
end

--- How long the drive has been powered. The order: attribute 9 (which has minutes where the unit is
-- known), device statistics, FARM. FARM's hours outlive a reset of the others: where it says much
-- more, the drive was used before and its counters were cleared.
-- @tparam table parts  `smart`, `statistics`, `farm`; each may be missing
-- @treturn table  `power_on_hours source`, `sources[] {source power_on_hours}`, `disagree` when two
--   are more than a day apart, `counters_reset` when FARM's hours are the larger by more than a day
-- @usage local age = vitals.power_on {smart = smart, farm = log}
--   if age.counters_reset then ... end
function M.power_on(parts)
  local farm = believable(of_farm(parts, "power_on_hours"))
  local result = choose({
    {source = "attribute 9", value = meaning(parts.smart, 9, "power_on_hours")},
    {source = "device statistics", value = believable(statistic(parts, "power_on_hours"))},
    {source = "FARM", value = farm},
  }, "power_on_hours", HOURS_APART)
  if farm and result.source ~= "FARM" then
    result.counters_reset = farm - result.power_on_hours > HOURS_APART
  end
  return result
end

--- How often the drive was switched on: attribute 12, else device statistics, else FARM.
-- @tparam table parts  `smart`, `statistics`, `farm`; each may be missing
-- @treturn table  `power_cycles source`, `sources[] {source power_cycles}`
-- @usage print(vitals.power_cycles {smart = smart}.power_cycles)
function M.power_cycles(parts)
  return choose({
    {source = "attribute 12", value = meaning(parts.smart, 12, "count")},
    {source = "device statistics", value = statistic(parts, "power_on_resets")},
    {source = "FARM", value = of_farm(parts, "power_cycles")},
  }, "power_cycles", math.huge)
end

return M
