--- What the terminal can do, by the environment's word.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.terminal
local core = require "hdd.core"
local lfs = require "lfs"

local M = {}

local FOLDERS <const> = {
  "/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo",
}

--- Is the text of this session UTF-8? By the first of LC_ALL, LC_CTYPE and LANG that is set.
-- @tparam[opt=os.getenv] function getenv
-- @treturn boolean
function M.is_utf8(getenv)
  getenv = getenv or os.getenv
  for _, name in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
    local value = getenv(name)
    if value and value ~= "" then return value:lower():find("utf%-?8") ~= nil end
  end
  return false
end

-- Terminfo files are in folders named by the first letter, or its code in hexadecimal.
local function is_known(name, folders)
  for _, folder in ipairs(folders) do
    for _, part in ipairs { name:sub(1, 1), string.format("%x", name:byte()) } do
      if lfs.attributes(folder .. "/" .. part .. "/" .. name, "mode") == "file" then return true end
    end
  end
  return false
end

--- May a line be drawn over? Not when TERM is unset, "dumb", or nothing that this system knows.
-- @tparam[opt=os.getenv] function getenv
-- @treturn boolean
function M.can_redraw(getenv)
  getenv = getenv or os.getenv
  local name = getenv("TERM")
  if not name or not name:match("^%w[%w.+_-]*$") or name == "dumb" or name == "unknown" then
    return false
  end
  local folders = { (getenv("HOME") or "") .. "/.terminfo" }
  folders[#folders + 1] = getenv("TERMINFO")
  return is_known(name, table.move(FOLDERS, 1, #FOLDERS, #folders + 1, folders))
end

--- May it have colours? Where it can redraw, unless NO_COLOR is set (no-color.org).
-- @tparam[opt=os.getenv] function getenv
-- @treturn boolean
function M.has_colour(getenv)
  local unwanted = (getenv or os.getenv)("NO_COLOR")
  return (unwanted == nil or unwanted == "") and M.can_redraw(getenv)
end

--- Columns of a terminal.
-- @tparam integer|file stream
-- @treturn ?integer  nil when it is no terminal; 80 when it is one that does not say
function M.columns(stream)
  if not core.isatty(stream) then return nil end
  return core.window_size(stream) or 80
end

return M
