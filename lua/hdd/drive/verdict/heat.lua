-- Temperature against the drive's own limits, now and in its past.
-- SPDX-License-Identifier: GPL-3.0-or-later

local device_statistics = require "hdd.drive.device_statistics"
local temperature_limit = require "hdd.drive.temperature_limit"

local believed = temperature_limit.believed

local function now(said, add, limit, where)
  local t = said.temperature
  local celsius = t and t.temperature_c
  if not celsius then return end
  local critical = said.identity and said.identity.critical_temperature_c
  local history = said.sct and said.sct.temperature_history or {}
  local recommended = not history.doubtful and history.recommended_highest_c
  local function over(severity, what, most)
    add(severity, "temperature", t.source, celsius,
      ("%.0f °C: above %s of %d °C"):format(celsius, what, most), {limit_c = most})
  end
  if believed(critical) and celsius >= critical then
    over("warning", "or at the drive's critical limit", critical)
  elseif limit and celsius > limit then
    over("warning", ("the drive's own limit (%s)"):format(where), limit)
  elseif believed(recommended) and celsius > recommended then
    over("notice", "what the drive recommends (SCT temperature history)", recommended)
  end
end

-- Of the same thing drives keep a highest temperature, a count and a time; each is one source.
local function past(said, add, limit)
  local status = said.sct and said.sct.status or {}
  local health = said.health_log and not said.health_log.doubtful and said.health_log or {}
  local environment = said.environment or {}
  local sources = {}
  local function put(where, value, unit)
    if not value or value <= 0 then return end
    sources[#sources + 1] = {where = where, value = value, unit = unit}
  end
  local function highest(where, celsius)
    if limit and celsius and celsius > limit then put(where, celsius, "°C") end
  end
  highest("SCT status: highest of its life", status.lifetime_highest_c)
  highest("device statistics: highest_c", device_statistics.value(said.statistics, "highest_c"))
  highest("environment page: highest of its life", environment.lifetime_highest_c)
  put("SCT status: over its limit", status.over_limit_count, "times")
  put("device statistics: over_temperature_minutes",
    device_statistics.value(said.statistics, "over_temperature_minutes"), "minutes")
  put("SMART / Health log: critical", health.critical_temperature_minutes, "minutes")
  put("SMART / Health log: warning", health.warning_temperature_minutes, "minutes")
  local first = sources[1]
  if not first then return end
  local limit_text = limit and (" of %d °C"):format(limit) or ""
  add("notice", "was_hot", first.where, first.value,
    ("was hotter than the drive's own limit%s (%d %s)"):format(limit_text, first.value, first.unit),
    {sources = #sources > 1 and sources or nil, limit_c = limit})
end

return function(said, add)
  local limit, where = temperature_limit.of(said)
  now(said, add, limit, where)
  past(said, add, limit)
end
