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

-- Their key in the result, their decoder, and an argument for it.
local PAGES = {
  inquiry = {"inquiry", scsi_identity.inquiry}, capacity = {"capacity", scsi_identity.capacity},
  environment = {"environment", scsi_logs.environment},
  defects = {"grown_defects", scsi_answers.decode},
}
local VITAL_PAGES = {
  [0x00] = {"vital_pages", scsi_identity.pages}, [0x80] = {"unit_serial", scsi_identity.serial},
  [0x83] = {"designation", scsi_identity.designators},
  [0xb1] = {"characteristics", scsi_identity.characteristics},
}
local LOGS = {
  [0x00] = {"log_pages", scsi_logs.pages}, [0x02] = {"write_errors", scsi_logs.error_counters,
    0x02},
  [0x03] = {"read_errors", scsi_logs.error_counters, 0x03},
  [0x05] = {"verify_errors", scsi_logs.error_counters, 0x05},
  [0x06] = {"non_medium_errors", scsi_logs.non_medium_errors},
  [0x0d] = {"temperature_page", scsi_logs.temperature},
  [0x0e] = {"start_stop", scsi_logs.start_stop},
  [0x10] = {"self_test_log", scsi_logs.self_tests}, [0x11] = {"solid_state", scsi_logs.solid_state},
  [0x15] = {"background_scan", scsi_logs.background_scan}, [0x18] = {"sas", scsi_ports.decode},
  [0x2f] = {"exceptions", scsi_logs.exceptions},
}
local MODES = {[0x1c] = {"exceptions_control", scsi_answers.exceptions_control}}

local IDENTITY = {
  inquiry = {"model", "firmware", "scsi_version"}, unit_serial = {"serial"},
  designation = {"wwn", "transport"},
  characteristics = {"rotation_rpm", "solid_state", "form_factor", "zoned"},
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

local function decode(said, decoders, pages)
  for page, d in pairs(decoders) do
    if pages and pages[page] then said[d[1]] = d[2](pages[page], d[3]) end
  end
end

--- Decode what was read from a SCSI or SAS drive.
-- @tparam table pages  as `hdd.pages.read` gives them, each may be missing: `inquiry`, `vpd` by
--   page,
--   `capacity` (READ CAPACITY 16), `logs` by page, `environment` (log page 0Dh/01h), `modes` by
--   page,
--   `defects` (READ DEFECT DATA 12, the grown ones)
-- @treturn table  `kind` ("scsi"), `identity {model serial firmware wwn size_bytes ...}`, and as
--   their decoders give them `inquiry vital_pages unit_serial designation characteristics capacity
--   log_pages write_errors read_errors verify_errors non_medium_errors temperature_page environment
--   start_stop self_test_log solid_state background_scan sas exceptions exceptions_control
--   grown_defects`; `temperature {temperature_c source sources}`, `power_on {power_on_hours
--   source}`
-- @usage local said = scsi.decode {inquiry = page, logs = {[0x2f] = log}};
--   print(said.exceptions.status)
function M.decode(pages)
  local said = {kind = "scsi"}
  decode(said, PAGES, pages)
  decode(said, VITAL_PAGES, pages.vpd)
  decode(said, LOGS, pages.logs)
  decode(said, MODES, pages.modes)
  said.identity = identity(said)
  local heat, environment = said.temperature_page or {}, said.environment or {}
  local asked = said.exceptions and said.exceptions.temperature_c
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
