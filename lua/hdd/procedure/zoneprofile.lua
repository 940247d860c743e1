--- The zone profile: how fast a drive reads sequentially, at places across its surface.
-- docs/zoneprofile.md says what is measured and how each number is defined.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.zoneprofile
-- @usage local document = assert(zoneprofile.run(drive, { quick = true }))
-- print(document.summary.outer_bytes_per_s, document.summary.inner_bytes_per_s)
local hdd = require "hdd"
local measurement = require "hdd.procedure.measurement"
local parameters = require "hdd.procedure.parameters"
local rotation = require "hdd.procedure.rotation"
local statistics = require "hdd.statistics"
local units = require "hdd.units"
local zonejudge = require "hdd.procedure.zonejudge"
local zones = require "hdd.procedure.zones"

local M = {}

--- The schema of its documents.
M.schema = "hddlua.zoneprofile/1"

local KNOWN <const> = {
  "block_size", "depth", "zone_size", "zone_skip", "count", "from", "to", "passes", "quick", "rpm",
  "max_errors",
}

-- The short form: so many zones of this size take about a minute at 150 MB/s, and a slower drive
-- reads less of each. What the clock allows is shared among the zones that are left.
local QUICK_COUNT <const>, QUICK_ZONE <const>, QUICK_S <const> = 40, 128 << 20, 100

local BLOCK_MOST <const> = 64 << 20
local EINVAL <const> = 22

-- A zone that was cut short counts when at least this part of it was read.
local PART <const> = 4

local function read_spacing(reader, quick)
  if reader:has("count") and reader:has("zone_skip") then
    reader:refuse("count", reader.given.count,
      "cannot be had together with zone_skip: it spreads the zones evenly")
  end
  local spread = reader:has("count") or quick and not reader:has("zone_skip")
  local span = reader.values.to - reader.values.from
  if not spread then
    reader:bytes("zone_size", 256 << 20, 1)
    reader:bytes("zone_skip", 2 << 30, 0)
    return
  end
  local block = reader.drive.logical_block_size
  local few = math.max(1, math.min(QUICK_COUNT, span // block))
  local count = reader:integer("count", few, 1, zones.MOST)
  local most = span // count // block * block
  local size = reader:bytes("zone_size", quick and QUICK_ZONE or 256 << 20, 1)
  if most == 0 then
    reader:refuse("count", count,
      string.format("more zones than the range has blocks (%d)", span // block))
  elseif size > most and reader:has("zone_size") then
    reader:refuse("count", count, string.format("so many zones of %s do not fit %s: at most %d do",
      units.block(size), units.bytes(span), span // size))
  end
  if size > most then size = most > 1 << 20 and most >> 20 << 20 or math.max(most, block) end
  reader.values.zone_size = size
end

-- What is measured: the parameters and the zones. Else nil, message, code.
local function plan(drive, given)
  local reader = parameters.reader(given, drive, KNOWN)
  local from, to = reader:range()
  local quick = reader:boolean("quick", false)
  local block_size = reader:bytes("block_size", 65536, 1)
  reader:integer("depth", 2, 1, 4096)
  reader:integer("passes", 1, 1, 1000)
  reader:integer("rpm", nil, 0, 100000)
  reader:integer("max_errors", 1000, 1, math.maxinteger)
  if block_size > BLOCK_MOST then
    reader:refuse("block_size", block_size, string.format("must be at most %d bytes", BLOCK_MOST))
  end
  read_spacing(reader, quick)
  local values, message, code = reader:finish()
  if not values then return nil, message, code end
  local list, many
  if values.count then
    list = zones.spread(from, to, values.zone_size, values.count, block_size)
  else
    list, many = zones.strided(from, to, values.zone_size, values.zone_skip, block_size)
  end
  if not list then
    return nil, string.format("zone_size %d and zone_skip %d make %d zones: at most %d can be had",
      values.zone_size, values.zone_skip, many, zones.MOST), EINVAL
  end
  for _, zone in ipairs(list) do zone.readings = {} end
  return { parameters = values, zones = list }
end

-- Is there nothing but zeros in a zone? The end of it is looked at first: the drive has just read
-- it.
local function is_blank(m, zone)
  local block = m.drive.logical_block_size
  local length = math.min(math.max(block, 4096), zone.length) // block * block
  local middle = zone.offset + (zone.length - length) // 2 // block * block
  for _, offset in ipairs { zone.offset + zone.length - length, middle, zone.offset } do
    local data = m:read(offset, length, "looking for unwritten areas")
    if not data or data:find("[^\0]") then return false end
  end
  return true
end

-- Brings the heads to a zone, so that the way there is not part of the zone's time: the block
-- before it is read, where there is none in the range its first one.
local function approach(m, zone, p)
  local length = math.min(p.block_size, zone.length, 1 << 20)
  local before = zone.offset - length
  m:read(before >= p.from and before or zone.offset, length, "moving to the next zone")
end

local function us(ns)
  return ns and ns / 1000
end

-- One reading of a zone, in the document's words; nil when too little of it was read.
local function reading_of(zone, result)
  local cut = result.stopped_by ~= "pattern"
  local by_clock = result.stopped_by == "runtime"
  if cut and not by_clock and result.bytes * PART < zone.length then return nil end
  local h, slowest = result.latency, result.slowest[1]
  return {
    length = cut and result.bytes or zone.length, ios = result.ios, errors = result.errors,
    elapsed_s = result.elapsed_s, rate = result.ios > 0 and result.bandwidth_bytes_per_s or nil,
    p50_us = us(h:percentile(50)), p99_us = us(h:percentile(99)), max_us = us(h:max()),
    max_offset = slowest and slowest.offset_bytes,
  }
end

local function collect(readings, key)
  local list = {}
  for _, reading in ipairs(readings) do list[#list + 1] = reading[key] end
  return list
end

-- The entry of a zone made of all its readings: rate and time are those of the median one.
local function entry_of(zone, readings)
  local rates = collect(readings, "rate")
  local median, worst = statistics.percentile(rates, 50), nil
  local typical = readings[1]
  for _, reading in ipairs(readings) do
    if reading.rate and reading.rate == median then typical = reading end
    if reading.max_us and (not worst or reading.max_us > worst.max_us) then worst = reading end
  end
  return {
    offset_bytes = zone.offset, length_bytes = typical.length, time_s = zone.time_s,
    elapsed_s = typical.elapsed_s, bandwidth_bytes_per_s = median,
    bandwidth_min_bytes_per_s = statistics.percentile(rates, 0),
    bandwidth_max_bytes_per_s = statistics.percentile(rates, 100),
    latency_p50_us = statistics.percentile(collect(readings, "p50_us"), 50),
    latency_p99_us = statistics.percentile(collect(readings, "p99_us"), 50),
    latency_max_us = worst and worst.max_us, latency_max_offset_bytes = worst and worst.max_offset,
    ios = statistics.sum(readings, "ios"), errors = statistics.sum(readings, "errors"),
    flagged = statistics.sum(readings, "errors") > 0,
  }
end

-- What the observer is told while zone i of pass `pass` is read.
local function state_of(m, list, pass, passes, i, done, total)
  local stage = string.format("zone %d of %d", i, #list)
  if passes > 1 then stage = string.format("pass %d of %d, %s", pass, passes, stage) end
  return function(progress)
    local share = (done + progress.bytes) / total
    local elapsed = m:time_s() - m.document.wake_s
    return {
      stage = stage, share = share, position_bytes = list[i].offset + progress.bytes,
      left_s = share > 0.005 and elapsed * (1 - share) / share or nil,
      bandwidth_bytes_per_s = progress.elapsed_s > 0 and progress.bytes / progress.elapsed_s or nil,
    }
  end
end

-- The seconds that a zone of the short form may take; nil without a limit.
local function time_limit(m, p, left)
  if not p.quick then return nil end
  return math.max(0.1, (QUICK_S - (m:time_s() - m.document.wake_s)) / left)
end

local function run_zone(m, p, zone, histogram, left, state)
  approach(m, zone, p)
  zone.time_s = zone.time_s or m:time_s()
  return m:run({
    pattern = "sequential", offset = zone.offset, length = zone.length, block_size = p.block_size,
    depth = p.depth, runtime = time_limit(m, p, left), histogram = histogram, intervals = 2,
  }, state)
end

-- Measures all zones, pass by pass: a zone that is read again at once might come from the drive's
-- buffer.
local function measure(m, p, list)
  local histogram, done, total = hdd.histogram(), 0, p.passes * statistics.sum(list, "length")
  for pass = 1, p.passes do
    for i, zone in ipairs(list) do
      local left = (p.passes - pass) * #list + #list - i + 1
      local result, message, code = run_zone(m, p, zone, histogram, left,
        state_of(m, list, pass, p.passes, i, done, total))
      if not result then return nil, message, code end
      local reading = reading_of(zone, result)
      if reading then
        zone.readings[#zone.readings + 1] = reading
        m.document.zones[i] = entry_of(zone, zone.readings)
      end
      if m.over then return true end
      if pass == 1 then zone.blank = is_blank(m, zone) end
      done = done + zone.length
      m:save()
    end
  end
  return true
end

local function warn_of_zones(m, list, turning)
  local counts = { unwritten = 0, link = 0, blank = 0 }
  for i, entry in ipairs(m.document.zones) do
    if counts[entry.reason] then counts[entry.reason] = counts[entry.reason] + 1 end
    if list[i].blank and entry.reason ~= "unwritten" then counts.blank = counts.blank + 1 end
  end
  local n = #m.document.zones
  if counts.unwritten > 0 then
    m:warn(string.format("%d of %d zones hold nothing but zeros and were not read from a medium: "
      .. "the summary is of the others, if there are any", counts.unwritten, n))
  end
  if counts.blank > 0 and turning.rotating then
    m:warn(string.format("%d of %d zones hold nothing but zeros; they are no faster than a disk, "
      .. "so they count, but a drive that maps its sectors (shingled) may not have read them",
      counts.blank, n))
  end
  if counts.link > 0 then
    m:warn(string.format("%d of %d zones are faster than the link to the drive (%s): they came "
      .. "from a cache", counts.link, n, units.rate(m.drive.link.bytes_per_s)))
  end
end

-- Flags the zones and adds the summary.
local function conclude(m, p, list)
  local drive, d = m.drive, m.document
  local turning = rotation.of(drive, p.rpm)
  local facts = {
    rotating = turning.rotating, blank = {},
    link_bytes_per_s = drive.link and drive.link.bytes_per_s,
  }
  for i, entry in ipairs(d.zones) do
    if list[i].blank then facts.blank[entry] = true end
  end
  local media = zonejudge.flag(d.zones, facts)
  d.summary = zonejudge.summarize(d.zones, media, drive.size)
  warn_of_zones(m, list, turning)
end

--- Measures the zone profile of a drive.
-- @tparam Drive drive
-- @tparam[opt] table given  parameters, all optional: `block_size` (65536), `depth` (2),
--   `zone_size` (256 MiB), `zone_skip` (2 GiB) or `count` of evenly spread zones, `from` and `to`
--   (bytes, or "50%"; the whole drive), `passes` (1), `quick` (false: about a minute), `rpm` (of a
--   drive that does not tell; 0: it does not turn), `max_errors` (1000: failed reads after which
--   the drive is spared the rest)
-- @tparam[opt] table observer  `progress`, `save`: see hdd.procedure.measurement
-- @treturn table  a document of schema hddlua.zoneprofile/1; its `status` says whether it is
--   complete
-- @return or nil, message, code when it could not be begun
-- @usage local document = assert(zoneprofile.run(drive, { zone_size = 256 * hdd.MiB, count = 40 }))
function M.run(drive, given, observer)
  local planned, message, code = plan(drive, given)
  if not planned then return nil, message, code end
  local p, list = planned.parameters, planned.zones
  local m = measurement.begin(drive, M.schema, p, observer)
  local done
  done, message, code = m:attempt(function()
    local awake, why, number = m:wake(p.from, p.to)
    if not awake or m.over then return awake, why, number end
    return measure(m, p, list)
  end)
  if not done then return nil, message, code end
  conclude(m, p, list)
  return m:finish()
end

return M
