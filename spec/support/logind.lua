--- systemd-logind on a bus of its own, for machines that systemd does not run.  On one that it runs,
-- it is that one's.
-- SPDX-License-Identifier: GPL-3.0-or-later
local place = require "spec.support.place"
local shell = require "spec.support.shell"

local M = {}
local Logind = {}
Logind.__index = Logind

local DAEMON = "/lib/systemd/systemd-logind"

--- Why it cannot be had; nil when it can.
function M.why()
  if select(2, shell.run("command -v systemd-inhibit")) ~= 0 then
    return "needs systemd-inhibit (Debian package systemd)"
  end
  if select(2, shell.run("test -d /run/systemd/system")) == 0 then return nil end
  if shell.run("id -u") ~= "0" then return "needs root, or a machine that systemd runs" end
  local _, status = shell.run("command -v dbus-daemon && test -x " .. DAEMON)
  return status ~= 0 and "needs dbus-daemon and systemd-logind (Debian packages dbus-daemon, systemd)"
    or nil
end

--- Starts it.
-- @treturn Logind  `.env` for programs that are to use it; `:list()`, what is inhibited; `:close()`
function M.start()
  local self = setmetatable({env = {}}, Logind)
  if select(2, shell.run("test -d /run/systemd/system")) == 0 then return self end
  self.place = place.new()
  local address = "unix:path=" .. self.place:path("bus")
  self.env.DBUS_SYSTEM_BUS_ADDRESS = address
  self.place:start {"dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=" .. address}
  self.place.await("test -S " .. address:match("=(.*)"), 5)
  local _, log = self.place:start {"env", "DBUS_SYSTEM_BUS_ADDRESS=" .. address, DAEMON}
  self.place.await(self:command() .. " >/dev/null 2>&1", 5, function() return shell.read(log) end)
  return self
end

function Logind:command()
  local address = self.env.DBUS_SYSTEM_BUS_ADDRESS
  return (address and "DBUS_SYSTEM_BUS_ADDRESS=" .. shell.quote(address) .. " " or "")
    .. "systemd-inhibit --list --no-pager"
end

--- What is inhibited, as systemd-inhibit lists it.
function Logind:list() return (shell.run(self:command())) end

--- Ends it.  Harmless the second time.
function Logind:close()
  if self.place then self.place:close() end
end
Logind.__close = Logind.close

return M
