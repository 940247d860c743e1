--- Faults of a simulated drive that corrupt what is written, drawn by a seed; and what a burn-in with
-- stamps must say of each.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local hddsim = require "spec.support.hddsim"
local scratch = require "spec.support.scratch"

local M = {}

local MiB <const> = 2048 -- in sectors
local CAPACITY <const> = 64 * MiB
local APART <const> = 8 * MiB -- between a write's place and where it goes: they are not in flight together
local KINDS <const> = { "flip on=read", "flip on=write", "lost", "misdirect" }

-- xorshift64*: the same draws on every machine, whatever Lua's generator is.
local function generator(seed)
  local x = seed * 0x9e3779b97f4a7c15 | 1
  return function(from, to)
    x = x ~ (x >> 12)
    x = x ~ (x << 25)
    x = x ~ (x >> 27)
    return from + ((x * 0x2545f4914f6cdd1d) >> 33) % (to - from + 1)
  end
end

--- Draws faults.
-- @tparam integer seed
-- @treturn string  the drive, in hddsim's words
-- @treturn {string,...}  what is expected, sorted: "KIND LBA+COUNT" and, of misdirected writes, where they
--   went or came from
function M.draw(seed)
  local random, taken, faults, expected = generator(seed), {}, {}, {}
  -- A free place; a sector is left free on each side, so that runs are told apart.
  local function place(count, far_from)
    while true do
      local lba = random(1, CAPACITY - count - 1)
      local free = not far_from or math.abs(lba - far_from) > APART
      for i = lba - 1, lba + count do free = free and not taken[i] end
      if free then
        for i = lba, lba + count - 1 do taken[i] = true end
        return lba
      end
    end
  end
  local function expect(...) expected[#expected + 1] = string.format(...) end
  for _ = 1, random(5, 9) do
    local kind, count = KINDS[random(1, #KINDS)], random(1, 12)
    local lba = place(count)
    local fault = string.format("%s:%d+%d", kind:match("^%a+"), lba, count)
    if kind:find("^flip") then
      fault = fault .. string.format(":bit=%d:%s", random(0, 4095), kind:match("on=%a+"))
      expect("bit rot %d+%d", lba, count)
    elseif kind == "lost" then
      expect("lost write %d+%d", lba, count)
    else
      local to = place(count, lba)
      fault = fault .. ":to=" .. to
      expect("misdirected write %d+%d to %d", lba, count, to)
      -- What lies behind is written later, over what came there by mistake.
      if to < lba then expect("misdirected write %d+%d from %d", to, count, lba) end
    end
    faults[#faults + 1] = "fault=" .. fault
  end
  table.sort(expected)
  return "tiny,capacity=64M,speed=8," .. table.concat(faults, ","), expected
end

--- What a document says of corruptions, as `draw` expects it.
-- @tparam table d  document
-- @treturn {string,...}  sorted
function M.said_of(d)
  local said = {}
  for _, m in ipairs(d.mismatches) do
    local line = string.format("%s %d+%d", m.kind, m.offset_bytes // 512, m.length_bytes // 512)
    if m.landed_offset_bytes then
      line = line .. " to " .. m.landed_offset_bytes // 512
    elseif m.kind == "misdirected write" then
      line = line .. " from " .. (m.found and m.found.lba or "?")
    end
    said[#said + 1] = line
  end
  table.sort(said)
  return said
end

--- Burns in a drive with the faults of a seed.
-- @tparam integer seed
-- @treturn {string,...}  what the burn-in said, as `draw` expects it
-- @treturn {string,...}  what was expected
-- @treturn table  the document
-- @treturn table  as of `process.run`
function M.burn_in(seed)
  local drive, expected = M.draw(seed)
  local json, states = scratch.path("document"), scratch.path("states")
  local run = hddsim.run(drive, { "sh", "-c", string.format("exec build/hddlua burnin $DISK --write "
    .. "--confirm ${DISK##*/} --stress 0 --no-surface --no-baseline --no-self-tests --rpm 0 --seed %d "
    .. "--state %s/ --json %s", seed, states, json) }, { timeout = 120 })
  local d = document.load(json)
  return d and M.said_of(d) or {}, expected, d, run
end

return M
