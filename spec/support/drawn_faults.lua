--- Simulated drives with faults drawn by seed, and a surface scan held against what was drawn.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local hdd = require "hdd"
local hddsim = require "spec.support.hddsim"
local surface = require "hdd.procedure.surface"

local M = {}

local CAPACITY <const>, SECTOR <const> = 128 << 20, 512

-- What is drawn: kind, how many of it, longest run, parameters.
local KINDS <const> = {
  { "eio", 3, 8, function() return string.format("ms=%d", math.random(20, 60)) end },
  { "slow", 3, 6, function() return string.format("revs=%d", math.random(2, 6)) end },
  { "slow", 2, 3, function() return string.format("ms=%d", math.random(13, 50)) end },
  { "mild", 1, 3, function() return "revs=1" end },
  { "weak", 2, 3, function() return string.format("tries=%d:ms=30", math.random(1, 4)) end },
}

-- Faults that do not touch one another.
local function draw(seed)
  math.randomseed(seed)
  local faults = {}
  local function is_free(lba, count)
    for _, other in ipairs(faults) do
      if lba <= other.lba + other.count and other.lba <= lba + count then return false end
    end
    return lba + count <= CAPACITY // SECTOR
  end
  for _, kind in ipairs(KINDS) do
    for _ = 1, kind[2] do
      local count = math.random(kind[3])
      local lba
      repeat lba = math.random(0, CAPACITY // SECTOR - 1) until is_free(lba, count)
      faults[#faults + 1] = {
        kind = kind[1], lba = lba, count = count, spec = string.format("fault=%s:%d+%d:%s",
          kind[1] == "mild" and "slow" or kind[1], lba, count, kind[4]()),
      }
    end
  end
  return faults
end

local function settings(faults)
  local words = { "tiny,zones=2,capacity=" .. CAPACITY }
  for i, fault in ipairs(faults) do words[i + 1] = fault.spec end
  return table.concat(words, ",")
end

local function sectors_of(faults, kind)
  local set = {}
  for _, fault in ipairs(faults) do
    for lba = fault.lba, fault.kind == kind and fault.lba + fault.count - 1 or -1 do set[lba] = true end
  end
  return set
end

local function listed(ranges)
  local set = {}
  for _, range in ipairs(ranges) do
    local first = range.offset_bytes // SECTOR
    for lba = first, first + range.length_bytes // SECTOR - 1 do set[lba] = true end
  end
  return set
end

--- A scan of a simulated drive.
-- @tparam Drive drive            of spec.support.hddsim
-- @tparam ?table parameters
-- @treturn table  the document
function M.scan(drive, parameters)
  local disk <close> = assert(hdd.open(drive.path))
  local d = assert(surface.run(disk, parameters))
  assert(document.validate(d))
  return d
end

-- What two sets differ by, in words; nil when they are the same.
local function difference(what, drawn, found)
  local missed, false_ones = 0, 0
  for lba in pairs(drawn) do missed = missed + (found[lba] and 0 or 1) end
  for lba in pairs(found) do false_ones = false_ones + (drawn[lba] and 0 or 1) end
  if missed + false_ones == 0 then return nil end
  return string.format("%s: %d sectors missed, %d that are not", what, missed, false_ones)
end

-- Every weak sector that is alone in its MiB is recovered, as far as can be known: of several in a row
-- at least one.
local function weak_missed(faults, d)
  local found = listed(d.recovered)
  for _, fault in ipairs(faults) do
    local alone, hit = fault.kind == "weak", false
    for _, other in ipairs(faults) do
      local near = math.abs(other.lba - fault.lba) < 4096
      alone = alone and (other == fault or not near or other.kind ~= "eio" and other.kind ~= "weak")
    end
    for lba = fault.lba, fault.lba + fault.count - 1 do hit = hit or found[lba] end
    if alone and not hit then return fault.spec .. " is not among the recovered" end
  end
end

local function inexact(ranges)
  for _, range in ipairs(ranges) do
    if not range.exact then return string.format("the range at %d is not exact", range.offset_bytes) end
  end
end

local function count(faults, kind)
  local n = 0
  for _ in pairs(sectors_of(faults, kind)) do n = n + 1 end
  return n
end

--- Draws faults, scans, and compares.
-- @tparam integer seed
-- @treturn table  `problems` (sentences; none: everything was found and nothing else), `document`,
--   `unreadable`, `slow` (sectors drawn)
-- @usage local r = drawn_faults.try(7)
function M.try(seed)
  local faults = draw(seed)
  local drive <close> = hddsim.start(settings(faults))
  local d = M.scan(drive, {})
  local problems = {}
  local function note(problem) problems[#problems + 1] = problem end
  note(d.status ~= "complete" and "status " .. d.status or nil)
  note(d.summary.covered_percent ~= 100 and "not all was read" or nil)
  note((d.rotation.source ~= "measured" or d.rotation.revolution_us ~= 6000)
    and string.format("a turn of %.1f us, %s", d.rotation.revolution_us, d.rotation.source) or nil)
  note(difference("unreadable", sectors_of(faults, "eio"), listed(d.unreadable)))
  note(difference("slow", sectors_of(faults, "slow"), listed(d.slow)))
  note(inexact(d.unreadable))
  note(inexact(d.slow))
  note(weak_missed(faults, d))
  return {
    problems = problems, document = d, unreadable = count(faults, "eio"), slow = count(faults, "slow"),
  }
end

return M
