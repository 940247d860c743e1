-- SPDX-License-Identifier: GPL-3.0-or-later
--- JSON as the documents need it, on top of dkjson: integers exact to 2^63-1 and floats to the last
-- bit, `[]` and `{}` kept apart, what is unknown or not finite as null, valid UTF-8 and a decimal
-- point whatever comes in, keys in the schema's order, and a layout that compares well line by line.
-- @module hdd.json

local dkjson = require "dkjson"
local printable = require "hdd.printable"
local units = require "hdd.units"

local M = {}

--- Stands for null inside a list, where nil would leave a gap.
M.null = dkjson.null

local LIST, OBJECT = { __jsontype = "array" }, { __jsontype = "object" }

--- Marks a table as a list, so that it is written as `[]` when it is empty.
-- @tparam[opt] table list
-- @treturn table  the same
function M.list(list)
  return setmetatable(list or {}, LIST)
end

--- Marks a table as an object, so that it is written as `{}` when it is empty.
-- @tparam[opt] table object
-- @treturn table  the same
function M.object(object)
  return setmetatable(object or {}, OBJECT)
end

-- Is this table a list? Its schema or its mark decides when it is empty; without either it is one.
local function is_list(value, field)
  if next(value) ~= nil then return value[1] ~= nil end
  local kind = field and field[2]:match("^%a+")
  if kind == "list" or kind == "object" then return kind == "list" end
  local mark = getmetatable(value)
  return not (type(mark) == "table" and mark.__jsontype == "object")
end

local function quote(text)
  return dkjson.quotestring(printable.utf8(text))
end

local function fail(path, what)
  error(string.format("%s: %s can't be written as JSON", path == "" and "the value" or path, what), 0)
end

-- The keys of an object: the schema's fields first, all of them; then the others, sorted.
local function ordered_keys(object, fields, path)
  local keys, known, others = {}, {}, {}
  for i, field in ipairs(fields or {}) do
    keys[i], known[field[1]] = field[1], field
  end
  for key in pairs(object) do
    if type(key) ~= "string" then fail(path, "a key that is the " .. type(key) .. " " .. tostring(key)) end
    if not known[key] then others[#others + 1] = key end
  end
  table.sort(others)
  table.move(others, 1, #others, #keys + 1, keys)
  return keys, known
end

local write

-- The pieces between the brackets: one a line, indented, or all in one line.
local function enclose(open, pieces, close, indent)
  if #pieces == 0 then return open .. close end
  if not indent then return open .. table.concat(pieces, ", ") .. close end
  local new_line = "\n" .. indent .. "  "
  return open .. new_line .. table.concat(pieces, "," .. new_line) .. "\n" .. indent .. close
end

local function write_object(object, fields, path, indent, above)
  local pieces = {}
  local keys, known = ordered_keys(object, fields, path)
  for i, key in ipairs(keys) do
    local inner = path == "" and key or path .. "." .. key
    pieces[i] = quote(key) .. ": "
      .. write(object[key], known[key], inner, indent and indent .. "  ", above)
  end
  return enclose("{", pieces, "}", indent)
end

-- A list of objects, or of long texts, has a line for each of them; numbers and names share one.
local function write_list(list, of, path, indent, above)
  local pieces, long, length = {}, false, 0
  local element = type(of) == "string" and { nil, of } or of and { nil, "object", of = of }
  for key in pairs(list) do
    if math.type(key) ~= "integer" or key < 1 or key > #list then
      fail(path, "a list with the key " .. tostring(key))
    end
  end
  for i = 1, #list do
    pieces[i] = write(list[i], element, string.format("%s[%d]", path, i), nil, above)
    if type(list[i]) == "string" then length = length + #pieces[i] end
    long = long or type(list[i]) == "table" or length > 60
  end
  return enclose("[", pieces, "]", long and indent or nil)
end

-- `field` is the schema's, if it knows the value; `indent` nil asks for a single line; `above` holds
-- the tables that contain this one.
function write(value, field, path, indent, above)
  local kind = type(value)
  if value == nil or value == M.null then return "null" end
  if kind == "boolean" then return tostring(value) end
  if kind == "string" then return quote(value) end
  if kind == "number" then
    if value ~= value or value == math.huge or value == -math.huge then return "null" end
    return units.exact(value)
  end
  if kind ~= "table" then fail(path, "a " .. kind) end
  if above[value] then fail(path, "a table that contains itself") end
  above[value] = true
  local write_compound = is_list(value, field) and write_list or write_object
  local text = write_compound(value, field and field.of, path, indent, above)
  above[value] = nil
  return text
end

--- A value as JSON text, ending in a new line. What cannot be one (a function, a table that contains
-- itself, keys that are no strings) raises, naming its place.
-- @param value           nil, boolean, number, string, list or object
-- @tparam[opt] table fields  the schema's fields of the object: their order, and null for those missing
-- @tparam[opt=false] boolean one_line  all in a single line, as JSON lines want it
-- @treturn string
-- @usage json.encode({ depth = 4, iops = 131.5 })
function M.encode(value, fields, one_line)
  local field = fields and { nil, "object", of = fields }
  return write(value, field, "", not one_line and "" or nil, {}) .. "\n"
end

-- In objects null becomes nil; numbers too large for a float are unknown, too.
local function tidy(value)
  for key, member in pairs(value) do
    if member == M.null and getmetatable(value) ~= LIST then
      value[key] = nil
    elseif member == math.huge or member == -math.huge then
      value[key] = getmetatable(value) == LIST and M.null or nil
    elseif type(member) == "table" and member ~= M.null then
      tidy(member)
    end
  end
  return value
end

--- Reads JSON text. Integers up to 2^63-1 stay integers, other numbers are floats. In objects null
-- is nil; in lists it is `null`, so that their length is right. Empty lists and objects keep their mark.
-- @tparam string text
-- @return  the value, or nil and a message
-- @treturn[opt] string message  what is wrong, with line and column
-- @usage local value, message = json.decode(text)
function M.decode(text)
  local called, value, behind, message = pcall(dkjson.decode, text, 1, M.null, OBJECT, LIST)
  if not called then
    return nil, tostring(value):find("overflow") and "nested too deeply" or tostring(value)
  end
  if message then return nil, message end
  if text:find("%S", behind) then
    return nil, string.format("text behind the end of the JSON value, from byte %d", text:find("%S", behind))
  end
  if type(value) == "table" and value ~= M.null then
    if not pcall(tidy, value) then return nil, "nested too deeply" end
  end
  return value
end

return M
