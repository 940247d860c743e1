--- The recorded drives of spec/fixtures/smart: their bytes, the values they must give, and all that
-- our decoders make of them.
-- SPDX-License-Identifier: GPL-3.0-or-later
local json = require "dkjson"
local device_statistics = require "hdd.drive.device_statistics"
local error_log = require "hdd.drive.error_log"
local identify = require "hdd.drive.identify"
local families = require "hdd.drive.families"
local log_directory = require "hdd.drive.log_directory"
local pending_defects = require "hdd.drive.pending_defects"
local phy = require "hdd.drive.phy"
local sct = require "hdd.drive.sct"
local self_test_log = require "hdd.drive.self_test_log"
local smart_data = require "hdd.drive.smart_data"
local vitals = require "hdd.drive.vitals"

local M = {}

local HERE = debug.getinfo(1, "S").source:match("^@(.*)spec/support/") or ""
local ROOT = HERE .. "spec/fixtures/smart/"

--- The bytes of a fixture.
-- @tparam string name  below spec/fixtures/smart
-- @treturn ?string  nil when there is no such file
function M.read(name)
  local file = io.open(ROOT .. name, "rb")
  if not file then return nil end
  local data = file:read "a"
  file:close()
  return data
end

--- A fixture in JSON; null is nil.
-- @tparam string name
-- @treturn table
function M.json(name)
  return assert(json.decode(assert(M.read(name), name), 1, nil, nil, nil))
end

--- The names of the ATA drives, in order.
-- @treturn {string,...}
function M.ata()
  local names = {}
  local list = assert(io.popen("ls '" .. ROOT .. "ata'"))
  for name in list:lines() do names[#names + 1] = name end
  list:close()
  return names
end

local function registers(text)
  local r = {}
  for key, value in (text or ""):gmatch("([%w_]+)=(%w+)") do r[key] = value end
  return r
end

local function optional(read, decode, name, ...)
  local data = read(name)
  return data and decode(data, ...)
end

--- All that our decoders make of one drive.
-- @tparam function read  file name -> bytes or nil
-- @treturn table  by log
function M.decode(read)
  local d = {registers = registers(read "regs.txt"), file = read}
  d.identify = identify.decode(read "identify.bin")
  d.smart = smart_data.decode(read "smart_data.bin", read "smart_thresholds.bin", d.identify)
  d.statistics = optional(read, device_statistics.decode, "gplog_04.bin",
    {[255] = read "gplog_04_pff.bin"})
  d.sct = optional(read, sct.status, "smartlog_e0.bin")
  local family = families.find(d.identify.model, d.identify.firmware)
  d.history = optional(read, sct.history, "smartlog_e1_t2.bin",
    {index_ahead = family.history_index_ahead})
  local parts = {smart = d.smart, statistics = d.statistics, sct = d.sct}
  d.power_on = vitals.power_on(parts)
  d.power_cycles = vitals.power_cycles(parts)
  d.temperature = vitals.temperature(parts)
  local hours = d.power_on.power_on_hours
  d.general_directory = optional(read, log_directory.general_purpose, "gplog_00.bin")
  d.smart_directory = optional(read, log_directory.smart, "smartlog_00.bin")
  d.summary_errors = optional(read, error_log.summary, "smartlog_01.bin")
  d.extended_errors = optional(read, error_log.extended, "gplog_03.bin")
  d.simple_tests = optional(read, self_test_log.simple, "smartlog_06.bin", hours)
  d.extended_tests = optional(read, self_test_log.extended, "gplog_07.bin", hours)
  d.selective = optional(read, self_test_log.selective, "smartlog_09.bin")
  d.defects = optional(read, pending_defects.decode, "gplog_0c.bin")
  d.phy = optional(read, phy.decode, "gplog_11.bin")
  return d
end

return M
