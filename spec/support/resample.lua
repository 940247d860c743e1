--- Further runs of a drive, drawn from a run of it: what a comparison has to be right about.
-- SPDX-License-Identifier: GPL-3.0-or-later
local curve = require "hdd.curve"
local document = require "hdd.document"

local M = {}

local BLOCK <const> = 4 -- zones that are drawn together, as neighbours resemble one another

--- A copy.
function M.copy(d)
  return (assert(document.decode(document.encode(d))))
end

-- The relative distances of a profile's zones from its curve.
local function residuals_of(d)
  local positions, rates, list = {}, {}, {}
  for i, zone in ipairs(d.zones) do
    positions[i], rates[i] = zone.offset_bytes, zone.bandwidth_bytes_per_s
  end
  local fitted = curve.fit(positions, rates)
  for i, rate in ipairs(rates) do list[i] = rate / fitted(positions[i]) - 1 end
  return list, fitted
end

--- Prepares drawing of runs of a profile: its curve, and its zones' distances from it in blocks (the
-- moving-blocks bootstrap).
-- @tparam table d  document with at least 16 zones
-- @treturn function  of a factor (1.0: the same drive; 0.95: one that is 5 % slower) -> document
function M.profiles(d)
  local residuals, fitted = residuals_of(d)
  local run = M.copy(d)
  run.status = "complete"
  return function(factor)
    local zones, mean = {}, 0.0
    local first = 1
    for i, zone in ipairs(d.zones) do
      if (i - 1) % BLOCK == 0 then first = math.random(#residuals - BLOCK + 1) end
      local rate = fitted(zone.offset_bytes) * (1 + residuals[first + (i - 1) % BLOCK]) * factor
      zones[i] = { offset_bytes = zone.offset_bytes, length_bytes = zone.length_bytes, flagged = false,
        bandwidth_bytes_per_s = rate }
      mean = mean + rate / #d.zones
    end
    local drawn = setmetatable({ zones = zones, summary = { mean_bytes_per_s = mean } }, { __index = run })
    return drawn
  end
end

local function normal()
  return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random())
end

--- Gives the zones of a profile a scatter of which neighbours have part of their own.
-- @tparam table d       document; changed
-- @tparam number sigma  relative
-- @tparam number rho    correlation of neighbours
-- @treturn table  the same
function M.scatter(d, sigma, rho)
  local state = normal()
  for _, zone in ipairs(d.zones) do
    zone.bandwidth_bytes_per_s = zone.bandwidth_bytes_per_s * (1 + sigma * state)
    state = rho * state + math.sqrt(1 - rho ^ 2) * normal()
  end
  return d
end

--- Prepares drawing of runs of a sweep: each row's IOPS about what was measured, its own interval
-- drawn as one of so many batches is.
-- @tparam table d  document whose rows have `iops_ci95`
-- @treturn function  of a factor -> document
function M.sweeps(d)
  local t = 2.0423 -- of 30 degrees of freedom
  return function(factor)
    local run = M.copy(d)
    run.status = "complete"
    run.started_at = ("2026-11-30T%02d:%02d:%02dZ"):format(math.random(0, 23), math.random(0, 59), math.random(0, 59))
    for _, row in ipairs(run.rows) do
      local error, squares = row.iops_ci95 / t, 0.0
      for _ = 1, 30 do squares = squares + normal() ^ 2 end
      row.iops = (row.iops + error * normal()) * factor
      row.iops_ci95 = row.iops_ci95 * math.sqrt(squares / 30) * factor
    end
    return run
  end
end

return M
