--- What the platter's turning allows: checks of results against physics. Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.rotation
local units = require "hdd.units"

local M = {}

-- The fastest disks that were ever sold: what these cannot do, none can.
local FASTEST_RPM <const> = 15000

-- Reads a turn at any depth. Drives of one arm reach 1.4 at depth 16, those of two twice that.
local READS_A_TURN <const> = 3

-- A row is held against Little's law when the reads at its edges are less than this part of it.
local EDGE <const>, LITTLE <const> = 0.05, 0.05

--- Does the drive turn, and how fast? What the user says counts more than the drive's own rate, and
-- that more than the kernel's flag, which is wrong behind some bridges and controllers.
-- @tparam Drive|table drive  `rotation_rate_rpm` and `rotational`, as far as they are known
-- @tparam ?integer rpm       what the user says; 0: it does not turn
-- @treturn table  `rotating` (true, false, or nil when unknown), `rpm` (nil when it does not turn
--   or nothing is known), `assumed` (true: `rpm` is that of the fastest disks)
-- @usage local turning = rotation.of(drive)
function M.of(drive, rpm)
  rpm = rpm or drive.rotation_rate_rpm or drive.rotation_rpm
  if rpm then return { rotating = rpm > 0, rpm = rpm > 0 and rpm or nil, assumed = false } end
  if not drive.rotational then return { rotating = drive.rotational, assumed = false } end
  return { rotating = true, rpm = FASTEST_RPM, assumed = true }
end

local function too_fast(row, turning)
  if not turning.rotating or not row.iops then return nil end
  local turns_per_s = turning.rpm / 60
  local rpm = string.format("%d rpm%s", turning.rpm, turning.assumed and " (assumed)" or "")
  if row.depth == 1 and row.iops > 2 * turns_per_s then
    return string.format("above %s IOPS, which is half a turn a read at %s: a cache or unwritten "
      .. "areas, not the medium", units.fixed(2 * turns_per_s, 0), rpm)
  elseif row.iops > READS_A_TURN * turns_per_s then
    return string.format("above %s IOPS, which is %d reads a turn at %s: a cache or unwritten "
      .. "areas, not the medium", units.fixed(READS_A_TURN * turns_per_s, 0), READS_A_TURN, rpm)
  end
end

-- Of reads that are always `depth` in flight the mean latency is depth over rate.
local function breaks_little(row)
  local depth, iops, mean_us = row.depth_achieved, row.iops, row.latency_mean_us
  if not (depth and iops and mean_us) or row.errors > 0 then return nil end
  if row.ios * EDGE < row.depth or row.depth_achieved < row.depth * 0.9 then return nil end
  local expected_us = row.depth / iops * 1e6
  if math.abs(mean_us / expected_us - 1) > LITTLE then
    return string.format("mean latency %s, but depth over IOPS is %s (Little's law): do not trust "
      .. "this row", units.latency(mean_us * 1e3), units.latency(expected_us * 1e3))
  end
end

--- Is a row of random reads plausible?
-- @tparam table row      of a sweep: `depth`, `depth_achieved`, `iops`, `ios`, `errors`,
--   `latency_mean_us`
-- @tparam table turning  what `of` returned
-- @treturn ?string  what is wrong; nil when nothing is
-- @usage row.reason = rotation.verdict(row, turning)
function M.verdict(row, turning)
  return too_fast(row, turning) or breaks_little(row)
end

return M
