--- Several drives burnt in at once: each in a task of its own, with a result of its own; and all of a
-- model beside one another, which singles out the odd one.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.batch
-- @usage local results = batch.run(entries, { max_parallel = 8 })
-- for _, odd in ipairs(batch.odd(results)) do print(odd.what) end
local burnin = require "hdd.procedure.burnin"
local statistics = require "hdd.statistics"
local task = require "hdd.task"
local units = require "hdd.units"

local M = {}

local LEAST <const> = 3           -- drives of a kind that have a median worth the name
local HOTTER_C <const> = 8        -- above the median of the batch
local SLOWER <const>, FASTER <const> = 0.92, 1.07

--- Burns in several drives. One that fails, dies or hangs stops none of the others.
-- @tparam {table,...} entries  each with `drive`, `parameters`, `observer` as of hdd.procedure.burnin.run
-- @tparam[opt] table options  `max_parallel` (all)
-- @treturn {table,...}  in their order: `entry`, and `document`, or `message`, `code` and, of an error of
--   ours, `traceback`
function M.run(entries, options)
  local results = task.each(entries, function(entry)
    return burnin.run(entry.drive, entry.parameters, entry.observer)
  end, options)
  for i, r in ipairs(results) do
    results[i] = {
      entry = r.drive, document = r.result, message = r.message, code = r.code,
      traceback = r.traceback,
    }
  end
  return results
end

-- What a drive is compared with: drives of the same model and size.
local function kind_of(d)
  return string.format("%s/%s", d.drive.model or "", d.drive.size_bytes or "")
end

local function zones_of(d)
  local b = d.baseline
  local measured = b and (b.after or b.before)
  return measured and measured.zones
end

-- The median over drives of each zone's rate.
local function medians(zone_lists)
  local list = {}
  for i in ipairs(zone_lists[1]) do
    local rates = {}
    for _, zones in ipairs(zone_lists) do
      rates[#rates + 1] = zones[i] and zones[i].bandwidth_bytes_per_s
    end
    list[i] = statistics.median(rates) or false
  end
  return list
end

local function mean_rate(zones)
  local rates = {}
  for _, zone in ipairs(zones) do rates[#rates + 1] = zone.bandwidth_bytes_per_s end
  return statistics.mean(rates)
end

local function same_places(a, b)
  if #a ~= #b then return false end
  for i, zone in ipairs(a) do
    if zone.offset_bytes ~= b[i].offset_bytes then return false end
  end
  return true
end

local function compare_group(documents)
  local first = zones_of(documents[1])
  local zone_lists, all = {}, {}
  for i, d in ipairs(documents) do
    local zones = zones_of(d)
    if not same_places(first, zones) then return end
    zone_lists[i], all[i] = zones, mean_rate(zones) or false
  end
  local rates = {}
  for _, rate in ipairs(all) do rates[#rates + 1] = rate or nil end
  local typical, of_zone = statistics.median(rates), medians(zone_lists)
  for i, d in ipairs(documents) do
    d.batch = { drives = #documents, ratio = all[i] and typical and all[i] / typical or nil, zones = {} }
    for j, zone in ipairs(zone_lists[i]) do
      local rate, median = zone.bandwidth_bytes_per_s, of_zone[j] or nil
      d.batch.zones[j] = {
        offset_bytes = zone.offset_bytes, length_bytes = zone.length_bytes,
        bandwidth_bytes_per_s = rate, median_bytes_per_s = median,
        ratio = rate and median and median > 0 and rate / median or nil,
      }
    end
  end
end

--- Lays drives of one model beside one another: sets `batch` of their documents. Fewer than three of a
-- model are not compared: of two nobody knows which is the odd one.
-- @tparam {table,...} documents
function M.compare(documents)
  local groups, order = {}, {}
  for _, d in ipairs(documents) do
    if zones_of(d) then
      local kind = kind_of(d)
      if not groups[kind] then groups[kind], order[#order + 1] = {}, kind end
      table.insert(groups[kind], d)
    end
  end
  for _, kind in ipairs(order) do
    if #groups[kind] >= LEAST then compare_group(groups[kind]) end
  end
end

-- A value that one drive has and the others have not.
local function stands_out(documents, value_of, describe, put)
  local values = {}
  for i, d in ipairs(documents) do values[i] = value_of(d) or 0 end
  local without = 0
  for _, value in ipairs(values) do without = without + (value == 0 and 1 or 0) end
  if without * 2 <= #documents then return end -- it is common here
  for i, d in ipairs(documents) do
    if values[i] > 0 then put(d, describe(values[i])) end
  end
end

local function grown(d)
  local n = 0
  for _, phase in ipairs(d.phases) do n = n + #(phase.changes or {}) end
  return n
end

--- What is odd about single drives of a batch.
-- @tparam {table,...} documents  after `compare`
-- @treturn {table,...}  `index` (of the document) and `what`, a sentence
function M.odd(documents)
  local list, index_of = {}, {}
  if #documents < LEAST then return list end
  for i, d in ipairs(documents) do index_of[d] = i end
  local function put(d, what) list[#list + 1] = { index = index_of[d], what = what } end
  for _, d in ipairs(documents) do
    local ratio = d.batch and d.batch.ratio
    if ratio and (ratio < SLOWER or ratio > FASTER) then
      put(d, string.format("reads at %s %% of the median of its batch", units.fixed(ratio * 100, 1)))
    end
  end
  local temperatures = {}
  for _, d in ipairs(documents) do temperatures[#temperatures + 1] = d.summary.temperature_max_c end
  local typical = #temperatures >= LEAST and statistics.median(temperatures)
  for _, d in ipairs(documents) do
    local hottest = d.summary.temperature_max_c
    if typical and hottest and hottest >= typical + HOTTER_C then
      put(d, string.format("became %s °C hot, the median is %s °C", units.fixed(hottest, 0),
        units.fixed(typical, 0)))
    end
  end
  stands_out(documents, function(d) return d.summary.unreadable_bytes end,
    function(n) return "has unreadable blocks: " .. units.bytes(n) end, put)
  stands_out(documents, function(d) return d.summary.slow_bytes end,
    function(n) return "has slow blocks: " .. units.bytes(n) end, put)
  stands_out(documents, function(d) return d.summary.mismatching_blocks end,
    function(n) return string.format("did not hold what was written: %d blocks", n) end, put)
  stands_out(documents, grown, function() return "has counters of faults that grew" end, put)
  return list
end

return M
