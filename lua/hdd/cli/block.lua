--- Lines at the end of a terminal that are drawn anew in their place.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.block
local core = require "hdd.core"

local M = {}
local Block = {}
Block.__index = Block

local COLUMNS <const>, ROWS <const> = 80, 24 -- of a terminal that does not say

--- A block, which is empty at first.
-- @tparam file stream   a terminal that can redraw, see hdd.cli.terminal
-- @tparam[opt] boolean below  true: the cursor is left below the block, not behind its last line,
--   so that what a shell prints after kill -9 begins on a line of its own
-- @treturn Block
-- @usage local b = block.new(io.stderr)
-- b:draw { "50 %" }
-- b:clear()
function M.new(stream, below)
  return setmetatable({ stream = stream, below = below or false, rows = 0 }, Block)
end

--- What there is room for.
-- @treturn integer columns  of a line: the last one stays free, as some terminals go on to the next
--   line after it
-- @treturn integer rows
function Block:room()
  local columns, rows = core.window_size(self.stream)
  columns, rows = columns or COLUMNS, rows or ROWS
  return columns - 1, self.below and rows - 1 or rows
end

-- To the beginning of the block.
local function home(self)
  local up = self.below and self.rows or self.rows - 1
  return "\r" .. (up > 0 and string.format("\27[%dA", up) or "")
end

-- In another size the terminal may have broken and moved the lines: nobody knows where they are now.
local function restart(self)
  local columns, rows = core.window_size(self.stream)
  local moved = self.rows > 1 and (columns ~= self.columns or rows ~= self.lines)
  self.columns, self.lines = columns, rows
  if moved then self.rows = 0 end
  return moved and "\27[H\27[2J" or home(self)
end

--- Draws it anew.
-- @tparam {string,...} lines  each fits the room, colours apart
function Block:draw(lines)
  local out = { restart(self) }
  for i, line in ipairs(lines) do
    out[#out + 1] = line .. "\27[K" .. ((i < #lines or self.below) and "\n" or "")
  end
  if #lines < self.rows then out[#out + 1] = "\27[J" end
  self.rows = #lines
  self.stream:write(table.concat(out)) -- in one piece: nothing flickers
  self.stream:flush()
end

--- Removes it, so that something else can be printed where it was.
function Block:clear()
  if self.rows == 0 then return end
  self.stream:write(restart(self), (self.rows > 1 or self.below) and "\27[J" or "\27[K")
  self.stream:flush()
  self.rows = 0
end

return M
