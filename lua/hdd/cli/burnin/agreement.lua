--- Who agrees to a drive being overwritten: its name is given on the command line, or typed.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.burnin.agreement
local cli = require "hdd.cli"
local consent = require "hdd.consent"
local core = require "hdd.core"
local hdd = require "hdd"
local printable = require "hdd.printable"
local sysfs = require "hdd.sysfs"

local M = {}

-- What stands on the drive, for the person who is to give it up.
local function contents(signatures)
  local words = {}
  for i, s in ipairs(signatures) do
    words[i] = (s.type or s.usage or "data") .. (s.label and " \"" .. s.label .. "\"" or "")
  end
  return #words > 0 and "it holds " .. table.concat(words, ", ") or "nothing is recognised on it"
end

-- Asks for the drive's name to be typed.
local function typed(entry, name, signatures)
  io.stderr:write(printable.line(string.format("ALL DATA on %s (%s) will be overwritten; %s.",
    entry.path, entry.name, contents(signatures)), true), "\n",
    printable.line(string.format("Type %s to agree: ", name), true))
  io.stderr:flush()
  return printable.trim(io.stdin:read("l") or "") == name
end

local function listed(list, name)
  for _, one in ipairs(list or {}) do
    if one == name then return true end
  end
  return false
end

-- Was it agreed that this drive is written to? One that is gone on with was, if it is known by a serial
-- number of its own.
local function agree(entry, options, signatures)
  local name = consent.name(entry.drive)
  if listed(options.confirm, name) then return true end
  if entry.saved and entry.identity.serial == name then return true end
  local asks = core.isatty(io.stdin) and core.isatty(io.stderr)
  if asks and typed(entry, name, signatures) then return true end
  return nil, string.format("%s: not written to: %s (--confirm %s says so)", entry.path,
    asks and "that was not its name" or "that has to be agreed to by its serial number", name)
end

-- Opens a drive again, for writing. All checks are those of hdd.consent.
local function reopen(entry, options)
  local p = entry.parameters
  local write = { serial = consent.name(entry.drive), overwrite_data = p.overwrite_data or false }
  local found, message = consent.check(entry.path, {
    serial = write.serial, overwrite_data = write.overwrite_data, buffered = options.buffered,
  })
  if not found then return nil, message end
  local agreed
  agreed, message = agree(entry, options, found.signatures)
  if not agreed then return nil, message end
  entry.drive:close()
  entry.drive, message = hdd.open(entry.path, { write = write, buffered = options.buffered })
  if not entry.drive then return nil, message end
  if sysfs.difference(entry.identity, entry.drive:identity()) then
    return nil, entry.path .. ": it is another drive than a moment ago"
  end
  return true
end

--- Makes sure that every drive that is to be written to may be, before the first is: its name is given
-- (`confirm`) or typed. One that may not ends the script with status 2, and nothing is written at all.
-- @tparam {Entry,...} entries
-- @tparam table options  `confirm` (list of names), `buffered`
function M.confirm(entries, options)
  for _, entry in ipairs(entries) do
    if not entry.problem and entry.parameters.write then
      local ok, message = reopen(entry, options)
      if not ok then cli.refuse(message .. ". Nothing has been written.") end
    end
  end
end

return M
