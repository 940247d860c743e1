-- Drives that fail, dawdle, leave or no longer answer while a job runs on them.
-- SPDX-License-Identifier: GPL-3.0-or-later
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local reads = require "spec.support.reads"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local K <const>, M <const> = hdd.KiB, hdd.MiB

local function warned(result, pattern)
  for _, warning in ipairs(result.warnings) do
    if warning:find(pattern) then return true end
  end
  return false
end

local to_close = {}

-- A faulty disk, and the drive that it is; both are closed after the spec.
local function faulty(options)
  needs.fuse()
  local disk = faultfs.mount(options)
  local drive = assert(hdd.open(disk.path))
  to_close = {drive, disk, table.unpack(to_close)}
  return disk, drive
end

local function close_all()
  for _, what in ipairs(to_close) do getmetatable(what).__close(what) end
  to_close = {}
end

local function seconds(f)
  local start = hdd.now()
  f()
  return (hdd.now() - start) / 1e9
end

describe("bad sectors", function()
  after_each(close_all)

  it("are each a failure with offset, length, error and time; the job goes on", function()
    local _, drive = faulty {"at=1M,length=512,error=EIO", size = 4 * M}
    local list, result = reads.of(drive, {block_size = 64 * K, depth = 4})
    assert.equal("pattern", result.stopped_by)
    assert.equal(63, result.ios)
    assert.equal(1, result.errors)
    assert.equal(63 * 64 * K, result.bytes)
    assert.equal(63, result.latency:count())
    local failure = result.failures[1]
    assert.equal(M, failure.offset_bytes)
    assert.equal(64 * K, failure.length_bytes)
    assert.equal("EIO", failure.error)
    assert.equal(5, failure.code)
    assert.is_true(failure.latency_ns > 0 and failure.time_s >= 0 and failure.time_s <= result.elapsed_s)
    assert.equal("integer", math.type(failure.latency_ns))
    local codes = {}
    for _, read in ipairs(list) do codes[read.offset] = read.code end
    assert.equal(5, codes[M])
    assert.equal(0, codes[M + 64 * K])
    assert.equal(64, #list)
  end)

  it("keep the names of all errors that mean an unreadable sector", function()
    local names = {"EIO", "ENODATA", "EILSEQ", "ETIMEDOUT", "EREMOTEIO", "ENOLINK"}
    local rules = {size = M}
    for i, name in ipairs(names) do rules[i] = ("at=%dk,length=4k,error=%s"):format(i * 16, name) end
    local _, drive = faulty(rules)
    local result = assert(drive:run {})
    assert.equal("pattern", result.stopped_by)
    assert.equal(256 - 6, result.ios)
    assert.equal(6, result.errors)
    for i, name in ipairs(names) do
      assert.equal(i * 16 * K, result.failures[i].offset_bytes)
      assert.equal(name, result.failures[i].error)
    end
  end)

  it("scattered are all found, sequential, random and strided", function()
    local rules = {size = 4 * M}
    for i = 1, 10 do rules[i] = ("at=%dk,length=4k,error=EIO"):format(i * 400) end
    local _, drive = faulty(rules)
    assert.equal(10, drive:run({depth = 8}).errors)
    local list, result = reads.of(drive, {pattern = "random", ios = 3000, depth = 8, max_failures = 3000})
    local expected = 0
    for _, read in ipairs(list) do
      local bad = read.offset % (400 * K) == 0 and read.offset > 0
      assert.equal(bad and 5 or 0, read.code)
      if bad then expected = expected + 1 end
    end
    assert.is_true(expected > 0)
    assert.equal(expected, result.errors)
    assert.equal(3000, result.ios + result.errors)
    local zone = assert(drive:run {pattern = "strided", zone_size = 400 * K, zone_skip = 400 * K})
    assert.equal(5, zone.errors)
  end)

  it("in a run of 2000 are counted, and do not make the drive a lost one", function()
    local _, drive = faulty {"at=1M,length=8000k,error=EIO", size = 16 * M}
    for _, depth in ipairs {1, 32} do
      local result = assert(drive:run {depth = depth, max_failures = 100})
      assert.equal("pattern", result.stopped_by)
      assert.equal(2000, result.errors)
      assert.equal(4096 - 2000, result.ios)
      assert.equal(100, #result.failures)
      assert.is_nil(result.lost_offset_bytes)
    end
    local limited = assert(drive:run {pattern = "sequential", offset = 512 * K, ios = 1000})
    assert.equal(1000, limited.ios + limited.errors) -- what looks whether the drive is there is no I/O
    assert.equal("ios", limited.stopped_by)
  end)

  it("from the first read on are all failures: nothing says that the drive was there", function()
    local _, drive = faulty {"error=EIO", size = M}
    local result = assert(drive:run {depth = 4})
    assert.equal("pattern", result.stopped_by)
    assert.equal(256, result.errors)
    assert.equal(0, result.ios)
    assert.equal(0, result.latency:count())
    assert.equal(0.0, result.iops)
    assert.same({}, result.slowest)
    assert.equal(256, #result.failures)
  end)

  it("end the job at its limit, within what is in flight", function()
    local _, drive = faulty {"at=64k,error=EIO", size = 4 * M}
    for _, depth in ipairs {1, 8} do
      local result = assert(drive:run {depth = depth, max_errors = 10})
      assert.equal("errors", result.stopped_by)
      assert.is_true(result.errors >= 10 and result.errors < 10 + depth)
    end
    assert.same({}, drive:run({max_errors = 5, max_failures = 0}).failures)
  end)
end)

describe("short reads", function()
  after_each(close_all)

  it("are continued, and only bytes that came are counted", function()
    local disk, drive = faulty {"nth=5,short=half", size = 4 * M}
    local list, result = reads.of(drive, {block_size = 64 * K, depth = 2})
    assert.equal(64, result.ios)
    assert.equal(0, result.errors)
    assert.equal(4 * M, result.bytes)
    assert.equal(4 * M, result.issued_bytes)
    assert.is_true(result.short_reads >= 10)
    assert.equal(64, #list)
    local bytes = 0
    for _, read in ipairs(disk:reads()) do bytes = bytes + read.result end
    assert.equal(4 * M, bytes) -- nothing was read twice
  end)

  it("that stay short within a sector are failures", function()
    local _, drive = faulty {"at=128k,length=4k,short=100", size = M}
    local result = assert(drive:run {})
    assert.equal(1, result.errors)
    assert.equal(128 * K, result.failures[1].offset_bytes)
    assert.equal("EIO", result.failures[1].error)
    assert.equal(255, result.ios)
    assert.equal(255 * 4096, result.bytes)
  end)
end)

describe("a drive that answers out of order", function()
  after_each(close_all)

  it("has each latency at its own offset", function()
    local _, drive = faulty {"every=1M,delay=150", size = 8 * M}
    local list, result = reads.of(drive, {block_size = 32 * K, depth = 32, slowest = 12})
    assert.equal(256, #list)
    local slow = {}
    for _, read in ipairs(list) do
      if read.latency_ns >= 150000000 then slow[#slow + 1] = read.offset end
    end
    table.sort(slow)
    assert.same({0, M, 2 * M, 3 * M, 4 * M, 5 * M, 6 * M, 7 * M}, slow)
    local named = {}
    for i = 1, 8 do
      named[i] = result.slowest[i].offset_bytes
      assert.is_true(result.slowest[i].latency_ns >= 150000000)
    end
    table.sort(named)
    assert.same(slow, named)
    assert.is_true(result.slowest[9].latency_ns < 150000000)
    assert.is_true(result.latency:max() >= 150000000 and result.latency:percentile(90) < 150000000)
  end)
end)

describe("a stall", function()
  after_each(close_all)

  it("is in the rates, the maximum, the series and the list of stalls", function()
    local disk, drive = faulty {"delay=4", size = 4 * M}
    local job = assert(drive:start {pattern = "random", runtime = 1.2, interval = 0.1, stall = 0.4})
    hdd.sleep(0.3)
    disk:freeze()
    hdd.sleep(0.35)
    local progress = job:progress()
    assert.is_true(progress.idle_s >= 0.25)
    assert.is_true(progress.oldest_offset_bytes >= 0 and progress.oldest_offset_bytes % 4096 == 0)
    assert.is_true(progress.elapsed_s >= 0.6) -- the clock goes on
    hdd.sleep(0.25)
    disk:thaw()
    local result = job:wait()
    assert.equal("runtime", result.stopped_by)
    assert.is_true(result.elapsed_s >= 1.2)
    assert.is_true(result.latency:max() >= 500000000)
    assert.equal(1, #result.stalls)
    local stall = result.stalls[1]
    assert.is_true(stall.elapsed_s >= 0.5 and stall.elapsed_s < 0.9)
    assert.is_true(stall.time_s > 0.1 and stall.time_s < 0.6)
    assert.equal(result.slowest[1].offset_bytes, stall.offset_bytes)
    local silent = 0
    for i, interval in ipairs(result.series) do
      if interval.ios == 0 then
        silent = silent + 1
        assert.is_nil(interval.latency_mean_ns)
        assert.is_nil(interval.latency_max_ns)
        assert.is_nil(interval.position_bytes)
        assert.equal(0, interval.bytes)
        assert.is_true(i > 1 and interval.elapsed_s > 0.09)
      end
    end
    assert.is_true(silent >= 4 and silent <= 8)
    assert.is_true(math.abs(result.iops - result.ios / result.elapsed_s) < 1e-6)
  end)

  it("shorter than a look at the clock has the offset that was waited for", function()
    local _, drive = faulty {"at=256k,length=4k,delay=60", size = M}
    local result = assert(drive:run {depth = 1, stall = 0.05})
    assert.equal(1, #result.stalls)
    assert.equal(256 * K, result.stalls[1].offset_bytes)
  end)
end)

describe("a slow drive", function()
  after_each(close_all)

  it("has intervals without I/O, with rate 0 and no latency", function()
    for _, depth in ipairs {1, 4} do
      local _, drive = faulty {"delay=250", size = M}
      local result = assert(drive:run {pattern = "random", ios = 3 * depth, depth = depth, interval = 0.05})
      local with, without = 0, 0
      for _, interval in ipairs(result.series) do
        if interval.ios == 0 then
          without = without + 1
          assert.is_nil(interval.latency_mean_ns)
        else
          with = with + 1
          assert.is_true(interval.latency_mean_ns >= 250e6)
        end
      end
      assert.is_true(with <= 3 * depth and without >= 9)
    end
  end)

  it("has a last interval as long as it really was", function()
    local _, drive = faulty {"delay=10", size = M}
    local result = assert(drive:run {pattern = "random", runtime = 1.05, depth = 4, interval = 0.2})
    local rates, seconds_in_all = {}, 0
    for i, interval in ipairs(result.series) do
      rates[i] = interval.ios / interval.elapsed_s
      seconds_in_all = seconds_in_all + interval.elapsed_s
    end
    assert.equal(6, #rates)
    assert.is_true(math.abs(seconds_in_all - result.elapsed_s) < 1e-9)
    assert.is_true(result.series[6].elapsed_s < 0.15)
    assert.is_true(rates[6] > 0.5 * rates[3] and rates[6] < 1.7 * rates[3])
  end)

  it("that wakes up is not in what is counted after a ramp", function()
    local _, drive = faulty {"idle=60000,delay=600", size = M}
    local result = assert(drive:run {pattern = "random", ramp = 0.05, ios = 200})
    assert.equal(200, result.ios)
    assert.is_true(result.latency:max() < 500000000)
    assert.is_true(result.elapsed_s < 0.6)
    assert.same({}, result.stalls)
  end)
end)

describe("a drive that is lost", function()
  after_each(close_all)

  for _, name in ipairs {"ENODEV", "ENXIO"} do
    it("with " .. name .. " ends the job at once and keeps what was measured", function()
      local _, drive = faulty {"after=50,error=" .. name, size = 4 * M}
      local result = assert(drive:run {depth = 4, runtime = 60})
      assert.equal("device lost", result.stopped_by)
      assert.equal(50, result.ios)
      assert.equal(0, result.errors)
      assert.same({}, result.failures)
      assert.equal(0, result.lost_offset_bytes % 4096)
      assert.is_true(result.lost_offset_bytes >= 49 * 4096 and result.lost_offset_bytes <= 54 * 4096)
      assert.is_true(warned(result, "^device lost at offset " .. result.lost_offset_bytes .. "$"))
    end)
  end

  for _, depth in ipairs {1, 32} do
    it("and answers 0 bytes for ever is seen at once, at depth " .. depth, function()
      local _, drive = faulty {"after=40,short=0", size = 4 * M}
      local result
      local took = seconds(function() result = assert(drive:run {pattern = "random", runtime = 60, depth = depth}) end)
      assert.is_true(took < 5)
      assert.equal("device lost", result.stopped_by)
      assert.equal(40, result.ios)
      assert.equal(40 * 4096, result.bytes)
      assert.equal(0, result.errors)
      assert.is_true(result.issued_bytes <= (40 + 2 * depth) * 4096)
    end)

    it("and fails every read with EIO is told from bad sectors, at depth " .. depth, function()
      local _, drive = faulty {"after=100,error=EIO", size = 4 * M}
      local result = assert(drive:run {depth = depth})
      assert.equal("device lost", result.stopped_by)
      assert.equal(100, result.ios)
      assert.equal(0, result.errors)
      assert.same({}, result.failures)
      assert.is_true(result.lost_offset_bytes >= (100 - depth) * 4096)
      assert.is_true(result.lost_offset_bytes <= (100 + depth) * 4096)
      assert.is_true(result.issued_bytes <= (100 + 16 + 4 * depth) * 4096)
    end)
  end

  it("and ends some of its reads well when others have failed already is a lost one from the first failure", function()
    local _, drive = faulty {"every=32k,times=14,delay=30", "after=100,delay=20,error=EIO", size = 4 * M}
    local result = assert(drive:run {depth = 32})
    assert.equal("device lost", result.stopped_by)
    assert.equal(114, result.ios)
    assert.equal(0, result.errors)
  end)

  it("keeps the bad sectors that it had before", function()
    local _, drive = faulty {"at=40k,length=8k,error=EIO", "after=100,error=EIO", size = 4 * M}
    local result = assert(drive:run {})
    assert.equal("device lost", result.stopped_by)
    assert.equal(2, result.errors)
    assert.equal(2, #result.failures)
    assert.equal(100, result.ios)
    assert.equal(102 * 4096, result.lost_offset_bytes)
  end)

  it("is one whose file was cut off under it", function()
    local path = scratch.file(4 * M)
    local drive <close> = assert(hdd.open(path))
    shell.must("truncate -s 1M " .. path)
    local result = assert(drive:run {})
    assert.equal("device lost", result.stopped_by)
    assert.equal(M, result.bytes)
    assert.equal(M, result.lost_offset_bytes)
    shell.must("truncate -s 0 " .. path)
    local nothing = assert(drive:run {pattern = "random", ios = 100, depth = 4})
    assert.equal("device lost", nothing.stopped_by)
    assert.equal(0, nothing.ios)
    assert.is_nil(nothing.iops)
  end)

  it("is a loop device whose file was cut off under it", function()
    needs.loop()
    local path = scratch.file(4 * M)
    local device <close> = loop.attach(path)
    local drive <close> = assert(hdd.open(device.path))
    local job = assert(drive:start {pattern = "random", runtime = 30, depth = 4})
    hdd.sleep(0.1)
    shell.must("truncate -s 0 " .. path)
    local result = job:wait(10)
    assert.equal("device lost", result.stopped_by)
    assert.is_true(result.ios > 0)
    assert.equal(0, result.errors)
  end)

  for _, on in ipairs {"the file", "a loop device on it"} do
    it("is one whose server was killed, seen on " .. on, function()
      if on ~= "the file" then needs.loop() end
      local disk, drive = faulty {"delay=2", size = 4 * M, loop = on ~= "the file"}
      local job = assert(drive:start {pattern = "random", runtime = 30, depth = 4})
      hdd.sleep(0.1)
      disk:kill()
      local result
      assert.is_true(seconds(function() result = job:wait(10) end) < 5)
      assert.equal("device lost", result.stopped_by)
      assert.is_true(result.ios > 0)
      assert.equal(0, result.errors)
      assert.same({}, result.failures)
      assert.is_true(result.latency:count() == result.ios)
    end)
  end
end)

describe("a drive that hangs", function()
  after_each(close_all)

  -- Reads of the first megabyte are answered, others never.
  local function hanging(rules)
    return faulty {"at=1M,hang", size = 4 * M, table.unpack(rules or {})}
  end

  -- Each of these takes the two seconds that reads have at the end: they are done together, once.
  local seen

  local function together()
    if seen then return seen end
    local _, drive = hanging()
    local mine = {}
    local works = {
      function()
        local options = {pattern = {0, M, 2 * M, 3 * M}, loop = true, runtime = 0.4, depth = 3, stall = 1}
        mine.took = seconds(function() mine.timed = assert(drive:run(options)) end)
      end,
      function()
        mine.ramped = assert(drive:run {pattern = {M}, loop = true, ramp = 0.3, runtime = 0.2})
      end,
      function()
        local job = assert(drive:start {pattern = {2 * M, M}, loop = true, runtime = math.huge})
        hdd.sleep(0.35)
        mine.progress = job:progress()
        job:stop()
        mine.stopping = seconds(function() mine.stopped = job:wait() end)
      end,
      function()
        local job = assert(drive:start {pattern = {0, M}, depth = 3})
        mine.waited = table.pack(job:wait(0.5))
        mine.phase = job:progress().phase
        job:stop()
        mine.ended = job:wait()
      end,
      function()
        local good <close> = assert(hdd.open(scratch.file(M)))
        mine.other = assert(good:run {pattern = "random", runtime = 0.5})
      end,
    }
    for i, work in ipairs(works) do works[i] = hdd.task(work) end
    for _, work in ipairs(works) do work:wait() end
    seen = mine
    return seen
  end

  it("does not keep the job longer than its run time and two seconds", function()
    local took, result = together().took, together().timed
    assert.is_true(took >= 2.3 and took < 3.2, took .. " s")
    assert.equal("runtime", result.stopped_by)
    assert.equal(1, result.ios)
    table.sort(result.abandoned)
    assert.same({M, 2 * M, 3 * M}, result.abandoned)
    assert.is_true(warned(result, "^3 reads were not answered within 2 s of the end and given up$"))
    assert.is_true(result.elapsed_s >= 2.3)
    assert.equal(1, result.latency:count())
    assert.equal(1, #result.stalls)
    assert.equal(M, result.stalls[1].offset_bytes)
    assert.is_true(result.stalls[1].elapsed_s > 2)
    local ios, silent = 0, 0
    for _, interval in ipairs(result.series) do
      ios = ios + interval.ios
      if interval.ios == 0 then silent = silent + 1 end
    end
    assert.equal(1, ios)
    assert.is_true(silent >= 20)
  end)

  it("is left by stop, and says meanwhile what it waits for", function()
    local progress, took, result = together().progress, together().stopping, together().stopped
    assert.equal(2 * M, progress.oldest_offset_bytes)
    assert.is_true(progress.idle_s > 0.25 and progress.idle_s < 1)
    assert.equal(0, progress.ios)
    assert.is_true(took < 2.7, took .. " s")
    assert.equal("stop", result.stopped_by)
    assert.same({2 * M}, result.abandoned)
    assert.equal(0, result.ios)
    assert.equal(0.0, result.iops) -- it was really asked, and really gave nothing
  end)

  it("at its natural end is waited for until something ends that", function()
    assert.is_nil(together().waited[1])
    assert.matches("timed out", together().waited[2])
    assert.equal("drain", together().phase)
    local result = together().ended
    assert.equal("pattern", result.stopped_by)
    assert.same({M}, result.abandoned)
  end)

  it("keeps ring, buffers and descriptor of what it never answered, until it does", function()
    local disk, drive = faulty {"at=1M,length=1M,delay=2600", size = 4 * M}
    local function open_here()
      return (shell.run("ls -l /proc/$PPID/fd | grep -cF " .. disk.file))
    end
    local result = assert(drive:run {pattern = {M, M + 4096}, depth = 2, runtime = 0.01})
    assert.equal(2, #result.abandoned)
    drive:close()
    result = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.equal("1", open_here())
    hdd.sleep(1)
    assert.equal("0", open_here())
  end)

  it("in its ramp counts as nothing done, from the ramp's end on", function()
    local result = together().ramped
    assert.equal("runtime", result.stopped_by)
    assert.equal(0, result.ios)
    assert.is_true(result.elapsed_s >= 2.1 and result.elapsed_s < 2.6)
    assert.equal(0.0, result.iops)
    assert.same({M}, result.abandoned)
  end)

  it("does not hinder the others", function()
    assert.is_true(together().other.ios > 100)
    assert.is_true(together().other.elapsed_s < 1)
  end)

  it("is left by Ctrl-C within 2.5 seconds, with the partial result", function()
    local disk, drive = hanging()
    drive:close()
    local run = process.hddlua({"-e", ([[
      local hdd = require "hdd"
      local drive <close> = assert(hdd.open(%q))
      io.write("running\n") io.flush()
      local r = drive:run {pattern = {0, 1 << 20}, runtime = 60}
      print(r.stopped_by, r.interrupted, r.ios, r.abandoned[1])
      hdd.sleep(10)
    ]]):format(disk.path)}, {events = {{when = "running", after = 0.3, signal = "INT"}}})
    assert.equal("running\ninterrupt\ttrue\t1\t1048576\n", run.stdout)
    assert.equal(130, run.status)
    assert.is_true(run.elapsed_s - run.events[1] < 2.9, run.elapsed_s - run.events[1])
  end)

  it("is left by a second Ctrl-C at once", function()
    local disk, drive = hanging()
    drive:close()
    local run = process.hddlua({"-e", ([[
      io.write("running\n") io.flush()
      require "hdd".open(%q):run {pattern = {1 << 20}, runtime = 60}
    ]]):format(disk.path)}, {events = {{when = "running", after = 0.2, signal = "INT"},
                                      {when = "running", after = 0.6, signal = "INT"}}})
    assert.equal(130, run.status)
    assert.is_true(run.elapsed_s - run.events[2] < 1)
  end)
end)
