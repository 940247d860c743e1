--- SCSI sense data, in fixed and in descriptor format: why a command failed, or what a drive fears.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.scsi_sense

local bytes = require "hdd.drive.bytes"
local scsi_bytes = require "hdd.drive.scsi_bytes"

local M = {}

local KEYS = {
  [0] = "no sense", "recovered error", "not ready", "medium error", "hardware error",
  "illegal request", "unit attention", "data protect", "blank check", "maker's own", "copy aborted",
  "aborted command", "reserved", "volume overflow", "miscompare", "completed",
}

-- Additional sense code << 8 | its qualifier: those that disks give.
local CODES = {
  [0x0000] = "no additional sense information", [0x001d] = "ATA pass-through information available",
  [0x0100] = "no index or sector signal", [0x0200] = "no seek complete", [0x0300] = "write fault",
  [0x0400] = "not ready", [0x0401] = "becoming ready", [0x0402] = "not ready: start unit required",
  [0x0403] = "not ready: manual intervention required", [0x0404] = "format in progress",
  [0x0409] = "self-test in progress", [0x0411] = "not ready: notify (enable spin-up) required",
  [0x041b] = "sanitize in progress", [0x0500] = "unit does not respond to selection",
  [0x0800] = "communication failure", [0x0900] = "track following error", [0x0b00] = "warning",
  [0x0b01] = "warning: temperature exceeded", [0x0b02] = "warning: enclosure degraded",
  [0x0b03] = "warning: background self-test failed",
  [0x0b04] = "warning: background pre-scan found a medium error",
  [0x0b05] = "warning: background medium scan found a medium error",
  [0x0b06] = "warning: non-volatile cache is now volatile",
  [0x0b07] = "warning: degraded power to non-volatile cache",
  [0x0b08] = "warning: power loss expected", [0x0b12] = "warning: microcode security at risk",
  [0x0c00] = "write error", [0x0c02] = "write error: auto-reallocation failed",
  [0x1000] = "id CRC or ECC error", [0x1001] = "logical block guard check failed",
  [0x1002] = "logical block application tag check failed",
  [0x1003] = "logical block reference tag check failed", [0x1100] = "unrecovered read error",
  [0x1101] = "read retries exhausted", [0x1102] = "error too long to correct",
  [0x1104] = "unrecovered read error: auto-reallocation failed",
  [0x110b] = "unrecovered read error: reassignment recommended",
  [0x110c] = "unrecovered read error: rewrite recommended", [0x1400] = "recorded entity not found",
  [0x1401] = "record not found", [0x1500] = "random positioning error",
  [0x1501] = "mechanical positioning error", [0x1600] = "data synchronization mark error",
  [0x1700] = "recovered without error correction", [0x1701] = "recovered with retries",
  [0x1800] = "recovered with error correction", [0x1900] = "defect list error",
  [0x1a00] = "parameter list length error", [0x1c00] = "defect list not found",
  [0x1c01] = "primary defect list not found", [0x1c02] = "grown defect list not found",
  [0x2000] = "invalid command operation code", [0x2100] = "logical block address out of range",
  [0x2400] = "invalid field in CDB", [0x2500] = "logical unit not supported",
  [0x2600] = "invalid field in parameter list", [0x2700] = "write protected",
  [0x2800] = "medium may have changed", [0x2900] = "power on, reset or bus device reset occurred",
  [0x2901] = "power on occurred", [0x2904] = "device internal reset",
  [0x2a01] = "mode parameters changed", [0x3100] = "medium format corrupted",
  [0x3101] = "format command failed", [0x3200] = "no defect spare location available",
  [0x3201] = "defect list update failure", [0x3500] = "enclosure services failure",
  [0x3a00] = "medium not present", [0x3e00] = "logical unit has not self-configured",
  [0x3e01] = "logical unit failure", [0x3e02] = "timeout on logical unit",
  [0x3e03] = "logical unit failed its self-test", [0x4000] = "RAM failure",
  [0x4200] = "power-on or self-test failure", [0x4300] = "message error",
  [0x4400] = "internal target failure", [0x4700] = "SCSI parity error",
  [0x4703] = "information unit iuCRC error", [0x4900] = "invalid message",
  [0x4b00] = "data phase error", [0x4c00] = "logical unit failed self-configuration",
  [0x5000] = "write append error", [0x5500] = "system resource failure",
  [0x5e00] = "low power condition on", [0x6500] = "voltage fault",
}

-- Of a predicted failure (5Dh) the qualifier's upper half tells the part, the lower one the
-- trouble.
local PARTS = {
  "hardware", "controller", "data channel", "servo", "spindle", "firmware",
}
local TROUBLES = {
  [0] = "general hard drive failure", "drive error rate too high", "data error rate too high",
  "seek error rate too high", "too many block reassigns", "access times too high",
  "start unit times too high", "channel parametrics", "controller detected",
  "throughput performance", "seek time performance", "spin-up retry count",
  "drive calibration retry count", "power loss protection circuit",
}
local PREDICTED = {
  [0x00] = "failure prediction threshold exceeded",
  [0x01] = "medium failure prediction threshold exceeded",
  [0x02] = "logical unit failure prediction threshold exceeded",
  [0x03] = "spare area exhaustion prediction threshold exceeded",
  [0x73] = "media impending failure: endurance limit met",
  [0xff] = "failure prediction threshold exceeded (false: a test)",
}

--- An additional sense code and its qualifier in words.
-- @tparam integer asc   0 to 255
-- @tparam integer ascq  0 to 255
-- @treturn string
-- @usage scsi_sense.text(0x5d, 0x10)  --> "hardware impending failure: general hard drive failure"
function M.text(asc, ascq)
  if asc == 0x5d then
    if PREDICTED[ascq] then return PREDICTED[ascq] end
    local part, trouble = PARTS[ascq >> 4], TROUBLES[ascq & 15]
    if part and trouble then return part .. " impending failure: " .. trouble end
    return PREDICTED[0]
  elseif asc == 0x40 and ascq >= 0x80 then
    return ("diagnostic failure on component %02Xh"):format(ascq)
  end
  local known = CODES[asc << 8 | ascq] or CODES[asc << 8]
  if known then return known end
  return asc >= 0x80 and "maker's own" or "reserved"
end

local function put_code(result, key, asc, ascq)
  result.key, result.asc, result.ascq = key, asc, ascq
  result.key_name = KEYS[key]
  if asc and ascq then result.text = M.text(asc, ascq) end
end

-- Three bytes: valid bit, and 16 bits that count up to 65536.
local function progress(data, at, result)
  local field = bytes.u8(data, at)
  local done = scsi_bytes.u16(data, at + 1)
  if done and field >> 7 == 1 and (result.key == 0 or result.key == 2) then
    result.progress_percent = done * 100 // 65536
  end
end

local function fixed(data, result)
  local first, flags = bytes.u8(data, 0), bytes.u8(data, 2)
  put_code(result, flags and flags & 15, bytes.u8(data, 12), bytes.u8(data, 13))
  if first >> 7 == 1 then result.information = scsi_bytes.u32(data, 3) end
  progress(data, 15, result)
end

local function descriptors(data, result)
  local key = bytes.u8(data, 1)
  put_code(result, key and key & 15, bytes.u8(data, 2), bytes.u8(data, 3))
  local stop = math.min(#data, 8 + (bytes.u8(data, 7) or 0))
  local at = 8
  while at + 2 <= stop do
    local kind, length = bytes.u8(data, at), bytes.u8(data, at + 1)
    if at + 2 + length > stop then
      bytes.warn(result, "descriptor", "a sense descriptor of %d bytes is cut off: not read",
        length)
      return
    end
    if kind == 0 and length >= 10 and bytes.u8(data, at + 2) >> 7 == 1 then
      result.information = scsi_bytes.u64(data, at + 4)
    elseif kind == 2 and length >= 6 then
      progress(data, at + 4, result)
    end
    at = at + 2 + length
  end
end

--- Decode sense data.
-- @tparam string data  as many bytes as came
-- @treturn table  `format` ("fixed", "descriptor"; absent when it is neither), `deferred` (of an
--   earlier command), `key key_name asc ascq text`, `information` (the LBA of an error of the
--   medium), `progress_percent`, `warnings`
-- @usage local s = scsi_sense.decode(data); print(s.key_name, s.text, s.information)
function M.decode(data)
  local result = bytes.result(data, 8)
  local first = bytes.u8(data, 0)
  local code = first and first & 127
  if code == 0x70 or code == 0x71 then
    result.format, result.deferred = "fixed", code == 0x71
    fixed(data, result)
  elseif code == 0x72 or code == 0x73 then
    result.format, result.deferred = "descriptor", code == 0x73
    descriptors(data, result)
  elseif code then
    bytes.warn(result, "format", "sense data of format %02Xh is not understood", code)
  end
  return result
end

return M
