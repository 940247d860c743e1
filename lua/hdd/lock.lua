-- SPDX-License-Identifier: GPL-3.0-or-later
--- Locks between processes: one drive is tested by one process at a time, one state file kept by one.
-- A lock is the kernel's (fcntl), on a small file that names its holder; it ends with the process,
-- however that ends, and children do not inherit it.
-- @module hdd.lock
-- @usage local held, message = lock.take("drive-WD-WXL0E12345", "/dev/sdb")
local lfs = require "lfs"
local printable = require "hdd.printable"

local M = {}
local Lock = {}
Lock.__index = Lock

local EACCES <const>, EBUSY <const>, ELOOP <const> = 13, 16, 40
local TRIES <const> = 10

-- What this process holds, by path: the kernel would let it have a lock twice, and lose it with the
-- first of the two files that is closed.
local ours = {}

--- Where the files are: the first of these that can be written. All users' locks must meet.
M.folders = { "/run/lock", "/var/lock", "/tmp" }

local function process()
  local stream <close> = io.open("/proc/self/stat", "rb")
  return stream and stream:read("n") or 0
end

-- Without O_CREAT first: in a folder of everyone's, the kernel lets nobody create over another's file.
-- Nor is a link followed that somebody has put there: it would name a file of his choice to write to.
local function open(path)
  if lfs.symlinkattributes(path, "mode") == "link" then
    return nil, path .. " is a symbolic link: remove it", ELOOP
  end
  local stream = io.open(path, "r+b") or io.open(path, "a+b")
  if stream then return stream, "w" end
  local message, code
  stream, message, code = io.open(path, "rb") -- another user's: a shared lock meets his all the same
  if stream then return stream, "r" end
  return nil, message, code
end

-- Opens and locks the file at a path: stream, and whether it is locked. The file that is locked must
-- be the one that is there afterwards, too: its holder removes it when he lets go.
local function lock_at(path)
  for _ = 1, TRIES do
    local before = lfs.attributes(path, "ino")
    local stream, how, code = open(path)
    if not stream then return nil, how, code end
    local locked = lfs.lock(stream, how)
    if not locked or before and lfs.attributes(path, "ino") == before then
      return stream, locked and how
    end
    stream:close()
  end
  return nil, "it comes and goes", EBUSY
end

-- Who holds it, as its file says.
local function holder(stream)
  stream:seek("set")
  local pid, since = (stream:read("a") or ""):match("^(%d+) +([^\n]*)")
  if not pid then return "another process has it" end
  local command <close> = io.open("/proc/" .. pid .. "/cmdline", "rb")
  local words = command and printable.line((command:read("a"):gsub("%z", " ")))
  return string.format("process %s%s has it, since %s", pid,
    words and words ~= "" and " (" .. printable.clip(words:gsub(" $", ""), 60) .. ")" or "", since)
end

local function refuse(what, who)
  return nil, string.format(
    "%s is in use: %s; end that first (it keeps what it has), or wait for it", what, who), EBUSY
end

--- Takes a lock; does not wait for it.
-- @tparam string name  what it is a lock of; the same for all who would use it
-- @tparam string what  for the message: "/dev/sdb (WD-WXL0E12345)"
-- @treturn Lock  `:release()`; also at `__close` and when it is collected
-- @return or nil, message that names the holder, code (16, EBUSY)
function M.take(name, what)
  local path, stream, how
  for _, folder in ipairs(M.folders) do
    path = folder .. "/hddlua-" .. printable.file_name(name) .. ".lock"
    if ours[path] then return refuse(what, "this very process has it") end
    stream, how = lock_at(path)
    if stream then break end
  end
  if not stream then
    return nil, string.format("%s: no lock file can be written in %s: %s", what,
      table.concat(M.folders, ", "), how), EACCES
  end
  if not how then
    local who = holder(stream)
    stream:close()
    return refuse(what, who)
  end
  if how == "w" then
    stream:seek("set")
    stream:write(string.format("%-10d %s\n", process(), os.date("!%Y-%m-%dT%H:%M:%SZ")))
    stream:flush()
  end
  ours[path] = true
  return setmetatable({ path = path, stream = stream }, Lock)
end

--- Lets go of it. Harmless the second time.
function Lock:release()
  if not self.stream then return end
  os.remove(self.path) -- while it is locked: see lock_at
  self.stream:close()
  self.stream, ours[self.path] = nil, nil
end

Lock.__close, Lock.__gc = Lock.release, Lock.release

return M
