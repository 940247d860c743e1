--- Drives, or runs of one, held against one another: what differs by more than chance. Pure.
-- docs/comparing.md says how each interval is made.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.compare
-- @usage local result = compare.run { { name = "old", documents = { old } },
--   { name = "new", documents = { new } } }
-- print(result.comparisons[1].sentence)
local capdiff = require "hdd.drive.capdiff"
local document = require "hdd.document"
local judge = require "hdd.compare.judge"
local rows = require "hdd.compare.rows"
local scans = require "hdd.compare.scans"
local settings = require "hdd.compare.settings"
local statistics = require "hdd.statistics"
local surface_rates = require "hdd.compare.surface_rates"
local words = require "hdd.compare.words"

local M = {}

--- The schema of what `run` returns.
M.schema = "hddlua.compare/1"

local KINDS <const> = { "zoneprofile", "qdsweep", "seekprofile", "surface" }

-- Numbers of the summary that a single run says nothing of the scatter of: { name, less is better }.
local SUMMARY <const> = {
  zoneprofile = { { "outer_bytes_per_s" }, { "inner_bytes_per_s" }, { "ratio", neither = true } },
  seekprofile = {
    { "seek_average_us", less = true, primary = true }, { "seek_track_to_track_us", less = true },
    { "seek_full_stroke_us", less = true }, { "access_average_us", less = true },
    { "overhead_us", less = true }, { "rpm", neither = true },
  },
}

local function kind_of(d)
  return type(d.schema) == "string" and d.schema:match("^hddlua%.([%l_]+)/%d+$") or nil
end

local function of_kind(side, kind)
  local list = {}
  for _, d in ipairs(side.documents) do
    if kind_of(d) == kind then list[#list + 1] = d end
  end
  return list
end

local function summaries(documents, name)
  local list = {}
  for _, d in ipairs(documents) do
    local value = (d.summary or {})[name]
    if type(value) == "number" and value > 0 then list[#list + 1] = value end
  end
  return list
end

local function add_summary(list, kind, a, b, how)
  for _, number in ipairs(SUMMARY[kind] or {}) do
    local x, y = summaries(a, number[1]), summaries(b, number[1])
    if #x > 0 and #y > 0 then
      list[#list + 1] = judge.add(
        { scope = "whole", name = number[1], primary = number.primary or false, a = statistics.mean(x),
          b = statistics.mean(y) },
        not number.neither and judge.of_runs(x, y) or nil, { level = how.level, less = number.less })
    end
  end
end

-- A metric of several runs on both sides is judged by these.
local function by_runs(metric, x, y, how)
  local estimate = judge.of_runs(x, y)
  if not estimate then return metric end
  metric.a, metric.b = statistics.mean(x), statistics.mean(y)
  return judge.add(metric, estimate, how)
end

local compare_kind = {}

-- Over the surface: zone profiles.
function compare_kind.zoneprofile(comparison, a, b, how)
  local paired, notes, apart = surface_rates.pair(a, b)
  table.move(notes, 1, #notes, #comparison.notes + 1, comparison.notes)
  local runs = judge.of_runs(summaries(a, "mean_bytes_per_s"), summaries(b, "mean_bytes_per_s"))
  local list, why = surface_rates.metrics(paired, how, runs)
  if not list then
    comparison.refused = apart or why
    return {}
  end
  local x, y = summaries(a, "full_read_s"), summaries(b, "full_read_s")
  if #x > 0 and #y > 0 then
    local whole = surface_rates.full_read(paired, statistics.mean(x), statistics.mean(y), how)
    table.insert(list, 2, by_runs(whole, x, y, { level = how.level, less = true }))
  end
  return list
end

function compare_kind.qdsweep(comparison, a, b, how)
  local paired, unpaired = rows.pair(a, b)
  if #paired == 0 then
    comparison.refused = "they have no block size and queue depth in common"
    return {}
  end
  if unpaired > 0 then
    comparison.notes[#comparison.notes + 1] =
      string.format("%d rows of a block size or depth that only one has are left out", unpaired)
  end
  return rows.metrics(paired, how)
end

function compare_kind.seekprofile()
  return {}
end

-- Scans: their rate as a profile's; of one drive, too, what became worse.
function compare_kind.surface(comparison, a, b, how)
  local sentences = scans.changes(a[#a], b[#b])
  table.move(sentences, 1, #sentences, #comparison.notes + 1, comparison.notes)
  local paired, notes = surface_rates.pair(a, b)
  table.move(notes, 1, #notes, #comparison.notes + 1, comparison.notes)
  local list, why = surface_rates.metrics(paired, how)
  if not list then comparison.notes[#comparison.notes + 1] = why end
  return list or {}
end

-- What single runs cannot say, and what their documents warn of.
local function add_notes(comparison, a, b)
  local notes = comparison.notes
  notes[#notes + 1] = settings.trust(a, b)
  if #a < 2 or #b < 2 then
    notes[#notes + 1] = "one run of a side: the interval says how sure this run is; how much the next one would "
      .. "differ, it cannot see"
  end
  for _, d in ipairs(a) do
    for _, e in ipairs(b) do
      if d == e or d.started_at and d.started_at == e.started_at and (d.drive or {}).serial == (e.drive or {}).serial
        and document.encode(d) == document.encode(e) then
        notes[#notes + 1] = "both sides have the same run: nothing can differ"
        return
      end
    end
  end
end

local function conclude(comparison, list, how)
  for _, metric in ipairs(list) do
    if metric.primary then
      comparison.verdict = metric.verdict
      comparison.sentence = words.sentence(metric, comparison.names[1], comparison.names[2], how.level)
    end
  end
  comparison.verdict = comparison.verdict or "not judged"
end

-- One kind of two sides: the comparison and its metrics.
local function compare_sides(kind, index, first, other, options)
  local a, b = of_kind(first, kind), of_kind(other, kind)
  if #a == 0 or #b == 0 then return nil end
  local comparison = { side = index, kind = kind, notes = {}, names = { first.name, other.name },
    differences = settings.differences(a[1], b[1]) }
  local problems = settings.problems(kind, { name = first.name, documents = a },
    { name = other.name, documents = b })
  if #problems > 0 and not options.anyway then
    comparison.refused = table.concat(problems, "; ")
    return comparison, {}
  end
  for _, problem in ipairs(problems) do table.insert(comparison.notes, "compared anyway: " .. problem) end
  local list = compare_kind[kind](comparison, a, b, options)
  if comparison.refused then return comparison, {} end
  add_summary(list, kind, a, b, options)
  add_notes(comparison, a, b)
  conclude(comparison, list, options)
  return comparison, list
end

local function add_comparisons(result, sides, options)
  for index = 2, #sides do
    local common = 0
    for _, kind in ipairs(KINDS) do
      local comparison, list = compare_sides(kind, index, sides[1], sides[index], options)
      if comparison then
        common, comparison.names = common + 1, nil
        table.insert(result.comparisons, comparison)
        for _, metric in ipairs(list) do
          metric.side, metric.kind = index, kind
          table.insert(result.metrics, metric)
        end
      end
    end
    if common == 0 and not (sides[1].health and sides[index].health) then
      table.insert(result.warnings, string.format("%s and %s have no kind of measurement in common", sides[1].name,
        sides[index].name))
    end
  end
end

local function health_side(said)
  local id, source = said.identity or {}, said.source or {}
  return { path = source.path, kind = source.kind, read_at = source.read_at, model = id.model, serial = id.serial }
end

local function add_capabilities(result, sides)
  for index = 2, #sides do
    if sides[1].health and sides[index].health then
      table.insert(result.capabilities, {
        side = index, a = health_side(sides[1].health), b = health_side(sides[index].health),
        result = capdiff.compare(sides[1].health, sides[index].health),
      })
    end
  end
end

-- What is known of a side's drive, from its first document or its health.
local function described(side)
  local kinds, seen, drive = {}, {}, {}
  for _, d in ipairs(side.documents) do
    local kind = kind_of(d)
    if kind and not seen[kind] then
      seen[kind] = true
      kinds[#kinds + 1] = kind
    end
    for _, key in ipairs { "model", "serial", "size_bytes", "name", "path" } do
      drive[key] = drive[key] or (d.drive or {})[key]
    end
  end
  local id = side.health and side.health.identity or {}
  drive.model, drive.serial = drive.model or id.model, drive.serial or id.serial
  drive.size_bytes = drive.size_bytes or id.size_bytes
  return { name = side.name, documents = #side.documents, drive = drive, kinds = kinds }
end

-- The runs of a side are of one drive.
local function check_sides(sides, warnings)
  for _, side in ipairs(sides) do
    local serial
    for _, d in ipairs(side.documents) do
      local own = (d.drive or {}).serial
      if serial and own and own ~= serial then
        table.insert(warnings, string.format("%s: its documents are of several drives (serial numbers %s and %s)",
          side.name, serial, own))
        break
      end
      serial = serial or own
    end
  end
end

--- Compares.
-- @tparam {table,...} sides  at least two; the others are held against the first. Each: `name` (A, B
--   … if there is none), `documents` (of one drive; several of a kind are runs of it), `health` (of
--   `hdd.health.load`)
-- @tparam[opt] table options  `level` (0.95) of the intervals, `anyway` (true: although settings
--   differ that change what is measured, or a run is incomplete)
-- @treturn table  a document of schema hddlua.compare/1; `status` is "failed" when nothing could be
--   compared
function M.run(sides, options)
  if #sides < 2 then error("a comparison takes at least two sides", 2) end
  options = { level = options and options.level or 0.95, anyway = options and options.anyway or false }
  local named = {}
  for i, side in ipairs(sides) do
    named[i] = { name = side.name or string.char(64 + (i - 1) % 26 + 1), documents = side.documents or {},
      health = side.health }
  end
  local result = document.new(M.schema, {}, options)
  result.drive, result.errors = nil, nil
  check_sides(named, result.warnings)
  for i, side in ipairs(named) do result.sides[i] = described(side) end
  add_comparisons(result, named, options)
  add_capabilities(result, named)
  return document.finish(result, (#result.metrics > 0 or #result.capabilities > 0) and "complete" or "failed")
end

return M
