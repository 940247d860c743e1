-- SPDX-License-Identifier: GPL-3.0-or-later
-- Other programs' I/O, seen beside our own: dd is the other program, and stands for our jobs where
-- a watch is told that the bytes were its own.
local files = require "hdd.sysfs.files"
local foreign = require "hdd.foreign"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"
local tree = require "spec.support.tree"

local MIB <const> = 1 << 20

local function read(path, mib)
  shell.must(("dd if=%s of=/dev/null bs=1M count=%d iflag=direct"):format(path, mib))
end

local function write(path, mib)
  shell.must(("dd if=/dev/urandom of=%s bs=1M count=%d oflag=direct iflag=fullblock conv=notrunc")
    :format(path, mib))
end

local function nothing()
  return 0
end

describe("foreign I/O on a drive", function()
  local device

  before_each(function()
    needs.loop()
    device = loop.attach(scratch.file(32 * MIB))
  end)
  after_each(function() device:detach() end)

  it("is what others read and wrote, to the byte", function()
    local watch = foreign.begin(device.name)
    read(device.path, 8)
    write(device.path, 3)
    assert.same({read_bytes = 8 * MIB, written_bytes = 3 * MIB}, (watch:finish(0)))
  end)

  it("is none when all of it was our own", function()
    local watch = foreign.begin(device.name)
    read(device.path, 8)
    write(device.path, 3)
    assert.same({read_bytes = 0, written_bytes = 0}, (watch:finish(8 * MIB, 3 * MIB)))
  end)

  it("is what is left when we read at the same time", function()
    local watch = foreign.begin(device.name, function() return 8 * MIB end)
    read(device.path, 8)
    read(device.path, 5)
    assert.same({read_bytes = 5 * MIB, written_bytes = 0}, (watch:finish()))
  end)

  it("is not what another job of ours does meanwhile, running or finished", function()
    local issued = 0
    local over_all = foreign.begin(device.name)
    local first = foreign.begin(device.name, function() return issued end)
    read(device.path, 4)
    issued = 4 * MIB
    local second = foreign.begin(device.name, nothing)
    read(device.path, 2)
    issued = 6 * MIB
    assert.equal(0, second:finish(0).read_bytes)
    assert.equal(0, first:finish(6 * MIB).read_bytes)
    local third = foreign.begin(device.name, nothing)
    read(device.path, 1)
    assert.equal(0, third:finish(1 * MIB).read_bytes)
    read(device.path, 3)
    assert.equal(3 * MIB, over_all:finish(0).read_bytes)
  end)

  it("is not what another job had in flight when we began", function()
    local other = foreign.begin(device.name, function() return 4 * MIB end, 4 * MIB)
    local watch = foreign.begin(device.name, nothing)
    read(device.path, 4)  -- arrives at the drive only now
    assert.equal(0, watch:finish(0).read_bytes)
    assert.equal(0, other:finish(4 * MIB).read_bytes)
  end)

  it("on one partition is seen from the other, and our own is not", function()
    shell.must(("addpart %s 1 2048 16384; addpart %s 2 24576 16384"):format(device.path, device.path))
    local issued = 0
    local one = foreign.begin(device.name .. "p1", function() return issued end)
    local two = foreign.begin(device.name .. "p2", nothing)
    read(device.path .. "p1", 4)
    issued = 4 * MIB
    read(device.path .. "p2", 1)
    local found_two, found_one = two:finish(0), one:finish(4 * MIB)
    shell.must(("delpart %s 1; delpart %s 2"):format(device.path, device.path))
    assert.equal(1 * MIB, found_two.read_bytes)
    assert.equal(1 * MIB, found_one.read_bytes)
  end)

  it("is unknown, not none, on a device that does not count", function()
    shell.must(("echo 0 > /sys/block/%s/queue/iostats"):format(device.name))
    local watch = foreign.begin(device.name)
    read(device.path, 4)
    local found = watch:finish(0)
    shell.must(("echo 1 > /sys/block/%s/queue/iostats"):format(device.name))  -- outlives the loop
    assert.is_nil(found)
  end)

  it("is unknown where our own reads were not counted", function()
    local watch = foreign.begin(device.name)
    write(device.path, 1)
    local found = watch:finish(4 * MIB, 0)
    assert.is_nil(found.read_bytes)
    assert.equal(1 * MIB, found.written_bytes)
  end)

  it("is unknown when the device has gone", function()
    local folder = tree.new()
    folder:block_device("devices/virtual/block/sdx", "65:112",
                        {stat = "1 0 8 0 1 0 8 0 0 0 0\n", size = "8\n"})
    local sys = files.roots.sys
    files.roots.sys = folder.root .. sys
    local watch = foreign.begin("sdx")
    os.remove(folder.root .. "/sys/devices/virtual/block/sdx/stat")
    local found = watch:finish(0)
    files.roots.sys = sys
    assert.is_nil(found)
  end)

  it("is forgotten with a watch that was never ended", function()
    foreign.begin(device.name, function() return 100 * MIB end)
    collectgarbage()
    collectgarbage()
    local watch = foreign.begin(device.name)
    read(device.path, 2)
    assert.equal(2 * MIB, watch:finish(0).read_bytes)
  end)

  it("is told once", function()
    local watch = foreign.begin(device.name)
    assert.truthy(watch:finish(0))
    assert.is_nil((watch:finish(0)))
  end)
end)

describe("foreign I/O on a file", function()
  it("is unknown", function()
    local drive = {type = "file", major = 7, minor = 0}
    assert.is_nil((foreign.begin(drive):finish(4096)))
  end)
end)

describe("foreign I/O on a drive that is read through the page cache", function()
  it("is unknown", function()
    needs.loop()
    local device <close> = loop.attach(scratch.file(MIB))
    local major, minor = shell.read("/sys/block/" .. device.name .. "/dev"):match("(%d+):(%d+)")
    local drive = {type = "block", major = tonumber(major), minor = tonumber(minor), direct = true}
    assert.truthy((foreign.begin(drive):finish(0)))
    local buffered = {type = "block", major = tonumber(major), minor = tonumber(minor), direct = false}
    assert.is_nil((foreign.begin(buffered):finish(0)))
  end)
end)

describe("processor time that the hypervisor took", function()
  local folder, proc

  before_each(function()
    folder, proc = tree.new(), files.roots.proc
    shell.must("sleep 0.06")  -- older than the last look at it
    files.roots.proc = folder.root .. "/proc"
  end)
  after_each(function()
    files.roots.proc = proc
    shell.must("sleep 0.06")
  end)

  local function steal_over(before, after, seconds)
    folder:write {["proc/stat"] = before}
    local watch = foreign.begin({kind = "file"})
    if seconds > 0 then shell.must("sleep " .. seconds) end
    folder:write {["proc/stat"] = after}
    return select(2, watch:finish(0))
  end

  it("is a share of all, guests' time counted once", function()
    assert.equal(0.25, steal_over("cpu  100 0 100 700 0 0 0 100 50 0\ncpu0 1 1\n",
                                  "cpu  110 0 110 740 0 0 0 120 60 0\n", 0.15))
  end)

  it("is unknown over less than a tenth of a second, and where it is not counted", function()
    local steal
    for _ = 1, 5 do -- on a busy machine even this may take longer
      steal = steal_over("cpu  1 0 1 7 0 0 0 1 0 0\n", "cpu  2 0 2 8 0 0 0 2 0 0\n", 0)
      if not steal then break end
      shell.must("sleep 0.06")
    end
    assert.is_nil(steal)
    shell.must("sleep 0.06")
    assert.is_nil(steal_over("cpu  1 0 1 7\n", "cpu  2 0 2 8\n", 0.15))
    shell.must("sleep 0.06")
    assert.is_nil(steal_over("", "", 0.15))
  end)

  it("of this machine is between 0 and 1", function()
    files.roots.proc = proc
    shell.must("sleep 0.06")
    local watch = foreign.begin({kind = "file"})
    shell.must("sleep 0.2")
    local _, steal = watch:finish(0)
    if not steal then return pending("this kernel does not count it") end
    assert.is_true(steal >= 0 and steal <= 1)
  end)
end)

describe("the warnings", function()
  local function count(read_bytes, written_bytes, steal, own)
    return #foreign.warnings({read_bytes = read_bytes, written_bytes = written_bytes}, steal, own)
  end

  it("come for reads above 1 MiB and 1 % of our own", function()
    assert.equal(0, count(MIB, 0, 0, 0))
    assert.equal(1, count(MIB + 512, 0, 0, 0))
    assert.equal(0, count(2 * MIB, 0, 0, 200 * MIB))
    assert.equal(1, count(2 * MIB + 512, 0, 0, 200 * MIB))
  end)

  it("come for writes above 64 KiB, however much we read", function()
    assert.equal(0, count(0, 65536, 0, 1 << 40))
    assert.equal(1, count(0, 66048, 0, 1 << 40))
  end)

  it("come for steal above 2 %", function()
    assert.equal(0, count(0, 0, 0.02, 0))
    assert.equal(1, count(0, 0, 0.021, 0))
  end)

  it("do not come for what is unknown", function()
    assert.same({}, foreign.warnings(nil, nil, 1 << 30))
    assert.same({}, foreign.warnings({}, nil, 1 << 30))
  end)

  it("name the amounts with their units", function()
    local list = foreign.warnings({read_bytes = 600 * MIB, written_bytes = MIB}, 0.125, 4096)
    assert.matches("other programs read 629.1 MB (600.0 MiB) from the drive", list[1], 1, true)
    assert.matches("wrote 1.05 MB (1.00 MiB) to the drive", list[2], 1, true)
    assert.matches("took 12.5 %", list[3], 1, true)
  end)
end)
