--- The plain prompt: statements of any number of lines, values printed as lua5.4 prints them.
--
-- Tasks go on, and jobs are attended, while it waits for a line. Ctrl-C discards the line, or
-- interrupts the statement; variables stay.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.prompt
local core = require "hdd.core"
local task = require "hdd.task"

local M = {}

local SIGINT <const> = 2
local INTERRUPTED <const> = {}

-- A line with its newline, nil at the end, or INTERRUPTED. A terminal hands over whole lines, so
-- that nothing is left in io's buffer which the wait could not see.
local function read_line(global, default)
  local prompt = _G[global]
  io.write(prompt == nil and default or tostring(prompt))
  io.flush()
  if core.isatty(0) and task.wait {fd = 0, interruptible = true} == nil then
    io.write("\n")
    return INTERRUPTED
  end
  return io.read("L")
end

-- A whole statement as a function; nil and a message when it is none; or nil, and nil at the end or
-- INTERRUPTED in place of the message.
local function read_statement()
  local text = read_line("_PROMPT", "> ")
  if text == nil or text == INTERRUPTED then return nil, text end
  text = text:gsub("^=", "return ")
  local chunk = load("return " .. text, "=stdin", "t")
  if chunk then return chunk end
  while true do
    local message
    chunk, message = load(text, "=stdin", "t")
    if chunk or not message:find("<eof>$") and not message:find("'<eof>'$") then
      return chunk, message
    end
    local line = read_line("_PROMPT2", ">> ")
    if line == nil then return nil, message end
    if line == INTERRUPTED then return nil, line end
    text = text .. line
  end
end

local function complain(message)
  io.stdout:flush()
  io.stderr:write(tostring(message), "\n")
end

-- Prints what a statement gave, or what was wrong; our own part of a traceback is left out. Returns
-- which of the two.
local function show(ok, ...)
  if not ok then
    complain((tostring((...)):gsub("\n\t%[C%]: in function 'xpcall'\n.*", "\n\t[C]: in ?")))
  elseif select("#", ...) > 0 then
    local printed, message = pcall(print, ...)
    if not printed then
      complain(("error calling 'print' (%s)"):format(tostring(message)))
    end
  end
  return ok
end

--- Reads and runs statements until the end of standard input, SIGTERM or SIGHUP.
-- @tparam function traceback  xpcall's message handler
function M.run(traceback)
  core.interrupt_grace(0.1) -- a person waits for the prompt
  while true do
    core.clear_interrupt()
    local ok, statement, message = xpcall(read_statement, traceback)
    local signal = core.interrupt_pending()
    if not ok then
      complain(statement)
    elseif statement then
      local raised = not show(xpcall(statement, traceback))
      signal = core.interrupt_pending()
      if signal and not raised then complain("interrupted") end
    elseif message == nil then
      break
    elseif message ~= INTERRUPTED then
      complain(message)
    end
    if signal and signal ~= SIGINT then return end
  end
  io.write("\n")
  io.flush()
end

return M
