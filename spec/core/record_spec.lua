-- Records of every read: to Lua, with its back pressure, and to a file.
-- SPDX-License-Identifier: GPL-3.0-or-later
local core = require "hdd.core"
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local raises = require "spec.support.raises"
local reads = require "spec.support.reads"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local path = scratch.file(1 << 20)

local HEADER <const>, RECORD <const> = "<c8 I4 I4 I8 I8 I8 c24", "<I8 I8 I8"

-- The header of a file of records as a table, and its records.
local function parse(file)
  local bytes = assert(shell.read(file))
  local magic, header_bytes, record_bytes, block, range_end, started = HEADER:unpack(bytes)
  assert.equal("hddlua\0\1", magic)
  assert.equal(0, (#bytes - header_bytes) % record_bytes)
  local list = {}
  for at = header_bytes + 1, #bytes, record_bytes do
    local offset, time, word = RECORD:unpack(bytes, at)
    list[#list + 1] = {offset = offset, time_ns = time, latency_ns = word >> 16, code = word & 0xffff}
  end
  return {header_bytes = header_bytes, record_bytes = record_bytes, block_size = block,
          range_end = range_end, started = started}, list
end

local function zero()
  return assert(hdd.open("/dev/zero", {size = 1 << 40}))
end

local function warned(result, pattern)
  for _, warning in ipairs(result.warnings) do
    if warning:find(pattern) then return true end
  end
  return false
end

describe("records to Lua #core", function()
  it("are all of the counted reads, in batches of columns", function()
    local drive <close> = assert(hdd.open(path))
    local n, batches, last = 0, 0, 0
    local result = assert(drive:run {pattern = "random", ios = 10000, depth = 16, records = function(batch)
      batches = batches + 1
      for _, column in ipairs {"offset_bytes", "time_ns", "latency_ns", "code"} do
        assert.equal(batch.n, #batch[column])
        for i = 1, batch.n do
          if math.type(batch[column][i]) ~= "integer" then error(column) end
        end
      end
      assert.is_true(batch.time_ns[1] >= last)
      last = batch.time_ns[batch.n]
      n = n + batch.n
    end})
    assert.equal(10000, n)
    assert.equal(10000, result.ios)
    assert.is_true(batches >= 2)
  end)

  it("are waited for, and none is dropped, when Lua is slow", function()
    local drive <close> = zero()
    local n = 0
    local job = assert(drive:start {pattern = "random", ios = 40000, records = function(batch)
      n = n + batch.n
    end})
    local until_ns = hdd.now() + 100000000 -- Lua does something else: the bounded ring becomes full
    while hdd.now() < until_ns do end
    local progress = job:progress()
    assert.is_true(progress.ios <= 21845, "more reads than the ring has room for: " .. progress.ios)
    local result = job:wait()
    assert.equal(40000, n)
    assert.equal(40000, result.ios)
    if progress.ios == 21845 then assert.is_true(warned(result, "taking records was too slow")) end
  end)

  it("come while the job runs, however few they are", function()
    local drive <close> = assert(hdd.open(path))
    local n = 0
    local job = assert(drive:start {pattern = function(i) if i <= 3 then return 0 end end, ios = 3, ramp = 0,
                                    records = function(batch) n = n + batch.n end})
    job:wait()
    assert.equal(3, n)
    -- Three reads, and then one that is not answered: the three are handed over nevertheless.
    needs.fuse()
    local disk <close> = faultfs.mount {"at=512k,hang", size = 1 << 20}
    local hanging <close> = assert(hdd.open(disk.path))
    n = 0
    job = assert(hanging:start {pattern = {0, 4096, 8192, 512 << 10}, records = function(batch) n = n + batch.n end})
    for _ = 1, 100 do
      if n == 3 then break end
      hdd.sleep(0.05)
    end
    assert.equal(3, n)
    assert.is_false(job:finished())
    job:stop()
    job:wait()
  end)

  it("raise from run what the function raises, with its place, and the job ends", function()
    local drive <close> = zero()
    local job
    raises("record_spec.lua:%d+: mine.*stack traceback", function()
      job = assert(drive:start {pattern = "random", runtime = math.huge, records = function() error("mine") end})
      return job:wait()
    end)
    assert.is_true(job:finished())
    assert.error_matches(function() job:result() end, "mine")
  end)

  it("leave the ramp out, and what comes after it has times from its end", function()
    local drive <close> = zero()
    local list, result = reads.of(drive, {pattern = "random", ramp = 0.05, ios = 3000, depth = 4})
    assert.equal(3000, #list)
    assert.is_true(list[1].time_ns >= 0 and list[1].time_ns < 50000000)
    assert.equal(result.elapsed_s, list[3000].time_ns / 1e9)
  end)
end)

describe("records to a file #core", function()
  it("are a header of 64 bytes and 24 for each read, little-endian", function()
    local drive <close> = assert(hdd.open(path))
    local file = scratch.path("records")
    local before = os.time()
    local result = assert(drive:run {block_size = 4096, offset = 8192, length = 40960 + 512, records = file})
    local header, list = parse(file)
    assert.equal(64, header.header_bytes)
    assert.equal(24, header.record_bytes)
    assert.equal(4096, header.block_size)
    assert.equal(8192 + 40960 + 512, header.range_end)
    assert.is_true(header.started >= before and header.started <= os.time())
    assert.equal(11, #list)
    assert.equal(11, result.ios)
    for i, record in ipairs(list) do
      assert.equal(8192 + (i - 1) * 4096, record.offset)
      assert.equal(0, record.code)
      assert.is_true(record.latency_ns > 0 and record.time_ns <= result.elapsed_s * 1e9 + 1)
    end
    assert.is_nil(result.records_error)
  end)

  it("are complete, however many", function()
    local drive <close> = zero()
    local file = scratch.path("records")
    local result = assert(drive:run {pattern = "random", ios = 60000, depth = 8, records = file})
    local _, list = parse(file)
    assert.equal(60000, #list)
    local sum = 0
    for _, record in ipairs(list) do sum = sum + record.latency_ns end
    assert.equal(result.latency:mean(), sum / 60000)
    os.remove(file)
  end)

  it("never replace a file that is there", function()
    local drive <close> = assert(hdd.open(path))
    local file = scratch.path("records")
    assert(drive:run {ios = 1, records = file})
    local before = shell.read(file)
    local result, message, code = drive:run {ios = 1, records = file}
    assert.is_nil(result)
    assert.equal("records to " .. file .. ": File exists", message)
    assert.equal(17, code)
    assert.equal(before, shell.read(file))
  end)

  it("are refused before the run where they cannot be written", function()
    local drive <close> = assert(hdd.open(path))
    for where, code in pairs {["/no/such/folder/records"] = 2, [scratch.path("x") .. "/"] = 21, ["/dev"] = 17} do
      local result, message, number = drive:run {ios = 1, records = where}
      assert.is_nil(result)
      assert.matches("^records to /", message)
      assert.equal(code, number)
    end
  end)

  it("leave no file when the job does not start", function()
    local drive <close> = assert(hdd.open(path))
    local file = scratch.path("records")
    raises("offset 1 is", drive.run, drive, {pattern = function() return -1 end, records = file})
    assert.is_nil((io.open(file)))
  end)
end)

describe("records on a file system that becomes full", function()
  it("are whole as far as they fit; the job says so at once and goes on", function()
    needs.root()
    local home <close> = place.new()
    local mount = home:path("tmpfs")
    shell.must("mkdir " .. mount .. " && mount -t tmpfs -o size=64k tmpfs " .. mount)
    home:note("mounts", mount)
    local drive <close> = zero()
    local job = assert(drive:start {pattern = "random", runtime = 5, records = mount .. "/records"})
    local progress
    for _ = 1, 200 do
      progress = job:progress()
      if progress.records_error then break end
      hdd.sleep(0.01)
    end
    assert.equal("No space left on device", progress.records_error)
    hdd.sleep(0.05)
    assert.is_true(job:progress().ios > progress.ios)
    job:stop()
    local result = job:wait()
    assert.equal("stop", result.stopped_by)
    assert.equal("No space left on device", result.records_error)
    assert.is_true(warned(result, "records: No space left on device: the rest was discarded"))
    local _, list = parse(mount .. "/records")
    assert.is_true(#list > 1000 and #list < result.ios)
  end)

  it("are refused before the run when it is full already", function()
    needs.root()
    local home <close> = place.new()
    local mount = home:path("tmpfs")
    shell.must("mkdir " .. mount .. " && mount -t tmpfs -o size=64k tmpfs " .. mount)
    home:note("mounts", mount)
    shell.run("head -c 100000 /dev/zero > " .. mount .. "/filler")
    local drive <close> = zero()
    local result, message, code = drive:run {ios = 1, pattern = "random", records = mount .. "/records"}
    assert.is_nil(result)
    assert.matches("^records to .*: No space left on device$", message)
    assert.equal(28, code)
    assert.is_nil((io.open(mount .. "/records")))
    assert.is_nil(core.interrupt_pending())
  end)
end)
