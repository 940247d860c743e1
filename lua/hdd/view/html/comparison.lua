-- SPDX-License-Identifier: GPL-3.0-or-later
--- Drive against drive on a page: what is shown to be faster, with intervals, and by what it was judged;
-- what differs in what they can do, and what has become of a drive between two snapshots.
-- @module hdd.view.html.comparison
local capdiff = require "hdd.drive.capdiff"
local capdiff_view = require "hdd.view.capdiff"
local drives = require "hdd.view.html.drives"
local health = require "hdd.view.html.health"
local markup = require "hdd.view.html.markup"
local tables = require "hdd.view.html.tables"
local units = require "hdd.units"
local values = require "hdd.view.html.values"
local whose = require "hdd.view.whose"

local M = {}

local el = markup.el

local KINDS <const> = {
  zoneprofile = "Rate across the drive", qdsweep = "Random reads", surface = "Surface",
  seekprofile = "Seeks", fiojob = "fio job",
}

local NAMES <const> = {
  iops_geometric_mean = "reads a second, geometric mean of all rows", full_read_s = "time to read all of it",
  mean_bytes_per_s = "rate, mean", outer_bytes_per_s = "rate, outermost zone",
  inner_bytes_per_s = "rate, innermost zone", ratio = "outermost to innermost",
}

local function list(value)
  return type(value) == "table" and value or {}
end

local function signed(value)
  if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge then return "n/a" end
  return (string.format("%+.1f", value):gsub("^%-", "−"):gsub("^%+0%.0$", "0.0"):gsub("^−0%.0$", "0.0"))
end

-- "+29.5 % (+27.1 to +31.9)"
local function change_of(metric)
  if type(metric.change_percent) ~= "number" then return "" end
  local text = signed(metric.change_percent) .. " %"
  if type(metric.low_percent) == "number" and type(metric.high_percent) == "number" then
    text = string.format("%s (%s to %s)", text, signed(metric.low_percent), signed(metric.high_percent))
  end
  return text
end

local function side_name(result, index)
  local side = list(list(result.sides)[index])
  local drive = list(side.drive)
  return values.text("", side.name or whose.name(drive))
end

-- What a metric is about: a row of a sweep, a stretch of the surface, or the run.
local function place_of(metric)
  local parts = {}
  if math.type(metric.block_size_bytes) == "integer" then parts[1] = units.block(metric.block_size_bytes) end
  if math.type(metric.depth) == "integer" then parts[#parts + 1] = "depth " .. metric.depth end
  if type(metric.from_share) == "number" and type(metric.to_share) == "number" then
    parts[#parts + 1] = string.format("%s to %s %% of the drive", units.fixed(metric.from_share * 100, 0),
      units.fixed(metric.to_share * 100, 0))
  end
  return table.concat(parts, ", ")
end

local function name_of(metric)
  local name = tostring(metric.name)
  return NAMES[name] or values.name(name)
end

local function metric_table(result, side, metrics, label)
  local heads = { { title = "metric", left = true }, { title = el("span", { class = "whole" }, side_name(result, 1)) },
    { title = el("span", { class = "whole" }, side_name(result, side)) }, { title = "difference" },
    { title = "verdict", left = true } }
  local rows = {}
  for i, m in ipairs(metrics) do
    local where = place_of(m)
    rows[i] = { where ~= "" and where .. ": " .. name_of(m) or name_of(m),
      values.graded(values.text(tostring(m.name), m.a)), values.graded(values.text(tostring(m.name), m.b)),
      change_of(m), m.verdict ~= "not judged" and values.text("", m.verdict or "") or "" }
  end
  return tables.grid(label, heads, rows)
end

local function of_scope(result, comparison, scope)
  local found = {}
  for _, m in ipairs(list(result.metrics)) do
    if type(m) == "table" and m.side == comparison.side and m.kind == comparison.kind and m.scope == scope
      and #found < tables.MOST then
      found[#found + 1] = m
    end
  end
  return found
end

local function settings_of(comparison, result)
  local rows = {}
  for i, d in ipairs(list(comparison.differences)) do
    d = list(d)
    rows[i] = { values.text("", d.key), values.text("", d.a), values.text("", d.b) }
  end
  if #rows == 0 then return nil end
  return tables.folded("Settings that differ", nil, tables.grid("Settings that differ",
    { { title = "setting", left = true }, { title = side_name(result, 1), left = true },
      { title = side_name(result, comparison.side), left = true } }, rows))
end

local SCOPES <const> = {
  { "row", "Row by row", "The intervals hold for all rows at once." },
  { "stretch", "Stretch by stretch", "The intervals hold for all stretches of the surface at once." },
}

local function draw_one(result, comparison)
  local title = KINDS[comparison.kind] or values.text("", comparison.kind)
  local blocks = { el("h3", nil, title, { " ",
    el("span", { class = "of" }, side_name(result, comparison.side) .. " against " .. side_name(result, 1)) }) }
  if comparison.refused then
    blocks[2] = el("div", { class = "verdict warn" }, el("p", nil, el("strong", nil, "Not compared"),
      el("span", { class = "said" }, values.text("", comparison.refused))))
    blocks[3] = settings_of(comparison, result)
    return blocks
  end
  if comparison.sentence then
    local word = values.text("", comparison.verdict):gsub("^%l", string.upper)
    blocks[2] = el("div", { class = "verdict" }, el("p", nil, el("strong", nil, word),
      el("span", { class = "said" }, values.text("", comparison.sentence))))
  end
  local whole = of_scope(result, comparison, "whole")
  local notes = {}
  for i, note in ipairs(list(comparison.notes)) do notes[i] = el("li", nil, values.text("", note)) end
  if #notes > 0 then blocks[#blocks + 1] = el("ul", { class = "notes" }, notes) end
  if #whole > 0 then
    blocks[#blocks + 1] = tables.folded("As a whole", units.counted(#whole, "metric", "metrics"),
      metric_table(result, comparison.side, whole, title))
  end
  for _, scope in ipairs(SCOPES) do
    local metrics = of_scope(result, comparison, scope[1])
    if #metrics > 0 then
      blocks[#blocks + 1] = tables.folded(scope[2], units.counted(#metrics, "metric", "metrics"),
        { el("p", { class = "quiet" }, scope[3]),
          metric_table(result, comparison.side, metrics, title .. ", " .. scope[2]) })
    end
  end
  blocks[#blocks + 1] = settings_of(comparison, result)
  return blocks
end

--- The difference in a number of the whole run between the first drive and the second.
-- @tparam ?table result  document of the schema hddlua.compare/1
-- @tparam string kind    of documents
-- @tparam string name    of the metric
-- @treturn ?string  "+29.5 % (+27.1 to +31.9)"; nil where there is none
function M.difference(result, kind, name)
  for _, m in ipairs(list(list(result).metrics)) do
    if type(m) == "table" and m.side == 2 and m.kind == kind and m.name == name and m.scope == "whole" then
      local text = change_of(m)
      return text ~= "" and text or nil
    end
  end
end

--- A comparison as markup.
-- @tparam table result  document of the schema hddlua.compare/1
-- @treturn ?Markup      nil where nothing was compared
function M.draw(result)
  local blocks = {}
  for _, comparison in ipairs(list(result.comparisons)) do
    if type(comparison) == "table" and math.type(comparison.side) == "integer" then
      blocks[#blocks + 1] = el("div", { class = "comparison" }, draw_one(result, comparison))
    end
  end
  if #blocks == 0 then return nil end
  local level = list(result.parameters).level
  blocks[#blocks + 1] = el("p", { class = "quiet" }, string.format("In brackets: the interval in which the true "
    .. "difference lies with a confidence of %s %%.", units.fixed(type(level) == "number" and level * 100 or 95, 0)))
  return blocks
end

local function snapshots(entry)
  local found = {}
  for _, d in ipairs(entry.documents) do
    if drives.kind(d) == "smart" then found[#found + 1] = d end
  end
  table.sort(found, function(a, b) return tostring(a.started_at) < tostring(b.started_at) end)
  return found
end

-- Snapshots come from other versions and editors, too: what can't be compared is told.
local function differences(title, a, b)
  local ok, drawn = pcall(function()
    local one, other = health.said(a), health.said(b)
    local result = capdiff.compare(one, other)
    return health.drawn(function(page) capdiff_view.draw(page, one, other, result, {}) end)
  end)
  if not ok then drawn = el("p", { class = "quiet" }, "They are in no form that this version can compare.") end
  return { el("h3", nil, title), el("div", { class = "health" }, drawn) }
end

--- What drives can do and how they are set, each against the first; of a drive with several snapshots
-- what has changed from the first to the last.
-- @tparam {table,...} entries  of `hdd.view.html.drives.of`
-- @treturn ?Markup  nil where there are not two snapshots
function M.capabilities(entries)
  local blocks, first = {}, nil
  for _, entry in ipairs(entries) do
    local list_of = snapshots(entry)
    local newest = list_of[#list_of]
    if newest and first then
      blocks[#blocks + 1] = differences(entry.name .. " against " .. first.name, first.newest, newest)
    elseif newest then
      first = { name = entry.name, newest = newest }
    end
    if #list_of > 1 then
      blocks[#blocks + 1] = differences(entry.name .. ": what has changed", list_of[1], newest)
    end
  end
  return #blocks > 0 and blocks or nil
end

return M
