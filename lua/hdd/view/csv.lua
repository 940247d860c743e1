-- SPDX-License-Identifier: GPL-3.0-or-later
--- The rows of a document as comma-separated values (RFC 4180): a header of the keys, which carry
-- their units; a decimal point in every locale; what is unknown is empty.
-- @module hdd.view.csv

local printable = require "hdd.printable"
local schemas = require "hdd.schema"
local units = require "hdd.units"

local M = {}

local function cell(value)
  if type(value) == "number" then
    if value ~= value or value == math.huge or value == -math.huge then return "" end
    return units.exact(value)
  end
  if value == nil or type(value) == "table" then return "" end
  local text = printable.line(tostring(value))
  if text:find('[",]') or text:find("^%s") or text:find("%s$") then
    return '"' .. text:gsub('"', '""') .. '"'
  end
  return text
end

local function line(cells)
  return table.concat(cells, ",") .. "\r\n"
end

--- Rows as comma-separated values.
-- @tparam {table,...} rows
-- @tparam {string,...} keys  columns from left to right
-- @treturn string
-- @usage csv.table(result.series, { "time_s", "ios", "latency_max_ns" })
function M.table(rows, keys)
  local cells = {}
  for i, key in ipairs(keys) do cells[i] = cell(key) end
  local lines = { line(cells) }
  for r, row in ipairs(rows) do
    for i, key in ipairs(keys) do cells[i] = cell(row[key]) end
    lines[r + 1] = line(cells)
  end
  return table.concat(lines)
end

-- The keys of the rows: the schema's, then those that a script has added, sorted.
local function keys_of(rows, fields)
  local keys, seen, added = {}, {}, {}
  for _, field in ipairs(fields or {}) do
    local kind = schemas.type_of(field)
    seen[field[1]] = true
    if kind ~= "list" and kind ~= "object" then keys[#keys + 1] = field[1] end
  end
  for _, row in ipairs(rows) do
    for key, value in pairs(row) do
      if type(key) == "string" and not seen[key] and type(value) ~= "table" then
        seen[key], added[#added + 1] = true, key
      end
    end
  end
  table.sort(added)
  return table.move(added, 1, #added, #keys + 1, keys)
end

--- The rows of a document: zones of a zone profile, rows of a sweep.
-- @tparam table document
-- @treturn string
-- @return or nil, message when its schema is unknown
-- @usage assert(file.write("profile.csv", csv.document(document)))
function M.document(document)
  local schema, message = schemas.find(document.schema)
  if not schema then return nil, message end
  local rows = document[schema.rows] or {}
  return M.table(rows, keys_of(rows, schemas.row_fields(schema)))
end

return M
