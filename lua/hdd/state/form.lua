-- SPDX-License-Identifier: GPL-3.0-or-later
--- The form of a state file (see hdd.state): JSON with a checksum, whose it is, and the data of the
-- procedure that goes on from it.
-- @module hdd.state.form
local file = require "hdd.file"
local json = require "hdd.json"
local printable = require "hdd.printable"
local sysfs = require "hdd.sysfs"
local version = require "hdd.version"

local M = {}

local FORMAT <const> = "hddlua.state/1"
local ENODEV <const>, EPROTO <const>, EBADMSG <const> = 19, 71, 74

-- What of a drive's identity is kept: enough to know it again, and to name it.
local IDENTITY <const> = {
  "path", "real_path", "name", "kind", "model", "serial", "firmware", "wwn", "size_bytes",
  "logical_block_size_bytes",
}

local function identity_of(drive)
  local identity = {}
  for _, key in ipairs(IDENTITY) do identity[key] = drive[key] end
  return identity
end

--- A drive's name for a person.
-- @tparam table drive  its identity
-- @treturn string  "/dev/sdb (WDC WD6000HLHX, WD-WXL0E12345)"
function M.shown(drive)
  local words = {}
  for _, key in ipairs { "model", "serial" } do
    if drive[key] then words[#words + 1] = printable.line(printable.trim(drive[key])) end
  end
  return (drive.path or drive.name or "drive")
    .. (words[1] and " (" .. table.concat(words, ", ") .. ")" or "")
end

-- Fit to tell a changed file from a whole one; integers wrap around.
local function checksum(text)
  local sum = #text
  text = text .. ("\0"):rep(-#text % 8)
  for i = 1, #text, 8 do
    sum = (sum ~ string.unpack("<i8", text, i)) * 0x100000001b3
    sum = sum ~ sum >> 29
  end
  return string.format("%016x", sum)
end

local function corrupt(path, why)
  return nil, string.format("cannot go on from %s: %s. It may have been changed or damaged; move it "
    .. "away, or begin anew (--force)", path, why), EBADMSG
end

--- Reads a state file. Its numbers come back as they were, so writing its data anew must give the
-- same text.
-- @tparam string path
-- @treturn table  `procedure`, `version`, `tool_version`, `begun_at`, `saved_at`, `boot`, `stopped`,
--   `drive`, `interruptions`, `data`
-- @return or nil, message with the way out, code (74: damaged; 71: of another form)
function M.read(path)
  local text, message, code = file.read(path)
  if not text then return nil, message, code end
  local found, why = json.decode(text)
  if why then return corrupt(path, "it is not JSON, or cut off: " .. why) end
  if type(found) ~= "table" or type(found.format) ~= "string" then
    return corrupt(path, "it is no state of hddlua's")
  end
  if found.format ~= FORMAT then
    return nil, string.format("cannot go on from %s: its form is %s, and this version knows %s: "
      .. "go on with the version that wrote it (%s), or begin anew (--force)", path,
      printable.line(found.format), FORMAT,
      printable.line(tostring(found.tool_version or "unknown"))), EPROTO
  end
  if type(found.drive) ~= "table" or type(found.data) ~= "table"
    or type(found.procedure) ~= "string" or math.type(found.version) ~= "integer" then
    return corrupt(path, "parts of it are missing")
  end
  if found.checksum ~= checksum(json.encode(found.data)) then
    return corrupt(path, "its checksum is wrong")
  end
  return found
end

--- Why a state is not one that a run goes on from.
-- @tparam table found       what `read` gave
-- @tparam string path       of it
-- @tparam string procedure  that is to go on
-- @tparam table drive       identity of the one that is there now
-- @tparam integer wanted    version of the procedure's data
-- @treturn ?string  message with the way out; nil when it is the right one
-- @treturn ?integer code  19: another drive's; 71: another procedure's or version's
function M.problem(found, path, procedure, drive, wanted)
  if found.procedure ~= procedure then
    return string.format("%s is the state of %s, not of %s: name another file (--state)", path,
      printable.line(found.procedure), procedure), EPROTO
  end
  local difference = sysfs.difference(found.drive, drive)
  if not difference and found.drive.serial and not drive.serial then
    difference = "serial is not told, was " .. found.drive.serial
  end
  if difference then
    return string.format("cannot go on from %s: it is the state of %s, and %s is another drive (%s)",
      path, M.shown(found.drive), M.shown(drive), printable.line(difference)), ENODEV
  end
  if found.version ~= wanted then
    return string.format("cannot go on from %s: %s %s of hddlua wrote it (form %d, this one knows "
      .. "%d): go on with that version, or begin anew (--force)", path,
      found.version > wanted and "a newer version" or "an older version",
      printable.line(tostring(found.tool_version or "")), found.version, wanted), EPROTO
  end
end

--- The text of a state file.
-- @tparam table state  its `procedure`, `version`, `begun_at`, `saved_at`, `boot`, `stopped`, `drive`,
--   `interruptions`
-- @tparam table data   of the procedure: what JSON can hold; what is not finite is left out
-- @treturn string
function M.text(state, data)
  local text = json.encode(data)
  if text:find("null", 1, true) then text = json.encode((json.decode(text))) end
  return json.encode {
    format = FORMAT, procedure = state.procedure, version = state.version, tool_version = version,
    begun_at = state.begun_at, saved_at = state.saved_at, boot = state.boot, stopped = state.stopped,
    drive = identity_of(state.drive), interruptions = json.list(state.interruptions), data = data,
    checksum = checksum(text),
  }
end

return M
