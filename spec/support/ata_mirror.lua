--- What our decoders made of a drive, put into the shape of a fixture's expected.json, so that the
-- two can be compared value by value. Nothing here looks at the expected values.
-- SPDX-License-Identifier: GPL-3.0-or-later
local error_log = require "hdd.drive.error_log"
local log_directory = require "hdd.drive.log_directory"

local M = {}

local SPEED = {[1500] = "1.5 Gb/s", [3000] = "3.0 Gb/s", [6000] = "6.0 Gb/s"}

local function sata_version(id)
  if not id.sata_version then return nil end
  local text = id.sata_version .. ", " .. SPEED[id.link.max_mbit_per_s]
  local now = id.link.current_mbit_per_s
  return now and ("%s (current: %s)"):format(text, SPEED[now]) or text
end

local function general(smart, id)
  return {
    offline_status = smart.offline.status, self_test_exec = smart.self_test.status,
    offline_seconds = smart.offline.seconds, offline_capability = smart.capabilities.value,
    smart_capability = smart.saving.value, error_log_capability = smart.error_logging.value,
    -- No estimate is absent with us and 0 with them.
    poll_short = smart.test_minutes.short or 0, poll_extended = smart.test_minutes.extended or 0,
    poll_conveyance = smart.test_minutes.conveyance or 0,
    sct_capability = id.sct.value, revision = smart.revision,
  }
end

-- Digits of raw_hex, lowest byte first, as stored.
local function stored(hex)
  local bytes = {}
  for pair in hex:sub(3):gmatch("..") do table.insert(bytes, 1, pair) end
  return table.concat(bytes)
end

function M.attributes(smart)
  local list = {}
  for i, a in ipairs(smart.attributes) do
    list[i] = {
      id = a.id, name_smartmontools = a.label, flags = a.flags, prefailure = a.pre_fail,
      online = a.online, current = a.value, worst = a.worst, threshold = a.threshold,
      state = a.state, raw_bytes = stored(a.raw_hex), raw48 = a.raw,
      reserved_byte = a.reserved_byte, raw_text = a,
    }
  end
  return list
end

local function directory(decoded)
  if not decoded then return nil end
  local sectors = {}
  for _, log in ipairs(decoded.logs) do sectors[("0x%02x"):format(log.address)] = log.pages end
  return {version = decoded.version, sectors = sectors}
end

local function errors(log)
  local list = {}
  for i, e in ipairs(log.entries) do
    local commands = {}
    for k, c in ipairs(e.commands) do
      commands[k] = {
        command = c.command, features = c.features, count = c.count, lba = c.lba, device = c.device,
        device_control = c.device_control, powerup_ms = c.time_since_power_on_ms,
      }
    end
    list[i] = {
      number = e.number, log_index = e.slot, lifetime_hours = e.power_on_hours, state = e.state,
      error = e.error, status = e.status, count = e.count, lba = e.lba, device = e.device,
      device_control = e.device_control, commands = commands,
    }
  end
  return list
end

local function short_records(log)
  if log.layout ~= "28-bit" then return nil end
  local list = {}
  for i, e in ipairs(log.entries) do
    local times = {}
    for k, c in ipairs(e.commands) do times[#e.commands - k + 1] = c.time_since_power_on_ms end
    list[i] = {
      number = e.number, error = e.error, count = e.count, lba28_doubtful = e.lba_doubtful,
      device = e.device, status = e.status, command_timestamps_ms = times,
    }
  end
  return list
end

-- Read as the standard has it, whatever is in it.
local function as_standard(data) return errors(error_log.extended(data, {layout = "48-bit"})) end

local function extended_errors(h, pages)
  if not pages.logs[0x03] then return nil end
  local log = h.error_log
  return {
    version = log.version, sectors = log_directory.pages(h.log_directory, 3),
    sectors_in_file = log.pages, count = log.count,
    entries_newest_first = as_standard(pages.logs[0x03]),
    layout28_newest_first = short_records(log),
  }
end

local function summary_errors(h, pages)
  if pages.logs[0x03] or not h.error_log then return nil end
  local log = h.error_log
  return {version = log.version, count = log.count, entries_newest_first = errors(log)}
end

local function tests(h, pages)
  local log = h.self_test_log
  if not log then return nil end
  local list = {}
  for i, t in ipairs(log.entries) do
    list[i] = {
      num = t.number, type = t.type_code, status = t.code, remaining = t.remaining_percent,
      hours = t.hours_16_bit, lba = t.lba,
    }
  end
  return {
    source_log = pages.logs[0x07] and "extended" or "smart", version = log.version,
    entries_newest_first = list,
  }
end

local function selective(log)
  if not log then return nil end
  local spans = {}
  for i, s in ipairs(log.spans) do spans[i] = {s.first_lba, s.last_lba} end
  return {
    version = log.version, spans = spans, flags = log.flags, pending_minutes = log.resume_minutes,
    current_lba = log.current_lba, current_span = log.current_span,
  }
end

local SMART_WORD = {passed = 0xc24f, failed = 0x2cf4}

local function sct_status(s)
  if not s then return nil end
  return {
    format_version = s.format_version, sct_version = s.sct_version, sct_spec = s.sct_level,
    device_state = s.device_state_code, current = s.temperature_c,
    cycle_min = s.power_cycle_lowest_c, cycle_max = s.power_cycle_highest_c,
    old_format = s.old_format, life_min = s.lifetime_lowest_c, life_max = s.lifetime_highest_c,
    max_op = s.max_operating_c or 0, under = s.under_limit_count or s.old_format and 0 or nil,
    over = s.over_limit_count or s.old_format and 0 or nil,
    smart_status = SMART_WORD[s.smart_status] or 0, min_erc = (s.smallest_erc_ms or 0) // 100,
    vendor_hex = s.vendor_hex,
  }
end

local function history(h)
  if not h then return nil end
  local ring, oldest = {}, {}
  for k, row in ipairs(h.rows) do
    oldest[k] = row.temperature_c or false
    ring[(h.index + k) % h.size + 1] = row.temperature_c or false
  end
  return {
    version = h.version, sampling = h.sampling_minutes, interval = h.interval_minutes,
    op_min = h.recommended_lowest_c, op_max = h.recommended_highest_c, lim_min = h.limit_lowest_c,
    lim_max = h.limit_highest_c, size = h.size, index = h.index, valid = h.valid,
    ring = h.valid and ring or nil, oldest_first = h.valid and oldest or nil,
  }
end

local function erc(recovery)
  return recovery and {
    read_deciseconds = recovery.read.deciseconds, write_deciseconds = recovery.write.deciseconds,
  }
end

local function statistics(decoded)
  if not decoded then return nil end
  local pages = {}
  for i, p in ipairs(decoded.pages) do
    local entries = {}
    for k, s in ipairs(p.statistics) do
      entries[k] = {offset = s.offset, size = s.size_bytes, value = s.value, flags = s.flags,
        name = s.name}
    end
    pages[i] = {page = p.page, name = p.name, rev = p.revision, entries = entries}
  end
  return {pages = pages}
end

local function counters(decoded)
  if not decoded then return nil end
  local list = {}
  for i, c in ipairs(decoded.counters) do
    list[i] = {id = c.id, size = c.size_bytes, value = c.value, overflow = c.saturated,
      name = c.name}
  end
  return list
end

local function defects(log)
  if not log then return nil end
  local list = {}
  for i, e in ipairs(log.defects) do list[i] = {lba = e.lba, hours = e.power_on_hours} end
  return {count = log.count, entries = list}
end

local STATUS = {passed = "good", failed = "bad"}

--- Our values in the shape of expected.json.
-- @tparam table h      from hdd.drive.ata
-- @tparam table pages  from which they were decoded
-- @treturn table
function M.of(h, pages)
  local id, sct = h.identity, h.sct or {}
  return {
    model = id.model, serial = id.serial, firmware = id.firmware, capacity_bytes = id.size_bytes,
    logical_sector = id.logical_sector_size_bytes, physical_sector = id.physical_sector_size_bytes,
    rotation_rpm = id.solid_state and 0 or id.rotation_rpm, form_factor = id.form_factor,
    ata_version = id.ata_version, sata_version = sata_version(id),
    add_product_id = id.additional_product_id, wwn_naa = id.wwn_naa, wwn_oui = id.wwn_oui,
    smart_status = STATUS[h.smart_status], smart_general = general(h.smart, id),
    attributes = M.attributes(h.smart), gp_log_directory = directory(h.log_directory),
    smart_log_directory = directory(h.smart_log_directory),
    ext_error_log = extended_errors(h, pages), summary_error_log = summary_errors(h, pages),
    self_test_log = tests(h, pages), selective_self_test = selective(h.selective_self_test_log),
    sct_status = sct_status(sct.status), sct_temperature_history = history(sct.temperature_history),
    sct_erc = erc(sct.error_recovery),
    sct_write_cache_reordering = sct.reordering and sct.reordering.value,
    device_statistics = statistics(h.statistics), pending_defects = defects(h.pending_defects),
    sata_phy_event_counters = counters(h.phy),
  }
end

return M
