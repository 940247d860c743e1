--- A comparison as text: the verdicts first, then what they stand on.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.compare
local capdiff = require "hdd.view.capdiff"
local pages = require "hdd.view.health.page"
local units = require "hdd.units"
local words = require "hdd.compare.words"

local M = {}

local TITLES <const> = {
  zoneprofile = "Rate over the surface (zone profile)", qdsweep = "Random reads (queue depth sweep)",
  seekprofile = "Seeks", surface = "Surface scan",
}

local VERDICT <const> = {
  ["no difference shown"] = "no difference shown", ["not judged"] = "not judged", faster = "faster", slower = "slower",
}

local function side_line(page, side)
  local d = side.drive
  local parts = { d.model or d.name or d.path or "a drive" }
  if d.serial then parts[#parts + 1] = "serial " .. d.serial end
  if (d.size_bytes or 0) > 0 then parts[#parts + 1] = units.decimal_bytes(d.size_bytes) end
  local documents = string.format("%d document%s", side.documents, side.documents == 1 and "" or "s")
  page:paragraph(string.format("%s (%s)", table.concat(parts, ", "), documents), "    ", side.name .. "  ")
end

-- What a row is called: of what, and where.
local function label_of(metric)
  if metric.scope == "row" then
    return string.format("%s, %s, depth %d", words.name(metric), units.block(metric.block_size_bytes), metric.depth)
  elseif metric.scope == "stretch" then
    return string.format("%s %% to %s %%", units.fixed(metric.from_share * 100, 0),
      units.fixed(metric.to_share * 100, 0))
  end
  return words.name(metric)
end

local function draw_table(page, metrics, title, first, other)
  if #metrics == 0 then return end
  local rows = {}
  for i, metric in ipairs(metrics) do
    rows[i] = { label_of(metric), words.value(metric, metric.a), words.value(metric, metric.b), words.change(metric),
      VERDICT[metric.verdict] }
  end
  page:line()
  page:table({
    { title = title, left = true, wrap = true }, { title = first, rank = 2, most = 14 },
    { title = other, rank = 1, most = 14 },
    { title = "change", left = false }, { title = "verdict", left = true },
  }, rows, "  ")
end

local function of(result, comparison, scope, all)
  local list = {}
  for _, metric in ipairs(result.metrics) do
    local shown = all or scope ~= "row" or metric.name == "iops"
    if metric.side == comparison.side and metric.kind == comparison.kind and metric.scope == scope and shown then
      list[#list + 1] = metric
    end
  end
  return list
end

local function draw_differences(page, differences)
  if #differences == 0 then return end
  local rows = {}
  for i, d in ipairs(differences) do rows[i] = { d.key, d.a or "unknown", d.b or "unknown" } end
  page:line()
  page:table({ { title = "set differently", left = true }, { title = "first", left = true, wrap = true },
    { title = "other", left = true, wrap = true } }, rows, "  ")
end

local function draw_comparison(page, result, comparison, options)
  local first, other = result.sides[1].name, result.sides[comparison.side].name
  page:section(TITLES[comparison.kind] or comparison.kind)
  if comparison.refused then
    page:paragraph(string.format("%s and %s are not compared: %s. (--anyway compares what can be.)", first, other,
      comparison.refused), "  ", "  ")
    draw_differences(page, comparison.differences)
    return
  end
  if comparison.sentence then page:paragraph(comparison.sentence .. ".", "  ", "  ") end
  draw_table(page, of(result, comparison, "whole", options.all), "of the whole", first, other)
  draw_table(page, of(result, comparison, "stretch", options.all), "part of the surface", first, other)
  draw_table(page, of(result, comparison, "row", options.all), "row", first, other)
  draw_differences(page, comparison.differences)
  if #comparison.notes > 0 then page:line() end
  for _, note in ipairs(comparison.notes) do page:paragraph(note .. ".", "        ", "  Note: ") end
end

-- What the view of capabilities asks for of a side.
local function said_of(reading)
  return { identity = { model = reading.model, serial = reading.serial },
    source = { kind = reading.kind, path = reading.path, read_at = reading.read_at } }
end

--- The text.
-- @tparam table result  of `hdd.compare.run`
-- @tparam[opt] table options  `width` (columns; nil: as wide as it takes), `utf8`, `all` (true: latencies
--   of every row and normalized values as well)
-- @treturn string
-- @usage io.write(view.text(result, { width = 80, utf8 = true }))
function M.text(result, options)
  options = options or {}
  local page = pages.new(options)
  for _, side in ipairs(result.sides) do side_line(page, side) end
  for _, comparison in ipairs(result.comparisons) do draw_comparison(page, result, comparison, options) end
  for _, entry in ipairs(result.capabilities) do
    page:section("Abilities, settings and counters")
    capdiff.draw(page, said_of(entry.a), said_of(entry.b), entry.result, options)
  end
  if #result.warnings > 0 then page:line() end
  for _, warning in ipairs(result.warnings) do page:paragraph(warning .. ".", "         ", "Warning: ") end
  return page:text()
end

return M
