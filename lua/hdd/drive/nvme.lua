--- All that an NVMe drive says of itself, from the pages that were read: the shape that
-- @{hdd.drive.verdict} judges and @{hdd.drive.capdiff} compares.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.nvme

local bytes = require "hdd.drive.bytes"
local nvme_errors = require "hdd.drive.nvme_errors"
local nvme_health = require "hdd.drive.nvme_health"
local nvme_identify = require "hdd.drive.nvme_identify"
local nvme_self_test = require "hdd.drive.nvme_self_test"

local M = {}

local FROM_CONTROLLER = {
  "model", "serial", "firmware", "features", "solid_state", "version", "warning_temperature_c",
  "critical_temperature_c",
}
local FROM_NAMESPACE = {"size_bytes", "logical_sector_size_bytes"}

local function identity(controller, namespace)
  local id = {}
  for _, key in ipairs(FROM_CONTROLLER) do id[key] = controller and controller[key] end
  for _, key in ipairs(FROM_NAMESPACE) do id[key] = namespace and namespace[key] end
  id.wwn = namespace and (namespace.nguid or namespace.eui64)
  id.size_bytes = id.size_bytes or controller and controller.total_capacity_bytes
  return id
end

-- A value with its source, in the shape of hdd.drive.vitals.
local function told(key, value)
  local result = {sources = bytes.list()}
  if value then
    result[key], result.source = value, "SMART / Health log"
    result.sources[1] = {source = result.source, [key] = value}
  end
  return result
end

--- Decode what was read from an NVMe drive.
-- @tparam table pages  as `hdd.pages.read` gives them, each may be missing: `identify` (controller),
--   `namespace`, `logs` by number (01h errors, 02h SMART / Health, 06h self-tests)
-- @treturn table  `kind` ("nvme"), `identity {model serial firmware wwn size_bytes
--   logical_sector_size_bytes features ...}`, `controller`, `namespace`, `health_log`,
--   `error_log`, `self_test_log` as their decoders give them, `temperature {temperature_c source}`,
--   `power_on {power_on_hours source}`, `power_cycles {power_cycles source}`
-- @usage local said = nvme.decode {identify = page, logs = {[2] = log}}
--   print(said.temperature.temperature_c)
function M.decode(pages)
  local said, logs = {kind = "nvme"}, pages.logs or {}
  said.controller = pages.identify and nvme_identify.controller(pages.identify)
  said.namespace = pages.namespace and nvme_identify.namespace(pages.namespace)
  said.health_log = logs[0x02] and nvme_health.decode(logs[0x02], said.controller)
  said.error_log = logs[0x01] and nvme_errors.decode(logs[0x01])
  said.self_test_log = logs[0x06] and nvme_self_test.decode(logs[0x06])
  said.identity = identity(said.controller, said.namespace)
  local health = said.health_log
  if not health or health.doubtful then health = {} end
  said.temperature = told("temperature_c", health.temperature_c)
  said.power_on = told("power_on_hours", health.power_on_hours)
  said.power_cycles = told("power_cycles", health.power_cycles)
  return said
end

return M
