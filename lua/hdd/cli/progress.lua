--- The progress of a procedure: one line on standard error that is drawn anew, and only on a
-- terminal. A terminal that cannot do that gets a plain line now and then; anything else (a log) is
-- told only when a drive does not answer.
-- Of many drives at once hdd.cli.live shows the same.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.progress
local block = require "hdd.cli.block"
local core = require "hdd.core"
local printable = require "hdd.printable"
local terminal = require "hdd.cli.terminal"
local units = require "hdd.units"

local M = {}
local Progress = {}
Progress.__index = Progress

local PLAIN_NS <const> = 10000000000   -- between two plain lines
local SILENCE_NS <const> = 60000000000 -- between two lines of a silence in a log
local IDLE_S <const> = 2               -- from when on a silence is told

local function rate_of(state)
  if state.iops then return units.fixed(state.iops, state.iops < 1000 and 1 or 0) .. " IOPS" end
  return state.bandwidth_bytes_per_s and units.rate(state.bandwidth_bytes_per_s)
end

--- A time as it is shown while it runs: fractions of seconds would only flicker.
-- @tparam number s  seconds
-- @treturn string
function M.seconds(s)
  return s < 59.5 and units.fixed(s, 0) .. " s" or units.duration_text(s)
end

local function left_of(state)
  if not state.left_s then return nil end
  return (state.at_most and "at most " or "") .. M.seconds(state.left_s) .. " left"
end

--- The silence of a drive that owes an answer.
-- @tparam table state
-- @treturn ?string  nil while it is none
function M.silence(state)
  if not state.idle_s or state.idle_s < IDLE_S then return nil end
  local at = state.oldest_offset_bytes
  return "no completion for " .. M.seconds(math.floor(state.idle_s))
    .. (at and string.format(" at offset %d", at) or "")
end

-- The parts of the line from left to right, each with its rank: in a narrow terminal the highest
-- ranks are left out first.
local function parts_of(state)
  local parts = {}
  local function add(rank, text)
    if text then parts[#parts + 1] = { rank = rank, text = text } end
  end
  add(3, state.share and units.fixed(math.min(state.share, 1) * 100, 0) .. " %")
  add(5, state.stage)
  add(4, rate_of(state))
  add(6, state.position_bytes and "at " .. units.decimal_bytes(state.position_bytes))
  add(2, (state.errors or 0) > 0 and string.format("%d read errors", state.errors))
  add(1, M.silence(state))
  add(3, left_of(state))
  if not state.share and not state.left_s and state.elapsed_s then
    add(3, M.seconds(math.floor(state.elapsed_s)))
  end
  return parts
end

local function joined(parts)
  local texts = {}
  for i, part in ipairs(parts) do texts[i] = part.text end
  return table.concat(texts, "  ")
end

--- The line for a state.
-- @tparam table state      what a procedure tells its observer, see hdd.procedure.measurement
-- @tparam ?integer width   columns; nil: as many as it takes
-- @treturn string
-- @usage print(progress.line({ stage = "zone 3 of 40", share = 0.06, left_s = 58 }, 79))
function M.line(state, width)
  local parts = parts_of(state)
  while width and #parts > 1 and printable.width(joined(parts)) > width do
    local worst = #parts
    for i = #parts, 1, -1 do
      if parts[i].rank > parts[worst].rank then worst = i end
    end
    table.remove(parts, worst)
  end
  local line = printable.line(joined(parts), true)
  return width and printable.clip(line, width) or line
end

--- A progress line on standard error.
-- @tparam[opt] table options  `stream` (io.stderr), `getenv` (os.getenv)
-- @treturn Progress
-- @usage local line = progress.new()
-- zoneprofile.run(drive, {}, { progress = function(state) line:show(state) end })
-- line:clear()
function M.new(options)
  options = options or {}
  local stream = options.stream or io.stderr
  return setmetatable({
    stream = stream, is_terminal = core.isatty(stream), block = block.new(stream),
    redraws = terminal.can_redraw(options.getenv), plain_ns = 0,
  }, Progress)
end

-- A log holds what the drive's trouble was, and when: each silence as it begins, and while it lasts.
local function log_silence(self, state)
  local silence = M.silence(state)
  if not silence then
    self.silent_ns = nil
  elseif not self.silent_ns or core.now() - self.silent_ns >= SILENCE_NS then
    self.silent_ns = core.now()
    self.stream:write(printable.line(silence), "\n")
    self.stream:flush()
  end
end

--- Shows a state.
-- @tparam table state
function Progress:show(state)
  if not self.is_terminal then return log_silence(self, state) end
  local columns = self.block:room()
  if self.redraws then
    if columns > 0 then self.block:draw { M.line(state, columns) } end
  elseif core.now() - self.plain_ns >= PLAIN_NS then
    self.plain_ns = core.now()
    self.stream:write(M.line(state, columns > 0 and columns or nil), "\n")
    self.stream:flush()
  end
end

--- Removes the line, so that something else can be printed.
function Progress:clear()
  self.block:clear()
end

return M
