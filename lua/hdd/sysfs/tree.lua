-- SPDX-License-Identifier: GPL-3.0-or-later
--- The block devices of the kernel and how they stand on one another: disks, their partitions,
-- and loop, device-mapper and md devices on top. Relations come from sysfs alone, never from names:
-- the 1 of nvme0n1 is no partition.
--
-- A node is {entry = name in sysfs, name = name in /dev, dir = folder in /sys/devices, kind,
-- disk = node of the whole disk (itself, unless a partition)}.
-- @module hdd.sysfs.tree
local files = require "hdd.sysfs.files"
local mountinfo = require "hdd.sysfs.mountinfo"

local M = {}

-- Kinds that are told by a folder or by the driver's fixed name; SCSI's type 5 is a CD drive.
local function kind_of(entry, dir)
  if files.exists(dir .. "/dm") then
    return "device-mapper"
  elseif files.exists(dir .. "/md") then
    return "md"
  elseif files.exists(dir .. "/loop") or entry:match("^loop%d+$") then
    return "loop"
  elseif entry:match("^zram%d+$") then
    return "zram"
  elseif entry:match("^ram%d+$") then
    return "ram"
  elseif files.text(dir .. "/device/type") == "5" then
    return "optical"
  end
  return "disk"
end

local function node_at(dir)
  local entry = dir:match("[^/]+$")
  local node = {entry = entry, name = entry:gsub("!", "/"), dir = dir}
  if files.exists(dir .. "/partition") then
    node.kind = "partition"
    node.disk = node_at(dir:match("^(.*)/"))
  else
    node.kind = kind_of(entry, dir)
    node.disk = node
  end
  return node
end

--- The block device of a number.
-- @tparam string number  "MAJOR:MINOR"
-- @treturn ?table  its node
function M.by_number(number)
  local dir = files.link(files.roots.sys .. "/dev/block/" .. number)
  return dir and node_at(dir)
end

--- The block device of a name.
-- @tparam string name  "sdb", "nvme0n1p2", "cciss/c0d0"
-- @treturn ?table  its node
-- @usage local disk = tree.by_name("sda1")
function M.by_name(name)
  local dir = files.link(files.roots.sys .. "/class/block/" .. name:gsub("/", "!"))
  return dir and node_at(dir)
end

--- The number of a block device.
-- @tparam table node
-- @treturn ?string  "MAJOR:MINOR"
function M.number(node)
  return files.text(node.dir .. "/dev")
end

--- The partitions of a whole disk, by their place on it.
-- @tparam table disk  node
-- @treturn {table,...}  nodes, with partition_number, start_bytes and size_bytes besides
function M.partitions(disk)
  local found = {}
  for _, entry in ipairs(files.names(disk.dir)) do
    local dir = disk.dir .. "/" .. entry
    local number = files.integer(dir .. "/partition")
    if number then
      local node = node_at(dir)
      local start, size = files.integer(dir .. "/start"), files.integer(dir .. "/size")
      node.partition_number = number
      node.start_bytes = start and start * 512  -- whatever the logical block size is
      node.size_bytes = size and size * 512
      found[#found + 1] = node
    end
  end
  table.sort(found, function(a, b)
    if a.start_bytes ~= b.start_bytes then
      return (a.start_bytes or 0) < (b.start_bytes or 0)
    end
    return a.partition_number < b.partition_number
  end)
  return found
end

local function named(folder, found)
  for _, entry in ipairs(files.names(folder)) do
    local node = M.by_name(entry)
    if node then
      found[#found + 1] = node
    end
  end
  return found
end

--- The file behind a loop device, as the one who set it up named it.
-- @tparam table node
-- @treturn ?string
function M.backing_file(node)
  local path = files.bytes(node.dir .. "/loop/backing_file")
  return path and path:match("^(.-)\n?$")
end

--- What stands directly on a device (or on one of its partitions): device-mapper, md, bcache and
-- loop devices that were set up on the device itself.
-- @tparam table node
-- @treturn {table,...}  nodes
function M.holders(node)
  local found = named(node.dir .. "/holders", {})
  local number = M.number(node)
  for _, entry in ipairs(files.names(files.roots.sys .. "/block")) do
    local loop = entry:match("^loop%d+$") and M.by_name(entry)
    local path = loop and M.backing_file(loop)
    if path and path:match("^/dev/") and files.block_number(path) == number then
      found[#found + 1] = loop
    end
  end
  return found
end

--- The block devices of a file system.
-- @tparam string number  "MAJOR:MINOR" of what it calls its device
-- @tparam ?table mount  its line of mountinfo
-- @treturn {table,...}  nodes: several for btrfs, none where there is no device or it is unknown
function M.of_filesystem(number, mount)
  local node = M.by_number(number)
  if not node and mount and mount.source:match("^/dev/") then
    -- Btrfs numbers each subvolume for itself.
    local source = files.block_number(mount.source)
    node = source and M.by_number(source)
  end
  if node and mount and mount.filesystem == "btrfs" then
    for _, uuid in ipairs(files.names(files.roots.sys .. "/fs/btrfs")) do
      local devices = files.roots.sys .. "/fs/btrfs/" .. uuid .. "/devices"
      if files.exists(devices .. "/" .. node.entry) then
        return named(devices, {})
      end
    end
  end
  return {node}
end

-- What a device directly stands on.
local function below(node)
  if node.kind == "partition" then
    return {node.disk}
  elseif node.kind == "loop" then
    local path = M.backing_file(node)
    if not path then
      return {}
    end
    local number = files.block_number(path)
    if number then
      return {M.by_number(number)}
    end
    number = files.filesystem_number(path)
    return number and M.of_filesystem(number, mountinfo.holding(path, number)) or {}
  end
  return named(node.dir .. "/slaves", {})
end

--- The whole disks at the bottom of a device.
-- @tparam table node
-- @treturn {table,...}  nodes; the disk itself for a disk; none where sysfs does not say
function M.disks(node)
  local found, seen = {}, {}
  local function descend(at)
    if seen[at.entry] then
      return
    end
    seen[at.entry] = true
    local lower = below(at)
    if #lower == 0 and (at.kind == "disk" or at.kind == "optical") then
      found[#found + 1] = at
    end
    for _, next in ipairs(lower) do
      descend(next)
    end
  end
  descend(node)
  return found
end

return M
