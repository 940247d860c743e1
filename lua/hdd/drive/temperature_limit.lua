--- The temperature up to which a drive may be used, by its own word.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.temperature_limit

local device_statistics = require "hdd.drive.device_statistics"

local M = {}

-- Outside of these no maker sets a limit; what stands there is a mistake of the firmware.
local LEAST_LIMIT <const>, MOST_LIMIT <const> = 30, 125

-- Each {celsius, where}; the lowest that can be believed counts.
local function limits(said)
  local sct, page = said.sct or {}, said.temperature_page or {}
  local status, history = sct.status or {}, sct.temperature_history or {}
  return {
    {device_statistics.value(said.statistics, "max_operating_c"), "device statistics"},
    {status.max_operating_c, "SCT status"},
    {not history.doubtful and history.limit_highest_c or nil, "SCT temperature history"},
    {said.identity and said.identity.warning_temperature_c, "Identify Controller"},
    {page.reference_c, "temperature page"},
    {said.exceptions and said.exceptions.trip_c, "informational exceptions page"},
  }
end

--- Can this be a limit?
-- @tparam ?number celsius
-- @treturn boolean
function M.believed(celsius)
  return celsius and celsius >= LEAST_LIMIT and celsius <= MOST_LIMIT
end

--- The limit.
-- @tparam table said  what `hdd.health.read` gives
-- @treturn ?number  °C; nil when it tells none
-- @treturn ?string  where it stands: "SCT status"
-- @usage print(temperature_limit.of(assert(drive:smart())))
function M.of(said)
  local least, where
  for _, l in ipairs(limits(said)) do
    if M.believed(l[1]) and (not least or l[1] < least) then least, where = l[1], l[2] end
  end
  return least, where
end

return M
