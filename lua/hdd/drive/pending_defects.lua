--- Pending defects (GP log 0Ch): the sectors that a drive could not read and has not replaced yet.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.pending_defects

local bytes = require "hdd.drive.bytes"

local M = {}

-- A drive may list 65535; more than this nobody reads, and the count is told whole.
local MAX_ENTRIES = 4096

--- Decode the pending defects log.
-- @tparam string data  GP log 0Ch, as many pages as were read
-- @treturn table  `count` as the drive says, `defects[] {lba power_on_hours}` (hours absent when
--   not known), `warnings`
-- @usage local log = pending_defects.decode(pages); print(log.count, log.defects[1].lba)
function M.decode(data)
  local result = bytes.result(data, 512)
  result.defects = bytes.list()
  local count = bytes.u32(data, 0)
  if not count then return result end
  if count == 0xffffffff then
    bytes.warn(result, "count", "the count of pending defects is all ones: unknown")
    return result
  end
  result.count = count
  local room = #data // 16 - 1
  local shown = math.max(math.min(count, room, MAX_ENTRIES), 0)
  for k = 1, shown do
    local hours = bytes.u32(data, k * 16)
    result.defects[k] = {
      lba = bytes.unsigned(bytes.u64(data, k * 16 + 8)),
      power_on_hours = hours ~= 0xffffffff and hours or nil,
    }
  end
  if count > shown then
    bytes.warn(result, "cut", "%d of %d pending defects are shown", shown, count)
  end
  return result
end

return M
