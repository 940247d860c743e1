-- SPDX-License-Identifier: GPL-3.0-or-later
--- One document on a page: when and how it was measured, what to know before its numbers are believed,
-- its result; its rows, lists and parameters folded below.
-- @module hdd.view.html.document
local drives = require "hdd.view.html.drives"
local health = require "hdd.view.html.health"
local markup = require "hdd.view.html.markup"
local schemas = require "hdd.schema"
local tables = require "hdd.view.html.tables"
local units = require "hdd.units"
local values = require "hdd.view.html.values"
local verdict = require "hdd.view.html.verdict"

local M = {}

local el = markup.el

--- What a kind of document is called.
M.TITLES = {
  zoneprofile = "Zone profile", qdsweep = "Random reads by queue depth", surface = "Surface scan",
  seekprofile = "Seek profile", smart = "What the drive says of itself", selftest = "Self-test",
  burnin = "Burn-in", fiojob = "fio job", compare = "Comparison",
}

-- Lists and objects whose keys alone say too little.
local NAMES <const> = {
  foreign = "I/O of other programs meanwhile", slowest = "Slowest reads", failures = "Failed reads",
  stalls = "Times without any completion", slow = "Slow ranges", unreadable = "Unreadable ranges",
  recovered = "Ranges read at a later try", map = "The surface, part by part", classes = "Blocks by time",
  turns = "Blocks by extra revolutions",
}

-- Told by the verdict.
local JUDGED <const> = { status = true, verdict = true }

-- Shown elsewhere on the page, or in a way of their own.
local ELSEWHERE <const> = {
  schema = true, tool = true, host = true, drive = true, parameters = true, started_at = true,
  finished_at = true, status = true, summary = true, errors = true, warnings = true, health = true,
  verdict = true, missing = true, source = true, coverage = true,
}

--- The title of a kind.
-- @tparam string kind
-- @treturn string
function M.title(kind)
  return M.TITLES[kind] or kind:gsub("^%l", string.upper)
end

local add_object

-- A member that is an object or a list of objects; empty ones are left out.
local function add_member(blocks, value, field, title)
  if type(value) ~= "table" or next(value) == nil then return end
  if schemas.type_of(field) == "object" and field.of then
    add_object(blocks, value, field.of, title, field[3])
  elseif schemas.type_of(field) == "list" and type(field.of) == "table" then
    blocks[#blocks + 1] = tables.folded(title, units.counted(#value, "row", "rows"),
      { el("p", { class = "quiet" }, field[3] .. "."), tables.rows(title, value, field.of) })
  elseif schemas.type_of(field) == "list" and type(field.of) == "string" then
    local items = {}
    for i = 1, math.min(#value, tables.MOST) do items[i] = el("li", nil, values.text(field[1], value[i])) end
    blocks[#blocks + 1] = tables.folded(title, units.counted(#value, "row", "rows"), el("ul", nil, items))
  end
end

function add_object(blocks, object, fields, title, about)
  local facts = tables.known(object, fields)
  if #facts > 0 then
    blocks[#blocks + 1] = tables.folded(title, nil,
      { el("p", { class = "quiet" }, about .. "."), tables.facts(facts) })
  end
  for _, field in ipairs(fields) do
    if type(field.of) == "table" then
      add_member(blocks, object[field[1]], field, title .. ": " .. values.name(field[1]))
    end
  end
end

local function capital(text)
  return (text:gsub("^%l", string.upper))
end

local function field_of(schema, name)
  for _, field in ipairs(schema.fields) do
    if field[1] == name then return field end
  end
end

local function object(value)
  return type(value) == "table" and value or {}
end

local function lists(d, schema)
  local blocks = {}
  for _, field in ipairs(schema.fields) do
    if not ELSEWHERE[field[1]] then
      add_member(blocks, d[field[1]], field, NAMES[field[1]] or capital(values.name(field[1])))
    end
  end
  return blocks
end

-- Health is drawn by the views that draw it in the terminal; one that is in no form that they know
-- must not cost the page.
local function said_by(d)
  local ok, drawn, doubts = pcall(health.draw, d)
  if not ok then
    return el("p", { class = "quiet" }, "What the drive said is in no form that this version can show.")
  end
  local items = {}
  for i, doubt in ipairs(doubts or {}) do items[i] = el("li", nil, values.text("", doubt)) end
  return { #items > 0 and el("ul", { class = "warnings" }, items) or false,
    tables.folded("All that was read", nil, el("div", { class = "health" }, drawn)) }
end

local function machine(d)
  local tool, host, facts = object(d.tool), object(d.host), {}
  local function add(name, value)
    if value ~= nil then facts[#facts + 1] = { name, values.text("", value) } end
  end
  add("Measured by", tool.name and values.text("", tool.name) .. " " .. values.text("", tool.version) or nil)
  add("Host", host.name)
  add("Kernel", host.kernel)
  add("Processor", host.cpu)
  add("Processors", host.cpus)
  add("Status", d.status)
  add("Begun", d.started_at)
  add("Ended", d.finished_at)
  add("Schema", d.schema)
  return tables.facts(facts)
end

local function when(d)
  local parts = { type(d.started_at) == "string" and values.text("", d.started_at) or "at an unknown time" }
  local took = object(d.summary).elapsed_s
  if type(took) == "number" then parts[2] = "took " .. values.text("elapsed_s", took) end
  return table.concat(parts, ", ")
end

--- A document as a section.
-- @tparam table d      document
-- @tparam string id    of the section
-- @tparam string name  of its drive
-- @treturn Markup
function M.draw(d, id, name)
  local kind = drives.kind(d)
  local schema, _, near = schemas.find(d.schema)
  schema = schema or near
  local warnings = {}
  for i, text in ipairs(verdict.doubts(d)) do warnings[i] = el("li", nil, text) end
  local body = {
    el("h3", nil, M.title(kind), { " ", el("span", { class = "of" }, name) }),
    el("p", { class = "quiet" }, when(d)),
    #warnings > 0 and el("ul", { class = "warnings" }, warnings) or false,
    verdict.draw(verdict.of { d }) or false,
  }
  local function add(block)
    if block then body[#body + 1] = block end
  end
  if schema then
    local summary, parameters = field_of(schema, "summary"), field_of(schema, "parameters")
    add(summary and tables.facts(tables.known(object(d.summary), summary.of, JUDGED)))
    if kind == "smart" then add(said_by(d)) end
    for _, block in ipairs(lists(d, schema)) do add(block) end
    local settings = {}
    if parameters then add_object(settings, object(d.parameters), parameters.of, "Parameters", parameters[3]) end
    for _, block in ipairs(settings) do add(block) end
  end
  add(tables.folded("Circumstances", nil, machine(d)))
  return el("section", { id = id, class = "document" }, body)
end

-- Rows of a table of definitions; members of lists and objects behind the name of what they are in.
local function add_definitions(items, fields, prefix)
  for _, field in ipairs(fields) do
    items[#items + 1] = el("div", nil, el("dt", nil, el("code", nil, prefix .. field[1])),
      el("dd", nil, (field[3]:gsub("`", ""))))
    if type(field.of) == "table" then add_definitions(items, field.of, prefix .. field[1] .. ".") end
  end
end

--- How each number of a kind of document is defined.
-- @tparam string name  of a schema
-- @treturn ?Markup  nil for what no schema knows
function M.definitions(name)
  local schema, _, near = schemas.find(name)
  schema = schema or near
  if not schema then return nil end
  local items, own = {}, {}
  for _, field in ipairs(schema.fields) do
    if not ELSEWHERE[field[1]] or field[1] == "summary" or field[1] == "parameters" then
      own[#own + 1] = field
    end
  end
  add_definitions(items, own, "")
  local kind = name:match("^hddlua%.([%w_]+)/") or name
  return tables.folded(M.title(kind), nil, { el("p", nil, schema.about),
    el("dl", { class = "definitions" }, items) })
end

return M
