-- fio's job files run on files and loop devices: what is read, and what comes of it.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local fiojob = require "hdd.procedure.fiojob"
local hdd = require "hdd"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local MiB <const> = 1 << 20

local function run(path, text, observer, given)
  local drive <close> = assert(hdd.open(path))
  local parameters = { text = "[global]\ndirect=1\nfilename=x\n" .. text, name = "x.fio" }
  for key, value in pairs(given or {}) do parameters[key] = value end
  local d = assert(fiojob.run(drive, parameters, observer))
  assert(document.validate(d))
  return d
end

-- The offsets that a job read, but for the first read, which wakes the drive.
local function offsets_of(disk)
  local offsets = {}
  for i, read in ipairs(disk:reads()) do
    if i > 1 then offsets[#offsets + 1] = read.offset end
  end
  return offsets
end

describe("a fio job", function()
  it("reads its size in order, and its zones once", function()
    needs.fuse()
    local disk <close> = faultfs.mount { size = 16 * MiB }
    local d = run(disk.path, "[a]\nrw=read\nbs=1m\noffset=4m\nsize=3m\n")
    assert.same({ 4 * MiB, 5 * MiB, 6 * MiB }, offsets_of(disk))
    assert.equal("complete", d.status)
    assert.equal(3, d.jobs[1].ios)
    assert.equal(3 * MiB, d.jobs[1].bytes)
    assert.is_true(d.jobs[1].bandwidth_bytes_per_s > 0)

    local zoned <close> = faultfs.mount { size = 16 * MiB }
    d = run(zoned.path, "[a]\nrw=read\nbs=512k\nzonesize=1m\nzoneskip=4m\n")
    assert.same({ 0, 512 << 10, 5 * MiB, 5 * MiB + (512 << 10), 10 * MiB, 10 * MiB + (512 << 10), 15 * MiB,
                  15 * MiB + (512 << 10) }, offsets_of(zoned))
    assert.equal("pattern", d.jobs[1].stopped_by)
  end)

  it("of zonemode=strided goes round until it has read all of its size", function()
    needs.fuse()
    local disk <close> = faultfs.mount { size = 8 * MiB }
    run(disk.path, "[a]\nrw=read\nbs=1m\nzonemode=strided\nzonesize=1m\nzoneskip=3m\nio_size=5m\n")
    assert.same({ 0, 4 * MiB, 0, 4 * MiB, 0 }, offsets_of(disk))
  end)

  it("reads at random in its range, for its time, at its depth", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "delay=2", size = 16 * MiB }
    local d = run(disk.path, "[a]\nrw=randread\nbs=4k\niodepth=4\nioengine=libaio\noffset=8m\n"
      .. "runtime=1\nramp_time=0.2\ntime_based\n")
    local row = d.jobs[1]
    for _, offset in ipairs(offsets_of(disk)) do
      assert.is_true(offset >= 8 * MiB and offset % 4096 == 0)
    end
    assert.is_true(row.elapsed_s >= 1 and row.elapsed_s < 10)
    assert.equal(4, row.depth)
    assert.is_true(row.depth_achieved > 3 and row.depth_achieved <= 4.01)
    assert.equal("runtime", row.stopped_by)
    local count = 0
    for _, bin in ipairs(row.bins) do count = count + bin.count end
    assert.equal(row.ios, count)
    assert.equal(17, #row.percentiles)
  end)

  it("runs side by side with the others until a stonewall", function()
    local path = scratch.file(16 * MiB)
    local d = run(path, [[
[a]
rw=randread
runtime=0.5
time_based
[b]
rw=read
runtime=0.5
time_based
[c]
stonewall
rw=read
bs=1m
]])
    assert.same({ "a", "b", "c" }, { d.jobs[1].name, d.jobs[2].name, d.jobs[3].name })
    assert.same({ 0, 0, 1 }, { d.jobs[1].group, d.jobs[2].group, d.jobs[3].group })
    -- The second begins before the first can have ended.
    assert.is_true(d.jobs[2].started_s < d.jobs[1].started_s + 0.5)
    assert.is_true(d.jobs[3].started_s >= d.jobs[1].started_s + 0.5)
    assert.equal(16, d.jobs[3].ios)
    assert.is_nil(d.foreign and next(d.foreign))
  end)

  it("has numjobs clones, each in a row, or all in one with group_reporting", function()
    local path = scratch.file(16 * MiB)
    local text = "[a]\nrw=read\nbs=1m\nnumjobs=3\nsize=4m\noffset_increment=4m\n"
    local d = run(path, text)
    assert.equal(3, #d.jobs)
    assert.same({ 0, 4 * MiB, 8 * MiB }, { d.jobs[1].offset_bytes, d.jobs[2].offset_bytes, d.jobs[3].offset_bytes })
    d = run(path, text .. "group_reporting\n")
    assert.equal(1, #d.jobs)
    assert.same({ 3, 12, 12 * MiB }, { d.jobs[1].merged, d.jobs[1].ios, d.jobs[1].bytes })
  end)

  it("sets the scheduler for its time, noop being none, and puts back what was there", function()
    needs.loop()
    local disk <close> = loop.attach(scratch.file(8 * MiB))
    local queue = "/sys/block/" .. disk.name .. "/queue/scheduler"
    if shell.run("echo mq-deadline > " .. queue .. " && cat " .. queue):find("[mq-deadline]", 1, true) == nil then
      return pending("needs a kernel with mq-deadline")
    end
    local during
    local d = run(disk.path, "[a]\nrw=read\nioscheduler=noop\nbs=1m\n", {
      save = function() during = shell.run("cat " .. queue) end,
    })
    assert.matches("%[none%]", during)
    assert.matches("%[mq%-deadline%]", shell.run("cat " .. queue))
    assert.matches("noop is taken as none", table.concat(d.notes, "\n"))
    assert.equal(1, #d.disk_util)
    assert.is_true(d.disk_util[1].read_ios >= 8)
  end)

  it("that can't set a scheduler says so", function()
    local d = run(scratch.file(MiB), "[a]\nrw=read\nioscheduler=none\n")
    assert.matches("ioscheduler: what is read has none", table.concat(d.warnings, "\n"))
  end)

  it("counts failed reads and goes on; too many end it", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=4M,length=1M,error=EIO", size = 16 * MiB }
    local d = run(disk.path, "[a]\nrw=read\nbs=1m\n")
    assert.equal("complete", d.status)
    assert.same({ 15, 1, 1 }, { d.jobs[1].ios, d.jobs[1].errors, d.errors })
    local bad <close> = faultfs.mount { "at=4M,length=12M,error=EIO", size = 16 * MiB }
    d = run(bad.path, "[a]\nrw=read\nbs=64k\n[b]\nstonewall\nrw=read\n", nil, { max_errors = 3 })
    assert.equal("failed", d.status)
    assert.equal(1, #d.jobs)
  end)

  it("that is interrupted has what was measured until then", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "delay=2", size = 16 * MiB }
    local d
    local task = hdd.task(function()
      d = run(disk.path, "[a]\nrw=randread\nruntime=60\ntime_based\n[b]\nstonewall\nrw=read\n")
    end)
    hdd.sleep(0.6)
    task:cancel()
    task:wait()
    assert.equal("interrupted", d.status)
    assert.equal(1, #d.jobs)
    assert.is_true(d.jobs[1].ios > 0)
  end)

  it("is refused as a whole when a part of it can't be run", function()
    local drive <close> = assert(hdd.open(scratch.file(MiB)))
    for text, pattern in pairs {
      ["[a]\nfilename=x\nrw=write\n"] = "^x.fio:3: rw=write: only reads are run",
      ["[a]\nfilename=x\ndirect=1\n[b]\nfilename=x\ndirect=1\nsize=2m\n"] = "^b: size: 2097152 bytes",
      ["[a]\nfilename=${NO_SUCH_VARIABLE}\n"] = "NO_SUCH_VARIABLE is not set",
    } do
      local d, message, code = fiojob.run(drive, { text = text, name = "x.fio" })
      assert.is_nil(d)
      assert.matches(pattern, message)
      assert.equal(22, code)
    end
    assert.matches("^text: the text of a job file is needed", (select(2, fiojob.run(drive, {}))))
  end)
end)
