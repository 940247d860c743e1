--- Taking a drive's identity out of what it sent: serial numbers and world wide names, wherever
-- they stand and in whichever order of bytes, with the sums mended. Pure but for `recording`.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.anonymise
local scsi_ports = require "hdd.drive.scsi_ports"

local M = {}

local PAGE <const>, NAME_BYTES <const>, SHORTEST_SERIAL <const> = 512, 8, 4

local function word_swapped(text) return (text:gsub("(.)(.)", "%2%1")) end

local function trimmed(text) return (text:gsub("[%z ]+$", ""):gsub("^[%z ]+", "")) end

local function hex(text)
  return (text:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

-- --- what is secret -------------------------------------------------------------------------

-- Pairs of what is looked for and what stands there afterwards, of the same length.
local function add(secrets, from, to)
  if from ~= to and not secrets.known[from] then
    secrets.known[from] = true
    secrets[#secrets + 1] = {from = from, to = to}
  end
end

local function add_serial(secrets, field)
  local serial = trimmed(field)
  if #serial < SHORTEST_SERIAL or serial:find("^X+$") then return end
  local blank = serial:gsub("[^ ]", "X")
  add(secrets, serial, blank)
  -- ATA's strings: two characters a word, the first in the upper byte, with blanks around them.
  local even = #serial % 2 == 0 and serial or serial .. " "
  add(secrets, word_swapped(even), word_swapped(even:gsub("[^ ]", "X")))
  local shifted = " " .. serial .. (#serial % 2 == 0 and " " or "")
  add(secrets, word_swapped(shifted), word_swapped(shifted:gsub("[^ ]", "X")))
end

-- A name of 8 bytes: four bits of format and 24 of the maker, which stay, and 36 bits of the drive.
local function add_name(secrets, name)
  if #name ~= NAME_BYTES or not name:find("[^%z]") then return end
  local blank = name:sub(1, 3) .. string.char(name:byte(4) & 0xf0) .. ("\0"):rep(4)
  add(secrets, name, blank)
  add(secrets, word_swapped(name), word_swapped(blank))
  add(secrets, name:reverse(), blank:reverse())
  add(secrets, hex(name), hex(blank))
  add(secrets, hex(name):upper(), hex(blank):upper())
end

-- Designators of VPD page 83h: names of the drive and of its ports.
local function add_designators(secrets, data)
  local at = 5
  while at + 4 <= #data do
    local kind, length = data:byte(at + 1) & 0x0f, data:byte(at + 3)
    local designator = data:sub(at + 4, at + 3 + length)
    if kind == 2 or kind == 3 then add_name(secrets, designator:sub(1, NAME_BYTES)) end
    at = at + 4 + length
  end
end

local function bytes_of_hex(text)
  return (text:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

local function add_ports(secrets, data)
  for _, port in ipairs(scsi_ports.decode(data).ports or {}) do
    for _, phy in ipairs(port.phys or {}) do
      for _, address in ipairs {phy.sas_address or "", phy.attached_sas_address or ""} do
        add_name(secrets, bytes_of_hex(address:gsub("[^%x]", "")))
      end
    end
  end
end

-- --- where it is ----------------------------------------------------------------------------

local function ata_command(cdb)
  local opcode = cdb:byte(1)
  if opcode == 0x85 and #cdb >= 16 then return cdb:byte(15) end
  if opcode == 0xa1 and #cdb >= 12 then return cdb:byte(10) end
end

local function gather_identify(secrets, page)
  if #page < PAGE then return end
  add_serial(secrets, word_swapped(page:sub(21, 40)))
  add_name(secrets, word_swapped(page:sub(217, 224)))
end

-- Identifiers in fixed places of NVMe's pages are blanked where they stand.
local NVME_FIELDS = {[0] = {{105, 120}, {121, 128}}, [1] = {{5, 24}, {113, 128}, {769, 1024}}}

local function gather(secrets, exchange)
  local cdb, data = exchange.cdb, exchange.data
  local opcode = cdb:byte(1)
  if exchange.direction ~= "in" then return end
  if exchange.kind == "nvme" then
    if opcode == 0x06 and cdb:byte(41) == 1 then add_serial(secrets, data:sub(5, 24)) end
  elseif ata_command(cdb) == 0xec then
    gather_identify(secrets, data)
  elseif opcode == 0x12 and cdb:byte(2) == 1 and cdb:byte(3) == 0x80 then
    add_serial(secrets, data:sub(5))
    add_serial(secrets, data:sub(5, 12)) -- as some INQUIRY data have it
  elseif opcode == 0x12 and cdb:byte(2) == 1 and cdb:byte(3) == 0x83 then
    add_designators(secrets, data)
  elseif opcode == 0x4d and cdb:byte(3) & 0x3f == 0x18 then
    add_ports(secrets, data)
  end
end

-- --- taking it out --------------------------------------------------------------------------

local function replaced(data, from, to)
  local pieces, at = {}, 1
  while true do
    local first, last = data:find(from, at, true)
    if not first then break end
    pieces[#pieces + 1] = data:sub(at, first - 1)
    pieces[#pieces + 1] = to
    at = last + 1
  end
  if at == 1 then return data end
  pieces[#pieces + 1] = data:sub(at)
  return table.concat(pieces)
end

local function sum_of(data, first)
  local sum = 0
  for at = first, first + PAGE - 1, 8 do
    local a, b, c, d, e, f, g, h = data:byte(at, at + 7)
    sum = sum + a + b + c + d + e + f + g + h
  end
  return sum & 0xff
end

-- The last byte of each sector that was changed makes its sum 0 again, if it was so before.
local function mended(before, after)
  if before == after then return after end
  local pieces = {}
  for first = 1, #after, PAGE do
    local sector = after:sub(first, first + PAGE - 1)
    local changed = sector ~= before:sub(first, first + PAGE - 1)
    if changed and #sector == PAGE and sum_of(before, first) == 0 then
      local last = (sector:byte(PAGE) - sum_of(sector, 1)) & 0xff
      sector = sector:sub(1, PAGE - 1) .. string.char(last)
    end
    pieces[#pieces + 1] = sector
  end
  return table.concat(pieces)
end

--- Take secrets out of bytes, and mend the sums.
-- @tparam {table,...} secrets  pairs of `from` and `to`, of the same length
-- @tparam string data
-- @treturn string  as long
-- @usage local public = anonymise.bytes({{from = "WD-WX1", to = "XXXXXX"}}, page)
function M.bytes(secrets, data)
  local after = data
  for _, secret in ipairs(secrets) do after = replaced(after, secret.from, secret.to) end
  return mended(data, after)
end

-- FARM (log A6h) has serial number and name cut into four fields each of 8 bytes, in its page 1.
local FARM_LOG <const>, FARM_SECTOR <const> = 0xa6, 32

local function without_farm_fields(cdb, data)
  if cdb:byte(1) ~= 0x85 or (ata_command(cdb) ~= 0x2f and ata_command(cdb) ~= 0x47) or
    cdb:byte(9) ~= FARM_LOG then
    return data
  end
  local first = (FARM_SECTOR - (cdb:byte(10) << 8 | cdb:byte(11))) * PAGE
  if first < 0 or first + PAGE > #data then return data end
  for field = 3, 6 do
    local at = first + field * 8
    data = data:sub(1, at) .. ("\0"):rep(7) .. data:sub(at + 8)
  end
  return data
end

local function without_nvme_fields(cdb, data)
  for _, range in ipairs(cdb:byte(1) == 0x06 and NVME_FIELDS[cdb:byte(41)] or {}) do
    if #data >= range[2] then
      local field = data:sub(range[1], range[2])
      -- Printable ones stay printable; what is padded stays padded.
      local blank = field:find("^[%g ]+%z*$") and field:gsub("[%w]", "X") or ("\0"):rep(#field)
      data = data:sub(1, range[1] - 1) .. blank .. data:sub(range[2] + 1)
    end
  end
  return data
end

--- Take the identity out of a recording. See `hdd.recording`.
-- @tparam Recording recording
-- @treturn Recording  the same
-- @usage anonymise.recording(recording)
function M.recording(recording)
  local secrets = {known = {}}
  local described = recording:describe()
  gather_identify(secrets, described.identify or "")
  for i = 1, described.exchanges do gather(secrets, recording:exchange(i)) end
  -- The longest first: a part of a serial number must not be taken before the whole.
  table.sort(secrets, function(a, b) return #a.from > #b.from end)
  for i = 1, described.exchanges do
    local exchange = recording:exchange(i)
    if exchange.direction == "in" then
      local data = M.bytes(secrets, exchange.data)
      data = exchange.kind == "nvme" and without_nvme_fields(exchange.cdb, data) or
        without_farm_fields(exchange.cdb, data)
      if data ~= exchange.data then recording:replace(i, data) end
    end
  end
  recording:anonymise(described.identify and M.bytes(secrets, described.identify))
  return recording
end

return M
