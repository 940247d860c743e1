-- The routes to what is in use that need real buses, device-mapper, md and bcache: one run of the drive
-- lab, in which each is tried and no byte of a drive may change.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local json = require "dkjson"
local lab = require "spec.support.lab"
local needs = require "spec.support.needs"
local process = require "spec.support.process"

local DRIVES <const> = {
  "ata,name=sata,serial=WD-TRUSTED,size=48M", "scsi,name=scsi,serial=RAID0,size=48M",
  "scsi,name=twin,serial=RAID1,size=48M", "nvme,name=flash,serial=NVME7,size=16M", "usb,name=stick,size=16M",
}

-- sata: partitions that are mounted, swap, and a volume of LVM's name; scsi and twin: a RAID.
local SET_UP <const> = [[
set -e
exec 3>&1 >&2
lua5.4 - << 'END'
local at, entries = 2048, ""
for _, n in ipairs {32768, 32768, 16384, 8192} do
  entries = entries .. string.pack("<BBBBBBBBI4I4", 0, 0, 0, 0, 131, 0, 0, 0, at, n)
  at = at + n
end
local disk <close> = assert(io.open("/dev/lab/sata", "r+b"))
disk:seek("set", 446)
disk:write(entries, "\x55\xAA")
END
blockdev --rereadpt /dev/lab/sata
name() { basename "$(readlink "/dev/lab/$1")"; }
sata=$(name sata) scsi=$(name scsi) twin=$(name twin) flash=$(name flash)
mkdir -p /run/mounted /dev/disk/by-id
ln -s ../../$sata /dev/disk/by-id/ata-WD-TRUSTED
mkfs.ext4 -q /dev/${sata}1
mount -o noatime /dev/${sata}1 /run/mounted
mkswap /dev/${sata}2 > /dev/null
swapon /dev/${sata}2
dmsetup create --uuid LVM-0123456789 vg0-data --table "0 16384 linear /dev/${sata}3 0"
test -e /dev/mapper/vg0-data || dmsetup mknodes
dmsetup create swapped --table "0 16384 linear /dev/$flash 0"
]] .. lab.RAID .. [[
sync
exec INTERPRETER CHUNK $sata $scsi $twin $flash >&3
]]

local CHUNK <const> = [[
local consent, hdd, json = require "hdd.consent", require "hdd", require "dkjson"
local sata, scsi, twin, flash = table.unpack(arg)
local function run(command)
  local pipe <close> = assert(io.popen(command .. " 2>&1"))
  return pipe:read("a")
end
-- Past the page cache: a disk's and its partitions' know nothing of one another.
local function sums()
  run("sync")
  local list = {}
  for i, name in ipairs(arg) do
    list[i] = name .. " " .. run(("dd if=/dev/%s iflag=direct bs=1M status=none | md5sum"):format(name))
  end
  return table.concat(list)
end
local before, routes = sums(), {}
local function try(route, path, write, between)
  local drive <close>, message, code = hdd.open(path, {write = write or
    {serial = consent.name(path), overwrite_data = true}})
  local wrote
  if drive then
    if between then between() end
    wrote, message, code = drive:run {operation = "write", block_size = 4096}
  end
  routes[#routes + 1] = {route = route, written = wrote ~= nil, message = message, code = code}
end
try("disk with a mounted partition", "/dev/" .. sata)
try("its link in by-id", "/dev/disk/by-id/ata-WD-TRUSTED")
try("mounted partition", "/dev/" .. sata .. "1")
try("swap", "/dev/" .. sata .. "2")
try("partition under a volume", "/dev/" .. sata .. "3")
try("member of a RAID", "/dev/" .. scsi)
try("the other member", "/dev/" .. twin)
try("disk under a device-mapper volume", "/dev/" .. flash)
run("umount /run/mounted; swapoff /dev/" .. sata .. "2")
before = sums()
try("disk with a partition under a volume", "/dev/" .. sata)
run("dmsetup remove vg0-data")
try("partition table", "/dev/" .. sata, {serial = "WD-TRUSTED"})
try("wrong serial number", "/dev/" .. sata, {serial = "WD-TRUSTEE", overwrite_data = true})
try("no serial number", "/dev/" .. sata, {overwrite_data = true})
run("blockdev --setro /dev/" .. sata)
try("read-only", "/dev/" .. sata)
run("blockdev --setrw /dev/" .. sata)
try("volume whose disk was swapped before the first write", "/dev/mapper/swapped", nil, function()
  run("dmsetup suspend swapped")
  run(("dmsetup reload swapped --table '0 16384 linear /dev/%s3 0'"):format(sata))
  run("dmsetup resume swapped")
end)
run("dmsetup remove swapped")
do
  local first <close> = assert(hdd.open("/dev/" .. flash, {write = {serial = "NVME7"}}))
  try("second writer", "/dev/" .. flash)
end
local stick = run("basename $(readlink /dev/lab/stick)"):match("%S+")
local held = assert(hdd.open("/dev/" .. stick, {write = {serial = consent.name("/dev/" .. stick)}}))
run(("echo 1 > /sys/block/%s/device/delete"):format(stick))
local gone, message, code = held:run {operation = "write", block_size = 4096}
routes[#routes + 1] = {route = "drive that was pulled", written = gone ~= nil, message = message, code = code}
local after = sums()
local drive <close> = assert(hdd.open("/dev/" .. sata, {write = {serial = "WD-TRUSTED", overwrite_data = true}}))
local write = assert(drive:run {operation = "write", block_size = 1 << 20, depth = 4})
local verify = assert(drive:run {operation = "verify", block_size = 1 << 20, depth = 4})
print(json.encode {routes = routes, before = before, after = after, bytes = write.bytes, size = drive.size,
  foreign = write.foreign, mismatches = verify.mismatch_blocks.total})
]]

local BUSY <const>, PERMISSION <const> = 16, 1
local EXPECTED <const> = {
  {"disk with a mounted partition", BUSY, "is mounted at"}, {"its link in by-id", BUSY, "is mounted at"},
  {"mounted partition", BUSY, "is mounted at"}, {"swap", BUSY, "is swapped to"},
  {"partition under a volume", BUSY, "LVM vg0%-data"}, {"member of a RAID", BUSY, "md7 %(RAID raid0%)"},
  {"the other member", BUSY, "md7 %(RAID raid0%)"},
  {"disk under a device-mapper volume", BUSY, "device%-mapper swapped"},
  {"disk with a partition under a volume", BUSY, "LVM vg0%-data"}, {"partition table", 17, "dos at byte 510"},
  {"wrong serial number", PERMISSION, "is WD%-TRUSTED, not WD%-TRUSTEE"},
  {"no serial number", PERMISSION, "needs its serial number"}, {"read-only", 30, "read%-only"},
  {"volume whose disk was swapped before the first write", 116, "serial is WD%-TRUSTED, was NVME7"},
  {"second writer", BUSY, "in use"}, {"drive that was pulled", 19, "has gone"},
}

describe("in the drive lab #realtime", function()
  it("writing is refused to whatever is in use, and goes to what was agreed to", function()
    needs.lab()
    local home <close> = require("spec.support.place").new()
    local path = home:path("chunk") .. ".lua"
    do
      local file <close> = assert(io.open(path, "w"))
      assert(file:write(CHUNK))
    end
    local setup = SET_UP:gsub("INTERPRETER", process.interpreter):gsub("CHUNK", path)
    local result = lab.run(DRIVES, {"sh", "-c", setup}, {timeout = 400})
    assert.equal(0, result.status, result.stderr)
    local found = assert(json.decode(result.stdout))
    for i, expected in ipairs(EXPECTED) do
      local tried = found.routes[i]
      assert.equal(expected[1], tried.route)
      assert.is_false(tried.written, tried.route)
      assert.equal(expected[2], tried.code, tried.route .. ": " .. tried.message)
      assert.matches(expected[3], tried.message)
    end
    assert.equal(#EXPECTED, #found.routes)
    assert.equal(found.before, found.after)
    assert.equal(found.size, found.bytes)
    assert.equal(0, found.mismatches)
    assert.equal(0, found.foreign.written_bytes)
  end)
end)
