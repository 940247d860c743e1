--- NVMe fields that other drives do not have: counters of 128 bits, temperatures in kelvin.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.nvme_bytes

local bytes = require "hdd.drive.bytes"

local M = {}

-- Digits are worked out seven at a time, which leaves room for the multiplication.
local LIMB = 10000000

local function multiply_add(limbs, factor, carry)
  for i = 1, #limbs do
    local n = limbs[i] * factor + carry
    limbs[i], carry = n % LIMB, n // LIMB
  end
  while carry > 0 do
    limbs[#limbs + 1], carry = carry % LIMB, carry // LIMB
  end
end

local function digits(data, offset, unit)
  local limbs = {}
  for at = offset + 15, offset, -1 do multiply_add(limbs, 256, bytes.u8(data, at)) end
  multiply_add(limbs, unit, 0)
  local parts = {("%d"):format(limbs[#limbs])}
  for i = #limbs - 1, 1, -1 do parts[#parts + 1] = ("%07d"):format(limbs[i]) end
  return table.concat(parts)
end

--- A counter of 128 bits, low byte first. Lua's integers end at 2^63-1: what is larger comes as a
-- string of its decimal digits (as from @{hdd.drive.bytes.unsigned}), so that no digit is lost,
-- none
-- is rounded, and no sign appears.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @tparam[opt=1] integer unit  what one step of the counter stands for, at most 1000000
-- @treturn ?integer|string  the counter times the unit; nil beyond the end
-- @usage local hours = nvme_bytes.counter(page, 128)
function M.counter(data, offset, unit)
  unit = unit or 1
  local low, high = bytes.u64(data, offset), bytes.u64(data, offset + 8)
  if not high then return nil end
  if high == 0 and low >= 0 and low <= math.maxinteger // unit then return low * unit end
  return digits(data, offset, unit)
end

--- A temperature in kelvin, where 0 means that it is not reported. The offset is 273, as everyone
-- has it.
-- @tparam string data     bytes of a page
-- @tparam integer offset  from 0
-- @treturn ?integer  degrees Celsius; nil when not reported, and outside -127 to 127
-- @treturn ?integer  the kelvin that could not be believed
-- @usage local now = nvme_bytes.celsius(page, 1)
function M.celsius(data, offset)
  local kelvin = bytes.u16(data, offset)
  if not kelvin or kelvin == 0 then return nil end
  local celsius = kelvin - 273
  if celsius < -127 or celsius > 127 then return nil, kelvin end
  return celsius
end

return M
