--- A change of a watched drive as one line, for people or as JSON.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.smartwatch
local json = require "hdd.json"
local printable = require "hdd.printable"
local units = require "hdd.units"

local M = {}

local STATUS = {good = "good", warning = "look closer", failing = "FAILING", unknown = "unknown"}

local function number(value, unit)
  if value == nil then return "unknown" end
  local text = type(value) == "number" and units.exact(value) or tostring(value)
  return unit and text .. " " .. unit or text
end

local function first_text(said)
  local t = said.temperature and said.temperature.temperature_c
  local id = said.identity
  return ("%s, serial %s: %s%s"):format(id.model or "?", id.serial or "unknown",
    STATUS[said.verdict.status], t and ", " .. number(t) .. " °C" or "")
end

local function change_text(c)
  local text = ("%s: %s -> %s"):format(c.what, number(c.from), number(c.to, c.unit))
  if c.change == "reset" then text = text .. " (reset)" end
  if c.change == "wrapped" then text = text .. " (wrapped)" end
  if c.change == "saturated" then text = text .. " (full: there may be more)" end
  if c.change == "grew" and type(c.growth) == "number" then
    text = text .. (" (+%s)"):format(units.exact(c.growth))
  end
  return text
end

local PLAIN = {failure = true, answer = true, standby = true, ["given up"] = true}

--- A line for a person.
-- @tparam table state   of `hdd.procedure.smartwatch`
-- @tparam table change
-- @tparam[opt] table options  `utf8`; `width` (columns; nil: as wide as it takes)
-- @treturn string  without a line's end
-- @usage io.write(view.line(state, change, {utf8 = true}), "\n")
function M.line(state, change, options)
  options = options or {}
  local text
  if change.name == "first" then
    text = first_text(state.said)
  elseif PLAIN[change.name] then
    text = change.what
  elseif change.name == "verdict" then
    text = ("verdict: %s -> %s: %s"):format(STATUS[change.from], STATUS[change.to],
      change.where or "")
  else
    text = change_text(change)
  end
  local name = state.path:match("^/dev/(.+)$") or state.path
  local line = ("%s  %s  %s"):format(os.date("%Y-%m-%d %H:%M:%S"), name, text)
  if not options.utf8 then line = line:gsub("°C", "C") end
  line = printable.line(line, not options.utf8)
  return options.width and printable.clip(line, options.width) or line
end

--- A JSON line.
-- @tparam table state
-- @tparam table change
-- @treturn string  with its end
-- @usage io.write(view.json(state, change))
function M.json(state, change)
  local said = state.said
  local t = {time = os.date("!%Y-%m-%dT%H:%M:%SZ"), path = state.path,
    model = said and said.identity.model, serial = said and said.identity.serial}
  for key, value in pairs(change) do t[key] = value end
  if change.name == "first" and said then
    t.status = said.verdict.status
    t.temperature_c = said.temperature and said.temperature.temperature_c
  end
  return json.encode(t, nil, true)
end

return M
