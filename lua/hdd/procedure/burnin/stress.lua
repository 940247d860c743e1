--- The seek stress of a burn-in: reads that move the heads as far, and as often, as can be.
--
-- `random`: anywhere. `full stroke`: from one edge of the surface to the other and back. `butterfly`:
-- alternately from both edges, each time further in, and out again. In slices of some seconds: between
-- two of them the temperature is looked at, and what was done is saved.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.stress
local hdd = require "hdd"
local json = require "hdd.json"
local zoned = require "hdd.procedure.burnin.zoned"

local M = {}

local SLICE_S <const> = 10
local PLACES <const> = 8192    -- of a list that is gone through again and again
local EDGE <const> = 64        -- part of the surface that is an edge
local KINDS <const> = { "random", "full stroke", "butterfly" }

-- Offsets from one edge to the other and back; different ones, so that no buffer has them.
local function full_stroke(size, block)
  local list, blocks = {}, size // block
  local edge = math.max(1, blocks // EDGE)
  for i = 0, PLACES // 2 - 1 do
    local at = i * 7919 % edge -- a prime: neighbours in the list are none on the surface
    list[#list + 1] = at * block
    list[#list + 1] = (blocks - 1 - at) * block
  end
  return list
end

local function butterfly(size, block)
  local list, blocks = {}, size // block
  local half = PLACES // 4
  for i = 0, half - 1 do
    local at = (blocks - 1) // 2 * i // half
    list[#list + 1] = at * block
    list[#list + 1] = (blocks - 1 - at) * block
  end
  for i = #list, 1, -1 do list[#list + 1] = list[i] end
  return list
end

--- The offsets of a kind of stress.
-- @tparam string kind
-- @tparam integer size   bytes
-- @tparam integer block  bytes of a read
-- @treturn string|{integer,...}  as of drive:run's `pattern`
function M.pattern(kind, size, block)
  if kind == "full stroke" then return full_stroke(size, block) end
  if kind == "butterfly" then return butterfly(size, block) end
  return "random"
end

-- A leg: one pattern for its time. `row` is what the document gets of it.
local Leg = {}
Leg.__index = Leg

local function new_leg(run, index, saved)
  local self = setmetatable({ run = run, index = index, histogram = hdd.histogram() }, Leg)
  self.row = saved and saved.row or {
    pattern = KINDS[index], depth = KINDS[index] == "random" and 4 or 1, ios = 0, errors = 0,
    elapsed_s = 0.0, read_bytes = 0,
  }
  self.slices = saved and saved.slices or 0
  for _, bucket in ipairs(saved and saved.buckets or {}) do
    self.histogram:add(bucket.ns, bucket.count)
  end
  if run.zoned then
    self.pattern = zoned.places(run.zoned.ranges, run.block_size, self.row.pattern, math.random)
  else
    self.pattern = M.pattern(self.row.pattern, run.usable_bytes, run.block_size)
  end
  return self
end

-- What the checkpoint has of it, to go on from.
function Leg:saved()
  local buckets = {}
  for i, bucket in ipairs(self.histogram:buckets()) do
    buckets[i] = { ns = bucket.low_ns, count = bucket.count }
  end
  return { row = self:describe(), slices = self.slices, buckets = json.list(buckets) }
end

local function us(ns)
  return ns and ns / 1000
end

function Leg:describe()
  local row, h = self.row, self.histogram
  row.iops = row.elapsed_s > 0 and row.ios / row.elapsed_s or nil
  row.latency_p50_us, row.latency_p99_us = us(h:percentile(50)), us(h:percentile(99))
  row.latency_max_us = us(h:max())
  return row
end

-- What is told while a slice runs.
function Leg:state(progress)
  local stress_s = self.run.parameters.stress
  local done_s = stress_s * (self.index - 1) + self.row.elapsed_s + progress.elapsed_s
  return {
    stage = self.row.pattern, share = done_s / (stress_s * #KINDS),
    position_bytes = progress.position_bytes,
    iops = progress.elapsed_s > 0 and progress.ios / progress.elapsed_s or nil,
  }
end

function Leg:add(result, time_s, sampled)
  local row, slowest = self.row, result.slowest[1]
  self.slices = self.slices + 1
  row.ios, row.errors = row.ios + result.ios, row.errors + result.errors
  row.elapsed_s, row.read_bytes = row.elapsed_s + result.elapsed_s, row.read_bytes + result.bytes
  table.insert(self.run.entry.intervals, {
    pattern = row.pattern, time_s = time_s, elapsed_s = result.elapsed_s, ios = result.ios,
    errors = result.errors, iops = result.iops, sampled = sampled,
    latency_max_us = slowest and slowest.latency_ns / 1000, temperature_c = self.run.temperature_c,
  })
end

-- One slice. true, or nil, message, code.
function Leg:slice()
  local run, row = self.run, self.row
  local sampled = run:cool_down()
  local time_s = run:time_s()
  local function keep() return self:saved() end
  local result, message, code = run:job({
    pattern = self.pattern, loop = self.pattern ~= "random" or nil, length = run.usable_bytes,
    block_size = run.block_size, depth = row.depth,
    runtime = math.min(SLICE_S, run.parameters.stress - row.elapsed_s),
    seed = run.parameters.seed + run.index * 100000 + self.slices, histogram = self.histogram, intervals = 2,
  }, function(progress)
    run:checkpoint(keep)
    return self:state(progress)
  end)
  if not result then return nil, message, code end
  self:add(result, time_s, sampled)
  run:checkpoint(keep, run:over() ~= nil)
  return true
end

--- Runs the phase.
-- @tparam Run run
-- @tparam table entry    of the document's `phases`
-- @tparam ?table resume  the leg that was under way
-- @treturn boolean  true
-- @return or nil, message, code
function M.run(run, entry, resume)
  entry.patterns, entry.intervals = entry.patterns or {}, entry.intervals or {}
  for index = #entry.patterns + 1, #KINDS do
    local leg = new_leg(run, index, resume)
    resume = nil
    while run.parameters.stress - leg.row.elapsed_s > 0.01 and not run:over() do
      local done, message, code = leg:slice()
      if not done then return nil, message, code end
    end
    if run:over() == "interrupted" then return true end
    entry.patterns[index] = leg:describe()
    if run:over() then break end
    run:checkpoint(nil, true)
  end
  entry.errors, entry.read_bytes = 0, 0
  for _, row in ipairs(entry.patterns) do
    entry.errors = entry.errors + row.errors
    entry.read_bytes = entry.read_bytes + row.read_bytes
  end
  return true
end

return M
