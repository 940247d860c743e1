-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- What a job file's options mean; what is refused, by name and line.
local jobfile = require "hdd.fio.jobfile"
local plans = require "hdd.fio.plan"

local KiB <const>, MiB <const>, GiB <const> = 1 << 10, 1 << 20, 1 << 30
local DISK <const> = { size = 600127266816, kind = "disk", logical_block_size = 512 }

local function plan(text, override)
  return plans.new(assert(jobfile.parse(text, { name = "x.fio" })), override)
end

-- The jobs of a section on a drive, as the core gets them.
local function started(text, drive)
  local planned = assert(plan(text))
  local list = {}
  for i, job in ipairs(planned.jobs) do list[i] = assert(plans.start(job, drive or DISK)) end
  return list, planned
end

local function one(options, drive)
  local list, planned = started("[a]\nfilename=/dev/sdx\ndirect=1\n" .. options, drive)
  return list[1], planned
end

local function refused(options, drive)
  local planned, message, code = plan("[a]\nfilename=/dev/sdx\n" .. options)
  if planned then
    local start
    start, message = plans.start(planned.jobs[1], drive or DISK)
    assert.is_nil(start)
    return message
  end
  assert.equal(22, code)
  return message
end

describe("a plan", function()
  it("of the founding rate job is one of random reads, for the time, with noop taken for none", function()
    local parsed = assert(jobfile.parse([[
[global]
filename=${DRIVE}
iodepth=${IODEPTH}
bs=${BS}
ramp_time=10
runtime=120

[rate-iops]
rw=randread
ioscheduler=noop
ioengine=libaio
direct=1
]], { getenv = function(name) return ({ DRIVE = "/dev/sdx", IODEPTH = "8", BS = "512" })[name] end }))
    local planned = assert(plans.new(parsed))
    assert.equal("/dev/sdx", planned.filename)
    assert.is_true(planned.direct)
    assert.equal("none", planned.scheduler)
    assert.matches("noop is taken as none", table.concat(planned.notes, "\n"))
    local start = assert(plans.start(planned.jobs[1], DISK))
    assert.equal("random", start.pattern)
    assert.same({ 8, 512, 10, 120 }, { start.depth, start.block_size, start.ramp, start.runtime })
  end)

  it("of the founding zone job reads the zones once", function()
    local start, planned =
      one("bs=64k\nrw=read\niodepth=2\nioengine=libaio\nzonesize=256m\nzoneskip=2g\nwrite_bw_log\n")
    assert.equal("strided", start.pattern)
    assert.same({ 256 * MiB, 2 * GiB }, { start.zone_size, start.zone_skip })
    assert.is_nil(start.loop)
    assert.is_nil(start.bytes)
    assert.is_true(planned.jobs[1].logs.bw)
    assert.matches("read once from first to last", table.concat(planned.notes, "\n"))
  end)

  it("of zonemode=strided goes round until all of the size was read, as fio does", function()
    local start = one("zonemode=strided\nzonesize=1m\nzoneskip=3m\nsize=64m\n")
    assert.is_true(start.loop)
    assert.equal(64 * MiB, start.bytes)
    start = one("zonemode=none\nzonesize=1m\nzoneskip=3m\n")
    assert.equal("sequential", start.pattern)
  end)

  it("has the skip that a zonerange larger than the zone makes", function()
    local start = one("zonemode=strided\nzonesize=1m\nzonerange=8m\nzoneskip=2m\n")
    assert.equal(9 * MiB, start.zone_skip)
  end)

  it("takes fio's sizes, percents, aliases and the block size of reads", function()
    local start = one("blocksize=8kb,4k\nreadwrite=randread\noffset=25%\nsize=10%\nio_limit=1g\n")
    assert.equal(8 * KiB, start.block_size)
    assert.equal(0, start.offset % start.block_size)
    assert.is_true(math.abs(start.offset / DISK.size - 0.25) < 1e-6)
    assert.is_true(math.abs(start.length / DISK.size - 0.1) < 1e-6)
    assert.equal(GiB, start.bytes)
  end)

  it("ends by size, by time, or by number, and loops where it must", function()
    local start = one("rw=read\nbs=64k\nsize=1m\n")
    assert.same({ MiB }, { start.bytes, start.loop, start.runtime })
    start = one("rw=read\nbs=64k\nsize=1m\nloops=3\n")
    assert.same({ 3 * MiB, true }, { start.bytes, start.loop })
    start = one("rw=read\nbs=64k\nsize=1m\nruntime=2m\ntime_based\n")
    assert.is_nil(start.bytes)
    assert.same({ true, 120 }, { start.loop, start.runtime })
    start = one("rw=randread\nnumber_ios=77\n")
    assert.equal(77, start.ios)
  end)

  it("has numjobs clones with places and seeds of their own; stonewall begins a new wave", function()
    local list, planned = started [[
[global]
filename=/dev/sdx
direct=1
[a]
rw=read
numjobs=3
offset_increment=1g
size=1g
[b]
stonewall
rw=randread
]]
    assert.equal(4, #list)
    assert.same({ 0, GiB, 2 * GiB }, { list[1].offset, list[2].offset, list[3].offset })
    local waves = {}
    for i, job in ipairs(planned.jobs) do waves[i] = job.wave end
    assert.same({ 0, 0, 0, 1 }, waves)
    assert.not_equal(list[1].seed, list[2].seed)
    assert.equal(4, planned.jobs[4].number)
  end)

  it("takes a section's name for the file when it is a path, and --filename before all", function()
    assert.equal("/dev/sdb", assert(plan("[/dev/sdb]\nrw=read\n")).filename)
    assert.equal("/x", assert(plan("[a]\nfilename=/dev/sdb\n", "/x")).filename)
    assert.equal("d/f", assert(plan("[a]\ndirectory=d\nfilename=f\n")).filename)
  end)

  it("has a depth of 1 where fio has: engines that wait, and reads through the page cache", function()
    local start, planned = one("ioengine=psync\niodepth=8\n")
    assert.equal(1, start.depth)
    assert.matches("iodepth=8: ioengine=psync has one read in flight", table.concat(planned.notes, "\n"))
    local list = started("[a]\nfilename=f\nioengine=libaio\niodepth=8\n")
    assert.equal(1, list[1].depth)
    assert.equal(8, one("ioengine=io_uring\niodepth=8\n").depth)
  end)

  it("reads whole blocks, and no more of a device than there is", function()
    local start = one("rw=read\nbs=64k\nsize=900t\n")
    assert.equal(DISK.size // 65536 * 65536, start.length)
  end)
end)

describe("an option", function()
  it("of a writing workload is refused clearly", function()
    for _, options in ipairs { "rw=write", "rw=randwrite", "rw=randrw", "rw=trim", "readwrite=rw", "verify=crc32c" } do
      assert.matches("^x.fio:3: .*hddlua writes nothing to a drive here", refused(options .. "\n"))
    end
  end)

  it("that is not supported is refused by name and line, never ignored", function()
    for _, options in ipairs {
      "rate=10m", "rate_iops=100", "thinktime=10", "bssplit=4k/50:8k/50", "latency_target=5ms", "zonemode=zbd",
      "ioengine=null", "steadystate=iops:5%", "cpus_allowed=1", "random_distribution=zipf:1.2", "iodepth_batch=8",
      "startdelay=5", "no_such_option=1", "exitall", "nrfiles=4", "bs=4k-64k", "kb_base=1000", "rw=read:8k",
    } do
      local message = refused(options .. "\n")
      assert.matches("^x.fio:3: ", message)
      assert.truthy(message:find(options:match("^[%w_]+"), 1, true), message)
    end
  end)

  it("with a value that is none is refused", function()
    for options, pattern in pairs {
      ["iodepth=many"] = 'iodepth=many: "many" is no whole number', ["iodepth=0"] = "must lie between 1 and 4096",
      ["bs=0"] = "must lie between 512 bytes and 64 MiB", ["size=120%"] = "at most 100 %%",
      ["direct=yes"] = "must be 1 or 0", ["runtime=soon"] = "soon", ["bs=4Ki"] = "1000 based to fio",
      ["bs"] = "a value is missing", ["filename=a:b"] = "several files in one job", ["time_based"] = "needs runtime",
      ["zoneskip=1g"] = "zonesize: needed", ["zonesize=1000\nzoneskip=0"] = "no multiple of the block size",
      ["zonesize=1m\nrw=randread"] = "only supported with rw=read", ["percentile_list=101"] = "no percentile",
      ["zonesize=1m\nzonerange=4k"] = "smaller than zonesize",
    } do
      assert.matches(pattern, refused(options .. "\n"))
    end
  end)

  it("that makes no difference is accepted with a note", function()
    local _, planned = one("thread\ninvalidate=1\ngroup_reporting\nnorandommap\nrandrepeat=0\nrefill_buffers=1\n")
    local notes = table.concat(planned.notes, "\n")
    for _, name in ipairs { "thread", "invalidate=1", "norandommap", "randrepeat=0", "refill_buffers=1" } do
      assert.truthy(notes:find(name, 1, true), name)
    end
    assert.is_nil(notes:find("group_reporting", 1, true))
  end)
end)

describe("a job that does not fit its drive", function()
  it("is refused: blocks, offsets and sizes that it cannot have", function()
    local file = { size = 10 * MiB, kind = "file", logical_block_size = 512 }
    assert.matches("fio would make it larger, hddlua writes nothing", refused("direct=1\nsize=20m\n", file))
    assert.matches("lies behind the end", refused("direct=1\noffset=20m\n", file))
    assert.matches("holds no whole block", refused("direct=1\nbs=16m\n", file))
    local native = { size = 10 * MiB, kind = "disk", logical_block_size = 4096 }
    assert.matches("logical block size, 4096", refused("direct=1\nbs=512\n", native))
    assert.matches("offset: 512 is no multiple", refused("direct=1\noffset=512\n", native))
  end)
end)

describe("jobs of one file", function()
  it("read one drive, in one way: others are refused", function()
    local planned, message = plan("[a]\nfilename=/dev/sdb\n[b]\nfilename=/dev/sdc\n")
    assert.is_nil(planned)
    assert.matches("^x.fio:3: b: it reads /dev/sdc, but it reads /dev/sdb before", message)
    planned, message = plan("[a]\nfilename=f\ndirect=1\n[b]\nfilename=f\n")
    assert.is_nil(planned)
    assert.matches("direct=0, but direct=1 before", message)
    planned, message = plan("[a]\nrw=read\n")
    assert.is_nil(planned)
    assert.matches("what it reads is not said", message)
  end)
end)
