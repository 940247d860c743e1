--- The recorded drives of spec/fixtures/smart: their bytes, the values they must give, and all that
-- our decoders make of them.
-- SPDX-License-Identifier: GPL-3.0-or-later
local json = require "dkjson"

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

local function log_files(read, kind)
  local logs = {}
  for address = 0, 0x11 do logs[address] = read(("%slog_%02x.bin"):format(kind, address)) end
  return logs
end

-- regs.txt: what the drive gives in registers, as names and numbers.
local function numbers(text)
  local n = {}
  for key, value in (text or ""):gmatch("([%w_]+)=(%w+)") do
    n[key] = math.tointeger(value) or value
  end
  return n
end

--- The pages of one drive, as hdd.pages gives them.
-- @tparam string name  of a folder below spec/fixtures/smart/ata
-- @treturn table
function M.pages(name)
  local function read(file) return M.read("ata/" .. name .. "/" .. file) end
  local n = numbers(read "regs.txt")
  return {
    kind = "ata", identify = read "identify.bin", smart_data = read "smart_data.bin",
    smart_thresholds = read "smart_thresholds.bin", smart_logs = log_files(read, "smart"),
    logs = log_files(read, "gp"), statistics_extra = {[255] = read "gplog_04_pff.bin"},
    sct_status = read "smartlog_e0.bin", sct_history = read "smartlog_e1_t2.bin",
    smart_good = ({good = true, bad = false})[n.smart_status], sct_erc_read = n.erc_read,
    sct_erc_write = n.erc_write, sct_reordering = n.sct_reorder,
  }
end

return M
