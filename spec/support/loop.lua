--- Loop devices.
-- SPDX-License-Identifier: GPL-3.0-or-later
local place = require "spec.support.place"
local shell = require "spec.support.shell"

local M = {}
local Loop = {}
Loop.__index = Loop

--- Attaches a loop device to a file.  Call `needs.loop()` first.
-- @tparam string path  the file
-- @tparam[opt] table options  `block_size` logical, bytes (512); `read_only`; `partitions` (scanned
--   for); `buffered` (through the page cache of the file's file system)
-- @treturn Loop  `.path` ("/dev/loop3"), `.name` ("loop3"), `:detach()`
-- @usage local loop <close> = loop.attach(scratch.file(1 << 20), {block_size = 4096})
function M.attach(path, options)
  options = options or {}
  local home = place.new()
  local device = shell.must(("losetup -f --show -b %d %s %s %s %s"):format(
    options.block_size or 512, options.buffered and "" or "--direct-io=on",
    options.read_only and "-r" or "", options.partitions and "-P" or "", shell.quote(path)))
  home:note("loops", device)
  return setmetatable({path = device, name = device:match("[^/]+$"), place = home}, Loop)
end

--- Detaches it.  Harmless the second time.
function Loop:detach()
  self.place:close()
end

Loop.__close = Loop.detach

return M
