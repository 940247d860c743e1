-- SPDX-License-Identifier: GPL-3.0-or-later
--- What is mounted where, and what is swapped to, as this process sees it.
-- @module hdd.sysfs.mountinfo
local files = require "hdd.sysfs.files"

local M = {}

-- The kernel writes space, tab, newline, backslash and # as \ooo.
local function unescape(text)
  return (text:gsub("\\([0-3][0-7][0-7])", function(octal)
    return string.char(tonumber(octal, 8))
  end))
end

--- All mounts, in the order in which they were made.
-- @treturn {table,...}  of number ("MAJOR:MINOR"), mount_point, filesystem, source, read_only
function M.mounts()
  local mounts = {}
  for line in (files.bytes(files.roots.proc .. "/self/mountinfo") or ""):gmatch("[^\n]+") do
    local number, point, options, rest =
      line:match("^%d+ %d+ (%d+:%d+) %S+ (%S+) (%S+)(.*)$")
    local filesystem, source = (rest or ""):match(" %- (%S+) (%S+)")
    if filesystem then
      mounts[#mounts + 1] = {
        number = number, mount_point = unescape(point), filesystem = filesystem,
        source = unescape(source), read_only = ("," .. options .. ","):find(",ro,", 1, true) ~= nil,
      }
    end
  end
  return mounts
end

local function contains(point, path)
  return point == "/" or path == point or path:sub(1, #point + 1) == point .. "/"
end

--- The mount that holds a file.
-- @tparam string path  real path of the file
-- @tparam string number  "MAJOR:MINOR" of its file system, as stat tells it
-- @treturn ?table  as in mounts()
function M.holding(path, number)
  local best
  for _, mount in ipairs(M.mounts()) do
    -- Where one was mounted over another, the number tells; btrfs' is in no line of mountinfo.
    local exact = mount.number == number
    if contains(mount.mount_point, path) and (not best or exact and not best.exact
       or exact == best.exact and #mount.mount_point >= #best.mount.mount_point) then
      best = {mount = mount, exact = exact}
    end
  end
  return best and best.mount
end

--- Swap devices and files.
-- @treturn {string,...}  their paths
function M.swaps()
  local paths = {}
  for line in (files.bytes(files.roots.proc .. "/swaps") or ""):gmatch("[^\n]+") do
    local path = line:match("^(/%S*)%s")
    if path then
      paths[#paths + 1] = unescape(path)
    end
  end
  return paths
end

return M
