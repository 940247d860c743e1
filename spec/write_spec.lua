-- Writing and verifying: what is written, what a verify makes of what became of it.
-- SPDX-License-Identifier: GPL-3.0-or-later
local consent = require "hdd.consent"
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local hddsim = require "spec.support.hddsim"
local needs = require "spec.support.needs"
local raises = require "spec.support.raises"
local scratch = require "spec.support.scratch"

local K <const>, M <const> = hdd.KiB, hdd.MiB
local SIZE <const> = 4 * M -- in memory: what is asked here is what is written, not how fast
local BLOCK <const> = 512

-- Opens a file of ours for writing.
local function opened(path)
  return assert(hdd.open(path, {write = {serial = consent.name(path)}}))
end

local function write(drive, stamp, options)
  local all = {operation = "write", stamp = stamp, block_size = 64 * K, depth = 4}
  for key, value in pairs(options or {}) do all[key] = value end
  return assert(drive:run(all))
end

local function verify(drive, stamp, options)
  local all = {operation = "verify", stamp = stamp, block_size = 64 * K, depth = 4}
  for key, value in pairs(options or {}) do all[key] = value end
  return assert(drive:run(all))
end

-- Changes the file behind the drive's back.
local function patch(path, offset, bytes)
  local file <close> = assert(io.open(path, "r+b"))
  file:seek("set", offset)
  assert(file:write(bytes))
end

local function bytes_at(path, offset, length)
  local file <close> = assert(io.open(path, "rb"))
  file:seek("set", offset)
  return file:read(length)
end

describe("a write #core", function()
  local path, drive
  before_each(function()
    path = scratch.sparse(SIZE)
    drive = opened(path)
  end)
  after_each(function()
    drive:close()
  end)

  it("fills all of a file, flushed, and a verify finds every block as it was written", function()
    local written = write(drive)
    assert.equal("write", written.operation)
    assert.equal("pattern", written.stopped_by)
    assert.equal(SIZE, written.bytes)
    assert.equal(0, written.errors)
    assert.equal(SIZE, written.done_to_bytes)
    assert.equal(SIZE, written.durable_to_bytes)
    assert.equal(1, written.flushes)
    assert.equal(0, written.flush_errors)
    assert.is_nil(written.flush_error)
    local verified = verify(drive)
    assert.equal("verify", verified.operation)
    assert.equal(SIZE, verified.bytes)
    assert.equal(SIZE, verified.done_to_bytes)
    assert.same({total = 0}, verified.mismatch_blocks)
    assert.same({}, verified.mismatches)
    assert.equal(0, verified.mismatches_left_out)
    assert.is_nil(verified.durable_to_bytes)
  end)

  it("leaves what its range does not hold alone", function()
    local before, after = bytes_at(path, 0, 8 * K), bytes_at(path, 16 * K, SIZE - 16 * K)
    write(drive, nil, {offset = 8 * K, length = 8 * K, block_size = 4 * K})
    assert.equal(before, bytes_at(path, 0, 8 * K))
    assert.equal(after, bytes_at(path, 16 * K, SIZE - 16 * K))
    assert.equal("hddstamp", bytes_at(path, 8 * K, 8))
  end)

  it("flushes in between, as often as it is told", function()
    assert.equal(4, write(drive, nil, {flush_bytes = M}).flushes)
    assert.equal(1, write(drive, nil, {flush_bytes = 0}).flushes)
    assert.equal(8, write(drive, nil, {flush_bytes = 512 * K, pattern = "random", bytes = SIZE}).flushes)
  end)

  it("goes to single places of a list, which a verify of the same list finds", function()
    local list = {2 * M, 512, 3 * M, M}
    local written = write(drive, {pass = 2}, {pattern = list, block_size = 512})
    assert.equal(4, written.ios)
    assert.is_nil(written.done_to_bytes)
    assert.same({total = 0}, verify(drive, {pass = 2}, {pattern = list, block_size = 512}).mismatch_blocks)
    local other = verify(drive, {pass = 2}, {block_size = 512})
    assert.equal(SIZE // BLOCK - 4, other.mismatch_blocks.total)
  end)

  it("may be followed at once by another, the drive closed and opened between", function()
    local small = scratch.sparse(64 << 10)
    for _ = 1, 50 do -- the kernel keeps what a ring held for some time after it was closed
      local again <close> = assert(hdd.open(small, {write = {serial = "sparse"}}))
      assert(again:run {operation = "write", block_size = 16384})
    end
  end)

  it("is refused on a drive that was not opened for it", function()
    local reader <close> = assert(hdd.open(path))
    local before = bytes_at(path, 0, SIZE)
    local result, message, code = reader:run {operation = "write"}
    assert.is_nil(result)
    assert.matches("not opened for writing", message)
    assert.equal(9, code)
    assert.equal(before, bytes_at(path, 0, SIZE))
  end)

  it("says what it was given that means nothing", function()
    raises("ramp", function() drive:run {operation = "write", ramp = 1} end)
    raises("stamp", function() drive:run {stamp = {}} end)
    raises("pattern", function() drive:run {operation = "write", stamp = {pattern = "77"}} end)
    raises("pass", function() drive:run {operation = "write", stamp = {pass = -1}} end)
    raises("unknown option 'colour'", function() drive:run {operation = "write", stamp = {colour = 1}} end)
    raises("operation", function() drive:run {operation = "erase"} end)
    raises("flush_bytes", function() drive:run {operation = "verify", flush_bytes = 1} end)
    raises("max_mismatches", function() drive:run {operation = "write", max_mismatches = 1} end)
    raises("block_size", function() drive:run {operation = "write", block_size = 100} end)
  end)
end)

describe("a verify #core", function()
  local path, drive
  local STAMP <const> = {pass = 3, seed = 7}
  before_each(function()
    path = scratch.sparse(SIZE)
    drive = opened(path)
    write(drive, STAMP)
  end)
  after_each(function()
    drive:close()
  end)

  -- The one run that a verify finds.
  local function one(stamp, options)
    local result = verify(drive, stamp or STAMP, options)
    assert.equal(1, #result.mismatches)
    local run = result.mismatches[1]
    assert.same({total = run.length_bytes // BLOCK, [run.kind] = run.length_bytes // BLOCK},
                result.mismatch_blocks)
    return run
  end

  it("calls flipped bits bit rot, and counts them", function()
    local was = bytes_at(path, 100000, 1):byte()
    patch(path, 100000, string.char(was ~ 0x81))
    local run = one()
    assert.equal("bit rot", run.kind)
    assert.equal(100000 // BLOCK * BLOCK, run.offset_bytes)
    assert.equal(BLOCK, run.length_bytes)
    assert.equal(2, run.bits)
    assert.equal(100000, run.first.offset_bytes)
    assert.equal(("%02x"):format(was), run.first.expected:sub(1, 2))
    assert.equal(("%02x"):format(was ~ 0x81), run.first.found:sub(1, 2))
    assert.equal(run.first.expected:sub(3), run.first.found:sub(3))
  end)

  it("finds one in any place of a block: header, body, checksum", function()
    for _, at in ipairs {0, 9, 17, 25, 33, 37, 40, 300, 504, 511} do
      local offset = 5 * BLOCK + at
      local was = bytes_at(path, offset, 1)
      patch(path, offset, string.char(was:byte() ~ 0x10))
      local run = one()
      assert.equal("bit rot", run.kind, at)
      assert.equal(offset, run.first.offset_bytes)
      assert.equal(1, run.bits)
      patch(path, offset, was)
    end
  end)

  it("calls a block that is torn, half of it something else, bit rot", function()
    patch(path, 7 * BLOCK + 256, ("\x37"):rep(256))
    assert.equal("bit rot", one().kind)
  end)

  it("calls an older pass, or another seed, a lost write", function()
    local old = bytes_at(path, 8 * K, 4 * K)
    write(drive, {pass = 4, seed = 7})
    patch(path, 8 * K, old)
    local run = one({pass = 4, seed = 7})
    assert.equal("lost write", run.kind)
    assert.equal(8 * K, run.offset_bytes)
    assert.equal(4 * K, run.length_bytes)
    assert.equal(3, run.found.pass)
    assert.equal(7, run.found.seed)
    assert.equal(8 * K, run.found.offset_bytes)
    write(drive, {pass = 3, seed = 8})
    patch(path, 8 * K, old)
    assert.equal(7, one({pass = 3, seed = 8}).found.seed)
  end)

  it("calls the drive's own blocks of elsewhere a misdirected write", function()
    patch(path, M, bytes_at(path, 2 * M, 8 * BLOCK))
    local run = one()
    assert.equal("misdirected write", run.kind)
    assert.equal(M, run.offset_bytes)
    assert.equal(8 * BLOCK, run.length_bytes)
    assert.equal(2 * M, run.found.offset_bytes)
    assert.equal(2 * M // BLOCK, run.found.lba)
  end)

  it("calls another drive's blocks a foreign drive", function()
    local run = one({pass = 3, seed = 7, serial = "WD-OTHER"})
    assert.equal("foreign drive", run.kind)
    assert.equal(SIZE, run.length_bytes)
    assert.equal(16, #run.found.drive)
  end)

  it("tells zeroes, and what it does not know", function()
    patch(path, 4 * K, ("\0"):rep(3 * BLOCK))
    assert.equal("zeroes", one().kind)
    write(drive, STAMP)
    patch(path, SIZE - BLOCK, io.open("/dev/urandom", "rb"):read(BLOCK))
    local run = one()
    assert.equal("unknown", run.kind)
    assert.equal(SIZE - BLOCK, run.offset_bytes)
    assert.is_nil(run.found)
  end)

  it("keeps what differs in kind apart, in order, and counts what is in no list", function()
    for i = 0, 9 do patch(path, (19 - 2 * i) * 64 * K, ("\0"):rep(BLOCK)) end
    patch(path, 64 * K + BLOCK, ("\xaa"):rep(BLOCK))
    local result = verify(drive, STAMP, {depth = 8})
    assert.same({total = 11, zeroes = 10, ["lost write"] = 1}, result.mismatch_blocks)
    assert.equal(11, #result.mismatches)
    assert.equal("aa", result.mismatches[2].found.pattern)
    for i = 2, 11 do
      assert.is_true(result.mismatches[i].offset_bytes > result.mismatches[i - 1].offset_bytes)
    end
    local short = verify(drive, STAMP, {max_failures = 4})
    assert.equal(4, #short.mismatches)
    assert.equal(7, short.mismatches_left_out)
    assert.equal(11, short.mismatch_blocks.total)
  end)

  it("ends after so many mismatches, within what was in flight", function()
    patch(path, M, ("\0"):rep(M))
    local result = verify(drive, STAMP, {max_mismatches = 1, block_size = 4 * K, depth = 4})
    assert.equal("mismatches", result.stopped_by)
    assert.is_true(result.mismatch_blocks.total <= 4 * 8)
    assert.is_true(result.done_to_bytes <= M + 16 * K)
  end)

  for _, pattern in ipairs {"aa", "55", "ff", "00", "random"} do
    it("knows the plain pattern " .. pattern, function()
      write(drive, {pattern = pattern, seed = 5})
      local content = bytes_at(path, 0, SIZE)
      if pattern ~= "random" then
        assert.equal(string.char(tonumber(pattern, 16)):rep(SIZE), content)
      end
      assert.equal(0, verify(drive, {pattern = pattern, seed = 5}).mismatch_blocks.total)
      patch(path, M + 77, string.char(content:byte(M + 78) ~ 4))
      local run = one({pattern = pattern, seed = 5})
      assert.equal("bit rot", run.kind)
      assert.equal(M + 77, run.first.offset_bytes)
      patch(path, M, ("\x55"):rep(BLOCK))
      if pattern ~= "55" then
        run = one({pattern = pattern, seed = 5})
        assert.equal("lost write", run.kind)
        assert.equal("55", run.found.pattern)
      end
    end)
  end

  it("of random content depends on the seed, the pass, the drive and the place", function()
    write(drive, {pattern = "random"})
    for _, other in ipairs {{seed = 2}, {pass = 2}, {serial = "B"}} do
      other.pattern = "random"
      local found = verify(drive, other).mismatch_blocks
      assert.same({total = SIZE // BLOCK, unknown = SIZE // BLOCK}, found)
    end
    patch(path, 0, bytes_at(path, 4 * K, 4 * K))
    assert.equal(8, verify(drive, {pattern = "random"}).mismatch_blocks.unknown)
  end)
end)

describe("on a simulated drive #realtime", function()
  it("each fault of a drive is called what it is, at its place", function()
    needs.hddsim()
    local sim <close> = hddsim.start("tiny,capacity=64M,speed=8," ..
      "fault=flip:1000+2:bit=13,fault=flip:3000:bit=4095:on=write,fault=lost:5000+4," ..
      "fault=misdirect:7000+3:to=9000,fault=eio:11000:ms=20:hard")
    local drive <close> = assert(hdd.open(sim.path, {write = {serial = consent.name(sim.path)}}))
    local range = {offset = 0, length = 8 * M}
    local written = write(drive, {pass = 1}, range)
    -- What was lost at first left the drive's old content there; a second pass leaves the first.
    assert.equal(1, written.errors)
    assert.equal(11000 * 512 // (64 * K) * 64 * K, written.failures[1].offset_bytes)
    local found = verify(drive, {pass = 1}, range)
    assert.equal(1, found.errors)
    assert.equal(11000 * 512 // (64 * K) * 64 * K, found.failures[1].offset_bytes)
    local list = {}
    for i, run in ipairs(found.mismatches) do
      list[i] = {run.offset_bytes // 512, run.length_bytes // 512, run.kind, run.bits}
    end
    assert.same({
      {1000, 2, "bit rot", 2}, {3000, 1, "bit rot", 1}, {5000, 4, "unknown"}, {7000, 3, "unknown"},
    }, list)
    -- Of the misdirected blocks the later write at their place is what is found; written alone they show.
    assert(drive:run {operation = "write", stamp = {pass = 2}, block_size = 1536, pattern = {7000 * 512}})
    local there = verify(drive, {pass = 1}, {offset = 9000 * 512, length = 1536, block_size = 1536})
    assert.equal("misdirected write", there.mismatches[1].kind)
    assert.equal(7000, there.mismatches[1].found.lba)
    assert.equal(2, there.mismatches[1].found.pass)
  end)
end)

describe("on a drive that fails", function()
  it("a flush that fails is told with the range that it may concern", function()
    needs.fuse()
    local disk <close> = faultfs.mount {size = 2 * M, fail_flush = 2}
    local drive <close> = assert(hdd.open(disk.path, {write = {serial = consent.name(disk.path)}}))
    local result = write(drive, nil, {flush_bytes = 512 * K, depth = 2})
    assert.equal("pattern", result.stopped_by)
    assert.equal(4, result.flushes)
    assert.equal(1, result.flush_errors)
    local failure = result.flush_failures[1]
    assert.equal(5, failure.code)
    assert.equal("EIO", failure.error)
    assert.equal(512 * K, failure.from_bytes)
    assert.equal(M, failure.to_bytes)
    assert.equal(2 * M, result.done_to_bytes)
    assert.equal(512 * K, result.durable_to_bytes)
    assert.is_nil(result.flush_error)
  end)

  it("the last flush that fails is told apart", function()
    needs.fuse()
    local disk <close> = faultfs.mount {size = M, fail_flush = 1}
    local drive <close> = assert(hdd.open(disk.path, {write = {serial = consent.name(disk.path)}}))
    local result = write(drive)
    assert.matches("Input/output error", result.flush_error)
    assert.equal(0, result.durable_to_bytes)
    assert.equal(M, result.done_to_bytes)
  end)

  it("what a verify cannot read is an error, not a mismatch", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"at=512k,length=4k,error=EIO", size = M}
    local write_it = {serial = consent.name(disk.path)}
    local _, message = hdd.open(disk.path, {write = write_it})
    assert.matches("whether it holds data cannot be told", message)
    write_it.overwrite_data = true
    local drive <close> = assert(hdd.open(disk.path, {write = write_it}))
    write(drive)
    local result = verify(drive, nil, {block_size = 4 * K})
    assert.equal(1, result.errors)
    assert.equal(512 * K, result.failures[1].offset_bytes)
    assert.equal(0, result.mismatch_blocks.total)
    assert.equal(M, result.done_to_bytes)
  end)

  it("a write that is stopped says how far it came, and was flushed to there", function()
    needs.hddsim()
    local sim <close> = hddsim.start("tiny")
    local drive <close> = assert(hdd.open(sim.path, {write = {serial = consent.name(sim.path)}}))
    local job = assert(drive:start {operation = "write", block_size = 256 * K, depth = 2})
    while job:progress().bytes < 2 * M do hdd.sleep(0.02) end
    job:stop()
    local result = assert(job:wait())
    assert.equal("stop", result.stopped_by)
    assert.equal(result.bytes, result.done_to_bytes)
    assert.equal(result.done_to_bytes, result.durable_to_bytes)
    assert.equal(0, verify(drive, nil, {length = result.durable_to_bytes}).mismatch_blocks.total)
  end)
end)
