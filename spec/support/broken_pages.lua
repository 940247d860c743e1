--- Ways in which a page comes broken from a drive, a bridge or a file, and what must become of it.
-- SPDX-License-Identifier: GPL-3.0-or-later
local decoders = require "spec.support.decoders"
local fields = require "spec.support.fields"
local json = require "dkjson"
local make = require "spec.support.smart_page"

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

--- A page broken in one way or two; every other one of 512 bytes has its sum mended, so that what
-- lies behind it is reached as well.
-- @tparam string data
-- @treturn string
function M.broken(data)
  for _ = 1, math.random(2) do
    if #data > 0 then data = CHANGES[math.random(#CHANGES)](data) end
  end
  if #data == 512 and math.random(2) == 1 then data = make.sealed(data:sub(1, 511)) end
  return data
end

--- Breaks some of a drive's pages, in whatever table they stand.
-- @tparam table pages  changed
function M.some(pages)
  for key, value in pairs(pages) do
    if type(value) == "table" then
      M.some(value)
    elseif type(value) == "string" and key ~= "kind" and math.random(3) == 1 then
      pages[key] = M.broken(value)
    end
  end
end

-- The decoder's own time of the processor, s: the collector clears up after it, and what was long
-- once is measured again, as the machine may have paused.
local function timed(decode, data)
  local least, ok, result = math.huge, nil, nil
  for _ = 1, 3 do
    collectgarbage "stop"
    local began = os.clock()
    ok, result = pcall(decode, data)
    least = math.min(least, os.clock() - began)
    collectgarbage "restart"
    if least < 0.005 then break end
  end
  return ok, result, least
end

--- Runs something on broken data many times. Raises when it fails, or when a value is outside its
-- field.
-- @tparam integer count
-- @tparam integer seed
-- @tparam function next  gives a name, the data, the function that takes them, the drive's kind
-- @treturn table  `slowest_s`, `slowest` (its name)
function M.hold(count, seed, next)
  math.randomseed(seed)
  local worst = {slowest_s = 0}
  for k = 1, count do
    local name, data, run, kind = next()
    local ok, result, took = timed(run, data)
    local problem = not ok and result or fields.problem(result, kind)
    if problem then error(("%s, change %d of seed %d: %s"):format(name, k, seed, problem)) end
    if k % 100 == 0 then assert(type(json.encode(result)) == "string") end
    if took > worst.slowest_s then worst.slowest_s, worst.slowest = took, name end
  end
  return worst
end

local KINDS <const> = {"ata", "nvme", "scsi"}

--- Every decoder on mutations of its pages, as many of each kind of drive.
-- @tparam integer count
-- @tparam integer seed
-- @treturn table  as of `hold`, and `pages` (from how many), `kinds {ata= nvme= scsi=}` (mutations)
-- @usage local r = broken_pages.decode(1000000, 1); print(r.pages, r.slowest_s)
function M.decode(count, seed)
  local list, of_kind, kinds = decoders.pages(), {}, {}
  for _, kind in ipairs(KINDS) do of_kind[kind], kinds[kind] = {}, 0 end
  for _, page in ipairs(list) do table.insert(of_kind[page.kind], page) end
  local result = M.hold(count, seed, function()
    local kind = KINDS[math.random(#KINDS)]
    local page = of_kind[kind][math.random(#of_kind[kind])]
    kinds[kind] = kinds[kind] + 1
    return page.name, M.broken(page.data), page.decode, page.kind
  end)
  result.pages, result.kinds = #list, kinds
  return result
end

return M

