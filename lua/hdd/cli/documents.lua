--- What was measured, by whatever file holds it: a document of hddlua, fio's JSON or bandwidth log, a
-- recording of a drive's words or a libatasmart blob.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.documents
local document = require "hdd.document"
local file = require "hdd.file"
local lfs = require "lfs"

local M = {}

local NOTES <const> = 5 -- complaints that are told of a file

local function shortened(notes, path)
  local list = {}
  for i = 1, math.min(#notes, NOTES) do list[i] = path .. ": " .. notes[i] end
  if #notes > NOTES then list[#list + 1] = string.format("%s: and %d more", path, #notes - NOTES) end
  return list
end

-- What only looks at a drive's own answers is no JSON: libatasmart's blobs, our recordings.
local function snapshot(path)
  local said, message = require("hdd.health").load(path)
  if not said then return nil, message end
  return { require("hdd.procedure.snapshot").document(said, {}) }, {}
end

--- The documents in a file.
-- @tparam string path
-- @treturn {table,...}   at least one
-- @treturn {string,...}  what to know of them, each with the path: what was wrong in it and left out, or
--   converted
-- @return or nil, message
-- @usage local list, notes = assert(documents.load("fio-4k.json"))
function M.load(path)
  if lfs.attributes(path, "mode") == "block device" then
    return nil, path .. ": is a drive: what was measured of it is wanted (hddlua smart --save, zoneprofile --json ...)"
  end
  local text, message = file.read(path)
  if not text then return nil, message end
  local fiojson, fiolog = require "hdd.fio.json", require "hdd.fio.log"
  local list, notes
  if fiojson.is(text) then
    list, notes = fiojson.read(text, { name = path })
  elseif text:find("^%s*{") then
    local d, complaints = document.decode(text)
    list, notes = d and { d }, complaints
    if not d then notes = string.format("cannot read %s: %s", path, complaints) end
  elseif fiolog.is(text) then
    local d, told = fiolog.read(text, { name = path })
    list, notes = d and { d }, told
  else
    list, notes = snapshot(path)
  end
  if not list then return nil, notes end
  return list, shortened(notes, path)
end

return M
