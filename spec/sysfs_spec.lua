-- SPDX-License-Identifier: GPL-3.0-or-later
-- The identity of loop devices, partitions and files of this machine, and of drives that it does
-- not have, from a copied sysfs. Those of the drive lab are in sysfs/lab_spec.lua.
local json = require "dkjson"
local lfs = require "lfs"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"
local sysfs = require "hdd.sysfs"
local files = require "hdd.sysfs.files"

-- A setting of a queue outlives the loop device that it was made for.
local function set(device, setting, value)
  shell.must(("echo %s > /sys/block/%s/queue/%s"):format(value, device.name, setting))
end

-- What hdd.core's Device says of a path.
local function target(path)
  local found = assert(lfs.attributes(path))
  local block = found.mode == "block device"
  local major, minor = files.number(block and found.rdev or found.dev):match("^(%d+):(%d+)$")
  return {
    path = path, real_path = path, kind = block and "block" or "file", size = found.size,
    major = math.tointeger(tonumber(major)), minor = math.tointeger(tonumber(minor)),
    logical_block_size = 512, physical_block_size = 4096,
  }
end

local function names(list)
  local found = {}
  for i, item in ipairs(list) do found[i] = item.name end
  return found
end

describe("the identity of a loop device", function()
  before_each(needs.loop)

  it("has its name, kind, size, block size and the file behind it", function()
    local path = scratch.path("a 'b\" é") .. ".img"
    shell.must("head -c 1M /dev/urandom > " .. shell.quote(path))
    local device <close> = loop.attach(path, {block_size = 4096, buffered = true})
    local identity = sysfs.identity(device.name)
    assert.equal(device.name, identity.name)
    assert.equal("loop", identity.kind)
    assert.equal("loop", identity.transport)
    assert.equal(1 << 20, identity.size_bytes)
    assert.equal(4096, identity.logical_block_size_bytes)
    assert.equal(path, identity.backing_file)
    assert.is_nil(identity.parent)
    assert.same({}, identity.partitions)
    assert.same({}, identity.mounts)
  end)

  it("shows the rotational flag as the queue has it", function()
    local device <close> = loop.attach(scratch.file(1 << 20))
    local before = sysfs.identity(device.name).rotational
    for _, flag in ipairs {not before, before} do
      set(device, "rotational", flag and 1 or 0)
      assert.equal(flag, sysfs.identity(device.name).rotational)
    end
  end)

  it("names the scheduler in use among those there are", function()
    local device <close> = loop.attach(scratch.file(1 << 20))
    local before = sysfs.identity(device.name)
    local found = {}
    for i, name in ipairs(before.schedulers) do
      set(device, "scheduler", name)
      found[i] = sysfs.identity(device.name).scheduler
    end
    set(device, "scheduler", before.scheduler)
    assert.is_true(#found > 0)
    assert.same(before.schedulers, found)
  end)

  it("knows when the file behind it lies in memory", function()
    local device <close> = loop.attach(scratch.sparse(1 << 20), {buffered = true})
    assert.is_true(sysfs.identity(device.name).in_memory)
    assert.is_nil(sysfs.identity(device.name).serial)
  end)

  it("has no size and no medium when nothing is attached", function()
    local device = loop.attach(scratch.file(1 << 20))
    device:detach()
    local identity = sysfs.identity(device.name)
    assert.is_false(identity.medium)
    assert.is_nil(identity.size_bytes)
    assert.equal("loop", identity.kind)
  end)

  it("is listed among the disks only while something is attached", function()
    local device = loop.attach(scratch.file(1 << 20))
    local during = " " .. table.concat(sysfs.disks(), " ") .. " "
    device:detach()
    local after = " " .. table.concat(sysfs.disks(), " ") .. " "
    assert.truthy(during:find(" " .. device.name .. " ", 1, true))
    assert.falsy(after:find(" " .. device.name .. " ", 1, true))
  end)
end)

describe("the partitions of a loop device", function()
  local device, mounted

  before_each(function()
    needs.loop()
    device = loop.attach(scratch.file(32 << 20))
    shell.must(("addpart %s 2 24576 8192; addpart %s 1 2048 16384"):format(device.path, device.path))
  end)
  after_each(function()
    if mounted then shell.must("umount " .. shell.quote(mounted)) end
    mounted = nil
    shell.must(("delpart %s 1; delpart %s 2"):format(device.path, device.path))
    device:detach()
  end)

  it("are listed in their order on the disk, in bytes", function()
    assert.same({
      {name = device.name .. "p1", number = 1, start_bytes = 1 << 20, size_bytes = 8 << 20},
      {name = device.name .. "p2", number = 2, start_bytes = 12 << 20, size_bytes = 4 << 20},
    }, sysfs.identity(device.name).partitions)
  end)

  it("know their parent, whose name ends in a digit itself, and their place", function()
    local identity = sysfs.identity(target(device.path .. "p2"))
    assert.equal("partition", identity.kind)
    assert.equal(device.name .. "p2", identity.name)
    assert.equal(device.name, identity.parent)
    assert.equal(2, identity.partition_number)
    assert.equal(12 << 20, identity.start_bytes)
    assert.is_nil(identity.partitions)
    assert.equal(sysfs.identity(device.name).scheduler, identity.scheduler)
  end)

  it("show where they are mounted, and so does their disk", function()
    local part, folder = device.path .. "p1", scratch.path("my disk")
    shell.must(("mkfs.ext4 -q %s && mkdir %s && mount -o ro %s %s")
      :format(part, shell.quote(folder), part, shell.quote(folder)))
    mounted = folder
    local expected = {{device = device.name .. "p1", mount_point = folder, filesystem = "ext4",
                       read_only = true}}
    assert.same(expected, sysfs.identity(device.name).mounts)
    assert.same(expected, sysfs.identity(device.name .. "p1").mounts)
    assert.same({}, sysfs.identity(device.name .. "p2").mounts)
  end)

  it("show the loop devices that stand on them", function()
    local upper <close> = loop.attach(device.path .. "p2")
    local holders = sysfs.identity(device.name).holders
    assert.same({upper.name}, names(holders))
    assert.equal("loop", holders[1].use)
    assert.equal(device.name .. "p2", holders[1].on)
    assert.same({}, sysfs.identity(device.name .. "p1").holders)
  end)
end)

describe("the identity of this machine's block devices", function()
  it("agrees with lsblk", function()
    needs.program("lsblk", "util-linux")
    local listed = json.decode(shell.must(
      "lsblk -J -b --nodeps -o NAME,SIZE,RO,RM,ROTA,SCHED,LOG-SEC,PHY-SEC")).blockdevices
    local compared = 0
    for _, row in ipairs(listed) do
      local identity = sysfs.identity(row.name)
      if identity and identity.kind ~= "loop" then  -- those of others come and go meanwhile
        compared = compared + 1
        assert.same({row.size > 0 and row.size or nil, row.ro, row.rm, row.rota,
                     row.sched or identity.scheduler, row["log-sec"], row["phy-sec"]},
          {identity.size_bytes, identity.read_only, identity.removable, identity.rotational,
           identity.scheduler, identity.logical_block_size_bytes,
           identity.physical_block_size_bytes})
      end
    end
    if compared == 0 then pending("needs a block device") end
  end)

  it("is refused for a name that is none", function()
    local identity, message, code = sysfs.identity("sdzzzz")
    assert.is_nil(identity)
    assert.equal("identify sdzzzz: no such block device", message)
    assert.equal(2, code)
  end)
end)

describe("the identity of a file", function()
  it("has its file system, as findmnt names it", function()
    local path = scratch.file(4096)
    local identity = sysfs.identity(target(path))
    assert.equal("file", identity.kind)
    assert.equal(path:match("[^/]+$"), identity.name)
    assert.equal(4096, identity.size_bytes)
    local kind, point = shell.must("findmnt -n -o FSTYPE,TARGET -T " .. path):match("^(%S+)%s+(%S+)$")
    assert.equal(kind, identity.filesystem.type)
    assert.equal(point, identity.filesystem.mount_point)
    assert.is_nil(identity.mounts)
  end)

  it("on a mounted loop device names that device, and whose identity is told", function()
    needs.loop()
    local device <close> = loop.attach(scratch.file(32 << 20))
    local home <close> = place.new()
    local folder = home:path("mount")
    shell.must(("mkfs.ext4 -q %s && mkdir %s && mount %s %s && echo x > %s/file")
      :format(device.path, folder, device.path, folder, folder))
    home:note("mounts", folder)
    local identity, below = sysfs.identity(target(folder .. "/file")), sysfs.identity(device.name)
    assert.equal(device.name, identity.device)
    assert.is_false(identity.in_memory)
    assert.equal(below.serial, identity.serial)
    assert.equal(below.identity_of, identity.identity_of)
    assert.equal(below.scheduler, identity.scheduler)
  end)

  it("in memory is said to be there, and belongs to no drive", function()
    local identity = sysfs.identity(target(scratch.sparse(1 << 20)))
    assert.equal("tmpfs", identity.filesystem.type)
    assert.is_true(identity.in_memory)
    assert.is_nil(identity.device)
    assert.is_nil(identity.rotational)
    assert.is_nil(identity.identity_of)
  end)
end)

describe("a document's drive", function()
  it("is JSON with integers, and a table of its own", function()
    local identity = sysfs.identity(target(scratch.file(4096)))
    local document = sysfs.document(identity)
    assert.same(identity.filesystem, document.filesystem)
    assert.not_equal(identity.filesystem, document.filesystem)
    assert.is_nil(document.partitions)
    local back = json.decode((json.encode(document)))
    assert.equal("integer", math.type(back.size_bytes))
    assert.equal("integer", math.type(back.logical_block_size_bytes))
  end)
end)

describe("the document's drive of a loop device", function()
  it("names its partitions and what stands on it", function()
    needs.loop()
    local device <close> = loop.attach(scratch.file(4 << 20))
    local upper <close> = loop.attach(device.path)
    shell.must(("addpart %s 1 2048 2048"):format(device.path))
    local document = sysfs.document(sysfs.identity(device.name))
    shell.must(("delpart %s 1"):format(device.path))
    assert.equal(device.name .. "p1", document.partitions[1].name)
    assert.equal(upper.name, document.holders[1].name)
    assert.same({}, document.mounts)
  end)
end)

describe("two identities", function()
  local drive = {serial = "A", wwn = "0x5", model = "M", size_bytes = 512, name = "sdb"}

  it("are of one drive when all that both know is the same, whatever its name", function()
    assert.is_nil(sysfs.difference(drive, {serial = "A", model = "M", size_bytes = 512, name = "sdc"}))
  end)

  it("are of two drives when serial number, name or size differ", function()
    assert.equal("serial is B, was A", sysfs.difference(drive, {serial = "B", size_bytes = 512}))
    assert.equal("wwn is 0x6, was 0x5", sysfs.difference(drive, {serial = "A", wwn = "0x6"}))
    assert.equal("size_bytes is 1024, was 512", sysfs.difference(drive, {size_bytes = 1024}))
  end)
end)
