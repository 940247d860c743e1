--- Whether a decoder's result keeps to its fields: types, ranges, lists without holes, text that is
-- safe on a terminal and in JSON. For specs that feed decoders with broken bytes.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

local STATES = {ok = true, failing_now = true, failed_past = true, no_threshold = true}

-- Largest values by key; any other whole number is only bound not to be negative.
local LIMITS = {
  worst = 255, threshold = 255, flags = 0xffff, remaining_percent = 100, hours_16_bit = 65535,
  error = 255, status = 0xffff, device = 255, device_control = 255, command = 255, tag = 31,
  code = 15, type_code = 255, checkpoint = 255, size = 65535, index = 65535, address = 255,
  offset = 504, rotation_rpm = 0xfffe, depth = 32, revision = 0xffff, power_on_hours = 1 << 56,
  raw = (1 << 48) - 1, reserved_byte = 255, page = 255, features = 0xffff,
  sectors_48_bit = (1 << 48) - 1, sectors_28_bit = (1 << 32) - 1, life_left_percent = 100,
  life_used_percent = 255, reserve_left_percent = 100, reads_percent = 100, wear_percent = 1000,
  percent = 100, age_hours = 1 << 56, lba_doubtful = (1 << 28) - 1,
  time_since_power_on_ms = (1 << 32) - 1, minutes_ago = 478 * 65535,
}

-- All else that is a number is a whole one, and of Lua's integer type.
local FRACTIONS = {power_on_hours = true, wear_percent = true, temperature_c = true}

-- What counters of 128 bits have beyond Lua's integers is kept as text.
local WIDER = {nvme = {power_on_hours = math.maxinteger}}

local function number_fits(key, n, wider)
  if math.type(n) == "float" and (n == math.floor(n) or not FRACTIONS[key]) then return false end
  if n ~= n or n == math.huge or n == -math.huge then return false end
  if key:find("_c$") then return n >= -127 and n <= 127 end
  if key == "value" then return n >= -127 end  -- a statistic's, which may be a temperature
  return n >= 0 and n <= (wider[key] or LIMITS[key] or math.maxinteger)
end

local function check(value, key, path, depth, wider)
  local kind = type(value)
  if kind == "boolean" then return end
  if kind == "number" then
    if not number_fits(key, value, wider) then return ("%s is %s"):format(path, value) end
  elseif kind == "string" then
    if value:find("[%z\1-\31\127]") or not utf8.len(value) then
      return ("%s is not clean text"):format(path)
    end
    if key == "state" and path:find("^attributes") and not STATES[value] then
      return path .. " is no state"
    end
  elseif kind ~= "table" or depth > 8 then
    return ("%s is a %s"):format(path, kind)
  else
    local keys = 0
    for k, v in pairs(value) do
      keys = keys + 1
      local problem = check(v, type(k) == "number" and key or k,
        path == "" and k or path .. "." .. k, depth + 1, wider)
      if problem then return problem end
    end
    if #value > 0 and keys ~= #value then return path .. " has holes or keys of two kinds" end
    if #value > 4096 then return path .. " is too long" end
  end
end

--- What is wrong with a decoder's result.
-- @tparam table result
-- @tparam[opt] string kind  "ata", "nvme", "scsi"
-- @treturn ?string  nil when all is well
function M.problem(result, kind)
  for _, w in ipairs(result.warnings or {}) do
    if type(w.name) ~= "string" or type(w.message) ~= "string" then
      return "a warning has no name or message"
    end
  end
  return check(result, "", "", 0, WIDER[kind] or {})
end

return M
