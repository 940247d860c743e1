--- What a function raises, whole: luassert's error_matches cuts a message off at its last place in a
-- file, which is in the middle of ours that have a traceback.
-- SPDX-License-Identifier: GPL-3.0-or-later
local assert = require "luassert"

--- Calls a function that must raise a message that matches.
-- @tparam string pattern  of string.find
-- @tparam function f
-- @param ... its arguments
-- @treturn string  the message
-- @usage raises("must be true or false", drive.run, drive, {loop = 1})
return function(pattern, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok, "nothing was raised")
  assert.is_string(message)
  assert.is_truthy(message:find(pattern), ("raised %q, which does not match %q"):format(message, pattern))
  return message
end
