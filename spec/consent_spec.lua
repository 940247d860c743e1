-- Every way to write to what is somebody's: each is really tried, and no byte may change. What needs
-- drives of other kinds, device-mapper and md is in spec/consent_lab_spec.lua.
-- SPDX-License-Identifier: GPL-3.0-or-later
local consent = require "hdd.consent"
local hdd = require "hdd"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local raises = require "spec.support.raises"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local M <const> = hdd.MiB
local SIZE <const> = 8 * M
local EPERM <const>, EBUSY <const>, EEXIST <const>, ENOTBLK <const>, ESTALE <const> = 1, 16, 17, 15, 116

-- A file in memory with content that no file system has.
local function file()
  local path = scratch.sparse(SIZE)
  local stream <close> = assert(io.open(path, "r+b"))
  for i = 0, SIZE // M - 1 do
    stream:seek("set", i * M + 512 * i)
    assert(stream:write(("hddlua%10d"):format(i):rep(64)))
  end
  return path
end

local function content(path)
  local stream <close> = assert(io.open(path, "rb"))
  return stream:read("a")
end

-- Tries to write to a path as hard as a script can, and answers why that failed.
local function refusal(path, write)
  local drive <close>, message, code = hdd.open(path, {write = write})
  if not drive then return message, code end
  local result
  result, message, code = drive:run {operation = "write", block_size = 64 * 1024}
  assert.is_nil(result, "it was written to")
  return message, code
end

-- Nothing of `file` changes while somebody tries to write to `path`.
local function refuses(path, backing, write, code, pattern)
  local before = content(backing)
  local message, found = refusal(path, write)
  assert.is_string(message)
  assert.equal(code, found, message)
  assert.matches(pattern, message)
  assert.is_true(before == content(backing), "it has changed")
end

local function named(path)
  return {serial = consent.name(path), overwrite_data = true}
end

-- Undone when the spec ends, in whatever way. Read-only: else ext4 itself writes when it likes.
local function mounted(device)
  local home = place.new()
  local folder = home:path("mount")
  shell.must("mkdir " .. folder .. " && mount -o ro " .. device .. " " .. folder)
  home:note("mounts", folder)
  return home, folder
end

local function with_partition(path)
  local stream <close> = assert(io.open(path, "r+b"))
  stream:seek("set", 446)
  stream:write(string.pack("<BBBBBBBBI4I4", 0, 0, 0, 0, 131, 0, 0, 0, 2048, 8192), ("\0"):rep(48), "\x55\xAA")
end

describe("writing is refused", function()
  it("without consent: the way is not even opened for it", function()
    local path = file()
    local drive <close> = assert(hdd.open(path))
    local before = content(path)
    local result, message, code = drive:run {operation = "write"}
    assert.is_nil(result)
    assert.equal(9, code)
    assert.matches("not opened for writing", message)
    assert.is_true(before == content(path))
  end)

  it("without the serial number, and with another's", function()
    local path = file()
    refuses(path, path, {}, EPERM, "needs its serial number, which is sparse")
    refuses(path, path, {serial = "WD-OTHER"}, EPERM, "its serial number is sparse, not WD%-OTHER")
    refuses(path, path, {serial = ""}, EPERM, "not  as was said")
    raises("unknown key 'force'", hdd.open, path, {write = {force = true}})
    raises("must be a table", hdd.open, path, {write = true})
  end)

  it("to a loop device by the serial number of the disk that its file is on", function()
    needs.loop()
    local path = file()
    local device <close> = loop.attach(path)
    local below = hdd.open(path).serial or "none"
    refuses(device.path, path, {serial = below}, EPERM, "its serial number is " .. device.name)
  end)

  it("to a mounted file system, by its device, a link to it, another node of it, and its file", function()
    needs.loop()
    local path = file()
    shell.must("mkfs.ext4 -q " .. path)
    local device <close> = loop.attach(path)
    local home <close> = mounted(device.path)
    shell.must("sync")
    refuses(device.path, path, named(device.path), EBUSY, "is mounted at ")
    local link = home:path("by-id")
    shell.must(("ln -s %s %s"):format(device.path, link))
    refuses(link, path, named(device.path), EBUSY, "is mounted at ")
    local node = home:path("node")
    shell.must(("mknod %s b $(stat -c '0x%%t 0x%%T' %s)"):format(node, device.path))
    local before = content(path)
    local message = refusal(node, named(device.path)) -- where nodes are not allowed, not even opened
    assert.is_string(message)
    assert.is_true(before == content(path))
    refuses(path, path, named(path), EBUSY, device.name .. " stands on it")
    local second <close> = loop.attach(path)
    refuses(second.path, path, named(second.path), EBUSY, device.name .. " stands on " .. second.name)
    local above <close> = loop.attach(device.path)
    refuses(above.path, path, named(above.path), EBUSY, "is mounted at ")
  end)

  it("to a disk of which a partition is mounted, and to that partition", function()
    needs.loop()
    local path = file()
    with_partition(path)
    local device <close> = loop.attach(path, {partitions = true})
    local part = device.path .. "p1"
    if select(2, shell.run("test -b " .. part)) ~= 0 then
      pending("needs a kernel that finds partitions on loop devices")
      return
    end
    shell.must("mkfs.ext4 -q " .. part)
    local home <close> = mounted(part)
    shell.must("sync")
    refuses(device.path, path, named(device.path), EBUSY, "p1 is mounted at ")
    refuses(part, path, named(part), EBUSY, "p1 is mounted at ")
    assert.is_table(home)
  end)

  it("to swap", function()
    needs.loop()
    local path = file()
    local device <close> = loop.attach(path)
    shell.must("mkswap " .. device.path)
    if select(2, shell.run("swapon " .. device.path)) ~= 0 then
      pending("needs the right to swap")
      return
    end
    local message, code = refusal(device.path, named(device.path))
    shell.must("swapoff " .. device.path)
    assert.equal(EBUSY, code)
    assert.matches("is swapped to", message)
    refuses(device.path, path, {serial = device.name}, EEXIST, "swap")
  end)

  it("to what holds a file system or a partition table, unless that is given up", function()
    needs.loop()
    local path = file()
    shell.must("mkfs.ext4 -q -L photos " .. path)
    refuses(path, path, {serial = consent.name(path)}, EEXIST, 'ext4 "photos" at byte 1080')
    local device <close> = loop.attach(path)
    refuses(device.path, path, {serial = device.name}, EEXIST, 'ext4 "photos"')
    local other = file()
    with_partition(other)
    refuses(other, other, {serial = consent.name(other)}, EEXIST, "dos at byte 510")
    local found = assert(consent.check(other, named(other)))
    assert.equal("partition table", found.signatures[1].usage)
    local drive <close> = assert(hdd.open(device.path, {write = named(device.path)}))
    assert.equal(SIZE, assert(drive:run {operation = "write", block_size = M}).bytes)
  end)

  it("to a read-only device", function()
    needs.loop()
    local path = file()
    local device <close> = loop.attach(path, {read_only = true})
    refuses(device.path, path, named(device.path), 30, "read%-only")
  end)

  it("to the disk under /", function()
    local tree = require "hdd.sysfs.tree"
    local number = require("hdd.sysfs.files").filesystem_number("/")
    local disk = tree.by_number(number)
    if not disk then
      pending("needs a / that is on a disk")
      return
    end
    local message, code = refusal("/dev/" .. disk.disk.name, named("/dev/" .. disk.disk.name))
    assert.is_string(message)
    assert.is_true(code == EBUSY or code == EPERM or code == 13 or code == 6, message)
  end)

  it("to a character device, a folder and a FIFO", function()
    for path, wanted in pairs {["/dev/zero"] = ENOTBLK, ["/tmp"] = 21} do
      local drive, message, code = hdd.open(path, {write = {serial = "zero"}, size = M})
      assert.is_nil(drive)
      assert.equal(wanted, code, message)
    end
  end)

  it("to a second writer, as long as the first has it", function()
    needs.loop()
    local path = file()
    local device <close> = loop.attach(path)
    for _, target in ipairs {device.path, path} do
      local write = named(target)
      if target == path then device:detach() end
      do
        local first <close> = assert(hdd.open(target, {write = write}))
        assert.is_true(first.writable)
        local second, message, code = hdd.open(target, {write = write})
        assert.is_nil(second)
        assert.equal(EBUSY, code)
        assert.matches("in use", message)
        local status = select(2, shell.run("mount " .. target .. " /mnt"))
        assert.not_equal(0, status)
      end
      local third <close> = assert(hdd.open(target, {write = write}))
      assert.is_true(third.writable)
    end
  end)

  it("when the name leads to another drive by then", function()
    local ours, theirs = file(), file()
    local home <close> = place.new()
    local link = home:path("drive")
    shell.must(("ln -s %s %s"):format(ours, link))
    local drive <close> = assert(hdd.open(link, {write = {serial = "sparse"}}))
    local before, other = content(ours), content(theirs)
    shell.must(("ln -sfn %s %s && rm %s && cp %s %s"):format(theirs, link, ours, theirs, ours))
    local result, message, code = drive:run {operation = "write"}
    assert.is_nil(result)
    assert.equal(ESTALE, code)
    assert.matches("another file at its path", message)
    assert.is_true(other == content(theirs))
    assert.is_true(#before == #content(ours))
  end)

  it("when it came into use between the opening and the first write", function()
    needs.loop()
    local path = file()
    local drive <close> = assert(hdd.open(path, {write = named(path)}))
    local before = content(path)
    local device <close> = loop.attach(path)
    local result, message, code = drive:run {operation = "write"}
    assert.is_nil(result)
    assert.equal(EBUSY, code)
    assert.matches(device.name .. " stands on it", message)
    assert.is_true(before == content(path))
  end)

  it("when a file system was made on it between the opening and the first write", function()
    local path = file()
    local drive <close> = assert(hdd.open(path, {write = {serial = consent.name(path)}}))
    shell.must("mkfs.ext4 -q " .. path)
    local before = content(path)
    local result, _, code = drive:run {operation = "write"}
    assert.is_nil(result)
    assert.equal(EEXIST, code)
    assert.is_true(before == content(path))
  end)
end)

describe("with consent", function()
  it("a loop device is written to, and only its own bytes", function()
    needs.loop()
    local path = file()
    local device <close> = loop.attach(path)
    local found = assert(consent.check(device.path, {serial = device.name}))
    assert.same({}, found.signatures)
    assert.equal(device.name, found.identity.name)
    local drive <close> = assert(hdd.open(device.path, {write = {serial = device.name}}))
    local before = content(path)
    assert(drive:run {operation = "write", offset = 4 * M, length = M, block_size = M})
    local after = content(path)
    assert.equal("hddstamp", after:sub(4 * M + 1, 4 * M + 8))
    assert.is_true(before:sub(1, 4 * M) == after:sub(1, 4 * M))
    assert.is_true(before:sub(5 * M + 1) == after:sub(5 * M + 1))
  end)

  it("beyond 16 TiB and 2^32 blocks every byte goes to its own place", function()
    needs.loop()
    local size <const> = 40 << 40
    local path = scratch.sparse(size)
    local device <close> = loop.attach(path)
    local drive <close> = assert(hdd.open(device.path, {write = {serial = device.name}}))
    assert.equal(size, drive.size)
    local places = {0, 2 << 40, (2 << 40) - 512, 16 << 40, (16 << 40) + 512, size - 512}
    local stamp = {pass = 0xffffffff, seed = -1}
    local written = assert(drive:run {operation = "write", stamp = stamp, pattern = places, block_size = 512})
    assert.equal(#places, written.ios)
    local verified = assert(drive:run {operation = "verify", stamp = stamp, pattern = places, block_size = 512})
    assert.equal(0, verified.mismatch_blocks.total)
    local wrong = assert(drive:run {operation = "verify", stamp = {}, pattern = {size - 512}, block_size = 512})
    local run = wrong.mismatches[1]
    assert.equal("lost write", run.kind)
    assert.equal(size // 512 - 1, run.found.lba)
    assert.equal(0xffffffff, run.found.pass)
    assert.equal(-1, run.found.seed)
    assert.equal(size - 512, run.offset_bytes)
    local last = assert(drive:run {operation = "write", offset = size - 4 * M, block_size = M, flush_bytes = M})
    assert.equal(size, last.durable_to_bytes)
    assert.equal(4, last.flushes)
  end)
end)
