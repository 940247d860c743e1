--- Two surface scans of one drive: is it getting worse? Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.compare
local M = {}

-- Without turns to count: from when on a range has become slower.
local SLOWER_SHARE <const>, SLOWER_US <const> = 1.5, 10000

local function end_of(range)
  return range.offset_bytes + range.length_bytes
end

local function overlap(a, b)
  return math.min(end_of(a), end_of(b)) - math.max(a.offset_bytes, b.offset_bytes)
end

-- The ranges of a list that a range touches, how many of its bytes they hold.
local function touched(range, list)
  local found, bytes = {}, 0
  for _, other in ipairs(list) do
    local common = overlap(range, other)
    if common > 0 then found[#found + 1], bytes = other, bytes + common end
  end
  return found, bytes
end

-- Has every byte of a range been tried in a scan?
local function was_tried(range, d)
  local bytes = 0
  for _, part in ipairs(d.coverage or {}) do
    if part.status ~= "untried" then bytes = bytes + math.max(0, overlap(range, part)) end
  end
  return bytes == range.length_bytes
end

local function entry(kind, range, old)
  return {
    kind = kind, offset_bytes = range.offset_bytes, length_bytes = range.length_bytes,
    revolutions = range.revolutions, latency_us = range.latency_us,
    was_length_bytes = old and old.length_bytes, was_revolutions = old and old.revolutions,
    was_latency_us = old and old.latency_us,
  }
end

local function is_slower(new, old)
  if new.revolutions and old.revolutions then return new.revolutions > old.revolutions end
  return new.latency_us and old.latency_us and new.latency_us > old.latency_us * SLOWER_SHARE
    and new.latency_us > old.latency_us + SLOWER_US
end

local function slowest(list)
  local most = list[1]
  for _, range in ipairs(list) do
    if (range.latency_us or 0) > (most.latency_us or 0) then most = range end
  end
  return most
end

-- What became of the ranges of one kind. `elsewhere` are the other kind's ranges of the new scan: a
-- slow range that is unreadable now is not gone.
local function changes(kind, old, new, was, is, elsewhere)
  local result = { new = {}, gone = {}, grown = {}, slower = {}, same = {}, untried = {} }
  local function add(key, range, before) table.insert(result[key], entry(kind, range, before)) end
  for _, range in ipairs(is) do
    local before, bytes = touched(range, was)
    if #before == 0 then
      add(was_tried(range, old) and "new" or "untried", range)
    elseif bytes < range.length_bytes and range.exact ~= false then
      add("grown", range, before[1])
    elseif kind == "slow" and is_slower(range, slowest(before)) then
      add("slower", range, slowest(before))
    else
      add("same", range, before[1])
    end
  end
  for _, range in ipairs(was) do
    if #touched(range, is) == 0 and #touched(range, elsewhere) == 0 then
      if was_tried(range, new) then add("gone", range) end
    end
  end
  return result
end

local function joined(a, b)
  return table.move(b, 1, #b, #a + 1, a)
end

--- Compares two scans.
-- @tparam table old  document
-- @tparam table new  document
-- @treturn table  lists `new`, `gone`, `grown`, `slower`, `same` and `untried` (found where the old scan
--   had not read), each of entries with `kind` ("unreadable" or "slow"), `offset_bytes`,
--   `length_bytes` and, where known, `revolutions`, `latency_us` and what these were before
--   (`was_…`); `worse`: true if there are new, grown or slower ones
-- @return or nil, message when they are not of one drive
-- @usage local c = assert(compare.scans(document.load("old.json"), document.load("new.json")))
function M.scans(old, new)
  for _, key in ipairs { "serial", "model", "size_bytes" } do
    local a, b = (old.drive or {})[key], (new.drive or {})[key]
    if a and b and a ~= b then
      return nil, string.format("these are scans of two drives: %s %s and %s", key, tostring(a),
        tostring(b))
    end
  end
  local bad = changes("unreadable", old, new, old.unreadable or {}, new.unreadable or {}, {})
  local slow = changes("slow", old, new, old.slow or {}, new.slow or {}, new.unreadable or {})
  local result = {}
  for key, list in pairs(bad) do
    result[key] = joined(list, slow[key])
    table.sort(result[key], function(a, b) return a.offset_bytes < b.offset_bytes end)
  end
  result.worse = #result.new + #result.grown + #result.slower > 0
  return result
end

return M
