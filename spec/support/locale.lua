--- A locale with a decimal comma for a program under test, made on the spot: none need be installed.
-- Call `needs.program "localedef"` first.
-- SPDX-License-Identifier: GPL-3.0-or-later
local place = require "spec.support.place"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local M = {}

--- Runs a chunk of Lua in hddlua where the environment asks for German numbers (1,5).
-- @tparam string chunk  Lua code; `os.setlocale ""` makes Lua itself follow the environment
-- @tparam[opt] table options  as for `process.lua`
-- @treturn table  as `process.run`'s
-- @usage assert.equal("0,5\n", locale.german("os.setlocale(''); print(0.5)").stdout)
function M.german(chunk, options)
  local home <close> = place.new()
  shell.must(("mkdir %s/l && localedef -i de_DE -f UTF-8 %s/l/de_DE.UTF-8"):format(home.folder, home.folder))
  local env = {LOCPATH = home.folder .. "/l", LC_ALL = "de_DE.UTF-8"}
  return process.lua(chunk, setmetatable({env = env}, {__index = options or {}}))
end

return M
