--- How an interrupted burn-in goes on: the command, and the unit that runs it at each boot.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.burnin.again
local consent = require "hdd.consent"
local frame = require "hdd.cli.health"
local lfs = require "lfs"
local resume_unit = require "hdd.cli.resume_unit"
local state = require "hdd.state"

local M = {}

-- The command that goes on with what is interrupted: as a person types it, and for a unit.
local function resume_words(entries, options)
  local words = { resume_unit.program() or "hddlua", "burnin", "--resume" }
  words[#words + 1], words[#words + 2] = "--state", options.state or state.folder()
  for _, entry in ipairs(entries) do
    local name = not entry.problem and entry.parameters.write and consent.name(entry.drive)
    if name then words[#words + 1], words[#words + 2] = "--confirm", name end
  end
  if options.json then words[#words + 1], words[#words + 2] = "--json", options.json end
  return words
end

--- Says on standard error how the burn-in goes on after a reboot: the unit that does that.
-- @tparam {Entry,...} entries
-- @tparam table options  `state`, `json`
function M.tell_resume(entries, options)
  if options.resume then return end
  local folder = options.state or state.folder()
  if folder:sub(1, 1) ~= "/" then folder = lfs.currentdir() .. "/" .. folder end
  local words = resume_words(entries, setmetatable({ state = folder }, { __index = options }))
  local text = resume_unit.text(words, {
    state = folder, folder = lfs.currentdir(), description = "burn-in",
  })
  frame.say("after Ctrl-C, a crash or a reboot this goes on; a unit for each boot has the line (--unit prints all "
    .. "of it):")
  io.stderr:write(options.unit and resume_unit.install("hddlua-burnin", text)
    or text:match("ExecStart=[^\n]*\n"))
end

return M
