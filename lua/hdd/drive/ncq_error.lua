--- NCQ command error log (GP log 10h): which queued command failed last, and how.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.ncq_error

local bytes = require "hdd.drive.bytes"
local registers = require "hdd.drive.ata_registers"

local M = {}

--- Decode the NCQ command error log.
-- @tparam string data  GP log 10h, 512 bytes
-- @treturn table  `checksum_ok`, `queued` (a queued command failed; otherwise the page holds
--   nothing), then `tag status status_names error error_names lba count device`, `unloaded` (heads
--   unloaded on the host's request), and with sense data `sense {key asc ascq}` and `final_lba`,
--   `warnings`
-- @usage local e = ncq_error.decode(page); if e.queued then print(e.tag, e.lba) end
function M.decode(data)
  local result = bytes.result(data, 512)
  bytes.check_sum(result, data, 0, "NCQ error log")
  local first = bytes.u8(data, 0)
  if not first or not bytes.u16(data, 12) then return result end
  -- Bit 7: the command that failed was not queued. A page of zeroes is one that was never written.
  result.queued = first >> 7 == 0 and not bytes.is_zero(data, 2, 14)
  result.unloaded = first >> 6 & 1 == 1
  if not result.queued then return result end
  result.tag = first & 31
  result.status, result.error = bytes.u8(data, 2), bytes.u8(data, 3)
  result.status_names = registers.status(result.status)
  result.error_names = registers.errors(result.error)
  result.lba = bytes.number(data, 4, 3) | bytes.number(data, 8, 3) << 24
  result.device, result.count = bytes.u8(data, 7), bytes.u16(data, 12)
  local key, asc, ascq = bytes.u8(data, 14), bytes.u8(data, 15), bytes.u8(data, 16)
  if key and ascq and key & 15 ~= 0 then
    result.sense = {key = key & 15, asc = asc, ascq = ascq}
    result.final_lba = bytes.u48(data, 17)
  end
  return result
end

return M
