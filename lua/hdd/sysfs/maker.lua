-- SPDX-License-Identifier: GPL-3.0-or-later
--- Who made a drive and which one it is: vendor, model, serial number, firmware, World Wide Name and
-- rotation rate, from what the kernel read when the drive appeared. No command is sent to it.
-- @module hdd.sysfs.maker
local files = require "hdd.sysfs.files"

local M = {}

-- The body of a SCSI vital product data page, whose number and length are checked.
local function page(device, number)
  local bytes = files.bytes(("%s/vpd_pg%02x"):format(device, number))
  if not bytes or #bytes < 4 or bytes:byte(2) ~= number then
    return nil
  end
  return bytes:sub(5, 4 + string.unpack(">I2", bytes, 3))
end

-- The drive's own World Wide Name in page 83h: of the logical unit, NAA before EUI-64.
local function wwn_of_page(body)
  local eui
  local at = 1
  while body and at + 3 <= #body do
    local kind, length = body:byte(at + 1), body:byte(at + 3)
    local association, designator = kind >> 4 & 3, kind & 15
    local value = body:sub(at + 4, at + 3 + length)
    if association == 0 and #value == length and length >= 8 then
      local hex = value:gsub(".", function(c) return ("%02x"):format(c:byte()) end)
      if designator == 3 then
        return "0x" .. hex
      elseif designator == 2 then
        eui = eui or "eui." .. hex
      end
    end
    at = at + 4 + length
  end
  return eui
end

-- The rotation rate, as ATA (word 217) and SCSI (page B1h) write it alike: 1 means that nothing
-- rotates. Returned as smartctl does: 0 for that, nil when the drive does not say.
local function rotation(word)
  if word == 1 then
    return 0
  end
  return word and word > 0x400 and word < 0xFFFF and word or nil
end

--- The fields of interest of an ATA drive's IDENTIFY DEVICE data.
-- @tparam string identify  its 512 bytes
-- @treturn table  of model, serial, firmware, wwn, rotation_rate_rpm, and serial_ata (boolean)
function M.ata(identify)
  local function word(n) return (string.unpack("<I2", identify, 2 * n + 1)) end
  local function text(first, last)
    return files.clean(identify:sub(2 * first + 1, 2 * last + 2):gsub("(.)(.)", "%2%1"))
  end
  local wwn
  if word(87) & 0xC100 == 0x4100 then
    wwn = ("0x%04x%04x%04x%04x"):format(word(108), word(109), word(110), word(111))
  end
  return {
    serial = text(10, 19), firmware = text(23, 26), model = text(27, 46), wwn = wwn,
    rotation_rate_rpm = rotation(word(217)), serial_ata = word(76) ~= 0 and word(76) ~= 0xFFFF,
  }
end

local function scsi(disk, device)
  local serial = page(device, 0x80)
  local characteristics = page(device, 0xB1)
  local made = {
    vendor = files.text(device .. "/vendor"), model = files.text(device .. "/model"),
    firmware = files.text(device .. "/rev"), serial = files.clean(serial),
    wwn = wwn_of_page(page(device, 0x83)),
    rotation_rate_rpm = characteristics and #characteristics >= 2
      and rotation(string.unpack(">I2", characteristics)) or nil,
  }
  if not made.wwn then
    local wwid = files.text(device .. "/wwid") or ""
    made.wwn = wwid:match("^naa%.(%x+)$") and "0x" .. wwid:sub(5) or wwid:match("^eui%.%x+$")
  end
  -- SCSI's model has 16 characters and its firmware 4, ATA's 40 and 8: page 89h has them whole.
  -- (scsi_debug has such a page, too, about some other drive.)
  local identify = page(device, 0x89)
  local usb = disk.dir:find("/usb%d+/") ~= nil
  made.ata = made.vendor == "ATA"
  if identify and #identify >= 568 and (made.ata or usb) then
    local ata = M.ata(identify:sub(57, 568))
    if ata.model then
      made.ata, made.serial_ata = true, ata.serial_ata
      for _, name in ipairs {"model", "serial", "firmware", "wwn", "rotation_rate_rpm"} do
        made[name] = ata[name] or made[name]
      end
    end
  end
  if made.ata then
    made.vendor = nil  -- the name of the command set, or of the bridge, not of who made the drive
  end
  if not made.serial and usb then
    local at = disk.dir
    while at ~= "" and not files.exists(at .. "/idVendor") do
      at = at:match("^(.*)/") or ""
    end
    made.serial = at ~= "" and files.text(at .. "/serial") or nil
  end
  return made
end

local function nvme(disk, device)
  local wwn = files.text(disk.dir .. "/wwid")
  return {
    model = files.text(device .. "/model"), serial = files.text(device .. "/serial"),
    firmware = files.text(device .. "/firmware_rev"), rotation_rate_rpm = nil,
    -- "nvme.…" is made up by the kernel from the fields above when the drive has no name.
    wwn = wwn and not wwn:match("^nvme%.") and wwn or nil,
  }
end

-- What udev's programs found out, for what the kernel does not show.
local function udev(number)
  local found = {}
  local text = number and files.bytes(files.roots.udev .. "/data/b" .. number) or ""
  for key, value in text:gmatch("E:(ID_[A-Z_]+)=([^\n]*)") do
    found[key] = files.clean(value:gsub("\\x(%x%x)", function(hex)
      return string.char(tonumber(hex, 16))
    end))
  end
  return found
end

--- What a whole disk says of itself.
-- @tparam table disk   its node (see hdd.sysfs.tree)
-- @tparam ?string number  "MAJOR:MINOR"
-- @treturn table  of vendor, model, serial, firmware, wwn (strings), rotation_rate_rpm (0: does not
--   rotate), ata and serial_ata (booleans); what is unknown is absent
function M.of(disk, number)
  local device = disk.dir .. "/device"
  local made
  if files.exists(device .. "/scsi_level") then
    made = scsi(disk, device)
  elseif files.exists(device .. "/firmware_rev") then
    made = nvme(disk, device)
  elseif files.exists(device .. "/cid") then
    made = {model = files.text(device .. "/name"), serial = files.text(device .. "/serial"),
            firmware = files.text(device .. "/fwrev")}
  else
    made = {serial = files.text(disk.dir .. "/serial")}  -- virtio, zoned and network ones
  end
  local known = udev(number)
  if known.ID_ATA == "1" and made.serial_ata == nil then
    -- No page 89h (before Linux 5.5): SCSI's model and firmware are cut short, udev's are whole.
    made.model = known.ID_MODEL_ENC or made.model
    made.firmware = known.ID_REVISION or made.firmware
  end
  made.model = made.model or known.ID_MODEL_ENC or known.ID_MODEL
  made.serial = made.serial or known.ID_SCSI_SERIAL or known.ID_SERIAL_SHORT
  made.firmware = made.firmware or known.ID_REVISION
  made.wwn = made.wwn or known.ID_WWN_WITH_EXTENSION or known.ID_WWN
  return made
end

return M
