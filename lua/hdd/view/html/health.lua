-- SPDX-License-Identifier: GPL-3.0-or-later
--- What a drive says of itself as markup: the sections of hdd.view.smart, drawn on a page of HTML in
-- place of one of text.
-- @module hdd.view.html.health
local health = require "hdd.health"
local markup = require "hdd.view.html.markup"
local pages = require "hdd.view.health.page"
local smart = require "hdd.view.smart"
local tables = require "hdd.view.html.tables"

local M = {}

local el = markup.el

-- Has the methods of a page of text, and gathers markup.
local Page = setmetatable({}, { __index = getmetatable(pages.new()).__index })
Page.__index = Page

local function trimmed(s)
  return (tostring(s):gsub("^%s+", ""):gsub("%s+$", ""))
end

-- It is escaped where it becomes markup.
function Page.plain(_, s) return tostring(s) end

-- Lines that follow one another belong together: a drawing, mostly.
function Page:line(s)
  if not s or s == "" then
    self.lines = nil
  elseif self.lines then
    table.insert(self.lines, s)
  else
    self.lines = { s }
    self:put(self.lines)
  end
end

function Page:put(item)
  if item ~= self.lines then self.lines = nil end
  table.insert(self.pieces, item)
end

function Page:paragraph(s, _, start)
  self:put(el("p", nil, trimmed((start or "") .. s)))
end

function Page:items(items)
  local list = {}
  for i, item in ipairs(items) do list[i] = el("li", nil, trimmed(item)) end
  if #list > 0 then self:put(el("ul", { class = "items" }, list)) end
end

function Page:section(title, more)
  self:put(el("h4", nil, title))
  if more then self:put(el("p", { class = "quiet" }, more)) end
end

function Page:table(columns, rows)
  local heads, cells, headed = {}, {}, false
  for i, column in ipairs(columns) do
    local named = column.title and column.title ~= ""
    heads[i] = { title = named and column.title or el("span", { class = "unseen" }, "what"), left = column.left }
    headed = headed or column.title ~= nil
  end
  for r, row in ipairs(rows) do
    cells[r] = {}
    for i in ipairs(columns) do cells[r][i] = row[i] == nil and "" or tostring(row[i]) end
  end
  if headed then
    self:put(tables.grid("Table of values", heads, cells))
  else
    local facts = {}
    for r, row in ipairs(cells) do facts[r] = { row[1], table.concat(row, " ", 2) } end
    self:put(tables.facts(facts))
  end
end

-- Lines stay lines.
local function drawing(lines)
  local parts = {}
  for i, line in ipairs(lines) do parts[i] = { line, el("br") } end
  return parts
end

--- What is drawn on such a page, as markup.
-- @tparam function draw  draw(page)
-- @treturn {Markup,...}
-- @usage health.drawn(function(page) page:section("Attributes") end)
function M.drawn(draw)
  local page, drawn = setmetatable({ pieces = {}, utf8 = true }, Page), {}
  draw(page)
  for i, piece in ipairs(page.pieces) do
    local lines = getmetatable(piece) == nil and type(piece) == "table" and type(piece[1]) == "string"
    drawn[i] = lines and (#piece == 1 and el("p", nil, trimmed(piece[1]))
      or el("pre", { tabindex = "0" }, drawing(piece))) or piece
  end
  return drawn
end

--- What the drive of a document said.
-- @tparam table d  document of the schema hddlua.smart/1
-- @treturn table  as of `hdd.health.load`; raises on what is in no form that this version knows
function M.said(d)
  local source = type(d.source) == "table" and type(d.source.path) == "string" and d.source.path
  return assert(health.of(d, source or nil))
end

--- All sections.
-- @tparam table d  document of the schema hddlua.smart/1
-- @treturn Markup
-- @treturn {string,...}  what of it is in no form that this version knows
function M.draw(d)
  local said = M.said(d)
  return M.drawn(function(page) smart.draw(page, said, {}) end), said.source.warnings
end

return M
