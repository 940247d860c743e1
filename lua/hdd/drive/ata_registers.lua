--- ATA command names and register bits, for the logs of failed commands.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.ata_registers

local M = {}

local COMMANDS = {
  [0x00] = "NOP", [0x06] = "DATA SET MANAGEMENT", [0x08] = "DEVICE RESET",
  [0x0b] = "REQUEST SENSE DATA EXT", [0x10] = "RECALIBRATE", [0x20] = "READ SECTORS",
  [0x21] = "READ SECTORS (no retry)", [0x22] = "READ LONG", [0x24] = "READ SECTORS EXT",
  [0x25] = "READ DMA EXT", [0x26] = "READ DMA QUEUED EXT", [0x27] = "READ NATIVE MAX ADDRESS EXT",
  [0x29] = "READ MULTIPLE EXT", [0x2a] = "READ STREAM DMA EXT", [0x2b] = "READ STREAM EXT",
  [0x2f] = "READ LOG EXT", [0x30] = "WRITE SECTORS", [0x31] = "WRITE SECTORS (no retry)",
  [0x32] = "WRITE LONG", [0x34] = "WRITE SECTORS EXT", [0x35] = "WRITE DMA EXT",
  [0x36] = "WRITE DMA QUEUED EXT", [0x37] = "SET MAX ADDRESS EXT", [0x39] = "WRITE MULTIPLE EXT",
  [0x3a] = "WRITE STREAM DMA EXT", [0x3b] = "WRITE STREAM EXT", [0x3d] = "WRITE DMA FUA EXT",
  [0x3e] = "WRITE DMA QUEUED FUA EXT", [0x3f] = "WRITE LOG EXT", [0x40] = "READ VERIFY SECTORS",
  [0x41] = "READ VERIFY SECTORS (no retry)", [0x42] = "READ VERIFY SECTORS EXT",
  [0x45] = "WRITE UNCORRECTABLE EXT", [0x47] = "READ LOG DMA EXT", [0x4a] = "ZAC MANAGEMENT IN",
  [0x51] = "CONFIGURE STREAM", [0x57] = "WRITE LOG DMA EXT", [0x5b] = "TRUSTED NON-DATA",
  [0x5c] = "TRUSTED RECEIVE", [0x5d] = "TRUSTED RECEIVE DMA", [0x5e] = "TRUSTED SEND",
  [0x5f] = "TRUSTED SEND DMA", [0x60] = "READ FPDMA QUEUED", [0x61] = "WRITE FPDMA QUEUED",
  [0x63] = "NCQ NON-DATA", [0x64] = "SEND FPDMA QUEUED", [0x65] = "RECEIVE FPDMA QUEUED",
  [0x70] = "SEEK", [0x77] = "SET DATE & TIME EXT", [0x78] = "ACCESSIBLE MAX ADDRESS CONFIGURATION",
  [0x90] = "EXECUTE DEVICE DIAGNOSTIC", [0x91] = "INITIALIZE DEVICE PARAMETERS",
  [0x92] = "DOWNLOAD MICROCODE", [0x93] = "DOWNLOAD MICROCODE DMA", [0x9f] = "ZAC MANAGEMENT OUT",
  [0xa0] = "PACKET", [0xa1] = "IDENTIFY PACKET DEVICE", [0xa2] = "SERVICE", [0xb0] = "SMART",
  [0xb1] = "DEVICE CONFIGURATION", [0xb2] = "SET SECTOR CONFIGURATION EXT",
  [0xb4] = "SANITIZE DEVICE", [0xb6] = "NV CACHE", [0xc4] = "READ MULTIPLE",
  [0xc5] = "WRITE MULTIPLE", [0xc6] = "SET MULTIPLE MODE", [0xc7] = "READ DMA QUEUED",
  [0xc8] = "READ DMA", [0xc9] = "READ DMA (no retry)", [0xca] = "WRITE DMA",
  [0xcb] = "WRITE DMA (no retry)", [0xcc] = "WRITE DMA QUEUED", [0xce] = "WRITE MULTIPLE FUA EXT",
  [0xe0] = "STANDBY IMMEDIATE", [0xe1] = "IDLE IMMEDIATE", [0xe2] = "STANDBY", [0xe3] = "IDLE",
  [0xe4] = "READ BUFFER", [0xe5] = "CHECK POWER MODE", [0xe6] = "SLEEP", [0xe7] = "FLUSH CACHE",
  [0xe8] = "WRITE BUFFER", [0xe9] = "READ BUFFER DMA", [0xea] = "FLUSH CACHE EXT",
  [0xeb] = "WRITE BUFFER DMA", [0xec] = "IDENTIFY DEVICE", [0xef] = "SET FEATURES",
  [0xf1] = "SECURITY SET PASSWORD", [0xf2] = "SECURITY UNLOCK", [0xf3] = "SECURITY ERASE PREPARE",
  [0xf4] = "SECURITY ERASE UNIT", [0xf5] = "SECURITY FREEZE LOCK",
  [0xf6] = "SECURITY DISABLE PASSWORD", [0xf8] = "READ NATIVE MAX ADDRESS",
  [0xf9] = "SET MAX ADDRESS",
}

-- The error register, bit 0 first. Bits 1 and 3 are of removable media.
local ERROR = {[0] = "AMNF", "EOM", "ABRT", "MCR", "IDNF", "MC", "UNC", "ICRC"}

-- The status register's bits that say what is wrong.
local STATUS = {[0] = "ERR", [5] = "DF"}

-- What a drive was doing, by the lower half of the state byte.
local STATES = {[0] = "unknown", "sleeping", "standby", "active or idle",
  "self-test or off-line collection"}

local function bits(value, names)
  local list = setmetatable({}, {__jsontype = "array"})
  for n = 7, 0, -1 do
    if value >> n & 1 == 1 and names[n] then list[#list + 1] = names[n] end
  end
  return list
end

--- The name of an ATA command.
-- @tparam integer code  the command register
-- @treturn ?string  nil for reserved and makers' own commands
-- @usage registers.command(0x60)  --> "READ FPDMA QUEUED"
function M.command(code) return COMMANDS[code] end

--- The bits set in an error register, highest first.
-- @tparam integer value  0 to 255
-- @treturn {string,...}  of "ICRC" (interface), "UNC" (unreadable), "MC", "IDNF" (no such address),
--   "MCR", "ABRT" (refused), "EOM", "AMNF" (sector not found)
-- @usage registers.errors(0x40)  --> {"UNC"}
function M.errors(value) return bits(value, ERROR) end

--- The failing bits set in a status register.
-- @tparam integer value  0 to 255
-- @treturn {string,...}  of "DF" (device fault), "ERR"
-- @usage registers.status(0x51)  --> {"ERR"}
function M.status(value) return bits(value, STATUS) end

--- What the drive was doing when it noted an error.
-- @tparam integer value  the state byte
-- @treturn string
-- @usage registers.state(3)  --> "active or idle"
function M.state(value)
  local low = value & 15
  return STATES[low] or (low >= 11 and "maker's own state" or "reserved state")
end

return M
