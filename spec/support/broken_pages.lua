--- Ways in which a page comes broken from a drive, a bridge or a file.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

local EXTREME = {
  "\0", "\xff", "\x7f", "\x80", "\1", "\0\0", "\xff\xff", "\xff\xff\xff\xff", ("\xff"):rep(8),
  "\0\0\0\x80",
}

local function replaced(data, at, with)
  return (data:sub(1, at - 1) .. with .. data:sub(at + #with)):sub(1, #data)
end

local CHANGES = {
  function(data)  -- some bytes anywhere
    for _ = 1, math.random(12) do
      data = replaced(data, math.random(#data), string.char(math.random(0, 255)))
    end
    return data
  end,
  function(data)  -- extreme numbers, most of them in the header
    for _ = 1, math.random(3) do
      local reach = math.random(3) > 1 and math.min(#data, 64) or #data
      data = replaced(data, math.random(reach), EXTREME[math.random(#EXTREME)])
    end
    return data
  end,
  function(data) return data:sub(1, math.random(0, #data)) end,
  function(data) return data .. data:sub(1, math.random(#data)) end,
  function(data)  -- a stretch moved
    local from, to = math.random(#data), math.random(#data)
    return replaced(data, to, data:sub(from, from + math.random(64)))
  end,
  function(data)  -- a stretch of one byte
    return replaced(data, math.random(#data), EXTREME[math.random(5)]:rep(math.random(200)))
  end,
  function(data)  -- noise
    local noise = {}
    for k = 1, math.min(#data, 512) do noise[k] = string.char(math.random(0, 255)) end
    return data:sub(1, math.random(0, 40)) .. table.concat(noise)
  end,
}

--- A page broken in one way or two.
-- @tparam string data
-- @treturn string
function M.broken(data)
  for _ = 1, math.random(2) do
    if #data > 0 then data = CHANGES[math.random(#CHANGES)](data) end
  end
  return data
end

-- Keys whose values may be below zero, or no whole number.
local function number_fits(key, n)
  if n ~= n or n == math.huge or n == -math.huge then return false end
  if key:find "_c$" or key == "value" then return n >= -127 end
  if math.type(n) == "float" then return key == "power_on_hours" and n % 1 ~= 0 and n >= 0 end
  return n >= 0 and (not key:find "percent" or n <= 255)
end

local function check(value, key, path, depth)
  local kind = type(value)
  if kind == "number" then
    if not number_fits(key, value) then return ("%s is %s"):format(path, value) end
  elseif kind == "string" then
    if value:find "[%z\1-\31\127]" or not utf8.len(value) then return path
      .. " is not clean text" end
  elseif kind == "table" and depth < 9 then
    local keys = 0
    for k, v in pairs(value) do
      keys = keys + 1
      local problem = check(v, type(k) == "number" and key or k, path .. "." .. k, depth + 1)
      if problem then return problem end
    end
    if #value > 0 and keys ~= #value then return path .. " has holes or keys of two kinds" end
    if #value > 4096 then return path .. " is too long" end
  elseif kind ~= "boolean" then
    return ("%s is a %s"):format(path, kind)
  end
end

--- What is wrong with a decoder's result: a number below zero or with a fraction where none
-- belongs, text
-- that is not safe on a terminal or in JSON, a list with holes or beyond its bound.
-- @tparam table result
-- @treturn ?string  nil when all is well
function M.problem(result) return check(result, "", "", 0) end

return M
