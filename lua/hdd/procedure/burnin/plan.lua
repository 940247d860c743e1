--- The plan of a burn-in: which phases it has, in which order, and how long each will take.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.plan
local units = require "hdd.units"

local M = {}

-- A quick look at the drive's rate: so much at each of so many places, and no longer than this.
local PLACES <const>, PIECE <const>, PLACE_S <const> = 9, 8 << 20, 0.5

--- How fast the drive reads, roughly: a few MiB at places from its beginning to its end.
-- @tparam Drive drive
-- @tparam integer size  bytes that are to be used
-- @treturn table  `bytes_per_s` over the whole surface (nil when nothing could be read), `elapsed_s`
-- @return or nil, message, code when no read can be started
-- @usage local quick = assert(plan.quick(drive, drive.size))
function M.quick(drive, size)
  local block = drive.logical_block_size
  local piece = math.min(PIECE, math.max(block, size // (PLACES * 2) // block * block))
  local time_per_byte, counted, all_s = 0.0, 0, 0.0
  for i = 0, PLACES - 1 do
    local offset = (size - piece) // block * i // (PLACES - 1) * block
    local result, message, code = drive:run {
      offset = offset, length = piece, block_size = math.min(1 << 20, piece), depth = 2,
      runtime = PLACE_S, max_errors = 1, intervals = 2, slowest = 0,
    }
    if not result then return nil, message, code end
    all_s = all_s + result.elapsed_s
    if result.bytes > 0 and result.bandwidth_bytes_per_s then
      counted = counted + 1
      time_per_byte = time_per_byte + 1 / result.bandwidth_bytes_per_s
    end
    if result.interrupted or result.stopped_by == "device lost" then break end
  end
  return { bytes_per_s = counted > 0 and counted / time_per_byte or nil, elapsed_s = all_s }
end

-- The phases that each loop has.
local function loop_phases(p)
  local list = {}
  if p.surface then list[#list + 1] = { kind = "surface", name = "surface read" } end
  if p.stress > 0 then list[#list + 1] = { kind = "stress", name = "seek stress" } end
  for _, pattern in ipairs(p.write and p.patterns or {}) do
    list[#list + 1] = { kind = "write", pattern = pattern, name = "write " .. pattern }
    list[#list + 1] = { kind = "verify", pattern = pattern, name = "verify " .. pattern }
  end
  return list
end

--- The phases of one loop, as they are added to a plan.
-- @tparam table p     the burn-in's parameters
-- @tparam integer n   the loop's number, from 1
-- @treturn {table,...}
function M.loop(p, n)
  local list = loop_phases(p)
  for _, phase in ipairs(list) do phase.loop = n end
  return list
end

-- What comes before the loops and after them. A drive without SMART has phases for it all the same:
-- they say why they were skipped.
local function before(p)
  local list = { { kind = "smart", name = "SMART before" } }
  if p.capacity then list[#list + 1] = { kind = "capacity", name = "capacity" } end
  if p.baseline then list[#list + 1] = { kind = "baseline", name = "baseline before", when = "before" } end
  if p.self_tests then
    list[#list + 1] = { kind = "selftest", name = "short self-test", type = "short" }
  end
  return list
end

local function after(p)
  local list = {}
  if p.self_tests then
    list[#list + 1] = { kind = "selftest", name = "long self-test", type = "extended" }
  end
  if p.baseline then list[#list + 1] = { kind = "baseline", name = "baseline after", when = "after" } end
  list[#list + 1] = { kind = "smart", name = "SMART after" }
  return list
end

local SELF_TEST_S <const> = { short = 120 }

-- Seconds that a phase will take.
local function estimate(phase, p, facts)
  local full_s = facts.bytes_per_s and facts.size_bytes / facts.bytes_per_s
  local kind = phase.kind
  if kind == "smart" then return facts.smart == false and 0 or 2 end
  if kind == "selftest" then
    if facts.smart == false then return 0 end
    return facts.self_test_s and facts.self_test_s[phase.type] or SELF_TEST_S[phase.type] or full_s
  end
  if kind == "stress" then return 3 * p.stress end
  if kind == "capacity" then return 60 end
  if kind == "baseline" then
    local bytes = p.zone_count * p.zone_size
    return (facts.bytes_per_s and bytes / facts.bytes_per_s or 0) + #p.depths * (p.sweep_runtime + 0.5)
  end
  return full_s
end

--- The plan.
-- @tparam table p      the burn-in's parameters
-- @tparam table facts  `size_bytes`, `bytes_per_s` (of `quick`), `smart` (false: there is none),
--   `self_test_s` (estimates of the drive, by type)
-- @treturn {table,...}  phases, each with `kind`, `name`, `planned_s` (nil when it can't be told), and
--   `loop`, `pattern`, `type`, `when` where they have one
-- @treturn ?number  seconds in all; nil when they can't be told
function M.make(p, facts)
  local list, all_s = before(p), 0
  local loops = p.hours and 1 or p.loops
  for n = 1, loops do
    for _, phase in ipairs(M.loop(p, n)) do list[#list + 1] = phase end
  end
  for _, phase in ipairs(after(p)) do list[#list + 1] = phase end
  for _, phase in ipairs(list) do
    phase.planned_s = estimate(phase, p, facts)
    all_s = all_s and phase.planned_s and all_s + phase.planned_s
  end
  if p.hours and all_s then all_s = math.max(all_s, p.hours * 3600) end
  return list, all_s
end

--- A phase's name with the loop that it is in.
-- @tparam table phase
-- @tparam ?integer loops  how many there are; nil: that is not known
-- @treturn string
function M.title(phase, loops)
  if not phase.loop or loops == 1 then return phase.name end
  return string.format("loop %d%s: %s", phase.loop, loops and " of " .. loops or "", phase.name)
end

--- Seconds as the plan shows them.
-- @tparam ?number s
-- @treturn string
function M.time(s)
  return s and units.duration_text(s) or "unknown"
end

return M
