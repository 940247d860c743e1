--- Two opinions on the same bytes: where libatasmart reads something else from them than our own
-- decoders, what is shown, and why.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.second_opinion
local bytes = require "hdd.drive.bytes"
local smart_data = require "hdd.drive.smart_data"

local M = {}

-- Why ours is shown, by attribute: what libatasmart is known to do.
local PACKED <const> = "other numbers stand in its upper bytes; libatasmart takes them along"
local WRITTEN <const> = "the unit of this family; libatasmart counts 65536 sectors always"
local TIMER <const> = "of this family it is no time; FFFFh is a timer that has not run yet"
local WHY = {
  [5] = PACKED, [9] = "the unit of this family; libatasmart's list of such drives ends in 2012",
  [190] = PACKED, [194] = PACKED, [196] = PACKED, [197] = PACKED, [198] = PACKED, [226] = TIMER,
  [227] = TIMER, [228] = TIMER,
  [231] = "life left on flash; libatasmart takes it for a temperature",
  [240] = "milliseconds stand above the hours", [241] = WRITTEN, [242] = WRITTEN,
}
local OTHERWISE <const> = "what this family keeps there"
local UNKNOWN <const> = "its unit is not known for this model: the number is shown as it is"

local function near(a, b, share) return math.abs(a - b) <= math.max(math.abs(b) * share, 1) end

local function duration(ms)
  return ms < 3600000 and ("%d ms"):format(ms) or ("%.1f h"):format(ms / 3600000)
end

-- By libatasmart's unit: the same number of ours, and how its number reads.
local UNITS = {
  ms = {function(m) return m.power_on_hours and m.power_on_hours * 3600000
    or m.head_flying_hours and m.head_flying_hours * 3600000 or m.spin_up_ms end, duration, 0.001},
  sectors = {function(m) return m.sectors or m.count or m.blocks end,
    function(n) return ("%d sectors"):format(n) end, 0},
  mK = {function(m) return m.temperature_c and (m.temperature_c + 273.15) * 1000 end,
    function(n) return ("%.1f °C"):format(n / 1000 - 273.15) end, 0.001},
  MB = {function(m) return m.data_bytes and m.data_bytes / 1e6 end,
    function(n) return ("%.3f TB"):format(n / 1e6) end, 0.01},
  ["%"] = {function(m) return m.percent or m.life_left_percent or m.reserve_left_percent end,
    function(n) return ("%d %%"):format(n) end, 0},
}

local function of_attribute(list, a, theirs)
  local unit = UNITS[theirs.unit]
  if not unit or not theirs.pretty then return end
  local ours = a.meaning and unit[1](a.meaning)
  -- A number that only gets another unit is no difference.
  if theirs.pretty == a.raw or ours and near(ours, theirs.pretty, unit[3]) then return end
  table.insert(list, {
    what = ("attribute %d"):format(a.id), shown = a.text, libatasmart = unit[2](theirs.pretty),
    why = not a.meaning and UNKNOWN or WHY[a.id] or OTHERWISE,
  })
end

-- Its words name what is wrong; ours are four. Only a contradiction is worth telling.
local function of_status(list, said, overall)
  local status = said.smart_status
  if status == "failed" and overall == "GOOD" or status == "passed" and overall == "BAD_STATUS" then
    table.insert(list, {what = "overall", shown = status, libatasmart = overall,
      why = "the drive's own word is shown"})
  end
end

--- What differs.
-- @tparam table said    what `hdd.drive.ata.decode` gave
-- @tparam table theirs  libatasmart's opinion, as of `hdd.commands.atasmart`
-- @treturn {table,...}  `{what shown libatasmart why}`, in the order of the attributes
-- @usage for _, o in ipairs(second_opinion.compare(said, theirs)) do print(o.what, o.libatasmart)
--   end
function M.compare(said, theirs)
  local list = bytes.list()
  if not said.smart then return list end
  for _, attribute in ipairs(theirs.attributes) do
    local a = smart_data.find(said.smart, attribute.id)
    if a then of_attribute(list, a, attribute) end
  end
  of_status(list, said, theirs.overall)
  return list
end

return M
