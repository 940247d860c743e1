--- fio's bandwidth logs read: rates over the surface, as a zone profile. Pure.
--
-- Since version 2.10 fio writes a line for each request unless log_avg_msec is given, and its value is
-- block size over the latency of that one request: with more than one in flight that is not the drive's
-- rate, and it is refused. Lines that are averages over a span are rates; where they were read is in the
-- log, if hddlua wrote it, and else what had been read by then.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.fio.log
local document = require "hdd.document"

local M = {}

local EINVAL <const>, EBADMSG <const> = 22, 74
local READ <const> = "0"

-- A line of averages is worth so many blocks at least, in the mean; one of a single request is worth
-- about one.
local BLOCKS <const> = 8

local COLUMNS <const> = "^%s*(%d+),%s*(%d+),%s*(%d+),%s*(%d+)(.*)$"

--- Is it one of fio's logs, by its first line?
-- @tparam string text
-- @treturn boolean
-- @usage if fiolog.is(text) then ... end
function M.is(text)
  return type(text) == "string" and text:match("^[^\n]*"):match(COLUMNS) ~= nil
end

-- The lines of reads: time, value, block size, offset (nil where the log has no such column).
local function rows_of(text)
  local rows, others, number = {}, 0, 0
  for line in text:gmatch("[^\r\n]+") do
    number = number + 1
    local time, value, direction, block, rest = line:match(COLUMNS)
    if not time then
      if line:find("%S") then return nil, number end
    elseif direction ~= READ then
      others = others + 1
    else
      local first, second = rest:match("^,%s*(%d+)%s*,?%s*(%d*)")
      rows[#rows + 1] = {
        time_ms = math.tointeger(tonumber(time)) or 0, value = math.tointeger(tonumber(value)) or 0,
        block_size = math.tointeger(tonumber(block)) or 0,
        -- With a priority behind it, it is an offset.
        offset = first and second ~= "" and math.tointeger(tonumber(first)) or nil,
      }
    end
  end
  return rows, others
end

-- Does each line stand for one request? Then as many blocks as lines went by, in about the time.
local function of_requests(rows)
  local n, block = #rows, 0
  if n < 2 then return false end
  local steps = 0
  for i, row in ipairs(rows) do
    block = math.max(block, row.block_size)
    local before = rows[i - 1]
    if before and row.offset and before.offset and row.block_size > 0
      and row.offset - before.offset == row.block_size then
      steps = steps + 1
    end
  end
  if steps > n / 2 then return true end
  if block == 0 then return false end -- averages have no block size in fio before 3.34
  local elapsed_s, sum = (rows[n].time_ms - rows[1].time_ms) / 1000, 0.0
  for _, row in ipairs(rows) do sum = sum + row.value end
  if elapsed_s <= 0 then return true end
  return sum / n * 1024 / (n * block / elapsed_s) < BLOCKS
end

local function kind_of(options)
  local name = options.name or ""
  return options.kind or name:match("_(%a+)[.%d]*%.log") or "bw"
end

-- Where byte `done` of a strided job lies.
local function place_of(done, options)
  local size, skip = options.zone_size, options.zone_skip or 0
  local from = options.from or 0
  if not size or size < 1 then return from + done end
  return from + done // size * (size + skip) + done % size
end

-- Zones from averages without places: each span begins where the one before ended.
local function zones_by_time(rows, options)
  local zones, done, before = {}, 0, 0
  for _, row in ipairs(rows) do
    local elapsed_s = (row.time_ms - before) / 1000
    if elapsed_s > 0 then
      local rate = row.value * 1024
      local bytes = math.floor(rate * elapsed_s)
      if bytes > 0 then
        zones[#zones + 1] = {
          offset_bytes = place_of(done, options), length_bytes = bytes, elapsed_s = elapsed_s,
          bandwidth_bytes_per_s = rate + 0.0, time_s = before / 1000, flagged = false,
        }
      end
      done, before = done + bytes, row.time_ms
    end
  end
  return zones
end

-- Zones from a log that says where; the length is what the rate comes to in the time since the line
-- before.
local function zones_by_place(rows)
  local zones, before = {}, 0
  for _, row in ipairs(rows) do
    local elapsed_s = (row.time_ms - before) / 1000
    before = row.time_ms
    if row.value > 0 then
      zones[#zones + 1] = {
        offset_bytes = row.offset, length_bytes = math.floor(row.value * 1024 * math.max(elapsed_s, 0)),
        elapsed_s = elapsed_s, bandwidth_bytes_per_s = row.value * 1024.0, time_s = row.time_ms / 1000 - elapsed_s,
        flagged = false,
      }
    end
  end
  table.sort(zones, function(a, b) return a.offset_bytes < b.offset_bytes end)
  return zones
end

local function has_places(rows)
  local seen = false
  for _, row in ipairs(rows) do
    if not row.offset then return false end
    seen = seen or row.offset > 0
  end
  return seen
end

local function summarize(d)
  local zones, sum = d.zones, 0.0
  for _, zone in ipairs(zones) do sum = sum + zone.bandwidth_bytes_per_s end
  d.summary = {
    outer_bytes_per_s = zones[1].bandwidth_bytes_per_s, inner_bytes_per_s = zones[#zones].bandwidth_bytes_per_s,
    mean_bytes_per_s = sum / #zones,
  }
  d.summary.ratio = d.summary.outer_bytes_per_s / d.summary.inner_bytes_per_s
end

local function profile_of(zones, rows, options, name)
  local d = document.new("hddlua.zoneprofile/1", {
    path = name, name = name:match("[^/]*$"), size_bytes = 0, logical_block_size_bytes = 512,
  }, {
    block_size = rows[1].block_size, depth = 1, zone_size = options.zone_size or zones[1].length_bytes,
    zone_skip = options.zone_skip, from = options.from or 0,
    to = zones[#zones].offset_bytes + zones[#zones].length_bytes, passes = 1,
  })
  d.tool, d.host = { name = "fio", version = "unknown" }, {}
  d.finished_at, d.status = d.started_at, "complete"
  d.zones = zones
  summarize(d)
  return d
end

local REQUESTS <const> = "%s: it has a line for each request, and its value is block size over the latency of that "
  .. "one request: with more than one in flight that is not the drive's rate. Let fio average "
  .. "(log_avg_msec=500), or take its JSON"

--- Reads a bandwidth log.
-- @tparam string text
-- @tparam[opt] table options  `name` (of the file: its end tells the kind), `kind` ("bw", "iops", "lat"),
--   `zone_size`, `zone_skip`, `from` (bytes: how the job went over the drive, where the log does not say),
--   `per_request` (true: a log of single requests is not refused)
-- @treturn table  a zone profile (hddlua.zoneprofile/1)
-- @treturn {string,...}  what to know about it, a sentence each
-- @return or nil, message, code (74: it is no log of fio's; 22: it can't be compared)
-- @usage local profile, notes = assert(fiolog.read(text, { name = "disk_bw.1.log" }))
function M.read(text, options)
  options = options or {}
  local name = options.name or "fio's log"
  local rows, others = rows_of(text)
  if not rows then return nil, string.format("%s:%d: it is no log of fio's", name, others), EBADMSG end
  local kind = kind_of(options)
  if kind ~= "bw" then
    return nil, string.format("%s: a log of %s: only bandwidth logs can be laid beside a profile", name, kind), EINVAL
  end
  if #rows == 0 then return nil, name .. ": there is no read in it", EINVAL end
  local notes = {}
  if others > 0 then notes[1] = string.format("%d lines of writes or trims are left out", others) end
  if of_requests(rows) then
    if not options.per_request then return nil, string.format(REQUESTS, name), EINVAL end
    notes[#notes + 1] = "values are block size over the latency of one request, not the drive's rate"
  end
  local placed = has_places(rows)
  local zones = placed and zones_by_place(rows) or zones_by_time(rows, options)
  if #zones == 0 then return nil, name .. ": no time passes in it", EINVAL end
  if not placed then
    notes[#notes + 1] = options.zone_size
      and "places are worked out from what was read by then, and the zones that were given"
      or "places are taken to be what was read by then, as if all had been read from the start without a gap"
  end
  return profile_of(zones, rows, options, name), notes
end

return M
