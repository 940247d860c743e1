--- The command that is run when a long procedure has ended (`--on-finish`).
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.on_finish
local shell = require "hdd.cli.shell"

local M = {}

--- Runs a command by sh and waits for its end. What it prints goes to standard error: standard output
-- may have a result.
-- @tparam string command
-- @tparam table environment  strings by name, beside what there is
-- @treturn boolean  true
-- @return or nil, a message: it failed, or could not be run; the procedure's own result stands
-- @usage on_finish.run("mail -s \"$HDDLUA_VERDICT\" root <\"$HDDLUA_DOCUMENT\"",
--   { HDDLUA_VERDICT = "PASS", HDDLUA_DOCUMENT = "burnin.json" })
function M.run(command, environment)
  local names, settings = {}, {}
  for name in pairs(environment) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    settings[i] = name .. "=" .. shell.quote(tostring(environment[name]))
  end
  settings[#settings + 1] = "exec sh -c " .. shell.quote(command) .. " >&2 </dev/null"
  -- exec would not take the settings along: they are exported for it.
  local text = #names > 0 and "export " .. table.concat(settings, " ", 1, #names) .. "; " or ""
  io.stdout:flush()
  local pipe, message = io.popen(text .. settings[#settings], "r")
  if not pipe then return nil, string.format("--on-finish %s: cannot be run: %s", command, message) end
  pipe:read("a")
  local _, how, status = pipe:close()
  if how == "exit" and status == 0 then return true end
  return nil, string.format("--on-finish %s: it ended with %s %d; the result is not touched by that",
    command, how == "exit" and "status" or "signal", status)
end

return M
