--- The recorded ATA drives of spec/fixtures/smart as `hdd.drive.ata` decodes them.
-- SPDX-License-Identifier: GPL-3.0-or-later
local ata = require "hdd.drive.ata"
local fixtures = require "spec.support.drive_fixtures"

local M = {}

local SMART_LOGS = {0x00, 0x01, 0x06, 0x09}
local LOGS = {0x00, 0x03, 0x04, 0x07, 0x0c, 0x11}
local GOOD = {good = true, bad = false}

-- The state of the registers, "name=value" a line.
local function registers(text)
  local r = {}
  for key, value in (text or ""):gmatch "([%w_]+)=(%w+)" do r[key] = value end
  return r
end

--- The pages of a drive, as `hdd.pages.read` gives them.
-- @tparam string name  below spec/fixtures/smart/ata
-- @treturn table
function M.pages(name)
  local function read(file) return fixtures.read(("ata/%s/%s.bin"):format(name, file)) end
  local regs = registers(fixtures.read(("ata/%s/regs.txt"):format(name)))
  local pages = {
    kind = "ata", identify = read "identify", smart_data = read "smart_data",
    smart_thresholds = read "smart_thresholds", smart_good = GOOD[regs.smart_status],
    smart_logs = {}, logs = {}, statistics_extra = {[255] = read "gplog_04_pff"},
    sct_status = read "smartlog_e0", sct_history = read "smartlog_e1_t2",
    sct_erc_read = math.tointeger(regs.erc_read), sct_erc_write = math.tointeger(regs.erc_write),
    sct_reordering = math.tointeger(regs.sct_reorder),
  }
  for _, log in ipairs(SMART_LOGS) do pages.smart_logs[log] = read(("smartlog_%02x"):format(log)) end
  for _, log in ipairs(LOGS) do pages.logs[log] = read(("gplog_%02x"):format(log)) end
  return pages
end

--- A drive decoded.
-- @tparam string name
-- @tparam[opt] function change  gets the pages before they are decoded
-- @treturn table
function M.decode(name, change)
  local pages = M.pages(name)
  if change then change(pages) end
  return ata.decode(pages)
end

return M
