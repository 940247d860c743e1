-- How a counter got from one value to the next: it grew, was reset, wrapped, or stands at its
-- largest
-- value. Never a negative growth, nor a huge one that nobody counted.
-- SPDX-License-Identifier: GPL-3.0-or-later

local M = {}

-- Widths in which drives keep counters that wrap.
local MODULI = {1 << 16, 1 << 32}

-- Close enough to the end, and to the start again, that going round is likelier than a reset.
local CLOSE <const> = 20

-- Strings of digits are numbers beyond 2^63.
local function less(a, b)
  if type(a) == type(b) and type(a) ~= "string" then return a < b end
  if type(a) ~= "string" then return true end
  if type(b) ~= "string" then return false end
  if #a ~= #b then return #a < #b end
  return a < b
end

local function around(from, to)
  for _, modulus in ipairs(MODULI) do
    if from < modulus and from >= modulus - modulus // CLOSE and to < modulus // CLOSE then
      return to - from + modulus
    end
  end
end

-- From the earlier value to the later one, whose fact's traits are `saturated` and `resets`:
-- {change, growth, at_least}; nil when nothing happened that can be told.
function M.of(from, to, traits)
  local numbers = type(from) == "number" and type(to) == "number"
  if traits.saturated then
    return {change = "saturated", at_least = true, growth = numbers and to > from and to - from
      or nil}
  end
  if from == to then return nil end
  if less(from, to) then return {change = "grew", growth = numbers and to - from or nil} end
  if numbers and not traits.resets and math.type(from) == "integer"
    and math.type(to) == "integer" then
    local growth = around(from, to)
    if growth then return {change = "wrapped", growth = growth} end
  end
  -- What was counted before the reset is lost: this much at least.
  return {change = "reset", growth = numbers and to or nil, at_least = true}
end

return M
