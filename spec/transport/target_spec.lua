-- Where commands go, by what the kernel says of a device: on trees of files that look like sysfs.
-- SPDX-License-Identifier: GPL-3.0-or-later
local files = require "hdd.sysfs.files"
local lfs = require "lfs"
local needs = require "spec.support.needs"
local target = require "hdd.transport.target"
local tree = require "spec.support.tree"

-- A block device that every machine with loop devices has; the tree says what it is.
local NODE <const> = "/dev/loop0"

describe("a block device", function()
  local sys
  before_each(function() sys = files.roots.sys end)
  after_each(function() files.roots.sys = sys end)

  -- Makes the device one of this folder in sysfs.
  local function is(folder, entries)
    if lfs.attributes(NODE, "mode") ~= "block device" then needs.loop() end
    local made = tree.new()
    made:block_device(folder, files.block_number(NODE), entries)
    files.roots.sys = made.root .. "/sys"
    return made
  end

  it("that is a disk is asked itself", function()
    is("devices/pci0/ata1/host0/block/sdz")
    local found = assert(target.find(NODE, {}))
    assert.equal(NODE, found.path)
    assert.equal("sdz", found.name)
    assert.equal("scsi", found.as)
    assert.is_nil(found.of)
  end)

  it("that is an NVMe namespace is asked in its language, by its number", function()
    is("devices/pci0/nvme/nvme3/nvme3n2", {nsid = "2\n"})
    local found = assert(target.find(NODE, {}))
    assert.equal("nvme", found.as)
    assert.equal(2, found.nsid)
  end)

  it("that is a partition stands for its disk", function()
    local made = is("devices/pci0/ata1/host0/block/sdz/sdz2", {partition = "2\n"})
    made:block_device("devices/pci0/ata1/host0/block/sdz", "8:400")
    local found = assert(target.find(NODE, {}))
    assert.equal("/dev/sdz", found.path)
    assert.equal("sdz", found.of)
  end)

  it("that lies on several drives names them", function()
    local made = is("devices/virtual/block/md7", {["md/level"] = "raid1\n"})
    made:block_device("devices/pci0/ata1/block/sdx", "8:401")
    made:block_device("devices/pci0/ata2/block/sdy", "8:402")
    made:link("sys/devices/virtual/block/md7/slaves/sdx", "../../../../pci0/ata1/block/sdx")
    made:link("sys/devices/virtual/block/md7/slaves/sdy", "../../../../pci0/ata2/block/sdy")
    local found, message, code = target.find(NODE, {})
    assert.is_nil(found)
    assert.matches("lies on several drives, ask each: sdx, sdy", message, 1, true)
    assert.equal(25, code)
  end)

  it("that the kernel has put to sleep is not even opened, unless it may be woken", function()
    is("devices/pci0/ata1/host0/block/sdz", {["device/power/runtime_status"] = "suspended\n"})
    local found, message, code = target.find(NODE, {})
    assert.is_nil(found)
    assert.matches("the kernel has put the drive to sleep", message)
    assert.equal(11, code)
    assert.equal("sdz", assert(target.find(NODE, {wake = true})).name)
  end)

  it("that is an optical drive or memory is refused as that", function()
    is("devices/pci0/ata1/host0/block/sr0", {["device/type"] = "5\n"})
    local _, message = target.find(NODE, {})
    assert.matches("is an optical drive", message)
    is("devices/virtual/block/zram0")
    _, message = target.find(NODE, {})
    assert.matches("is memory", message)
  end)
end)

describe("a path that is to be taken as a drive", function()
  it("is taken so, whatever it is", function()
    assert.same({path = "/dev/null", name = "null", as = "nvme"}, target.find("/dev/null", {as = "nvme"}))
    assert.error_matches(function() target.find("/dev/null", {as = "floppy"}) end, "as = floppy")
  end)
end)
