-- Wear of flash, and age: how much of its planned life is used, and whether a disk's hours are
-- true.
-- Used-up life is no failure: drives go on beyond it. It is said so that somebody plans.
-- SPDX-License-Identifier: GPL-3.0-or-later

local device_statistics = require "hdd.drive.device_statistics"

local NEAR <const>, OVER <const> = 90, 100

local function sources_of(said)
  local list = {}
  local function put(where, percent)
    if percent then list[#list + 1] = {where = where, value = percent} end
  end
  put("device statistics: life_used_percent",
    device_statistics.value(said.statistics, "life_used_percent"))
  if said.health_log and not said.health_log.doubtful then
    put("SMART / Health log", said.health_log.life_used_percent)
  end
  put("solid state media page", said.solid_state and said.solid_state.life_used_percent)
  for _, a in ipairs(said.smart and said.smart.attributes or {}) do
    -- Only where the model's own rule says that it is life: a bare number is none, and a bare 0 was
    -- never set.
    local m = a.verified and (a.value > 0 or a.raw > 0) and a.meaning or {}
    local used = m.life_used_percent or m.life_left_percent and 100 - m.life_left_percent
    put(("attribute %d"):format(a.id), used)
  end
  return list
end

-- A disk's counters can be reset by those who sell it again; FARM's are not.
local function hours(said, add)
  local age = said.power_on
  if not age or not age.counters_reset then return end
  local farm = said.farm.drive.power_on_hours
  add("warning", "hours_reset", age.source, age.power_on_hours,
    ("power-on hours: %d here, %d in the maker's own log (FARM): the drive was used before, "
      .. "and its counters were reset"):format(age.power_on_hours // 1, farm), {sources = age.sources})
end

return function(said, add)
  hours(said, add)
  -- Some disks keep the page of solid state drives, with numbers of their own.
  if said.identity and said.identity.solid_state == false then return end
  local sources, worst = sources_of(said), nil
  for _, s in ipairs(sources) do
    if not worst or s.value > worst.value then worst = s end
  end
  if worst and worst.value >= NEAR then
    add(worst.value >= OVER and "warning" or "notice", "wear", worst.where, worst.value,
      ("%d %% of the life that its maker planned is used"):format(worst.value),
      {sources = #sources > 1 and sources or nil})
  end
end
