--- An area of characters that lines, points and shades are drawn on.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure.terminal.canvas
local scale = require "hdd.view.figure.scale"

local M = {}
local Canvas = {}
Canvas.__index = Canvas

-- Bits of a Braille character by column and row of its dots.
local DOTS <const> = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } }
local FEW <const>, APART <const> = 16, 18 -- signs at each of few points, else so many columns apart

--- An empty area.
-- @tparam integer columns
-- @tparam integer rows
-- @tparam[opt] boolean utf8  dots of Braille, eight in a character
-- @treturn Canvas
-- @usage local area = canvas.new(70, 15, true)
function M.new(columns, rows, utf8)
  local across, down = utf8 and 2 or 1, utf8 and 4 or 1
  return setmetatable({ columns = columns, rows = rows, across = across, down = down, dots = {},
    signs = {}, owners = {}, drawn = 0 }, Canvas)
end

-- One dot; places count from 0 at the left above.
function Canvas:dot(x, y, series, sign)
  if x < 0 or y < 0 or x >= self.columns * self.across or y >= self.rows * self.down then return end
  local cell = y // self.down * self.columns + x // self.across
  if self.across == 2 then
    self.dots[cell] = (self.dots[cell] or 0) | DOTS[x % 2 + 1][y % 4 + 1]
    self.owners[cell] = self.owners[cell] or series.colour
  elseif not (self.signs[cell] and x % 4 < 2) then -- where two lines are one, both are seen
    self.signs[cell], self.owners[cell] = sign, series.colour
  end
end

-- A sign; beside the place where another line has one there.
function Canvas:sign(x, y, series, sign)
  if x < 0 or y < 0 or x >= self.columns * self.across or y >= self.rows * self.down then return end
  local cell = y // self.down * self.columns + x // self.across
  if self.across == 2 and self.signs[cell] and (cell + 1) % self.columns > 0 then cell = cell + 1 end
  self.signs[cell], self.owners[cell] = sign, series.colour
end

function Canvas:line(x0, y0, x1, y1, series, sign)
  local steps = math.max(math.abs(x1 - x0), math.abs(y1 - y0), 1)
  for i = 0, steps do
    self:dot(math.floor(x0 + (x1 - x0) * i / steps + 0.5), math.floor(y0 + (y1 - y0) * i / steps + 0.5),
      series, sign)
  end
end

local function round(share, dots)
  return math.floor(math.max(-1, math.min(share, 2)) * (dots - 1) + 0.5)
end

-- The dots of a series' points, {} for a gap.
function Canvas:points(series, panel)
  local list = {}
  for i, x in ipairs(series.x or {}) do
    local y = series.y and series.y[i]
    list[i] = {}
    if scale.fits(x, panel.x.axis) and scale.fits(y, panel.y.axis) then
      list[i].x = round(scale.place(x, panel.x.axis, panel.x.low, panel.x.high), self.columns * self.across)
      list[i].y = self.rows * self.down - 1
        - round(scale.place(y, panel.y.axis, panel.y.low, panel.y.high), self.rows * self.down)
    end
  end
  return list
end

-- Signs on a line: at each of few points; on a long one at those nearest to evenly spaced columns,
-- which are others for each line.
function Canvas:sign_line(list, series, sign)
  if #list <= FEW then
    for _, p in ipairs(list) do
      if p.x then self:sign(p.x, p.y, series, sign) end
    end
    return
  end
  local next_x = self.drawn * 5 % APART * self.across
  for _, p in ipairs(list) do
    if p.x and p.x >= next_x then
      self:sign(p.x, p.y, series, sign)
      next_x = p.x + APART * self.across
    end
  end
end

function Canvas:line_of(series, panel, sign)
  local list, last = self:points(series, panel), {}
  for _, p in ipairs(list) do
    if p.x and last.x then
      if series.kind == "step" then
        self:line(last.x, last.y, p.x, last.y, series, sign)
        self:line(p.x, last.y, p.x, p.y, series, sign)
      else
        self:line(last.x, last.y, p.x, p.y, series, sign)
      end
    elseif p.x then
      self:dot(p.x, p.y, series, sign)
    end
    last = p
  end
  self:sign_line(list, series, sign)
end

function Canvas:bars(series, panel, sign)
  for _, p in ipairs(self:points(series, panel)) do
    if p.x then
      for x = p.x - self.across // 2, p.x + self.across // 2 do
        self:line(x, p.y, x, self.rows * self.down - 1, series, sign)
      end
    end
  end
end

-- The strongest of what falls into a character is shown there.
function Canvas:heat(series, panel, shades)
  local function column(x)
    return round(scale.place(x, panel.x.axis, panel.x.low, panel.x.high), self.columns + 1)
  end
  local function row(y)
    return self.rows - round(scale.place(y, panel.y.axis, panel.y.low, panel.y.high), self.rows + 1)
  end
  local levels = {}
  for _, cell in ipairs(series.cells) do
    if scale.fits(cell[5], panel.z.axis) and scale.fits(cell[1], panel.x.axis)
      and scale.fits(cell[3], panel.y.axis) then
      local share = scale.place(cell[5], panel.z.axis, panel.z.low, panel.z.high)
      local level = math.max(1, math.min(#shades, math.floor(share * #shades) + 1))
      local left, top = column(cell[1]), row(cell[4])
      for r = math.max(0, top), math.min(self.rows, math.max(row(cell[3]), top + 1)) - 1 do
        for c = math.max(0, left), math.min(self.columns, math.max(column(cell[2]), left + 1)) - 1 do
          local place = r * self.columns + c
          if level > (levels[place] or 0) then
            levels[place], self.signs[place] = level, shades[level]
          end
        end
      end
    end
  end
end

--- Draws a series.
-- @tparam table series
-- @tparam table panel    of hdd.view.figure.range
-- @tparam ?string sign   the character that stands for it
-- @tparam {string,...} shades  of a heat map, from little to much
function Canvas:draw(series, panel, sign, shades)
  self.drawn = self.drawn + 1
  if series.kind == "heat" then
    self:heat(series, panel, shades)
  elseif series.kind == "bars" then
    self:bars(series, panel, sign)
  elseif series.kind == "points" then
    for _, p in ipairs(self:points(series, panel)) do
      if p.x then self:sign(p.x, p.y, series, sign) end
    end
  else
    self:line_of(series, panel, sign)
  end
end

--- What was drawn.
-- @tparam function paint  text, index of a colour or nil -> text
-- @treturn {string,...}  a line for each row
function Canvas:lines(paint)
  local lines = {}
  for row = 0, self.rows - 1 do
    local cells, last = {}, 0
    for column = 0, self.columns - 1 do
      local place = row * self.columns + column
      local mark = self.signs[place] or self.dots[place] and utf8.char(0x2800 + self.dots[place])
      cells[column + 1] = mark and paint(mark, self.owners[place]) or " "
      if mark then last = column + 1 end
    end
    lines[row + 1] = table.concat(cells, "", 1, last)
  end
  return lines
end

return M
