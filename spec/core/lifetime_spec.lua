-- Dropping, closing, collecting and leaving in every order while reads are in flight.
-- SPDX-License-Identifier: GPL-3.0-or-later
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"

local path = scratch.file(1 << 20)

local function collect()
  collectgarbage()
  collectgarbage()
end

local function zero()
  return assert(hdd.open("/dev/zero", {size = 1 << 40}))
end

-- Threads of this process, and descriptors of it that lead to `target`.
local function threads()
  hdd.sleep(0.02) -- one that has been joined is still there for some microseconds
  return tonumber(io.open("/proc/self/status"):read("a"):match("Threads:%s+(%d+)"))
end

local function descriptors(target)
  local n = 0
  for line in io.popen("ls -l /proc/$PPID/fd"):lines() do
    if line:find(target, 1, true) then n = n + 1 end
  end
  return n
end

local function await(condition)
  local until_ns = hdd.now() + 5000000000
  while not condition() and hdd.now() < until_ns do hdd.sleep(0.01) end
  return condition()
end

describe("a job that nobody holds #core", function()
  it("runs on, and lets go of everything when it has ended", function()
    local device <close> = zero()
    device:run {ios = 1, pattern = "random"} -- ThreadSanitizer has a thread of its own after the first
    collect()
    local before = threads()
    do
      local drive = assert(hdd.open(path))
      drive:start {pattern = "random", runtime = 1}
    end
    for _ = 1, 2 do
      collect()
      assert.equal(before + 1, threads())
    end
    assert.equal(1, descriptors(path))
    assert.is_true(await(function() return threads() == before end))
    -- It is let go of when the next one starts, and collected after, with the drive that it kept.
    device:run {ios = 1, pattern = "random"}
    collect()
    assert.equal(0, descriptors(path))
  end)

  it("is not ended by a collection", function()
    local device <close> = zero()
    local seen = setmetatable({}, {__mode = "k"})
    seen[assert(device:start {pattern = "random", runtime = math.huge})] = true
    for _ = 1, 5 do
      collect()
      hdd.sleep(0.01)
    end
    local job = next(seen)
    assert.is_not_nil(job)
    local ios = job:progress().ios
    hdd.sleep(0.02)
    assert.is_true(job:progress().ios > ios)
    job:stop()
    job:wait()
    job = nil -- luacheck: ignore
    device:run {ios = 1, pattern = "random"}
    collect()
    assert.is_nil(next(seen))
  end)

  it("with a pattern function or a record function still gets what it needs", function()
    local n, m = 0, 0
    do
      local device = zero()
      device:start {pattern = function(i) n = i return 0 end, ios = 20000}
      device:start {pattern = "random", ios = 30000, records = function(batch) m = m + batch.n end}
    end
    collect()
    assert.is_true(await(function() return n == 20000 and m == 30000 end))
  end)
end)

describe("things that belong together #core", function()
  -- Each step is one thing that a script may do, in any order.
  local function script(order)
    local drive = assert(hdd.open(path))
    local device = zero()
    local job = assert(device:start {pattern = "random", runtime = 30})
    local queue = assert(drive:queue {depth = 2})
    local result
    local steps = {
      c = function() device:close() drive:close() end,
      q = function() queue:close() end,
      s = function() job:stop() end,
      w = function() job:stop() result = job:wait() end,
      g = collect,
      d = function() device, drive = nil, nil collect() end,
      j = function()
        job:stop()
        job = nil
        collect()
      end,
    }
    for step in order:gmatch(".") do
      if step ~= "s" and step ~= "w" and step ~= "j" or job then
        if (step ~= "c" or drive) then steps[step]() end
      end
    end
    if job then
      job:stop()
      result = job:wait()
      assert.equal(result, job:result())
      assert.is_true(result.ios >= 0)
      job:progress()
      job:snapshot()
      tostring(job)
    end
    queue:outcome()
    queue:close()
    tostring(queue)
  end

  it("may be closed, stopped, waited for, collected and dropped in every order", function()
    local steps = {"c", "q", "s", "w", "g", "d", "j"}
    local n = 0
    local function permute(done, left)
      if #done == 3 then -- all orders of three of the seven
        n = n + 1
        script(done)
        return
      end
      for i = 1, #left do
        local rest = table.move(left, 1, #left, 1, {})
        permute(done .. table.remove(rest, i), rest)
      end
    end
    permute("", steps)
    assert.equal(210, n)
    local device <close> = zero()
    device:run {ios = 1, pattern = "random"}
    collect()
    assert.equal(0, descriptors(path))
  end)

  it("may be asked for anything on fresh, running and finished objects", function()
    local device = zero()
    local fresh = hdd.histogram()
    assert.is_nil(fresh:percentile(50))
    local job = assert(device:start {pattern = "random", runtime = math.huge})
    for _ = 1, 3 do
      assert.is_nil(job:result())
      assert.is_false(job:finished())
      job:progress()
      job:snapshot()
      assert.equal("job on /dev/zero (run)", tostring(job))
    end
    local queue = assert(device:queue {})
    assert.equal(0, queue:outcome().ios)
    assert.is_nil(queue:outcome().iops)
    device:close()
    job:wait()
    for _ = 1, 2 do
      assert.equal("closed", job:result().stopped_by)
      job:stop()
      assert.is_true(job:finished())
      assert.is_true(job:attend())
      queue:close()
      assert.equal(0, queue:outcome().ios)
      device:close()
    end
  end)
end)

-- Programs that end in the middle of a job, in hddlua and in the stock interpreter.
describe("a program", function()
  local stock = {"lua5.4"}

  local function ends(interpreter, chunk, status, output)
    if interpreter == stock then needs.stock() end
    local argv = table.move(interpreter, 1, #interpreter, 1, {})
    argv[#argv + 1] = "-e"
    argv[#argv + 1] = ([[
      local hdd = require "hdd"
      local drive = assert(hdd.open("/dev/zero", {size = 1 << 40}))
      local job = assert(drive:start {pattern = "random", runtime = 60, depth = 32})
      hdd.sleep(0.05)
    ]]) .. chunk
    local run = process.run(argv, {timeout = 20})
    assert.equal(status, run.status, run.stderr)
    if output then assert.is_truthy((run.stdout .. run.stderr):find(output, 1, true), run.stdout .. run.stderr) end
    assert.is_true(run.elapsed_s < 4)
  end

  for name, interpreter in pairs {hddlua = {process.interpreter}, ["lua5.4"] = stock} do
    it("may leave with os.exit, with and without closing the state, or just end: " .. name, function()
      ends(interpreter, "os.exit(3)", 3)
      ends(interpreter, "os.exit(4, true)", 4)
      ends(interpreter, "print 'done'", 0, "done")
      ends(interpreter, "drive:close() job = nil collectgarbage() os.exit(true, true)", 0)
    end)

    it("may end with an error, in a task and in a queue's slot, too: " .. name, function()
      ends(interpreter, "error 'mine'", 1, "mine")
      ends(interpreter, "hdd.task(function() drive:run {ios = 5, pattern = 'random'} error 'mine' end):wait()",
        1, "mine")
      ends(interpreter, "drive:queue({depth = 4}):each(function(slot) slot:read(0) error 'mine' end)", 1, "mine")
    end)

    it("may end while collecting what ends late: " .. name, function()
      ends(interpreter, [[
        setmetatable({}, {__gc = function() print(pcall(job.progress, job)) end})
        setmetatable({}, {__gc = function() print(pcall(drive.close, drive)) end})
      ]], 0)
    end)
  end

  it("in the midst of a hang leaves within the two seconds that reads have", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"hang", size = 1 << 20}
    for _, chunk in ipairs {"os.exit(5)", "os.exit(5, true)"} do
      local run = process.hddlua({"-e", ([[
        local hdd = require "hdd"
        local drive = assert(hdd.open(%q))
        local job = assert(drive:start {pattern = "random", runtime = 60, depth = 8})
        hdd.sleep(0.05)
        %s
      ]]):format(disk.path, chunk)}, {timeout = 20})
      assert.equal(5, run.status)
      assert.is_true(run.elapsed_s < 3.5, chunk .. ": " .. run.elapsed_s)
    end
  end)
end)
