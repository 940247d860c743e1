-- SPDX-License-Identifier: GPL-3.0-or-later
--- Rows as a table for a person: aligned, each column with its unit, as wide as wanted. Nothing that
-- came from a drive reaches the terminal as a command.
-- @module hdd.view.text

local columns = require "hdd.view.text.columns"
local printable = require "hdd.printable"

local M = {}

local GAP = "  "

-- The cells of a column: title, unit, then a cell for each row; and the width of the widest.
local function cells_of(column, rows, ascii)
  local cells = { column.title, column.unit }
  for i, row in ipairs(rows) do
    cells[i + 2] = printable.line(column.show(row[column.key], row), ascii)
  end
  local width = 0
  for _, cell in ipairs(cells) do width = math.max(width, printable.width(cell)) end
  return cells, width
end

local function total_width(list)
  local width = -#GAP
  for _, column in ipairs(list) do width = width + column.width + #GAP end
  return width
end

-- Leaves out columns, those named in `drop` first and then from the right, until the rest fits.
local function fit(list, width, drop)
  local order = {}
  for _, key in ipairs(drop or {}) do order[#order + 1] = key end
  for i = #list, 2, -1 do order[#order + 1] = list[i].name end
  for _, name in ipairs(order) do
    if total_width(list) <= width or #list == 1 then return end
    for i = #list, 2, -1 do
      if list[i].name == name then
        table.remove(list, i)
        break
      end
    end
  end
end

--- A table of rows: headings, units below them, numbers to the right. What is unknown is "n/a".
-- @tparam {table,...} rows    the rows of a document, or of a script's own
-- @tparam {string,...} keys   columns from left to right
-- @tparam[opt] table options  `width`: columns of the terminal, what does not fit is left out (from the
--   right, the first column last); `drop`: keys to leave out before others; `utf8`: true where other
--   characters than ASCII are wanted
-- @treturn string  lines; a sentence when there are no rows
-- @usage io.write(text.table(document.rows, { "depth", "iops", "latency_p99_us", "errors" }))
function M.table(rows, keys, options)
  options = options or {}
  if #rows == 0 then return M.wrap("Nothing was measured.", options.width) end
  local list = {}
  for i, key in ipairs(keys) do
    local column = columns.of(key, rows, options.utf8)
    column.name = key
    column.cells, column.width = cells_of(column, rows, not options.utf8)
    list[i] = column
  end
  if options.width then fit(list, options.width, options.drop) end
  local has_units = false
  for _, column in ipairs(list) do has_units = has_units or column.unit ~= "" end
  local lines = {}
  for i = 1, #rows + 2 do
    if i ~= 2 or has_units then
      local cells = {}
      for c, column in ipairs(list) do cells[c] = printable.pad(column.cells[i], column.width, not column.left) end
      local line = table.concat(cells, GAP):gsub(" +$", "")
      lines[#lines + 1] = options.width and printable.clip(line, options.width) or line
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

--- A paragraph broken at spaces to a width.
-- @tparam string paragraph
-- @tparam[opt] integer width   columns; nil: one line
-- @tparam[opt=""] string indent  before the second and further lines
-- @tparam[opt=""] string start   before the first line, spaces kept
-- @treturn string  lines
-- @usage text.wrap(warning, 80, "  ")
function M.wrap(paragraph, width, indent, start)
  indent, start = indent or "", start or ""
  if not width then return start .. paragraph .. "\n" end
  width = math.max(width, 1)
  if #indent * 2 > width then indent = "" end
  local lines, line, empty = {}, start, true
  for word in paragraph:gmatch("%S+") do
    if not empty and printable.width(line) + 1 + printable.width(word) > width then
      lines[#lines + 1] = printable.clip(line, width)
      line, empty = indent, true
    end
    line, empty = line .. (empty and "" or " ") .. word, false
  end
  lines[#lines + 1] = printable.clip(line, width)
  return table.concat(lines, "\n") .. "\n"
end

return M
