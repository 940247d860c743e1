-- SPDX-License-Identifier: GPL-3.0-or-later
--- Which documents are about the same drive, and what it is called.
-- @module hdd.view.html.drives
local whose = require "hdd.view.whose"

local M = {}

--- The kind of a document.
-- @tparam table document
-- @treturn string  "zoneprofile"; "" for what is none of ours
function M.kind(document)
  return tostring(document.schema):match("^hddlua%.([%w_]+)/%d+$") or ""
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
      local key = whose.key(drive)
      local entry = by_key[key]
      if not entry then
        entry = { name = whose.name(drive), drive = {}, documents = {} }
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
      entry.name = string.format("%s %s", entry.name, whose.serial(entry.drive) or "#" .. i)
    end
  end
  return list
end

return M
