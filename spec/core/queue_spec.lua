-- The queue: a coroutine per slot, each of which decides after each read.
-- SPDX-License-Identifier: GPL-3.0-or-later
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local raises = require "spec.support.raises"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local SIZE <const> = 1 << 20
local path = scratch.file(SIZE)
local bytes = shell.read(path)

local function zero(size)
  return assert(hdd.open("/dev/zero", {size = size or 1 << 40}))
end

describe("a queue #core", function()
  local drive
  before_each(function() drive = assert(hdd.open(path)) end)
  after_each(function() drive:close() end)

  it("calls its function once for each slot, and reads where it says", function()
    local q <close> = assert(drive:queue {depth = 4, block_size = 512})
    local slots, n = {}, 0
    local result = assert(q:each(function(slot)
      slots[slot] = true
      for i = 0, 24 do
        local ns = assert(slot:read(i * 512))
        assert(math.type(ns) == "integer" and ns > 0)
        n = n + 1
      end
    end))
    local count = 0
    for _ in pairs(slots) do count = count + 1 end
    assert.equal(4, count)
    assert.equal(100, n)
    assert.equal(100, result.ios)
    assert.equal(100 * 512, result.bytes)
    assert.equal(100 * 512, result.issued_bytes)
    assert.equal(100, result.latency:count())
    assert.equal(4, result.depth)
    assert.equal(0, result.errors)
    assert.equal("script", result.timing)
    assert.same({}, result.warnings)
    assert.is_true(math.abs(result.iops * result.elapsed_s - 100) < 1e-6)
    assert.is_true(result.depth_achieved > 0 and result.depth_achieved <= 4.001)
  end)

  it("hands the bytes over on request", function()
    local q <close> = assert(drive:queue {depth = 3, block_size = 4096})
    local checked = 0
    assert(q:each(function(slot)
      for _ = 1, 20 do
        local length = math.random(1, 8) * 512
        local offset = hdd.random(SIZE - 4096, 512)
        local ns, data = slot:read(offset, length, true)
        assert(ns and data == bytes:sub(offset + 1, offset + length))
        checked = checked + 1
        assert(select("#", slot:read(offset)) == 1)
      end
    end))
    assert.equal(60, checked)
  end)

  it("reads the last block, and nothing behind it", function()
    local q <close> = assert(drive:queue {block_size = 4096})
    local result = assert(q:each(function(slot)
      assert(slot:read(SIZE - 4096))
      assert(slot:read(SIZE - 512, 512))
      raises("slot:read: offset 1048064: must be a multiple of 512 bytes, at most 1044480", slot.read, slot, SIZE - 512)
      raises("slot:read: offset 1048576", slot.read, slot, SIZE, 512)
    end))
    assert.equal(2, result.ios)
  end)

  it("keeps up to its depth in flight, each slot at its own pace", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"at=512k,delay=60", "delay=10", size = SIZE}
    local slow_drive <close> = assert(hdd.open(disk.path))
    local q <close> = assert(slow_drive:queue {depth = 2, block_size = 4096})
    local order = ""
    local slots = 0
    local result = assert(q:each(function(slot)
      slots = slots + 1
      if slots == 1 then
        assert(slot:read(512 << 10) >= 60000000)
        order = order .. "s"
      else
        for i = 0, 2 do assert(slot:read(i * 4096) < 60000000) order = order .. "f" end
      end
    end))
    assert.equal("fffs", order)
    assert.is_true(result.depth_achieved > 1.1)
    assert.equal(512 << 10, result.slowest[1].offset_bytes)
  end)

  it("may be used again and again", function()
    local q <close> = assert(drive:queue {depth = 2})
    for n = 1, 5 do
      local result = assert(q:each(function(slot) for _ = 1, n do slot:read(0) end end))
      assert.equal(2 * n, result.ios)
    end
    assert.equal(0, assert(q:each(function() end)).ios)
    assert.is_nil(q:each(function() end).iops)
  end)

  it("lets a slot catch its own errors, in pcall and in its own calls", function()
    local q <close> = assert(drive:queue {})
    local caught
    assert(q:each(function(slot)
      local function deep(n)
        if n == 0 then return assert(slot:read(4096)) end
        local ns = deep(n - 1)
        return ns
      end
      assert(deep(50) > 0)
      local ok, message = pcall(function() assert(slot:read(0)) error("after a read") end)
      caught = not ok and message
      assert(pcall(slot.read, slot, 0))
    end))
    assert.matches("after a read$", caught)
  end)

  it("ends with what a slot raises, with its place; the others are ended and what they held is closed", function()
    local q <close> = assert(drive:queue {depth = 4})
    local closed, calls = 0, 0
    local message = raises("queue_spec.lua:%d+: mine\nstack traceback:.*queue_spec.lua", function()
      q:each(function(slot)
        calls = calls + 1
        local me, held <close> = calls, setmetatable({}, {__close = function() closed = closed + 1 end}) -- luacheck: ignore
        for _ = 1, 10 do assert(slot:read(0)) end
        if me == 2 then error("mine") end
        while true do assert(slot:read(0)) end
      end)
    end)
    assert.is_truthy(message)
    assert.equal(4, closed)
    assert.equal(4, assert(q:each(function(slot) slot:read(0) end)).ios) -- it can be used on
    local value = {}
    local ok, raised = pcall(q.each, q, function(slot) slot:read(0) error(value) end)
    assert.is_false(ok)
    assert.equal(value, raised)
  end)

  it("has nothing to give to a slot of a round that is over", function()
    local q <close> = assert(drive:queue {})
    local kept
    assert(q:each(function(slot) kept = slot end))
    raises("slot:read belongs to the function that was given this slot", kept.read, kept, 0)
    q:close()
    local ns, message, code = kept:read(0)
    assert.is_nil(ns)
    assert.equal("closed", message)
    assert.equal(9, code)
  end)

  it("that is closed, or whose drive is, says so", function()
    local q = assert(drive:queue {depth = 2})
    local seen = {}
    assert(q:each(function(slot)
      slot:read(0)
      drive:close()
      seen[#seen + 1] = table.pack(slot:read(0))
    end))
    assert.same({n = 3, nil, "closed", 9}, seen[1])
    q:close()
    q:close()
    local result, message, code = q:each(function() end)
    assert.is_nil(result)
    assert.equal("closed", message)
    assert.equal(9, code)
    assert.same({n = 3, nil, "closed", 9}, table.pack(drive:queue {}))
  end)

  it("may be closed by one of its slots", function()
    for depth = 1, 4 do
      local q = assert(drive:queue {depth = depth})
      local after = 0
      local result = assert(q:each(function(slot)
        slot:read(0)
        q:close()
        local ns, message = slot:read(0)
        assert(not ns and message == "closed")
        after = after + 1
      end))
      assert.equal(1, after)
      assert.is_true(result.ios >= 1)
      local at_once = assert(drive:queue {depth = depth})
      assert(at_once:each(function() at_once:close() end))
    end
  end)

  it("refuses what is misuse", function()
    local q <close> = assert(drive:queue {block_size = 4096, depth = 2})
    assert(q:each(function(slot)
      raises("slot:read: length 100: must be a multiple of 512 bytes, at most block_size %(4096%)",
        slot.read, slot, 0, 100)
      raises("slot:read: length 8192", slot.read, slot, 0, 8192)
      raises("slot:read: length 0", slot.read, slot, 0, 0)
      raises("slot:read: offset %-512", slot.read, slot, -512)
      raises("slot:read: offset 100: must be a multiple of 512 bytes", slot.read, slot, 100)
      raises("number expected, got nil", slot.read, slot, nil)
      raises("no integer representation", slot.read, slot, 0.5)
      raises("hdd.Slot expected", slot.read, {}, 0)
      raises("hdd.Slot expected", slot.read, io.stdout, 0)
      raises("slot:read belongs to the function", coroutine.wrap(function() slot:read(0) end))
      raises("slot:read cannot wait here", table.sort, {2, 1}, function() return slot:read(0) end)
      raises("slot must not", q.each, q, function() end)
      raises("slot must not", hdd.sleep, 0.01)
      raises("slot must not", drive.run, drive, {ios = 1})
      local job = assert(drive:start {ios = 1})
      while not job:finished() do end
      raises("slot must not", job.wait, job) -- although there is nothing to wait for
      raises("slot must not", q.cancel, q)
      raises("slot must not", q.step, q)
      local other <close> = assert(drive:queue {})
      raises("slot must not", other.each, other, function() end)
      assert(slot:read(0))
    end))
    raises("must not yield: it may only read", q.each, q, function() coroutine.yield() end)
    raises("each: a function expected, not nil", q.each, q)
    raises("option 'depth': 0", drive.queue, drive, {depth = 0})
    raises("unknown option 'ios' %(there are: depth, block_size", drive.queue, drive, {ios = 1})
    raises("option 'block_size': 1000: must be a multiple", drive.queue, drive, {block_size = 1000})
  end)

  it("is used by one at a time", function()
    local q <close> = assert(drive:queue {})
    local first = hdd.task(function()
      return assert(q:each(function(slot) for _ = 1, 100 do slot:read(0) end end)).ios
    end)
    local second = hdd.task(function() q:each(function() end) end)
    raises("queue_spec.lua:%d+: this queue is in use: its slots have not all ended", second.wait, second)
    assert.equal(100, first:wait())
  end)

  it("keeps the failures, with their offsets, and tells them apart from short reads", function()
    needs.fuse()
    local disk <close> = faultfs.mount {
      "at=8k,length=4k,error=EIO", "at=16k,length=4k,error=ENODATA", "at=32k,length=4k,short=512",
      "at=64k,length=4k,short=0", size = SIZE}
    local bad <close> = assert(hdd.open(disk.path))
    local q <close> = assert(bad:queue {block_size = 4096})
    local answers = {}
    local result = assert(q:each(function(slot)
      for _, offset in ipairs {0, 8192, 16384, 32768, 65536} do answers[offset] = table.pack(slot:read(offset)) end
    end))
    assert.equal(1, answers[0].n)
    assert.same({n = 3, nil, "read of 4096 bytes at 8192: EIO (Input/output error)", 5}, answers[8192])
    assert.same({n = 3, nil, "read of 4096 bytes at 16384: ENODATA (No data available)", 61}, answers[16384])
    assert.same({n = 3, nil, "read of 4096 bytes at 32768: only 512 came", 5}, answers[32768])
    assert.same({n = 3, nil, "read of 4096 bytes at 65536: nothing came: the device is gone", 19}, answers[65536])
    assert.equal(1, result.ios)
    assert.equal(4096, result.bytes)
    assert.equal(4, result.errors)
    assert.equal(1, result.short_reads)
    for i, expected in ipairs {{8192, "EIO"}, {16384, "ENODATA"}, {32768, "EIO"}, {65536, "ENODEV"}} do
      assert.equal(expected[1], result.failures[i].offset_bytes)
      assert.equal(expected[2], result.failures[i].error)
    end
  end)

  for _, taskrun in ipairs {"coop", "defer"} do
    it("works in tasks, beside jobs and other queues, with taskrun " .. taskrun, function()
      local device <close> = zero()
      local tasks = {}
      for i = 1, 6 do
        tasks[i] = hdd.task(function()
          local q <close> = assert(drive:queue {depth = i, taskrun = taskrun})
          local ios = 0
          for _ = 1, 3 do
            ios = ios + assert(q:each(function(slot) for _ = 1, 50 do assert(slot:read(0)) end end)).ios
          end
          return ios
        end)
      end
      local job = hdd.task(function() return device:run({pattern = "random", ios = 20000}).ios end)
      local before = os.clock()
      for i, t in ipairs(tasks) do assert.equal(150 * i, t:wait()) end
      assert.equal(20000, job:wait())
      assert.is_true(os.clock() - before < 20)
    end)

    it("waits in a task without using the processor, with taskrun " .. taskrun, function()
      needs.fuse()
      local disk <close> = faultfs.mount {"delay=300", size = SIZE}
      local slow <close> = assert(hdd.open(disk.path))
      local t = hdd.task(function()
        local q <close> = assert(slow:queue {taskrun = taskrun})
        return assert(q:each(function(slot) return slot:read(0) end)).ios
      end)
      local before = os.clock()
      assert.equal(1, t:wait())
      assert.is_true(os.clock() - before < 0.1)
    end)
  end

  it("lets other tasks go on while it reads", function()
    local device <close> = zero()
    local ticks, over = 0, false
    local ticker = hdd.task(function()
      while not over do
        ticks = ticks + 1
        hdd.sleep(0.005)
      end
    end)
    local q <close> = assert(device:queue {depth = 2})
    local until_ns = hdd.now() + 300000000
    assert(q:each(function(slot) while hdd.now() < until_ns do slot:read(0) end end))
    over = true
    ticker:wait()
    assert.is_true(ticks > 2, ticks .. " ticks")
  end)

  it("is left by a task that is cancelled, even when the drive does not answer", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"delay=1500", size = SIZE}
    local slow <close> = assert(hdd.open(disk.path))
    local raised
    local t = hdd.task(function()
      local q <close> = assert(slow:queue {depth = 2})
      local _
      _, raised = pcall(q.each, q, function(slot) slot:read(0) end)
    end)
    hdd.sleep(0.05)
    t:cancel()
    t:wait()
    assert.equal(hdd.interrupted, raised)
  end)

  it("is forgotten with reads in flight without harm", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"delay=100", size = SIZE}
    local slow <close> = assert(hdd.open(disk.path))
    for _ = 1, 3 do
      local co = coroutine.wrap(function()
        local q = assert(slow:queue {depth = 8})
        q:begin(function(slot) slot:read(0) end)
      end)
      co()
      collectgarbage()
      collectgarbage()
    end
  end)

  it("has integers for all whole numbers", function()
    local q <close> = assert(drive:queue {depth = 2})
    local result = assert(q:each(function(slot) for _ = 1, 20 do slot:read(0) end end))
    for key, value in pairs(result) do
      if type(value) == "number" then
        local fraction = key:find("_s$") or key:find("iops") or key == "depth_achieved" or key == "steal"
        assert.equal(fraction and "float" or "integer", math.type(value), key)
      end
    end
  end)
end)

describe("a queue", function()
  it("is ended by Ctrl-C: the reads raise, and the script can say what it has", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"after=3,hang", size = SIZE}
    local run = process.lua(([[
      local hdd = require "hdd"
      local drive = assert(hdd.open(%q))
      local q = assert(drive:queue {depth = 2})
      io.write("reading\n") io.flush()
      local start = hdd.now()
      local ok, why = pcall(q.each, q, function(slot) while true do slot:read(0) end end)
      print(ok, why == hdd.interrupted, q:outcome().ios, (hdd.now() - start) / 1e9 < 4)
      os.exit(0)
    ]]):format(disk.path), {events = {{when = "reading", after = 0.3, signal = "INT"}}})
    assert.equal("reading\nfalse\ttrue\t3\ttrue\n", run.stdout)
  end)
end)
