--- ATA self-test logs: simple (SMART log 06h), extended (GP log 07h) and selective (SMART log 09h).
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.self_test_log

local bytes = require "hdd.drive.bytes"
local smart_data = require "hdd.drive.smart_data"

local M = {}

-- An extended log may claim thousands of pages; so many entries are decoded, the newest first.
local MAX_ENTRIES = 190

local TYPES = {
  [0] = "off-line", "short", "extended", "conveyance", "selective", [0x7f] = "abort",
  [0x81] = "short captive", [0x82] = "extended captive", [0x83] = "conveyance captive",
  [0x84] = "selective captive",
}

local function type_name(code)
  if TYPES[code] then return TYPES[code] end
  if code >= 0x40 and code <= 0x7e or code >= 0x90 then return "maker's own" end
  return "reserved"
end

local function entry(data, at, address_size)
  local code = bytes.u8(data, at)
  local e = smart_data.self_test_status(bytes.u8(data, at + 1))
  e.type_code, e.type = code, type_name(code)
  e.hours_16_bit = bytes.u16(data, at + 2)
  e.checkpoint = bytes.u8(data, at + 4)
  local lba = bytes.number(data, at + 5, address_size)
  -- All ones is "none"; a test that found nothing often leaves zeroes, which are no address either.
  if lba ~= (1 << address_size * 8) - 1 and (lba ~= 0 or e.failed) then e.lba = lba end
  return e
end

-- The log counts hours in 16 bits. The true hours are the largest that end alike, are not later
-- than the next newer test, and not later than the drive's own power-on hours.
local function unwrap(result, now)
  if not now then return end
  now = math.floor(now)
  local limit, out_of_order = now + 1, false  -- the two counters may tick apart
  for _, e in ipairs(result.entries) do
    local hours = limit - (limit - e.hours_16_bit) % 65536
    if hours < 0 then
      hours, out_of_order = e.hours_16_bit, true
    else
      limit = hours
    end
    e.power_on_hours = math.tointeger(hours)
    e.age_hours = math.max(now - e.power_on_hours, 0)
    if e.power_on_hours ~= e.hours_16_bit then result.hours_wrapped = true end
  end
  if result.hours_wrapped then
    bytes.warn(result, "hours_wrap",
      "the log's hours wrap at 65536: ages are worked out from the power-on hours")
  end
  if out_of_order then
    bytes.warn(result, "order",
      "tests are dated later than the drive's power-on hours or than newer tests")
  end
end

-- Entries from the newest back through the ring.
local function walk(data, result, ring, newest, address_size, length, at)
  if newest == 0 then return end
  if newest > ring then
    bytes.warn_of_index(result, "test", newest, ring)
    return
  end
  for k = 0, math.min(ring, MAX_ENTRIES) - 1 do
    local offset = at((newest - 1 - k) % ring)
    if offset + length <= #data and not bytes.is_zero(data, offset, length) then
      local e = entry(data, offset, address_size)
      e.number = #result.entries + 1
      result.entries[e.number] = e
    end
  end
end

--- Decode the simple self-test log.
-- @tparam string data  SMART log 06h, 512 bytes
-- @tparam[opt] number power_on_hours  the drive's own, to undo the wrap of 16 bit hours
-- @treturn table  `version checksum_ok hours_wrapped`, `entries[]` newest first `{number type
--   type_code status code result failed in_progress remaining_percent hours_16_bit power_on_hours
--   age_hours checkpoint lba}` (the true hours and the age only when the drive's were given; lba
--   only where one failed), `warnings`
-- @usage local log = self_test_log.simple(page, 84428); print(log.entries[1].age_hours)
function M.simple(data, power_on_hours)
  local result = bytes.result(data, 512)
  result.entries = bytes.list()
  result.version = bytes.u16(data, 0)
  local newest = bytes.u8(data, 508)
  if not newest then return result end
  bytes.check_sum(result, data, 0, "self-test log")
  walk(data, result, 21, newest, 4, 24, function(slot) return 2 + slot * 24 end)
  unwrap(result, power_on_hours)
  return result
end

--- Decode the extended self-test log.
-- @tparam string data  GP log 07h, as many pages as were read
-- @tparam[opt] number power_on_hours  the drive's own
-- @treturn table  as @{simple}, with `pages`
-- @usage local log = self_test_log.extended(pages, 84428)
function M.extended(data, power_on_hours)
  local result = bytes.result(data, 512)
  result.entries = bytes.list()
  result.version = bytes.u8(data, 0)
  result.pages = #data // 512
  local newest = bytes.u16(data, 2)
  if not newest or result.pages == 0 then return result end
  for page = 0, math.min(result.pages, MAX_ENTRIES // 19) - 1 do
    bytes.check_sum(result, data, page * 512, ("self-test log's page %d"):format(page))
  end
  walk(data, result, result.pages * 19, newest, 6, 26,
    function(slot) return slot // 19 * 512 + 4 + slot % 19 * 26 end)
  unwrap(result, power_on_hours)
  return result
end

--- Decode the selective self-test log.
-- @tparam string data  SMART log 09h, 512 bytes
-- @treturn table  `version checksum_ok`, `spans[] {first_lba last_lba}` (five; equal to 0 both when
--   unused), `current_lba current_span`, `flags scan_rest pending active`, `resume_minutes`,
--   `warnings`
-- @usage local log = self_test_log.selective(page); print(log.spans[1].last_lba)
function M.selective(data)
  local result = bytes.result(data, 512)
  bytes.check_sum(result, data, 0, "selective self-test log")
  result.version = bytes.u16(data, 0)
  result.spans = bytes.list()
  for k = 0, 4 do
    local first, last = bytes.u64(data, 2 + k * 16), bytes.u64(data, 10 + k * 16)
    if last then
      result.spans[k + 1] = {first_lba = bytes.unsigned(first), last_lba = bytes.unsigned(last)}
    end
  end
  result.current_lba = bytes.unsigned(bytes.u64(data, 492))
  result.current_span = bytes.u16(data, 500)
  local flags = bytes.u16(data, 502)
  if flags then
    result.flags, result.scan_rest = flags, flags >> 1 & 1 == 1
    result.pending, result.active = flags >> 3 & 1 == 1, flags >> 4 & 1 == 1
  end
  result.resume_minutes = bytes.u16(data, 508)
  return result
end

return M
