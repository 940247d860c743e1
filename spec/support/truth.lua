--- What the simulated drive says of itself, held against what was measured on it.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

--- The rate at which a range comes off the medium, integrated over the zones it spans.
-- @tparam table truth  of hddsim
-- @tparam integer offset  bytes
-- @tparam integer length  bytes
-- @treturn number  bytes/s
function M.rate(truth, offset, length)
  local time, last = 0, offset + length
  for _, zone in ipairs(truth.zones) do
    local from = math.max(offset, zone.first_lba * 512)
    local to = math.min(last, (zone.last_lba + 1) * 512)
    if to > from then time = time + (to - from) / (zone.MB_s * 1e6) end
  end
  return length / time
end

--- How fast the drive really delivered what was read in its zone at `offset`, the host's pauses
-- counted: what a benchmark must report, however busy the machine is.
-- @tparam table truth
-- @tparam integer offset  bytes
-- @treturn ?number  bytes/s
function M.delivered(truth, offset)
  for _, zone in ipairs(truth.zones) do
    if offset <= zone.last_lba * 512 then
      local read = zone.sequential_read
      return read and read.MB_s_seen and read.MB_s_seen * 1e6
    end
  end
end

--- How many random reads a second the drive really served at a depth, the host's pauses counted.
-- @tparam table truth
-- @tparam integer depth
-- @treturn ?number
function M.served(truth, depth)
  for _, row in ipairs(truth.observed.random_read_by_depth) do
    if row.depth == depth then return row.count.iops_seen end
  end
end

--- How far each zone of a profile is off the truth, as a share (0.01: a hundredth too fast).
-- @tparam table document  hddlua.zoneprofile
-- @tparam table truth
-- @treturn {number,...}
function M.zone_errors(document, truth)
  local errors = {}
  for i, zone in ipairs(document.zones) do
    errors[i] = zone.bandwidth_bytes_per_s / M.rate(truth, zone.offset_bytes, zone.length_bytes) - 1
  end
  return errors
end

--- The simulator's forecast of random reads per second.
-- @tparam table truth
-- @tparam integer block_size  512 or 4096
-- @tparam integer depth
-- @treturn ?number
function M.iops(truth, block_size, depth)
  for _, row in ipairs(truth.predicted["random_read_" .. block_size]) do
    if row.depth == depth then return row.iops end
  end
end

--- Median of numbers.
function M.median(values)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  local n = #sorted
  return n % 2 == 1 and sorted[n // 2 + 1] or (sorted[n // 2] + sorted[n // 2 + 1]) / 2
end

--- The median of how far numbers are from 0, and the share of them within a limit of it.
function M.within(errors, limit)
  local sizes, inside = {}, 0
  for i, e in ipairs(errors) do
    sizes[i] = math.abs(e)
    if sizes[i] <= limit then inside = inside + 1 end
  end
  return M.median(sizes), inside / #errors
end

return M
