--- Which zones of a profile to look at, and the profile in a few numbers. Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.zonejudge
local curve = require "hdd.curve"

local M = {}

-- No disk reads faster than this; two arms reach 0.55 GB/s.
local DISK_MOST <const> = 700e6

-- A zone of zeros on a disk that is so much above the curve of the written zones was not read from
-- it.
local ZEROS_ABOVE <const> = 1.2

-- The profile tells of the whole drive when it begins and ends within this share of its ends.
local COVERS <const> = 0.1

local function points_of(zones)
  local positions, rates = {}, {}
  for i, zone in ipairs(zones) do
    positions[i], rates[i] = zone.offset_bytes, zone.bandwidth_bytes_per_s
  end
  return positions, rates
end

-- A link's payload rate is no exact figure: what is a little above fits through.
local function is_beyond_link(zone, facts)
  return facts.link_bytes_per_s and zone.bandwidth_bytes_per_s > facts.link_bytes_per_s * 1.02
end

-- Sorts the zones that have a rate: those that tell of the medium, and the others, which get a
-- reason. Flash answers reads of what was never written without reading anything. A disk does read
-- it, unless it maps its sectors (shingled ones), and then it is faster than where it was written.
local function sort_out(zones, facts)
  local written, blank, reasons = {}, {}, {}
  for _, zone in ipairs(zones) do
    if not zone.bandwidth_bytes_per_s then
      reasons[zone] = false
    elseif is_beyond_link(zone, facts) then
      reasons[zone] = facts.blank[zone] and "unwritten" or "link"
    else
      table.insert(facts.blank[zone] and blank or written, zone)
    end
  end
  local fitted = #written >= 5 and curve.fit(points_of(written))
  for _, zone in ipairs(blank) do
    local most = fitted and ZEROS_ABOVE * fitted(zone.offset_bytes) or DISK_MOST
    if not facts.rotating or zone.bandwidth_bytes_per_s > math.min(most, DISK_MOST) then
      reasons[zone] = "unwritten"
    end
  end
  local media = {}
  for _, zone in ipairs(zones) do
    if reasons[zone] == nil then media[#media + 1] = zone end
  end
  return media, reasons, fitted
end

--- Flags zones: sets `flagged`, `reason` and `expected_bytes_per_s` of each. The reasons: "errors"
-- (reads failed), "unwritten" (nothing but zeros, and not read from the medium), "link" (faster
-- than the link to the drive), "slow" and "fast" (off what its neighbours and the drive's curve
-- lead to expect, see hdd.curve).
-- @tparam {table,...} zones  of a profile, ascending; changed
-- @tparam table facts        `rotating` (true, false or nil), `link_bytes_per_s` (nil when
--   unknown), `blank` (set of the zones in which nothing but zeros was found)
-- @treturn {table,...}  the zones that tell of the medium
function M.flag(zones, facts)
  local media, reasons, fitted = sort_out(zones, facts)
  local verdicts = curve.judge(points_of(media))
  local verdict_of = {}
  for i, zone in ipairs(media) do verdict_of[zone] = verdicts[i] end
  for _, zone in ipairs(zones) do
    local verdict = verdict_of[zone]
    zone.expected_bytes_per_s = verdict and verdict.expected
      or fitted and fitted(zone.offset_bytes) or nil
    zone.reason = (zone.errors or 0) > 0 and "errors" or reasons[zone]
      or verdict and verdict.reason or nil
    zone.flagged = zone.reason ~= nil
  end
  return media
end

local function covers(zones, size)
  local last = zones[#zones]
  return zones[1].offset_bytes <= size * COVERS
    and last.offset_bytes + last.length_bytes >= size * (1 - COVERS)
end

--- The profile in a few numbers: `summary` of the document, as far as there are zones.
-- @tparam {table,...} zones  all of them, flagged
-- @tparam {table,...} media  those that tell of the medium; the others count only when there are
--   none
-- @tparam integer size       of the drive, bytes
-- @treturn table
function M.summarize(zones, media, size)
  local summary, flagged, with_rate = {}, 0, {}
  for _, zone in ipairs(zones) do
    if zone.flagged then flagged = flagged + 1 end
    if zone.bandwidth_bytes_per_s then with_rate[#with_rate + 1] = zone end
  end
  summary.flagged_zones = flagged
  local list = #media > 0 and media or with_rate
  if #list == 0 then return summary end
  local fastest, slowest, mean = list[1], list[1], 0.0
  for i, zone in ipairs(list) do
    local rate = zone.bandwidth_bytes_per_s
    mean = mean + (rate - mean) / i
    if rate > fastest.bandwidth_bytes_per_s then fastest = zone end
    if rate < slowest.bandwidth_bytes_per_s then slowest = zone end
  end
  summary.outer_bytes_per_s = list[1].bandwidth_bytes_per_s
  summary.inner_bytes_per_s = list[#list].bandwidth_bytes_per_s
  summary.ratio = summary.outer_bytes_per_s / summary.inner_bytes_per_s
  summary.mean_bytes_per_s = mean
  summary.fastest_bytes_per_s = fastest.bandwidth_bytes_per_s
  summary.fastest_offset_bytes = fastest.offset_bytes
  summary.slowest_bytes_per_s = slowest.bandwidth_bytes_per_s
  summary.slowest_offset_bytes = slowest.offset_bytes
  if covers(list, size) then summary.full_read_s = curve.read_time(list, 0, size) end
  return summary
end

return M
