--- The live screen of many drives at once: a line for each, drawn anew in its place a few times a
-- second. It shows what hdd.cli.progress shows of one. Where nothing can be drawn anew (a file, a
-- pipe, a dumb terminal) a plain line tells each change of phase, and now and then how far it is.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.live
-- @usage local screen <close> = live.new { "sdb", "sdc" }
-- hdd.each(drives, function(drive) … screen:show(i, { stage = "surface", share = 0.1 }) … end)
local block = require "hdd.cli.block"
local core = require "hdd.core"
local lines = require "hdd.cli.live.lines"
local printable = require "hdd.printable"
local terminal = require "hdd.cli.terminal"

local M = {}
local Live = {}
Live.__index = Live

local DRAW_NS <const> = 333000000          -- between two drawings
local PAGE_NS <const> = 5000000000         -- between two pages, where there are more drives than rows
local STAGE_NS <const> = 10000000000       -- between two plain lines of a drive that changes its stage
local PLAIN_S <const> = 600                -- between two plain lines of a drive that does not

--- A screen.
-- @tparam {string,...} names  of the drives, in their order
-- @tparam[opt] table options  `stream` (io.stderr), `getenv` (os.getenv), `charset` ("utf8", "ascii";
--   by the locale), `plain_s` (600: seconds between two plain lines of a drive)
-- @treturn Live
function M.new(names, options)
  options = options or {}
  local stream, getenv = options.stream or io.stderr, options.getenv
  local drives = {}
  for i, name in ipairs(names) do drives[i] = { name = name } end
  local self = setmetatable({
    drives = drives, stream = stream, next_ns = 0, plain_ns = (options.plain_s or PLAIN_S) * 1e9,
    redraws = core.isatty(stream) and terminal.can_redraw(getenv), block = block.new(stream, true),
    look = { colour = terminal.has_colour(getenv) },
  }, Live)
  self.look.utf8 = options.charset == "utf8" or not options.charset and terminal.is_utf8(getenv)
  return self
end

local function draw(self, now_ns)
  self.next_ns = now_ns + DRAW_NS
  local columns, rows = self.block:room()
  self.look.page = now_ns // PAGE_NS
  self.block:draw(lines.of(self.drives, columns, rows, self.look))
end

-- A plain line, when there is something to tell.
local function tell(self, drive, now_ns)
  local state = drive.state
  local turn = (state.verdict or "") .. "/" .. (state.mode or "")
  local stage_ns = state.stage ~= drive.stage and STAGE_NS or math.maxinteger
  local since_ns = now_ns - (drive.told_ns or math.mininteger // 2)
  if turn == drive.turn and since_ns < math.min(stage_ns, self.plain_ns) then return end
  drive.turn, drive.stage, drive.told_ns = turn, state.stage, now_ns
  self.stream:write(os.date("%Y-%m-%d %H:%M:%S "), lines.plain(drive, self.look), "\n")
  self.stream:flush()
end

--- Shows what a drive is at.
-- @tparam integer i    the drive, by its place among the names
-- @tparam table state  what a procedure tells its observer, see hdd.procedure.measurement, and:
--   `temperature_c`; `mode` = "paused" or "done"; `verdict` = "PASS", "WARN" or "FAIL"; `note`, a few
--   words to be shown instead of the stage, or behind the verdict
function Live:show(i, state)
  local drive, now_ns = self.drives[i], core.now()
  drive.state = state
  if self.closed then return end
  if not self.redraws then
    tell(self, drive, now_ns)
  elseif now_ns >= self.next_ns or state.verdict then
    draw(self, now_ns)
  end
end

--- Draws it anew if it is time: for a caller that waits while no drive tells anything.
function Live:tick()
  local now_ns = core.now()
  if self.redraws and not self.closed and now_ns >= self.next_ns then draw(self, now_ns) end
end

--- Prints a message above the drives.
-- @tparam string text
function Live:say(text)
  self:clear()
  local line = printable.line(text, not self.look.utf8)
  self.stream:write(self.redraws and "" or os.date("%Y-%m-%d %H:%M:%S "), line, "\n")
  self.stream:flush()
  self.next_ns = 0
end

--- Removes the lines, so that something else can be printed; the next state draws them again.
function Live:clear()
  self.block:clear()
end

--- Removes the lines for good. Harmless the second time.
function Live:close()
  self.block:clear()
  self.closed = true
end

Live.__close = Live.close

return M
