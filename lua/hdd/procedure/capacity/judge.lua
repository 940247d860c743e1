--- Where a drive's capacity is tried, and what the answers say of its true size. Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.capacity.judge
local units = require "hdd.units"

local M = {}

local PARTS <const> = 8 -- a size that is a multiple of the true one shows at the parts of that many

--- The places of the stamps: the first block, each power of two, the parts of the size (halves to
-- eighths), and the last block.
-- @tparam integer size   of the drive, bytes
-- @tparam integer block  bytes of a stamped block
-- @treturn {integer,...}  offsets in bytes, ascending
-- @usage judge.places(16384, 4096) --> {0, 4096, 8192, 12288}
function M.places(size, block)
  local last = size // block * block - block
  local is_place, list = { [0] = true, [last] = true }, {}
  local offset = block
  while offset <= last do
    is_place[offset] = true
    if offset > math.maxinteger // 2 then break end
    offset = offset << 1
  end
  for parts = 2, PARTS do
    for i = 1, parts - 1 do is_place[size // parts * i // block * block] = true end
  end
  for place in pairs(is_place) do
    if place <= last then list[#list + 1] = place end
  end
  table.sort(list)
  return list
end

local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

--- What came of the stamps.
-- @tparam {integer,...} places  that were written
-- @tparam table bad  by offset: {`kind` = as of a verify's mismatch, or "unreadable", "not written";
--   `found_bytes` = where the stamp that was found belongs}
-- @treturn table  `period_bytes`: writes come round again after so many bytes (nil: they do not);
--   `good_bytes`: the highest place that holds, `bad_bytes`: the lowest above it that does not (nil: all
--   hold); `scattered`: true when places hold above one that does not, which size does not explain
function M.answers(places, bad)
  local period, good, lowest = nil, nil, nil
  for _, place in ipairs(places) do
    local fault = bad[place]
    if not fault then
      good = place
    elseif fault.found_bytes and fault.found_bytes > place then
      -- A later write has come here: the place is there, under two names.
      period = gcd(fault.found_bytes - place, period or 0)
    end
  end
  local scattered = false
  for _, place in ipairs(places) do
    local fault = bad[place]
    if fault and not (fault.found_bytes and fault.found_bytes > place) then
      lowest = lowest or place
      if good and place < good then scattered = true end
    end
  end
  return {
    period_bytes = period, good_bytes = good, bad_bytes = lowest, scattered = scattered or nil,
  }
end

local function both(bytes)
  return string.format("%s (%d bytes)", units.decimal_bytes(bytes), bytes)
end

--- The verdict and its sentence.
-- @tparam integer size   claimed, bytes
-- @tparam integer count  of places
-- @tparam table answers  of `answers`
-- @tparam ?integer edge  bytes: where what is written begins to be lost, when that was searched for
-- @treturn string  "honest", "false" or "unknown"
-- @treturn string  sentence
-- @treturn ?integer  the true size, bytes
function M.verdict(size, count, answers, edge)
  if answers.period_bytes then
    local true_size = math.min(answers.period_bytes, edge or math.maxinteger)
    return "false", string.format("it says %s and has %s: what is written beyond comes round again and "
      .. "overwrites the beginning", both(size), both(true_size)), true_size
  elseif answers.bad_bytes and answers.scattered then
    return "unknown", string.format("a stamp at %d was not read back as written, but others above it "
      .. "were: that is a fault, but not of the size", answers.bad_bytes)
  elseif answers.bad_bytes and not answers.good_bytes then
    return "unknown", "no stamp was read back as written: nothing can be said of its size"
  elseif answers.bad_bytes then
    local true_size = edge or answers.bad_bytes
    return "false", string.format("it says %s and has %s%s: what is written beyond is lost", both(size),
      edge and "" or "less than ", both(true_size)), true_size
  end
  return "honest", string.format("it is as large as it says, %s: %d stamps, up to its last block, were "
    .. "read back as written", both(size), count)
end

return M
