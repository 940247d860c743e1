--- The parameters of a procedure: what was given is checked, defaults are filled in.
--
-- They come from a person as often as from a script, and what is possible depends on the drive; so
-- a parameter that is not possible is no misuse: the procedure returns nil, a message that names
-- it, its value and what is allowed, and EINVAL.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.parameters
local units = require "hdd.units"

local M = {}
local Reader = {}
Reader.__index = Reader

local EINVAL <const> = 22

local function shown(value)
  if type(value) == "number" then return units.exact(value) end
  return tostring(value)
end

--- Begins to read parameters.
-- @tparam ?table given         by the caller; not changed
-- @tparam Drive drive
-- @tparam {string,...} known   names of all that there are
-- @treturn Reader  its `values` are what has been read so far
-- @usage local reader = parameters.reader(given, drive, { "depth", "runtime" })
-- reader:integer("depth", 2, 1, 4096)
-- local values, message, code = reader:finish()
function M.reader(given, drive, known)
  local self = setmetatable({ given = given or {}, drive = drive, values = {} }, Reader)
  local is_known = {}
  for _, key in ipairs(known) do is_known[key] = true end
  for key in pairs(self.given) do
    if not is_known[key] then
      self:refuse(tostring(key), nil, "no such parameter; there are: " .. table.concat(known, ", "))
    end
  end
  return self
end

--- Notes that a parameter is not possible; the first one counts.
-- @tparam string key
-- @param value      as given; nil when it is not the value that is wrong
-- @tparam string why
function Reader:refuse(key, value, why)
  if self.problem then return end
  self.problem = value == nil and string.format("%s: %s", key, why)
    or string.format("%s: %s: %s", key, shown(value), why)
end

--- Was it given, rather than left to its default?
-- @tparam string key
-- @treturn boolean
function Reader:has(key)
  return self.given[key] ~= nil
end

--- A whole number.
-- @tparam string key
-- @tparam ?integer default
-- @tparam integer least
-- @tparam integer most
-- @treturn ?integer
function Reader:integer(key, default, least, most)
  local value = self.given[key]
  if value == nil then
    value = default
  else
    value = type(value) == "number" and math.tointeger(value)
    if not value or value < least or value > most then
      self:refuse(key, self.given[key],
        string.format("must be a whole number from %d to %d", least, most))
      value = default
    end
  end
  self.values[key] = value
  return value
end

--- A number from `least` to `most`, such as seconds.
-- @tparam string key
-- @tparam ?number default
-- @tparam number least
-- @tparam number most
-- @tparam ?string unit      "seconds"
-- @tparam[opt] boolean above  true: more than `least`
-- @treturn ?number
function Reader:number(key, default, least, most, unit, above)
  local value = self.given[key]
  if value == nil then
    value = default
  elseif type(value) ~= "number" or not (value >= least and value <= most)
    or above and value == least then
    self:refuse(key, value, string.format("must be a number%s %s %s, at most %s",
      unit and " of " .. unit or "", above and "above" or "from", shown(least), shown(most)))
    value = default
  end
  self.values[key] = value
  return value
end

--- A number of bytes that direct reads of this drive can have.
-- @tparam string key
-- @tparam ?integer default  rounded up to the logical block
-- @tparam integer least     0, or 1 for one block at least
-- @treturn ?integer  bytes
function Reader:bytes(key, default, least)
  local block = self.drive.logical_block_size
  if not self:has(key) then
    self.values[key] = default and (default + block - 1) // block * block
    return self.values[key]
  end
  local value = self:integer(key, default, least, math.maxinteger)
  if value and value % block ~= 0 then
    self:refuse(key, value,
      string.format("must be a multiple of the drive's logical block size, %d bytes", block))
  end
  return value
end

--- true or false.
-- @tparam string key
-- @tparam boolean default
-- @treturn boolean
function Reader:boolean(key, default)
  local value = self.given[key]
  if value == nil then value = default end
  if type(value) ~= "boolean" then
    self:refuse(key, value, "must be true or false")
    value = default
  end
  self.values[key] = value
  return value
end

--- The range that is measured: `from` and `to`, bytes or what units.offset reads ("50%").
-- @treturn integer from  bytes
-- @treturn integer to    bytes, exclusive
function Reader:range()
  local size, block = self.drive.size, self.drive.logical_block_size
  local default = { from = 0, to = size }
  for _, key in ipairs { "from", "to" } do
    local value, message = units.offset(self.given[key] or default[key], size, block)
    if not value then
      self:refuse(key, nil, message)
    elseif value % block ~= 0 then
      self:refuse(key, value,
        string.format("must be a multiple of the drive's logical block size, %d bytes", block))
    end
    self.values[key] = value or default[key]
  end
  local from, to = self.values.from, self.values.to
  if from >= to then
    self:refuse("from", from,
      string.format("nothing lies between it and the end of the range (to: %d)", to))
  end
  return from, to
end

--- What was read, or why it is not possible.
-- @treturn table  values by name
-- @return or nil, message, code (22, EINVAL)
function Reader:finish()
  if self.problem then return nil, self.problem, EINVAL end
  return self.values
end

return M
