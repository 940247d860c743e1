--- A folder tree of small files and links, such as a part of sysfs that this machine does not have.
-- SPDX-License-Identifier: GPL-3.0-or-later
local lfs = require "lfs"
local scratch = require "spec.support.scratch"

local M = {}
local Tree = {}
Tree.__index = Tree

local function folders_of(path)
  local at = ""
  for part in path:match("^(.*)/"):gmatch("[^/]+") do
    at = at .. "/" .. part
    lfs.mkdir(at)
  end
end

--- An empty tree.
-- @treturn Tree  its `root` is a path
function M.new()
  return setmetatable({root = scratch.path("tree")}, Tree)
end

--- Writes files.
-- @tparam table files  path -> bytes
function Tree:write(files)
  for path, bytes in pairs(files) do
    path = self.root .. "/" .. path
    folders_of(path)
    local file <close> = assert(io.open(path, "wb"))
    assert(file:write(bytes))
  end
end

--- Makes a link.
-- @tparam string path
-- @tparam string target  as the link has it
function Tree:link(path, target)
  path = self.root .. "/" .. path
  folders_of(path)
  assert(lfs.link(target, path, true))
end

--- A block device in sysfs, with the links that lead to it.
-- @tparam string folder  of the device, below "sys/"
-- @tparam string number  "8:0"
-- @tparam[opt] table files  in its folder: path -> bytes
function Tree:block_device(folder, number, files)
  local name = folder:match("[^/]+$")
  self:write {["sys/" .. folder .. "/dev"] = number .. "\n"}
  for path, bytes in pairs(files or {}) do
    self:write {["sys/" .. folder .. "/" .. path] = bytes}
  end
  self:link("sys/dev/block/" .. number, "../../" .. folder)
  self:link("sys/class/block/" .. name, "../../" .. folder)
  if not (files and files.partition) then
    self:link("sys/block/" .. name, "../" .. folder)
  end
end

return M
