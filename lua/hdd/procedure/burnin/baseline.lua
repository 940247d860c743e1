--- The baseline of a burn-in: how fast the drive is before and after, as a short zone profile and a
-- short sweep; and, zone by zone, whether it has become slower.
--
-- Nothing else is asked of the drive meanwhile: a health command stalls the queue of many drives. A
-- zone or depth that seems slower is measured again, twice, before it is believed: the best of the
-- three counts. What a file's host does meanwhile is no drive's: a file's rates are not compared.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.baseline
local qdsweep = require "hdd.procedure.qdsweep"
local statistics = require "hdd.statistics"
local zoneprofile = require "hdd.procedure.zoneprofile"

local M = {}

local AGAIN <const> = 2      -- times that a suspect is measured again
local SUSPECT <const> = 0.95 -- below this share of before

local function observer_of(run, stage, from, to)
  return { progress = function(state)
    run:report {
      stage = stage, share = state.share and from + (to - from) * state.share,
      position_bytes = state.position_bytes, bandwidth_bytes_per_s = state.bandwidth_bytes_per_s,
      iops = state.iops, idle_s = state.idle_s, oldest_offset_bytes = state.oldest_offset_bytes,
      errors = state.errors,
    }
  end }
end

-- A procedure's document; what went wrong in it goes into the burn-in's. nil, message, code; nil alone
-- when it was ended before its time.
local function measure(run, procedure, parameters, observer)
  local d, message, code = procedure.run(run.drive, parameters, observer)
  if not d then return nil, message, code end
  run.document.errors = run.document.errors + d.errors
  for _, failure in ipairs(d.failures) do
    if #run.document.failures < 256 then table.insert(run.document.failures, failure) end
  end
  for _, warning in ipairs(d.warnings) do run:warn(warning) end
  if d.status ~= "complete" then
    run.m.over = run.m.over or d.status
    return nil
  end
  return d
end

local function zones_of(d)
  local list = {}
  for i, zone in ipairs(d.zones) do
    list[i] = {
      offset_bytes = zone.offset_bytes, length_bytes = zone.length_bytes,
      bandwidth_bytes_per_s = zone.bandwidth_bytes_per_s, reason = zone.reason,
    }
  end
  return list
end

local function rows_of(d)
  local list = {}
  for i, row in ipairs(d.rows) do
    list[i] = {
      block_size_bytes = row.block_size_bytes, depth = row.depth, iops = row.iops,
      iops_ci95 = row.iops_ci95, latency_p50_us = row.latency_p50_us,
      latency_p99_us = row.latency_p99_us,
    }
  end
  return list
end

local function ratio_of(now, before)
  return now and before and before > 0 and now / before or nil
end

-- Reads a zone once more.
local function zone_again(run, zone, observer)
  local d = measure(run, zoneprofile, {
    from = zone.offset_bytes, to = zone.offset_bytes + zone.length_bytes, count = 1,
    zone_size = zone.length_bytes,
  }, observer)
  return d and d.zones[1]
end

-- What is slower than before is measured again; the best counts, by the first of `keys`.
local function confirm(run, before, now, keys, measure_again)
  local key = keys[1]
  for i, entry in ipairs(now) do
    local was = before[i]
    for _ = 1, AGAIN do
      local ratio = was and ratio_of(entry[key], was[key])
      if not ratio or ratio >= SUSPECT or run:over() then break end
      local again = measure_again(entry)
      if again and again[key] and again[key] > entry[key] then
        for _, name in ipairs(keys) do entry[name] = again[name] end
      end
    end
  end
end

local function confirm_zones(run, before, zones, observer)
  confirm(run, before.zones, zones, { "bandwidth_bytes_per_s" }, function(zone)
    zone.again = (zone.again or 0) + 1
    return zone_again(run, zone, observer)
  end)
end

local function sweep_parameters(run, depths)
  local p = run.parameters
  return {
    depths = depths, block_sizes = { run.block_size }, ramp = 0.5, runtime = p.sweep_runtime,
    seed = p.seed, to = run.usable_bytes, rpm = p.rpm, scheduler = "keep",
  }
end

local function confirm_rows(run, before, rows, observer)
  confirm(run, before.rows, rows, { "iops", "iops_ci95" }, function(row)
    local d = measure(run, qdsweep, sweep_parameters(run, { row.depth }), observer)
    return d and d.rows[1]
  end)
end

-- Each zone and each row of the sweep, before and after.
local function compare(baseline)
  local zones, rows = {}, {}
  for i, zone in ipairs(baseline.after.zones) do
    local was = baseline.before.zones[i] or {}
    zones[i] = {
      offset_bytes = zone.offset_bytes, length_bytes = zone.length_bytes,
      before_bytes_per_s = was.bandwidth_bytes_per_s, after_bytes_per_s = zone.bandwidth_bytes_per_s,
      ratio = ratio_of(zone.bandwidth_bytes_per_s, was.bandwidth_bytes_per_s), again = zone.again,
    }
  end
  for i, row in ipairs(baseline.after.rows) do
    local was = baseline.before.rows[i] or {}
    rows[i] = {
      block_size_bytes = row.block_size_bytes, depth = row.depth, before_iops = was.iops,
      after_iops = row.iops, ratio = ratio_of(row.iops, was.iops),
    }
  end
  baseline.zones, baseline.sweep = zones, rows
end

local function rates(zones)
  local list = {}
  for _, zone in ipairs(zones) do list[#list + 1] = zone.bandwidth_bytes_per_s end
  return list
end

--- Runs the phase.
-- @tparam Run run
-- @tparam table entry  of the document's `phases`
-- @treturn boolean  true
-- @return or nil, message, code
function M.run(run, entry)
  local p, baseline = run.parameters, run.document.baseline
  local profile, message, code = measure(run, zoneprofile, {
    count = p.zone_count, zone_size = p.zone_size, to = run.usable_bytes, rpm = p.rpm,
  }, observer_of(run, "zone profile", 0, 0.6))
  if not profile then return message == nil, message, code end
  local sweep
  sweep, message, code = measure(run, qdsweep, sweep_parameters(run, p.depths),
    observer_of(run, "sweep", 0.6, 1))
  if not sweep then return message == nil, message, code end
  local found = { zones = zones_of(profile), rows = rows_of(sweep) }
  local comparable = entry.when == "after" and baseline.before and run.drive.type == "block"
  if comparable then
    local observer = observer_of(run, "slow ones once more", 1, 1)
    confirm_zones(run, baseline.before, found.zones, observer)
    confirm_rows(run, baseline.before, found.rows, observer)
  end
  if run:over() then return true end
  baseline[entry.when] = found
  if comparable then compare(baseline) end
  entry.bandwidth_bytes_per_s = statistics.mean(rates(found.zones))
  entry.iops = found.rows[1] and found.rows[1].iops
  return true
end

return M
