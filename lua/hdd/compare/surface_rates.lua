--- Rates across two drives' surfaces, zone against zone: of zone profiles and surface scans. Pure.
--
-- Zones of drives of one size are laid at one another by their offset, of others by their share of
-- the drive, the finer grid interpolated at the coarser's places. Rates of neighbouring zones resemble
-- one another, so what the zones' scatter says of their mean is the long-run variance.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.compare.surface_rates
local judge = require "hdd.compare.judge"
local statistics = require "hdd.statistics"
local units = require "hdd.units"

local M = {}

local FEWEST <const> = 8                       -- zones that are judged
local STRETCH <const>, STRETCHES <const> = 8, 10 -- zones of a stretch at least; stretches at most
local ALIKE <const> = 0.8                      -- of the zones at the same offsets: one grid
local COMMON <const> = 0.5                     -- of the wider profile's stretch: enough to be compared

-- They tell of a cache, or of nothing.
local NO_MEDIUM <const> = { unwritten = true, link = true }

-- Of a fio log the drive's size is not known.
local function size_of(documents)
  local size = documents[1].drive and documents[1].drive.size_bytes or 0
  return size > 0 and size or nil
end

local function end_of(documents)
  local size = 0
  for _, d in ipairs(documents) do
    for _, zone in ipairs(d.zones or d.map) do
      size = math.max(size, (zone.offset_bytes or 0) + (zone.length_bytes or 0))
    end
  end
  return size
end

-- The rates of a side by offset, the mean of its runs; the number of zones left out.
local function profile_of(documents)
  local sums, counts, offsets, left_out = {}, {}, {}, 0
  for _, d in ipairs(documents) do
    for _, zone in ipairs(d.zones or d.map) do
      local rate, offset = zone.bandwidth_bytes_per_s, zone.offset_bytes
      if offset and rate and rate > 0 and not NO_MEDIUM[zone.reason] then
        if not sums[offset] then offsets[#offsets + 1] = offset end
        sums[offset], counts[offset] = (sums[offset] or 0.0) + rate, (counts[offset] or 0) + 1
      else
        left_out = left_out + 1
      end
    end
  end
  table.sort(offsets)
  local rates = {}
  for i, offset in ipairs(offsets) do rates[i] = sums[offset] / counts[offset] end
  return { offsets = offsets, rates = rates, size = size_of(documents), last = end_of(documents),
    left_out = left_out }
end

local function by_offset(a, b)
  local place, pairs_of = {}, {}
  for i, offset in ipairs(b.offsets) do place[offset] = i end
  for i, offset in ipairs(a.offsets) do
    local k = place[offset]
    if k then
      pairs_of[#pairs_of + 1] = { offset = offset, share = offset / a.size, a = a.rates[i], b = b.rates[k] }
    end
  end
  return pairs_of
end

-- The rate of a profile at a share of its drive, between its zones; nil outside them.
local function between(profile, share, from)
  local at, offsets = share * profile.size, profile.offsets
  local i = from
  while offsets[i + 1] and offsets[i + 1] < at do i = i + 1 end
  local left, right = offsets[i], offsets[i + 1]
  -- Half a zone beyond the ends still counts: grids of drives of two sizes never end together.
  local step = (offsets[#offsets] - offsets[1]) / math.max(1, #offsets - 1)
  if not left or at < offsets[1] - step / 2 or at > offsets[#offsets] + step / 2 then return nil, i end
  if at <= left or not right then return profile.rates[i], i end
  return profile.rates[i] + (profile.rates[i + 1] - profile.rates[i]) * (at - left) / (right - left), i
end

local function by_share(a, b)
  local swapped = #a.offsets > #b.offsets
  local coarse, fine = swapped and b or a, swapped and a or b
  local pairs_of, i = {}, 1
  for k, offset in ipairs(coarse.offsets) do
    local share = offset / coarse.size
    local rate
    rate, i = between(fine, share, i)
    if rate then
      local own = coarse.rates[k]
      pairs_of[#pairs_of + 1] = {
        offset = math.floor(share * a.size), share = share, a = swapped and rate or own, b = swapped and own or rate,
      }
    end
  end
  return pairs_of
end

-- What of the wider profile's stretch both have, 0 to 1: many places within one zone are not many.
local function common_of(left, right)
  local function ends(profile) return profile.offsets[1] / profile.size, profile.last / profile.size end
  local a, b = ends(left)
  local c, d = ends(right)
  return math.max(0, math.min(b, d) - math.max(a, c)) / math.max(b - a, d - c)
end

--- Lays two sides' zones at one another.
-- @tparam {table,...} a  documents of one drive, with `zones` or `map`
-- @tparam {table,...} b
-- @treturn {table,...}  `offset` (bytes, of the first), `share` (0 to 1), `a` and `b` (bytes/s), ascending
-- @treturn {string,...} notes
-- @treturn ?string      why there is nothing to be laid at one another
function M.pair(a, b)
  local left, right = profile_of(a), profile_of(b)
  local notes = {}
  local gone = left.left_out + right.left_out
  if gone > 0 then
    notes[1] = string.format("%d zones without a rate of the medium (unread, unwritten, from a cache) are left out",
      gone)
  end
  if #left.offsets == 0 or #right.offsets == 0 then return {}, notes end
  if not left.size or not right.size then
    notes[#notes + 1] = "a drive's size is not known: the zones are laid at one another by their offset in bytes"
    local size = left.size or right.size or math.max(left.last, right.last)
    left.size, right.size = size, size
  end
  local common = common_of(left, right)
  if common < COMMON then
    return {}, notes, string.format("they have only %s %% of the surface in common", units.fixed(common * 100, 1))
  end
  if left.size == right.size then
    local paired = by_offset(left, right)
    if #paired >= ALIKE * math.max(#left.offsets, #right.offsets) then return paired, notes end
  end
  notes[#notes + 1] = "the zones lie at different places: compared at the same share of each drive, the rate between "
    .. "two zones interpolated"
  return by_share(left, right), notes
end

-- The relative change of a mean of f(rate), and its error by the zones' parts in it.
local function change_of(paired, f)
  local a, b, n = 0.0, 0.0, #paired
  for _, p in ipairs(paired) do a, b = a + f(p.a) / n, b + f(p.b) / n end
  local parts = {}
  for i, p in ipairs(paired) do parts[i] = f(p.b) / b - f(p.a) / a end
  local variance, df = statistics.long_run_variance(parts)
  return {
    log_change = math.log(b / a), error = math.sqrt((variance or 0) / n), df = df, n = n, unit = "zones",
    parts = parts,
  }, a, b
end

local function itself(rate) return rate end
local function inverse(rate) return 1 / rate end

-- The stretches' changes, each with the error that all of them have in common: few zones say little of
-- a variance, those of all stretches more.
local function stretches_of(paired)
  local count = math.min(STRETCHES, #paired // STRETCH)
  local list, variance, df = {}, 0.0, 0
  for k = 1, count do
    local first, last = #paired * (k - 1) // count + 1, #paired * k // count
    local part = table.move(paired, first, last, 1, {})
    local estimate, a, b = change_of(part, itself)
    local own, own_df = statistics.long_run_variance(estimate.parts)
    variance, df = variance + own * own_df, df + own_df
    local behind = paired[last + 1]
    list[k] = { estimate = estimate, a = a, b = b, first = part[1], behind = behind }
  end
  for _, stretch in ipairs(list) do
    stretch.estimate.error = math.sqrt(variance / df / stretch.estimate.n)
    stretch.estimate.df = df
  end
  return list
end

-- Adds what whole runs differ by, which no zone of one of them can see.
local function with_runs(estimate, runs)
  if not runs then return estimate end
  local own, other = estimate.error ^ 2, runs.error ^ 2
  local spread = own ^ 2 / estimate.df + other ^ 2 / runs.df
  estimate.error = math.sqrt(own + other)
  estimate.df = spread > 0 and (own + other) ^ 2 / spread or estimate.df
  return estimate
end

--- The metrics of the surfaces' rates: the mean, and the stretches, whose intervals hold together.
-- @tparam {table,...} paired  of `pair`
-- @tparam table how           `level`
-- @tparam ?table runs         the mean's change as several runs of each side estimate it
-- @treturn {table,...}        metrics, without `side` and `kind`
-- @return or nil, sentence: why nothing is judged
function M.metrics(paired, how, runs)
  if #paired < FEWEST then
    return nil, string.format("only %d zones lie at the same places, and at least %d are needed: "
      .. "measure again with more (--count)", #paired, FEWEST)
  end
  local mean, a, b = change_of(paired, itself)
  local list = { judge.add({ scope = "whole", name = "mean_bytes_per_s", primary = true, a = a, b = b }, runs or mean,
    how) }
  local parts = stretches_of(paired)
  for _, stretch in ipairs(parts) do
    list[#list + 1] = judge.add({
      scope = "stretch", name = "bandwidth_bytes_per_s", primary = false, a = stretch.a, b = stretch.b,
      from_share = stretch.first.share, to_share = stretch.behind and stretch.behind.share or 1.0,
      from_bytes = stretch.first.offset, to_bytes = stretch.behind and stretch.behind.offset,
    }, with_runs(stretch.estimate, runs), { level = how.level, family = #parts })
  end
  return list
end

--- The time to read a whole drive: its change is that of the zones' time, and that of the size.
-- @tparam {table,...} paired
-- @tparam number a  seconds
-- @tparam number b
-- @tparam table how  `level`
-- @treturn table  metric
function M.full_read(paired, a, b, how)
  local metric = { scope = "whole", name = "full_read_s", primary = false, a = a, b = b }
  if #paired < FEWEST then return judge.add(metric, nil, how) end
  local estimate = change_of(paired, inverse)
  estimate.log_change = math.log(b / a)
  return judge.add(metric, estimate, { level = how.level, less = true })
end

return M
