--- The systemd unit that goes on with a long procedure after a reboot.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.resume_unit
local lfs = require "lfs"
local shell = require "hdd.cli.shell"

local M = {}

--- This program, for the command of a unit.
-- @treturn string  an absolute path
function M.program()
  return lfs.symlinkattributes("/proc/self/exe", "target")
end

-- A path as it stands alone on a line: specifiers begin with %.
local function plain(text)
  return (text:gsub("%%", "%%%%"))
end

-- A word of several, as systemd reads it.
local function word(text)
  local escaped = plain(text):gsub("[\\\"]", "\\%0"):gsub("\n", "\\n")
  return escaped:find("^[%w%%+,./:=@_-]+$") and escaped or "\"" .. escaped .. "\""
end

-- In a command, variables begin with $.
local function argument(text)
  return word((text:gsub("%$", "$$")))
end

local function words(list, f)
  local out = {}
  for i, text in ipairs(list) do out[i] = f(text) end
  return table.concat(out, " ")
end

--- The text of a unit that runs a command at each boot for as long as a state file is there.
-- @tparam {string,...} command  program (an absolute path) and arguments
-- @tparam table options  `state` (file, or folder of files), `folder` (to run in), `description`
-- @treturn string
-- @usage io.write(resume_unit.text({ resume_unit.program(), "burnin", "--resume", "--state", state },
--   { state = state, folder = lfs.currentdir(), description = "burn-in of /dev/sdb" }))
function M.text(command, options)
  local condition = lfs.attributes(options.state, "mode") == "directory"
    and "ConditionDirectoryNotEmpty=" or "ConditionPathExists="
  -- One that ended with 1 has done its work: a drive has failed. A drive may take its time to appear:
  -- without it the command fails, and is tried again.
  return table.concat({
    "[Unit]",
    "Description=hddlua: " .. plain(options.description:gsub("[\n\\]", " ")),
    condition .. plain(options.state),
    "RequiresMountsFor=" .. words({ options.state, options.folder }, word),
    "StartLimitIntervalSec=3600",
    "StartLimitBurst=10",
    "",
    "[Service]",
    "Type=simple",
    "WorkingDirectory=" .. plain(options.folder),
    "ExecStart=" .. words(command, argument),
    "SuccessExitStatus=1",
    "Restart=on-failure",
    "RestartSec=60",
    "TimeoutStopSec=60",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  }, "\n")
end

--- Commands for sh that install a unit, to be shown to the person.
-- @tparam string name  "hddlua-burnin"
-- @tparam string text  of the unit
-- @treturn string
function M.install(name, text)
  local path = "/etc/systemd/system/" .. name .. ".service"
  return "cat >" .. shell.words { path } .. " <<'END'\n" .. text .. "END\n"
    .. "systemctl daemon-reload && systemctl enable " .. shell.words { name .. ".service" } .. "\n"
end

return M
