--- Files beside the document that a surface scan keeps: the mapfile, which it also goes on from, and
-- the list of bad blocks.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.keep
local core = require "hdd.core"
local file = require "hdd.file"
local lfs = require "lfs"
local mapfile = require "hdd.mapfile"

local M = {}
local Keep = {}
Keep.__index = Keep

local EVERY_NS <const> = 30000000000
local SHARE <const> = 0.01 -- of the time that may go into saving

--- Reads a mapfile.
-- @tparam string path
-- @treturn table  as of mapfile.parse
-- @return or nil, message
function M.read(path)
  local text, message = file.read(path)
  if not text then return nil, message end
  local map
  map, message = mapfile.parse(text)
  if not map then return nil, string.format("cannot read %s: %s", path, message) end
  return map
end

--- Prepares the files: tries whether they can be written, and reads the mapfile if there is one.
-- @tparam table options  `mapfile`, `badblocks` (paths, optional), `badblocks_size` (bytes), `force`
--   (begin anew whatever is there)
-- @treturn Keep  `resume`: what the procedure is to go on from, if anything
-- @return or nil, message
function M.new(options)
  local self = setmetatable({ options = options, next_ns = core.now() + EVERY_NS }, Keep)
  local path = options.mapfile
  local there = path and lfs.attributes(path, "mode") == "file"
  if there and lfs.attributes(path, "size") > 0 and not options.force then
    local map, message = M.read(path)
    if not map then return nil, message .. " (--force begins anew)" end
    self.resume = map.document or { blocks = map.blocks }
  end
  if path then
    -- What was read is replaced: it is the same scan.
    local ok, message = file.probe(path, { force = there })
    if not ok then return nil, message end
  end
  if options.badblocks then
    local ok, message = file.probe(options.badblocks, { force = options.force })
    if not ok then return nil, message end
  end
  return self
end

-- Writes the mapfile; what went wrong is told when it is new.
local function write_map(self, d)
  local drive = d.drive or {}
  local text = mapfile.format(mapfile.blocks(d), {
    document = d,
    comments = {
      string.format("%s %s, %d bytes, at %s", drive.model or drive.name or "drive",
        drive.serial or "(no serial number)", drive.size_bytes or 0, drive.path or "?"),
    },
  })
  local ok, message = file.write(self.options.mapfile, text, { force = true })
  if not ok and message ~= self.told then io.stderr:write("surface: ", message, "\n") end
  self.told = message
  return ok
end

--- Saves the mapfile, if it is time.
-- @tparam table d  document
function Keep:save(d)
  local begun_ns = core.now()
  if not self.options.mapfile or begun_ns < self.next_ns then return end
  write_map(self, d)
  local took_ns = core.now() - begun_ns
  self.next_ns = core.now() + math.max(EVERY_NS, math.floor(took_ns / SHARE))
end

--- Saves all, at the end.
-- @tparam table d  document
-- @treturn boolean  false when something could not be saved, which has been told
function Keep:finish(d)
  local all = true
  if self.options.mapfile then all = write_map(self, d) end
  if self.options.badblocks then
    local ok, message = file.write(self.options.badblocks,
      mapfile.badblocks(d.unreadable, self.options.badblocks_size), { force = self.options.force })
    if not ok then io.stderr:write("surface: ", message, "\n") end
    all = ok and all
  end
  return all and true or false
end

return M
