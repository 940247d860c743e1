-- SPDX-License-Identifier: GPL-3.0-or-later
--- Other programs' I/O on a drive while it is measured, and processor time that a hypervisor took.
--
-- The drive's own counters are read before and after, and what this process has issued meanwhile is
-- taken off: that of all its jobs on the same drive, its partitions too, so that jobs that run
-- side by side do not count one another. Only block devices have such counters; of a file nothing
-- is known.
-- @module hdd.foreign
local core = require "hdd.core"
local files = require "hdd.sysfs.files"
-- hdd.sysfs.tree and hdd.units are loaded where a drive, or a warning, asks for them: a short script
-- on a file starts in half the time.

local M = {}

-- Processor time is counted in ticks of 10 ms: shorter spans have no ratio, and fresher counts no use.
local STEAL_SPAN_NS <const>, STEAL_AGE_NS <const> = 100000000, 50000000

-- Below these, I/O of others is what a drive in use shows anyway (the journal, an open file).
local READ_BYTES <const>, READ_SHARE <const> = 1 << 20, 0.01
local WRITTEN_BYTES <const>, STEAL <const> = 64 << 10, 0.02

-- Name of a whole device -> what this process does on it: {live = set of watches, read_bytes =,
-- written_bytes = of those that are finished}. An entry goes with its last watch.
local accounts = {}

-- Drive -> name of the device whose counters are watched, or false.
local watched = setmetatable({}, {__mode = "k"})

local Watch = {}
Watch.__index = Watch

-- A partition's I/O is counted on its disk. So is that of device-mapper and md on a single
-- disk, where the neighbours' I/O is, too. What goes through the page cache can't be taken off.
local function device_to_watch(drive)
  local tree = require "hdd.sysfs.tree"
  local node
  if type(drive) == "string" then
    node = tree.by_name(drive)
  elseif drive.type == "block" and drive.direct ~= false then
    node = tree.by_number(("%d:%d"):format(drive.major, drive.minor))
  end
  if not node then
    return nil
  end
  local whole = node.disk
  if whole.kind == "device-mapper" or whole.kind == "md" then
    local disks = tree.disks(whole)
    whole = #disks == 1 and disks[1] or whole
  end
  local counts = files.integer(whole.dir .. "/queue/iostats") ~= 0
  return counts and whole.entry or nil
end

local function device_of(drive)
  if type(drive) ~= "string" and drive.type ~= "block" then
    return false
  end
  local name = watched[drive]
  if name == nil then
    name = device_to_watch(drive) or false
    if type(drive) ~= "string" then
      watched[drive] = name
    end
  end
  return name
end

-- What the device has read and written since it came, bytes; nil when it is gone.
local function counters(device)
  local text = files.bytes(files.roots.sys .. "/block/" .. device .. "/stat")
  local read, written = (text or ""):match("^%s*%d+%s+%d+%s+(%d+)%s+%d+%s+%d+%s+%d+%s+(%d+)%s")
  return read and {read_bytes = math.tointeger(read) * 512, written_bytes = math.tointeger(written) * 512}
end

-- The last look at the processors' time, shared: /proc/stat is slow to read where there are many.
local last_times

local function processor_times()
  local now = core.now()
  if last_times and now - last_times.at_ns < STEAL_AGE_NS then
    return last_times
  end
  local total, steal, n = 0, nil, 0
  local line = (files.bytes(files.roots.proc .. "/stat") or ""):match("^cpu%s+([%d ]+)") or ""
  for ticks in line:gmatch("%d+") do
    n = n + 1
    if n <= 8 then  -- guest's time, behind them, is in user's already
      total, steal = total + tonumber(ticks), n == 8 and tonumber(ticks) or nil
    end
  end
  last_times = {at_ns = now, total = total, steal = steal}
  return last_times
end

local function steal_between(before, after)
  local total = after.total - before.total
  if not before.steal or not after.steal or total <= 0
     or after.at_ns - before.at_ns < STEAL_SPAN_NS then
    return nil
  end
  return math.max(0, after.steal - before.steal) / total
end

-- What this process has read and written on an account's device: at least, when `settled`
-- (without what may still be in flight), else at most.
local function own(account, settled)
  local read, written = account.read_bytes, account.written_bytes
  for watch in pairs(account.live) do
    local out = settled and watch.in_flight_bytes or 0
    local issued_read, issued_written = watch.issued()
    read = read + math.max(0, (issued_read or 0) - out)
    written = written + math.max(0, (issued_written or 0) - out)
  end
  return {read_bytes = read, written_bytes = written}
end

local function nothing()
  return 0, 0
end

--- Begin to watch a drive. Costs some tens of microseconds.
-- @tparam table|string drive  a Drive (its type, major, minor and direct count) or the name of a
--   block device
-- @tparam[opt] function issued  returns the bytes this job has issued so far, read and written;
--   without it the watch does no I/O of its own: a procedure so watches over all of its jobs
-- @tparam[opt=0] integer in_flight_bytes  depth times block size: how much of that may not
--   have reached the drive's counters yet
-- @treturn Watch
-- @usage local watch = foreign.begin(drive, function() return job:progress().issued_bytes end, 8 * 4096)
-- local found, steal = watch:finish(result.issued_bytes)
function M.begin(drive, issued, in_flight_bytes)
  local watch = setmetatable({issued = issued or nothing, in_flight_bytes = in_flight_bytes or 0}, Watch)
  watch.times = processor_times()
  local device = device_of(drive)
  if device then
    local account = accounts[device]
    if not account then
      account = {live = setmetatable({}, {__mode = "k"}), read_bytes = 0, written_bytes = 0}
      accounts[device] = account
    end
    -- Our own I/O first, the device's later here, and the other way about at the end: what is
    -- between the two is then taken for ours.
    watch.own_before = own(account, true)
    watch.before = counters(device)
    account.live[watch] = true
    watch.account, watch.device = account, device
  end
  return watch
end

-- What others did in one direction. Counters that went back belong to another device; ones
-- that stood still while we read do not count.
local function by_others(direction, before, after, own_before, own_after)
  local all = after[direction] - before[direction]
  local ours = own_after[direction] - own_before[direction]
  if all < 0 or all == 0 and ours > 0 then
    return nil
  end
  return math.max(0, all - ours)
end

--- End watching.
-- @tparam ?integer read_bytes     what this job has read, bytes; what `issued` says, if not given
-- @tparam ?integer written_bytes  what it has written
-- @treturn ?table found  read_bytes and written_bytes of others on the whole drive, each absent when
--   unknown; nil for a file, or a device that does not count
-- @treturn ?number steal  share of the processors' time that the hypervisor took, 0 to 1; nil
--   when unknown or the time too short (0.1 s)
function Watch:finish(read_bytes, written_bytes)
  local account = self.account
  local after = self.before and counters(self.device)
  local steal = steal_between(self.times, processor_times())
  if not account then
    return nil, steal
  end
  if not read_bytes then
    read_bytes, written_bytes = self.issued()
  end
  self.account = nil
  account.live[self] = nil
  account.read_bytes = account.read_bytes + (read_bytes or 0)
  account.written_bytes = account.written_bytes + (written_bytes or 0)
  local own_after = own(account, false)
  if next(account.live) == nil and accounts[self.device] == account then
    accounts[self.device] = nil
  end
  if not after then
    return nil, steal
  end
  local found = {
    read_bytes = by_others("read_bytes", self.before, after, self.own_before, own_after),
    written_bytes = by_others("written_bytes", self.before, after, self.own_before, own_after),
  }
  return next(found) and found or nil, steal
end

--- What a reader of the results must know of it: reads of others above 1 MiB and 1 % of our own
-- bytes, their writes above 64 KiB, steal above 2 %.
-- @tparam ?table found  of finish()
-- @tparam ?number steal  of finish()
-- @tparam integer own_bytes  read and written by us meanwhile
-- @treturn {string,...}  a sentence each; empty when there is nothing to say
function M.warnings(found, steal, own_bytes)
  local units = require "hdd.units"
  local list = {}
  local read, written = found and found.read_bytes or 0, found and found.written_bytes or 0
  if read > READ_BYTES and read > READ_SHARE * own_bytes then
    list[#list + 1] = ("other programs read %s from the drive meanwhile, beside our own %s")
      :format(units.bytes(read), units.bytes(own_bytes))
  end
  if written > WRITTEN_BYTES then
    list[#list + 1] = ("other programs wrote %s to the drive meanwhile"):format(units.bytes(written))
  end
  if steal and steal > STEAL then
    list[#list + 1] = ("the hypervisor took %s %% of the processors' time: latencies may be too long")
      :format(units.fixed(steal * 100, 1))
  end
  return list
end

return M
