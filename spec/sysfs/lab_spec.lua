-- SPDX-License-Identifier: GPL-3.0-or-later
-- The identity of real kernel devices on real buses: one run of the drive lab, in which partitions,
-- file systems, swap, device-mapper and md are set up, and the identities are printed as JSON.
local json = require "dkjson"
local lab = require "spec.support.lab"
local needs = require "spec.support.needs"

local DRIVES = {
  "ata,name=sata,model=WDC WD6000HLHX-01JJPV0 and more,ver=04.05G04,wwn=0x50014ee0ac3b1122," ..
    "rotation_rate=10000,size=256M",
  "pata,name=pata,rotation_rate=1",
  "scsi,name=scsi,vendor=SEAGATE,product=ST600MM0006,ver=B001,wwn=0x5000c50012345678," ..
    "rotation_rate=10500,sector=4096",
  "scsi,name=twin", "nvme,name=flash1", "usb,name=stick",
}

-- The SATA drive has partitions for a file system, swap and LVM; NVMe has one with a dm volume whose
-- name ends in a digit; scsi and twin are a RAID.
local SET_UP = [[
set -e
exec 3>&1 >&2
partition() {  # DRIVE SECTORS...
  lua5.4 - "$@" << 'END'
local at, entries = 2048, ""
for i = 2, 5 do
  local n = tonumber(arg[i] or 0)
  entries = entries .. string.pack("<BBBBBBBBI4I4", 0, 0, 0, 0, n > 0 and 131 or 0, 0, 0, 0, at, n)
  at = at + n
end
local disk <close> = assert(io.open(arg[1], "r+b"))
disk:seek("set", 446)
disk:write(entries, "\x55\xAA")
END
  blockdev --rereadpt "$1"
}
name() { basename "$(readlink "/dev/lab/$1")"; }
sata=$(name sata) flash=$(name flash1) scsi=$(name scsi) twin=$(name twin)
partition /dev/lab/sata 131072 65536 131072
partition /dev/lab/flash1 65536
mkdir "/run/my disk" /run/volume
mkfs.ext4 -q /dev/${sata}1
mount "/dev/${sata}1" "/run/my disk"
head -c 65536 /dev/urandom > "/run/my disk/file"
mkswap /dev/${sata}2 > /dev/null
swapon /dev/${sata}2
dmsetup create --uuid LVM-0123456789 vg0-data --table "0 65536 linear /dev/${sata}3 0"
dmsetup create --uuid CRYPT-LUKS2-0123 secret2 --table "0 65536 linear /dev/mapper/vg0-data 0"
mkfs.ext4 -q /dev/mapper/secret2
mount -o ro /dev/mapper/secret2 /run/volume
dmsetup create volume1 --table "0 65536 linear /dev/${flash}p1 0"
]] .. lab.RAID .. [[
LUA_PATH="lua/?.lua;lua/?/init.lua;;" lua5.4 -e '
  local json, lfs, sysfs = require "dkjson", require "lfs", require "hdd.sysfs"
  local files = require "hdd.sysfs.files"
  local found = {disks = sysfs.disks(), of = {}}
  for name in lfs.dir("/sys/class/block") do
    found.of[name] = sysfs.identity(name)
  end
  for name in lfs.dir("/dev/lab") do
    local target = lfs.symlinkattributes("/dev/lab/" .. name, "target") or ""
    found.of[name] = sysfs.identity(target:match("[^/]*$"))
  end
  local path = "/run/my disk/file"
  local major, minor = files.number(lfs.attributes(path, "dev")):match("(%d+):(%d+)")
  found.file = sysfs.identity {path = path, real_path = path, kind = "file", size = 65536,
    major = math.tointeger(tonumber(major)), minor = math.tointeger(tonumber(minor))}
  print(json.encode(found))' >&3
lsblk -J -b -l -o KNAME,SIZE,RO,RM,ROTA,SCHED,LOG-SEC,PHY-SEC,START >&3
]]

describe("in the drive lab #realtime", function()
  local found, listed

  setup(function()
    needs.lab()
    local result = lab.run(DRIVES, {"sh", "-c", SET_UP})
    assert(result.status == 0, result.stderr)
    local at
    found, at = json.decode(result.stdout)
    listed = assert(json.decode(result.stdout, at)).blockdevices
  end)

  local function identity(name)
    return assert(found.of[name], name)
  end

  local function one(list, field, value)
    local chosen
    for _, item in ipairs(list) do
      if item[field] == value then
        assert.is_nil(chosen)
        chosen = item
      end
    end
    return chosen
  end

  it("all devices agree with lsblk", function()
    assert.is_true(#listed > 10)
    for _, row in ipairs(listed) do
      local it = identity(row.kname)
      assert.same({row.kname, row.size, row.ro, row.rm, row.rota, row["log-sec"], row["phy-sec"],
                   row.start and row.start * 512},
        {it.name, it.size_bytes, it.read_only, it.removable, it.rotational,
         it.logical_block_size_bytes, it.physical_block_size_bytes, it.start_bytes})
      -- Of a device without a queue of requests lsblk says nothing, the kernel "none".
      assert.equal(row.sched or it.scheduler, it.scheduler)
    end
  end)

  it("a SATA drive tells its whole model, firmware, serial number, WWN and rotation rate", function()
    local it = identity "sata"
    assert.equal("WDC WD6000HLHX-01JJPV0 and more", it.model)
    assert.equal("04.05G04", it.firmware)
    assert.equal("sata", it.serial)
    assert.equal("0x50014ee0ac3b1122", it.wwn)
    assert.equal(10000, it.rotation_rate_rpm)
    assert.equal("sata", it.transport)
    assert.equal("ahci", it.controller)
    assert.equal("1.5 Gbps", it.link.speed)
    assert.equal(150000000, it.link.bytes_per_s)
    assert.equal(32, it.queue_depth_limit)
    assert.is_nil(it.vendor)
  end)

  it("a parallel ATA drive without a WWN is told apart, and says that nothing rotates", function()
    local it = identity "pata"
    assert.equal("ata", it.transport)
    assert.equal("pata", it.serial)
    assert.equal(0, it.rotation_rate_rpm)
    assert.is_nil(it.wwn)
    assert.is_nil(it.link)
  end)

  it("a SCSI drive of 4096-byte sectors has its vendor, model, WWN and rotation rate", function()
    local it = identity "scsi"
    assert.equal("SEAGATE", it.vendor)
    assert.equal("ST600MM0006", it.model)
    assert.equal("B001", it.firmware)
    assert.equal("scsi", it.serial)
    assert.equal("0x5000c50012345678", it.wwn)
    assert.equal(10500, it.rotation_rate_rpm)
    assert.equal("scsi", it.transport)
    assert.equal("virtio_scsi", it.controller)
    assert.equal(4096, it.logical_block_size_bytes)
  end)

  it("a USB drive has its bridge's serial number, and no vital product data", function()
    local it = identity "stick"
    assert.equal("usb", it.transport)
    assert.equal("usb-storage", it.controller)
    assert.equal("stick", it.serial)
    assert.equal(500000000, it.link.bytes_per_s)
    assert.is_nil(it.wwn)
    assert.is_nil(it.rotation_rate_rpm)
  end)

  it("an NVMe drive has its controller's identity, and its partition finds it", function()
    local disk = identity "flash1"
    assert.equal("QEMU NVMe Ctrl", disk.model)
    assert.equal("flash1", disk.serial)
    assert.equal("nvme", disk.transport)
    assert.equal("nvme", disk.controller)
    assert.is_nil(disk.wwn)
    local part = identity(disk.name .. "p1")
    assert.equal("partition", part.kind)
    assert.equal(disk.name, part.parent)
    assert.equal(1 << 20, part.start_bytes)
    assert.equal("flash1", part.serial)
    assert.equal(disk.name, part.identity_of)
  end)

  it("a device-mapper volume on one partition has the identity of that drive", function()
    local disk = identity "flash1"
    local holder = one(disk.holders, "label", "volume1")
    local volume = identity(holder.name)
    assert.equal("device-mapper", volume.kind)
    assert.equal("volume1", volume.label)
    assert.equal(disk.name, volume.identity_of)
    assert.equal("flash1", volume.serial)
    assert.is_nil(volume.parent)
  end)

  it("everything in use is found from the parent drive: file systems, swap, LVM, crypt", function()
    local it = identity "sata"
    assert.same({{device = it.name .. "2", path = "/dev/" .. it.name .. "2"}}, it.swaps)
    assert.equal(2, #it.holders)
    local lvm, crypt = one(it.holders, "use", "LVM"), one(it.holders, "use", "crypt")
    assert.equal("vg0-data", lvm.label)
    assert.equal(it.name .. "3", lvm.on)
    assert.equal("secret2", crypt.label)
    assert.equal(lvm.name, crypt.on)
    assert.same({device = it.name .. "1", mount_point = "/run/my disk", filesystem = "ext4",
                 read_only = false}, one(it.mounts, "mount_point", "/run/my disk"))
    assert.equal(crypt.name, one(it.mounts, "mount_point", "/run/volume").device)
    assert.same({}, identity(it.name .. "2").mounts)
    assert.equal(1, #identity(it.name .. "2").swaps)
    assert.same({}, identity("stick").mounts)
    assert.same({}, identity("stick").holders)
  end)

  it("a RAID of two drives names both and has the identity of neither", function()
    local it = identity "md7"
    local both = {identity("scsi").name, identity("twin").name}
    table.sort(both)
    assert.equal("md", it.kind)
    assert.same(both, it.disks)
    assert.is_nil(it.serial)
    assert.equal("raid0", it.label)
    assert.same({{name = "md7", kind = "md", use = "RAID", label = "raid0", on = identity("scsi").name}},
      identity("scsi").holders)
  end)

  it("a file on a partition is on the drive", function()
    local disk = identity "sata"
    assert.equal(disk.name .. "1", found.file.device)
    assert.equal("ext4", found.file.filesystem.type)
    assert.equal("/run/my disk", found.file.filesystem.mount_point)
    assert.is_false(found.file.in_memory)
    assert.equal(disk.name, found.file.identity_of)
    assert.equal("sata", found.file.serial)
  end)
end)
