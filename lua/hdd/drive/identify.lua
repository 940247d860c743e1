--- IDENTIFY DEVICE: who a drive is and what it can do, from the 512 bytes that it answers.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.identify

local bytes = require "hdd.drive.bytes"
local versions = require "hdd.drive.ata_versions"

local M = {}

-- Feature: word and bit that say it is supported, word and bit that say it is enabled.
local FEATURES = {
  smart = {82, 0, 85, 0}, security = {82, 1, 85, 1}, power_management = {82, 3, 85, 3},
  write_cache = {82, 5, 85, 5}, look_ahead = {82, 6, 85, 6}, host_protected_area = {82, 10, 85, 10},
  download_microcode = {83, 0, 86, 0}, advanced_power_management = {83, 3, 86, 3},
  power_up_in_standby = {83, 5, 86, 5}, automatic_acoustic_management = {83, 9, 86, 9},
  lba_48_bit = {83, 10, 86, 10}, device_configuration_overlay = {83, 11, 86, 11},
  flush_cache_ext = {83, 13, 86, 13}, smart_error_log = {84, 0, 87, 0},
  smart_self_test = {84, 1, 87, 1}, streaming = {84, 4, 87, 4},
  general_purpose_log = {84, 5, 87, 5}, write_fua = {84, 6, 87, 6},
  world_wide_name = {84, 8, 87, 8}, unload_immediate = {84, 13, 87, 13},
  write_read_verify = {119, 1, 120, 1}, write_uncorrectable = {119, 2, 120, 2},
  log_by_dma = {119, 3, 120, 3}, free_fall_control = {119, 5, 120, 5},
  sense_data_reporting = {119, 6, 120, 6}, extended_power_conditions = {119, 7, 120, 7},
  accessible_max_address = {119, 8, 120, 8}, device_statistics_notification = {119, 9, 120, 9},
}

local FORM_FACTOR = {
  "5.25 inches", "3.5 inches", "2.5 inches", "1.8 inches", "< 1.8 inches", "mSATA", "M.2",
  "MicroSSD", "CFast",
}

local SPEED_MBIT_PER_S = {1500, 3000, 6000}

local ZONED = {"host-aware", "device-managed"}

-- All 256 words, missing ones nil, with w:bit(word, n) and the pages' rules of what counts.
local Words = {}
Words.__index = Words

local function words_of(data)
  local w = setmetatable({}, Words)
  for i = 0, 255 do w[i] = bytes.u16(data, i * 2) end
  -- Words 82 to 84 and 85 to 87 count when bits 15:14 of their last one are 01b; words 119 and
  -- 120 in their turn when word 86 bit 15 says that they are there.
  local function stamped(word) return w[word] ~= nil and w[word] >> 14 == 1 end
  local v = {[82] = stamped(83), [83] = stamped(83), [84] = stamped(84)}
  v[85], v[86], v[87] = stamped(87), stamped(87), stamped(87)
  local more = v[86] and w[86] >> 15 == 1
  v[119], v[120] = more and stamped(119), more and stamped(120)
  w.valid = v
  return w
end

function Words:bit(word, n)
  local value = self[word]
  if value == nil or self.valid[word] == false then return nil end
  return value >> n & 1 == 1
end

-- A word of which 0000h and FFFFh mean "not reported".
function Words:reported(word)
  local value = self[word]
  if value and value ~= 0 and value ~= 0xffff then return value end
end

local function features(w)
  local list = {}
  for name, f in pairs(FEATURES) do
    local supported, enabled = w:bit(f[1], f[2]), w:bit(f[3], f[4])
    if supported ~= nil or enabled ~= nil then
      list[name] = {supported = supported, enabled = enabled}
    end
  end
  local apm, aam = list.advanced_power_management, list.automatic_acoustic_management
  if apm and apm.enabled and w[91] then apm.level = w[91] & 255 end
  if aam and aam.supported and w[94] then
    aam.recommended_level = w[94] >> 8
    if aam.enabled then aam.level = w[94] & 255 end
  end
  if w[169] and w[169] ~= 0xffff then
    local supported = w[169] & 1 == 1
    list.trim = {supported = supported}
    if supported and w[69] then
      list.trim.deterministic = w[69] >> 14 & 1 == 1
      list.trim.reads_zeroes = w[69] >> 5 & 1 == 1
    end
  end
  if w[59] and w[59] ~= 0xffff then
    list.sanitize = {supported = w:bit(59, 12)}
    if list.sanitize.supported then
      list.sanitize.crypto_scramble, list.sanitize.overwrite = w:bit(59, 13), w:bit(59, 14)
      list.sanitize.block_erase = w:bit(59, 15)
    end
  end
  return list
end

local function security(w)
  local word = w:reported(128)
  if not word then return nil end
  local function bit(n) return word >> n & 1 == 1 end
  local function minutes(n)
    local value = w:reported(n)
    if not value then return nil end
    -- Bit 15 says that 15 bits count, not 8. The largest value means "more than that".
    local steps = value >> 15 == 1 and value & 0x7fff or value & 0xff
    return steps > 0 and steps * 2 or nil
  end
  return {
    supported = bit(0), enabled = bit(1), locked = bit(2), frozen = bit(3),
    attempts_exhausted = bit(4), enhanced_erase = bit(5),
    level = bit(1) and (bit(8) and "maximum" or "high") or nil, erase_minutes = minutes(89),
    enhanced_erase_minutes = minutes(90),
  }
end

local function serial_ata(w)
  local word = w:reported(76)
  if not word then return nil end
  local function bit(n) return word >> n & 1 == 1 end
  local link = {supported_mbit_per_s = bytes.list()}
  for i, speed in ipairs(SPEED_MBIT_PER_S) do
    if bit(i) then
      table.insert(link.supported_mbit_per_s, speed)
      link.max_mbit_per_s = speed
    end
  end
  local now = w:reported(77)
  link.current_mbit_per_s = now and SPEED_MBIT_PER_S[now >> 1 & 7]
  local ncq = {supported = bit(8)}
  if ncq.supported then
    ncq.depth = w[75] and (w[75] & 31) + 1
    ncq.priority, ncq.unload = bit(12), bit(11)
    if now then
      ncq.streaming = w:bit(77, 4)
      ncq.queue_management = w:bit(77, 5)
      ncq.send_receive = w:bit(77, 6)
    end
  end
  local power = {host_initiated = bit(9)}
  local sata = {phy_event_counters = bit(10), log_by_dma = bit(15), power_management = power}
  if w[78] and w[79] and w[78] ~= 0xffff then
    power.device_initiated = {supported = w:bit(78, 3), enabled = w:bit(79, 3)}
    power.device_sleep = {supported = w:bit(78, 8), enabled = w:bit(79, 8)}
    sata.settings_preservation = {supported = w:bit(78, 6), enabled = w:bit(79, 6)}
  end
  return link, ncq, sata
end

local function sct(w)
  local word = w[206]
  if not word or word == 0xffff then return nil end
  local function bit(n) return word >> n & 1 == 1 end
  return {
    value = word, supported = bit(0), write_same = bit(2), error_recovery_control = bit(3),
    feature_control = bit(4), data_tables = bit(5), vendor_bits = word >> 12,
  }
end

local function sector_sizes(w, result)
  local logical, physical, offset = 512, 512, nil
  local word = w[106]
  if word and word >> 14 == 1 then
    if word >> 12 & 1 == 1 then logical = ((w[117] or 0) | (w[118] or 0) << 16) * 2 end
    physical = logical
    if word >> 13 & 1 == 1 then
      physical = logical << (word & 15)
      if w[209] and w[209] >> 14 == 1 then offset = w[209] & 0x3fff end
    end
  end
  if logical < 512 or logical > 65536 or physical > 1 << 24 then
    bytes.warn(result, "sector_size", "sectors of %d bytes logical, %d physical are not believed",
      logical, physical)
    return
  end
  result.logical_sector_size_bytes, result.physical_sector_size_bytes = logical, physical
  result.alignment_offset_sectors = offset
end

local function size(data, w, result)
  local small = (w[60] or 0) | (w[61] or 0) << 16
  local large = bytes.u64(data, 200)
  local extended = bytes.u64(data, 460)
  if small > 0 then result.sectors_28_bit = small end
  -- The field is there with or without the feature; only the feature makes it count.
  local sectors = small
  if large and large > 0 and large < 1 << 48 then
    result.sectors_48_bit = large
    if w:bit(83, 10) then sectors = large end
  end
  if extended and extended > 0 and w:bit(69, 3) then sectors = extended end
  local unit = result.logical_sector_size_bytes
  if sectors == 0 or not unit then return end
  if sectors > math.maxinteger // unit then
    bytes.warn(result, "size", "%d sectors of %d bytes are not believed", sectors, unit)
    return
  end
  result.sectors, result.size_bytes = sectors, sectors * unit
end

local function world_wide_name(w, result)
  if not (w:bit(87, 8) or w:bit(84, 8)) or not w[111] then return end
  if w[108] | w[109] | w[110] | w[111] == 0 then return end
  result.wwn = ("%04x%04x%04x%04x"):format(w[108], w[109], w[110], w[111])
  result.wwn_naa = w[108] >> 12
  result.wwn_oui = (w[108] & 0xfff) << 12 | w[109] >> 4
  result.wwn_id = (w[109] & 15) << 32 | w[110] << 16 | w[111]
end

local function mechanics(w, result)
  local rotation = w[217]
  if rotation == 1 then
    result.solid_state = true
  elseif rotation and rotation > 0x400 and rotation < 0xffff then
    result.solid_state, result.rotation_rpm = false, rotation
  end
  if w[168] and w[168] ~= 0xffff then result.form_factor = FORM_FACTOR[w[168] & 15] end
  if w[69] and w[69] ~= 0xffff then result.zoned = ZONED[w[69] & 3] end
end

local function check_sum(data, w, result)
  if w[255] and w[255] & 255 == 0xa5 then
    local right = bytes.sum_is_right(data)
    result.checksum = right and "ok" or "bad"
    if not right then
      bytes.warn(result, "checksum",
        "the checksum of IDENTIFY DEVICE is wrong: its values are doubtful")
    end
  else
    result.checksum = "none"
  end
end

--- What IDENTIFY DEVICE says. Absent keys were not reported.
-- @tparam string data  the 512 bytes
-- @treturn table  `model serial firmware additional_product_id wwn wwn_naa wwn_oui wwn_id` (text
--   and integers), `sectors sectors_28_bit sectors_48_bit size_bytes logical_sector_size_bytes
--   physical_sector_size_bytes alignment_offset_sectors`, `rotation_rpm solid_state form_factor
--   zoned`, `ata_version ata_standard sata_version transport`, `link {supported_mbit_per_s
--   max_mbit_per_s current_mbit_per_s}`, `ncq {supported depth ...}`, `sata`, `features {NAME =
--   {supported, enabled, ...}}`, `security`, `sct`, `ultra_dma {supported_mode active_mode}`,
--   `checksum` ("ok", "bad", "none"), `warnings`
-- @usage local id = identify.decode(page)
--   print(id.model, id.size_bytes, id.features.smart.enabled)
function M.decode(data)
  local result = bytes.result(data, 512)
  local w = words_of(data)
  result.model = bytes.ata_text(data, 27, 20)
  result.serial = bytes.ata_text(data, 10, 10)
  result.firmware = bytes.ata_text(data, 23, 4)
  result.additional_product_id = bytes.ata_text(data, 170, 4)
  check_sum(data, w, result)
  if not result.model then bytes.warn(result, "no_model", "IDENTIFY DEVICE holds no model name") end
  if w[0] and w[0] >> 14 == 2 then
    bytes.warn(result, "packet_device",
      "the answer is that of a packet device (an optical drive, a bridge)")
  end
  world_wide_name(w, result)
  sector_sizes(w, result)
  size(data, w, result)
  mechanics(w, result)
  if w[81] then result.ata_version, result.ata_standard = versions.ata(w[80], w[81]) end
  if w[222] and w[222] ~= 0xffff and w[222] ~= 0 then
    result.transport = ({[0] = "parallel", "serial"})[w[222] >> 12]
    result.sata_version = versions.sata(w[222])
  end
  result.link, result.ncq, result.sata = serial_ata(w)
  result.features = features(w)
  result.security = security(w)
  result.sct = sct(w)
  if w[53] and w[53] >> 2 & 1 == 1 and w:reported(88) then
    result.ultra_dma = {}
    for mode = 0, 6 do
      if w:bit(88, mode) then result.ultra_dma.supported_mode = mode end
      if w:bit(88, mode + 8) then result.ultra_dma.active_mode = mode end
    end
  end
  return result
end

return M
