--- Commands that are handed to sh.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.shell
local M = {}

--- A word that stands for itself, whatever is in it (but NUL, which no command can have).
-- @tparam string word
-- @treturn string
-- @usage shell.quote "it's" --> "'it'\\''s'"
function M.quote(word)
  return "'" .. word:gsub("%z", ""):gsub("'", "'\\''") .. "'"
end

--- Words.
-- @tparam {string,...} words
-- @treturn string  each quoted only where it must be, to be read by a person, too
-- @usage shell.words { "hddlua", "burnin", "/dev/my disk" } --> "hddlua burnin '/dev/my disk'"
function M.words(words)
  local quoted = {}
  for i, word in ipairs(words) do
    quoted[i] = word:find("^[%w%%+,./:=@_-]+$") and word or M.quote(word)
  end
  return table.concat(quoted, " ")
end

return M
