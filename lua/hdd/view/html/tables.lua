-- SPDX-License-Identifier: GPL-3.0-or-later
--- Tables and lists of facts: rows under a heading of names and units, folded away where they are long,
-- cut where they are very long.
-- @module hdd.view.html.tables
local columns = require "hdd.view.text.columns"
local markup = require "hdd.view.html.markup"
local schemas = require "hdd.schema"
local values = require "hdd.view.html.values"
local words = require "hdd.view.health.words"

local M = {}

local el = markup.el

--- Rows of a table that a page shows: more make it slow to open, and nobody reads them.
M.MOST = 1000

local SHORT <const> = 28 -- characters that are not broken into lines

-- Of a long list the first, those that are flagged, and the last.
local function chosen(rows, most)
  if #rows <= most then return rows end
  local kept, flagged = {}, 0
  for i, row in ipairs(rows) do
    local odd = type(row) == "table" and row.flagged == true and flagged < most // 2
    flagged = flagged + (odd and 1 or 0)
    if i <= most // 2 or odd then kept[#kept + 1] = row end
    if #kept >= most then break end
  end
  return kept
end

local function note(shown, all, where)
  if shown == all then return nil end
  return el("p", { class = "quiet" }, string.format("%s of %s rows are listed here, those that are "
    .. "flagged among them. %s has all.", words.grouped(shown), words.grouped(all), where or "The document"))
end

--- A table in a frame that scrolls sideways, by keyboard, too.
-- @tparam string label            what it is, for those who hear it
-- @tparam {table,...} heads       each `title`, `unit`, `left` (text, not numbers), `class` of its cells
-- @tparam {{string,...},...} rows  cells; the first of each row heads it
-- @treturn Markup
function M.grid(label, heads, rows)
  local head, body = {}, {}
  for i, h in ipairs(heads) do
    head[i] = el("th", { scope = "col", class = h.class or h.left and "text" or nil }, h.title,
      h.unit and h.unit ~= "" and { " ", el("span", { class = "unit" }, h.unit) } or nil)
  end
  for r, row in ipairs(rows) do
    local cells = {}
    for i, h in ipairs(heads) do
      local short = type(row[i]) ~= "string" or #row[i] <= SHORT
      cells[i] = el(i == 1 and "th" or "td", { scope = i == 1 and "row" or nil,
        class = h.class or h.left and (short and "text" or "text long") or nil }, row[i] == nil and "" or row[i])
    end
    body[r] = el("tr", { class = row.class }, cells)
  end
  return el("div", { class = "scroll", tabindex = "0", role = "group", ["aria-label"] = label },
    el("table", nil, el("thead", nil, el("tr", nil, head)), el("tbody", nil, body)))
end

--- Something folded away.
-- @tparam string title
-- @tparam ?string count    beside it
-- @param content
-- @treturn Markup
function M.folded(title, count, content)
  return el("details", nil, el("summary", nil, title,
    count and { " ", el("span", { class = "count" }, count) } or nil), content)
end

-- Does any row have something under the key?
local function used(rows, key)
  for _, row in ipairs(rows) do
    if row[key] ~= nil then return true end
  end
  return false
end

--- Rows of a document: a column for each key that the schema knows and a row has.
-- @tparam string label
-- @tparam {table,...} rows
-- @tparam table fields   of the rows, see hdd.schema.common
-- @treturn Markup
function M.rows(label, rows, fields)
  local objects = {}
  for _, row in ipairs(rows) do
    if type(row) == "table" then objects[#objects + 1] = row end
  end
  local kept, heads, shows = chosen(objects, M.MOST), {}, {}
  for _, field in ipairs(fields) do
    local key = field[1]
    if used(kept, key) then
      if schemas.type_of(field) == "string" or schemas.type_of(field) == "time"
        or schemas.type_of(field) == "boolean" or schemas.type_of(field) == "list"
        or schemas.type_of(field) == "object" or schemas.type_of(field) == "any" then
        heads[#heads + 1] = { title = values.name(key), left = true }
        shows[#shows + 1] = function(row) return row[key] ~= nil and values.text(key, row[key]) or "" end
      else
        local column = columns.of(key, kept, true)
        heads[#heads + 1] = { title = column.title, unit = column.unit == "us" and "µs" or column.unit }
        shows[#shows + 1] = function(row) return row[key] ~= nil and column.show(row[key], row) or "" end
      end
    end
  end
  local cells = {}
  for r, row in ipairs(kept) do
    cells[r] = { class = row.flagged == true and "flagged" or nil }
    for c, show in ipairs(shows) do cells[r][c] = show(row) end
  end
  return { M.grid(label, heads, cells), note(#kept, #objects) or "" }
end

--- Rows that are text already.
-- @tparam string label
-- @tparam {string,...} head
-- @tparam {{string,...},...} rows
-- @treturn Markup
function M.plain(label, head, rows)
  local heads, kept = {}, {}
  for i, title in ipairs(head) do heads[i] = { title = title } end
  for i = 1, math.min(#rows, M.MOST) do kept[i] = rows[i] end
  return { M.grid(label, heads, kept), note(#kept, #rows) or "" }
end

--- Names and values, one below the other.
-- @tparam {{string,string},...} facts  name, value (text or markup), and what it means, if that is shown
-- @treturn Markup  nothing where there are none
function M.facts(facts)
  if #facts == 0 then return nil end
  local items = {}
  for i, fact in ipairs(facts) do
    items[i] = el("div", nil, el("dt", nil, fact[1]),
      el("dd", nil, type(fact[2]) == "string" and values.graded(fact[2]) or fact[2]))
  end
  return el("dl", { class = "facts" }, items)
end

--- The plain values of an object that are known, as facts.
-- @tparam table object
-- @tparam table fields  of it
-- @tparam[opt] table without  keys that are shown elsewhere
-- @treturn {table,...}
function M.known(object, fields, without)
  local facts = {}
  for _, field in ipairs(fields or {}) do
    local key, kind = field[1], schemas.type_of(field)
    local value = object[key]
    local nested = kind == "object" or kind == "list" and type(field.of) == "table"
    local left_out = without and without[key] or nested or type(value) == "table" and #value == 0
    if value ~= nil and not left_out then
      facts[#facts + 1] = { values.name(key), values.text(key, value) }
    end
  end
  return facts
end

return M
