--- NVMe error information (log 01h): the commands that failed last, the newest first.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.nvme_errors

local bytes = require "hdd.drive.bytes"

local M = {}

local TYPES = {[0] = "generic", "command specific", "media", "path", [7] = "maker's own"}

-- Status codes by type, then code.
local STATUS = {
  [0] = {
    [0x00] = "success", [0x01] = "invalid command opcode", [0x02] = "invalid field in command",
    [0x03] = "command id conflict", [0x04] = "data transfer error",
    [0x05] = "aborted by power loss", [0x06] = "internal error", [0x07] = "abort requested",
    [0x08] = "aborted by deletion of its queue", [0x09] = "aborted: failed fused command",
    [0x0a] = "aborted: missing fused command", [0x0b] = "invalid namespace or format",
    [0x0c] = "command sequence error", [0x0d] = "invalid SGL segment descriptor",
    [0x0e] = "invalid number of SGL descriptors", [0x0f] = "data SGL length invalid",
    [0x10] = "metadata SGL length invalid", [0x11] = "SGL descriptor type invalid",
    [0x12] = "invalid use of the controller memory buffer", [0x13] = "PRP offset invalid",
    [0x14] = "atomic write unit exceeded", [0x15] = "operation denied",
    [0x16] = "SGL offset invalid", [0x18] = "host identifier of inconsistent format",
    [0x19] = "keep alive timer expired", [0x1a] = "keep alive time-out invalid",
    [0x1b] = "aborted by preempt and abort", [0x1c] = "sanitize failed",
    [0x1d] = "sanitize in progress", [0x1e] = "SGL data block granularity invalid",
    [0x1f] = "command not supported for the queue in the controller memory buffer",
    [0x20] = "namespace is write protected", [0x21] = "command interrupted",
    [0x22] = "transient transport error", [0x80] = "LBA out of range", [0x81] = "capacity exceeded",
    [0x82] = "namespace not ready", [0x83] = "reservation conflict", [0x84] = "format in progress",
  },
  [1] = {
    [0x00] = "completion queue invalid", [0x01] = "invalid queue identifier",
    [0x02] = "invalid queue size", [0x03] = "abort command limit exceeded",
    [0x05] = "asynchronous event request limit exceeded", [0x06] = "invalid firmware slot",
    [0x07] = "invalid firmware image", [0x08] = "invalid interrupt vector",
    [0x09] = "invalid log page", [0x0a] = "invalid format",
    [0x0b] = "firmware activation requires a reset", [0x0c] = "invalid queue deletion",
    [0x0d] = "feature can't be saved", [0x0e] = "feature can't be changed",
    [0x0f] = "feature is not of a namespace",
    [0x10] = "firmware activation requires a subsystem reset",
    [0x11] = "firmware activation requires a controller reset",
    [0x12] = "firmware activation requires a maximum time violation",
    [0x13] = "firmware activation prohibited", [0x14] = "overlapping range",
    [0x15] = "namespace: insufficient capacity", [0x16] = "namespace identifier unavailable",
    [0x18] = "namespace already attached", [0x19] = "namespace is private",
    [0x1a] = "namespace not attached", [0x1b] = "thin provisioning not supported",
    [0x1c] = "controller list invalid", [0x1d] = "self-test in progress",
    [0x80] = "conflicting attributes", [0x81] = "invalid protection information",
    [0x82] = "attempted write to a read-only range",
  },
  [2] = {
    [0x80] = "write fault", [0x81] = "unrecovered read error", [0x82] = "guard check error",
    [0x83] = "application tag check error", [0x84] = "reference tag check error",
    [0x85] = "compare failure", [0x86] = "access denied", [0x87] = "deallocated or unwritten block",
  },
}

local ENTRY <const> = 64

--- A status by its type and code, in words.
-- @tparam integer kind  status code type, 0 to 7
-- @tparam integer code  status code, 0 to 255
-- @treturn string
-- @usage nvme_errors.status(2, 0x81)  --> "unrecovered read error"
function M.status(kind, code)
  local known = STATUS[kind] and STATUS[kind][code]
  if known then return known end
  if kind == 7 or code >= 0xc0 then return "maker's own status" end
  return "reserved status"
end

local function entry(data, at)
  local field = bytes.u16(data, at + 12)
  local kind, code = field >> 9 & 7, field >> 1 & 255
  local where = bytes.u16(data, at + 14)
  local lba, namespace = bytes.u64(data, at + 16), bytes.u32(data, at + 24)
  return {
    count = bytes.unsigned(bytes.u64(data, at)), queue = bytes.u16(data, at + 8),
    command_id = bytes.u16(data, at + 10), status = field >> 1,
    status_type = TYPES[kind] or "reserved", status_code = code, status_name = M.status(kind, code),
    media = kind == 2 and code <= 0x84, do_not_retry = field >> 15 == 1,
    parameter_byte = where ~= 0xffff and where & 255 or nil,
    parameter_bit = where ~= 0xffff and where >> 8 & 7 or nil,
    -- The address counts only for an error of the medium; elsewhere drives leave what they like.
    lba = kind == 2 and bytes.unsigned(lba) or nil,
    namespace = namespace > 0 and namespace < 0xffffffff and namespace or nil,
  }
end

--- Decode the error log.
-- @tparam string data  log 01h, 64 bytes an entry, as many as were read
-- @treturn table  `entries[]` newest first `{count queue command_id status status_type status_code
--   status_name media do_not_retry parameter_byte parameter_bit lba namespace}`: `count` numbers
--   the errors of the drive's life, `media` is true for errors of the medium itself, `lba` is there
--   for those only; `warnings`
-- @usage for _, e in ipairs(nvme_errors.decode(log).entries) do print(e.count, e.status_name) end
function M.decode(data)
  local result = bytes.result(data, ENTRY)
  result.entries = bytes.list()
  -- The controller keeps at most 256.
  for k = 0, math.min(#data // ENTRY, 256) - 1 do
    -- An entry that was never used has the count 0.
    if not bytes.is_zero(data, k * ENTRY, 8) then
      table.insert(result.entries, entry(data, k * ENTRY))
    end
  end
  return result
end

return M
