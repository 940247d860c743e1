-- Where the reads of each pattern go: every offset is looked at, through the job's records.
-- SPDX-License-Identifier: GPL-3.0-or-later
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local needs = require "spec.support.needs"
local raises = require "spec.support.raises"
local reads = require "spec.support.reads"
local scratch = require "spec.support.scratch"

local K <const>, M <const> = hdd.KiB, hdd.MiB

-- 1 MiB and three sectors, on a disk.
local SIZE <const> = M + 3 * 512
local path = scratch.file(SIZE)

-- The splitmix64 generator and the multiplication that scales it, in Lua.
local function generator(seed)
  local state = seed
  return function(n)
    state = state + 0x9e3779b97f4a7c15
    local z = state
    z = (z ~ (z >> 30)) * 0xbf58476d1ce4e5b9
    z = (z ~ (z >> 27)) * 0x94d049bb133111eb
    z = z ~ (z >> 31)
    local high, low = z >> 32, z & 0xffffffff
    return (high * n + (low * n >> 32)) >> 32 -- of z * n, the upper 64 bits; n < 2^31
  end
end

local function range(first, last, step)
  local list = {}
  for offset = first, last, step do list[#list + 1] = offset end
  return list
end

describe("a pattern #core", function()
  local drive
  before_each(function() drive = assert(hdd.open(path)) end)
  after_each(function() drive:close() end)

  describe("that is sequential", function()
    it("reads each block once and in order, the last one as long as it is", function()
      local offsets, result = reads.offsets(drive, {block_size = 64 * K})
      assert.same(range(0, SIZE - 1, 64 * K), offsets)
      assert.equal(17, result.ios)
      assert.equal(SIZE, result.bytes)
      assert.equal(SIZE, result.issued_bytes)
      assert.equal(0, result.errors)
      assert.equal(0, result.short_reads)
      assert.equal("pattern", result.stopped_by)
    end)

    it("is what there is by default, with blocks of 4096 bytes at depth 1", function()
      local offsets, result = reads.offsets(drive, {})
      assert.same(range(0, SIZE - 1, 4096), offsets)
      assert.equal(1, result.depth)
    end)

    it("stays inside its range", function()
      local offsets, result = reads.offsets(drive, {offset = 512, length = 10240, block_size = 4096})
      assert.same({512, 512 + 4096, 512 + 8192}, offsets)
      assert.equal(10240, result.bytes)
      offsets, result = reads.offsets(drive, {offset = SIZE - 512})
      assert.same({SIZE - 512}, offsets)
      assert.equal(512, result.bytes)
    end)

    it("starts over if it is to loop", function()
      local offsets, result = reads.offsets(drive, {length = 10240, loop = true, ios = 7})
      assert.same({0, 4096, 8192, 0, 4096, 8192, 0}, offsets)
      assert.equal("ios", result.stopped_by)
      assert.equal(2 * 10240 + 4096, result.bytes)
    end)

    it("covers every block once at any depth and batch", function()
      for _, how in ipairs {{2, 1}, {32, 1}, {32, 32}, {300, 7}} do
        local offsets = reads.offsets(drive, {block_size = 4096, depth = how[1], batch = how[2]})
        table.sort(offsets)
        assert.same(range(0, SIZE - 1, 4096), offsets)
      end
    end)
  end)

  describe("that is strided", function()
    it("reads a zone and leaves one out, to the end of the device", function()
      local offsets, result = reads.offsets(drive,
        {pattern = "strided", zone_size = 64 * K, zone_skip = 192 * K, block_size = 16 * K})
      local expected = {}
      for zone = 0, SIZE - 1, 256 * K do
        for block = zone, math.min(zone + 64 * K, SIZE) - 1, 16 * K do expected[#expected + 1] = block end
      end
      assert.same(expected, offsets)
      assert.equal(4 * 64 * K + 3 * 512, result.bytes) -- the last zone begins at 1 MiB
      assert.equal("pattern", result.stopped_by)
    end)

    it("shortens the block that does not fit a zone's end", function()
      local offsets, result = reads.offsets(drive,
        {pattern = "strided", zone_size = 5 * 512, zone_skip = 512, block_size = 1024, length = 6144})
      assert.same({0, 1024, 2048, 3072, 4096, 5120}, offsets)
      assert.equal(2 * 5 * 512, result.bytes)
    end)

    it("with nothing to skip covers all", function()
      local offsets, result = reads.offsets(drive,
        {pattern = "strided", zone_size = 128 * K, zone_skip = 0, block_size = 64 * K})
      assert.same(range(0, SIZE - 1, 64 * K), offsets)
      assert.equal(SIZE, result.bytes)
    end)

    it("is one zone when that, or what it skips, is larger than the range", function()
      for _, zone in ipairs {{1 << 40, 1 << 40}, {64 * K, math.maxinteger // 512 * 512}} do
        local offsets = reads.offsets(drive, {pattern = "strided", zone_size = zone[1],
          zone_skip = zone[2], block_size = 32 * K, offset = 64 * K, length = 128 * K})
        local last = math.min(zone[1], 128 * K)
        assert.same(range(64 * K, 64 * K + last - 1, 32 * K), offsets)
      end
    end)

    it("starts over in its range if it is to loop", function()
      local offsets = reads.offsets(drive, {pattern = "strided", zone_size = 4096, zone_skip = 8192,
        offset = 4096, length = 16384, loop = true, ios = 5})
      assert.same({4096, 16384, 4096, 16384, 4096}, offsets)
    end)
  end)

  describe("that is random", function()
    it("is the same for the same seed, on every machine", function()
      local wide <close> = assert(hdd.open("/dev/zero", {size = 600127266816}))
      local options = {pattern = "random", block_size = 4096, ios = 6, seed = 42}
      local expected, random = {}, generator(42)
      for i = 1, 6 do expected[i] = random(600127266816 // 4096) * 4096 end
      local offsets = reads.offsets(wide, options)
      assert.same(expected, offsets)
      assert.same({445033299968, 95966584832, 167196131328}, table.move(offsets, 1, 3, 1, {}))
      assert.same(offsets, (reads.offsets(wide, options)))
    end)

    it("has seed 1 unless told otherwise, and another order for each seed", function()
      local default = reads.offsets(drive, {pattern = "random", ios = 50})
      assert.same(default, (reads.offsets(drive, {pattern = "random", ios = 50, seed = 1})))
      assert.not_same(default, (reads.offsets(drive, {pattern = "random", ios = 50, seed = 2})))
      assert.not_same(default, (reads.offsets(drive, {pattern = "random", ios = 50, seed = math.mininteger})))
    end)

    it("reads whole blocks of its range, aligned to the range's start", function()
      local offsets, result = reads.offsets(drive, {pattern = "random", block_size = 4096,
        offset = 512, length = 10 * 4096 + 512, ios = 1000, depth = 8})
      local count = {}
      for _, offset in ipairs(offsets) do count[offset] = (count[offset] or 0) + 1 end
      assert.equal(1000 * 4096, result.bytes)
      for block = 0, 9 do
        local n = count[512 + block * 4096]
        assert.is_true(n > 55 and n < 150, "block " .. block .. ": " .. tostring(n))
        count[512 + block * 4096] = nil
      end
      assert.is_nil(next(count))
    end)

    it("is uniform over the whole device", function()
      local zero <close> = assert(hdd.open("/dev/zero", {size = 1 << 43}))
      local bins, n = {}, 16000
      for i = 0, 63 do bins[i] = 0 end
      for _, offset in ipairs((reads.offsets(zero, {pattern = "random", block_size = 512, ios = n,
                                                    depth = 16, seed = 5}))) do
        assert.equal(0, offset % 512)
        local bin = offset >> 37
        bins[bin] = bins[bin] + 1
      end
      local chi2 = 0
      for i = 0, 63 do chi2 = chi2 + (bins[i] - n / 64) ^ 2 / (n / 64) end
      assert.is_true(chi2 < 110, "chi square of 63 degrees of freedom: " .. chi2) -- p = 0.0002
    end)
  end)

  describe("that is a list", function()
    it("reads the offsets as they stand, the last block of the device shortened", function()
      local list = {8192, 0, 512, 0, SIZE - 512, SIZE - 4096}
      local offsets, result = reads.offsets(drive, {pattern = list, block_size = 4096})
      assert.same(list, offsets)
      assert.equal(5 * 4096 + 512, result.bytes)
      assert.equal("pattern", result.stopped_by)
    end)

    it("starts over if it is to loop", function()
      assert.same({4096, 0, 4096, 0, 4096},
        (reads.offsets(drive, {pattern = {4096, 0}, loop = true, ios = 5})))
    end)

    it("is taken as it was when the job started", function()
      local list = {0, 4096, 8192}
      local job = assert(drive:start {pattern = list})
      list[1], list[2], list[3] = -1, "x", nil
      assert.equal(3, job:wait().ios)
    end)

    it("of many thousand offsets is read to its end", function()
      local list = {}
      for i = 1, 30000 do list[i] = (i * 7919 % 2048) * 512 end
      local zero <close> = assert(hdd.open("/dev/zero", {size = M}))
      local offsets = reads.offsets(zero, {pattern = list, block_size = 512, depth = 4})
      assert.equal(30000, #offsets)
    end)

    it("raises for an offset that is none, naming which", function()
      for _, wrong in ipairs {-512, SIZE, 1.5, "x", 100, math.maxinteger, false} do
        raises("pattern: offset 3 is .*: must be a multiple of 512 bytes from 0 on and below 1050112",
          drive.run, drive, {pattern = {0, 4096, wrong}})
      end
      raises("pattern: offset 1 is 0: must be a multiple of 512 bytes from 4096 on",
        drive.run, drive, {pattern = {0, 4096}, offset = 4096})
      raises("the list of offsets is empty", drive.run, drive, {pattern = {}})
    end)
  end)

  describe("that is a function", function()
    it("is asked once for each index, and ended by nil", function()
      local asked = {}
      local offsets, result = reads.offsets(drive, {pattern = function(i)
        asked[#asked + 1] = i
        if i <= 200 then return (i * 37 % 256) * 4096 end
      end})
      assert.equal(201, #asked)
      for i = 1, 201 do assert.equal(i, asked[i]) end
      for i = 1, 200 do assert.equal((i * 37 % 256) * 4096, offsets[i]) end
      assert.equal("pattern", result.stopped_by)
      assert.equal(200, result.ios)
    end)

    it("is asked for no more than the I/Os there will be", function()
      local asked = 0
      local offsets, result = reads.offsets(drive, {pattern = function(i)
        asked = i
        return 0
      end, ios = 30})
      assert.equal(30, asked)
      assert.equal(30, #offsets)
      assert.equal("ios", result.stopped_by)
    end)

    it("goes on for longer than its ring of offsets is", function()
      local zero <close> = assert(hdd.open("/dev/zero", {size = 1 << 40}))
      local offsets, result = reads.offsets(zero, {pattern = function(i) return i * 512 end,
        block_size = 512, ios = 20000, depth = 4})
      assert.equal(20000, result.ios)
      table.sort(offsets)
      for i = 1, 20000 do
        if offsets[i] ~= i * 512 then error(i) end -- an assert for each would take most of the time
      end
    end)

    it("that gives nothing at all makes a result without rates", function()
      local offsets, result = reads.offsets(drive, {pattern = function() end})
      assert.same({}, offsets)
      assert.equal("pattern", result.stopped_by)
      assert.equal(0, result.ios)
      assert.equal(0.0, result.elapsed_s)
      assert.is_nil(result.iops)
      assert.is_nil(result.bandwidth_bytes_per_s)
      assert.same({}, result.series)
    end)

    it("that is slow is waited for, counted and told", function()
      local offsets, result = reads.offsets(drive, {pattern = function(i)
        local until_ns = hdd.now() + (i > 3 and 20000000 or 0)
        while hdd.now() < until_ns do end
        if i <= 6 then return i * 4096 end
      end})
      assert.same({4096, 8192, 12288, 16384, 20480, 24576}, offsets)
      -- All of them came before the job began: nothing had to be waited for.
      assert.equal(0, result.underruns)
      local zero <close> = assert(hdd.open("/dev/zero", {size = M}))
      local slow = assert(zero:run {pattern = function(i)
        if i > 8192 and i % 64 == 0 then
          local until_ns = hdd.now() + 5000000
          while hdd.now() < until_ns do end
        end
        return 0
      end, ios = 9000})
      assert.equal(9000, slow.ios)
      assert.is_true(slow.underruns > 0)
      assert.matches("the pattern function was too slow " .. slow.underruns .. " times", slow.warnings[1])
    end)

    it("raises from run what it raises, with the place, and ends the job", function()
      local job
      raises("pattern_spec.lua:%d+: attempt to perform arithmetic on a nil value.*stack traceback", function()
        job = drive:start {pattern = function(i) return i < 9000 and 0 or nil + 1 end}
        return job:wait()
      end)
      assert.is_true(job:finished())
      raises("attempt to perform arithmetic on a nil value", job.result, job)
    end)

    it("raises at the start when its first offset is none", function()
      local function starts(give) return drive:start {pattern = give} end
      raises("pattern: offset 1 is 100: must be a multiple of 512 bytes from 0 on and below 1050112",
        starts, function() return 100 end)
      raises("offset 1 is 1050112", starts, function() return SIZE end)
      raises("offset 1 is true", starts, function() return true end)
      raises("pattern_spec.lua:%d+: mine", starts, function() error("mine") end)
      local value = {}
      local ok, raised = pcall(drive.start, drive, {pattern = function() error(value) end})
      assert.is_false(ok)
      assert.equal(value, raised)
    end)

    it("belongs to its job, whatever becomes of the table of options", function()
      local zero <close> = assert(hdd.open("/dev/zero", {size = M}))
      local options = {pattern = function(i) return i % 2 * 512 end, ios = 20000, block_size = 512}
      local job = assert(zero:start(options))
      options.pattern = "sequential"
      assert.equal(20000, job:wait().ios)
    end)
  end)
end)

describe("a pattern's reads", function()
  it("have the offsets and lengths that arrive at the drive", function()
    needs.fuse()
    local disk <close> = faultfs.mount {size = M + 1024}
    local drive <close> = assert(hdd.open(disk.path))
    assert(drive:run {block_size = 256 * K, offset = 512})
    local seen = {}
    for i, read in ipairs(disk:reads()) do seen[i] = {read.offset, read.length, read.result} end
    assert.same({{512, 256 * K, 256 * K}, {512 + 256 * K, 256 * K, 256 * K},
                 {512 + 512 * K, 256 * K, 256 * K}, {512 + 768 * K, 256 * K + 512, 256 * K + 512}}, {
      seen[1], seen[2], seen[3], {seen[4][1], seen[4][2] + (seen[5] and seen[5][2] or 0),
                                  seen[4][3] + (seen[5] and seen[5][3] or 0)}})
  end)
end)
