--- The I/O scheduler of the drive that is measured, changed for a while.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.scheduler
local core = require "hdd.core"
local sysfs = require "hdd.sysfs"

local M = {}

local EPERM <const>, EACCES <const>, EINVAL <const> = 1, 13, 22

-- A file's reads go through the queue of the system's own disk: that one is left alone.
local HAS_QUEUE <const> = {
  disk = true, partition = true, loop = true, ["device-mapper"] = true, md = true,
}

--- Has this target an I/O scheduler that could be set?
-- @tparam Drive drive
-- @treturn boolean
function M.exists(drive)
  return HAS_QUEUE[drive.kind] ~= nil and drive.scheduler ~= nil
end

--- Sets the scheduler of a drive, or of the one that a partition is on.
-- @tparam Drive drive
-- @tparam ?string name  "none"; "keep" and nil leave it as it is
-- @treturn ?Setting    to be closed (or dropped), which restores what was there; nil when it stays
--   as it was
-- @treturn ?string     why it could not be set, as a sentence for the document
-- @usage local setting <close>, warning = scheduler.set(drive, "none")
function M.set(drive, name)
  if not name or name == "keep" or name == drive.scheduler then return nil end
  local disk = (drive.parent or drive.name):gsub("/", "!")
  local path = string.format("%s/block/%s/queue/scheduler", sysfs.roots.sys, disk)
  local setting, message, code = core.setting(path, name)
  if setting then return setting end
  local way_out = code == EINVAL and drive.schedulers
    and " (there are: " .. table.concat(drive.schedulers, ", ") .. ")"
    or (code == EACCES or code == EPERM) and ": run as root" or ""
  return nil, string.format("the I/O scheduler stays %s: %s%s", drive.scheduler, message, way_out)
end

return M
