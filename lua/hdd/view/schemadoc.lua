-- SPDX-License-Identifier: GPL-3.0-or-later
-- A schema as a table in Markdown: the keys of a document with type and meaning. docs/documents.md is
-- made of these, by build-aux/documents.

local schemas = require "hdd.schema"

local M = {}

local function type_text(field)
  local kind, nullable = schemas.type_of(field)
  if kind == "list" then
    kind = type(field.of) == "string" and "list of " .. field.of .. "s" or "list"
  end
  return kind .. (nullable and " or null" or "")
end

local function meaning(field)
  if not field.one_of then return field[3] end
  local names = {}
  for i, name in ipairs(field.one_of) do names[i] = "`" .. name .. "`" end
  return field[3] .. ": " .. table.concat(names, ", ")
end

local function add_rows(lines, fields, prefix)
  for _, field in ipairs(fields) do
    local key = prefix .. field[1]
    lines[#lines + 1] = string.format("| `%s` | %s | %s |", key, type_text(field), meaning(field))
    if type(field.of) == "table" then
      local is_list = schemas.type_of(field) == "list"
      add_rows(lines, field.of, key .. (is_list and "[]." or "."))
    end
  end
end

--- A table of fields.
-- @tparam table fields
-- @treturn string  Markdown
function M.table(fields)
  local lines = { "| key | type | meaning |", "| --- | --- | --- |" }
  add_rows(lines, fields, "")
  return table.concat(lines, "\n") .. "\n"
end

-- Is this field the same object in both schemas?
local function shared(field, other)
  for _, candidate in ipairs(other.fields) do
    if candidate[1] == field[1] then return candidate == field or candidate[3] == field[3] end
  end
  return false
end

--- The keys that all of several schemas have, but for `parameters` and `summary`, whose own keys differ.
-- @tparam {table,...} list  schemas
-- @treturn {table,...} fields
function M.common(list)
  local fields = {}
  for _, field in ipairs(list[1].fields) do
    local everywhere = field[1] ~= "parameters" and field[1] ~= "summary"
    for i = 2, #list do everywhere = everywhere and shared(field, list[i]) end
    if everywhere then fields[#fields + 1] = field end
  end
  return fields
end

--- The keys of one schema that are not in `common`.
-- @tparam table schema
-- @tparam {table,...} common  fields
-- @treturn {table,...} fields
function M.own(schema, common)
  local known, fields = {}, {}
  for _, field in ipairs(common) do known[field[1]] = true end
  for _, field in ipairs(schema.fields) do
    if not known[field[1]] then fields[#fields + 1] = field end
  end
  return fields
end

return M
