--- What became of a drive's bad and slow places from one surface scan to another, in sentences. Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.compare.scans
local compare = require "hdd.procedure.surface.compare"

local M = {}

local WORDS <const> = {
  { "new", "new" }, { "grown", "grown" }, { "slower", "slower than before" }, { "gone", "gone" },
  { "same", "as before" }, { "untried", "where the earlier scan had not read" },
}

--- The changes.
-- @tparam table old  document
-- @tparam table new  document
-- @treturn {string,...}  sentences
function M.changes(old, new)
  local changes, message = compare.scans(old, new)
  if not changes then
    return { message .. ": their bad and slow ranges are not held against one another" }
  end
  local parts = {}
  for _, word in ipairs(WORDS) do
    local n = #changes[word[1]]
    if n > 0 then parts[#parts + 1] = string.format("%d %s", n, word[2]) end
  end
  if #parts == 0 then return { "neither scan found an unreadable or slow range" } end
  return { string.format("unreadable and slow ranges: %s%s", table.concat(parts, ", "),
    changes.worse and ": it is getting worse" or "") }
end

return M
