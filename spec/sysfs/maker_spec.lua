-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Who made a drive and how it is attached, from a copied sysfs: the recorded data of real drives,
-- and buses that neither this machine nor the drive lab has.
local files = require "hdd.sysfs.files"
local json = require "dkjson"
local maker = require "hdd.sysfs.maker"
local shell = require "spec.support.shell"
local sysfs = require "hdd.sysfs"
local tree = require "spec.support.tree"

local FIXTURES = "spec/fixtures/smart/"

local function recordings(kind)
  local list = {}
  for name in shell.must("ls " .. FIXTURES .. kind):gmatch("%S+") do
    local folder = FIXTURES .. kind .. "/" .. name .. "/"
    list[#list + 1] = {name = name, folder = folder,
                       expected = assert(json.decode(shell.read(folder .. "expected.json")))}
  end
  assert(#list > 3)
  return list
end

-- Runs `body` with the roots in a tree.
local function within(folder, body)
  local before = {}
  for name, path in pairs(files.roots) do
    before[name], files.roots[name] = path, folder.root .. path
  end
  local ok, problem = pcall(body)
  for name, path in pairs(before) do files.roots[name] = path end
  if not ok then error(problem, 0) end
end

-- A SCSI disk below `bus`, with what its device says of itself.
local function scsi_disk(folder, bus, name, number, says)
  local device = "devices/" .. bus .. "/target0:0:0/0:0:0:0"
  folder:block_device(device .. "/block/" .. name, number, {size = "1000\n", ["queue/rotational"] = "1\n"})
  folder:link("sys/" .. device .. "/block/" .. name .. "/device", "../../../0:0:0:0")
  says.scsi_level = "6\n"
  for file, bytes in pairs(says) do
    folder:write {["sys/" .. device .. "/" .. file] = bytes}
  end
end

local function page(number, body)
  return string.pack(">BBs2", 0, number, body)
end

describe("an ATA drive's IDENTIFY data", function()
  for _, recording in ipairs(recordings "ata") do
    it("of " .. recording.name .. " gives model, serial number, firmware and rotation rate", function()
      local expected = recording.expected
      local identify = shell.read(recording.folder .. "identify.bin")
      if not identify then return pending("the recording has none") end
      local made = maker.ata(identify)
      assert.equal(expected.model, made.model)
      assert.equal(expected.serial, made.serial)
      assert.equal(expected.firmware, made.firmware)
      local rate = expected.rotation_rpm
      if rate == json.null then rate = nil end
      assert.equal(rate, made.rotation_rate_rpm)
      assert.equal(expected.sata_version and expected.sata_version ~= json.null or false, made.serial_ata)
      if expected.wwn_naa and expected.wwn_naa ~= json.null then
        assert.equal(expected.wwn_naa << 24 | expected.wwn_oui, tonumber(made.wwn:sub(3, 9), 16))
      else
        assert.is_nil(made.wwn)
      end
    end)
  end

  it("in VPD page 89h replaces SCSI's shortened model and firmware", function()
    local recording = recordings("ata")[#recordings("ata")]
    local identify = shell.read(recording.folder .. "identify.bin")
    local folder = tree.new()
    scsi_disk(folder, "pci0000:00/0000:00:1f.2/ata3/host2", "sda", "8:0", {
      vendor = "ATA     ", model = recording.expected.model:sub(1, 16), rev = "XXXX",
      vpd_pg89 = page(0x89, ("\0"):rep(56) .. identify),
    })
    folder:write {["sys/devices/pci0000:00/0000:00:1f.2/ata3/link3/ata_link/link3/sata_spd"] = "6.0 Gbps\n"}
    within(folder, function()
      local identity = assert(sysfs.identity("sda"))
      assert.equal(recording.expected.model, identity.model)
      assert.equal(recording.expected.firmware, identity.firmware)
      assert.equal(recording.expected.serial, identity.serial)
      assert.is_nil(identity.vendor)
      assert.equal("sata", identity.transport)
      assert.equal(600000000, identity.link.bytes_per_s)
    end)
  end)

  it("comes from udev where the kernel has no such page", function()
    local folder = tree.new()
    scsi_disk(folder, "pci0000:00/0000:00:1f.2/ata3/host2", "sda", "8:0",
              {vendor = "ATA     ", model = "WDC WD6000HLHX-0", rev = "5G04"})
    folder:write {["run/udev/data/b8:0"] =
      "S:disk/by-id/ata-x\nE:ID_ATA=1\nE:ID_MODEL=WDC_WD6000HLHX-01JJPV0\n" ..
      "E:ID_MODEL_ENC=WDC\\x20WD6000HLHX-01JJPV0\\x20\\x20\\x20\nE:ID_REVISION=04.05G04\n" ..
      "E:ID_SERIAL=WDC_WD6000HLHX-01JJPV0_WD-WX21\nE:ID_SERIAL_SHORT=WD-WX21\n" ..
      "E:ID_WWN=0x50014ee0ac3b1122\nE:ID_WWN_WITH_EXTENSION=0x50014ee0ac3b1122\n"}
    within(folder, function()
      local identity = assert(sysfs.identity("sda"))
      assert.equal("WDC WD6000HLHX-01JJPV0", identity.model)
      assert.equal("WD-WX21", identity.serial)
      assert.equal("04.05G04", identity.firmware)
      assert.equal("0x50014ee0ac3b1122", identity.wwn)
      assert.is_nil(identity.rotation_rate_rpm)
    end)
  end)
end)

describe("a SAS drive", function()
  for _, recording in ipairs(recordings "scsi") do
    it("(" .. recording.name .. ") tells its identity in its VPD pages", function()
      local expected, folder = recording.expected, tree.new()
      local inquiry = shell.read(recording.folder .. "inquiry.bin")
      scsi_disk(folder, "pci0000:00/0000:00:03.0/host0/port-0:0/end_device-0:0", "sda", "8:0", {
        vendor = inquiry:sub(9, 16), model = inquiry:sub(17, 32), rev = inquiry:sub(33, 36),
        vpd_pg80 = shell.read(recording.folder .. "vpd_80.bin"),
        vpd_pg83 = shell.read(recording.folder .. "vpd_83.bin"),
        vpd_pgb1 = shell.read(recording.folder .. "vpd_b1.bin"),
      })
      folder:write {["sys/devices/pci0000:00/0000:00:03.0/host0/port-0:0/phy-0:0/sas_phy/phy-0:0/" ..
                     "negotiated_linkrate"] = "12.0 Gbit\n"}
      within(folder, function()
        local identity = assert(sysfs.identity("sda"))
        assert.equal(expected.vendor, identity.vendor)
        assert.equal(expected.product, identity.model)
        assert.equal(expected.revision, identity.firmware)
        assert.equal(expected.serial, identity.serial)
        assert.equal("0x" .. expected.logical_unit_id, identity.wwn)
        assert.equal(expected.rotation_rpm, identity.rotation_rate_rpm)
        assert.equal("sas", identity.transport)
        assert.equal(1200000000, identity.link.bytes_per_s)
      end)
    end)
  end

  it("whose pages are cut short or wrong tells nothing false", function()
    local folder = tree.new()
    scsi_disk(folder, "pci0000:00/host0", "sda", "8:0", {
      vendor = "X", model = "Y", rev = "Z", vpd_pg80 = "\0\x80",
      vpd_pg83 = string.pack(">BBI2", 0, 0x83, 200) .. "\1\3\0\8\x50", vpd_pgb1 = page(0xB0, "\x1C\x20"),
    })
    within(folder, function()
      local identity = assert(sysfs.identity("sda"))
      assert.is_nil(identity.serial)
      assert.is_nil(identity.wwn)
      assert.is_nil(identity.rotation_rate_rpm)
    end)
  end)
end)

describe("model and serial number of any bytes", function()
  it("are trimmed, and hold neither control bytes nor broken UTF-8", function()
    local folder = tree.new()
    scsi_disk(folder, "pci0000:00/host0", "sda", "8:0", {
      vendor = "  \0", model = 'MO"D,EL <b>\xE9\x01  ',
      vpd_pg80 = page(0x80, '\0\xFF AB\x1B[31m "'),
    })
    within(folder, function()
      local identity = assert(sysfs.identity("sda"))
      assert.is_nil(identity.vendor)
      assert.equal([[MO"D,EL <b>\xE9\x01]], identity.model)
      assert.equal([[\xFF AB\x1B[31m "]], identity.serial)
      assert.same(identity.model, json.decode(json.encode(sysfs.document(identity))).model)
    end)
  end)
end)

describe("an NVMe drive", function()
  it("of several paths has its subsystem's identity, and its hidden paths are not listed", function()
    local folder = tree.new()
    folder:block_device("devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "259:0",
                        {size = "1000\n", wwid = "eui.0025385b71b00e8f\n"})
    folder:link("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1/device", "../../nvme-subsys0")
    local subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys0/"
    folder:write {
      [subsystem .. "model"] = "Samsung SSD 970 EVO Plus 250GB          \n",
      [subsystem .. "serial"] = "FX8958927092        \n",
      [subsystem .. "firmware_rev"] = "1B2QEXM7\n",
    }
    folder:block_device("devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0c0n1", "259:1",
                        {size = "1000\n", hidden = "1\n"})
    within(folder, function()
      local identity = assert(sysfs.identity("nvme0n1"))
      assert.equal("Samsung SSD 970 EVO Plus 250GB", identity.model)
      assert.equal("FX8958927092", identity.serial)
      assert.equal("1B2QEXM7", identity.firmware)
      assert.equal("eui.0025385b71b00e8f", identity.wwn)
      assert.equal("nvme", identity.transport)
      assert.same({"nvme0n1"}, sysfs.disks())
    end)
  end)

  it("has the speed of its PCIe lanes without their line code", function()
    local folder = tree.new()
    folder:block_device("devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1", "259:0", {size = "1000\n"})
    folder:link("sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/device", "../../nvme0")
    folder:write {
      ["sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/transport"] = "pcie\n",
      ["sys/devices/pci0000:00/0000:01:00.0/current_link_speed"] = "8.0 GT/s PCIe\n",
      ["sys/devices/pci0000:00/0000:01:00.0/max_link_speed"] = "16.0 GT/s PCIe\n",
      ["sys/devices/pci0000:00/0000:01:00.0/current_link_width"] = "4\n",
    }
    within(folder, function()
      local link = assert(sysfs.identity("nvme0n1")).link
      assert.equal("8.0 GT/s PCIe", link.speed)
      assert.equal("16.0 GT/s PCIe", link.maximum_speed)
      assert.equal(4, link.lanes)
      assert.equal(3938461538, link.bytes_per_s)
    end)
  end)
end)

describe("block devices on others", function()
  local folder

  before_each(function()
    folder = tree.new()
    local bus = "pci0000:00/0000:00:1f.2/ata1/host0"
    scsi_disk(folder, bus, "sda", "8:0", {vendor = "ATA", model = "A", vpd_pg80 = page(0x80, "SERIAL-A")})
    local block = "devices/" .. bus .. "/target0:0:0/0:0:0:0/block/sda"
    for i = 1, 2 do
      folder:block_device(block .. "/sda" .. i, "8:" .. i,
                          {partition = i .. "\n", start = 2048 * i .. "\n", size = "2048\n"})
    end
    folder:block_device("devices/virtual/block/dm-0", "254:0", {
      size = "2048\n", ["dm/name"] = "vg0-root1\n", ["dm/uuid"] = "LVM-abcdef\n"})
    folder:link("sys/" .. block .. "/sda2/holders/dm-0", "../../../../dm-0")
    folder:link("sys/devices/virtual/block/dm-0/slaves/sda2", "../../sda2")
    folder:block_device("devices/virtual/block/dm-1", "254:1", {
      size = "2048\n", ["dm/name"] = "secret\n", ["dm/uuid"] = "CRYPT-LUKS2-abc\n"})
    folder:link("sys/devices/virtual/block/dm-0/holders/dm-1", "../../dm-1")
    folder:link("sys/devices/virtual/block/dm-1/slaves/dm-0", "../../dm-0")
  end)

  it("are found through every level, and so are their mounts and the members of a btrfs", function()
    folder:link("sys/fs/btrfs/0e0e/devices/sda1", "../../../../class/block/sda1")
    folder:write {
      ["sys/fs/btrfs/0e0e/label"] = "pool\n",
      ["proc/self/mountinfo"] = "30 1 254:1 / /my\\040disk\\134 rw,relatime shared:1 - xfs /dev/x rw\n" ..
        "31 30 0:5 / /proc rw - proc proc rw\n32 30 254:1 /sub /bind ro,noatime - xfs /dev/x rw\n",
    }
    within(folder, function()
      local identity = assert(sysfs.identity("sda"))
      assert.same({
        {name = "dm-0", kind = "device-mapper", use = "LVM", label = "vg0-root1", on = "sda2"},
        {name = "dm-1", kind = "device-mapper", use = "crypt", label = "secret", on = "dm-0"},
        {name = "0e0e", kind = "filesystem", use = "btrfs", label = "pool", on = "sda1"},
      }, identity.holders)
      assert.same({
        {device = "dm-1", mount_point = "/my disk\\", filesystem = "xfs", read_only = false},
        {device = "dm-1", mount_point = "/bind", filesystem = "xfs", read_only = true},
      }, identity.mounts)
      assert.equal(2, #assert(sysfs.identity("sda2")).holders)
      assert.equal(1, #assert(sysfs.identity("sda1")).holders)
    end)
  end)

  it("have the identity of the one disk beneath, and say whose it is", function()
    within(folder, function()
      local identity = assert(sysfs.identity("dm-1"))
      assert.equal("SERIAL-A", identity.serial)
      assert.equal("sda", identity.identity_of)
      assert.equal("secret", identity.label)
      assert.equal("device-mapper", identity.transport)
      local part = assert(sysfs.identity("sda2"))
      assert.equal("sda", part.identity_of)
      assert.equal("sda", part.parent)
      assert.equal("SERIAL-A", part.serial)
      assert.is_nil(assert(sysfs.identity("sda")).identity_of)
    end)
  end)

  it("that are several disks have nobody's identity, but name them", function()
    scsi_disk(folder, "pci0000:00/0000:00:1f.2/ata2/host1", "sdb", "8:16", {vendor = "ATA", model = "B"})
    folder:block_device("devices/virtual/block/md127", "9:127", {size = "2048\n", ["md/level"] = "raid1\n"})
    folder:link("sys/devices/virtual/block/md127/slaves/sda1", "../../sda1")
    folder:link("sys/devices/virtual/block/md127/slaves/sdb", "../../sdb")
    within(folder, function()
      local identity = assert(sysfs.identity("md127"))
      assert.equal("md", identity.kind)
      assert.same({"sda", "sdb"}, identity.disks)
      assert.is_nil(identity.identity_of)
      assert.is_nil(identity.model)
      assert.is_nil(identity.serial)
    end)
  end)
end)

describe("a list of disks", function()
  it("is in natural order, with the slash of some drivers' names", function()
    local folder = tree.new()
    for i, name in ipairs {"sda", "sdaa", "sdb", "nvme10n1", "nvme2n1", "cciss!c0d0"} do
      folder:block_device("devices/virtual/block/" .. name, "240:" .. i, {size = "8\n"})
    end
    folder:block_device("devices/virtual/block/loop0", "7:0", {size = "0\n"})
    within(folder, function()
      local list = sysfs.disks()
      table.sort(list)
      assert.same({"cciss/c0d0", "nvme10n1", "nvme2n1", "sda", "sdaa", "sdb"}, list)
      local order = table.concat(sysfs.disks(), " ")
      assert.truthy(order:find("nvme2n1 nvme10n1", 1, true))
      assert.truthy(order:find("sda sdb sdaa", 1, true))
      assert.equal("/dev/cciss/c0d0", sysfs.identity("cciss/c0d0").path)
    end)
  end)
end)
