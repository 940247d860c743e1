--- Times as documents have them, as numbers. `os.time` would take them for local ones.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.calendar
local M = {}

-- Days since 1970-01-01 in the Gregorian calendar, the year taken to begin in March.
local function days(year, month, day)
  if month <= 2 then year, month = year - 1, month + 12 end
  return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 719469
end

--- Seconds since 1970 of a time in UTC.
-- @param text  "2026-10-01T12:00:00Z" (ISO 8601), or whatever is there
-- @treturn ?integer  nil for what is no such time
-- @usage calendar.seconds "1970-01-02T00:00:01Z" --> 86401
function M.seconds(text)
  local numbers = {(type(text) == "string" and text or "")
    :match "^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):(%d%d):(%d%d)"}
  if not numbers[1] then return nil end
  for i, digits in ipairs(numbers) do numbers[i] = math.tointeger(digits) end
  local year, month, day, hour, minute, second = table.unpack(numbers)
  return days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second
end

return M
