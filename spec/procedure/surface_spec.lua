-- Surface scans of files and loop devices, and of reads that go wrong where told to.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"
local surface = require "hdd.procedure.surface"

local KiB <const>, MiB <const> = 1 << 10, 1 << 20

local function scan(path, parameters, observer)
  local drive <close> = assert(hdd.open(path))
  local d = assert(surface.run(drive, parameters, observer))
  assert(document.validate(d))
  return d
end

local function refusal(path, parameters)
  local drive <close> = assert(hdd.open(path))
  local d, message, code = surface.run(drive, parameters)
  assert.is_nil(d)
  assert.equal(22, code)
  return message
end

-- Ranges as {offset, length, ...}.
local function ranges(list)
  local short = {}
  for i, range in ipairs(list) do short[i] = { range.offset_bytes, range.length_bytes } end
  return short
end

local function blocks_in(classes)
  local sum = 0
  for _, class in ipairs(classes) do sum = sum + class.blocks end
  return sum
end

local function bytes_of(list, status)
  local sum = 0
  for _, part in ipairs(list) do
    if not status or part.status == status then sum = sum + part.length_bytes end
  end
  return sum
end

describe("a surface scan", function()
  local path

  setup(function() path = scratch.file(16 * MiB + 3 * 512) end)

  it("reads every byte once, the last block shortened, and grades each block", function()
    local d = scan(path, { rpm = 0 })
    assert.equal("complete", d.status)
    assert.equal("clean", d.summary.verdict)
    assert.equal(0, d.errors)
    assert.equal(17, blocks_in(d.classes))
    assert.same({ { 0, 16 * MiB + 1536 } }, ranges(d.coverage))
    assert.equal("read", d.coverage[1].status)
    assert.equal(100, d.summary.covered_percent)
    assert.equal(16 * MiB + 1536, d.summary.scan_bytes)
    for _, key in ipairs { "unreadable", "slow", "recovered", "suspects" } do
      assert.same({}, d[key])
    end
    assert.equal(16 * MiB + 1536, bytes_of(d.map))
    assert.is_nil(d.rotation)
  end)

  it("of a range reads that alone, told in bytes, percent or blocks", function()
    local d = scan(path, { from = MiB, to = "3072s", rpm = 0 })
    assert.same({ { MiB, 512 * KiB } }, ranges(d.coverage))
    d = scan(path, { from = "50%", to = "75%", rpm = 0, block_size = 64 * KiB, depth = 1 })
    assert.equal(d.parameters.to - d.parameters.from, d.summary.scan_bytes)
  end)

  it("is repeated by its parameters", function()
    local d = scan(path, { from = MiB, to = 4 * MiB, rpm = 0 })
    local again = scan(path, assert(document.decode(document.encode(d))).parameters)
    assert.same(d.parameters, again.parameters)
    assert.same(d.coverage, again.coverage)
  end)

  it("of a single sector is one block", function()
    local d = scan(scratch.file(512), {})
    assert.equal("clean", d.summary.verdict)
    assert.equal(1, blocks_in(d.classes))
  end)

  it("that is not possible is refused, with the reason", function()
    assert.matches("^block_size: 1000: must be a multiple", refusal(path, { block_size = 1000 }))
    assert.matches("^depth: 0: must be", refusal(path, { depth = 0 }))
    assert.matches("^from: 8388608: nothing lies between", refusal(path, { from = 8 * MiB, to = MiB }))
    assert.matches("^revolutions: 1: must be", refusal(path, { revolutions = 1 }))
    assert.matches("^domain: no part of it", refusal(path, {
      domain = { { offset_bytes = 1 << 30, length_bytes = 512 } } }))
    assert.matches("^speed: no such parameter", refusal(path, { speed = 1 }))
  end)

  it("tells how far it is", function()
    local d = scan(path, { rpm = 0, block_size = 512, depth = 1 }, {
      progress = function(state)
        assert.is_string(state.stage)
        assert.is_true(not state.share or state.share >= 0 and state.share <= 1)
      end,
    })
    assert.equal(16 * MiB // 512 + 3, blocks_in(d.classes))
    assert.is_true(#d.map <= 1024)
  end)

  it("goes beyond 2^32 sectors", function()
    local far = (1 << 41) - 2 * MiB
    local d = scan(scratch.sparse(40 << 40), { from = far, to = far + 4 * MiB, rpm = 0 })
    assert.same({ { far, 4 * MiB } }, ranges(d.coverage))
    d = scan(scratch.sparse(40 << 40), { from = (40 << 40) - MiB - 512, rpm = 0 })
    assert.equal(40 << 40, d.coverage[1].offset_bytes + d.coverage[1].length_bytes)
  end)
end)

describe("unreadable sectors", function()
  it("are listed as they are, whatever the depth, and all others are read", function()
    needs.fuse()
    for _, depth in ipairs { 1, 32 } do
      local disk <close> = faultfs.mount { "at=5243392,length=512,error=EIO", size = 16 * MiB }
      local d = scan(disk.path, { depth = depth, rpm = 0 })
      assert.equal("complete", d.status)
      assert.equal("unreadable", d.summary.verdict)
      assert.same({ { 5243392, 512 } }, ranges(d.unreadable))
      assert.is_true(d.unreadable[1].exact)
      assert.equal("EIO", d.unreadable[1].error)
      assert.equal(16 * MiB - 512, bytes_of(d.coverage, "read"))
      assert.is_true(d.errors > 0 and #d.failures == d.errors)
    end
  end)

  it("may have any of the errors that a medium has", function()
    needs.fuse()
    for _, name in ipairs { "ENODATA", "ETIMEDOUT" } do
      local disk <close> = faultfs.mount { "at=1M,length=1k,error=" .. name, size = 4 * MiB }
      local d = scan(disk.path, { rpm = 0, retries = 0 })
      assert.same({ { MiB, KiB } }, ranges(d.unreadable))
      assert.equal(name, d.unreadable[1].error)
    end
  end)

  it("are found where they are scattered, with at most 64 reads in a MiB", function()
    needs.fuse()
    local rules, expected = { size = 24 * MiB }, {}
    for i = 0, 9 do
      local at = (2 * i + 1) * MiB + i * 33280
      rules[#rules + 1] = string.format("at=%d,length=%d,error=EIO", at, (i + 1) * 512)
      expected[#expected + 1] = { at, (i + 1) * 512 }
    end
    local disk <close> = faultfs.mount(rules)
    local d = scan(disk.path, { rpm = 0 })
    assert.same(expected, ranges(d.unreadable))
    local near = {}
    for _, read in ipairs(disk:reads()) do
      near[read.offset // MiB] = (near[read.offset // MiB] or 0) + 1
    end
    for _, count in pairs(near) do assert.is_true(count <= 64, count .. " reads") end
  end)

  it("that are many in a row are a range that is not exact, and not hammered", function()
    needs.fuse()
    local from, length = 5 * MiB + 512, 2000 * 512
    local disk <close> = faultfs.mount {
      string.format("at=%d,length=%d,error=EIO", from, length), size = 16 * MiB }
    local d = scan(disk.path, { rpm = 0 })
    assert.same({ { from, length } }, ranges(d.unreadable))
    assert.is_false(d.unreadable[1].exact)
    assert.is_true(d.errors < 150, d.errors .. " errors")
    assert.equal(16 * MiB - length, bytes_of(d.coverage, "read"))
  end)

  it("in a large area are skipped, and come back to", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=20M,length=20M,error=EIO", size = 128 * MiB }
    local order = {}
    local d = scan(disk.path, { rpm = 0, narrow_reads = 8, retries = 0 })
    assert.same({ { 20 * MiB, 20 * MiB } }, ranges(d.unreadable))
    for _, read in ipairs(disk:reads()) do order[#order + 1] = read end
    local failed_before_end = 0
    for _, read in ipairs(order) do
      if read.result < 0 then failed_before_end = failed_before_end + 1 end
      if read.offset + read.length == 128 * MiB and read.length > 4096 then break end
    end
    assert.is_true(failed_before_end > 0 and failed_before_end < 20, failed_before_end .. " failed")
  end)

  it("end the scan when they are too many, with all that was found", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=2M,length=1000k,error=EIO", size = 16 * MiB }
    local d = scan(disk.path, { rpm = 0, max_errors = 10 })
    assert.equal("failed", d.status)
    assert.equal(10, d.errors)
    assert.equal("unreadable", d.summary.verdict)
    assert.matches("too many read errors", table.concat(d.warnings))
    assert.equal(16 * MiB, bytes_of(d.coverage))
  end)

  it("that can be read at a later try are recovered", function()
    needs.fuse()
    for times = 1, 5 do
      local disk <close> = faultfs.mount {
        string.format("at=3M,length=512,error=EIO,times=%d", times), size = 8 * MiB }
      local d = scan(disk.path, { rpm = 0 })
      assert.same({}, d.unreadable)
      assert.equal(1, #d.recovered)
      local found = d.recovered[1]
      assert.is_true(found.offset_bytes <= 3 * MiB
        and found.offset_bytes + found.length_bytes > 3 * MiB)
      assert.equal("slow", d.summary.verdict)
      assert.equal(8 * MiB, bytes_of(d.coverage, "read"))
    end
  end)

  it("of 4096 bytes are listed in logical blocks of 4096", function()
    needs.fuse()
    needs.loop()
    local disk <close> = faultfs.mount { "at=1052672,length=100,error=EIO", size = 8 * MiB, loop = 4096 }
    local d = scan(disk.path, { rpm = 0 })
    assert.same({ { 1052672, 4096 } }, ranges(d.unreadable))
  end)
end)

describe("slow sectors of what does not turn", function()
  it("are confirmed and narrowed down", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=5M,length=1k,delay=150", size = 16 * MiB }
    local d = scan(disk.path, { rpm = 0 })
    assert.equal("slow", d.summary.verdict)
    assert.same({ { 5 * MiB, KiB } }, ranges(d.slow))
    assert.is_true(d.slow[1].latency_us >= 150000)
    assert.is_nil(d.slow[1].revolutions)
    assert.is_true(d.slow[1].exact)
    assert.equal(0, d.errors)
  end)

  it("that were slow once only are cleared", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=5M,length=1k,delay=300,times=1", size = 16 * MiB }
    local d = scan(disk.path, { rpm = 0 })
    assert.equal("clean", d.summary.verdict)
    assert.same({}, d.slow)
    assert.equal(1, d.summary.cleared_blocks)
    assert.equal(0, d.classes[5].blocks)
  end)

  it("beyond the budget stay suspects, and are told", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=5M,length=1k,delay=150", size = 16 * MiB }
    local d = scan(disk.path, { rpm = 0, rereads = 0 })
    assert.equal(1, #d.suspects)
    assert.equal("incomplete", d.summary.verdict)
    assert.matches("were not read again", table.concat(d.warnings))
    local reads = 0
    for _, read in ipairs(disk:reads()) do
      if read.offset < 5 * MiB + KiB and read.offset + read.length > 5 * MiB then reads = reads + 1 end
    end
    assert.equal(1, reads)
  end)

  it("are found beside unreadable ones in the same block", function()
    needs.fuse()
    local disk <close> = faultfs.mount {
      "at=5M,length=512,error=EIO", "at=5600k,length=512,delay=150", size = 16 * MiB }
    local d = scan(disk.path, { rpm = 0 })
    assert.same({ { 5 * MiB, 512 } }, ranges(d.unreadable))
    assert.same({ { 5600 * KiB, 512 } }, ranges(d.slow))
  end)
end)

describe("a domain", function()
  it("is all that is read", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=5M,length=512,error=EIO", size = 16 * MiB }
    local first = scan(disk.path, { rpm = 0, retries = 0 })
    local before = #disk:reads()
    local d = scan(disk.path, { rpm = 0, domain = first.unreadable })
    assert.same({ { 5 * MiB, 512 } }, ranges(d.unreadable))
    assert.equal(512, d.summary.span_bytes)
    local reads = disk:reads()
    for i = before + 1, #reads do
      assert.is_true(reads[i].offset >= 5 * MiB and reads[i].offset + reads[i].length <= 5 * MiB + 512)
    end
  end)

  it("may be parts in any order, and is rounded to logical blocks", function()
    local path = scratch.file(8 * MiB)
    local d = scan(path, { rpm = 0, domain = {
      { offset_bytes = 4 * MiB + 1, length_bytes = 511 }, { offset_bytes = 0, length_bytes = MiB },
    } })
    assert.same({ { 0, MiB }, { 4 * MiB, 512 } }, ranges(d.coverage))
    assert.equal("clean", d.summary.verdict)
  end)
end)

describe("a scan that was interrupted", function()
  -- Runs until so many bytes were read and cancels it then.
  local function part_of(path, parameters, until_bytes)
    local d, task
    task = hdd.task(function()
      d = scan(path, parameters, { progress = function(state)
        if (state.position_bytes or 0) >= until_bytes then task:cancel() end
      end })
    end)
    pcall(task.wait, task)
    return d
  end

  it("goes on from its document, and has the sums of both parts", function()
    needs.fuse()
    local rules = { "every=1M,delay=20", size = 64 * MiB }
    local bad = "at=3M,length=1k,error=EIO"
    local disk <close> = faultfs.mount { bad, rules[1], size = rules.size }
    local p = { rpm = 0, depth = 1, retries = 0 }
    local first = part_of(disk.path, p, 24 * MiB)
    assert.equal("interrupted", first.status)
    local covered = first.summary.covered_bytes
    assert.is_true(covered >= 20 * MiB and covered < 64 * MiB)
    first = assert(document.decode(document.encode(first)))
    local before = #disk:reads()
    local d = scan(disk.path, { rpm = 0, depth = 1, retries = 0, resume = first })
    assert.equal("complete", d.status)
    assert.same({ { 3 * MiB, KiB } }, ranges(d.unreadable))
    assert.equal(63, blocks_in(d.classes))
    assert.equal(100, d.summary.covered_percent)
    assert.equal(1, #d.interruptions)
    assert.equal(covered, d.interruptions[1].covered_bytes)
    assert.is_true(d.summary.elapsed_s > first.summary.elapsed_s)
    local twice = 0
    local reads = disk:reads()
    for i = before + 1, #reads do
      if reads[i].length > 4096 and reads[i].offset < 20 * MiB and reads[i].offset >= 5 * MiB then
        twice = twice + 1
      end
    end
    assert.equal(0, twice)
    local once = scan(disk.path, p)
    assert.same(ranges(once.unreadable), ranges(d.unreadable))
    assert.same(ranges(once.coverage), ranges(d.coverage))
    assert.equal(blocks_in(once.classes), blocks_in(d.classes))
  end)

  it("goes on from the blocks of a mapfile", function()
    local path = scratch.file(8 * MiB)
    local d = scan(path, { rpm = 0, retries = 0, resume = { blocks = {
      { from = 0, to = 4 * MiB, state = "+" }, { from = 4 * MiB, to = 4 * MiB + 512, state = "-" },
      { from = 4 * MiB + 512, to = 8 * MiB, state = "?" } } } })
    assert.same({ { 4 * MiB, 512 } }, ranges(d.unreadable))
    assert.equal(4 * MiB - 512, d.summary.scan_bytes)
    assert.equal("unreadable", d.summary.verdict)
  end)

  it("goes on neither on another drive nor with other blocks", function()
    local path = scratch.file(8 * MiB)
    local d = scan(path, { rpm = 0 })
    assert.matches("^resume: .* another drive: its size_bytes",
      refusal(scratch.file(9 * MiB), { resume = d }))
    assert.matches("another block_size: 1048576, not 65536",
      refusal(path, { resume = d, block_size = 65536 }))
    assert.matches("it is no surface scan", refusal(path, { resume = { schema = "x/1" } }))
  end)

  it("and was complete is complete", function()
    local path = scratch.file(8 * MiB)
    local first = scan(path, { rpm = 0 })
    local d = scan(path, { rpm = 0, resume = first })
    assert.equal("complete", d.status)
    assert.equal(first.summary.scan_bytes, d.summary.scan_bytes)
  end)
end)

describe("a drive in trouble", function()
  it("that is gone ends the scan, and is not full of bad sectors", function()
    needs.loop()
    local path = scratch.file(64 * MiB)
    local disk <close> = loop.attach(path)
    local d = scan(disk.path, { rpm = 0, depth = 1, block_size = 4096 }, {
      progress = function() shell.run("truncate -s 0 " .. path) end,
    })
    assert.equal("failed", d.status)
    assert.matches("device lost at offset", table.concat(d.warnings))
    assert.same({}, d.unreadable)
    assert.equal("untried", d.coverage[#d.coverage].status)
  end)

  it("that does not answer is told while it does not, and Ctrl-C ends it with what was read", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=32M,length=1,hang", "every=1M,delay=20", size = 64 * MiB }
    local silent_at, d, task
    task = hdd.task(function()
      d = scan(disk.path, { rpm = 0, depth = 1 }, { progress = function(state)
        if (state.idle_s or 0) >= 1 and not silent_at then
          silent_at = state.oldest_offset_bytes
          task:cancel()
        end
      end })
    end)
    pcall(task.wait, task)
    assert.equal(32 * MiB, silent_at)
    assert.equal("interrupted", d.status)
    assert.equal(32 * MiB, d.summary.covered_bytes)
    assert.equal("untried", d.coverage[2].status)
    assert.same({}, d.unreadable)
  end)
end)
