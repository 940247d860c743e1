--- What has become of each byte of a range: states that follow one another without gap. Pure.
--
-- Neighbours of one state are one entry, so that the list grows with the number of faults and not
-- with the size of the drive. The states are those of a ddrescue mapfile: "?" not tried, "*" failed
-- in a large read and not narrowed down, "/" known to hold bad blocks, "-" unreadable, "+" read;
-- and "x" for what is not to be read at all.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.cover
local M = {}
local Cover = {}
Cover.__index = Cover

--- A range that is in one state.
-- @tparam integer from   first byte
-- @tparam integer to     its end, exclusive
-- @tparam string state
-- @treturn Cover
-- @usage local c = cover.new(0, drive.size, "?")
-- c:set(0, 1 << 20, "+")
function M.new(from, to, state)
  assert(from < to, "a range has at least one byte")
  return setmetatable({ list = { { from = from, to = to, state = state } } }, Cover)
end

-- The index of the entry that holds a byte.
local function find(list, byte)
  local low, high = 1, #list
  while low < high do
    local middle = (low + high + 1) // 2
    if list[middle].from <= byte then low = middle else high = middle - 1 end
  end
  return low
end

-- Cuts the entry that holds `byte` in two there; the index of the one that begins with it.
local function cut(list, byte)
  if byte >= list[#list].to then return #list + 1 end
  local i = find(list, byte)
  local entry = list[i]
  if entry.from == byte then return i end
  table.insert(list, i + 1, { from = byte, to = entry.to, state = entry.state })
  entry.to = byte
  return i + 1
end

local function join(list, i)
  local left, right = list[i], list[i + 1]
  if left and right and left.state == right.state then
    left.to = right.to
    table.remove(list, i + 1)
  end
end

--- Sets the state of a part. What lies outside of the whole range is left out.
-- @tparam integer from  bytes
-- @tparam integer to    exclusive
-- @tparam string state
function Cover:set(from, to, state)
  local list = self.list
  from, to = math.max(from, list[1].from), math.min(to, list[#list].to)
  if from >= to then return end
  local i = find(list, from)
  if list[i].state == state and to <= list[i].to then return end
  local first = cut(list, from)
  local behind = cut(list, to)
  list[first].to, list[first].state = to, state
  local removed = behind - first - 1
  if removed > 0 then
    table.move(list, behind, #list + removed, first + 1)
  end
  join(list, first)
  join(list, first - 1)
end

--- The state of a byte.
-- @tparam integer byte
-- @treturn string
function Cover:at(byte)
  return self.list[find(self.list, byte)].state
end

--- The parts that are in one of some states, each a table of its own.
-- @tparam string states      "?*"
-- @tparam[opt] integer from  only what lies from here
-- @tparam[opt] integer to    to here
-- @treturn {table,...}  `from`, `to`, `state`, ascending
function Cover:ranges(states, from, to)
  local parts = {}
  from, to = from or math.mininteger, to or math.maxinteger
  for _, entry in ipairs(self.list) do
    local first, last = math.max(entry.from, from), math.min(entry.to, to)
    if first < last and states:find(entry.state, 1, true) then
      parts[#parts + 1] = { from = first, to = last, state = entry.state }
    end
  end
  return parts
end

--- How many bytes are in one of some states.
-- @tparam string states
-- @treturn integer
function Cover:bytes(states)
  local sum = 0
  for _, part in ipairs(self:ranges(states)) do sum = sum + part.to - part.from end
  return sum
end

return M
