-- SPDX-License-Identifier: GPL-3.0-or-later
--- Documents as a page of HTML: one file that asks for nothing else, to be opened from a mail, printed,
-- published. Of one drive it shows its card and all its documents, of several the comparison first.
--
-- Nothing from a document is markup, style or script: all of it is text (hdd.view.html.markup), and the
-- page lets the browser run its own script alone, by its sum, and ask the network for nothing.
-- @module hdd.view.html
-- @usage local html = require "hdd.view.html"
-- local documents = { assert(document.load("old.json")), assert(document.load("new.json")) }
-- assert(file.write("report.html", html.page(documents)))
local card = require "hdd.view.html.card"
local chart = require "hdd.view.figure.chart"
local comparison = require "hdd.view.html.comparison"
local digest = require "hdd.view.html.digest"
local documents_of = require "hdd.view.html.document"
local drives = require "hdd.view.html.drives"
local figures = require "hdd.view.figures"
local figures_of = require "hdd.view.html.figures"
local markup = require "hdd.view.html.markup"
local version = require "hdd.version"

local M = {}

local el = markup.el

-- A text beside this module.
local function asset(name, form)
  local path = assert(package.searchpath("hdd.view.html." .. name, (package.path:gsub("%?%.lua", "?." .. form))))
  local stream <close> = assert(io.open(path, "rb"))
  return stream:read("a")
end

-- Of page after page they are the same, and the sum takes a tenth of a second.
local sums = {}

local function sum_of(text)
  sums[text] = sums[text] or "'sha256-" .. digest.base64(digest.sha256(text)) .. "'"
  return sums[text]
end

-- One style and one script; the browser is told to take no others.
local function head_of(title, script)
  local style = asset("style", "css")
  local policy = table.concat({
    "default-src 'none'", "style-src " .. sum_of(style), "script-src " .. (script and sum_of(script) or "'none'"),
    "img-src data:", "base-uri 'none'", "form-action 'none'",
  }, "; ")
  return el("head", nil, el("meta", { charset = "utf-8" }),
    el("meta", { ["http-equiv"] = "Content-Security-Policy", content = policy }),
    el("meta", { name = "viewport", content = "width=device-width, initial-scale=1" }),
    el("meta", { name = "referrer", content = "no-referrer" }),
    el("meta", { name = "color-scheme", content = "light dark" }),
    el("link", { rel = "icon", href = "data:," }),
    el("title", nil, title), el("style", nil, markup.raw(style)))
end

local function script_of(list)
  if #list == 0 then return nil end
  local library, message = chart.library()
  if not library then return nil, message end
  return library .. "\n" .. chart.script() .. "\n" .. asset("page", "js")
end

local function title_of(list, options)
  if options.title then return options.title end
  if #list == 1 then return list[1].name end
  if #list == 0 then return "No drive" end
  return #list == 2 and list[1].name .. " and " .. list[2].name
    or string.format("%s, %s and others", list[1].name, list[2].name)
end

-- A name is not broken where it fits into a line.
local function heading_of(list, title, options)
  if options.title or #list < 2 then return title end
  local names = {}
  for i, entry in ipairs(list) do
    if #list > 2 and i == 3 then
      names[#names + 1] = " and others"
      break
    end
    names[#names + 1] = { #list == 2 and i == 2 and " and " or " ",
      el("span", { class = "whole" }, entry.name .. (#list > 2 and i == 1 and "," or "")) }
  end
  return names
end

local function lead_of(list, documents)
  local what = {}
  local function count(n, one, many) what[#what + 1] = string.format("%d %s", n, n == 1 and one or many) end
  if #list > 1 then count(#list, "drive", "drives") end
  count(#documents, "document", "documents")
  local first, last
  for _, d in ipairs(documents) do
    local day = type(d.started_at) == "string" and d.started_at:match("^%d%d%d%d%-%d%d%-%d%d")
    if day then
      if not first or day < first then first = day end
      if not last or day > last then last = day end
    end
  end
  if first then what[#what + 1] = first == last and first or first .. " to " .. last end
  return table.concat(what, ", ")
end

local Page = {}
Page.__index = Page

-- A part of the page, with a line in its table of contents.
function Page:part(id, title, ...)
  self.contents[#self.contents + 1] = el("li", nil, el("a", { href = "#" .. id }, title))
  self.parts[#self.parts + 1] = el("section", { id = id, ["aria-labelledby"] = id .. "-title" },
    el("h2", { id = id .. "-title" }, title), ...)
end

local function notes_of(notes)
  local items = {}
  for i, note in ipairs(notes) do items[i] = el("li", nil, note) end
  return #items > 0 and el("ul", { class = "warnings" }, items) or nil
end

local function draw_figures(page, list, notes, script, why, options)
  if #list == 0 then return end
  local drawn = {}
  if not script then notes = { "The charts are left out: " .. why .. "." } end
  local how = { pictures = options.pictures ~= false, scripted = script ~= nil }
  for i, f in ipairs(list) do drawn[i] = figures_of.draw(f, how) end
  page:part("figures", "Figures", notes_of(notes), drawn)
end

local function draw_documents(page, list)
  local drawn, schemas, definitions = {}, {}, {}
  local one = #list == 1
  for i, entry in ipairs(list) do
    for k, d in ipairs(entry.documents) do
      drawn[#drawn + 1] = documents_of.draw(d, string.format("document-%d-%d", i, k),
        one and "" or entry.name)
      if not schemas[d.schema] then
        schemas[d.schema] = true
        definitions[#definitions + 1] = documents_of.definitions(d.schema)
      end
    end
  end
  page:part("documents", "Documents", drawn)
  if #definitions > 0 then
    page:part("definitions", "How the numbers are defined",
      el("p", { class = "quiet" }, "By the names that the documents' keys have; the end of a name is its unit."),
      definitions)
  end
end

-- The comparison of several drives: one that was given, one among the documents, or one that is made now.
local function comparison_of(documents, entries, options)
  if options.comparison then return options.comparison end
  for _, d in ipairs(documents) do
    if drives.kind(d) == "compare" then return d end
  end
  if #entries < 2 or not package.searchpath("hdd.compare", package.path) then return nil end
  local sides = {}
  for i, entry in ipairs(entries) do sides[i] = { name = entry.name, documents = entry.documents } end
  -- Documents may come from anywhere; what can't be compared is shown beside one another still.
  local ok, result = pcall(require("hdd.compare").run, sides, { level = options.level })
  return ok and result or nil
end

local function draw_comparison(page, entries, result)
  local beside = #entries > 1 and card.beside(entries, function(kind, key)
    return comparison.difference(result, kind, key)
  end)
  local compared = result and comparison.draw(result)
  if beside or compared then
    page:part("comparison", "Comparison", beside and el("div", { class = "beside" }, beside) or nil, compared)
  end
end

local function draw_capabilities(page, entries)
  local capabilities = comparison.capabilities(entries)
  if capabilities then
    page:part("capabilities", #entries > 1 and "What they can do" or "What has changed", capabilities)
  end
end

-- The colours that the figures have given to drives, by their names.
local function colours_of(list, entries)
  local colours = {}
  for i, entry in ipairs(entries) do
    for _, f in ipairs(list) do
      for _, series in ipairs(f.series) do
        local drive = series.drive and f.drives[series.drive]
        local d = drive and drive.document and entry.by_index[drive.document]
        if d and series.colour then colours[i] = colours[i] or (series.colour - 1) % 7 + 1 end
      end
    end
  end
  return colours
end

--- A page.
-- @tparam {table,...} documents  as `hdd.document.load` gives them, of one drive or several
-- @tparam[opt] table options     `title` (of the page), `pictures` (true: pictures of the figures for
--   readers without scripts, by gnuplot where it is there), `notes` (sentences to be shown on top),
--   `comparison` (document of the schema hddlua.compare/1; made of the documents where there is none),
--   `level` (of its intervals, 0.95)
-- @treturn string  the file's bytes
-- @usage local bytes = html.page({ profile, sweep, snapshot })
function M.page(documents, options)
  options = options or {}
  local entries = drives.of(documents)
  for _, entry in ipairs(entries) do
    entry.by_index = {}
    for _, d in ipairs(entry.documents) do
      for i, known in ipairs(documents) do
        if d == known then entry.by_index[i] = d end
      end
    end
  end
  local drawn, notes = figures.of(documents)
  local script, why = script_of(drawn)
  local title = title_of(entries, options)
  local page = setmetatable({ parts = {}, contents = {} }, Page)
  local colours, cards = #entries > 1 and colours_of(drawn, entries) or {}, {}
  for i, entry in ipairs(entries) do cards[i] = card.draw(entry, colours[i], #entries == 1) end
  if #entries > 0 then
    page:part("drives", #entries == 1 and "The drive" or "The drives",
      el("div", { class = "cards" }, cards))
  end
  draw_comparison(page, entries, comparison_of(documents, entries, options))
  draw_figures(page, drawn, notes, script, why, options)
  draw_capabilities(page, entries)
  draw_documents(page, entries)
  local body = el("body", nil,
    el("a", { class = "skip", href = "#main" }, "To the content"),
    el("header", nil, el("h1", nil, heading_of(entries, title, options)),
      el("p", { class = "lead" }, lead_of(entries, documents))),
    el("nav", { class = "contents", ["aria-label"] = "Contents" }, el("ul", nil, page.contents)),
    el("main", { id = "main" }, options.notes and notes_of(options.notes) or nil, page.parts),
    el("footer", nil, el("p", nil, "Made by hddlua " .. version .. ". This file holds all that it shows; "
      .. "it asks the network for nothing.")),
    script and el("script", nil, markup.raw(script)) or nil)
  return "<!DOCTYPE html>\n" .. markup.html(el("html", { lang = "en" }, head_of(title, script), body)) .. "\n"
end

return M
