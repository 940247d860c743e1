--- SATA Phy event counters (GP log 11h): errors on the link between host and drive.
-- They speak of cable, connector and backplane, not of the disk.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.phy

local bytes = require "hdd.drive.bytes"

local M = {}

-- As Serial ATA names them; R_ERR is the receiver's "that arrived broken", a FIS is a frame.
local NAMES = {
  [0x001] = "Command failed due to ICRC error", [0x002] = "R_ERR response for data FIS",
  [0x003] = "R_ERR response for device-to-host data FIS",
  [0x004] = "R_ERR response for host-to-device data FIS",
  [0x005] = "R_ERR response for non-data FIS",
  [0x006] = "R_ERR response for device-to-host non-data FIS",
  [0x007] = "R_ERR response for host-to-device non-data FIS",
  [0x008] = "Device-to-host non-data FIS retries",
  [0x009] = "Transition from drive PhyRdy to drive PhyNRdy",
  [0x00a] = "Device-to-host register FISes sent due to a COMRESET",
  [0x00b] = "CRC errors within host-to-device FIS",
  [0x00d] = "Non-CRC errors within host-to-device FIS",
  [0x00f] = "R_ERR response for host-to-device data FIS, CRC",
  [0x010] = "R_ERR response for host-to-device data FIS, non-CRC",
  [0x012] = "R_ERR response for host-to-device non-data FIS, CRC",
  [0x013] = "R_ERR response for host-to-device non-data FIS, non-CRC",
  [0xc00] = "Port multiplier: host-to-device non-data FIS R_ERR due to collision",
  [0xc01] = "Port multiplier: signature register FISes",
  [0xc02] = "Port multiplier: corrupt CRC propagation FISes",
}

-- They count ordinary events as well (a reset sends one), so that a small number is no fault.
local ORDINARY = {[0x009] = true, [0x00a] = true}

--- Decode the Phy event counters.
-- @tparam string data  GP log 11h, 512 bytes, read without its reset feature
-- @treturn table  `checksum_ok`, `counters[]` in the drive's order `{id size_bytes value saturated
--   vendor ordinary name}`: a counter stops at its largest value and is `saturated` then;
--   `ordinary` ones count normal events too; a value above 2^63-1 is a string of digits; `warnings`
-- @usage for _, c in ipairs(phy.decode(page).counters) do print(c.name, c.value) end
function M.decode(data)
  local result = bytes.result(data, 512)
  bytes.check_sum(result, data, 0, "Phy event counters")
  result.counters = bytes.list()
  local at, stop = 4, math.min(#data, 511)
  while at + 2 <= stop do
    local identifier = bytes.u16(data, at)
    if identifier == 0 then return result end
    local size = (identifier >> 12 & 7) * 2
    if size == 0 or size > 8 then
      bytes.warn(result, "invalid_entry",
        "the entry at byte %d has a length code of %d: what follows is not read", at, size // 2)
      return result
    end
    if at + 2 + size > stop then break end
    local value = bytes.number(data, at + 2, size)
    local id = identifier & 0x8fff
    local vendor = id >> 15 == 1
    table.insert(result.counters, {
      id = id, size_bytes = size, value = bytes.unsigned(value),
      saturated = value == (size == 8 and -1 or (1 << size * 8) - 1), vendor = vendor,
      ordinary = ORDINARY[id] or false,
      name = vendor and "Vendor specific" or NAMES[id] or "Unknown",
    })
    at = at + 2 + size
  end
  if bytes.u16(data, at) ~= 0 then
    bytes.warn(result, "no_end",
      "the list of counters has no end mark: the last one may be missing")
  end
  return result
end

--- A counter by its identifier.
-- @tparam table decoded  what `decode` gave
-- @tparam integer id     1 to FFFh, 8000h and up for the maker's own
-- @treturn ?table
-- @usage local crc = phy.find(decoded, 0x00b)
function M.find(decoded, id)
  for _, counter in ipairs(decoded.counters) do
    if counter.id == id then return counter end
  end
end

--- What changed between two readings. A counter that is lower than before was reset in between (by
-- a power cycle or by another program), so that its whole value is new.
-- @tparam table before  what `decode` gave earlier
-- @tparam table after   what it gave later
-- @treturn {table,...}  `{id name increase reset}` for each counter that moved
-- @usage for _, c in ipairs(phy.changes(old, new)) do print(c.name, c.increase) end
function M.changes(before, after)
  local list = bytes.list()
  for _, counter in ipairs(after.counters) do
    local old = M.find(before, counter.id)
    if old and math.type(old.value) == "integer" and math.type(counter.value) == "integer"
      and old.value ~= counter.value then
      local reset = counter.value < old.value
      table.insert(list, {
        id = counter.id, name = counter.name, reset = reset,
        increase = reset and counter.value or counter.value - old.value,
      })
    end
  end
  return list
end

return M
