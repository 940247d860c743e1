--- Text for a person, put together line by line: headings, paragraphs, tables, all within a width,
-- in ASCII where UTF-8 is not wanted, and with nothing in it that a terminal would obey.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @classmod hdd.view.health.page
local printable = require "hdd.printable"
local text = require "hdd.view.text"

local Page = {}
Page.__index = Page

local GAP <const> = "  "
local LEAST_ROOM <const> = 8 -- columns that the last column of a table keeps
local WRAPPED_ROOM <const> = 20 -- for which others are left out, when it can be wrapped

-- What we ourselves write beyond ASCII.
local ASCII = {["°C"] = "C", ["±"] = "+-", ["µ"] = "u", ["×"] = "x", ["…"] = "...", ["→"] = "->",
  ["–"] = "-", ["·"] = "|"}

--- An empty page.
-- @tparam[opt] table options  `width` (columns; nil or false: as wide as it takes), `utf8` (false)
-- @treturn Page
-- @usage local p = page.new {width = 80, utf8 = true}
local function new(options)
  options = options or {}
  return setmetatable({
    width = options.width or nil, utf8 = options.utf8, pieces = {},
  }, Page)
end

--- Fit for the terminal.
-- @tparam string s
-- @treturn string
function Page:plain(s)
  s = tostring(s)
  if not self.utf8 then
    for from, to in pairs(ASCII) do s = s:gsub(from, to) end
  end
  return printable.line(s, not self.utf8)
end

--- Add a line, cut at the width.
-- @tparam[opt=""] string s
function Page:line(s)
  s = self:plain(s or ""):gsub(" +$", "")
  table.insert(self.pieces, (self.width and printable.clip(s, self.width) or s) .. "\n")
end

--- Add a paragraph, broken at spaces.
-- @tparam string s
-- @tparam[opt=""] string indent  before its second and further lines
-- @tparam[opt=""] string start   before its first line
function Page:paragraph(s, indent, start)
  start = start and self:plain(start)
  table.insert(self.pieces, text.wrap(self:plain(s), self.width, indent, start))
end

--- Add items one behind the other, separated by commas, never broken within one.
-- @tparam {string,...} items
-- @tparam[opt=""] string indent  before further lines
function Page:items(items, indent)
  local line = ""
  for i, item in ipairs(items) do
    item = self:plain(item) .. (i < #items and "," or "")
    local longer = line == "" and item or line .. " " .. item
    if self.width and line:find("%S") and printable.width(longer) > self.width then
      table.insert(self.pieces, printable.clip(line, self.width) .. "\n")
      longer = (indent or "") .. item
    end
    line = longer
  end
  if #items > 0 then
    table.insert(self.pieces, (self.width and printable.clip(line, self.width) or line) .. "\n")
  end
end

--- Begin a section: an empty line, its title, and what stands behind it.
-- @tparam string title
-- @tparam[opt] string more
function Page:section(title, more)
  if #self.pieces > 0 then table.insert(self.pieces, "\n") end
  self:paragraph(more and title .. ": " .. more or title, "  ")
end

local function widths_of(page, columns, rows)
  local widths = {}
  for c, column in ipairs(columns) do
    widths[c] = printable.width(page:plain(column.title or ""))
    for _, row in ipairs(rows) do
      widths[c] = math.max(widths[c], printable.width(row[c]))
    end
    if column.most then widths[c] = math.min(widths[c], column.most) end
  end
  return widths
end

-- The gap before a column.
local function gap(column) return (" "):rep(column.gap or #GAP) end

local function total(columns, widths, shown)
  local sum = 0
  for i, c in ipairs(shown) do
    sum = sum + widths[c] + (i > 1 and #gap(columns[c]) or 0)
  end
  return sum
end

-- Narrows the widest of the columns that can be broken until all fit.
local function narrow(page, columns, widths, shown)
  while page.width and total(columns, widths, shown) > page.width do
    local widest, yields = nil, false
    for _, c in ipairs(shown) do
      local column, width = columns[c], widths[c]
      local first = column.first and width > column.first or false
      if column.wrap and width > LEAST_ROOM and (not widest or first and not yields
        or first == yields and width >= widths[widest]) then
        widest, yields = c, first
      end
    end
    if not widest then return end
    widths[widest] = widths[widest] - 1
  end
end

-- Which columns fit: those of the highest rank are left out first; then the others are narrowed.
local function fit(page, columns, widths)
  local shown, least = {}, {}
  for c, column in ipairs(columns) do
    shown[c], least[c] = c, column.wrap and math.min(widths[c], WRAPPED_ROOM) or widths[c]
  end
  while page.width and total(columns, least, shown) > page.width do
    local worst
    for i, c in ipairs(shown) do
      local rank = columns[c].rank
      if rank and (not worst or rank > columns[shown[worst]].rank) then worst = i end
    end
    if not worst then break end
    table.remove(shown, worst)
  end
  narrow(page, columns, widths, shown)
  return shown
end

-- A cell in lines of a width, broken at spaces, or within words that are longer.
local function broken(s, width)
  local lines, line = {}, ""
  for word in s:gmatch("%S+") do
    if line ~= "" and printable.width(line) + 1 + printable.width(word) > width then
      lines[#lines + 1], line = line, ""
    end
    while printable.width(word) > width do
      local cut = utf8.offset(word, width + 1)
      lines[#lines + 1], word = word:sub(1, cut - 1), word:sub(cut)
    end
    line = line == "" and word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return lines
end

--- Add a table.
-- @tparam {table,...} columns  each `title`, `left` (aligned to the left), `most` (columns that it
--   may take), `gap` (columns before it, 2), `rank` (in a narrow terminal the highest are left out
--   first; without one it stays),
--   `wrap` (broken into more lines where it is too long, not cut), `first` (of those, narrowed to
--   so many columns before the others)
-- @tparam {table,...} rows     each a list of texts
-- @tparam[opt=""] string indent
function Page:table(columns, rows, indent)
  indent = indent or ""
  local plain, headed = {}, false
  for r, row in ipairs(rows) do
    plain[r] = {}
    for c in ipairs(columns) do plain[r][c] = self:plain(row[c] == nil and "" or row[c]) end
  end
  local inner = setmetatable({width = self.width and math.max(1, self.width - #indent)},
    {__index = self})
  local widths = widths_of(self, columns, plain)
  local shown = fit(inner, columns, widths)
  for _, c in ipairs(shown) do headed = headed or columns[c].title ~= nil end
  local function put(row)
    local cells, height = {}, 1
    for _, c in ipairs(shown) do
      local wraps = columns[c].wrap and printable.width(row[c]) > widths[c]
      cells[c] = wraps and broken(row[c], widths[c]) or {row[c]}
      height = math.max(height, #cells[c])
    end
    for k = 1, height do
      local line = indent
      for i, c in ipairs(shown) do
        line = line .. (i > 1 and gap(columns[c]) or "")
          .. printable.pad(printable.clip(cells[c][k] or "", widths[c]), widths[c], not columns[c].left)
      end
      self:line(line)
    end
  end
  if headed then
    local titles = {}
    for c, column in ipairs(columns) do titles[c] = self:plain(column.title or "") end
    put(titles)
  end
  for _, row in ipairs(plain) do put(row) end
end

--- Draw a section. A snapshot may come from another version, or from an editor: of what is in no form
-- that can be shown the name is told, and the rest is shown.
-- @tparam table said
-- @tparam string name
-- @tparam function f  f(page, said, ...) draws it
function Page:draw(said, name, f, ...)
  if not said.source or said.source.kind ~= "snapshot" then return f(self, said, ...) end
  if not pcall(f, self, said, ...) then
    self:line(("  (%s: not in a form that this version can show)"):format(name))
  end
end

--- The whole page.
-- @treturn string
function Page:text()
  return table.concat(self.pieces)
end

return {new = new}
