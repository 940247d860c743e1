-- Queue-depth sweeps of real files, loop devices and drives that misbehave.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local qdsweep = require "hdd.procedure.qdsweep"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local MiB <const> = 1 << 20

local function sweep(path, parameters, observer)
  local drive <close> = assert(hdd.open(path))
  local d = assert(qdsweep.run(drive, parameters, observer))
  assert(document.validate(d))
  return d
end

local function refusal(path, parameters)
  local drive <close> = assert(hdd.open(path))
  local d, message, code = qdsweep.run(drive, parameters)
  assert.is_nil(d)
  assert.equal(22, code)
  return message
end

local function warnings_of(d) return table.concat(d.warnings, "\n") end

describe("a queue-depth sweep", function()
  local path

  setup(function() path = scratch.file(16 * MiB) end)

  it("has a row for each block size and depth, in the order measured", function()
    local d = sweep(path,
      { depths = { 4, 1 }, block_sizes = { 4096, 512 }, ramp = 0.05, runtime = 0.3 })
    assert.equal("complete", d.status)
    local order = {}
    for i, row in ipairs(d.rows) do
      order[i] = row.block_size_bytes .. "@" .. row.depth
      assert.equal("runtime", row.stopped_by)
      assert.is_true(row.ios > 0)
      assert.is_true(math.abs(row.iops - row.ios / row.elapsed_s) < 0.01 * row.iops)
      local bytes_per_s = row.iops * row.block_size_bytes
      assert.is_true(math.abs(row.bandwidth_bytes_per_s / bytes_per_s - 1) < 1e-6)
      assert.is_true(row.elapsed_s >= 0.29)
      local last = 0
      for _, key in ipairs { "p50", "p95", "p99", "p999", "max" } do
        assert.is_true(row["latency_" .. key .. "_us"] >= last)
        last = row["latency_" .. key .. "_us"]
      end
      assert.is_true(row.latency_mean_us <= row.latency_max_us)
      assert.is_true(row.depth_achieved <= row.depth + 1e-9)
    end
    assert.same({ "4096@4", "4096@1", "512@4", "512@1" }, order)
    assert.equal(1, d.rows[2].gain)
    assert.equal(d.rows[1].iops / d.rows[2].iops, d.rows[1].gain)
    assert.equal(16 * MiB, d.summary.span_bytes)
    assert.equal(100, d.summary.span_percent)
  end)

  it("has all parameters and the seed, and reads the same places if they are passed back", function()
    needs.fuse()
    local disk <close> = faultfs.mount { size = 64 * MiB }
    local function places(parameters)
      local before = #disk:reads()
      local d = sweep(disk.path, parameters)
      local list, reads = {}, disk:reads()
      for i = before + 2, before + 31 do list[#list + 1] = reads[i].offset end -- the first wakes it
      return list, d.parameters
    end
    local given = { depths = { 1 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.3 }
    local first, parameters = places(given)
    assert.same({
      depths = { 1 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.3, from = 0, to = 64 * MiB,
      seed = parameters.seed, quick = false, max_errors = 1000,
    }, parameters)
    assert.same(first, (places(parameters)))
    parameters.seed = parameters.seed + 1
    assert.not_same(first, (places(parameters)))
  end)

  it("reads at other places in each row", function()
    needs.fuse()
    local disk <close> = faultfs.mount { size = 64 * MiB }
    sweep(disk.path,
      { depths = { 1 }, block_sizes = { 4096, 4096 }, ramp = 0, runtime = 0.2, seed = 7 })
    local seen, twice, reads = {}, 0, disk:reads()
    for _, read in ipairs(reads) do
      if seen[read.offset] then twice = twice + 1 end
      seen[read.offset] = true
    end
    -- 16384 places: if the second row had the first one's, half of all would be there twice.
    assert.is_true(#reads > 40)
    assert.is_true(twice < 0.4 * #reads)
  end)

  it("reads whole blocks inside its range only, and says what part of the drive that is", function()
    needs.fuse()
    local disk <close> = faultfs.mount { size = 64 * MiB }
    local d = sweep(disk.path, { depths = { 4 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.2,
      from = "25%", to = 16 * MiB + 2 * MiB + 512 })
    assert.equal(2 * MiB + 512, d.summary.span_bytes)
    assert.is_true(math.abs(d.summary.span_percent - 3.126) < 0.001)
    for _, read in ipairs(disk:reads()) do
      assert.is_true(read.offset >= 16 * MiB and read.offset + read.length <= 18 * MiB + 4096)
    end
  end)

  it("is done with a row when its IOPS are exact enough", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "delay=2", size = 4 * MiB }
    local d = sweep(disk.path, { depths = { 1 }, block_sizes = { 4096 }, ramp = 0, runtime = 20,
      runtime_min = 0.5, precision = 0.2 })
    local row = d.rows[1]
    assert.equal("precision", row.stopped_by)
    assert.is_true(row.elapsed_s >= 0.5 and row.elapsed_s < 20)
    assert.is_true(row.iops_ci95 <= 0.2 * row.iops)
  end)

  it("counts the ramp neither in reads nor in latencies", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "times=20,delay=40", size = 4 * MiB }
    local d = sweep(disk.path,
      { depths = { 1 }, block_sizes = { 4096 }, ramp = 1.5, runtime = 0.3 })
    assert.is_true(d.rows[1].latency_max_us < 40000)
  end)

  it("counts a stall in its rates, and lists it", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "delay=1", "after=1", size = 4 * MiB }
    local frozen
    local d = sweep(disk.path, { depths = { 1 }, block_sizes = { 4096 }, ramp = 0, runtime = 4 }, {
      progress = function(state)
        if not frozen and state.iops then
          frozen = true
          shell.must(("(kill -STOP %d; sleep 2.5; kill -CONT %d) >/dev/null 2>&1 &"):format(
            disk.pid, disk.pid))
        end
      end,
    })
    assert.equal(1, #d.stalls)
    assert.is_true(d.stalls[1].elapsed_s >= 2.4)
    assert.is_true(d.rows[1].latency_max_us >= 2400000)
    assert.is_true(d.rows[1].elapsed_s >= 4)
  end)

  it("is refused when it is not possible, with the reason", function()
    assert.matches("^runtime: 0: must be a number of seconds above 0",
      refusal(path, { runtime = 0 }))
    assert.matches("^depths%[2%]: 0: must be a whole number", refusal(path, { depths = { 1, 0 } }))
    assert.matches("^depths: must be a list", refusal(path, { depths = {} }))
    assert.matches("^block_sizes%[1%]: 100: the drive reads multiples of its logical block of 512",
      refusal(path, { block_sizes = { 100 } }))
    assert.matches("^block_sizes%[1%]: 33554432: the range has only 16777216 bytes",
      refusal(path, { block_sizes = { 32 * MiB } }))
    assert.matches("^precision: 2: must be", refusal(path, { precision = 2 }))
    assert.matches("^runtime_min: 5: means something only with precision",
      refusal(path, { runtime_min = 5 }))
    assert.matches("^scheduler: 1: must be the name", refusal(path, { scheduler = 1 }))
    assert.matches("^seed: x: must be a whole number", refusal(path, { seed = "x" }))
    assert.matches("^from: .* nothing lies between", refusal(path, { from = "100%" }))
  end)
end)

describe("block sizes that the drive cannot read", function()
  local disk

  before_each(function()
    if needs.why("loop") then return end
    disk = loop.attach(scratch.file(8 * MiB), { block_size = 4096 })
  end)
  after_each(function()
    if disk then disk:detach() end
    disk = nil
  end)

  it("are left out with a warning when they are the default", function()
    needs.loop()
    local d = sweep(disk.path, { depths = { 1 }, ramp = 0, runtime = 0.1 })
    assert.same({ 4096 }, d.parameters.block_sizes)
    assert.equal(1, #d.rows)
    assert.equal("blocks of 512 B are left out: the drive reads multiples of its logical block of "
      .. "4096 bytes only", d.warnings[1])
  end)

  it("are refused when they were asked for", function()
    needs.loop()
    assert.matches("^block_sizes%[1%]: 512: the drive reads multiples of .* 4096 bytes only",
      refusal(disk.path, { block_sizes = { 512, 4096 } }))
  end)
end)

describe("the I/O scheduler", function()
  local disk, file

  before_each(function()
    if needs.why("loop") then return end
    disk = loop.attach(scratch.file(8 * MiB))
    file = ("/sys/block/%s/queue/scheduler"):format(disk.name)
    shell.run("echo mq-deadline > " .. file)
  end)
  after_each(function()
    if disk then disk:detach() end
    disk = nil
  end)

  local function current() return shell.read(file):match("%[(.-)%]") end

  local function during(parameters)
    local seen
    local d = sweep(disk.path, parameters, { save = function() seen = current() end })
    return seen, d
  end

  it("is none while it is measured, and afterwards what it was", function()
    needs.loop()
    if current() ~= "mq-deadline" then return pending("this kernel has no mq-deadline") end
    local seen, d = during { depths = { 1 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.1 }
    assert.equal("none", seen)
    assert.equal("mq-deadline", current())
    assert.equal("none", d.parameters.scheduler)
    assert.equal("mq-deadline", d.drive.scheduler)
    assert.same({}, d.warnings)
  end)

  it("is left alone on request", function()
    needs.loop()
    if current() ~= "mq-deadline" then return pending("this kernel has no mq-deadline") end
    local seen, d = during { depths = { 1 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.1,
      scheduler = "keep" }
    assert.equal("mq-deadline", seen)
    assert.equal("keep", d.parameters.scheduler)
  end)

  it("that the kernel does not have is a warning", function()
    needs.loop()
    local before = current()
    local seen, d = during { depths = { 1 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.1,
      scheduler = "elevator9" }
    assert.equal(before, seen)
    local stays = ("the I/O scheduler stays %s: set %s to elevator9: Invalid argument (there are: ")
      :format(before, file)
    assert.equal(stays, d.warnings[1]:sub(1, #stays))
  end)

  it("is restored when the procedure ends by an error", function()
    needs.loop()
    if current() ~= "mq-deadline" then return pending("this kernel has no mq-deadline") end
    assert.has_error(function()
      sweep(disk.path, { depths = { 1 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.1 },
        { save = function() error("full", 0) end })
    end)
    assert.equal("mq-deadline", current())
  end)
end)

describe("a drive that fails during a sweep", function()
  it("has its errors counted in each row, and its failures listed", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=1M,length=1M,error=EIO", size = 4 * MiB }
    local d = sweep(disk.path, { depths = { 1, 4 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.2,
      max_errors = 1000000 })
    assert.equal("complete", d.status)
    assert.is_true(d.rows[1].errors > 0 and d.rows[2].errors > 0)
    assert.equal(d.errors, d.rows[1].errors + d.rows[2].errors)
    assert.is_true(#d.failures > 0 and #d.failures <= 256)
    for _, failure in ipairs(d.failures) do
      assert.equal("EIO", failure.error)
      assert.equal(1, failure.offset_bytes // MiB)
    end
  end)

  it("keeps the rows that were measured when it is lost", function()
    needs.fuse()
    local disk <close> = faultfs.mount { size = 4 * MiB }
    local rows = 0
    local d = sweep(disk.path,
      { depths = { 1, 2, 4 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.2 }, {
      save = function(so_far)
        rows = #so_far.rows
        if rows == 1 then disk:kill() end
      end,
    })
    assert.equal("failed", d.status)
    assert.equal(1, #d.rows)
    assert.equal(0, d.errors)
    assert.matches("device lost at offset %d+", warnings_of(d))
  end)

  it("is given up when it answers no other read for half a minute either", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "after=200,hang", size = 4 * MiB }
    local began, waited = hdd.now(), false
    local d = sweep(disk.path, { depths = { 1, 2 }, block_sizes = { 4096 }, ramp = 0, runtime = 1 }, {
      progress = function(state)
        waited = waited or state.stage == "waiting for the drive to answer" and state.idle_s > 1
      end,
    })
    assert.is_true((hdd.now() - began) / 1e9 < 40)
    assert.equal("failed", d.status)
    assert.is_true(waited)
    assert.equal(1, #d.rows)
    assert.matches("the drive no longer answers: no answer to a read at offset %d+ for 30",
      warnings_of(d))
  end)

  it("goes on when a read took longer than the row had time for, and then the drive answers", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "after=200,times=2,delay=5000", size = 4 * MiB }
    local d = sweep(disk.path, { depths = { 1, 2 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.5 })
    assert.equal("complete", d.status)
    assert.equal(2, #d.rows)
    assert.matches("1 read was not answered within 2 s of the end and given up",
      warnings_of(d))
    assert.is_true(d.rows[2].elapsed_s < 1)
  end)
end)

describe("a sweep that is too good to be true", function()
  it("is flagged on a drive that is said to turn, and no other", function()
    local path = scratch.file(4 * MiB)
    local parameters = { depths = { 1 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.2, rpm = 60 }
    local d = sweep(path, parameters)
    assert.is_true(d.rows[1].flagged)
    assert.matches("above 2 IOPS, which is half a turn a read at 60 rpm", d.rows[1].reason)
    assert.equal(1, d.summary.flagged_rows)
    parameters.rpm = 0
    d = sweep(path, parameters)
    assert.is_false(d.rows[1].flagged)
    assert.equal(0, d.summary.flagged_rows)
  end)

  it("is warned of when nothing but zeros was read", function()
    local path = scratch.sparse(1 << 30)
    local drive = hdd.open(path)
    if not drive then return pending("no direct reads of tmpfs on this kernel") end
    drive:close()
    local d = sweep(path, { depths = { 1 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.1 })
    assert.matches("16 of 16 blocks looked at hold nothing but zeros", warnings_of(d))
  end)
end)
