--- What drives there are, and how each of them is: the kernel's word on each, and the drive's own.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.inventory
local files = require "hdd.sysfs.files"
local health = require "hdd.health"
local sysfs = require "hdd.sysfs"
local transport = require "hdd.transport"
local tree = require "hdd.sysfs.tree"

local M = {}

-- Kinds of block devices that are drives, not made of others.
local DRIVES = {disk = true, optical = true}

--- The paths of all drives of this machine.
-- @treturn {string,...}  "/dev/sda" ...
-- @usage for _, path in ipairs(inventory.paths()) do print(path) end
function M.paths()
  local paths = {}
  for _, name in ipairs(sysfs.disks()) do
    local identity = sysfs.identity(name)
    if identity and DRIVES[identity.kind] then paths[#paths + 1] = "/dev/" .. name end
  end
  return paths
end

-- What stands on a drive, once each: mount points, swap, LVM, RAID ...
local function uses(kernel)
  local list, seen = {}, {}
  local function put(text)
    if text and not seen[text] then
      seen[text] = true
      list[#list + 1] = text
    end
  end
  for _, m in ipairs(kernel.mounts or {}) do put(m.mount_point) end
  for _, s in ipairs(kernel.swaps or {}) do put("swap" .. (s.path and " " .. s.path or "")) end
  for _, h in ipairs(kernel.holders or {}) do
    put(h.use and h.use .. (h.label and " " .. h.label or "") or h.name)
  end
  return list
end

local function kernel_of(path)
  local number = files.block_number(path)
  local node = number and tree.by_number(number)
  return node and sysfs.identity(node.name) or nil
end

--- One drive.
-- @tparam string path  of a drive, a recording or a snapshot
-- @tparam[opt] table options  as of `hdd.health.read`
-- @treturn[1] table  `path`, `kernel` (identity as of `hdd.sysfs`; of a file none), `uses[]`,
--   `said` (what `hdd.health.read` gave) or `why {message code reason}`
-- @return[2] nil, message, code  when neither the kernel nor the drive tells anything
-- @usage local entry = assert(inventory.look("/dev/sdb")); print(entry.kernel.model, entry.why)
function M.look(path, options)
  local said, message, code = health.load(path, options)
  local kernel
  if not said or said.source.kind == "drive" then kernel = kernel_of(path) end
  if not said and not kernel then return nil, message, code end
  return {
    path = path, kernel = kernel, uses = kernel and uses(kernel) or {}, said = said,
    why = not said and {message = message, code = code, reason = transport.reason(code)} or nil,
  }
end

local KEYS = {
  {"model"}, {"serial"}, {"firmware"}, {"wwn"}, {"size_bytes"},
  {"rotation_rpm", "rotation_rate_rpm"}, {"transport"},
}

--- A drive's identity: its own word, and the kernel's where it has none.
-- @tparam table entry  of `look`
-- @treturn table  `model serial firmware wwn size_bytes rotation_rpm solid_state transport`
-- @usage print(inventory.identity(entry).serial)
function M.identity(entry)
  local own = entry.said and entry.said.identity or {}
  local kernel = entry.kernel or {}
  local identity = {solid_state = own.solid_state}
  for _, key in ipairs(KEYS) do
    local value = own[key[1]]
    if value == nil then value = kernel[key[2] or key[1]] end
    identity[key[1]] = value
  end
  -- How it is attached the kernel knows best.
  identity.transport = kernel.transport or own.sata_version and "sata"
    or entry.said and entry.said.kind
  if identity.rotation_rpm == 0 then
    identity.rotation_rpm, identity.solid_state = nil, true
  end
  return identity
end

return M
