--- All that a SCSI or SAS drive says of itself, from the pages that were read: the shape that
-- @{hdd.drive.verdict} judges and @{hdd.drive.capdiff} compares.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.scsi

local bytes = require "hdd.drive.bytes"
local scsi_answers = require "hdd.drive.scsi_answers"
local scsi_identity = require "hdd.drive.scsi_identity"
local scsi_logs = require "hdd.drive.scsi_logs"
local scsi_ports = require "hdd.drive.scsi_ports"

local M = {}

-- Name of a page = its key in the result, its decoder, an argument.
local DECODERS = {
  inquiry = {"inquiry", scsi_identity.inquiry}, vpd_00 = {"vital_pages", scsi_identity.pages},
  vpd_80 = {"unit_serial", scsi_identity.serial},
  vpd_83 = {"designation", scsi_identity.designators},
  vpd_b1 = {"characteristics", scsi_identity.characteristics},
  capacity = {"capacity", scsi_identity.capacity}, log_00 = {"log_pages", scsi_logs.pages},
  log_02 = {"write_errors", scsi_logs.error_counters, 0x02},
  log_03 = {"read_errors", scsi_logs.error_counters, 0x03},
  log_05 = {"verify_errors", scsi_logs.error_counters, 0x05},
  log_06 = {"non_medium_errors", scsi_logs.non_medium_errors},
  log_0d = {"heat", scsi_logs.temperature}, log_0d_01 = {"environment", scsi_logs.environment},
  log_0e = {"start_stop", scsi_logs.start_stop}, log_10 = {"tests", scsi_logs.self_tests},
  log_11 = {"solid_state", scsi_logs.solid_state},
  log_15 = {"background_scan", scsi_logs.background_scan}, log_18 = {"sas", scsi_ports.decode},
  log_2f = {"exceptions", scsi_logs.exceptions},
  mode_1c = {"exceptions_control", scsi_answers.exceptions_control},
  grown_defects = {"grown_defects", scsi_answers.decode},
}

local IDENTITY = {
  inquiry = {"model", "firmware", "scsi_version"}, unit_serial = {"serial"},
  designation = {"wwn", "transport"}, characteristics = {"rotation_rpm", "solid_state",
    "form_factor", "zoned"},
  capacity = {
    "sectors", "size_bytes", "logical_sector_size_bytes", "physical_sector_size_bytes",
    "protection_type",
  },
}

local function identity(said)
  local id = {}
  for page, keys in pairs(IDENTITY) do
    for _, key in ipairs(keys) do id[key] = said[page] and said[page][key] end
  end
  return id
end

-- The first of the candidates {source, value, doubtful} that is known, in the shape of
-- hdd.drive.vitals.
local function choose(key, candidates)
  local result = {sources = bytes.list()}
  for _, c in ipairs(candidates) do
    if c[2] then
      table.insert(result.sources, {source = c[1], [key] = c[2], doubtful = c[3]})
      if not c[3] and not result.source then result.source, result[key] = c[1], c[2] end
    end
  end
  return result
end

local function whole_hours(minutes)
  if not minutes then return nil end
  return minutes % 60 == 0 and minutes // 60 or minutes / 60
end

--- Decode what was read from a SCSI or SAS drive.
-- @tparam table pages  bytes by name, each may be missing: `inquiry`, `vpd_00 vpd_80 vpd_83
--   vpd_b1`, `capacity` (READ CAPACITY 16), `log_00 log_02 log_03 log_05 log_06 log_0d log_0d_01
--   log_0e log_10 log_11 log_15 log_18 log_2f`, `mode_1c`, `grown_defects` (READ DEFECT DATA 12)
-- @treturn table  `protocol` ("scsi"), `identity {model serial firmware wwn size_bytes ...}`, and
--   as their decoders give them `inquiry vital_pages unit_serial designation characteristics
--   capacity log_pages write_errors read_errors verify_errors non_medium_errors heat environment
--   start_stop tests solid_state background_scan sas exceptions exceptions_control grown_defects`;
--   `temperature {temperature_c source sources}`, `power_on {power_on_hours source}`
-- @usage local said = scsi.decode {inquiry = page, log_2f = log}; print(said.exceptions.status)
function M.decode(pages)
  local said = {protocol = "scsi"}
  for name, d in pairs(DECODERS) do
    if pages[name] then said[d[1]] = d[2](pages[name], d[3]) end
  end
  said.identity = identity(said)
  local heat, environment, exceptions = said.heat or {}, said.environment or {}, said.exceptions
    or {}
  local asked = exceptions.temperature_c
  said.temperature = choose("temperature_c", {
    {"temperature page", heat.temperature_c, heat.temperature_doubtful},
    {"environment page", environment.temperature_c},
    -- There 0 is left by drives that do not fill it in.
    {"informational exceptions page", asked ~= 0 and asked or nil},
  })
  local minutes = said.background_scan and said.background_scan.power_on_minutes
  said.power_on = choose("power_on_hours", {{"background scan page", whole_hours(minutes)}})
  return said
end

return M
