--- What the kernel says of a drive while it is used: link resets, commands that failed or took too
-- long, errors with their sectors.
--
-- A message is the drive's when the kernel tagged it so (DEVICE= of /dev/kmsg), or when it names the
-- drive as a word: its block device, its NVMe controller, its SCSI address, its ATA port.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.kernel_log
local core = require "hdd.core"
local files = require "hdd.sysfs.files"
local printable = require "hdd.printable"
local tree = require "hdd.sysfs.tree"

local M = {}
local Watch = {}
Watch.__index = Watch

local KERNEL_FACILITY <const> = 0

--- A record of /dev/kmsg taken apart.
-- Layout: the kernel's Documentation/ABI/testing/dev-kmsg.
-- @tparam string record
-- @treturn ?table  `facility`, `level` (0 emergency … 7 debug), `time_us` (since boot), `text`,
--   `device` (what DEVICE= holds: "b8:0", "+scsi:2:0:0:0"); nil when it is none
-- @usage kernel_log.parse("3,6398,26028318127,-;I/O error, dev sda, sector 8\n DEVICE=b8:0\n").text
function M.parse(record)
  local priority, time, rest = record:match("^(%d+),%d+,(%d+),[^;]*;(.*)$")
  priority = math.tointeger(priority)
  if not priority then return nil end
  local text, tags = rest:match("^([^\n]*)\n?(.*)$")
  -- Bytes that are not printable are written as \xNN by the kernel.
  return {
    facility = priority >> 3, level = priority & 7, time_us = math.tointeger(time),
    text = printable.line(text), device = ("\n" .. tags):match("\n DEVICE=([^\n]*)"),
  }
end

-- The names by which the kernel may call a block device, its numbers, and the controller or link
-- that it hangs on, as words and as DEVICE= has them.
local function names_of(number)
  local node = tree.by_number(number)
  if not node then return nil end
  local disk = node.disk
  local words, tags = { [disk.entry] = true, [node.entry] = true }, { ["b" .. number] = true }
  tags["b" .. (files.text(disk.dir .. "/dev") or "")] = true
  local scsi = disk.dir:match("/(%d+:%d+:%d+:%d+)/block/")
  if scsi then words[scsi], tags["+scsi:" .. scsi] = true, true end
  local port = disk.dir:match("/(ata%d+)/")
  -- Of a port with a multiplier the links are ata1.00, ata1.01 …: the port's own messages concern all.
  if port then words[port], words[port .. ".00"] = true, true end
  local controller = disk.entry:match("^(nvme%d+)")
  if controller then words[controller] = true end
  return words, tags
end

--- Is a message of a drive?
-- @tparam table message  as of `parse`
-- @tparam {[string]=true,...} words  names of the drive
-- @tparam {[string]=true,...} tags   what DEVICE= may hold
-- @treturn boolean
-- @usage kernel_log.concerns(message, { sda = true, ["2:0:0:0"] = true, ata3 = true }, { ["b8:0"] = true })
function M.concerns(message, words, tags)
  if message.facility ~= KERNEL_FACILITY then return false end
  if message.device and tags[message.device] then return true end
  for word in message.text:gmatch("[%w_:%.%-]+") do
    -- "ata3.00:", "[sda]", "nvme0n1,": what stands around a name does not belong to it.
    if words[word] or words[word:gsub("[:%.]+$", "")] then return true end
  end
  return false
end

--- Begins to watch.
-- @tparam Drive drive
-- @treturn Watch  of a drive that the kernel has no name for, or where its messages may not be read, one
--   that never has any
-- @usage local watch <close> = kernel_log.begin(drive)
-- ...
-- for _, message in ipairs(watch:take()) do print(message.time_s, message.text) end
function M.begin(drive)
  local self = setmetatable({ started_ns = core.now() }, Watch)
  if drive.type == "block" then
    self.words, self.tags = names_of(string.format("%d:%d", drive.major, drive.minor))
  end
  if self.words then self.log = core.kernel_log() end
  return self
end

--- What has come since it was last asked.
-- @treturn {table,...}  `time_s` since the beginning, by the kernel's clock; `text`, `level`
function Watch:take()
  local list = {}
  if not self.log then return list end
  for _, record in ipairs(self.log:read()) do
    local message = M.parse(record)
    if message and M.concerns(message, self.words, self.tags) then
      list[#list + 1] = {
        -- Its clock and the monotonic one may be some ms apart.
        time_s = math.max(0, message.time_us * 1000 - self.started_ns) / 1e9,
        text = message.text, level = message.level,
      }
    end
  end
  return list
end

--- Ends it. Harmless the second time.
function Watch:close()
  if self.log then self.log:close() end
  self.log = nil
end

Watch.__close = Watch.close

return M
