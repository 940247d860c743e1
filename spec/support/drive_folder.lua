--- A copy of a fixtures' drive, with pages changed or taken away.
-- SPDX-License-Identifier: GPL-3.0-or-later
local shell = require "spec.support.shell"

local M = {}

local FIXTURES <const> = "spec/fixtures/smart/"

--- Copies a drive's folder.
-- @tparam Place home
-- @tparam string drive    "ata/WD6000HLHX-01JJPV0-a"
-- @tparam[opt] table pages  by file name: new bytes, a function of the old ones, or false (taken away)
-- @treturn string  path of the copy
-- @usage local folder = folders.copy(home, "ata/SP0812C-a", {["smart_data.bin"] = ("\0"):rep(512)})
function M.copy(home, drive, pages)
  local folder = home:path("drive")
  shell.must(shell.words {"cp", "-r", FIXTURES .. drive, folder})
  M.change(folder, pages)
  return folder
end

--- Changes a copy, also while it is being read.
-- @tparam string folder
-- @tparam ?table pages  as of `copy`
function M.change(folder, pages)
  for name, change in pairs(pages or {}) do
    local path = folder .. "/" .. name
    if change == false then
      os.remove(path)
    else
      local bytes = type(change) == "function" and change(assert(shell.read(path))) or change
      local file <close> = assert(io.open(path .. ".new", "wb"))
      assert(file:write(bytes))
      file:close()
      assert(os.rename(path .. ".new", path))
    end
  end
end

--- A page with other bytes, and its sum mended.
-- @tparam table bytes  {[offset] = byte}
-- @treturn function  for `copy`
function M.with(bytes)
  return function(page)
    local list = {page:byte(1, 512)}
    for offset, byte in pairs(bytes) do list[offset + 1] = byte end
    local sum = 0
    for i = 1, 511 do sum = sum + list[i] end
    list[512] = -sum & 255
    return string.char(table.unpack(list)) .. page:sub(513)
  end
end

return M
