--- Where the zones of a profile lie. Pure: sizes in, offsets out.
--
-- The last zone always ends where the range ends, so that the innermost sectors are in the profile:
-- it is moved towards the start to be a whole one, but not into the zone before it; what then is
-- left for it is its length.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.zones
local M = {}

--- More zones than these are refused: each takes a seek, and a line of the document.
M.MOST = 100000

-- The zone that ends at `to`: a whole one, unless that would begin before `least`.
local function last_zone(least, to, size, align)
  local start = to - size
  if align <= size then start = (start + align - 1) // align * align end
  start = math.max(start, least)
  return { offset = start, length = to - start }
end

--- A zone every `size + skip` bytes.
-- @tparam integer from   first byte of the range
-- @tparam integer to     its end, exclusive
-- @tparam integer size   of a zone, bytes, at least 1
-- @tparam integer skip   left out between two zones, bytes
-- @tparam integer align  what the last zone's offset is a multiple of, if it can be
-- @treturn {table,...}   zones of `offset` and `length`, bytes, ascending
-- @return or nil, how many there would be, when those are too many
-- @usage zones.strided(0, drive.size, 256 << 20, 2 << 30, 65536)
function M.strided(from, to, size, skip, align)
  size = math.min(size, to - from)
  local count = (to - from - 1) // (size + skip) + 1
  if count > M.MOST then return nil, count end
  local list = {}
  for i = 1, count do
    list[i] = { offset = from + (i - 1) * (size + skip), length = size }
  end
  -- The last one is cut by the end of the range, or ends before it.
  local last = list[count]
  if last.offset > to - size then
    list[count] = last_zone(count > 1 and list[count - 1].offset + size or from, to, size, align)
  elseif last.offset + size < to then
    list[count + 1] = last_zone(last.offset + size, to, size, align)
  end
  return list
end

--- A number of zones, evenly spread: the first begins where the range begins, the last ends where
-- it ends.
-- @tparam integer from   first byte of the range
-- @tparam integer to     its end, exclusive
-- @tparam integer size   of a zone, bytes; `count * size` fits the range
-- @tparam integer count  at least 1
-- @tparam integer align  offsets are `from` plus a multiple of it, but for the last one
-- @treturn {table,...}   zones of `offset` and `length`, bytes, ascending
-- @usage zones.spread(0, drive.size, 128 << 20, 40, 65536)
function M.spread(from, to, size, count, align)
  assert(count >= 1 and size <= (to - from) // count, "the zones must fit the range")
  local room, gaps, list = to - from - size, math.max(1, count - 1), {}
  for i = 1, count do
    -- Not room * (i - 1) // gaps: that product may leave the 64 bits.
    local part = room // gaps * (i - 1) + room % gaps * (i - 1) // gaps
    list[i] = { offset = from + part // align * align, length = size }
  end
  if count > 1 then
    local before = list[count - 1]
    list[count] = last_zone(before.offset + before.length, to, size, align)
  end
  return list
end

return M
