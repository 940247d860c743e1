-- SPDX-License-Identifier: GPL-3.0-or-later
--- Who uses a block device: what is mounted from it or swapped to, and the devices that stand on it.
-- @module hdd.sysfs.use
local files = require "hdd.sysfs.files"
local mountinfo = require "hdd.sysfs.mountinfo"
local tree = require "hdd.sysfs.tree"

local M = {}

-- Device-mapper's users begin a device's UUID with their own name.
local OF_UUID = {LVM = "LVM", CRYPT = "crypt", mpath = "multipath", DMRAID = "RAID", VDO = "VDO"}

-- What a device that stands on others is used for.
local function purpose(node)
  if node.kind == "device-mapper" then
    local uuid = files.text(node.dir .. "/dm/uuid") or ""
    return uuid:match("^part%d+%-") and "partition" or OF_UUID[uuid:match("^%a+")] or "device-mapper"
  elseif node.kind == "md" then
    return "RAID"
  elseif node.kind == "loop" then
    return "loop"
  end
  return files.exists(node.dir .. "/bcache") and "bcache" or node.kind
end

--- The name that whoever set a device up has given it.
-- @tparam table node
-- @treturn ?string  of device-mapper ("vg-root"), the level of an md array ("raid1")
function M.label(node)
  return files.text(node.dir .. "/dm/name") or files.text(node.dir .. "/md/level")
end

-- Everything that stands on the device, in `holders`; and all devices so found, itself and
-- its partitions too, in `nodes` by number.
local function climb(node, holders, nodes)
  local number = tree.number(node)
  if not number or nodes[number] then
    return
  end
  nodes[number] = node
  if node.disk == node then
    for _, part in ipairs(tree.partitions(node)) do
      climb(part, holders, nodes)
    end
  end
  for _, holder in ipairs(tree.holders(node)) do
    local known = tree.number(holder)
    if known and not nodes[known] then
      holders[#holders + 1] = {name = holder.name, kind = holder.kind, use = purpose(holder),
                               label = M.label(holder), on = node.name}
      climb(holder, holders, nodes)
    end
  end
end

-- A btrfs of several devices is mounted from one of them: sysfs knows the others.
local function btrfs_members(holders, nodes)
  local folder = files.roots.sys .. "/fs/btrfs"
  for _, uuid in ipairs(files.names(folder)) do
    for _, entry in ipairs(files.names(folder .. "/" .. uuid .. "/devices")) do
      local member = tree.by_name(entry)
      if member and nodes[tree.number(member)] then
        holders[#holders + 1] = {name = uuid, kind = "filesystem", use = "btrfs",
                                 label = files.text(folder .. "/" .. uuid .. "/label"),
                                 on = member.name}
      end
    end
  end
end

--- Everything that uses a block device, its partitions and what stands on them.
-- @tparam table node  see hdd.sysfs.tree
-- @treturn {table,...} holders  of name, kind, use ("LVM", "crypt", "RAID", "multipath", "loop",
--   "btrfs", …), label, on (the name of what it stands on)
-- @treturn {table,...} mounts  of device, mount_point, filesystem, read_only
-- @treturn {table,...} swaps  of device, path
function M.of(node)
  local holders, mounts, swaps, nodes, seen = {}, {}, {}, {}, {}
  climb(node, holders, nodes)
  btrfs_members(holders, nodes)
  for _, mount in ipairs(mountinfo.mounts()) do
    local user = nodes[mount.number]
    if not user and mount.number:match("^0:") and mount.source:match("^/dev/") then
      user = nodes[files.block_number(mount.source)]
    end
    local key = user and user.name .. " " .. mount.mount_point
    if user and not seen[key] then
      seen[key] = true
      mounts[#mounts + 1] = {device = user.name, mount_point = mount.mount_point,
                             filesystem = mount.filesystem, read_only = mount.read_only}
    end
  end
  for _, path in ipairs(mountinfo.swaps()) do
    -- A swap file is on the device when its file system is.
    local user = nodes[files.block_number(path) or files.filesystem_number(path)]
    if user then
      swaps[#swaps + 1] = {device = user.name, path = path}
    end
  end
  return holders, mounts, swaps
end

return M
