-- SPDX-License-Identifier: GPL-3.0-or-later
--- HTML that can't be broken by what stands in it: text becomes markup by an element alone, and is
-- escaped on its way in, in content and attributes alike.
-- @module hdd.view.html.markup
-- @usage local el, text = markup.el, d.drive.model
-- local row = el("tr", { class = "drive" }, el("th", { scope = "row" }, text), el("td", nil, 42))
-- io.write(markup.html(row))
local json = require "hdd.json"
local printable = require "hdd.printable"

local M = {}

local Markup = {}
Markup.__index = Markup

local ESCAPES <const> = {
  ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;",
}

-- Elements without content.
local VOID <const> = { meta = true, link = true, img = true, br = true, hr = true }

--- Text from anywhere as it may stand in content and in quoted attributes.
-- @param value  anything; controls and bytes of no encoding are written as `\x1B`
-- @treturn string
-- @usage markup.escape("<b>") --> "&lt;b&gt;"
function M.escape(value)
  return (printable.line(tostring(value)):gsub("[&<>\"']", ESCAPES))
end

-- Markup as it stands, lists one element behind the other, all else escaped.
local function add(pieces, value)
  if getmetatable(value) == Markup then
    pieces[#pieces + 1] = value.text
  elseif type(value) == "table" then
    for _, child in ipairs(value) do add(pieces, child) end
  elseif value ~= nil and value ~= false then
    pieces[#pieces + 1] = M.escape(value)
  end
end

--- An element.
-- @tparam string name           of ours, never from outside, as are the names of attributes
-- @tparam ?table attributes     values are escaped; true: without a value; false or nil: left out
-- @param ...                    content: markup, lists of such, or text, which is escaped
-- @treturn Markup
-- @usage markup.el("a", { href = "#zones" }, "zones")
function M.el(name, attributes, ...)
  local names, pieces = {}, { "<", name }
  for key in pairs(attributes or {}) do names[#names + 1] = key end
  table.sort(names)
  for _, key in ipairs(names) do
    local value = attributes[key]
    if value == true then
      pieces[#pieces + 1] = " " .. key
    elseif value then
      pieces[#pieces + 1] = string.format(' %s="%s"', key, M.escape(value))
    end
  end
  pieces[#pieces + 1] = ">"
  if not VOID[name] then
    for i = 1, select("#", ...) do add(pieces, (select(i, ...))) end
    pieces[#pieces + 1] = "</" .. name .. ">"
  end
  return setmetatable({ text = table.concat(pieces) }, Markup)
end

--- Text of our own that is markup already: styles, scripts.
-- @tparam string text  nothing from outside
-- @treturn Markup
function M.raw(text)
  return setmetatable({ text = text }, Markup)
end

--- Data for a script: JSON in which no markup begins or ends.
-- @tparam table value
-- @treturn Markup
-- @usage markup.el("script", { type = "application/json" }, markup.data(configuration))
function M.data(value)
  return M.raw((json.encode(value):gsub("[<>&]", function(c) return string.format("\\u%04x", c:byte()) end)))
end

--- Markup as text.
-- @param value  markup, a list of such, or text
-- @treturn string
function M.html(value)
  local pieces = {}
  add(pieces, value)
  return table.concat(pieces)
end

return M
