--- Which drive a document is of: what it is called, and what makes two documents those of one drive.
--
-- A file or a loop device has the model and the serial number of the drive below it, as others have:
-- it goes by its own name and place.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.whose
local printable = require "hdd.printable"

local M = {}

-- What a drive says of itself is shown: one harmless line.
local function text(value)
  return type(value) == "string" and value ~= "" and printable.line(value) or nil
end

local function is_own(drive)
  return drive.kind == "file" or drive.kind == "loop"
end

--- What a drive is called.
-- @param drive  of a document, whatever is there
-- @treturn string
-- @usage whose.name { kind = "file", name = "a.img", model = "of the drive below" } --> "a.img"
function M.name(drive)
  drive = type(drive) == "table" and drive or {}
  local own = text(drive.name) or text(drive.path)
  if is_own(drive) then return own or "unnamed drive" end
  return text(drive.model) or text(drive.identity_of) or own or "unnamed drive"
end

--- Its own serial number.
-- @tparam table drive
-- @treturn ?string
-- @usage whose.serial(document.drive)
function M.serial(drive)
  return not is_own(drive) and text(drive.serial) or nil
end

--- The same for all documents of a drive: its serial number, or else its path, and size.
-- @tparam table drive
-- @treturn string
-- @usage if whose.key(a.drive) == whose.key(b.drive) then ... end
function M.key(drive)
  local serial = M.serial(drive)
  if serial then return "serial " .. serial end
  return table.concat({ "path", M.name(drive), text(drive.path) or text(drive.name) or "",
    tostring(drive.size_bytes) }, "\0")
end

return M
