--- SMART READ DATA and READ THRESHOLDS: attributes with their thresholds, the states of off-line
-- collection and self-test, and how long tests take.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.smart_data

local bytes = require "hdd.drive.bytes"
local families = require "hdd.drive.families"
local names = require "hdd.drive.attribute_names"
local raw_values = require "hdd.drive.raw_values"

local M = {}

local OFFLINE = {
  [0] = "never started", [2] = "completed", [3] = "in progress", [4] = "suspended by a command",
  [5] = "aborted by a command", [6] = "aborted by a fatal error",
}

--- The results of a self-test, by the upper half of its status byte.
M.SELF_TEST_RESULTS = {
  [0] = "completed without error", "aborted by the host", "interrupted by a reset",
  "fatal or unknown error", "failed: unknown element", "failed: electrical element",
  "failed: servo or seek element", "failed: read element", "failed: suspected handling damage",
  [15] = "in progress",
}

--- A self-test status byte in words.
-- @tparam integer status  as in SMART data byte 363 and in the self-test logs
-- @treturn table  `{status, code (upper half), result, failed, in_progress, remaining_percent}`;
--   the remaining part is there only while a test runs or where it stopped
-- @usage smart_data.self_test_status(0xf7).remaining_percent  --> 70
function M.self_test_status(status)
  local code, tenths = status >> 4, status & 15
  return {
    status = status, code = code,
    result = M.SELF_TEST_RESULTS[code] or "reserved code",
    failed = code >= 3 and code <= 8, in_progress = code == 15,
    remaining_percent = tenths <= 10 and tenths * 10 or nil,
  }
end

-- Whether a drive has no moving parts: told by itself, by its family, or by attributes that only
-- flash has without any of those that only disks have.
local function is_flash(identity, family, present)
  if identity.solid_state ~= nil then return identity.solid_state end
  if family.flash then return true end
  if family.name or present[3] or present[7] or present[8] or present[10] then return false end
  for id = 170, 182 do if present[id] then return true end end
  return (present[232] or present[233]) ~= nil
end

-- Their meaning is the same on nearly every drive, flash of unknown make included.
local UNIVERSAL = {[9] = true, [12] = true, [190] = true, [194] = true}

local UNKNOWN = {"unknown attribute", "Unknown_Attribute"}

-- smartctl's label. It goes by what the drive says of itself alone, not by its attributes.
local function label_of(general, solid_state)
  if general[4] == "disk" and solid_state == true then return "Unknown_SSD_Attribute" end
  if general[4] == "flash" and solid_state == false then return "Unknown_HDD_Attribute" end
  return general[2]
end

-- An attribute's name, label, whether the name is more than a guess, and the rule for its raw
-- value.
local function name_of(id, family, flash, solid_state)
  local general, own = names[id] or UNKNOWN, family.attributes[id]
  if own then return own.name or general[1], own.label or general[2], true, own.rule end
  local label = label_of(general, solid_state)
  if general[4] == "disk" and flash or general[4] == "flash" and not flash then
    return UNKNOWN[1], label, false, nil
  end
  local verified = general ~= UNKNOWN and (not flash or family.flash == true)
  return general[1], label, verified, (not flash or UNIVERSAL[id]) and general[3] or nil
end

-- "failing_now", "failed_past", "ok"; "no_threshold" when the drive gives none. As smartctl has it,
-- a value of 0 counts (drives at the end of their life give it); FEh and FFh are no values.
local function state_of(value, worst, threshold)
  if not threshold then return "no_threshold" end
  if threshold == 0 or threshold > 253 then return "ok" end
  if value <= threshold then return "failing_now" end
  if worst <= threshold then return "failed_past" end
  return "ok"
end

local function raw_of(data, at, value, sector_size)
  local r = {raw = bytes.u48(data, at + 5), value = value, sector_size = sector_size}
  for i = 0, 6 do r[i] = bytes.u8(data, at + 5 + i) end
  return r
end

local function plain_text(raw)
  return raw <= 0xffffffff and ("%d"):format(raw) or ("0x%012x"):format(raw)
end

local function read_thresholds(thresholds, result)
  if not thresholds or #thresholds < 14 or not thresholds:find("[^\0]") then
    bytes.warn(result, "no_thresholds",
      "the drive gave no thresholds: no attribute can be called failing")
    return {}
  end
  result.thresholds_checksum_ok = bytes.sum_is_right(thresholds)
  if result.thresholds_checksum_ok == false then
    bytes.warn(result, "thresholds_checksum",
      "the checksum of the thresholds is wrong: they are doubtful")
  end
  local by_id = {}
  for slot = 0, 29 do
    local id, threshold = bytes.u8(thresholds, 2 + slot * 12), bytes.u8(thresholds, 3 + slot * 12)
    if id and threshold and id ~= 0 and not by_id[id] then by_id[id] = threshold end
  end
  return by_id
end

-- One attribute; what `about` holds is the same for all of a drive.
local function read_attribute(data, at, about)
  local id, value, worst = bytes.u8(data, at), bytes.u8(data, at + 3), bytes.u8(data, at + 4)
  local flags, threshold = bytes.u16(data, at + 1), about.thresholds[id]
  local name, label, verified, rule = name_of(id, about.family, about.flash, about.solid_state)
  local r = raw_of(data, at, value, about.sector_size)
  local meaning, text
  if rule then meaning, text = raw_values[rule](r) end
  return {
    id = id, name = name, label = label, verified = verified, flags = flags,
    pre_fail = flags & 1 == 1, online = flags & 2 == 2, value = value, worst = worst,
    threshold = threshold, state = state_of(value, worst, threshold), raw = r.raw,
    raw_hex = ("0x%012x"):format(r.raw), reserved_byte = r[6] ~= 0 and r[6] or nil,
    meaning = meaning, text = text or plain_text(r.raw),
  }
end

local function doubts(a, result)
  local threshold = a.threshold or 0
  if a.value > 253 or a.worst > 253 or a.value == 0 and threshold > 0 then
    bytes.warn(result, "normalized_value",
      "attribute %d: value %d, worst %d are not all within 1 to 253", a.id, a.value, a.worst)
  end
  if threshold > 253 then
    bytes.warn(result, "threshold", "attribute %d: threshold %d is not within 1 to 253: ignored",
      a.id, threshold)
  end
  if a.id == 9 and not a.meaning then
    bytes.warn(result, "power_on_time", "attribute 9: %s is no plausible time: unit unknown",
      a.raw_hex)
  end
end

local function read_attributes(data, thresholds, identity, family, result)
  local places, present = {}, {}
  for at = 2, 350, 12 do
    local id = bytes.u8(data, at)
    if id and id ~= 0 and at + 12 <= #data then
      places[#places + 1] = at
      present[id] = (present[id] or 0) + 1
    end
  end
  local about = {
    thresholds = thresholds, family = family, flash = is_flash(identity, family, present),
    solid_state = identity.solid_state, sector_size = identity.logical_sector_size_bytes,
  }
  for i, at in ipairs(places) do
    local a = read_attribute(data, at, about)
    result.attributes[i] = a
    doubts(a, result)
    if (present[a.id] or 0) > 1 then
      bytes.warn(result, "duplicate_id", "attribute %d is there %d times: look-ups take the first",
        a.id, present[a.id])
      present[a.id] = nil
    end
  end
end

local function general(data, result)
  local offline = bytes.u8(data, 362)
  if offline then
    local state = offline & 0x7f
    result.offline = {
      status = offline, automatic = offline >> 7 == 1, seconds = bytes.u16(data, 364),
      state = OFFLINE[state] or (state >= 0x40 and "maker's own state" or "reserved state"),
    }
  end
  local test = bytes.u8(data, 363)
  if test then result.self_test = M.self_test_status(test) end
  local can = bytes.u8(data, 367)
  if can then
    local function bit(n) return can >> n & 1 == 1 end
    result.capabilities = {
      value = can, offline_immediate = bit(0), automatic_offline = bit(1),
      abort_offline_on_command = bit(2), surface_scan = bit(3), self_test = bit(4),
      conveyance_self_test = bit(5), selective_self_test = bit(6),
    }
  end
  local saving = bytes.u16(data, 368)
  if saving then
    result.saving = {value = saving, before_standby = saving & 1 == 1, automatic = saving & 2 == 2}
  end
  local logging = bytes.u8(data, 370)
  if logging then result.error_logging = {value = logging, supported = logging & 1 == 1} end
  -- No estimate is 0; the extended test's byte says FFh when 16 bits are needed.
  local function minutes(n) return n and n > 0 and n or nil end
  local extended = bytes.u8(data, 373)
  if extended == 255 then extended = bytes.u16(data, 375) end
  result.test_minutes = {
    short = minutes(bytes.u8(data, 372)), extended = minutes(extended),
    conveyance = minutes(bytes.u8(data, 374)),
  }
end

--- Decode SMART data, with thresholds paired by attribute number.
-- @tparam string data         the 512 bytes of SMART READ DATA
-- @tparam ?string thresholds  the 512 bytes of SMART READ THRESHOLDS
-- @tparam ?table identity     from `identify.decode`: model, firmware and kind decide units and
--   names
-- @treturn table  `revision checksum_ok thresholds_checksum_ok family`, `attributes[] {id name
--   label verified flags pre_fail online value worst threshold state raw raw_hex reserved_byte
--   meaning text}`: `state` is "failing_now", "failed_past", "ok" or "no_threshold"; `meaning` has
--   units in its keys and is absent where the raw value's meaning is not known; `verified` is false
--   for a name that is only a guess, `offline {status state automatic seconds}`, `self_test` (see
--   @{self_test_status}), `capabilities`, `saving`, `error_logging`, `test_minutes {short extended
--   conveyance}`, `warnings`
-- @usage local smart = smart_data.decode(data, thresholds, identify.decode(page))
--   print(smart_data.find(smart, 194).meaning.temperature_c)
function M.decode(data, thresholds, identity)
  identity = identity or {}
  local result = bytes.result(data, 512)
  bytes.check_sum(result, data, 0, "SMART data")
  local family = families.find(identity.model, identity.firmware)
  result.family = family.name
  result.revision = bytes.u16(data, 0)
  result.attributes = bytes.list()
  read_attributes(data, read_thresholds(thresholds, result), identity, family, result)
  general(data, result)
  return result
end

--- An attribute by its number: the first one, where a drive repeats it.
-- @tparam table smart  what `decode` gave
-- @tparam integer id   1 to 255
-- @treturn ?table
-- @usage local pending = smart_data.find(smart, 197)
function M.find(smart, id)
  for _, attribute in ipairs(smart.attributes) do
    if attribute.id == id then return attribute end
  end
end

return M
