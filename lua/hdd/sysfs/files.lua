-- SPDX-License-Identifier: GPL-3.0-or-later
--- Reading the small files of sysfs, procfs and udev.
-- Facts that are missing, empty or unreadable are nil: a file that is not there says nothing.
-- @module hdd.sysfs.files
local lfs = require "lfs"
local printable = require "hdd.printable"

local M = {}

--- Where the kernel's file systems are: a spec may point them at a copied tree.
M.roots = {sys = "/sys", proc = "/proc", udev = "/run/udev"}

--- The bytes of a file as they are.
-- @tparam string path
-- @treturn ?string  nil when it cannot be read (some of sysfs fails with an error when read)
-- @usage files.bytes("/sys/block/sda/device/vpd_pg80")
function M.bytes(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local text = file:read("a")
  file:close()
  return text
end

--- What a drive says of itself, fit to be shown: without padding, and harmless on a terminal.
-- @tparam ?string text
-- @treturn ?string  one line of valid UTF-8; nil when nothing is left
-- @usage files.clean("  WD\0\0")  --> "WD"
function M.clean(text)
  text = text and printable.line(printable.trim(text))
  return text ~= "" and text or nil
end

--- The text of a file, trimmed and cleaned.
-- @tparam string path
-- @treturn ?string  nil when it cannot be read or is empty
-- @usage files.text("/sys/block/sda/device/model")
function M.text(path)
  return M.clean(M.bytes(path))
end

--- The decimal number a file holds.
-- @tparam string path
-- @treturn ?integer
-- @usage files.integer("/sys/block/sda/size")
function M.integer(path)
  local text = M.bytes(path)
  return text and math.tointeger(tonumber(text:match("^%s*(-?%d+)%s*$")))  -- nil from 2^63 on
end

--- A file that says 0 or 1.
-- @tparam string path
-- @treturn ?boolean
-- @usage files.flag("/sys/block/sda/queue/rotational")
function M.flag(path)
  local value = M.integer(path)
  if value == nil then
    return nil
  end
  return value ~= 0
end

--- Is there something of this name?
-- @tparam string path
-- @treturn boolean
-- @usage files.exists("/sys/block/sda")
function M.exists(path)
  return lfs.attributes(path, "mode") ~= nil
end

-- Sorts as the kernel counts: sda9 before sda10, sdz before sdaa.
local function sort_key(name)
  name = name:gsub("^(x?[hsv]d)(%l+)", function(driver, letters)
    return driver .. ("%4s"):format(letters)
  end)
  return (name:gsub("%d+", function(digits) return ("0"):rep(20 - #digits) .. digits end))
end

--- The names in a folder, in natural order.
-- @tparam string folder
-- @treturn {string,...}  empty when there is no such folder
-- @usage for _, name in ipairs(files.names("/sys/block/")) do print(name) end
function M.names(folder)
  local names = {}
  local listed, iterate, state = pcall(lfs.dir, folder)
  if listed then
    for name in iterate, state do
      if name ~= "." and name ~= ".." then
        names[#names + 1] = name
      end
    end
  end
  local keys = {}
  for _, name in ipairs(names) do
    keys[name] = sort_key(name)
  end
  table.sort(names, function(a, b) return keys[a] < keys[b] end)
  return names
end

--- Where a symbolic link of sysfs leads, with its `..` resolved. (Links there are relative, and the
-- folders that hold them are none themselves.)
-- @tparam string path
-- @treturn ?string  nil when it is no link
-- @usage files.link("/sys/block/sda")
function M.link(path)
  local target = lfs.symlinkattributes(path, "target")
  if not target or target == "" then
    return nil
  end
  local resolved = target:sub(1, 1) == "/" and target or path:match("^(.*)/") .. "/" .. target
  local parts = {}
  for part in resolved:gmatch("[^/]+") do
    if part == ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return (resolved:sub(1, 1) == "/" and "/" or "") .. table.concat(parts, "/")
end

--- Major and minor number of what stat calls `st_dev` or `st_rdev` (glibc's encoding).
-- @tparam integer number
-- @treturn string  "MAJOR:MINOR", as sysfs and mountinfo write it
function M.number(number)
  local major = number >> 8 & 0xFFF | number >> 32 & ~0xFFF
  local minor = number & 0xFF | number >> 12 & 0xFFFFFF00
  return ("%d:%d"):format(major, minor)
end

--- The number of the block device a path leads to.
-- @tparam string path
-- @treturn ?string  "MAJOR:MINOR"; nil when it is no block device
function M.block_number(path)
  local found = lfs.attributes(path)
  return found and found.mode == "block device" and M.number(found.rdev) or nil
end

--- The number of the file system that holds a path.
-- @tparam string path
-- @treturn ?string  "MAJOR:MINOR"
function M.filesystem_number(path)
  local device = lfs.attributes(path, "dev")
  return device and M.number(device)
end

return M
