-- SPDX-License-Identifier: GPL-3.0-or-later
--- Who may write to a drive: the one who names it, and only when nobody else uses it.
--
-- What is in use is refused whatever is said; what holds a file system or a partition table unless it
-- is given up (`overwrite_data`). Checked before a drive is opened for writing, and again right before
-- the first write, by what the drive is (device number, disk sequence number, inode, size, serial number) and
-- not by its name. The kernel's exclusive open comes on top: it knows mounts of other namespaces and
-- ZFS. docs/writing.md has the whole list.
-- @module hdd.consent
local core = require "hdd.core"
local files = require "hdd.sysfs.files"
local lfs = require "lfs"
local mountinfo = require "hdd.sysfs.mountinfo"
local printable = require "hdd.printable"
local sysfs = require "hdd.sysfs"
local tree = require "hdd.sysfs.tree"
local use = require "hdd.sysfs.use"

local M = {}

local EPERM <const>, EBUSY <const>, EEXIST <const>, ENODEV <const>, ENOTBLK <const> = 1, 16, 17, 19, 15
local EROFS <const>, ENOTSUP <const>, ESTALE <const> = 30, 95, 116

-- Kinds that are devices of their own: their serial number is that of what they say they are. A loop or
-- device-mapper device has none: the one that sysfs tells is its disk's.
local OWN_SERIAL <const> = {disk = true, partition = true, optical = true}

-- What Lua says of a refusal: nil, "PATH: not written to: …", code.
local function refuse(path, code, message, ...)
  return nil, ("%s: not written to: %s"):format(printable.line(path), message:format(...)), code
end

--- What a drive is called by who agrees to its being written to: its serial number, which
-- `hddlua identify --serial` prints; without one the kernel's name, of a file its own.
-- @tparam table|string target  an identity (of `hdd.sysfs` or a document), a Drive, or a path
-- @treturn string
-- @usage print(consent.name("/dev/sdb"))
function M.name(target)
  if type(target) == "string" then
    local node = tree.by_number(files.block_number(target) or "")
    if not node then return target:match("[^/]*$") end
    target = assert(sysfs.identity(node.name))
  end
  if target.serial and OWN_SERIAL[target.kind] then return target.serial end
  return target.name or (target.real_path or target.path):match("[^/]*$")
end

-- --- what is in use -------------------------------------------------------------------------------

-- A sentence for the first user in these lists; nil when there is none.
local function user(holders, mounts, swaps)
  if mounts[1] then
    return ("%s is mounted at %s: unmount it first"):format(mounts[1].device, mounts[1].mount_point)
  elseif swaps[1] then
    return ("%s is swapped to: swapoff it first"):format(swaps[1].path)
  elseif holders[1] then
    local h = holders[1]
    return ("%s is in use by %s (%s%s): stop that first"):format(h.on, h.name, h.use,
      h.label and " " .. h.label or "")
  end
end

-- Those of a list that are about one device itself.
local function about(list, key, name)
  local found = {}
  for _, one in ipairs(list) do
    if one[key] == name then found[#found + 1] = one end
  end
  return found
end

local function same_file(path, number, inode)
  local found = lfs.attributes(path)
  return found and found.ino == inode and files.number(found.dev) == number
end

-- The loop devices whose file this is.
local function loops_on(number, inode)
  local names = {}
  for _, entry in ipairs(files.names(files.roots.sys .. "/block")) do
    local loop = entry:match("^loop%d+$") and tree.by_name(entry)
    local path = loop and tree.backing_file(loop)
    if path and same_file(path, number, inode) then names[#names + 1] = entry end
  end
  return names
end

local function file_in_use(number, inode, except)
  for _, name in ipairs(loops_on(number, inode)) do
    if name ~= except then
      return ("%s stands on %s: detach it first (losetup -d)"):format(name, except or "it")
    end
  end
  for _, path in ipairs(mountinfo.swaps()) do
    if same_file(path, number, inode) then return "it is a swap file: swapoff it first" end
  end
end

-- What else is on the device or file that a loop device was set up on: loop takes no claim on it.
local function beneath_loop(node)
  local path = tree.backing_file(node)
  local found = path and lfs.attributes(path)
  if not found then
    return nil
  elseif found.mode ~= "block device" then
    return file_in_use(files.number(found.dev), found.ino, node.entry)
  end
  local below = tree.by_number(files.number(found.rdev))
  if not below then return nil end
  local holders, mounts, swaps = use.of(below)
  local others = {}
  for _, holder in ipairs(holders) do
    if holder.name ~= node.name then others[#others + 1] = holder end
  end
  return user(others, mounts, swaps) or below.kind == "loop" and beneath_loop(below) or nil
end

-- The disks under the file system at /, by the kernel's name.
local function root_disks()
  local number, found = files.filesystem_number("/"), {}
  local mount = number and mountinfo.holding("/", number)
  for _, node in ipairs(number and tree.of_filesystem(number, mount) or {}) do
    for _, disk in ipairs(tree.disks(node)) do found[disk.entry] = true end
  end
  return found
end

local function holds_root(node)
  local target = node
  while target.kind == "loop" do -- on a device node; on a file of the root disk it is no harm
    local number = files.block_number(tree.backing_file(target) or "")
    target = number and tree.by_number(number)
    if not target then return false end
  end
  return (target.kind == "disk" or target.kind == "partition") and root_disks()[target.disk.entry]
end

local function block_in_use(node)
  local why = user(use.of(node))
  if why then return why end
  if node.disk ~= node then -- the whole disk may be used as one, and the partition with it
    local holders, mounts, swaps = use.of(node.disk)
    local disk = node.disk.name
    why = user(about(holders, "on", disk), about(mounts, "device", disk), about(swaps, "device", disk))
    if why then return why end
  end
  if node.kind == "loop" then why = beneath_loop(node) end
  return why or holds_root(node) and "the running system's / is on this disk" or nil
end

-- --- the checks -----------------------------------------------------------------------------------

local function number_of(device)
  return ("%d:%d"):format(device.major, device.minor)
end

-- Is what is there now still the device that was looked at or opened? A sentence when it is not.
local function changed(device, node)
  if device.type ~= "block" then
    return not same_file(device.real_path, number_of(device), device.inode) and
      "there is another file at its path now" or nil
  elseif not node then
    return "the drive has gone"
  end
  local diskseq = files.integer(node.disk.dir .. "/diskseq")
  if device.diskseq and diskseq and diskseq ~= device.diskseq then
    return "it is another drive than the one that was opened"
  end
end

-- File systems and the like, of this very device: what the path leads to now is not believed.
local function signatures_of(device, given_up)
  local list, place, code = require("hdd.signature").find(device.real_path)
  if not list and given_up then return {} end -- a bad sector where a superblock would be
  if not list then
    return refuse(device.path, code, "whether it holds data cannot be told (%s): give that up first " ..
      "(overwrite_data, --overwrite-data)", place)
  end
  if place.major ~= device.major or place.minor ~= device.minor or place.inode ~= device.inode then
    return refuse(device.path, ESTALE, "its path leads to something else now")
  end
  return list
end

local function describe(signature)
  return ("%s%s at byte %d"):format(signature.type or signature.usage or "something",
    signature.label and ' "' .. printable.line(signature.label) .. '"' or "", signature.offset_bytes or 0)
end

-- All checks on what `device` (fields of hdd.core's Device) is.
local function look(device, options)
  local path = device.path
  if device.type ~= "block" and device.type ~= "file" then
    return refuse(path, ENOTBLK, "it is neither a drive nor a file")
  end
  local node = device.type == "block" and tree.by_number(number_of(device)) or nil
  local other = changed(device, node)
  if other then return refuse(path, (node or device.inode) and ESTALE or ENODEV, "%s", other) end
  local why
  if node then
    why = block_in_use(node)
  else
    why = file_in_use(number_of(device), device.inode)
  end
  if why then return refuse(path, EBUSY, "%s", why) end

  local target = {kind = device.type, path = path}
  for _, key in ipairs {"real_path", "major", "minor", "size", "direct", "logical_block_size",
                        "physical_block_size"} do
    target[key] = device[key]
  end
  local identity = sysfs.identity(target)
  if identity.read_only then return refuse(path, EROFS, "it is read-only") end
  if identity.queue and identity.queue.zoned == "host-managed" and node then
    return refuse(path, ENOTSUP, "it is a host-managed zoned drive, which takes no write at any place")
  end
  local name = M.name(identity)
  if options.serial == nil then
    return refuse(path, EPERM, "that needs its serial number, which is %s (hddlua identify --serial %s)",
      printable.line(name), printable.line(path))
  elseif options.serial ~= name then
    return refuse(path, EPERM, "its serial number is %s, not %s as was said", printable.line(name),
      printable.line(options.serial))
  end
  local signatures, message, code = signatures_of(device, options.overwrite_data)
  if not signatures then return nil, message, code end
  if signatures[1] and not options.overwrite_data then
    return refuse(path, EEXIST, "it holds data (%s), which must be given up first (overwrite_data, " ..
      "--overwrite-data)", describe(signatures[1]))
  end
  return {identity = identity, signatures = signatures}
end

local function check_options(options)
  if type(options) ~= "table" then
    error(("option 'write': %s: must be a table {serial = …, overwrite_data = …}"):format(options), 0)
  end
  for key, value in pairs(options) do
    local wanted = key == "serial" and "string" or key == "overwrite_data" and "boolean"
    if not wanted then
      error(("option 'write': unknown key '%s' (there are: serial, overwrite_data)"):format(key), 0)
    elseif type(value) ~= wanted then
      error(("option 'write.%s': %s: must be a %s"):format(key, value, wanted), 0)
    end
  end
end

-- The fields of a device that is then closed again.
local function fields_of(path, options)
  local device, message, code = core.open(path, options)
  if not device then return nil, message, code end
  local fields = {}
  for _, key in ipairs {"path", "real_path", "type", "size", "major", "minor", "inode", "diskseq", "direct",
                        "logical_block_size", "physical_block_size"} do
    fields[key] = device[key]
  end
  device:close()
  return fields
end

--- Would writing be allowed? Opens nothing for writing: for showing a plan.
-- @tparam string path
-- @tparam table options  `serial` (what `name` says), `overwrite_data` (false), and `buffered`, `size` as of
--   `hdd.open`
-- @treturn[1] table  `identity` (see `hdd.sysfs`), `signatures`: a list of what libblkid recognises, each
--   with `type` ("ext4", "gpt", …), `usage` ("filesystem", "raid", "crypto", "other", "partition table"),
--   `offset_bytes`, `label`, `uuid`
-- @return[2] nil, message, code: 16 (EBUSY) in use, 1 (EPERM) serial number missing or wrong, 17 (EEXIST)
--   holds data, 30 (EROFS) read-only, 15 (ENOTBLK) neither drive nor file, 95 (ENOTSUP) host-managed
--   zones, 116 (ESTALE) no longer the same; others as of `hdd.open`
-- @usage local found, message = consent.check("/dev/sdb", {serial = "WD-WXL0E12345"})
function M.check(path, options)
  local fields, message, code = fields_of(path, {buffered = options.buffered, size = options.size})
  if not fields then return nil, message, code end
  return look(fields, options)
end

--- Open for writing: the check, the exclusive open, and whether that got what was checked.
-- Users call `hdd.open(path, {write = {serial = …}})`.
-- @tparam string path
-- @tparam table options  those of `hdd.open`
-- @treturn[1] Device of hdd.core
-- @return[2] nil, message, code
function M.open(path, options)
  check_options(options.write)
  local how = {buffered = options.buffered, size = options.size}
  local fields, message, code = fields_of(path, how)
  if not fields then return nil, message, code end
  local found
  found, message, code = look(fields, options.write)
  if not found then return nil, message, code end
  how.write = true
  local device
  device, message, code = core.open(path, how)
  if not device then return nil, message, code end
  for _, key in ipairs {"type", "major", "minor", "inode", "diskseq", "size"} do
    if device[key] ~= fields[key] then
      device:close()
      return refuse(path, ESTALE, "its path leads to something else than a moment ago")
    end
  end
  return device, found
end

--- The check once more, on what is open, right before its first write.
-- @tparam Drive drive  opened for writing
-- @tparam table options  those of `write` when it was opened
-- @tparam table before  the identity of then
-- @treturn[1] boolean true
-- @return[2] nil, message, code
function M.again(drive, options, before)
  local found, message, code = look(drive, options)
  if not found then return nil, message, code end
  local other = sysfs.difference(before, found.identity)
  local was, is = table.concat(before.disks or {}, " "), table.concat(found.identity.disks or {}, " ")
  if not other and was ~= is then
    other = ("it stands on %s, not on %s any more"):format(is == "" and "nothing" or is, was)
  end
  if other then return refuse(drive.path, ESTALE, "since it was opened it has changed: %s", other) end
  return true
end

return M
