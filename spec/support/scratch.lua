--- Files for specs, in a place of this process that is removed when it ends.
-- SPDX-License-Identifier: GPL-3.0-or-later
local place = require "spec.support.place"
local shell = require "spec.support.shell"

local M = {}
local own

local function here()
  own = own or place.new()
  return own
end

--- A path that nothing is at, for a file that the spec's subject writes.
-- @tparam[opt] string name  how it begins
function M.path(name)
  return here():path(name or "out")
end

--- A file of written random bytes on a real disk.  (A hole would never reach the disk.)
-- @tparam integer size  bytes
-- @treturn string  its path; removing it early is welcome, not needed
function M.file(size)
  local path = here():path("scratch")
  shell.must(("head -c %d /dev/urandom > %s && sync %s"):format(size, shell.quote(path),
                                                               shell.quote(path)))
  return path
end

--- A file of `size` bytes that is one hole, for sizes that no disk here has: 40 TiB is too much for
-- ext4, so it lies in memory.
-- @tparam integer size  bytes
-- @treturn string  its path
function M.sparse(size)
  local folder = shell.must("mktemp -d /dev/shm/hddlua-spec.XXXXXX")
  here():note("folders", folder)
  local path = folder .. "/sparse"
  shell.must(("truncate -s %d %s"):format(size, path))
  return path
end

return M
