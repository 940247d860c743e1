-- Opening drives, loop devices, files and what is none of them.
-- SPDX-License-Identifier: GPL-3.0-or-later
local core = require "hdd.core"
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local process = require "spec.support.process"
local raises = require "spec.support.raises"
local reads = require "spec.support.reads"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local path = scratch.file(64 << 10)

-- What hdd.open refuses, in the pieces that it returns.
local function refused(target, options)
  local drive, message, code = hdd.open(target, options)
  assert.is_nil(drive)
  assert.is_string(message)
  return message, code
end

local function descriptors(target)
  local n = 0
  for line in io.popen("ls -l /proc/$PPID/fd"):lines() do
    if line:find(target, 1, true) then n = n + 1 end
  end
  return n
end

describe("a drive #core", function()
  it("that is a file has its length in whole logical blocks", function()
    local drive <close> = assert(hdd.open(path))
    assert.equal(64 << 10, drive.size)
    assert.equal(512, drive.logical_block_size)
    assert.equal(path, drive.path)
    assert.equal("file", drive.type)
    assert.equal("file", drive.kind)
    assert.is_true(drive.direct)
    local odd = scratch.file(1000 + 512)
    local shorter <close> = assert(hdd.open(odd))
    assert.equal(1024, shorter.size)
    local whole <close> = assert(hdd.open(odd, {buffered = true}))
    assert.equal(1512, whole.size)
    assert.equal(1512, whole:run({block_size = 1000}).bytes)
  end)

  it("is found through links, and says both paths", function()
    local home <close> = place.new()
    for _, name in ipairs {"usb-X_Y-0:0", "my disk", "a'b", "disk-é"} do
      local link = home.folder .. "/" .. name
      shell.must("ln -s " .. shell.quote(path) .. " " .. shell.quote(link))
      local drive <close> = assert(hdd.open(link))
      assert.equal(link, drive.path)
      assert.equal(path, drive.real_path)
      assert.equal(64 << 10, drive.size)
    end
  end)

  it("can be given a smaller size", function()
    local drive <close> = assert(hdd.open(path, {size = 10000}))
    assert.equal(9728, drive.size)
    assert.equal(9728, drive:run({}).bytes)
    raises("device_spec.lua:%d+: option 'size': 65537: must be from 512 to 65536 bytes", function()
      local _ = hdd.open(path, {size = 65537})
    end)
    raises("option 'size': 100: must be from 512", hdd.open, path, {size = 100})
  end)

  it("that is a character device needs a size", function()
    local message, code = refused("/dev/zero")
    assert.equal("/dev/zero: is a character device: it has no size of its own, so give one (size)", message)
    assert.equal(15, code) -- ENOTBLK
    local drive <close> = assert(hdd.open("/dev/zero", {size = 1 << 50}))
    assert.equal(1 << 50, drive.size)
    assert.equal("character", drive.type)
    assert.same({}, drive:run({ios = 1}).warnings)
  end)

  it("is refused, by its name and kind, when it is none", function()
    local home <close> = place.new()
    local fifo = home:path("fifo")
    shell.must("mkfifo " .. fifo)
    local message, code = refused(fifo) -- and does not wait for a writer
    assert.equal(fifo .. ": is a FIFO: give a drive, a partition or a file", message)
    assert.equal(15, code)
    message, code = refused(home.folder)
    assert.equal(home.folder .. ": is a directory: give a drive, a partition or a file", message)
    assert.equal(21, code)
    local empty = home:path("empty")
    shell.must(": > " .. empty)
    message = refused(empty)
    assert.equal(empty .. ": the file is empty: nothing to read", message)
    shell.must("printf x > " .. empty)
    message = refused(empty)
    assert.equal(empty .. ": the file is smaller than a logical block of 512 bytes", message)
  end)

  it("is refused when it is not there, or the link to it leads nowhere", function()
    local message, code = refused("/no/such/drive")
    assert.equal("/no/such/drive: No such file or directory", message)
    assert.equal(2, code)
    local home <close> = place.new()
    local link = home:path("link")
    shell.must("ln -s nowhere " .. link)
    message, code = refused(link)
    assert.equal(link .. ": No such file or directory", message)
    assert.equal(2, code)
  end)

  it("is refused for misuse, with the argument's name", function()
    raises("string expected", hdd.open)
    raises("options: x: must be a table", hdd.open, path, "x")
    raises("unknown option 'bufered' %(there are: size, buffered, write%)", hdd.open, path, {bufered = true})
    raises("option 'buffered': 1: must be true or false", hdd.open, path, {buffered = 1})
    for _, wrong in ipairs {0, -1, 1.5, "big", {}} do
      raises("option 'size': .*: must be a whole number from 1", hdd.open, path, {size = wrong})
    end
  end)

  it("that is closed answers no more, and closing it again is harmless", function()
    local drive = assert(hdd.open(path))
    assert.equal("device " .. path, tostring(drive))
    drive:close()
    drive:close()
    assert.equal("device (closed)", tostring(drive))
    assert.same({n = 3, nil, "closed", 9}, table.pack(drive:run {ios = 1}))
    assert.same({n = 3, nil, "closed", 9}, table.pack(drive:start {ios = 1}))
    assert.same({n = 3, nil, "closed", 9}, table.pack(drive:queue {}))
    assert.equal(path, drive.path) -- what it was is still known
    assert.equal(64 << 10, drive.size)
  end)

  it("has one descriptor while it is open, and none when it is closed, collected or out of scope", function()
    assert.equal(0, descriptors(path))
    local drive = assert(hdd.open(path))
    assert.equal(1, descriptors(path))
    drive:close()
    assert.equal(0, descriptors(path))
    do
      local scoped <close> = assert(hdd.open(path))
      assert.equal(1, descriptors(scoped.path))
    end
    assert.equal(0, descriptors(path))
    assert(hdd.open(path))
    collectgarbage()
    collectgarbage()
    assert.equal(0, descriptors(path))
  end)

  it("gives its descriptor back with the last completion, not with the job's last reference", function()
    local drive = assert(hdd.open(path))
    local job = assert(drive:start {pattern = "random", ios = 50})
    job:wait()
    drive:close()
    assert.equal(0, descriptors(path))
    local running = assert(hdd.open(path))
    local endless = assert(running:start {pattern = "random", runtime = math.huge})
    running:close()
    endless:wait()
    assert.equal(0, descriptors(path))
    assert.equal("job on " .. path .. " (finished)", tostring(job))
    assert.equal(50, job:result().ios)
  end)

  it("is opened for reading alone, and no program that we start inherits it", function()
    local drive <close> = assert(hdd.open(path))
    local fd = shell.run("ls -l /proc/$PPID/fd") -- of the shell's parent: us
    local number = fd:match("(%d+) %-> " .. path:gsub("%p", "%%%0"))
    local flags = tonumber(shell.must("awk '/flags/ {print $2}' /proc/$PPID/fdinfo/" .. number), 8)
    assert.equal(0, flags & 3) -- O_RDONLY
    assert.is_true(flags & tonumber("02000000", 8) ~= 0) -- O_CLOEXEC
    assert.is_true(flags & tonumber("040000", 8) ~= 0) -- O_DIRECT
    assert.equal(drive.direct, true)
  end)

  it("has integers for its sizes and numbers", function()
    local drive <close> = assert(hdd.open(path))
    for _, key in ipairs {"size", "logical_block_size", "physical_block_size", "major", "minor"} do
      assert.equal("integer", math.type(drive[key]), key)
    end
  end)
end)

describe("a drive", function()
  it("that an ordinary user may not read is refused with the way out", function()
    needs.nobody()
    local home <close> = place.new()
    local mine = home:path("mine")
    shell.must("chmod 755 " .. home.folder .. " && head -c 4096 /dev/zero > " .. mine .. " && chmod 600 " .. mine)
    local run = process.hddlua({"-e", ("print(require 'hdd'.open(%q))"):format(mine)}, {user = "nobody"})
    assert.equal(mine .. ": Permission denied: run as root, or join the group that may read it (disk)",
      run.stdout:match("^nil\t(.*)\t13\n$"), run.stderr)
  end)

  it("that is a loop device has the kernel's size and block sizes", function()
    needs.loop()
    local image = scratch.file((1 << 20) + 3 * 512)
    local small <close> = loop.attach(image)
    local drive <close> = assert(hdd.open(small.path))
    assert.equal((1 << 20) + 3 * 512, drive.size)
    assert.equal(512, drive.logical_block_size)
    assert.equal("block", drive.type)
    assert.equal("loop", drive.kind)
    assert.equal(7, drive.major)
    assert.equal(small.name, drive.name)
    local big <close> = loop.attach(path, {block_size = 4096})
    local drive4k <close> = assert(hdd.open(big.path))
    assert.equal(4096, drive4k.logical_block_size)
    assert.equal(4096, drive4k.physical_block_size)
    assert.equal(64 << 10, drive4k.size)
    local partial <close> = assert(hdd.open(big.path, {size = 9000}))
    assert.equal(8192, partial.size)
  end)

  it("with nothing attached is without a medium", function()
    needs.loop()
    local free = shell.must("losetup -f")
    local message, code = refused(free)
    assert.equal(free .. ": no medium: nothing to read (size 0)", message)
    assert.equal(123, code) -- ENOMEDIUM
  end)

  it("of a size that is no multiple of the block is covered once, to its last sector", function()
    needs.loop()
    local image = scratch.file((4 << 20) + 3 * 512)
    local device <close> = loop.attach(image)
    local drive <close> = assert(hdd.open(device.path))
    for _, depth in ipairs {1, 8} do
      local offsets, result = reads.offsets(drive, {block_size = 1 << 20, depth = depth})
      table.sort(offsets)
      assert.same({0, 1 << 20, 2 << 20, 3 << 20, 4 << 20}, offsets)
      assert.equal(drive.size, result.bytes)
      assert.equal(0, result.errors)
      assert.equal(0, result.short_reads)
      assert.equal("pattern", result.stopped_by)
    end
  end)

  it("on a file system without direct I/O is refused, unless buffered reads are asked for", function()
    needs.fuse()
    local disk <close> = faultfs.mount {size = 1 << 20, no_direct = true}
    local message, code = refused(disk.path)
    assert.equal(disk.path .. ": direct I/O is refused by this file system; buffered reads measure the " ..
      "page cache too and must be asked for (buffered = true, --buffered)", message)
    assert.equal(22, code)
    local drive <close> = assert(hdd.open(disk.path, {buffered = true}))
    assert.is_false(drive.direct)
    local result = assert(drive:run {ios = 4})
    assert.equal(4, result.ios)
    assert.matches("page cache", result.warnings[1])
    local q <close> = assert(drive:queue {})
    assert.matches("page cache", assert(q:each(function(slot) slot:read(0) end)).warnings[1])
  end)

  it("in memory is known as such", function()
    local sparse <close> = assert(hdd.open(scratch.sparse(1 << 30)))
    assert.is_true(sparse.in_memory)
  end)

  it("of 40 TB is read to its last sector, without a wrap anywhere", function()
    needs.loop()
    local size <const> = 40 << 40
    local device <close> = loop.attach(scratch.sparse(size), {buffered = true})
    local drive <close> = assert(hdd.open(device.path))
    assert.equal(size, drive.size)
    local last <close> = assert(drive:queue {block_size = 512})
    assert(last:each(function(slot) assert(slot:read(size - 512)) end))
    -- Across LBA 2^31 and 2^32, and at the very end.
    for _, start in ipairs {(1 << 31) * 512 - 8192, (1 << 32) * 512 - 8192, size - 16384} do
      local expected = {start, start + 4096, start + 8192, start + 12288}
      assert.same(expected, (reads.offsets(drive, {offset = start, length = 16384})))
    end
    assert.same({size - 512, 0, 1 << 45}, (reads.offsets(drive, {pattern = {size - 512, 0, 1 << 45}})))
    local highest = 0
    for _, offset in ipairs((reads.offsets(drive, {pattern = "random", ios = 3000, depth = 8}))) do
      highest = math.max(highest, offset)
    end
    assert.is_true(highest > size // 1000 * 995 and highest < size)
    local zones = reads.offsets(drive, {pattern = "strided", zone_size = 4096, zone_skip = (1 << 40) - 4096})
    assert.equal(40, #zones)
    assert.equal(39 << 40, zones[40])
    local whole = assert(drive:start {block_size = 1 << 20, runtime = math.huge, offset = size - (3 << 20)})
    assert.equal(size - (1 << 20), whole:wait().series[1].position_bytes)
    assert.equal(size - (1 << 20), whole:progress().position_bytes)
  end)

  it("that has no name any more is still the one that was opened", function()
    local gone = scratch.file(64 << 10)
    local drive <close> = assert(hdd.open(gone))
    os.remove(gone)
    assert.equal(16, drive:run({}).ios)
    assert.is_nil(core.interrupt_pending())
  end)
end)
