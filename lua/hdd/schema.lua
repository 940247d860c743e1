-- SPDX-License-Identifier: GPL-3.0-or-later
--- The documents' schemas: which keys a document has, their types, order and meaning.
-- docs/documents.md is written from them. hdd.schema.common says how a field is described.
-- @module hdd.schema

local units = require "hdd.units"

local M = {}

local added = {}

--- The schema of a name.
-- @tparam string name  "hddlua.zoneprofile/1"
-- @treturn table  name, about, fields, rows (key of the list that holds the measurements)
-- @return or nil, message
-- @usage local schema = assert(schema.find("hddlua.zoneprofile/1"))
function M.find(name)
  if added[name] then return added[name] end
  local kind = type(name) == "string" and name:match("^hddlua%.([%l%d_]+)/%d+$")
  local module = kind and "hdd.schema." .. kind
  if not module or not (package.loaded[module] or package.searchpath(module, package.path)) then
    return nil, string.format("unknown schema %q", tostring(name))
  end
  local schema = require(module)
  if schema.name ~= name then
    return nil, schema.name
      and string.format("schema %q of another version: this one knows %q", name, schema.name)
      or string.format("unknown schema %q", name), schema.name and schema
  end
  return schema
end

--- Makes a schema of a script's own known, so that its documents can be saved and loaded.
-- @tparam table schema  name and fields, see hdd.schema.common
-- @usage schema.add { name = "example.seek/1", rows = "seeks",
--   fields = common.document({}, { seeks }, {}) }
function M.add(schema)
  assert(type(schema.name) == "string" and schema.name:match("^[%w._-]+/%d+$"),
    "a schema's name is NAME/VERSION, such as example.seek/1")
  assert(type(schema.fields) == "table", "a schema has fields")
  added[schema.name] = schema
end

--- The type of a field without its "?".
-- @tparam table field
-- @treturn string  type
-- @treturn boolean  may it be unknown?
function M.type_of(field)
  local name, mark = field[2]:match("^(%a+)(%??)$")
  return name, mark == "?"
end

--- The fields of the rows of a schema, those of `zones` in a zone profile.
-- @tparam table schema
-- @treturn ?table  fields in order
function M.row_fields(schema)
  for _, field in ipairs(schema.fields) do
    if field[1] == schema.rows then return field.of end
  end
end

local function describe(value)
  if math.type(value) == "integer" then return "the integer " .. units.exact(value) end
  if math.type(value) == "float" then
    return value ~= value and "NaN" or math.abs(value) == math.huge and "infinite"
      or "the number " .. units.exact(value)
  end
  if type(value) == "string" then
    return "the string " .. string.format("%q", #value > 40 and value:sub(1, 40) .. "…" or value)
  end
  return "a " .. type(value)
end

local function number_problem(value, field)
  if value ~= value or value == math.huge or value == -math.huge then
    return "must be finite"
  end
  if value < 0 and not field.signed then return "must not be negative" end
end

-- What a value must be to have a type: nil when it is that, else "must be …".
local CHECKS = {
  any = function(value) return type(value) == "table" and "must be no table" end,
  boolean = function(value) return type(value) ~= "boolean" and "must be true or false" end,
  integer = function(value, field)
    return math.type(value) ~= "integer" and "must be an integer" or number_problem(value, field)
  end,
  number = function(value, field)
    return type(value) ~= "number" and "must be a number" or number_problem(value, field)
  end,
  string = function(value, field)
    if type(value) ~= "string" then return "must be a string" end
    for _, allowed in ipairs(field.one_of or { value }) do
      if allowed == value then return nil end
    end
    return "must be one of " .. table.concat(field.one_of, ", ")
  end,
  time = function(value)
    return not (type(value) == "string"
      and value:match("^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.?%d*Z$"))
      and "must be a time such as 2026-11-30T19:40:00Z"
  end,
  object = function(value) return type(value) ~= "table" and "must be an object" end,
  list = function(value)
    if type(value) ~= "table" then return "must be a list" end
    for key in pairs(value) do
      if math.type(key) ~= "integer" or key < 1 or key > #value then
        return "must be a list without gaps or names"
      end
    end
  end,
}

-- Unknown: nil, and where it is allowed NaN and infinity, which are written as null.
local function is_unknown(value, nullable)
  return value == nil or nullable and type(value) == "number"
    and (value ~= value or value == math.huge or value == -math.huge)
end

local examine

local function examine_fields(object, fields, prefix, report)
  for _, field in ipairs(fields) do
    examine(object, field[1], field, prefix .. field[1], report)
  end
end

local function examine_list(list, of, path, report)
  local element = type(of) == "string" and { nil, of } or { nil, "object", of = of }
  for i = 1, #list do
    examine(list, i, element, string.format("%s[%d]", path, i), report)
  end
end

-- Looks at container[key] and all below it; each problem is handed to report(container, key, field,
-- path, problem).
function examine(container, key, field, path, report)
  local value, kind, nullable = container[key], M.type_of(field)
  if is_unknown(value, nullable) then
    if value == nil and not nullable then report(container, key, field, path, "is missing") end
    return
  end
  local problem = CHECKS[kind](value, field)
  if problem then
    report(container, key, field, path, problem .. ", is " .. describe(value))
  elseif kind == "object" and field.of then
    examine_fields(value, field.of, path .. ".", report)
  elseif kind == "list" and field.of then
    examine_list(value, field.of, path, report)
  end
end

--- Does a document have what its schema asks for? Further keys are allowed.
-- @tparam table document
-- @tparam table schema
-- @treturn boolean  true
-- @return or nil, message that names the first wrong key:
--   "zones[3].offset_bytes: must be an integer, is the string \"12\""
function M.check(document, schema)
  local first
  examine_fields(document, schema.fields, "", function(_, _, _, path, problem)
    first = first or path .. ": " .. problem
  end)
  if first then return nil, first end
  return true
end

-- Sets what is missing or wrong to something that a reader can go on with: an empty object or list,
-- else nil. A float that is a whole number (other programs write 3.0) becomes the integer it is.
local function mend(container, key, field)
  local kind, nullable = M.type_of(field)
  local value = container[key]
  if kind == "integer" and type(value) == "number" and math.tointeger(value) then
    container[key] = math.tointeger(value)
    return true
  end
  local compound = kind == "object" or kind == "list"
  container[key] = compound and not nullable and type(key) == "string" and {} or nil
end

-- Removes the elements that mending has set to nil.
local function close_gaps(list, length)
  local n = 0
  for i = 1, length do
    local value = list[i]
    list[i] = nil
    if value ~= nil then
      n = n + 1
      list[n] = value
    end
  end
end

--- Makes a document safe to read on: wrong values and elements are removed, missing lists and
-- objects become empty ones. What was measured and is right stays.
-- @tparam table document  changed in place
-- @tparam table schema
-- @treturn {string,...}  what was missing or wrong, as in `check`
function M.repair(document, schema)
  local complaints, lists = {}, {}
  examine_fields(document, schema.fields, "", function(container, key, field, path, problem)
    if type(key) == "number" and not lists[container] then lists[container] = #container end
    if not mend(container, key, field) then complaints[#complaints + 1] = path .. ": " .. problem end
  end)
  for list, length in pairs(lists) do close_gaps(list, length) end
  -- What `mend` made is empty still: give it its own lists and objects.
  local more = #complaints > 0 and M.check(document, schema) == nil
  if more then
    examine_fields(document, schema.fields, "", function(container, key, field)
      mend(container, key, field)
    end)
  end
  return complaints
end

return M
