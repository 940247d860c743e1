-- What an NVMe drive's health log says.
-- SPDX-License-Identifier: GPL-3.0-or-later
local words = require "hdd.view.health.words"

local M = {}

local function add(rows, name, value)
  if value ~= nil then rows[#rows + 1] = {name, value} end
end

local function percent(n) return n and ("%d %%"):format(n) end
local function count(n) return n and words.grouped(n) end
local function data(bytes) return bytes and words.data(bytes) end

local function sensors(log)
  local texts = {}
  for i, s in ipairs(log.sensors or {}) do texts[i] = words.celsius(s.temperature_c) end
  return #texts > 0 and table.concat(texts, ", ") or nil
end

--- The section.
function M.draw(page, said, options)
  local log = said.health_log
  if not log then return end
  local rows, id = {}, said.identity or {}
  local spare, least = log.available_spare_percent, percent(log.spare_threshold_percent) or "?"
  add(rows, "spare blocks left",
    spare and ("%d %% (the drive warns below %s)"):format(spare, least))
  add(rows, "planned life used", percent(log.life_used_percent))
  add(rows, "data written", data(log.data_written_bytes))
  add(rows, "data read", data(log.data_read_bytes))
  add(rows, "media errors", count(log.media_errors))
  add(rows, "failed commands", count(log.error_log_entries))
  add(rows, "power cycles", count(log.power_cycles))
  add(rows, "unsafe shutdowns", count(log.unsafe_shutdowns))
  add(rows, "sensors", sensors(log))
  local limits = {}
  if id.warning_temperature_c then
    limits[#limits + 1] = "warning " .. words.celsius(id.warning_temperature_c)
  end
  if id.critical_temperature_c then
    limits[#limits + 1] = "critical " .. words.celsius(id.critical_temperature_c)
  end
  add(rows, "temperature limits", #limits > 0 and table.concat(limits, ", ") or nil)
  add(rows, "minutes over warning limit", count(log.warning_temperature_minutes))
  add(rows, "minutes over critical limit", count(log.critical_temperature_minutes))
  if options.all then
    add(rows, "busy", log.controller_busy_minutes and count(log.controller_busy_minutes) .. " min")
    add(rows, "read commands", count(log.host_read_commands))
    add(rows, "write commands", count(log.host_write_commands))
  end
  page:section("Health log", log.doubtful and "doubtful" or nil)
  page:table({{left = true}, {left = true, wrap = true}}, rows, "  ")
end

return M
