--- Where a result goes: a file, or standard output ("-").
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.destination
local file = require "hdd.file"
local lfs = require "lfs"

local M = {}

local EPIPE <const> = 32

local function is_same_file(a, b)
  local one, other = lfs.attributes(a), lfs.attributes(b)
  return one and other and one.dev == other.dev and one.ino == other.ino
end

--- Can a result go there? Asked before hours of measuring; leaves nothing behind.
-- @tparam string path
-- @tparam {string,...} sources  what is measured: nothing is written there, whatever was asked
-- @tparam[opt] boolean force    a file that is there may be overwritten
-- @treturn boolean  true
-- @return or nil, message
-- @usage assert(destination.probe("sdb.json", { "/dev/sdb" }))
function M.probe(path, sources, force)
  if path == "-" then return true end
  for _, source in ipairs(sources) do
    if is_same_file(path, source) then
      return nil, string.format("cannot write %s: it is what is being measured", path)
    end
  end
  return file.probe(path, { force = force })
end

--- Writes a result, a file whole or not at all. A reader of standard output that has gone away has
-- seen enough: that is no failure.
-- @tparam string path
-- @tparam string text
-- @tparam[opt] boolean force  a file that is there is overwritten
-- @treturn boolean  true
-- @return or nil, message
-- @usage local ok, message = destination.write("-", csv.document(document))
function M.write(path, text, force)
  if path ~= "-" then
    local written, message = file.write(path, text, { force = force })
    return written and true, message
  end
  local ok, message, code = io.stdout:write(text)
  if ok then ok, message, code = io.stdout:flush() end
  if ok or code == EPIPE then return true end
  return nil, "cannot write to standard output: " .. message
end

return M
