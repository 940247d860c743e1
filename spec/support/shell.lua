--- Commands for the set-ups of specs.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

--- A word for the shell that stands for itself, whatever is in it.
-- @tparam string word
-- @treturn string
function M.quote(word)
  return "'" .. tostring(word):gsub("'", "'\\''") .. "'"
end

--- Words for the shell.
-- @tparam {string,...} words
-- @treturn string
function M.words(words)
  local quoted = {}
  for i, word in ipairs(words) do quoted[i] = M.quote(word) end
  return table.concat(quoted, " ")
end

--- What a command prints, and how it ended.
-- @tparam string command  for sh; its standard error is in the output
-- @treturn string  output without the newline at its end
-- @treturn integer  exit status (128 + signal when killed)
function M.run(command)
  local pipe = assert(io.popen("{ " .. command .. "\n} 2>&1 </dev/null", "r"))
  local output = pipe:read("a")
  local _, how, status = pipe:close()
  return (output:gsub("\n$", "")), how == "signal" and 128 + status or status
end

--- What a command prints; raises with it when the command fails.
-- @tparam string command  for sh
-- @treturn string
function M.must(command)
  local output, status = M.run(command)
  if status ~= 0 then
    error(("%s: status %d: %s"):format(command, status, output), 2)
  end
  return output
end

--- The content of a file, or nil, message, code.
function M.read(path)
  local file <close>, message, code = io.open(path, "rb")
  if not file then return nil, message, code end
  return file:read("a")
end

return M
