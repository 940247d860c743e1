--- SAS ports and their phys (log page 18h): link rates, neighbours, errors of the link.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.scsi_ports

local bytes = require "hdd.drive.bytes"
local scsi_bytes = require "hdd.drive.scsi_bytes"

local M = {}

local PROTOCOL_SAS <const> = 6

local RATES = {
  [0] = "unknown", "disabled", "reset problem", "spin-up hold", "port selector",
  "reset in progress", "unsupported phy attached",
  [8] = "1.5 Gb/s", [9] = "3 Gb/s", [10] = "6 Gb/s", [11] = "12 Gb/s", [12] = "22.5 Gb/s",
}
local MBIT_PER_S = {[8] = 1500, [9] = 3000, [10] = 6000, [11] = 12000, [12] = 22500}

local NEIGHBOURS = {[0] = "none", "end device", "expander", "fanout expander"}

local REASONS = {
  [0] = "unknown", "power on", "hard reset", "link reset by management", "loss of synchronization",
  "multiplexing reset", "time-out of the I_T nexus loss timer", "break time-out timer expired",
  "phy test function", "phy management function",
}

-- "Peak" events hold the highest value seen, the others count.
local EVENTS = {
  [0x01] = "invalid dwords", [0x02] = "running disparity errors",
  [0x03] = "losses of dword synchronization", [0x04] = "phy reset problems",
  [0x05] = "elasticity buffer overflows", [0x06] = "received errors",
  [0x07] = "invalid SPL packets", [0x08] = "losses of SPL packet synchronization",
  [0x20] = "received address frame errors", [0x21] = "transmitted abandon-class OPEN_REJECTs",
  [0x22] = "received abandon-class OPEN_REJECTs", [0x23] = "transmitted retry-class OPEN_REJECTs",
  [0x24] = "received retry-class OPEN_REJECTs", [0x25] = "received AIPs (waiting on partial)",
  [0x26] = "received AIPs (waiting on connection)", [0x27] = "transmitted BREAKs",
  [0x28] = "received BREAKs", [0x29] = "break time-outs", [0x2a] = "connections",
  [0x2b] = "peak transmitted pathway blocked", [0x2c] = "peak transmitted arbitration wait time",
  [0x2d] = "peak arbitration time", [0x2e] = "peak connection time",
  [0x2f] = "persistent connections", [0x40] = "transmitted SSP frames",
  [0x41] = "received SSP frames", [0x42] = "transmitted SSP frame errors",
  [0x43] = "received SSP frame errors", [0x44] = "transmitted CREDIT_BLOCKEDs",
  [0x45] = "received CREDIT_BLOCKEDs", [0x50] = "transmitted SATA frames",
  [0x51] = "received SATA frames", [0x52] = "SATA flow control buffer overflows",
  [0x60] = "transmitted SMP frames", [0x61] = "received SMP frames",
  [0x63] = "received SMP frame errors",
}

local function events(data, at, size, count)
  local list = bytes.list()
  for k = 0, count - 1 do
    local entry = at + k * size
    local source, value = bytes.u8(data, entry + 3), scsi_bytes.u32(data, entry + 4)
    if not value then break end
    list[#list + 1] = {
      source = source, name = EVENTS[source] or source >= 0xd0 and "maker's own" or "reserved",
      value = value, peak = source >= 0x2b and source <= 0x2e or nil,
    }
  end
  return list
end

local function address(data, at)
  if #data < at + 8 or bytes.is_zero(data, at, 8) then return nil end
  return bytes.hex(data:sub(at + 1, at + 8))
end

-- A count of 32 bits stays at its largest value.
local function phy(data)
  local attached, link, initiators = bytes.u8(data, 4), bytes.u8(data, 5), bytes.u8(data, 6)
  local neighbour = attached >> 4 & 7
  return {
    id = bytes.u8(data, 1), attached_code = neighbour,
    attached = NEIGHBOURS[neighbour] or "reserved",
    attached_reason_code = attached & 15, attached_reason = REASONS[attached & 15] or "reserved",
    reason_code = link >> 4, reason = REASONS[link >> 4] or "reserved", rate_code = link & 15,
    rate = RATES[link & 15] or "reserved", rate_mbit_per_s = MBIT_PER_S[link & 15],
    attached_initiator_bits = initiators, attached_target_bits = bytes.u8(data, 7),
    sas_address = address(data, 8), attached_sas_address = address(data, 16),
    attached_phy = neighbour ~= 0 and bytes.u8(data, 24) or nil,
    invalid_dwords = scsi_bytes.u32(data, 32), disparity_errors = scsi_bytes.u32(data, 36),
    sync_losses = scsi_bytes.u32(data, 40), reset_problems = scsi_bytes.u32(data, 44),
    events = events(data, 52, math.max(bytes.u8(data, 50), 12), bytes.u8(data, 51)),
  }
end

local function port(p, result)
  local one = {number = p.code, generation = bytes.u8(p.data, 2), phys = bytes.list()}
  local at = 4
  for _ = 1, bytes.u8(p.data, 3) do
    local length = bytes.u8(p.data, at + 3)
    if not length or length + 4 < 52 or at + 4 + length > #p.data then
      bytes.warn(result, "phy", "a phy of port %d is cut off: not read", p.code)
      break
    end
    table.insert(one.phys, phy(p.data:sub(at + 1, at + 4 + length)))
    at = at + 4 + length
  end
  return one
end

--- Decode the ports of a SAS drive.
-- @tparam string data  log page 18h
-- @treturn table  `ports[] {number generation phys[] {id attached attached_code attached_reason
--   attached_reason_code reason reason_code rate rate_code rate_mbit_per_s attached_initiator_bits
--   attached_target_bits sas_address attached_sas_address attached_phy invalid_dwords
--   disparity_errors sync_losses reset_problems events[] {source name value peak}}}`, `warnings`. A
--   rate in Mbit/s is there only when the link is up; of an address only when it is not zero.
-- @usage for _, port in ipairs(scsi_ports.decode(page).ports) do print(port.phys[1].rate) end
function M.decode(data)
  local result, parameters = scsi_bytes.log(data, 0x18)
  result.ports = bytes.list()
  for _, p in ipairs(parameters) do
    local protocol = bytes.u8(p.data, 0)
    if #p.data >= 4 and protocol & 15 == PROTOCOL_SAS then
      if #result.ports == 16 then
        bytes.warn(result, "cut", "more than 16 ports: the rest is not shown")
        break
      end
      table.insert(result.ports, port(p, result))
    elseif protocol then
      bytes.warn(result, "protocol", "port %d speaks protocol %d, not SAS: not read", p.code,
        protocol & 15)
    end
  end
  return result
end

return M
