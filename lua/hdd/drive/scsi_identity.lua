--- Who a SCSI or SAS drive is: INQUIRY, vital product data, READ CAPACITY (16).
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.scsi_identity

local bytes = require "hdd.drive.bytes"
local scsi_bytes = require "hdd.drive.scsi_bytes"

local M = {}

local VERSIONS = {
  "SCSI-1", "SCSI-2", "SPC", "SPC-2", "SPC-3", "SPC-4", "SPC-5", [0x0d] = "SPC-6",
}

local DEVICE_TYPES = {
  [0] = "disk", "tape", "printer", "processor", "write once", "optical disc", "scanner",
  "optical memory", "medium changer", "communications", [0x0c] = "storage array",
  [0x0d] = "enclosure", [0x0e] = "simplified disk", [0x11] = "object storage",
  [0x14] = "host managed zoned disk", [0x1e] = "well known logical unit", [0x1f] = "unknown",
}

local PROTOCOLS = {
  [0] = "Fibre Channel", "parallel SCSI", "SSA", "FireWire", "SRP", "iSCSI", "SAS", "ADT", "ATA",
  "USB", "SCSI over PCIe", [15] = "unknown",
}

local FORM_FACTOR = {"5.25 inches", "3.5 inches", "2.5 inches", "1.8 inches", "< 1.8 inches"}

local ZONED = {"host-aware", "device-managed"}

local PAGES = {
  [0x00] = "supported pages", [0x80] = "unit serial number", [0x83] = "device identification",
  [0x85] = "network addresses", [0x86] = "extended INQUIRY", [0x87] = "mode page policy",
  [0x88] = "SCSI ports", [0x89] = "ATA information", [0x8a] = "power condition",
  [0x8b] = "device constituents", [0x8d] = "power consumption", [0x8f] = "third-party copy",
  [0x90] = "protocol-specific logical unit", [0x91] = "protocol-specific port",
  [0xb0] = "block limits", [0xb1] = "block device characteristics",
  [0xb2] = "logical block provisioning", [0xb3] = "referrals", [0xb4] = "supported block lengths",
  [0xb5] = "block device characteristics extension", [0xb6] = "zoned block device characteristics",
  [0xb7] = "block limits extension", [0xb8] = "format presets", [0xb9] = "concurrent positioning",
}

--- Decode standard INQUIRY data.
-- @tparam string data  36 bytes or more
-- @treturn table  `vendor product revision` as they stand there, `model` (vendor and product, as
--   smartctl shows it) `firmware`, `device_type device_type_code`, `connected` (false: no such unit
--   behind this address), `removable`, `scsi_version`, `command_queuing`, `protect`, `warnings`
-- @usage local id = scsi_identity.inquiry(page); print(id.vendor, id.product)
function M.inquiry(data)
  local result = bytes.result(data, 36)
  local first = bytes.u8(data, 0)
  if not first then return result end
  result.device_type_code = first & 31
  result.device_type = DEVICE_TYPES[first & 31] or "reserved type"
  result.connected = first >> 5 == 0
  local removable, version = bytes.u8(data, 1), bytes.u8(data, 2)
  if removable then result.removable = removable >> 7 == 1 end
  result.scsi_version = VERSIONS[version]
  local protect, queuing = bytes.u8(data, 5), bytes.u8(data, 7)
  if protect then result.protect = protect & 1 == 1 end
  if queuing then result.command_queuing = queuing & 2 == 2 end
  result.vendor, result.product = bytes.text(data:sub(9, 16)), bytes.text(data:sub(17, 32))
  result.revision = bytes.text(data:sub(33, 36))
  result.firmware = result.revision
  if result.vendor and result.product then
    result.model = result.vendor .. " " .. result.product
  else
    result.model = result.product or result.vendor
    bytes.warn(result, "no_model", "INQUIRY holds no vendor or no product name")
  end
  return result
end

-- A page of vital product data: a fresh result and the bytes behind the header.
local function page_of(data, code)
  local result = bytes.result(data, 4)
  local length = scsi_bytes.u16(data, 2)
  if not length then return result, "" end
  if bytes.u8(data, 1) ~= code then
    bytes.warn(result, "wrong_page",
      "vital product data page %02Xh was asked for, %02Xh came: not read",
      code, bytes.u8(data, 1))
    return result, ""
  end
  if 4 + length > #data then
    bytes.warn(result, "short", "%d bytes of %d: the rest is missing", #data, 4 + length)
  end
  return result, data:sub(5, 4 + length)
end

--- Decode the list of vital product data pages (VPD 00h).
-- @tparam string data
-- @treturn table  `pages[] {page name}`, `warnings`
-- @usage for _, p in ipairs(scsi_identity.pages(page).pages) do print(p.page, p.name) end
function M.pages(data)
  local result, body = page_of(data, 0x00)
  result.pages = bytes.list()
  for k = 1, #body do
    local page = body:byte(k)
    local name = PAGES[page] or page >= 0xc0 and "maker's own" or "reserved"
    result.pages[k] = {page = page, name = name}
  end
  return result
end

--- Decode the unit serial number (VPD 80h).
-- @tparam string data
-- @treturn table  `serial`, `warnings`
-- @usage print(scsi_identity.serial(page).serial)
function M.serial(data)
  local result, body = page_of(data, 0x80)
  result.serial = bytes.text(body)
  return result
end

local ASSOCIATIONS = {[0] = "logical unit", "port", "target"}

local TYPES = {
  [0] = "maker's own", "T10 vendor", "EUI-64", "NAA", "relative port", "port group", "unit group",
  "MD5",
  "SCSI name", "protocol port", "UUID",
}

local function designator(body, at, length)
  local first, second = bytes.u8(body, at), bytes.u8(body, at + 1)
  local set, raw = first & 15, body:sub(at + 5, at + 4 + length)
  return {
    association = ASSOCIATIONS[second >> 4 & 3] or "reserved", type = TYPES[second & 15]
    or "reserved",
    -- The protocol counts only when the drive says so.
    protocol = second >> 7 == 1 and (PROTOCOLS[first >> 4] or "reserved") or nil,
    protocol_code = second >> 7 == 1 and first >> 4 or nil,
    identifier = (set == 2 or set == 3) and bytes.text(raw) or bytes.hex(raw),
  }
end

-- What the logical unit is known by: NAA before EUI-64.
local function logical_unit(designators)
  for _, kind in ipairs {"NAA", "EUI-64"} do
    for _, d in ipairs(designators) do
      if d.association == "logical unit" and d.type == kind then return d.identifier end
    end
  end
end

--- Decode device identification (VPD 83h).
-- @tparam string data
-- @treturn table  `wwn` (hexadecimal digits) of the logical unit, `transport transport_code` ("SAS"
--   6, "parallel SCSI" 1 ...), `designators[] {association type identifier protocol
--   protocol_code}`, `warnings`
-- @usage print(scsi_identity.designators(page).wwn)
function M.designators(data)
  local result, body = page_of(data, 0x83)
  result.designators = bytes.list()
  local at = 0
  while at + 4 <= #body do
    local length = bytes.u8(body, at + 3)
    if at + 4 + length > #body then
      bytes.warn(result, "designator", "a designator of %d bytes is cut off: not read", length)
      break
    end
    if length > 0 then table.insert(result.designators, designator(body, at, length)) end
    at = at + 4 + length
  end
  result.wwn = logical_unit(result.designators)
  for _, d in ipairs(result.designators) do
    if d.protocol and not result.transport then
      result.transport, result.transport_code = d.protocol, d.protocol_code
    end
  end
  return result
end

--- Decode block device characteristics (VPD B1h).
-- @tparam string data
-- @treturn table  `rotation_rpm` (absent when not reported), `solid_state`, `form_factor`, `zoned`,
--   `warnings`
-- @usage print(scsi_identity.characteristics(page).rotation_rpm)
function M.characteristics(data)
  local result, body = page_of(data, 0xb1)
  local rotation, form, zoned = scsi_bytes.u16(body, 0), bytes.u8(body, 3), bytes.u8(body, 4)
  if rotation == 1 then
    result.solid_state = true
  elseif rotation and rotation > 0x400 and rotation < 0xffff then
    result.solid_state, result.rotation_rpm = false, rotation
  end
  result.form_factor = form and FORM_FACTOR[form & 15]
  result.zoned = zoned and ZONED[zoned >> 4 & 3]
  return result
end

--- Decode READ CAPACITY (16).
-- @tparam string data  32 bytes
-- @treturn table  `sectors size_bytes logical_sector_size_bytes physical_sector_size_bytes
--   alignment_offset_sectors`, `protection_type` (0: none), `trim {supported reads_zeroes}`,
--   `warnings`
-- @usage print(scsi_identity.capacity(page).size_bytes)
function M.capacity(data)
  local result = bytes.result(data, 16)
  local last, size = scsi_bytes.number(data, 0, 8), scsi_bytes.u32(data, 8)
  local protection, exponent, tail = bytes.u8(data, 12), bytes.u8(data, 13),
    scsi_bytes.u16(data, 14)
  if not size then return result end
  if protection then result.protection_type = protection & 1 == 1 and (protection >> 1 & 7) + 1
    or 0 end
  if tail then
    result.trim = {supported = tail >> 15 == 1, reads_zeroes = tail >> 14 & 1 == 1}
    result.alignment_offset_sectors = tail & 0x3fff
  end
  if size < 256 or size > 65536 then
    bytes.warn(result, "sector_size", "sectors of %d bytes are not believed", size)
    return result
  end
  result.logical_sector_size_bytes = size
  if exponent then result.physical_sector_size_bytes = size << (exponent & 15) end
  if last < 0 or last >= math.maxinteger // size then
    bytes.warn(result, "size", "the last address %s is not believed", bytes.unsigned(last))
    return result
  end
  result.sectors, result.size_bytes = last + 1, (last + 1) * size
  return result
end

return M
