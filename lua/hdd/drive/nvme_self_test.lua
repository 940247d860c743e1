--- NVMe device self-test log (06h): the test that runs, and the last twenty results.
-- Entries have the shape of the ATA self-test logs.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.nvme_self_test

local bytes = require "hdd.drive.bytes"
local nvme_errors = require "hdd.drive.nvme_errors"

local M = {}

local RESULTS = {
  [0] = "completed without error", "aborted by the host", "interrupted by a reset",
  "aborted: a namespace was removed",
  "aborted: a namespace was formatted", "fatal or unknown error", "failed: unknown segment",
  "failed",
  "aborted for an unknown reason", "aborted by a sanitize operation",
}

local TYPES = {"short", "extended", "refresh", [14] = "maker's own"}

local ENTRY <const> = 28

local function entry(data, at)
  local status, valid = bytes.u8(data, at), bytes.u8(data, at + 2)
  local code, type_code = status & 15, status >> 4
  local function told(bit, value) return valid >> bit & 1 == 1 and value or nil end
  local e = {
    status = status, code = code, result = RESULTS[code] or "reserved code", type_code = type_code,
    type = TYPES[type_code] or "reserved", failed = code >= 5 and code <= 7, in_progress = false,
    power_on_hours = bytes.unsigned(bytes.u64(data, at + 4)),
    namespace = told(0, bytes.u32(data, at + 12)),
    lba = told(1, bytes.unsigned(bytes.u64(data, at + 16))),
  }
  if code == 7 then e.segment = bytes.u8(data, at + 1) end
  local kind, status_code = told(2, bytes.u8(data, at + 24)), told(3, bytes.u8(data, at + 25))
  if kind and status_code then
    e.status_type, e.status_code = kind & 7, status_code
    e.status_name = nvme_errors.status(kind & 7, status_code)
  end
  return e
end

--- Decode the self-test log.
-- @tparam string data  log 06h, 564 bytes
-- @treturn table  `in_progress`, and while a test runs `current {type type_code
--   remaining_percent}`; `entries[]` newest first `{number type type_code status code result failed
--   in_progress power_on_hours segment namespace lba status_type status_code status_name}` (lba and
--   namespace only where the drive says they count), `warnings`
-- @usage local log = nvme_self_test.decode(page); print(log.entries[1].result)
function M.decode(data)
  local result = bytes.result(data, 564)
  result.entries = bytes.list()
  local operation, done = bytes.u8(data, 0), bytes.u8(data, 1)
  if not done then return result end
  operation, done = operation & 15, done & 127
  result.in_progress = operation ~= 0
  if operation ~= 0 then
    if done > 100 then bytes.warn(result, "progress", "%d %% done is not believed", done) end
    result.current = {
      type = TYPES[operation] or "reserved", type_code = operation,
      remaining_percent = done <= 100 and 100 - done or nil,
    }
  end
  for k = 0, 19 do
    local at = 4 + k * ENTRY
    local status = bytes.u8(data, at)
    -- Fh marks an entry that was never used; drives leave zeroes too.
    if status and at + ENTRY <= #data and status & 15 ~= 15
      and not bytes.is_zero(data, at, ENTRY) then
      local e = entry(data, at)
      e.number = #result.entries + 1
      result.entries[e.number] = e
    end
  end
  return result
end

return M
