--- Keeps the machine from going to sleep while a long procedure runs.
--
-- systemd-inhibit holds the lock, as a child that waits for the end of a pipe: it goes when it is
-- released and when this process ends, however that ends. Only sleep and idleness are kept off: a
-- shutdown ends a procedure by SIGTERM, and it can go on after it.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.inhibit
-- @usage local inhibitor, why = inhibit.hold "burn-in of /dev/sdb"
-- if not inhibitor then io.stderr:write(why, "\n") end
local printable = require "hdd.printable"
local shell = require "hdd.cli.shell"

local M = {}
local Inhibitor = {}
Inhibitor.__index = Inhibitor

local ANSWER_S <const> = 5 -- a bus that takes longer is none

local function inhibit_command(why, words)
  return "systemd-inhibit --what=sleep:idle --mode=block --who=hddlua --why="
    .. shell.quote(printable.line(why)) .. " " .. words
end

--- Keeps the machine awake.
-- @tparam string why  what for, as `systemd-inhibit --list` shows it
-- @treturn Inhibitor  `:release()`; also at `__close`
-- @return or nil, a sentence for the person: there is none, and why; no reason to stop
function M.hold(why)
  local probe = assert(io.popen("exec timeout " .. ANSWER_S .. " " .. inhibit_command(why, "true")
    .. " 2>&1 </dev/null", "r"))
  local words = probe:read("a")
  local _, how, status = probe:close()
  if how ~= "exit" or status ~= 0 then
    local reason = status == 127 and "there is no systemd-inhibit"
      or status == 124 and "systemd-inhibit does not answer"
      or printable.line(words:match("[^\n]+") or "systemd-inhibit failed")
    return nil, "nothing keeps this machine from going to sleep meanwhile: " .. reason
  end
  -- In a session of its own, which Ctrl-C does not reach: it is held until all is saved.
  local pipe = io.popen("exec setsid " .. inhibit_command(why, "cat") .. " >/dev/null 2>&1", "w")
  if not pipe then return nil, "nothing keeps this machine from going to sleep meanwhile" end
  return setmetatable({ pipe = pipe }, Inhibitor)
end

--- Lets it sleep again. Harmless the second time.
function Inhibitor:release()
  if self.pipe then self.pipe:close() end
  self.pipe = nil
end

Inhibitor.__close = Inhibitor.release

return M
