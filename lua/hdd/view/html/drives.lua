-- SPDX-License-Identifier: GPL-3.0-or-later
--- Which documents are about the same drive, and what it is called.
-- @module hdd.view.html.drives
local printable = require "hdd.printable"

local M = {}

local function text(value)
  return type(value) == "string" and value ~= "" and printable.line(value) or nil
end

--- The kind of a document.
-- @tparam table document
-- @treturn string  "zoneprofile"; "" for what is none of ours
function M.kind(document)
  return tostring(document.schema):match("^hddlua%.([%w_]+)/%d+$") or ""
end

--- Is it something of its own on a drive, a file or a loop device? Its serial number is then that of
-- the drive below, which others have, too.
-- @tparam table drive  of a document
-- @treturn boolean
-- @usage drives.is_own { kind = "file", name = "a.img", serial = "of the disk below" } --> true
function M.is_own(drive)
  return drive.kind == "file" or drive.kind == "loop"
end

--- What a drive is called.
-- @tparam ?table drive  of a document
-- @treturn string
function M.name(drive)
  drive = type(drive) == "table" and drive or {}
  if M.is_own(drive) then return text(drive.name) or text(drive.path) or "unnamed drive" end
  return text(drive.model) or text(drive.identity_of) or text(drive.name) or text(drive.path)
    or "unnamed drive"
end

-- A serial number tells drives apart; without one the path does, and two sizes are two drives.
local function key_of(drive)
  local serial = text(drive.serial)
  if serial and not M.is_own(drive) then return "serial " .. serial end
  return table.concat({ text(drive.model) or "", text(drive.path) or text(drive.name) or "",
    tostring(drive.size_bytes) }, "\0")
end

--- Documents by drive, in the order in which drives first occur.
-- @tparam {table,...} documents
-- @treturn {table,...}  each `name`, `drive` (identity, what several documents know of it put together)
--   and `documents`; names differ
-- @usage for _, d in ipairs(drives.of(documents)) do print(d.name, #d.documents) end
function M.of(documents)
  local list, by_key = {}, {}
  for _, document in ipairs(documents) do
    local drive = type(document.drive) == "table" and document.drive
    if drive then
      local key = key_of(drive)
      local entry = by_key[key]
      if not entry then
        entry = { name = M.name(drive), drive = {}, documents = {} }
        by_key[key], list[#list + 1] = entry, entry
      end
      for name, value in pairs(drive) do
        if entry.drive[name] == nil then entry.drive[name] = value end
      end
      entry.documents[#entry.documents + 1] = document
    end
  end
  local counts = {}
  for _, entry in ipairs(list) do counts[entry.name] = (counts[entry.name] or 0) + 1 end
  for i, entry in ipairs(list) do
    if counts[entry.name] > 1 then
      local serial = not M.is_own(entry.drive) and text(entry.drive.serial)
      entry.name = string.format("%s %s", entry.name, serial or "#" .. i)
    end
  end
  return list
end

return M
