--- Where commands go: from what a person names (a drive, a partition, a volume on it, a recording)
-- to the drive that answers, or the reason why none does.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.transport.target
local files = require "hdd.sysfs.files"
local lfs = require "lfs"
local tree = require "hdd.sysfs.tree"

local M = {}

local ENOENT <const>, EAGAIN <const>, EINVAL <const> = 2, 11, 22
local ENOTTY <const>, EFBIG <const> = 25, 27
local LARGEST_BYTES <const> = 128 << 20 -- of a recording's file

-- Devices without a drive of their own beneath.
local HOLLOW = {
  loop = "is a loop device: a file, which has no drive to ask",
  zram = "is memory", ram = "is memory",
  optical = "is an optical drive: it has no SMART",
}

local function refuse(path, why, code)
  return nil, ("%s: %s"):format(path, why), code or ENOTTY
end

-- The kernel puts drives to sleep by itself, and opening one wakes it.
local function suspended(disk)
  return files.text(disk.dir .. "/device/power/runtime_status") == "suspended"
end

local function of_disk(path, disk, node, wake)
  local hollow = HOLLOW[disk.kind]
  if hollow then return refuse(path, hollow) end
  if not wake and suspended(disk) then
    return refuse(path, "the kernel has put the drive to sleep, and it was not woken", EAGAIN)
  end
  return {
    path = disk == node and path or "/dev/" .. disk.name,
    name = disk.name, of = disk ~= node and disk.name or nil,
    as = disk.entry:match("^nvme%d") and "nvme" or "scsi",
    nsid = files.integer(disk.dir .. "/nsid"),
  }
end

local function of_block(path, wake)
  local number = files.block_number(path)
  local node = number and tree.by_number(number)
  if not node then -- no sysfs: by what its name promises
    local name = path:match("[^/]+$")
    return {path = path, name = name, as = name:match("^nvme") and "nvme" or "scsi"}
  end
  local whole = node.disk
  if whole.kind ~= "device-mapper" and whole.kind ~= "md" then
    return of_disk(path, whole, node, wake)
  end
  local disks = tree.disks(node)
  if #disks == 1 then return of_disk(path, disks[1], node, wake) end
  local names = {}
  for i, disk in ipairs(disks) do names[i] = disk.name end
  return refuse(path, #disks == 0 and "no drive is known beneath it" or
    "lies on several drives, ask each: " .. table.concat(names, ", "))
end

local function of_character(path)
  local name = path:match("[^/]+$")
  if name:match("^sg%d") then return {path = path, name = name, as = "scsi"} end
  if name:match("^nvme%d") or name:match("^ng%d") then
    return {path = path, name = name, as = "nvme"}
  end
  return refuse(path, "is a character device, and no drive")
end

local function of_file(path)
  local file, message, code = io.open(path, "rb")
  if not file then return nil, message, code end
  local bytes = file:read(LARGEST_BYTES + 1) or ""
  file:close()
  if #bytes > LARGEST_BYTES then return refuse(path, "too large for a recording", EFBIG) end
  local recording, why, kind = require("hdd.commands").decode(bytes)
  if not recording then return refuse(path, "is " .. why, kind) end
  return {path = path, name = path:match("[^/]+$"), recording = recording}
end

--- Find the drive, or the recording, that answers for a path.
-- @tparam string path
-- @tparam table options  `as` ("ata", "scsi", "nvme": the path is taken as such a drive, whatever
--   it is), `wake` (true: a drive that the kernel put to sleep may be woken)
-- @treturn[1] table  `path`, `name`, `as`, `of` (name of the whole drive, when the path is a part
--   of it), `nsid` (of an NVMe namespace), or `recording`
-- @return[2] nil, message, code
-- @usage local found = assert(target.find("/dev/sdb1", {}))  --> {path = "/dev/sdb", of = "sdb"}
function M.find(path, options)
  if options.as then
    if options.as ~= "ata" and options.as ~= "scsi" and options.as ~= "nvme" then
      error(("open: as = %s: must be \"ata\", \"scsi\" or \"nvme\""):format(options.as), 3)
    end
    return {path = path, name = path:match("[^/]+$"), as = options.as}
  end
  local mode, message = lfs.attributes(path, "mode")
  if mode == "block device" then return of_block(path, options.wake) end
  if mode == "char device" then return of_character(path) end
  if mode == "file" then return of_file(path) end
  if mode == nil then return refuse(path, message:match("[^:]*$"):gsub("^%s+", ""), ENOENT) end
  return refuse(path, "is a " .. mode .. ": give a drive or a recording", EINVAL)
end

return M
