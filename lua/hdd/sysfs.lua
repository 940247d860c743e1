-- SPDX-License-Identifier: GPL-3.0-or-later
--- The identity of a drive, partition, loop device or file, as the kernel tells it in sysfs, procfs
-- and udev's data base. Pure reading: no command is sent to a drive, and none is woken.
--
-- docs/identity.md says where each field comes from.
-- @module hdd.sysfs
local files = require "hdd.sysfs.files"
local maker = require "hdd.sysfs.maker"
local mountinfo = require "hdd.sysfs.mountinfo"
local printable = require "hdd.printable"
local transport = require "hdd.sysfs.transport"
local tree = require "hdd.sysfs.tree"
local use = require "hdd.sysfs.use"

local M = {}

--- Where sysfs, procfs and udev's data are: {sys = "/sys", proc = "/proc", udev = "/run/udev"}.
M.roots = files.roots

local IN_MEMORY = {tmpfs = true, ramfs = true, devtmpfs = true, rootfs = true, hugetlbfs = true}

-- The queue's settings and limits, of a whole device.
local function queue_of(disk)
  local dir = disk.dir .. "/queue/"
  local function bytes_of_kib(name)
    local kib = files.integer(dir .. name)
    return kib and kib * 1024
  end
  local discard, zone = files.integer(dir .. "discard_max_bytes"), files.integer(dir .. "chunk_sectors")
  local zoned, optimal = files.text(dir .. "zoned"), files.integer(dir .. "optimal_io_size")
  return {
    nr_requests = files.integer(dir .. "nr_requests"),
    max_request_bytes = bytes_of_kib("max_sectors_kb"),
    max_hw_request_bytes = bytes_of_kib("max_hw_sectors_kb"),
    read_ahead_bytes = bytes_of_kib("read_ahead_kb"),
    optimal_io_bytes = optimal ~= 0 and optimal or nil,
    write_cache = files.text(dir .. "write_cache"),
    zoned = zoned,
    zone_size_bytes = zoned and zoned ~= "none" and zone and zone * 512 or nil,
    discard = discard and discard > 0,
  }
end

-- "none [mq-deadline] kyber": the one in use, and all.
local function schedulers_of(disk)
  local text = files.text(disk.dir .. "/queue/scheduler")
  local names = {}
  for name in (text or ""):gmatch("[^%s%[%]]+") do
    names[#names + 1] = name
  end
  if not text then
    return nil, nil
  end
  return text:match("%[(.-)%]") or #names == 1 and names[1] or nil, names
end

-- How many requests the drive itself takes at a time: SCSI's and ATA's queue depth, NVMe's queue.
local function queue_depth_limit(disk)
  local depth = files.integer(disk.dir .. "/device/queue_depth")
  local entries = files.integer(disk.dir .. "/device/sqsize")
  return depth or entries and entries + 1  -- NVMe counts its entries from 0
end

-- Sets what belongs to the queue of a whole device.
local function describe_queue(identity, disk)
  identity.rotational = files.flag(disk.dir .. "/queue/rotational")
  identity.scheduler, identity.schedulers = schedulers_of(disk)
  identity.queue_depth_limit = queue_depth_limit(disk)
  identity.queue = queue_of(disk)
end

-- Sets vendor, model, serial, firmware, wwn … of the one disk beneath, and says whose they are when
-- that is not the target itself. On several disks they stay unknown.
local function describe_maker(identity, disks, own_name)
  local names = {}
  for i, disk in ipairs(disks) do
    names[i] = disk.name
  end
  if names[1] ~= own_name then
    identity.disks = names
  end
  local disk = disks[1]
  if not disk or disks[2] then
    return
  end
  local made = maker.of(disk, tree.number(disk))
  if disk.name ~= own_name then
    identity.identity_of = disk.name
  end
  for _, name in ipairs {"vendor", "model", "serial", "firmware", "wwn", "rotation_rate_rpm"} do
    identity[name] = made[name]
  end
  local attached = transport.of(disk, made)
  identity.transport, identity.controller, identity.link =
    attached.transport, attached.controller, attached.link
end

-- The file system that holds a path.
local function describe_filesystem(identity, path, number)
  local mount = mountinfo.holding(path, number)
  local disks, seen = {}, {}
  for _, node in ipairs(tree.of_filesystem(number, mount)) do
    identity.device = identity.device or node.name
    for _, disk in ipairs(tree.disks(node)) do
      if not seen[disk.entry] then
        seen[disk.entry], disks[#disks + 1] = true, disk
      end
    end
  end
  if mount then
    identity.filesystem = {type = mount.filesystem, mount_point = mount.mount_point,
                           source = mount.source}
    if IN_MEMORY[mount.filesystem] then
      identity.in_memory = true
    elseif identity.device then
      identity.in_memory = false
    end
  end
  return disks
end

local function describe_file(identity, target)
  local number = ("%d:%d"):format(target.major, target.minor)
  local disks = describe_filesystem(identity, target.real_path or target.path, number)
  local node = identity.device and tree.by_name(identity.device)
  if node then
    describe_queue(identity, node.disk)
  end
  describe_maker(identity, disks, nil)
end

local function describe_loop(identity, node)
  local path = tree.backing_file(node)
  identity.backing_file = files.clean(path)
  local number = path and files.filesystem_number(path)
  if number and not files.block_number(path) then
    local mount = mountinfo.holding(path, number)
    identity.in_memory = mount and IN_MEMORY[mount.filesystem] or nil
  end
end

local function list_partitions(disk)
  local list = {}
  for i, part in ipairs(tree.partitions(disk)) do
    list[i] = {name = part.name, number = part.partition_number,
               start_bytes = part.start_bytes, size_bytes = part.size_bytes}
  end
  return list
end

local function describe_block(identity, node)
  local disk = node.disk
  identity.name, identity.kind = node.name, node.kind
  if node ~= disk then
    identity.parent = disk.name
    local start = files.integer(node.dir .. "/start")
    identity.partition_number = files.integer(node.dir .. "/partition")
    identity.start_bytes = start and start * 512
  else
    identity.partitions = list_partitions(disk)
  end
  identity.label = use.label(disk)
  identity.uuid = files.text(disk.dir .. "/dm/uuid") or files.text(disk.dir .. "/md/uuid")
  if disk.kind == "loop" then
    describe_loop(identity, disk)
  elseif disk.kind == "zram" or disk.kind == "ram" then
    identity.in_memory = true
  end
  describe_queue(identity, disk)
  describe_maker(identity, tree.disks(node), disk == node and node.name or nil)
  if disk.kind ~= "disk" and disk.kind ~= "optical" then
    local own = transport.of(disk)
    identity.transport, identity.controller, identity.link = own.transport, nil, nil
  end
  identity.removable = files.flag(disk.dir .. "/removable")
  identity.read_only = files.flag(node.dir .. "/ro")
  identity.holders, identity.mounts, identity.swaps = use.of(node)
end

-- A target for a device that is not open.
local function target_of_name(name)
  local node = tree.by_name(name)
  if not node then
    return nil
  end
  local sectors = files.integer(node.dir .. "/size") or 0
  local dir = node.disk.dir .. "/queue/"
  local path = "/dev/" .. node.name
  return {
    path = path, real_path = path, kind = "block", size = sectors > 0 and sectors * 512 or nil,
    logical_block_size = files.integer(dir .. "logical_block_size"),
    physical_block_size = files.integer(dir .. "physical_block_size"),
  }, node
end

--- What a target is: its name, its place among the others, the drive it is on, its queue, and who
-- uses it. What the kernel does not tell is absent, never 0 or "".
-- @tparam table|string target  what hdd.core's Device says of itself (path, real_path, kind, major,
--   minor, size, logical_block_size, physical_block_size), or the name of a block device ("sdb"),
--   which need not be readable
-- @treturn ?table  the identity; its fields are in docs/identity.md
-- @treturn ?string message  when there is no block device of this name
-- @treturn ?integer code    2 (ENOENT)
-- @usage local identity = assert(sysfs.identity("sdb"))
-- print(identity.model, identity.serial, identity.size_bytes)
function M.identity(target)
  local node
  if type(target) == "string" then
    local name = target
    target, node = target_of_name(name)
    if not target then
      return nil, ("identify %s: no such block device"):format(name), 2
    end
  elseif target.kind == "block" then
    node = tree.by_number(("%d:%d"):format(target.major, target.minor))
  end
  local identity = {
    path = target.path, real_path = target.real_path, kind = target.kind,
    name = (target.real_path or target.path):match("[^/]+$"),
    size_bytes = target.size, medium = target.size ~= nil, direct = target.direct,
    logical_block_size_bytes = target.logical_block_size,
    physical_block_size_bytes = target.physical_block_size,
  }
  if node then
    describe_block(identity, node)
  elseif target.kind == "file" then
    describe_file(identity, target)
  end
  return identity
end

local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local new = {}
  for key, field in pairs(value) do
    new[key] = copy(field)
  end
  return new
end

--- An identity as a document's `drive`: a table of its own, so that neither changes the other.
-- Its keys are those of the documents' schema.
-- @tparam table identity  of identity()
-- @treturn table  plain values that are JSON as they stand
function M.document(identity)
  local document = copy(identity)
  document.path, document.real_path = printable.utf8(document.path), printable.utf8(document.real_path)
  document.rotation_rpm, document.rotation_rate_rpm = document.rotation_rate_rpm, nil
  return document
end

--- All whole block devices, in natural order: disks, and loop, md, device-mapper devices. Loop,
-- zram and ram devices without a medium are left out, as are the hidden paths of multipath NVMe.
-- A card reader or CD drive without a medium is there.
-- @treturn {string,...}  names ("sda", "nvme0n1")
-- @usage for _, name in ipairs(sysfs.disks()) do print(name, sysfs.identity(name).model) end
function M.disks()
  local names = {}
  for _, entry in ipairs(files.names(files.roots.sys .. "/block")) do
    local dir = files.roots.sys .. "/block/" .. entry
    local virtual = entry:match("^loop%d") or entry:match("^zram%d") or entry:match("^ram%d")
    local empty = files.integer(dir .. "/size") == 0
    if not (virtual and empty) and not files.flag(dir .. "/hidden") then
      names[#names + 1] = entry:gsub("!", "/")
    end
  end
  return names
end

--- Is this still the same drive? Serial number, World Wide Name, model and size are compared, as far
-- as both identities know them; kernel names change.
-- @tparam table before  an identity, or a document's `drive`
-- @tparam table now     an identity
-- @treturn ?string  what differs ("serial is B, was A"); nil when nothing does
function M.difference(before, now)
  for _, field in ipairs {"serial", "wwn", "model", "size_bytes"} do
    local was, is = before[field], now[field]
    if was ~= is and was ~= nil and is ~= nil then
      return ("%s is %s, was %s"):format(field, is, was)
    end
  end
  return nil
end

return M
