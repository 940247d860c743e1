-- Who a drive is and how it is set, in a few dense lines.
-- SPDX-License-Identifier: GPL-3.0-or-later
local units = require "hdd.units"
local words = require "hdd.view.health.words"

local M = {}

local function medium(id)
  if id.rotation_rpm then return id.rotation_rpm .. " rpm" end
  if id.solid_state then return "solid state" end
end

local function sectors(id)
  local logical, physical = id.logical_sector_size_bytes, id.physical_sector_size_bytes
  if not logical then return nil end
  if physical and physical ~= logical then
    return ("sectors of %d B (%d B physical)"):format(logical, physical)
  end
  return ("sectors of %d B"):format(logical)
end

local function link(said)
  local id = said.identity
  if id.link and id.link.max_mbit_per_s then
    local now, most = id.link.current_mbit_per_s, id.link.max_mbit_per_s
    local host = said.link and said.link.speed
    if now == most then return "link at " .. words.gigabits(now) end
    if now then return ("link at %s of %s"):format(words.gigabits(now), words.gigabits(most)) end
    return ("link up to %s%s"):format(words.gigabits(most), host and ", now " .. host or "")
  end
  local l = said.link
  if not l or not l.speed then return nil end
  return "link at " .. l.speed .. (l.lanes and (" ×%d"):format(l.lanes) or "") ..
    (l.maximum_speed and l.maximum_speed ~= l.speed and " of " .. l.maximum_speed or "")
end

local function size(id)
  if not id.size_bytes then return nil end
  local text = units.bytes(id.size_bytes)
  local native = id.native_size_bytes
  if native and native > id.size_bytes then
    text = text .. (", of %s native: the rest is hidden"):format(units.bytes(native))
  end
  return text
end

-- Appends what is not nil.
local function list(...)
  local items = {}
  for i = 1, select("#", ...) do
    local item = select(i, ...)
    if item then items[#items + 1] = item end
  end
  return items
end

local STANDARD = {ata = "ATA", nvme = "NVMe", scsi = "SCSI"}

local function standard(said)
  local id = said.identity
  local version = id.ata_standard or id.version and "NVMe " .. id.version or id.scsi_version
  if id.sata_version then return ("%s, %s"):format(version or "ATA", id.sata_version) end
  return version or STANDARD[said.kind]
end

local function feature(said, name, label)
  local f = said.identity.features and said.identity.features[name]
  if not f or not f.supported or f.enabled == nil then return nil end
  return label .. " " .. words.on(f.enabled)
end

local function recovery(said)
  local erc = said.sct and said.sct.error_recovery
  if not erc then return nil end
  local function seconds(e)
    if not e then return "?" end
    return e.enabled and units.fixed(e.ms / 1000, 1) .. " s" or "no limit"
  end
  return ("error recovery read %s, write %s"):format(seconds(erc.read), seconds(erc.write))
end

local function security(said)
  local s = said.identity.security
  if type(s) ~= "table" or not s.supported then return nil end
  if s.locked then return "LOCKED by a password" end
  if s.enabled then return "password set" end
  return s.frozen and "security frozen" or nil
end

local function cache(said)
  local sct = said.sct and said.sct.write_cache
  if sct and (sct.state == "enabled" or sct.state == "disabled") then
    return "write cache " .. (sct.state == "enabled" and "on" or "off") .. " (by SCT)"
  end
  return feature(said, "write_cache", "write cache")
end

local function settings(said)
  local id = said.identity
  local ncq = id.ncq
  local reorder = said.sct and said.sct.reordering
  return list(
    ncq and (ncq.supported and ("NCQ depth %d"):format(ncq.depth or 0) or "no NCQ"),
    cache(said), feature(said, "look_ahead", "read-ahead"),
    reorder and reorder.state and reorder.state == "disabled" and "reordering off" or nil,
    feature(said, "smart", "SMART"), recovery(said),
    feature(said, "advanced_power_management", "power management"), security(said))
end

-- SCSI names of what is no single drive: vendor, product, and what to do instead.
local RAID <const> = "a RAID volume: its drives are asked through the controller's own tools"
local VIRTUAL <const> = "a virtual disk: the drive beneath is its host's to ask"
local STANDS_FOR = {
  {"^AVAGO", "MR", RAID},
  {"^LSI", "MR", RAID},
  {"^BROADCOM", "MR", RAID},
  {"^DELL", "PERC", RAID},
  {"^HPE?$", "LOGICAL VOLUME", RAID},
  {"^Adaptec", "", RAID},
  {"^ASR", "", RAID},
  {"^Areca", "", RAID},
  {"^VMware", "", VIRTUAL},
  {"^Msft", "Virtual", VIRTUAL},
  {"^VBOX", "", VIRTUAL},
  {"^QEMU", "", VIRTUAL},
}

local function stands_for(said)
  local inquiry = said.kind == "scsi" and said.inquiry or {}
  for _, row in ipairs(STANDS_FOR) do
    if (inquiry.vendor or ""):find(row[1]) and (inquiry.product or ""):find(row[2], 1, true) then
      return row[3]
    end
  end
end

--- The name of a drive for a heading: its model, or where it was found.
function M.title(said)
  local id = said.identity or {}
  return id.model or said.source and said.source.name or "drive"
end

local SOURCES = {
  recording = "recording %s", snapshot = "snapshot %s",
}

local function where(said)
  local s = said.source or {}
  local text = (SOURCES[s.kind] or "%s"):format(s.path or "?")
  if s.part_of then text = text .. (" (of the drive %s)"):format(s.part_of) end
  if s.read_at then text = text .. ", read " .. s.read_at:gsub("T", " "):gsub("Z$", " UTC") end
  if s.anonymised then text = text .. ", made anonymous" end
  return text
end

--- The lines at the head.
function M.draw(page, said)
  local id = said.identity or {}
  page:items(list(M.title(said), "serial " .. (id.serial or "unknown"),
    id.firmware and "firmware " .. id.firmware), "  ")
  if said.source then page:line("  " .. where(said)) end
  if next(id) == nil then return end
  local function indented(items)
    if #items > 0 then
      items[1] = "  " .. items[1]
      page:items(items, "  ")
    end
  end
  indented(list(size(id), medium(id), id.form_factor, sectors(id), standard(said), link(said),
    id.wwn and "WWN " .. id.wwn, said.smart and said.smart.family,
    id.zoned and id.zoned .. " zones"))
  indented(settings(said))
  local what = stands_for(said)
  if what then page:paragraph("it is " .. what, "    ", "  ") end
  -- Of a SCSI drive that is no news.
  if said.no_ata and (said.used_through == "usb" or not id.transport and not id.serial) then
    page:paragraph("no ATA commands get through: " .. said.no_ata, "    ", "  ")
  end
end

--- Temperature, age and power cycles in a line.
function M.vitals(said)
  local t, p, c = said.temperature or {}, said.power_on or {}, said.power_cycles or {}
  local function others(of, key, show)
    if not of.disagree then return "" end
    local texts = {}
    for _, s in ipairs(of.sources) do
      if s.source ~= of.source then
        texts[#texts + 1] = ("%s: %s"):format(s.source, show(s[key]))
      end
    end
    return " [" .. table.concat(texts, "; ") .. "]"
  end
  local plain_hours = function(h) return units.fixed(h, 0) .. " h" end
  return list(
    t.temperature_c and words.celsius(t.temperature_c) .. others(t, "temperature_c", words.celsius)
      or "temperature unknown",
    p.power_on_hours and "powered on " .. words.hours(p.power_on_hours)
      .. others(p, "power_on_hours", plain_hours) or "power-on time unknown",
    c.power_cycles and words.grouped(c.power_cycles) .. " power cycles"
      .. others(c, "power_cycles", words.grouped))
end

function M.draw_vitals(page, said)
  local items = M.vitals(said)
  items[1] = "  " .. items[1]
  page:items(items, "  ")
end

return M
