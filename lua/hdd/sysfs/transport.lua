-- SPDX-License-Identifier: GPL-3.0-or-later
--- How a drive is attached: transport, speed of its link, and the driver of its controller.
-- @module hdd.sysfs.transport
local files = require "hdd.sysfs.files"

local M = {}

-- Of devices that have no drive of their own beneath, or stand for several.
local OF_KIND = {loop = "loop", md = "md", zram = "memory", ram = "memory",
                 ["device-mapper"] = "device-mapper"}

-- By the name of the driver's disks, where the path to the device does not tell.
local OF_NAME = {{"^nbd%d", "nbd"}, {"^rbd%d", "rbd"}, {"^nullb%d", "null_blk"}, {"^pmem%d", "nvdimm"},
                 {"^drbd%d", "drbd"}, {"^ublkb%d", "ublk"}}

-- By the folders that the path to the device goes through; the first counts.
local OF_PATH = {
  {"/usb%d+/", "usb"}, {"/session%d+/", "iscsi"}, {"/rport%-", "fc"}, {"/end_device%-", "sas"},
  {"/mmc_host/", "mmc"}, {"/virtio%d+/block/", "virtio"}, {"/vbd%-", "xen"},
}

local function first(rules, text)
  for _, rule in ipairs(rules) do
    if text:find(rule[1]) then
      return rule[2]
    end
  end
end

-- A speed as the kernel writes it, unless it is "<unknown>".
local function speed_in(path)
  local text = files.text(path)
  return text and text:match("^%d") and text
end

-- The nearest folder upwards that has a file of this name.
local function above(dir, name)
  while dir and dir ~= files.roots.sys and dir ~= "" do
    if files.exists(dir .. "/" .. name) then
      return dir
    end
    dir = dir:match("^(.*)/")
  end
end

-- "6.0 Gbps", "8.0 GT/s PCIe": in millions a second.
local function mega(text)
  local whole, tenths = text:match("^(%d+)%.?(%d?)")
  return tonumber(whole) * 1000 + (tonumber(tenths) or 0) * 100
end

local function link_of_ata(disk)
  local port, number = disk.dir:match("^(.-/ata(%d+))/")
  local link = port and ("%s/link%s/ata_link/link%s"):format(port, number, number)
  local speed = link and speed_in(link .. "/sata_spd")  -- unknown on a parallel bus
  return speed and {speed = speed, maximum_speed = speed_in(link .. "/hw_sata_spd_limit"),
                    bytes_per_s = mega(speed) * 100000}
end

local function link_of_sas(disk)
  local port = disk.dir:match("^(.*)/end_device%-")
  for _, phy in ipairs(port and files.names(port) or {}) do
    if phy:match("^phy%-") then
      local dir = ("%s/%s/sas_phy/%s"):format(port, phy, phy)
      local speed = speed_in(dir .. "/negotiated_linkrate")
      if speed then
        local rate = mega(speed)
        return {speed = speed, maximum_speed = speed_in(dir .. "/maximum_linkrate"),
                bytes_per_s = rate > 20000 and 2400000000 or rate * 100000}
      end
    end
  end
end

local function link_of_usb(disk)
  local device = above(disk.dir, "idVendor")
  local megabits = device and files.integer(device .. "/speed")
  return megabits and {
    speed = megabits .. " Mbit/s",
    bytes_per_s = megabits < 5000 and megabits * 125000       -- no line code but stuffed bits
      or megabits < 10000 and megabits * 100000               -- 8b/10b
      or megabits * 125000 * 128 // 132,
  }
end

local function link_of_pci(disk)
  local device = above(disk.dir, "current_link_speed")
  local speed = device and speed_in(device .. "/current_link_speed")
  local lanes = device and files.integer(device .. "/current_link_width")
  if not speed or not lanes or lanes == 0 then
    return nil
  end
  local rate = mega(speed)
  local bytes = rate * 1000000 // 8 * lanes
  return {
    speed = speed, maximum_speed = speed_in(device .. "/max_link_speed"), lanes = lanes,
    maximum_lanes = files.integer(device .. "/max_link_width"),
    bytes_per_s = rate <= 5000 and bytes * 8 // 10 or rate <= 32000 and bytes * 128 // 130
      or bytes * 242 // 256,
  }
end

-- The kernel driver of the controller (ahci, mpt3sas, usb-storage, nvme …): the disk's own, sd or sr,
-- says nothing.
local function controller(disk)
  local dir = files.link(disk.dir .. "/device")
  while dir do
    dir = above(dir, "driver")
    local driver = dir and files.link(dir .. "/driver"):match("[^/]+$")
    if driver and driver ~= "sd" and driver ~= "sr" then
      return driver
    end
    dir = dir and dir:match("^(.*)/")
  end
end

--- How a whole device is attached.
-- @tparam table disk  its node (see hdd.sysfs.tree)
-- @tparam ?table made  what it says of itself (see hdd.sysfs.maker)
-- @treturn table  of transport ("sata", "ata" when parallel, "sas", "scsi", "usb", "nvme", "virtio",
--   "loop", …), controller (its driver) and link: speed and maximum_speed as the kernel writes them,
--   lanes, and bytes_per_s that the link carries at most once its line code is taken off
function M.of(disk, made)
  local own = OF_KIND[disk.kind]
  if own then
    return {transport = own}
  end
  local found = {controller = controller(disk)}
  local nvme = files.text(disk.dir .. "/device/transport")
  if disk.entry:match("^nvme%d") then
    found.transport = (nvme == nil or nvme == "pcie") and "nvme" or "nvme-" .. nvme
    found.link = found.transport == "nvme" and link_of_pci(disk) or nil
    return found
  end
  found.transport = first(OF_PATH, disk.dir) or first(OF_NAME, disk.entry)
  if found.transport == "usb" then
    found.link = link_of_usb(disk)
  elseif found.transport == "sas" then
    found.link = link_of_sas(disk)
    found.transport = made and made.ata and "sata" or "sas"  -- an ATA drive in a SAS bay
  elseif disk.dir:find("/ata%d+/") then
    found.link = link_of_ata(disk)
    found.transport = (found.link or made and made.serial_ata) and "sata" or "ata"
  elseif not found.transport and files.exists(disk.dir .. "/device/scsi_level") then
    found.transport = "scsi"
  end
  return found
end

return M
