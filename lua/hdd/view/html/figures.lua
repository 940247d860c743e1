-- SPDX-License-Identifier: GPL-3.0-or-later
--- Figures on a page: a chart with its legend, what it shows in words, its numbers folded below, and
-- a picture for those who read without scripts.
-- @module hdd.view.html.figures
local chart = require "hdd.view.figure.chart"
local digest = require "hdd.view.html.digest"
local figure = require "hdd.view.figure"
local markup = require "hdd.view.html.markup"
local tables = require "hdd.view.html.tables"

local M = {}

local el = markup.el

-- Where there is a chart, only for those who read without scripts.
local function picture(f, scripted)
  local svg = figure.svg(f, { width = 960, height = 540 })
  if not svg then return nil end
  local image = el("img", { src = "data:image/svg+xml;base64," .. digest.base64(svg),
    alt = f.description or f.title, width = "960", height = "540" })
  return scripted and el("noscript", nil, image) or image
end

local function notes_of(f)
  local items = {}
  for i, text in ipairs(f.notes or {}) do items[i] = el("li", nil, text) end
  return #items > 0 and el("ul", { class = "notes" }, items) or nil
end

-- A subtitle that says what the legend says, or the head of the page.
local function names_alone(f)
  local names = {}
  for i, drive in ipairs(f.drives) do names[i] = drive.name end
  return not f.subtitle or f.subtitle == table.concat(names, ", ")
end

-- Without fitted curves: the table is of what was measured, at the places where it was.
local function measured(f)
  local series = {}
  for _, s in ipairs(f.series) do
    if s.role ~= "fit" then series[#series + 1] = s end
  end
  return setmetatable({ series = series }, { __index = f })
end

-- Legend, canvas, what the keyboard finds there, and the data.
local function chart_of(f, id)
  return {
    el("div", { class = "legend", role = "group", ["aria-label"] = "Shown: " .. f.title }),
    el("div", { class = "chart" },
      el("canvas", { role = "img", tabindex = "0", ["aria-label"] = f.title .. ". " .. (f.description or ""),
        ["aria-describedby"] = id .. "-how" }),
      el("p", { class = "unseen", id = id .. "-how" },
        "The arrow keys go from point to point. The numbers are in the table below.")),
    el("p", { class = "unseen", role = "status" }),
    el("script", { type = "application/json" }, markup.data(chart.configuration(f))),
  }
end

--- One figure.
-- @tparam table f         see hdd.view.figure
-- @tparam table options   `pictures` (true: with a picture by gnuplot), `scripted` (true: with a chart)
-- @treturn Markup
function M.draw(f, options)
  local id = "figure-" .. f.id
  local head, rows = figure.table(measured(f))
  return el("figure", { id = id, class = f.y2 and "tall" or nil },
    el("h3", { id = id .. "-title" }, f.title),
    not names_alone(f) and el("p", { class = "subtitle" }, f.subtitle) or nil,
    options.scripted and chart_of(f, id) or nil,
    options.pictures and picture(f, options.scripted) or nil,
    el("figcaption", nil, f.description or nil),
    notes_of(f),
    tables.folded("Numbers", string.format("%d %s", #rows, #rows == 1 and "row" or "rows"),
      tables.plain(f.title, head, rows)))
end

return M
