-- Jobs on a healthy drive: when they stop, what their results say, and looking at them meanwhile.
-- SPDX-License-Identifier: GPL-3.0-or-later
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local raises = require "spec.support.raises"
local reads = require "spec.support.reads"
local scratch = require "spec.support.scratch"

local K <const>, M <const> = hdd.KiB, hdd.MiB
local path = scratch.file(4 * M)

-- A device that answers at once, as large as one likes.
local function zero(size)
  return assert(hdd.open("/dev/zero", {size = size or 1 << 40}))
end

local function warned(result, pattern)
  for _, warning in ipairs(result.warnings) do
    if warning:find(pattern) then return true end
  end
  return false
end

-- Sums of a result's series: I/Os, bytes, seconds.
local function totals(series)
  local ios, bytes, seconds = 0, 0, 0
  for _, interval in ipairs(series) do
    ios, bytes, seconds = ios + interval.ios, bytes + interval.bytes, seconds + interval.elapsed_s
  end
  return ios, bytes, seconds
end

-- Every number of a table that is a count, an offset, a size or a time in ns is an integer.
local function check_integers(value, name)
  if type(value) == "table" then
    for key, inner in pairs(value) do
      check_integers(inner, type(key) == "string" and key or name)
    end
  elseif type(value) == "number" then
    local fraction = name:find("_s$") or name:find("_bytes_per_s$") or name:find("^iops") or
      name == "depth_achieved" or name == "latency_mean_ns" or name == "steal"
    if math.type(value) ~= (fraction and "float" or "integer") or value ~= value or math.abs(value) == math.huge then
      error(("%s = %s, a %s"):format(name, value, math.type(value))) -- an assert for each would take most of the time
    end
  end
end

describe("a job #core", function()
  local drive
  before_each(function() drive = assert(hdd.open(path)) end)
  after_each(function() drive:close() end)

  describe("stops", function()
    it("at its number of I/Os, at every depth and batch", function()
      for _, how in ipairs {{1, 1, 1}, {1, 8, 8}, {7, 3, 1}, {1000, 64, 64}, {1000, 1, 1}, {999, 128, 5}} do
        local result = assert(drive:run {pattern = "random", ios = how[1], depth = how[2], batch = how[3]})
        assert.equal(how[1], result.ios)
        assert.equal(how[1] * 4096, result.bytes)
        assert.equal(how[1] * 4096, result.issued_bytes)
        assert.equal(how[1], result.latency:count())
        assert.equal("ios", result.stopped_by)
      end
    end)

    it("at its number of bytes, the last read shortened to whole logical blocks", function()
      for _, how in ipairs {{4096, 4096}, {10000, 10240}, {1, 512}, {64 * K + 512, 64 * K + 512}} do
        for _, depth in ipairs {1, 8} do
          local result = assert(drive:run {pattern = "random", bytes = how[1], depth = depth})
          assert.equal(how[2], result.bytes)
          assert.equal("bytes", result.stopped_by)
        end
      end
    end)

    it("at its run time, counting to the last completion", function()
      local result = assert(drive:run {pattern = "random", runtime = 0.25, depth = 2})
      assert.equal("runtime", result.stopped_by)
      assert.is_true(result.elapsed_s >= 0.25 and result.elapsed_s < 0.7)
      assert.is_false(result.interrupted)
    end)

    it("at whichever limit comes first", function()
      local device <close> = zero()
      assert.equal("ios", device:run({pattern = "random", ios = 10, bytes = 1 << 30, runtime = 9}).stopped_by)
      assert.equal("bytes", device:run({pattern = "random", ios = 1 << 60, bytes = 8192}).stopped_by)
      assert.equal("pattern", device:run({pattern = {0, 4096}, ios = 10, runtime = 9}).stopped_by)
      assert.equal("runtime", device:run({pattern = "random", ios = math.maxinteger, runtime = 0.01}).stopped_by)
    end)

    it("when it is told to", function()
      local device <close> = zero()
      local job = assert(device:start {pattern = "random", runtime = math.huge})
      hdd.sleep(0.02)
      assert.is_nil(job:result())
      job:stop()
      local result = job:wait()
      assert.equal("stop", result.stopped_by)
      assert.is_true(result.ios > 0)
      job:stop() -- again, and late: nothing
      assert.equal(result, job:result())
      assert.equal(result, job:wait())
    end)

    it("when its drive is closed", function()
      local device <close> = zero()
      local job = assert(device:start {pattern = "random", runtime = math.huge})
      device:close()
      local result = job:wait()
      assert.equal("closed", result.stopped_by)
      assert.is_true(result.ios > 0)
    end)

    it("when the confidence interval is as narrow as asked, within the times given", function()
      local device <close> = zero()
      local result = assert(device:run {pattern = "random", precision = 0.9, runtime_min = 0.3,
        runtime = 20, interval = 0.005})
      assert.equal("precision", result.stopped_by)
      assert.is_true(result.elapsed_s >= 0.3 and result.elapsed_s < 5)
      assert.is_true(result.iops_ci95 <= 0.9 * result.iops)
      local never = assert(device:run {pattern = "random", precision = 1e-12, runtime_min = 0,
        runtime = 0.3, interval = 0.005})
      assert.equal("runtime", never.stopped_by)
    end)
  end)

  describe("with a ramp", function()
    it("does not count it", function()
      local device <close> = zero()
      local list, result = reads.of(device, {pattern = "random", ramp = 0.2, ios = 500})
      assert.equal(500, result.ios)
      assert.equal(500 * 4096, result.bytes)
      assert.equal(500, #list)
      assert.equal(500, result.latency:count())
      assert.is_true(result.issued_bytes > 500 * 4096)
      assert.is_true(result.elapsed_s < 0.2)
      for _, read in ipairs(list) do assert.is_true(read.time_ns >= 0) end
    end)

    it("has its run time after it, to the hundredth of a second", function()
      local device <close> = zero()
      local start = hdd.now()
      local result = assert(device:run {pattern = "random", ramp = 0.15, runtime = 0.02})
      local took = (hdd.now() - start) / 1e9
      assert.is_true(result.elapsed_s >= 0.02 and result.elapsed_s < 0.1)
      assert.is_true(took >= 0.17)
      assert.equal("runtime", result.stopped_by)
    end)

    it("that is not over when it ends has counted nothing, and says so", function()
      local device <close> = zero()
      local job = assert(device:start {pattern = "random", ramp = 30, runtime = 5})
      hdd.sleep(0.05)
      assert.equal("ramp", job:progress().phase)
      job:stop()
      for _, result in ipairs {job:wait(), assert(drive:run {pattern = {0, 4096}, ramp = 30})} do
        assert.equal(0, result.ios)
        assert.equal(0, result.latency:count())
        assert.equal(0.0, result.elapsed_s)
        assert.is_nil(result.iops)
        assert.is_nil(result.depth_achieved)
        assert.is_true(result.issued_bytes > 0)
        assert.same({}, result.series)
        assert.is_true(warned(result, "before the end of the ramp"))
      end
    end)
  end)

  describe("says in its result", function()
    it("rates that agree with its counts", function()
      local result = assert(drive:run {pattern = "random", ios = 3000, depth = 4})
      assert.is_true(math.abs(result.iops * result.elapsed_s - 3000) < 1e-6)
      assert.is_true(math.abs(result.bandwidth_bytes_per_s - result.iops * 4096) < 1e-3)
      local ios, bytes, seconds = totals(result.series)
      assert.equal(3000, ios)
      assert.equal(result.bytes, bytes)
      assert.is_true(math.abs(seconds - result.elapsed_s) < 1e-6)
    end)

    it("the depth that was reached, as Little's law has it", function()
      for _, depth in ipairs {1, 4, 16} do
        local result = assert(drive:run {pattern = "random", ios = 4000, depth = depth})
        local by_law = result.iops * result.latency:mean() / 1e9
        assert.is_true(math.abs(by_law - result.depth_achieved) < 0.001 * depth)
        assert.is_true(result.depth_achieved <= depth * 1.0001)
        assert.is_true(result.depth_achieved > depth * 0.2)
      end
    end)

    it("nothing but integers for what is a whole number", function()
      for _, options in ipairs {
        {pattern = "random", ios = 2000, depth = 4, interval = 0.005},
        {pattern = "sequential", length = 3 * 4096},
        {pattern = function() end},
      } do
        check_integers(assert(drive:run(options)), "")
      end
      local job = assert(drive:start {pattern = "random", ios = 20000, depth = 4})
      check_integers(job:progress(), "")
      job:wait()
      check_integers(job:progress(), "")
    end)

    it("what the records said", function()
      local list, result = reads.of(drive, {pattern = "random", ios = 2500, depth = 8, slowest = 20})
      local latencies, sum = {}, 0
      for i, read in ipairs(list) do
        latencies[i] = {read.latency_ns, read.offset}
        sum = sum + read.latency_ns
        assert.equal(0, read.code)
        assert.is_true(read.latency_ns > 0 and read.time_ns <= result.elapsed_s * 1e9 + 1)
      end
      table.sort(latencies, function(a, b) return a[1] > b[1] end)
      assert.equal(latencies[1][1], result.latency:max())
      assert.equal(latencies[2500][1], result.latency:min())
      assert.equal(sum / 2500, result.latency:mean())
      assert.equal(20, #result.slowest)
      for i, slow in ipairs(result.slowest) do assert.equal(latencies[i][1], slow.latency_ns) end
      for _, p in ipairs {50, 90, 99, 99.9} do
        local exact = latencies[2500 - math.ceil(p * 2500 / 100 - 1e-6) + 1][1]
        assert.is_true(math.abs(result.latency:percentile(p) - exact) <= exact / 100)
      end
    end)

    it("the histogram it was given, filled anew", function()
      local h = hdd.histogram():add(5)
      local result = assert(drive:run {pattern = "random", ios = 10, histogram = h})
      assert.equal(h, result.latency)
      assert.equal(10, h:count())
    end)

    it("the reading through the page cache, when that was asked for", function()
      local buffered <close> = assert(hdd.open(path, {buffered = true}))
      assert.is_true(warned(buffered:run {ios = 1}, "page cache"))
      assert.is_false(warned(drive:run {ios = 1}, "page cache"))
    end)

    it("where the time went, on its own thread", function()
      local result = assert(drive:run {pattern = "random", runtime = 0.2})
      assert.equal("thread", result.timing)
      assert.is_true(result.cpu_user_s >= 0 and result.cpu_system_s >= 0)
      assert.is_true(result.cpu_user_s + result.cpu_system_s <= 2 * result.elapsed_s + 0.1)
    end)
  end)

  it("of one I/O has a result in which all agree", function()
    local result = assert(drive:run {ios = 1})
    local ns = result.latency:min()
    assert.equal(ns, result.latency:max())
    assert.equal(ns, result.latency:percentile(50))
    assert.equal(ns, result.slowest[1].latency_ns)
    assert.equal(1, #result.series)
    assert.equal(1, result.series[1].ios)
    assert.equal(ns, result.series[1].latency_max_ns)
    assert.is_nil(result.iops_ci95)
  end)

  it("keeps as many slow reads as asked", function()
    assert.same({}, drive:run({ios = 100, slowest = 0}).slowest)
    assert.equal(3, #drive:run({ios = 3, slowest = 50}).slowest)
    local slowest = drive:run({ios = 1000, slowest = 50}).slowest
    assert.equal(50, #slowest)
    for i = 2, 50 do assert.is_true(slowest[i - 1].latency_ns >= slowest[i].latency_ns) end
  end)

  it("shows its progress while it runs, and at the end what it came to", function()
    local device <close> = zero()
    local job = assert(device:start {pattern = "random", runtime = math.huge})
    local last = job:progress()
    for _ = 1, 5 do
      local now
      for _ = 1, 100 do -- on a busy machine its thread may have had no turn yet
        hdd.sleep(0.02)
        now = job:progress()
        if now.ios > last.ios then break end
      end
      assert.equal("run", now.phase)
      assert.is_true(now.ios > last.ios and now.bytes > last.bytes and now.elapsed_s > last.elapsed_s)
      assert.is_true(now.issued_bytes >= now.bytes)
      assert.equal(0, now.errors)
      assert.equal(0, now.position_bytes % 4096)
      assert.is_true(now.idle_s < 1)
      last = now
    end
    job:stop()
    local result, at_end = job:wait(), job:progress()
    assert.equal("finished", at_end.phase)
    assert.equal(result.ios, at_end.ios)
    hdd.sleep(0.02)
    assert.same(at_end, job:progress())
  end)

  it("gives whole copies of histogram and series while it runs", function()
    local device <close> = zero()
    local job = assert(device:start {pattern = "random", runtime = math.huge, interval = 0.02})
    local seen = 0
    for _ = 1, 30 do
      local snapshot = job:snapshot()
      if snapshot then
        seen = seen + 1
        local ios = totals(snapshot.series)
        assert.equal(snapshot.latency:count(), ios)
        assert.is_true(ios > 0 and ios <= job:progress().ios)
        check_integers(snapshot, "")
      end
      hdd.sleep(0.02)
    end
    job:stop()
    job:wait()
    assert.is_true(seen >= 3)
  end)

  it("has no snapshot in its ramp", function()
    local device <close> = zero()
    local job = assert(device:start {pattern = "random", ramp = 30, runtime = 1})
    for _ = 1, 4 do
      assert.is_nil(job:snapshot())
      hdd.sleep(0.06)
    end
    job:stop()
    job:wait()
  end)

  it("can be waited for with a time-out", function()
    local device <close> = zero()
    local job = assert(device:start {pattern = "random", runtime = math.huge})
    local start = hdd.now()
    local result, message, code = job:wait(0.1)
    local took = (hdd.now() - start) / 1e9
    assert.is_nil(result)
    assert.equal("the job still runs: timed out", message)
    assert.equal(110, code)
    assert.is_true(took >= 0.1 and took < 0.5)
    assert.is_nil((job:wait(0)))
    job:stop()
    assert.equal("stop", job:wait(60).stopped_by)
    assert.equal("stop", job:wait(0).stopped_by)
  end)

  it("runs beside others, in tasks and out of them", function()
    local device <close> = zero()
    local tasks, alone = {}, assert(device:start {pattern = "random", ios = 20000})
    for i = 1, 12 do
      tasks[i] = hdd.task(function()
        return device:run({pattern = "random", ios = 1000 * i, depth = i, seed = i}).ios
      end)
    end
    for i, t in ipairs(tasks) do assert.equal(1000 * i, t:wait()) end
    assert.equal(20000, alone:wait().ios)
  end)

  it("is stopped when the task that waits for it is cancelled", function()
    local device <close> = zero()
    local result
    local t = hdd.task(function() result = device:run {pattern = "random", runtime = math.huge} end)
    hdd.sleep(0.02)
    t:cancel()
    t:wait()
    assert.equal("stop", result.stopped_by)
  end)

  describe("refuses", function()
    local function refuses(options, message)
      raises("job_spec.lua:%d+: " .. message, function()
        local result = drive:run(options) -- no tail call: the message names this line
        return result
      end)
    end

    it("what is no option, and lists those there are", function()
      refuses({runtme = 5}, "unknown option 'runtme' %(there are: pattern, block_size, .*histogram%)")
      refuses({5}, "unknown option '1'")
      raises("table", drive.run, drive)
      raises("table", drive.run, drive, "random")
    end)

    it("a number that is none or out of its range, naming the allowed ones", function()
      for _, wrong in ipairs {0, -1, 4097, 1.5, "many", true, {}} do
        refuses({depth = wrong}, "option 'depth': .*: must be a whole number from 1 to 4096")
      end
      refuses({batch = 9, depth = 8}, "option 'batch': 9: must be a whole number from 1 to 8")
      refuses({ios = 0}, "option 'ios': 0: must be a whole number from 1")
      refuses({bytes = -5}, "option 'bytes': %-5: must be a whole number from 1")
      refuses({max_errors = 0}, "option 'max_errors'")
      refuses({slowest = -1}, "option 'slowest': %-1: must be a whole number from 0")
      refuses({intervals = 1}, "option 'intervals': 1: must be a whole number from 2")
      refuses({seed = 0.5}, "option 'seed': 0.5")
    end)

    it("a block or a range that is not of whole logical blocks, naming their size", function()
      local size = "must be a multiple of the logical block size of .*, 512 bytes"
      refuses({block_size = 1000}, "option 'block_size': 1000: " .. size)
      refuses({block_size = 0}, "option 'block_size': 0: must be a whole number from 1")
      refuses({offset = 100}, "option 'offset': 100: " .. size)
      refuses({length = 100}, "option 'length': 100: " .. size)
      refuses({pattern = "strided", zone_size = 1}, "option 'zone_size': 1: " .. size)
      refuses({pattern = "strided", zone_skip = 1}, "option 'zone_skip': 1: " .. size)
    end)

    it("a range that is not inside the device", function()
      refuses({offset = 4 * M}, "option 'offset': 4194304: must be a whole number from 0 to 4194303")
      refuses({offset = -512}, "option 'offset'")
      refuses({offset = 4 * M - 512, length = 1024}, "option 'length': 1024: must be .* from 1 to 512")
      refuses({length = 0}, "option 'length': 0")
      refuses({pattern = "random", ios = 1, length = 512}, "option 'block_size': 4096: must not exceed the range, 512")
    end)

    it("a time that is none", function()
      for _, key in ipairs {"ramp", "runtime", "interval", "stall", "runtime_min"} do
        for _, wrong in ipairs {-1, "soon", 0 / 0, 1e10, {}} do
          refuses({[key] = wrong}, "option '" .. key .. "': .*: must be a number of seconds")
        end
      end
      refuses({runtime = 0}, "option 'runtime': 0: must be a number of seconds above 0")
      refuses({ramp = math.huge}, "option 'ramp': inf")
      refuses({interval = 0.0001}, "option 'interval': must be at least 0.001 s")
    end)

    it("other nonsense", function()
      refuses({pattern = "backwards"}, "option 'pattern': backwards: must be \"sequential\", \"random\"")
      refuses({pattern = true}, "option 'pattern': true: must be")
      refuses({pattern = "random"}, "this pattern never ends: give runtime, ios or bytes")
      refuses({loop = true}, "this pattern never ends")
      refuses({loop = 1, ios = 1}, "option 'loop': 1: must be true or false")
      refuses({registered = "no"}, "option 'registered': no: must be true or false")
      refuses({taskrun = "sqpoll"}, "option 'taskrun': sqpoll: must be \"coop\" or \"defer\"")
      refuses({precision = 2, runtime = 5}, "option 'precision': 2: must lie between 0 and 1")
      refuses({precision = 0.01}, "option 'precision' needs runtime")
      refuses({records = 5}, "option 'records': 5: must be a function or the path of a new file")
      refuses({histogram = {}}, "option 'histogram': table: .*: must be a Histogram")
    end)

    it("more memory for reads in flight than half of the machine's", function()
      refuses({depth = 4096, block_size = 1 << 30}, "options 'depth' times 'block_size': 4398046511104 bytes")
    end)

    it("to run on a closed drive, with a message and a code", function()
      drive:close()
      local result, message, code = drive:run {ios = 1}
      assert.is_nil(result)
      assert.equal("closed", message)
      assert.equal(9, code)
    end)
  end)

  it("leaves no thread and no descriptor behind", function()
    local function open_ends()
      local n = 0
      for _ in io.popen("ls /proc/$PPID/fd /proc/$PPID/task"):lines() do n = n + 1 end
      return n
    end
    drive:run {ios = 10}
    collectgarbage()
    collectgarbage()
    local before = open_ends()
    for _ = 1, 50 do drive:run {pattern = "random", ios = 10, depth = 4} end
    collectgarbage()
    collectgarbage()
    assert.equal(before, open_ends())
  end)
end)

describe("a job", function()
  it("never has more in flight than its depth", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"delay=20", size = 4 * M}
    local drive <close> = assert(hdd.open(disk.path))
    for _, how in ipairs {{1, 1}, {4, 1}, {8, 8}, {24, 5}} do
      local depth = how[1]
      local result = assert(drive:run {pattern = "random", ios = 6 * depth, depth = depth, batch = how[2]})
      assert.is_true(result.depth_achieved > 0.7 * depth and result.depth_achieved <= depth * 1.0001)
      -- With 20 ms each, whoever keeps more than `depth` in flight is faster than this.
      assert.is_true(result.elapsed_s >= 6 * 0.02)
      assert.is_true(result.latency:min() >= 20000000)
    end
  end)

  it("keeps its depth on a block device: as many in flight as asked, as the kernel counts", function()
    needs.fuse()
    needs.loop()
    local disk <close> = faultfs.mount {"delay=60", size = 4 * M, loop = true}
    local drive <close> = assert(hdd.open(disk.path))
    local job = assert(drive:start {pattern = "random", depth = 7, runtime = 1})
    local most, full = 0, 0
    for _ = 1, 15 do
      hdd.sleep(0.03)
      local file <close> = assert(io.open("/sys/block/" .. drive.name .. "/inflight"))
      local in_flight = file:read("n")
      most = math.max(most, in_flight)
      if in_flight == 7 then full = full + 1 end
    end
    job:wait()
    assert.equal(7, most)
    assert.is_true(full >= 5)
  end)

  -- Whoever needed Lua's turn would make some ten reads a second here; the rest is the other processes'
  -- need of the same cores.
  it("is not slowed by a busy script", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"delay=2", size = M}
    local drive <close> = assert(hdd.open(disk.path))
    local function run(work)
      local job = assert(drive:start {pattern = "random", runtime = 0.4})
      while not job:finished() do work() end
      return job:wait()
    end
    for what, work in pairs {
      ["a pure loop"] = function() for _ = 1, 20000000 do end end,
      ["the collector"] = function()
        local kept = {}
        for i = 1, 100000 do kept[i] = {i} end
        collectgarbage()
        assert.equal(100000, #kept)
      end,
    } do
      local share = 0
      for _ = 1, 5 do -- the neighbours on a machine slow one of a pair at times
        local quiet = run(function() hdd.sleep(0.05) end)
        share = math.max(share, run(work).iops / quiet.iops)
        if share > 0.4 then break end
      end
      assert.is_true(share > 0.4, what .. " left " .. share .. " of the reads")
    end
  end)

  it("gives each processor that it needs back: a slow drive costs nothing", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"delay=50", size = 1 * M}
    local drive <close> = assert(hdd.open(disk.path))
    local result = assert(drive:run {pattern = "random", runtime = 0.5, depth = 4})
    assert.is_true(result.cpu_user_s + result.cpu_system_s < 0.1)
  end)

  it("on a loop device with blocks of 4096 bytes reads nothing smaller", function()
    needs.loop()
    local big <close> = loop.attach(path, {block_size = 4096})
    local drive <close> = assert(hdd.open(big.path))
    raises("option 'block_size': 512: must be a multiple of the logical block size of .*, 4096 bytes",
      drive.run, drive, {block_size = 512})
    raises("option 'offset': 512: must be a multiple", drive.run, drive, {offset = 512})
    raises("pattern: offset 1 is 512: must be a multiple of 4096", drive.run, drive, {pattern = {512}})
    local offsets, result = reads.offsets(drive, {pattern = "random", ios = 200, depth = 8})
    for _, offset in ipairs(offsets) do assert.equal(0, offset % 4096) end
    assert.equal(0, result.errors)
    assert.equal(8192, drive:run({bytes = 4097}).bytes)
  end)

  it("is ended by Ctrl-C, with what it has", function()
    local run = process.lua([[
      local hdd = require "hdd"
      local drive = assert(hdd.open("/dev/zero", {size = 1 << 40}))
      io.write("running\n") io.flush()
      local r = drive:run {pattern = "random", runtime = 60}
      print(r.stopped_by, r.interrupted, r.ios > 0, r.elapsed_s < 5)
      print(pcall(drive.run, drive, {ios = 1}))
      print(select(2, pcall(hdd.sleep, 0)) == hdd.interrupted)
    ]], {events = {{when = "running", after = 0.2, signal = "INT"}}})
    assert.equal("running\ninterrupt\ttrue\ttrue\ttrue\nfalse\tinterrupted\ntrue\n", run.stdout)
  end)
end)
