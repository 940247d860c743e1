--- What our decoders made of a SCSI drive, put into the shape of a fixture's expected.json, so that
-- the two can be compared value by value. Nothing here looks at the expected values.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

local FORM_FACTORS = {["3.5 inches"] = 2, ["2.5 inches"] = 3}

local function counters(e)
  return e and {
    corrected_fast = e.corrected_without_delay, corrected_delayed = e.corrected_with_delay,
    rereads_rewrites = e.corrected_by_repetition, total_corrected = e.corrected,
    algorithm_invocations = e.correction_runs, bytes_processed = e.processed_bytes,
    total_uncorrected = e.uncorrected,
  }
end

local function tests(log)
  if not log then return nil end
  local list = {}
  for i, t in ipairs(log.entries) do
    list[i] = {
      code = t.type_code, result = t.code, segment = t.segment or 0, hours = t.power_on_hours,
      lba = t.lba,
      sense = t.sense and {t.sense.key, t.sense.asc, t.sense.ascq},
    }
  end
  return list
end

local NO_ADDRESS = ("0"):rep(16)

local function ports(decoded)
  if not decoded then return nil end
  local list = {}
  for i, p in ipairs(decoded.ports) do
    local phys = {}
    for k, phy in ipairs(p.phys) do
      local events = {}
      for n, e in ipairs(phy.events) do events[n] = {e.source, e.value} end
      phys[k] = {
        id = phy.id, attached_type = phy.attached_code, attached_reason = phy.attached_reason_code,
        reason = phy.reason_code, rate = phy.rate_code,
        attached_initiator_bits = phy.attached_initiator_bits,
        attached_target_bits = phy.attached_target_bits, sas_address = phy.sas_address,
        -- Absent with us where nothing is attached.
        attached_sas_address = phy.attached_sas_address or NO_ADDRESS,
        attached_phy_id = phy.attached_phy or 0,
        invalid_dwords = phy.invalid_dwords, disparity_errors = phy.disparity_errors,
        loss_of_sync = phy.sync_losses, phy_reset_problems = phy.reset_problems, events = events,
      }
    end
    list[i] = {relative_port = p.number, generation = p.generation, phys = phys}
  end
  return list
end

local HEALTH = {good = "ok", failing = "failing"}

--- Our values in the shape of expected.json.
-- @tparam table said  from hdd.drive.scsi
-- @treturn table
function M.of(said)
  local id, ie, scan, start = said.identity, said.exceptions, said.background_scan, said.start_stop
  return {
    vendor = said.inquiry.vendor, product = said.inquiry.product, revision = said.inquiry.revision,
    scsi_version = id.scsi_version, serial = id.serial, logical_unit_id = id.wwn,
    protocol_id = said.designation.transport_code, capacity_bytes = id.size_bytes,
    logical_sector = id.logical_sector_size_bytes, physical_sector = id.physical_sector_size_bytes,
    rotation_rpm = id.solid_state and 0 or id.rotation_rpm,
    form_factor_code = FORM_FACTORS[id.form_factor] or 0,
    informational_exceptions = {
      enabled = said.exceptions_control.enabled,
      temperature_warning = said.exceptions_control.temperature_warning,
    },
    smart_health = HEALTH[ie.status],
    -- No trip temperature is absent with us and 0 with them.
    ie_log = {asc = ie.asc, ascq = ie.ascq, temperature = ie.temperature_c, trip = ie.trip_c or 0},
    temperature = {current = said.temperature_page.temperature_c,
      reference = said.temperature_page.reference_c},
    start_stop = start and {
      manufactured_year = start.manufactured_year, manufactured_week = start.manufactured_week,
      specified_cycles = start.rated_start_stop_cycles,
      accumulated_cycles = start.start_stop_cycles,
      specified_load_unload = start.rated_load_cycles, accumulated_load_unload = start.load_cycles,
    },
    endurance_used_percent = said.solid_state and said.solid_state.life_used_percent,
    grown_defects = said.grown_defects.count,
    error_counters = {
      read = counters(said.read_errors), write = counters(said.write_errors),
      verify = counters(said.verify_errors),
    },
    non_medium_errors = said.non_medium_errors and said.non_medium_errors.count,
    self_tests = tests(said.self_test_log),
    background_scan = {
      power_on_minutes = scan.power_on_minutes, status = scan.status_code, scans = scan.scans,
      progress_65536 = scan.progress_65536, medium_scans = scan.medium_scans,
    },
    sas_ports = ports(said.sas),
  }
end

return M
