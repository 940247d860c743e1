--- smartctl's raw value of an attribute, as text, against what we make of the same bytes.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

--- Are its numbers ours?
-- @tparam string text  "0 (0 0 0)", "25 (Min/Max 20/41)" ...
-- @tparam table a      an attribute of `hdd.drive.smart_data`
-- @treturn boolean
function M.agrees(text, a)
  local m = a.meaning or {}
  local byte = {}
  for i = 0, 6 do byte[i] = i < 6 and a.raw >> i * 8 & 255 or a.reserved_byte or 0 end
  local function word(i) return byte[i] | byte[i + 1] << 8 end
  local n = {}
  for digits in text:gmatch("%-?%d+") do n[#n + 1] = math.tointeger(digits) end
  if text:find("Min/Max") then
    return m.temperature_c == n[1] and m.lowest_c == n[2] and m.highest_c == n[3]
  elseif text:find("Average") then
    return m.spin_up_ms == n[1] and m.average_ms == n[2]
  elseif text:find("h%+") then
    local seconds = (m.power_on_hours or m.head_flying_hours) * 3600 + (m.head_flying_ms
      or 0) / 1000
    local theirs = n[1] * 3600 + n[2] * 60 + (n[3] or 0) + (n[4] or 0) / 1000
    return math.abs(seconds - theirs) < (n[3] and 0.002 or 60)
  elseif text:find("/") then  -- 24 bits of 32 (with the seventh byte), or of 24
    local low, high = a.raw & 0xffffffff, byte[4] | byte[5] << 8 | byte[6] << 16
    return m.errors and m.errors == n[1] and m.operations == n[2] and low == n[2] and high == n[1]
      or not m.errors and a.raw & 0xffffff == n[2] and a.raw >> 24 == n[1]
  elseif #n == 6 then         -- the lowest byte (the other five)
    return (m.temperature_c or byte[0]) == n[1] and byte[5] == n[2] and byte[4] == n[3]
      and byte[3] == n[4] and byte[2] == n[5]
      and byte[1] == n[6] or n[1] == 128 and m.temperature_c == nil
  elseif #n == 4 then         -- 24 bits of hours (the upper three bytes)
    return (m.power_on_hours or m.head_flying_hours) == n[1] and byte[5] == n[2] and byte[4] == n[3]
      and byte[3] == n[4]
  elseif text:find("%(") then -- the lowest word (the upper two)
    return (m.result or m.sectors or m.count or word(0)) == n[1] and word(4) == n[2]
      and word(2) == n[3]
  elseif #n == 3 then
    return m.words and m.words[1] == n[1] and m.words[2] == n[2] and m.words[3] == n[3]
  end
  return a.raw == n[1]
end

return M
