--- A drive, partition, loop device or file that is open: for reading, unless its serial number was given
-- to write to it.
--
-- Fields: `path` (as given), `real_path`, `size`, `logical_block_size`, `physical_block_size` (bytes),
-- `direct` (false: reads go through the page cache), and what sysfs says of it, looked up when first
-- asked for: `name`, `kind`, `model`, `serial`, `firmware`, `wwn`, `vendor`, `rotational`,
-- `transport`, `scheduler`, `queue_depth_limit`, `partitions`, `holders`, `mounts`, …
--
-- ## Options of run and start (bytes and seconds)
--
-- Where: `pattern` = "sequential" (default), "random", "strided", a list of offsets, or a function of
-- the I/O's index (from 1) that returns an offset or nil at the end; `offset` and `length` of the
-- range (the whole device); `block_size` (4096), `seed` (1) of random, `zone_size` and `zone_skip` of
-- strided (256 MiB, 2 GiB), `loop` (false: sequential, strided and lists end at the end).
--
-- How: `depth` (1), `batch` (1 read a call), `taskrun` = "coop" (truest latencies) or "defer" (most
-- I/Os a second), `registered` (true).
--
-- How long: `ramp` (0, not counted), `runtime`, `ios`, `bytes`, `max_errors`; `precision` (0.02: until
-- the 95 % confidence interval of the IOPS is within ±2 %, after `runtime_min` (2) and before
-- `runtime`).
--
-- What is kept: `interval` (0.1) and `intervals` (1024, even) of the time series: when all are used
-- neighbours are merged; `slowest` (16), `max_failures` (256), `stall` (2, from when on a silence is
-- one), `records` = the path of a new file for all I/Os (docs/measuring.md has its format), or a
-- function that gets batches of them: `n`, and as many integers in each of the lists `offset_bytes`,
-- `time_ns` (of the completion, from the start of the counted part), `latency_ns` and `code` (errno
-- value, 0: read in full); `histogram` = one to use again.
--
-- Writing and verifying (docs/writing.md): `operation` = "read" (default), "write", "verify"; `stamp` =
-- {`pattern` = "stamp", "aa", "55", "ff", "00" or "random", `pass` (1), `seed` (1), `serial` (the drive's
-- name)}, `flush_bytes` (1 GiB; 0: at the end only) of a write, `max_mismatches` of a verify.
--
-- ## Results
--
-- `ios`, `bytes`, `errors`, `elapsed_s` (first submission to last completion of the counted part),
-- `iops`, `iops_ci95` (half width of its 95 % confidence interval), `bandwidth_bytes_per_s`, `latency`
-- (Histogram of ns), `series` of {`time_s`, `elapsed_s`, `position_bytes`, `ios`, `bytes`,
-- `latency_mean_ns`, `latency_max_ns`}, `failures` of {`offset_bytes`, `length_bytes`, `code`, `error`,
-- `latency_ns`, `time_s`}, `slowest` of {`offset_bytes`, `latency_ns`, `time_s`}, `stalls` of {`time_s`,
-- `elapsed_s`, `offset_bytes`}, `stopped_by` ("runtime", "ios", "bytes", "pattern", "errors",
-- "precision", "mismatches", "stop", "interrupt", "closed", "device lost", "kernel"), `interrupted`,
-- `lost_offset_bytes`, `abandoned` (offsets), `warnings`, `depth`, `depth_achieved` (mean in flight),
-- `underruns`, `retries`, `short_reads`, `issued_bytes` (ramp and all), `cpu_user_s`, `cpu_system_s` (of
-- the process), `timing` ("thread"), `foreign` and `steal` (see `hdd.foreign`), `operation`, `done_to_bytes`
-- (sequential: all before it was answered). Of a write `durable_to_bytes` (and flushed), `flushes`,
-- `flush_errors`, `flush_failures` of {`code`, `error`, `from_bytes`, `to_bytes`, `time_s`}, `flush_error`. Of
-- a verify `mismatch_blocks` (by kind, and `total`), `mismatches` of {`offset_bytes`, `length_bytes`, `kind`,
-- `found`, `bits`, `first`}, `mismatches_left_out`. What is unknown is nil.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @classmod hdd.device
local core = require "hdd.core"
local job = require "hdd.job"

local M = {}
local Drive = {}

--- The methods of every drive; more can be added.
M.Drive = Drive

-- Fields that the device itself has; all others are sysfs's.
local OWN <const> = {
  path = true, real_path = true, size = true, logical_block_size = true,
  physical_block_size = true, direct = true, major = true, minor = true, type = true,
  writable = true, diskseq = true, inode = true,
}

-- What sysfs says, looked up once: a drive that has gone since is still the one it was.
local function known(drive)
  local identity = rawget(drive, "known")
  if not identity then
    local target = {kind = drive.type}
    for key in pairs(OWN) do target[key] = rawget(drive, key) end
    identity = require("hdd.sysfs").identity(target)
    drive.known = identity
  end
  return identity
end

function Drive.__index(drive, key)
  local method = Drive[key]
  if method ~= nil then return method end
  if OWN[key] then return nil end
  return known(drive)[key]
end

--- Open a drive, partition, loop device or file. Nothing is ever written to it without `write`.
-- @tparam string path
-- @tparam[opt] table options  `buffered` (true: through the page cache), `size` (bytes: needed for a
--   character device; of others only the beginning is used), `write` = {`serial` = what
--   `hddlua identify --serial` prints, `overwrite_data` (false)}: to write to it, see docs/writing.md
-- @treturn[1] Drive
-- @return[2] nil, message, code
-- @usage local drive <close> = assert(hdd.open("/dev/sdb"))
-- print(drive.model, drive.serial, drive.size)
function M.open(path, options)
  local device, message, code, checked
  if type(options) == "table" and options.write ~= nil then
    device, message, code = require("hdd.consent").open(path, options)
    checked = message
  else
    device, message, code = core.open(path, options)
  end
  if not device then return nil, message, code end
  local drive = {device = device}
  if checked then drive.consent = {options = options.write, before = checked.identity} end
  for key in pairs(OWN) do drive[key] = device[key] end
  return setmetatable(drive, Drive)
end

--- The identity as a document's `drive` key has it.
-- @treturn table keys with their units
-- @usage print(require("hdd.document").encode(drive:identity()))
function Drive:identity()
  return require("hdd.sysfs").document(known(self))
end

-- Options with the drive's name in the stamp of a write or a verify; nil, message, code when a first write
-- is not allowed any more.
local function prepared(drive, options)
  local operation = type(options) == "table" and options.operation
  if operation ~= "write" and operation ~= "verify" then return options end
  local consent = require "hdd.consent"
  local given = rawget(drive, "consent")
  if operation == "write" and given and not given.repeated then
    local allowed, message, code = consent.again(drive, given.options, given.before)
    if not allowed then return nil, message, code end
    given.repeated = true
  end
  local stamp = options.stamp or {}
  if type(stamp) ~= "table" or stamp.serial ~= nil then return options end
  local complete = {serial = consent.name(known(drive))}
  for key, value in pairs(stamp) do complete[key] = value end
  local all = {}
  for key, value in pairs(options) do all[key] = value end
  all.stamp = complete
  return all
end

--- Start a workload on a thread of its own.
-- @tparam table options  see above
-- @treturn[1] Job with `:progress()`, `:snapshot()`, `:stop()`, `:wait([timeout_s])`, `:result()`
-- @return[2] nil, message, code
-- @usage local job = assert(drive:start {pattern = "random", depth = 8, runtime = 60})
function Drive:start(options)
  local all, message, code = prepared(self, options)
  if all == nil and code then return nil, message, code end
  return job.start(self, all)
end

--- Run a workload: start it and wait for its end. In a task the other tasks go on meanwhile.
-- @tparam table options  see above
-- @treturn[1] table results, see above
-- @return[2] nil, message, code
-- @usage local r = assert(drive:run {pattern = "random", block_size = 4096, depth = 8, ramp = 10, runtime = 120})
-- print(r.iops, r.latency:percentile(99))
function Drive:run(options)
  local all, message, code = prepared(self, options)
  if all == nil and code then return nil, message, code end
  return job.run(self, all)
end

--- A queue for scripts that decide from each completion.
-- @tparam[opt] table options  `depth` (1), `block_size` (4096), …
-- @treturn[1] Queue  see `hdd.queue`
-- @return[2] nil, message, code
-- @usage local q <close> = drive:queue {depth = 4, block_size = 512}
function Drive:queue(options)
  return require("hdd.queue").open(self, options)
end

--- The way to the drive's own commands, opened when it is first asked for, and closed with the drive.
-- @tparam[opt] table options  `wake`, `wait`, `consent`, `record` as of `hdd.transport.open`; with
--   them the way is opened anew
-- @treturn[1] Channel  see `hdd.transport.channel`
-- @return[2] nil, message, code
-- @usage local page = assert(require("hdd.transport.ata").smart_data(assert(drive:commands())))
function Drive:commands(options)
  local kept = rawget(self, "channel")
  if kept and not options then return kept end
  local channel, message, code, late = require("hdd.transport").open(self, options)
  if not channel then return nil, message, code, late end
  if kept then kept:close() end
  self.channel = channel
  return channel
end

-- drive:ata{…}, drive:scsi{…}, drive:nvme{…}: a command as hdd.transport.channel has it. All that only
-- read are permitted, others when the drive's commands were opened with consent.
for _, kind in ipairs {"ata", "scsi", "nvme"} do
  Drive[kind] = function(self, command)
    local channel, message, code, late = self:commands()
    if not channel then return nil, message, code, late end
    return channel[kind](channel, command)
  end
end

--- All that the drive says of itself; see `hdd.health.read`.
-- @tparam[opt] table options
-- @return as of `hdd.health.read`
-- @usage print(drive:smart().verdict.status)
function Drive:smart(options) return require("hdd.health").read(self, options) end

-- drive:identify(), drive:log{…}, …: one thing of that; see hdd.health.part.
for _, name in ipairs {"identify", "log", "phy", "sct", "temperature"} do
  Drive[name] = function(self, options) return require("hdd.health.part")[name](self, options) end
end

--- Close it. Its jobs stop; the descriptor goes with their last completion. Harmless a second time.
-- @usage drive:close()
function Drive:close()
  local channel = rawget(self, "channel")
  if channel then channel:close() end
  self.device:close()
end

Drive.__close = Drive.close

function Drive:__tostring()
  return tostring(self.device)
end

return M
