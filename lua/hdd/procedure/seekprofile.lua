--- The seek profile: rotation speed, seek time against distance, access time, and what the drive's
-- buffer does. docs/seekprofile.md says what is measured and how each number is defined.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.seekprofile
-- @usage local document = assert(seekprofile.run(drive, { quick = true }))
-- print(document.summary.rpm, document.summary.seek_average_us)
local buffer = require "hdd.procedure.seekprofile.buffer"
local conclusion = require "hdd.procedure.seekprofile.conclusion"
local measurement = require "hdd.procedure.measurement"
local parameters = require "hdd.procedure.parameters"
local probe = require "hdd.procedure.surface.probe"
local rotation = require "hdd.procedure.rotation"
local seeks = require "hdd.procedure.seekprofile.seeks"
local spin = require "hdd.procedure.seekprofile.spin"
local stroke = require "hdd.procedure.seekprofile.stroke"

local M = {}

--- The schema of its documents.
M.schema = "hddlua.seekprofile/1"

local KNOWN <const> = {
  "from", "to", "block_size", "distances", "samples", "accesses", "seed", "rpm", "quick", "max_errors",
}

-- The rate is measured at so many places, over so many bytes.
local RATES <const>, RATE_LENGTH <const>, RATE_BLOCK <const> = 9, 8 << 20, 256 << 10

-- What the steps take of the whole time, about: to tell how far it is.
local STEPS <const> = { map = 0.04, spin = 0.12, buffer = 0.22, accesses = 0.22, seeks = 0.4 }
local ORDER <const> = { "map", "spin", "buffer", "accesses", "seeks" }

local GOLDEN <const> = (math.sqrt(5) - 1) / 2 -- its multiples fill an interval evenly

-- The buffer takes so many reads, more or less; it is told each so many.
local BUFFER_READS <const>, TELL <const> = 1000, 40

local BATCH <const> = 50 -- accesses a job: how often it is told and saved

local function plan(drive, given)
  local reader = parameters.reader(given, drive, KNOWN)
  reader:range()
  local quick = reader:boolean("quick", false)
  local block = reader:bytes("block_size",
    math.max(drive.logical_block_size, drive.physical_block_size or 0), 1)
  if block and block > 1 << 20 then
    reader:refuse("block_size", block, "must be at most 1048576 bytes")
  elseif block and reader.values.to - reader.values.from < 64 * block then
    reader:refuse("to", reader.values.to, "the range must hold 64 blocks at least")
  end
  reader:integer("distances", quick and 15 or 24, 6, 1000)
  reader:integer("samples", quick and 12 or 32, 4, 100000)
  reader:integer("accesses", quick and 300 or 1000, 1, 100000000)
  reader:integer("seed", 1, 0, math.maxinteger)
  reader:integer("rpm", nil, 0, 100000)
  reader:integer("max_errors", 100, 1, math.maxinteger)
  return reader:finish()
end

-- Numbers from 0 to 1 that depend on the seed alone (xorshift64*).
local function generator(seed)
  local x = seed * 0x9E3779B97F4A7C15 ~ 0x2545F4914F6CDD1D
  if x == 0 then x = 1 end
  return function()
    x = x ~ x >> 12
    x = x ~ x << 25
    x = x ~ x >> 27
    return (x * 0x2545F4914F6CDD1D >> 11) * 2.0 ^ -53
  end
end

-- Tells how far it is: step by name, and the share of it that is done.
local function teller(m)
  return function(step, share, stage)
    local before = 0
    for _, name in ipairs(ORDER) do
      if name == step then break end
      before = before + STEPS[name]
    end
    local done = before + STEPS[step] * share
    local elapsed = m:time_s() - (m.document.wake_s or 0)
    return {
      stage = stage, share = done, left_s = done > 0.02 and elapsed * (1 - done) / done or nil,
    }
  end
end

-- Makes reads one after the other and gives the record of each; fewer when the run is over.
local function read_each(s, options, step, share, stage)
  local m, reads = s.m, {}
  if m.over then return reads end
  options.depth, options.intervals = options.depth or 1, 2
  function options.records(batch)
    for i = 1, batch.n do
      reads[#reads + 1] = {
        offset = batch.offset_bytes[i], time_ns = batch.time_ns[i],
        latency_ns = batch.latency_ns[i], code = batch.code[i],
      }
    end
  end
  local result, message, code = m:run(options, function() return s.tell(step, share, stage) end)
  if not result then return nil, message, code end
  return reads
end

-- The rate at a place: from the first completion to the last, so that the way there does not count.
local function rate_at(s, place, length, i)
  local block = math.min(RATE_BLOCK, length // 4 // s.block * s.block)
  local reads, message, code = read_each(s, {
    pattern = "sequential", offset = place, length = length // block * block, block_size = block,
    depth = 2, max_errors = 1,
  }, "map", (i - 1) / RATES, "measuring rates")
  if not reads then return nil, message, code end
  local first, last = reads[1], reads[#reads]
  for _, read in ipairs(reads) do
    if read.code ~= 0 then return false end
  end
  if #reads < 2 or last.time_ns <= first.time_ns then return false end
  return (#reads - 1) * block / (last.time_ns - first.time_ns) * 1e9
end

-- The scale of the stroke; false when nothing could be read.
local function map(s)
  local from, to = s.p.from, s.p.to
  local span, points = to - from, {}
  local length = math.max(8 * s.block, math.min(RATE_LENGTH, span // RATES)) // s.block * s.block
  for i = 1, RATES do
    local place = from + (span - length) * (i - 1) // (RATES - 1) // s.block * s.block
    local rate, message, code = rate_at(s, place, length, i)
    if rate == nil then return nil, message, code end
    if rate then
      points[#points + 1] = { place = place + length / 2, rate = rate }
      s.m.document.rates[#points] = { offset_bytes = place, bandwidth_bytes_per_s = rate }
    end
  end
  if #points == 0 then
    if not s.m.over then s.m:fail("no part of the range can be read at all: nothing was measured") end
    return true
  end
  s.stroke = stroke.new(from, to, points)
  return true
end

-- How fast it turns: measured, else as given or as the drive says.
local function find_turn(s)
  local said = rotation.of(s.drive, s.p.rpm)
  s.stated_rpm = said.rpm and not said.assumed and said.rpm or nil
  -- The kernel's flag is wrong too often to go without a look.
  local own = s.p.rpm or s.drive.rotation_rate_rpm or s.drive.rotation_rpm
  if own == 0 or s.drive.transport == "nvme" then
    s.rotating = false
    return true
  end
  local reads, message, code = spin.measure(function(offsets)
    return read_each(s, { pattern = offsets, block_size = s.block, max_errors = 1 }, "spin", 0.5,
      "measuring the rotation")
  end, s.stroke, s.block)
  if not reads then return nil, message, code end
  s.spin = reads.turn_ns and reads or nil
  s.turn_ns = reads.turn_ns or s.stated_rpm and 60e9 / s.stated_rpm or nil
  s.turn_source = reads.turn_ns and "measured" or s.p.rpm and "given" or s.turn_ns and "drive" or nil
  if s.turn_ns then s.rotating = true end
  return true
end

-- Each finding is put into the document as it comes.
local function look_at_buffer(s)
  local d, told, due = s.m.document, 0, 0
  local b = buffer.new {
    probe = s.probe, stroke = s.stroke, block = s.block, turn_ns = s.turn_ns, random = s.random,
    tell = function(reads)
      told = told + (reads or 1)
      if told < due then return end
      due = told + TELL
      s.m:report(s.tell("buffer", math.min(1, told / BUFFER_READS), "looking at the buffer"))
    end,
  }
  local hit, miss, fastest = b:hits()
  if not hit then return true end
  d.buffer = { reread_us = hit / 1000, first_read_us = miss / 1000 }
  -- Without a turn there is nothing that a hit could be told by.
  s.hit_ns = s.turn_ns and hit < s.turn_ns / 3 and hit or nil
  s.fastest_ns = s.hit_ns and fastest
  if s.turn_ns then d.buffer.hit = s.hit_ns ~= nil end
  if s.hit_ns and not s.m.over then
    local more
    d.buffer.read_ahead_bytes, more = b:ahead()
    d.buffer.read_ahead_or_more = more
    d.buffer.reads_behind = b:behind()
    d.buffer.places, more = b:places()
    d.buffer.places_or_more = more
  end
  if s.hit_ns or not s.turn_ns then
    d.buffer.burst_bytes_per_s, d.buffer.burst_block_bytes = b:burst()
  end
  return true
end

-- Random reads over the whole range.
local function access(s)
  local count, done = s.p.accesses, 0
  s.access = { latencies = {}, errors = 0 }
  while done < count and not s.m.over do
    local offsets, n = {}, math.min(BATCH, count - done)
    for i = 1, n do
      offsets[i] = s.p.from + math.floor(s.random() * ((s.p.to - s.p.from) // s.block)) * s.block
    end
    local reads, message, code = read_each(s, { pattern = offsets, block_size = s.block }, "accesses",
      done / count, "random reads")
    if not reads then return nil, message, code end
    for _, read in ipairs(reads) do
      if read.code == 0 then
        s.access.latencies[#s.access.latencies + 1] = read.latency_ns
      else
        s.access.errors = s.access.errors + 1
      end
    end
    done = done + n
    conclusion.fill(s)
    s.m:save()
  end
  return true
end

-- A read that the buffer answered shows nothing of the arm.
local function is_cached(s, ns)
  return s.hit_ns and ns < s.hit_ns * 1.5 and ns < s.hit_ns + s.turn_ns / 10
end

-- One pair of reads for each distance, in a job.
local function round(s, number)
  local offsets = {}
  for i, row in ipairs(s.rows) do
    local from, to = seeks.pair(s.stroke, row.share, (number + i) * GOLDEN % 1, s)
    offsets[2 * i - 1], offsets[2 * i] = from, to
    row.bytes = row.bytes + math.abs(to - from)
  end
  local reads, message, code = read_each(s, { pattern = offsets, block_size = s.block }, "seeks",
    number / s.p.samples, string.format("seeks, round %d of %d", number + 1, s.p.samples))
  if not reads then return nil, message, code end
  for i = 2, #reads, 2 do
    local row, start, goal = s.rows[i // 2], reads[i - 1], reads[i]
    if start.code ~= 0 or goal.code ~= 0 then
      row.errors = row.errors + 1
    elseif is_cached(s, goal.latency_ns) then
      row.cached = row.cached + 1
    else
      row.latencies[#row.latencies + 1] = goal.latency_ns
    end
  end
  return true
end

local function seek(s)
  local shares = s.turn_ns and seeks.distances(s.stroke, s.turn_ns, s.p.distances)
  if not shares then return true end
  s.rows = {}
  for i, share in ipairs(shares) do
    s.rows[i] = { share = share, latencies = {}, errors = 0, cached = 0, bytes = 0 }
  end
  for number = 0, s.p.samples - 1 do
    local done, message, code = round(s, number)
    if not done then return nil, message, code end
    s.rounds = number + 1
    conclusion.fill(s)
    if s.m.over then break end
    s.m:save()
  end
  return true
end

local function measure(s)
  for _, step in ipairs { map, find_turn, look_at_buffer, access, seek } do
    local done, message, code = step(s)
    if not done then return nil, message, code end
    conclusion.fill(s)
    if s.m.over then return true end
    s.m:save()
  end
  return true
end

--- Measures the seek profile of a drive.
-- @tparam Drive drive
-- @tparam[opt] table given  parameters, all optional: `from` and `to` (bytes, or "50%"; the whole
--   drive), `block_size` (a physical block), `distances` (24) that are measured, `samples` (32) of
--   each, `accesses` (1000: random reads), `seed` (1: of the places), `rpm` (of a drive whose turning
--   can't be measured; 0: it does not turn), `quick` (false: 15 distances, 12 samples, 300 accesses),
--   `max_errors` (100: failed reads after which the drive is spared the rest)
-- @tparam[opt] table observer  `progress`, `save`: see hdd.procedure.measurement
-- @treturn table  a document of schema hddlua.seekprofile/1
-- @return or nil, message, code when it could not be begun
-- @usage local document = assert(seekprofile.run(drive, { samples = 100 }))
function M.run(drive, given, observer)
  local p, message, code = plan(drive, given)
  if not p then return nil, message, code end
  local m = measurement.begin(drive, M.schema, p, observer)
  m.document.rates = {}
  local s = {
    m = m, p = p, drive = drive, block = p.block_size, random = generator(p.seed),
    probe = probe.new(m), tell = teller(m),
  }
  local done
  done, message, code = m:attempt(function()
    local awake, why, number = m:wake(p.from, p.to)
    if not awake or m.over then return awake, why, number end
    return measure(s)
  end)
  if not done then return nil, message, code end
  conclusion.fill(s)
  conclusion.warn(s)
  return m:finish()
end

return M
