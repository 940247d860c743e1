-- SPDX-License-Identifier: GPL-3.0-or-later
--- The state of a long procedure on one drive: a checkpoint from which it goes on after an
-- interruption, kill -9, power loss or reboot.
--
-- A state is a JSON file that is written whole or not at all. While it is open, the drive and the file
-- are locked: a second run on either is refused, and told who holds it. A disk that is full is told
-- once, and tried again; the procedure goes on meanwhile.
-- @module hdd.state
-- @usage local s <close> = assert(state.open("burnin", drive:identity(), { version = 1 }))
-- while work_left() do
--   work()
--   s:keep(function() return { position_bytes = position } end)
-- end
-- s:finish()
local core = require "hdd.core"
local file = require "hdd.file"
local form = require "hdd.state.form"
local lfs = require "lfs"
local lock = require "hdd.lock"
local printable = require "hdd.printable"
local sysfs = require "hdd.sysfs"
local units = require "hdd.units"

local M = {}
local State = {}
State.__index = State

-- At least every 30 s, though a procedure looks only every 10 s or so whether it is time.
local EVERY_NS <const>, AGAIN_NS <const> = 20000000000, 5000000000
local ENOENT <const>, EEXIST <const>, ENODEV <const> = 2, 17, 19

local function boot()
  local stream <close> = io.open("/proc/sys/kernel/random/boot_id", "rb")
  return stream and stream:read("l") or nil
end

local function now()
  return os.date("!%Y-%m-%dT%H:%M:%SZ")
end

-- A name that no other drive of this machine has, and this one keeps as far as it can.
local function own_name(drive)
  local found = lfs.attributes(drive.real_path or drive.path)
  if found and found.mode == "file" then -- its serial number is that of the drive it lies on
    return string.format("%s-%d-%d", drive.name or "file", found.dev, found.ino)
  end
  if drive.serial and printable.trim(drive.serial) ~= "" then
    local part = drive.identity_of and drive.name and "-" .. drive.name or ""
    return (drive.model and drive.model .. "-" or "") .. printable.trim(drive.serial) .. part
  end
  return drive.name or drive.path
end

--- Where states are kept: $XDG_STATE_HOME/hddlua, else ~/.local/state/hddlua; /var/lib/hddlua where
-- there is no home (a system service).
-- @tparam[opt=os.getenv] function getenv
-- @treturn string  a folder, which need not be there yet
function M.folder(getenv)
  getenv = getenv or os.getenv
  local given, home = getenv("XDG_STATE_HOME"), getenv("HOME")
  if given and given:match("^/") then return given .. "/hddlua" end -- a relative one does not count
  if home and home:match("^/") then return home .. "/.local/state/hddlua" end
  return "/var/lib/hddlua"
end

local function is_folder(path)
  return path:match("/$") or lfs.attributes(path, "mode") == "directory"
end

--- The file for the state of a drive.
-- @tparam string procedure  "burnin"
-- @tparam table drive       its identity
-- @tparam ?string given     what the user asked for: a file, or a folder (it is there, or ends in /)
-- @treturn string
-- @usage state.path("burnin", drive:identity())
--   --> "/root/.local/state/hddlua/burnin-WDC-WD6000HLHX-WD-WXL0E12345.json"
function M.path(procedure, drive, given)
  if given and not is_folder(given) then return given end
  local folder = (given or M.folder()):gsub("/+$", "")
  return string.format("%s/%s-%s.json", folder, procedure, printable.file_name(own_name(drive)))
end

-- How it came that the state is to be gone on from.
local function interruption(found)
  local reason = "killed"
  if found.stopped then
    reason = "stopped"
  elseif found.boot ~= boot() then
    reason = "reboot"
  end
  return { saved_at = found.saved_at, resumed_at = now(), reason = reason }
end

local function make_folder(path)
  local folder = path:match("^(.*)/[^/]*$")
  if not folder or folder == "" or lfs.attributes(folder, "mode") then return true end
  local made, message, code = make_folder(folder)
  if made then made, message, code = lfs.mkdir(folder) end
  if made or lfs.attributes(folder, "mode") == "directory" then return true end
  return nil, string.format("cannot make the folder %s: %s", folder, message), code
end

-- What a process that was killed while it saved left behind; nobody else writes here: it is locked.
local function sweep(path)
  local folder, name = path:match("^(.*/)([^/]*)$")
  folder, name = folder or "./", name or path
  local prefix = "." .. name:sub(1, 200) .. "."
  local ok, entries, handle = pcall(lfs.dir, folder)
  if not ok then return end
  for entry in entries, handle do
    if entry:sub(1, #prefix) == prefix and entry:sub(#prefix + 1):match("^%x+%.tmp$") then
      os.remove(folder .. entry)
    end
  end
end

-- The name of the lock of a state file: by where it really is.
local function lock_name(path)
  local folder = lfs.attributes(path:match("^(.*/)[^/]*$") or ".") or { dev = 0, ino = 0 }
  return string.format("state-%d-%d-%s", folder.dev, folder.ino, path:match("[^/]*$"))
end

--- Locks a drive against other runs, in this process and others, for runs that keep no state.
-- @tparam table drive  its identity
-- @treturn Lock  see hdd.lock
-- @return or nil, message, code (16, EBUSY)
function M.lock(drive)
  return lock.take("drive-" .. own_name(drive), form.shown(drive))
end

local function tell(sentence)
  io.stderr:write("hddlua: ", sentence, "\n")
end

-- Reads what is there, and decides whether it is to be gone on from. `found` is nil when it begins.
local function look(self, procedure, drive, options)
  local path = self.path
  local there = lfs.attributes(path, "mode")
  if not options.resume then
    if there == "file" and not options.force then
      return nil, string.format("%s: a %s of %s has been begun: go on with it (--resume), or begin "
        .. "anew (--force)", path, procedure, form.shown(drive)), EEXIST
    end
    return file.probe(path, { force = true })
  end
  if not there then
    return nil, string.format("there is no state of %s to go on from: no file %s", form.shown(drive),
      path), ENOENT
  end
  local found, message, code = form.read(path)
  if not found then return nil, message, code end
  message, code = form.problem(found, path, procedure, drive, options.version)
  if message then return nil, message, code end
  self.data, self.saved_at, self.begun_at = found.data, found.saved_at, found.begun_at
  self.interruptions = found.interruptions or {}
  table.insert(self.interruptions, interruption(found))
  return true
end

--- Opens the state of a procedure on a drive: a new one, or (`resume`) the one that is there.
-- @tparam string procedure  "burnin"
-- @tparam table drive       its identity, see `Drive:identity`
-- @tparam table options
--   `version` (integer: of the data's form; another one is refused), `path` (state.path), `resume`,
--   `force` (begin anew whatever is there), `tell` (function(sentence): that it can't be saved, and
--   that it can again; default: on standard error)
-- @treturn State  `path`; `data` (what was saved last; nil of a new one), `saved_at`, `begun_at`,
--   `interruptions` of {`saved_at`, `resumed_at`, `reason` = "stopped", "killed" or "reboot"}
-- @return or nil, message, code: 16 (drive or file in use; who has it), 17 (there is one), 2 (none),
--   19 (it is another drive's), 71 (another version's), 74 (damaged), or as of writing a file
function M.open(procedure, drive, options)
  local self = setmetatable({
    path = options.path or M.path(procedure, drive), procedure = procedure, drive = drive,
    version = options.version, tell = options.tell or tell, interruptions = {}, begun_at = now(),
    next_ns = core.now() + EVERY_NS,
  }, State)
  local done, message, code = make_folder(self.path)
  if not done then return nil, message, code end
  self.drive_lock, message, code = M.lock(drive)
  if not self.drive_lock then return nil, message, code end
  self.file_lock, message, code = lock.take(lock_name(self.path), "the state file " .. self.path)
  if self.file_lock then
    sweep(self.path)
    done, message, code = look(self, procedure, drive, options)
    if done then return self end
  end
  self:close()
  return nil, message, code
end

--- Saves.
-- @tparam table data  what to go on from: what JSON can hold
-- @tparam[opt] boolean stopped  true: the last saving of a run that was interrupted and ends here
-- @treturn boolean  true
-- @return or nil, message, code; the message has been told if it is new
function State:save(data, stopped)
  local saved_at = now()
  local text = form.text({
    procedure = self.procedure, version = self.version, begun_at = self.begun_at,
    saved_at = saved_at, boot = boot(), stopped = stopped or nil, drive = self.drive,
    interruptions = self.interruptions,
  }, data)
  local written, message, code = file.write(self.path, text, { force = true })
  if not written then
    self.next_ns = core.now() + AGAIN_NS
    if self.told ~= message then
      self.tell(string.format("%s: it goes on, and tries again; after a crash it would go on from %s",
        message, self.saved_at and "what was saved at " .. self.saved_at or "the beginning"))
    end
    self.told = message
    return nil, message, code
  end
  if self.told then self.tell(self.path .. ": the state is saved again") end
  self.told, self.saved_at, self.next_ns = nil, saved_at, core.now() + EVERY_NS
  return true
end

--- Is it time to save? 20 s after it was saved, 5 s after that failed.
-- @treturn boolean
function State:due()
  return core.now() >= self.next_ns
end

--- Saves if it is time.
-- @tparam function f  makes the data
-- @treturn boolean  true, also when it was not time
-- @return or nil, message, code
function State:keep(f)
  if not self:due() then return true end
  return self:save(f())
end

--- Lets go of it; the file stays, to go on from. Harmless the second time.
function State:close()
  if self.file_lock then self.file_lock:release() end
  if self.drive_lock then self.drive_lock:release() end
end

State.__close = State.close

--- The procedure is done and its document saved: the state is removed.
-- @treturn boolean  true
-- @return or nil, message, code
function State:finish()
  local done, message, code = os.remove(self.path)
  self:close()
  if done or code == ENOENT then return true end
  return nil, "cannot remove the state: " .. message, code
end

--- The states that are there.
-- @tparam ?string place  file or folder (M.folder)
-- @treturn {table,...}  each with `path` and either `procedure`, `drive`, `saved_at` or `problem`
-- @usage for _, entry in ipairs(state.list()) do print(entry.path, state.find(entry)) end
function M.list(place)
  place = place or M.folder()
  local names, list = {}, {}
  if not is_folder(place) then
    names[1] = place
  else
    local ok, entries, handle = pcall(lfs.dir, place)
    for entry in ok and entries or function() end, handle do
      if entry:match("^[^.].*%.json$") then names[#names + 1] = place:gsub("/+$", "") .. "/" .. entry end
    end
  end
  table.sort(names)
  for i, name in ipairs(names) do
    local found, problem = form.read(name)
    list[i] = found and {
      path = name, procedure = found.procedure, drive = found.drive, saved_at = found.saved_at,
    } or { path = name, problem = problem }
  end
  return list
end

-- Is it that drive? One without a serial number is known by its size alone, at the same path.
local function is_drive(drive, path)
  local open <close> = require("hdd").open(path)
  if not open then return false end
  local identity = open:identity()
  return identity.serial == drive.serial and not sysfs.difference(drive, identity)
end

--- Finds the drive of a state, whatever its name is now.
-- @tparam table entry  of `list`
-- @treturn string  path
-- @return or nil, message, code (19, ENODEV)
function M.find(entry)
  local drive = entry.drive
  if drive.path and is_drive(drive, drive.path) then return drive.path end
  if drive.serial then
    for _, name in ipairs(sysfs.disks()) do
      local identity = sysfs.identity(name)
      if identity and identity.serial == drive.serial and not sysfs.difference(drive, identity) then
        return "/dev/" .. name
      end
    end
  end
  return nil, string.format("%s, of %s, is not there: attach it, or remove %s", form.shown(drive),
    units.decimal_bytes(drive.size_bytes), entry.path), ENODEV
end

return M
