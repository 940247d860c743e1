--- All that was read from an ATA drive, decoded and put together: what `drive:smart()` returns.
-- Pages come in, one table goes out; which pages a drive has, and why one is missing, is for the
-- caller, who reads them.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.ata

local device_statistics = require "hdd.drive.device_statistics"
local error_log = require "hdd.drive.error_log"
local families = require "hdd.drive.families"
local farm = require "hdd.drive.farm"
local identify = require "hdd.drive.identify"
local log_directory = require "hdd.drive.log_directory"
local ncq_error = require "hdd.drive.ncq_error"
local pending_defects = require "hdd.drive.pending_defects"
local phy = require "hdd.drive.phy"
local sct = require "hdd.drive.sct"
local self_test_log = require "hdd.drive.self_test_log"
local smart_data = require "hdd.drive.smart_data"
local vitals = require "hdd.drive.vitals"

local M = {}

-- What is asked for most is found at the top, without being there twice when written as JSON.
local Health = {}

local SHORT = {
  attributes = function(self) return self.smart and self.smart.attributes end,
  phy_events = function(self) return self.phy and self.phy.counters end,
}

function Health:__index(key)
  if SHORT[key] then return SHORT[key](self) end
  return Health[key]
end

--- An attribute by its number.
-- @tparam integer id  1 to 255
-- @treturn ?table  see `hdd.drive.smart_data`
-- @usage print(health:attribute(194).meaning.temperature_c)
function Health:attribute(id)
  return self.smart and smart_data.find(self.smart, id)
end

local function optional(decode, data, ...)
  return data and decode(data, ...)
end

local function decode_sct(pages, family)
  local read = optional(sct.error_recovery, pages.sct_erc_read)
  local write = optional(sct.error_recovery, pages.sct_erc_write)
  local result = {
    status = optional(sct.status, pages.sct_status),
    temperature_history = optional(sct.history, pages.sct_history,
      {index_ahead = family.history_index_ahead}),
    error_recovery = (read or write) and {read = read, write = write},
    write_cache = pages.sct_write_cache and sct.feature("write cache", pages.sct_write_cache),
    reordering = pages.sct_reordering and sct.feature("reordering", pages.sct_reordering),
  }
  return next(result) and result or nil
end

-- The error log with whole addresses, else the one with as many entries as there are.
local function decode_errors(logs, smart_logs)
  return optional(error_log.extended, logs[0x03])
    or optional(error_log.summary, smart_logs[0x02] or smart_logs[0x01])
end

-- How long ago errors were, in hours of powered-on time: the log's hours have 16 bits, so that it is
-- the least that fits. Some drives leave them 0.
local function date_errors(log, hours)
  for _, e in ipairs(log and hours and log.entries or {}) do
    if (e.power_on_hours or 0) ~= 0 then
      e.age_hours = (math.floor(hours) - e.power_on_hours) % 65536
    end
  end
end

--- Decode what was read from one drive.
-- @tparam table pages  as `hdd.pages.read` gives them; each may be missing
-- @treturn table  by section, each as its decoder gives it, absent where its page is: `identity`,
--   `smart`, `log_directory`, `smart_log_directory`, `error_log` (extended, else summary; entries with
--   their `age_hours`, where known),
--   `self_test_log` (extended, else simple), `selective_self_test_log`, `statistics`,
--   `pending_defects`, `ncq_error`, `phy`, `farm`, `sct {status temperature_history error_recovery
--   {read write} write_cache reordering}`; the drive's own `smart_status` ("passed", "failed");
--   `power_mode`; and chosen among them `temperature`, `power_on`, `power_cycles` (see
--   `hdd.drive.vitals`). At hand are also `:attribute(id)`, `.attributes` and `.phy_events`.
-- @usage local health = ata.decode(pages)
--   print(health:attribute(194).raw, health.sct.temperature_history.size, #health.phy_events)
function M.decode(pages)
  local logs, smart_logs = pages.logs or {}, pages.smart_logs or {}
  local h = {identity = optional(identify.decode, pages.identify), power_mode = pages.power_mode}
  local identity = h.identity or {}
  if pages.smart_good ~= nil then h.smart_status = pages.smart_good and "passed" or "failed" end
  h.smart = optional(smart_data.decode, pages.smart_data, pages.smart_thresholds, identity)
  h.statistics = optional(device_statistics.decode, logs[0x04], pages.statistics_extra)
  h.farm = optional(farm.decode, logs[0xa6])
  h.sct = decode_sct(pages, families.find(identity.model, identity.firmware))
  local parts = {
    smart = h.smart, statistics = h.statistics, farm = h.farm, sct = h.sct and h.sct.status,
  }
  h.temperature = vitals.temperature(parts)
  h.power_on = vitals.power_on(parts)
  h.power_cycles = vitals.power_cycles(parts)
  local hours = h.power_on.power_on_hours
  h.log_directory = optional(log_directory.general_purpose, logs[0x00])
  h.smart_log_directory = optional(log_directory.smart, smart_logs[0x00])
  h.error_log = decode_errors(logs, smart_logs)
  date_errors(h.error_log, hours)
  h.self_test_log = optional(self_test_log.extended, logs[0x07], hours)
    or optional(self_test_log.simple, smart_logs[0x06], hours)
  h.selective_self_test_log = optional(self_test_log.selective, smart_logs[0x09])
  h.pending_defects = optional(pending_defects.decode, logs[0x0c])
  h.ncq_error = optional(ncq_error.decode, logs[0x10])
  h.phy = optional(phy.decode, logs[0x11])
  return setmetatable(h, Health)
end

return M
