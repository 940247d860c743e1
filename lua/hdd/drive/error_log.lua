--- The ATA logs of failed commands: summary (SMART log 01h), comprehensive (SMART log 02h) and
-- extended comprehensive (GP log 03h, with 48 bit addresses). Results are alike: the newest error
-- first, each with the commands that led to it, the failing one first.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.error_log

local bytes = require "hdd.drive.bytes"
local registers = require "hdd.drive.ata_registers"

local M = {}

-- A log may claim thousands of pages; so many entries are decoded, the newest first.
local MAX_ENTRIES = 256

local function command_28(data, at)
  local device = bytes.u8(data, at + 6)
  local code = bytes.u8(data, at + 7)
  return {
    command = code, command_name = registers.command(code), features = bytes.u8(data, at + 1),
    count = bytes.u8(data, at + 2), lba = bytes.number(data, at + 3, 3) | (device & 15) << 24,
    device = device, device_control = bytes.u8(data, at),
    time_since_power_on_ms = bytes.u32(data, at + 8),
  }
end

-- An address of 48 bits whose upper and lower bytes alternate: 7:0, 31:24, 15:8, 39:32, 23:16,
-- 47:40.
local function lba_48(data, at)
  local a, b, c, d, e, f = data:byte(at + 1, at + 6)
  return a | c << 8 | e << 16 | b << 24 | d << 32 | f << 40
end

local function command_48(data, at)
  local code = bytes.u8(data, at + 12)
  return {
    command = code, command_name = registers.command(code), features = bytes.u16(data, at + 1),
    count = bytes.u16(data, at + 3), lba = lba_48(data, at + 5), device = bytes.u8(data, at + 11),
    device_control = bytes.u8(data, at), time_since_power_on_ms = bytes.u32(data, at + 14),
  }
end

-- The commands before an error, newest first; unused places are all zero.
local function commands(data, at, length, decode)
  local list = bytes.list()
  for k = 4, 0, -1 do
    if not bytes.is_zero(data, at + k * length, length) then
      list[#list + 1] = decode(data, at + k * length)
    end
  end
  return list
end

local function named(entry)
  entry.error_names = registers.errors(entry.error)
  entry.status_names = registers.status(entry.status)
  entry.state_name = registers.state(entry.state)
  return entry
end

-- The summary layout: five commands of 12 bytes, then 30 bytes of the error.
local function entry_28(data, at)
  local e = at + 60
  local device = bytes.u8(data, e + 6)
  return named {
    error = bytes.u8(data, e + 1), count = bytes.u8(data, e + 2),
    lba = bytes.number(data, e + 3, 3) | (device & 15) << 24, device = device,
    status = bytes.u8(data, e + 7), state = bytes.u8(data, e + 27),
    power_on_hours = bytes.u16(data, e + 28), commands = commands(data, at, 12, command_28),
  }
end

local function entry_48(data, at)
  local e = at + 90
  return named {
    device_control = bytes.u8(data, e), error = bytes.u8(data, e + 1),
    count = bytes.u16(data, e + 2), lba = lba_48(data, e + 4), device = bytes.u8(data, e + 10),
    status = bytes.u8(data, e + 11), state = bytes.u8(data, e + 31),
    power_on_hours = bytes.u16(data, e + 32), commands = commands(data, at, 18, command_48),
  }
end

-- Firmware of the first VelociRaptors puts records of the summary kind into the extended log's
-- slots: the commands at byte 18, the error at byte 90. Their addresses make no sense in either
-- reading.
local function entry_28_in_48(data, at)
  local e = at + 90
  local entry = {
    error = bytes.u8(data, e + 1), count = bytes.u8(data, e + 2), device = bytes.u8(data, e + 6),
    status = bytes.u8(data, e + 7), state = bytes.u8(data, e + 27),
    power_on_hours = bytes.u16(data, e + 28),
    lba_doubtful = bytes.number(data, e + 3, 3) | (bytes.u8(data, e + 6) & 15) << 24,
    commands = commands(data, at + 18, 12, command_28),
  }
  for _, c in ipairs(entry.commands) do c.lba, c.lba_doubtful = nil, c.lba end
  return named(entry)
end

-- Walk a ring of slots back from the newest. `at(i)` is the byte of slot i (from 0), `decode` reads
-- it.
local function walk(data, result, ring, newest, length, at, decode)
  local total = math.min(ring, result.count, MAX_ENTRIES)
  for k = 0, total - 1 do
    local slot = (newest - k) % ring
    local offset = at(slot)
    if offset + length <= #data and not bytes.is_zero(data, offset, length) then
      local entry = decode(data, offset)
      entry.number, entry.slot = result.count - k, slot
      result.entries[#result.entries + 1] = entry
    end
  end
  if total == MAX_ENTRIES and result.count > total and ring > total then
    bytes.warn(result, "cut", "only the newest %d errors are shown", MAX_ENTRIES)
  end
end

local function check_count(result)
  if result.count == 65535 then
    result.count_saturated = true
    bytes.warn(result, "saturated", "the count of errors stays at 65535: there may have been more")
  end
end

--- Decode the summary error log, or the comprehensive one (several pages of the same layout).
-- @tparam string data  SMART log 01h (512 bytes) or 02h (a multiple)
-- @treturn table  `version checksum_ok count count_saturated`, `entries[]` newest first `{number
--   slot power_on_hours (16 bit: wraps at 65536) state state_name error error_names status
--   status_names count lba device commands[] {command command_name features count lba device
--   device_control time_since_power_on_ms}}`, `warnings`; the address is cut to 28 bits here
-- @usage local log = error_log.summary(page); if log.count > 0 then print(log.entries[1].lba) end
function M.summary(data)
  local result = bytes.result(data, 512)
  result.entries = bytes.list()
  result.version = bytes.u8(data, 0)
  local index, pages = bytes.u8(data, 1), #data // 512
  result.count = bytes.u16(data, 452)
  if not result.count then return result end
  bytes.check_sum(result, data, 0, "error log")
  if result.version == 0 or result.count == 0 and index == 0 then return result end
  check_count(result)
  local ring = math.max(pages, 1) * 5
  if index == 0 or index > ring then
    bytes.warn_of_index(result, "error", index, ring)
    return result
  end
  walk(data, result, ring, index - 1, 90,
    function(slot) return slot // 5 * 512 + 2 + slot % 5 * 90 end, entry_28)
  return result
end

local function layout_is_28(data, ring)
  local seen = false
  for slot = 0, math.min(ring, 24) - 1 do
    local at = slot // 4 * 512 + 4 + slot % 4 * 124
    if at + 124 <= #data and not bytes.is_zero(data, at, 124) then
      -- Read as usual: status, state and hours; read as a summary record: a status with DRDY set.
      if bytes.u8(data, at + 101) ~= 0 or bytes.u8(data, at + 121) ~= 0
        or bytes.u16(data, at + 122) ~= 0
        or bytes.u8(data, at + 97) & 0x40 == 0 then
        return false
      end
      seen = true
    end
  end
  return seen
end

--- Decode the extended comprehensive error log.
-- @tparam string data  GP log 03h, as many pages as were read
-- @tparam[opt] table options  `layout`: "48-bit" or "28-bit" instead of finding it out
-- @treturn table  as @{summary}, with `pages`, `layout` ("48-bit"; "28-bit" for the records of the
--   first VelociRaptors, whose addresses are `lba_doubtful`) and, in each entry, `device_control`
-- @usage local log = error_log.extended(pages); print(log.count, #log.entries)
function M.extended(data, options)
  local result = bytes.result(data, 512)
  result.entries = bytes.list()
  result.version = bytes.u8(data, 0)
  result.pages = #data // 512
  local index = bytes.u16(data, 2)
  result.count = bytes.u16(data, 500)
  if not result.count then return result end
  bytes.check_sum(result, data, 0, "error log's first page")
  if result.count == 0 then return result end
  check_count(result)
  local ring = result.pages * 4
  if index == 0 or index > ring then
    bytes.warn_of_index(result, "error", index, ring)
    return result
  end
  local forced = options and options.layout
  result.layout = forced or (layout_is_28(data, ring) and "28-bit" or "48-bit")
  if result.layout == "28-bit" and not forced then
    bytes.warn(result, "layout", "the entries are 28 bit records: addresses are doubtful")
  end
  for page = 1, math.min(result.pages, MAX_ENTRIES // 4) - 1 do
    bytes.check_sum(result, data, page * 512, ("error log's page %d"):format(page))
  end
  walk(data, result, ring, index - 1, 124,
    function(slot) return slot // 4 * 512 + 4 + slot % 4 * 124 end,
    result.layout == "28-bit" and entry_28_in_48 or entry_48)
  return result
end

return M
