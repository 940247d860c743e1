--- The simulated mechanical drive: spec/support/hddsim behind a loop device.  Its specs are tagged
-- #realtime.  Call `needs.hddsim()` first.
-- SPDX-License-Identifier: GPL-3.0-or-later
local json = require "dkjson"
local place = require "spec.support.place"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local M = {}
local Drive = {}
Drive.__index = Drive

local WITH, BINARY = "spec/support/hddsim/with-hddsim", "build/support/hddsim"

local function decode(path)
  local text = assert(shell.read(path))
  return assert(json.decode(text, 1, json.null))
end

--- Runs a command on a simulated drive that lives as long as the command.
-- @tparam string drive  preset and settings: "tiny,fault=eio:1000+8"
-- @tparam {string,...} argv  program and arguments; an argument that is "$DISK" is the drive's path
-- @tparam[opt] table options  as for `process.run`
-- @treturn table  as `process.run`'s, with `truth`: what the drive is and what it did
-- @usage local r = hddsim.run("tiny", {"build/hddlua", "zoneprofile", "$DISK"}, {timeout = 120})
function M.run(drive, argv, options)
  options = options or {}
  local home <close> = place.new()
  local truth = home:path("truth")
  local words = {}
  for i, word in ipairs(argv) do
    words[i] = word == "$DISK" and '"$DISK"' or shell.quote(word)
  end
  local env = {TRUTH = truth, HDDSIM = BINARY}
  for name, value in pairs(options.env or {}) do env[name] = value end
  local result = process.run({WITH, drive, "--", "sh", "-c", "exec " .. table.concat(words, " ")},
                             setmetatable({env = env}, {__index = options}))
  if result.status == 125 then
    error("the simulated drive could not be set up: " .. result.stderr, 2)
  end
  result.truth = decode(truth)
  return result
end

--- Starts a simulated drive that lives until it is closed, for specs that open it themselves.
-- @tparam string drive  preset and settings
-- @treturn Drive  `.path` of the loop device, `:truth()`, `:standby()`, `:close()`
-- @usage local drive <close> = hddsim.start("tiny")
function M.start(drive)
  local home = place.new()
  local ready, truth = home:path("ready"), home:path("truth")
  -- It ends when the place is closed: the pid to end is with-hddsim's, which cleans up.
  local _, log = home:start {
    "env", "TRUTH=" .. truth, "HDDSIM=" .. BINARY, WITH, drive, "--", "sh", "-c",
    ('echo "$DISK $HDDSIM_PID" > %s.new && mv %s.new %s && exec sleep 86400'):format(ready, ready,
                                                                                    ready)}
  home.await("test -e " .. ready, 15, function() return shell.read(log) end)
  local path, pid = assert(shell.read(ready)):match("^(%S+) (%d+)")
  return setmetatable({place = home, path = path, pid = pid, file = truth}, Drive)
end

--- What the drive is, and what it has done until now.
function Drive:truth()
  local before = shell.run("stat -c %y " .. self.file)
  shell.must("kill -USR1 " .. self.pid)
  self.place.await(("test \"$(stat -c %%y %s)\" != '%s'"):format(self.file, before), 5)
  return decode(self.file)
end

--- Puts the drive to standby: its next read waits for the spin-up.
function Drive:standby() shell.must("kill -USR2 " .. self.pid) end

--- Ends it.  Harmless the second time.
function Drive:close() self.place:close() end
Drive.__close = Drive.close

return M
