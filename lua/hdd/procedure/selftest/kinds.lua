-- Self-tests of ATA, NVMe and SCSI drives, each with the same few functions:
--   look(t) -> state {in_progress, remaining_percent, result, code, failed}, or nil, message, code
--   log(t)  -> entries newest first, and the log's bytes (to see whether something new is in it)
--   start(t, parameters) -> true, or nil, message, code
--   abort(t), estimate_s(t, type), refusal(t, type) -> why the drive has no such test
-- SPDX-License-Identifier: GPL-3.0-or-later
local ata = require "hdd.transport.ata"
local identify = require "hdd.drive.identify"
local nvme = require "hdd.transport.nvme"
local nvme_identify = require "hdd.drive.nvme_identify"
local nvme_self_test = require "hdd.drive.nvme_self_test"
local scsi = require "hdd.transport.scsi"
local scsi_logs = require "hdd.drive.scsi_logs"
local self_test_log = require "hdd.drive.self_test_log"
local smart_data = require "hdd.drive.smart_data"

local M = {ata = {}, nvme = {}, scsi = {}}

local EINVAL <const> = 22
local LBA_MOST <const> = (1 << 48) - 1

-- --- ATA ------------------------------------------------------------------------------------

local function ata_data(t)
  local page, message, code = ata.smart_data(t)
  if not page then return nil, message, code end
  return smart_data.decode(page, nil, identify.decode(t.identify))
end

function M.ata.look(t)
  local data, message, code = ata_data(t)
  if not data then return nil, message, code end
  return data.self_test
end

function M.ata.log(t)
  local extended = ata.log(t, 0x07, 0, 1)
  local simple = ata.smart_log(t, 0x06)
  local decoded = extended and self_test_log.extended(extended)
    or simple and self_test_log.simple(simple)
  return decoded and decoded.entries or nil, (extended or "") .. (simple or "")
end

local NEEDS = {
  short = "self_test", extended = "self_test", conveyance = "conveyance_self_test",
  selective = "selective_self_test",
}

function M.ata.refusal(t, test)
  local id = identify.decode(t.identify)
  local smart = id.features.smart or {}
  if not smart.supported then return "the drive has no SMART" end
  if smart.enabled == false then return "SMART is switched off in the drive, and was left so" end
  local data = ata_data(t)
  if data and data.capabilities and not data.capabilities[NEEDS[test]] then
    return ("the drive has no %s self-test"):format(test)
  end
end

function M.ata.estimate_s(t, test)
  local data = ata_data(t)
  local minutes = data and data.test_minutes[test == "selective" and "extended" or test]
  return minutes and minutes * 60
end

-- The selective log with these spans. The standard has it that its sum is right.
local function selective_page(page, spans)
  local pieces = {string.pack("<I2", 1)}
  for i = 1, 5 do
    local span = spans[i] or {first_lba = 0, last_lba = 0}
    pieces[i + 1] = string.pack("<I8I8", span.first_lba, span.last_lba)
  end
  local head = table.concat(pieces)
  -- Behind the spans: what the maker keeps; then where the test stands and its flags, all cleared.
  local middle = page:sub(#head + 1, 492)
  local new = head .. middle .. ("\0"):rep(511 - #head - #middle)
  local sum = 0
  for i = 1, 511 do sum = sum + new:byte(i) end
  return new .. string.char(-sum & 255)
end

local function check_spans(t, spans)
  local sectors = identify.decode(t.identify).sectors or LBA_MOST
  if type(spans) ~= "table" or #spans < 1 or #spans > 5 then
    return "a selective test reads 1 to 5 ranges of blocks"
  end
  for _, s in ipairs(spans) do
    if s.first_lba < 0 or s.last_lba < s.first_lba or s.last_lba >= sectors then
      return ("blocks %d to %d are not within the drive (0 to %d)"):format(s.first_lba, s.last_lba,
        sectors - 1)
    end
  end
end

function M.ata.start(t, parameters)
  if parameters.type == "selective" then
    local why = check_spans(t, parameters.spans)
    if why then return nil, t.path .. ": " .. why, EINVAL end
    local page, message, code = ata.smart_log(t, 0x09)
    if not page then return nil, message, code end
    local ok
    ok, message, code = ata.write_selective(t, selective_page(page, parameters.spans))
    if not ok then return nil, message, code end
  end
  return ata.self_test(t, parameters.type)
end

function M.ata.abort(t) return ata.self_test(t, "abort") end

-- --- NVMe -----------------------------------------------------------------------------------

local LOG_BYTES <const> = 564

function M.nvme.look(t)
  local page, message, code = nvme.log(t, 0x06, LOG_BYTES)
  if not page then return nil, message, code end
  local log = nvme_self_test.decode(page)
  if log.in_progress then
    return {in_progress = true, remaining_percent = log.current.remaining_percent}
  end
  return log.entries[1] or {in_progress = false}
end

function M.nvme.log(t)
  local page = nvme.log(t, 0x06, LOG_BYTES)
  return page and nvme_self_test.decode(page).entries or nil, page and page:sub(5) or ""
end

function M.nvme.refusal(t, test)
  if not nvme_identify.controller(t.identify).features.self_test.supported then
    return "the drive has no self-tests"
  elseif test ~= "short" and test ~= "extended" then
    return ("NVMe drives have no %s self-test"):format(test)
  end
end

function M.nvme.estimate_s(t, test)
  if test == "short" then return 120 end -- the standard's limit
  local minutes = nvme_identify.controller(t.identify).extended_self_test_minutes
  return minutes and minutes * 60
end

function M.nvme.start(t, parameters) return nvme.self_test(t, parameters.type) end

function M.nvme.abort(t) return nvme.self_test(t, "abort") end

-- --- SCSI -----------------------------------------------------------------------------------

-- While a test runs, REQUEST SENSE says how far it is, in parts of 65536.
local function scsi_progress(t)
  local sense = scsi.sense(t)
  if not sense or #sense < 18 or sense:byte(1) & 0x7e ~= 0x70 then return nil end
  local asc, ascq = sense:byte(13), sense:byte(14)
  if asc == 4 and ascq == 9 and sense:byte(16) & 0x80 ~= 0 then
    return 100 - string.unpack(">I2", sense, 17) * 100 // 65536
  end
end

function M.scsi.look(t)
  local entries, _, message, code = M.scsi.log(t)
  if not entries then return nil, message, code end
  local newest = entries[1]
  if newest and newest.in_progress then
    return {in_progress = true, remaining_percent = scsi_progress(t)}
  end
  return newest or {in_progress = false}
end

function M.scsi.log(t)
  local page, message, code = scsi.log(t, 0x10)
  if not page then return nil, "", message, code end
  return scsi_logs.self_tests(page).entries, page
end

function M.scsi.refusal(_, test)
  if test ~= "short" and test ~= "extended" then
    return ("SCSI drives have no %s self-test"):format(test)
  end
end

function M.scsi.estimate_s(_, test) return test == "short" and 120 or nil end

function M.scsi.start(t, parameters) return scsi.self_test(t, parameters.type) end

function M.scsi.abort(t) return scsi.self_test(t, "abort") end

return M
