--- The queue-depth sweep: how many random reads a second a drive does, and how long each takes, at
-- each queue depth and block size. docs/qdsweep.md says what is measured and how each number is
-- defined.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.qdsweep
-- @usage local document = assert(qdsweep.run(drive, { depths = { 1, 8 }, runtime = 30 }))
-- for _, row in ipairs(document.rows) do print(row.depth, row.iops, row.latency_p99_us) end
local hdd = require "hdd"
local measurement = require "hdd.procedure.measurement"
local parameters = require "hdd.procedure.parameters"
local rotation = require "hdd.procedure.rotation"
local scheduler = require "hdd.procedure.scheduler"
local units = require "hdd.units"

local M = {}

--- The schema of its documents.
M.schema = "hddlua.qdsweep/1"

local KNOWN <const> = {
  "depths", "block_sizes", "ramp", "runtime", "runtime_min", "precision", "from", "to", "seed",
  "scheduler", "quick", "rpm", "max_errors",
}

local DEPTHS <const>, BLOCK_SIZES <const> = { 1, 2, 4, 8, 16, 24 }, { 512, 4096 }

-- The short form is done with a row when its IOPS are known well enough.
local FULL <const> = { ramp = 10, runtime = 120, runtime_min = 5 }
local QUICK <const> = { ramp = 1, runtime = 9, runtime_min = 3, precision = 0.02 }

local ROWS <const> = 1000    -- at most
local SAMPLES <const> = 16   -- blocks that are looked at for zeros
local ENOUGH <const> = 100   -- reads that make a row that was cut short worth keeping

local function read_list(reader, key, default, most)
  local list = reader.given[key]
  if list == nil then return default end
  if type(list) ~= "table" or #list == 0 then
    reader:refuse(key, nil, "must be a list of whole numbers")
    return default
  end
  for i, value in ipairs(list) do
    if math.type(value) ~= "integer" or value < 1 or value > most then
      reader:refuse(string.format("%s[%d]", key, i), value,
        string.format("must be a whole number from 1 to %d", most))
    end
  end
  return table.move(list, 1, #list, 1, {})
end

-- Block sizes that this drive can't read are refused if they were asked for, else left out: the
-- second value is then a warning.
local function read_block_sizes(reader)
  local list = read_list(reader, "block_sizes", BLOCK_SIZES, 64 << 20)
  local block, span = reader.drive.logical_block_size, reader.values.to - reader.values.from
  local sizes, dropped = {}, nil
  for i, size in ipairs(list) do
    local why = size % block ~= 0
      and string.format("the drive reads multiples of its logical block of %d bytes only", block)
      or size > span and string.format("the range has only %d bytes", span)
    if not why then
      sizes[#sizes + 1] = size
    elseif reader:has("block_sizes") then
      reader:refuse(string.format("block_sizes[%d]", i), size, why)
    else
      dropped = string.format("blocks of %s are left out: %s", units.block(size), why)
    end
  end
  if #sizes == 0 then sizes[1] = block end
  reader.values.block_sizes = sizes
  return dropped
end

local function read_scheduler(reader)
  local name = reader.given.scheduler or "none"
  if type(name) ~= "string" or not name:match("^[%w_-]+$") then
    reader:refuse("scheduler", name,
      "must be the name of an I/O scheduler, or \"keep\" to leave it as it is")
  elseif scheduler.exists(reader.drive) then
    reader.values.scheduler = name
  end
end

-- What is measured: the parameters; a warning. Else nil, message, code.
local function plan(drive, given)
  local reader = parameters.reader(given, drive, KNOWN)
  reader:range()
  local form = reader:boolean("quick", false) and QUICK or FULL
  reader.values.depths = read_list(reader, "depths", table.move(DEPTHS, 1, #DEPTHS, 1, {}), 4096)
  local dropped = read_block_sizes(reader)
  reader:number("ramp", form.ramp, 0, 86400, "seconds")
  local runtime = reader:number("runtime", form.runtime, 0, 31536000, "seconds", true)
  local precision = reader:number("precision", form.precision, 0, 0.5, nil, true)
  local least = reader:number("runtime_min", precision and math.min(form.runtime_min, runtime), 0,
    runtime, "seconds")
  if not precision then reader.values.runtime_min = nil end
  if least and not precision and reader:has("runtime_min") then
    reader:refuse("runtime_min", least, "means something only with precision")
  end
  reader:integer("seed", math.random(0, 0x7FFFFFFF), math.mininteger, math.maxinteger)
  reader:integer("rpm", nil, 0, 100000)
  reader:integer("max_errors", 1000, 1, math.maxinteger)
  read_scheduler(reader)
  local rows = #reader.values.depths * #reader.values.block_sizes
  if rows > ROWS then
    reader:refuse("depths", nil,
      string.format("with the block sizes that makes %d rows: at most %d are measured", rows, ROWS))
  end
  local values, message, code = reader:finish()
  if not values then return nil, message, code end
  return values, dropped
end

local function us(ns)
  return ns and ns / 1000
end

-- The document's row; nil when a row that was cut short has too little in it.
local function row_of(block_size, depth, result, over, time_s)
  if over and result.ios < ENOUGH then return nil end
  local h = result.latency
  return {
    block_size_bytes = block_size, depth = depth, ios = result.ios, errors = result.errors,
    iops = result.iops, iops_ci95 = result.iops_ci95,
    bandwidth_bytes_per_s = result.bandwidth_bytes_per_s,
    latency_mean_us = us(h:mean()), latency_p50_us = us(h:percentile(50)),
    latency_p95_us = us(h:percentile(95)), latency_p99_us = us(h:percentile(99)),
    latency_p999_us = us(h:percentile(99.9)), latency_max_us = us(h:max()),
    elapsed_s = result.elapsed_s, depth_achieved = result.depth_achieved,
    stopped_by = result.stopped_by, flagged = false, time_s = time_s,
  }
end

-- What the observer is told while row `done + 1` of `total` runs.
local function state_of(p, done, total, block_size, depth)
  local row_s = p.ramp + p.runtime
  return function(progress)
    local phase = progress.phase == "ramp" and ", ramp" or ""
    local in_row = math.min(progress.elapsed_s, row_s)
    local counted_s = progress.elapsed_s - p.ramp
    return {
      stage = string.format("row %d of %d: %s, depth %d%s", done + 1, total,
        units.block(block_size), depth, phase),
      share = (done + in_row / row_s) / total,
      left_s = (total - done) * row_s - in_row, at_most = p.precision ~= nil,
      iops = phase == "" and counted_s > 0.2 and progress.ios / counted_s or nil,
    }
  end
end

-- The aligned part of the range: a drive of 4096-byte sectors would pay for each read across two.
local function aligned_range(p, block_size)
  local from = (p.from + block_size - 1) // block_size * block_size
  if from + block_size > p.to then from = p.from end
  return from, (p.to - from) // block_size * block_size
end

local function warn_of_row(m, row)
  local achieved = row.depth_achieved
  if achieved and row.ios > 0 and achieved < 0.9 * row.depth and row.ios >= 10 * row.depth then
    m:warn(string.format("depth %d was not reached (%s): %s reads were in flight on average",
      row.depth, units.block(row.block_size_bytes), units.fixed(achieved, 1)))
  end
end

-- The rows one after the other; each has offsets of its own, so that none of them finds what an
-- earlier one has left in the drive's buffer.
local function measure(m, p)
  local histogram, done, total = hdd.histogram(), 0, #p.block_sizes * #p.depths
  for _, block_size in ipairs(p.block_sizes) do
    local offset, length = aligned_range(p, block_size)
    for _, depth in ipairs(p.depths) do
      local time_s = m:time_s()
      local result, message, code = m:run({
        pattern = "random", offset = offset, length = length, block_size = block_size,
        depth = depth, seed = p.seed + done, ramp = p.ramp, runtime = p.runtime,
        precision = p.precision, runtime_min = p.runtime_min, histogram = histogram,
      }, state_of(p, done, total, block_size, depth))
      if not result then return nil, message, code end
      local row = row_of(block_size, depth, result, m.over, time_s)
      m.document.rows[#m.document.rows + 1] = row
      if m.over then return true end
      warn_of_row(m, row)
      done = done + 1
      m:save()
    end
  end
  return true
end

-- Reads from areas that were never written may be answered without the medium.
local function look_for_zeros(m, p)
  local block = p.block_sizes[1]
  local length = math.min(block, 4096)
  local offset, span = aligned_range(p, block)
  for _ = 1, SAMPLES do
    local place = offset + math.random(0, span // block - 1) * block
    local data = m:read(place, length, "looking for unwritten areas")
    if not data or data:find("[^\0]") then return end
  end
  m:warn(string.format("%d of %d blocks looked at hold nothing but zeros: unwritten areas may be "
    .. "answered without reading the medium", SAMPLES, SAMPLES))
end

-- All that touches the drive.
local function sweep(m, p)
  local done, message, code = m:wake(p.from, p.to)
  if not done then return nil, message, code end
  if m.over then return true end
  local setting <close>, warning = scheduler.set(m.drive, p.scheduler)
  if not setting and warning then m:warn(warning) end
  done, message, code = measure(m, p)
  if done and not m.over then look_for_zeros(m, p) end
  return done, message, code
end

local function base_of(rows, block_size)
  for _, row in ipairs(rows) do
    if row.block_size_bytes == block_size and row.depth == 1 then return row.iops end
  end
end

-- Gains, verdicts and the summary.
local function conclude(m, p)
  local d, turning = m.document, rotation.of(m.drive, p.rpm)
  local s, flagged = d.summary, 0
  for _, row in ipairs(d.rows) do
    local base = base_of(d.rows, row.block_size_bytes)
    row.gain = base and base > 0 and row.iops and row.iops / base or nil
    row.reason = rotation.verdict(row, turning)
    row.flagged = row.reason ~= nil
    if row.flagged then flagged = flagged + 1 end
    if row.iops and row.iops > (s.best_iops or 0) then
      s.best_iops, s.best_iops_depth = row.iops, row.depth
      s.best_iops_block_size_bytes = row.block_size_bytes
    end
    if row.gain and row.gain > (s.gain or 0) then s.gain = row.gain end
  end
  s.flagged_rows = flagged
  s.span_bytes, s.span_percent = p.to - p.from, (p.to - p.from) / m.drive.size * 100
  local limit, deepest = m.drive.queue_depth_limit, math.max(table.unpack(p.depths))
  if limit and deepest > limit then
    m:warn(string.format("the drive takes %d requests at a time: of depth %d the others wait in "
      .. "the kernel", limit, deepest))
  end
end

--- Measures random reads at each queue depth and block size.
-- @tparam Drive drive
-- @tparam[opt] table given  parameters, all optional: `depths` ({1, 2, 4, 8, 16, 24}),
--   `block_sizes` ({512, 4096}, as far as the drive can read them), `ramp` (10 s, not counted),
--   `runtime` (120 s), `precision` (nil; 0.02: a row is done when the 95 % interval of its IOPS is
--   within 2 %, after `runtime_min`, 5 s), `from` and `to` (bytes, or "50%"; the whole drive),
--   `seed` (a random one; row i uses seed + i - 1), `scheduler` ("none", set meanwhile; "keep": as
--   it is), `quick` (false), `rpm` (of a drive that does not tell; 0: it does not turn),
--   `max_errors` (1000)
-- @tparam[opt] table observer  `progress`, `save`: see hdd.procedure.measurement
-- @treturn table  a document of schema hddlua.qdsweep/1; its `status` says whether it is complete
-- @return or nil, message, code when it could not be begun
-- @usage local document = assert(qdsweep.run(drive, { block_sizes = { 4096 }, precision = 0.02 }))
function M.run(drive, given, observer)
  local p, dropped, code = plan(drive, given)
  if not p then return nil, dropped, code end
  local m = measurement.begin(drive, M.schema, p, observer)
  if dropped then m:warn(dropped) end
  local done, message
  done, message, code = m:attempt(function() return sweep(m, p) end)
  if not done then return nil, message, code end
  conclude(m, p)
  return m:finish()
end

return M
