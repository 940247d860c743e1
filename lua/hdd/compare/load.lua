--- The sides of a comparison from files: documents, health snapshots and recordings, fio's JSON and
-- bandwidth logs, folders of them.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.compare.load
local document = require "hdd.document"
local file = require "hdd.file"
local fiojson = require "hdd.fio.json"
local fiolog = require "hdd.fio.log"
local health = require "hdd.health"
local lfs = require "lfs"

local M = {}

local EBADMSG <const>, ENOENT <const> = 74, 2
local COMPLAINTS <const> = 3 -- of a file that are told in full

local SNAPSHOT <const> = "hddlua.smart/1"

local function append(list, more)
  table.move(more, 1, #more, #list + 1, list)
end

-- A snapshot's document, or where it is to be read from: a recording, a blob.
local function add_health(side, path, d)
  local said, message, code
  if d then said, message, code = health.of(d, path) else said, message, code = health.load(path) end
  if not said then return nil, message, code end
  side.health, side.snapshot = said, d
  return true
end

-- One of our own documents.
local function add_document(side, path, text, notes)
  local d, complaints = document.decode(text)
  if not d then return nil, string.format("cannot read %s: %s", path, complaints), EBADMSG end
  for i, complaint in ipairs(complaints) do
    if i > COMPLAINTS then
      notes[#notes + 1] = string.format("%s: and %d more", path, #complaints - COMPLAINTS)
      break
    end
    notes[#notes + 1] = path .. ": " .. complaint
  end
  if d.schema == SNAPSHOT then return add_health(side, path, d) end
  table.insert(side.documents, d)
  return true
end

local function add_fio(side, path, text, notes)
  local documents, more, code = fiojson.read(text, { name = path })
  if not documents then return nil, more, code end
  append(notes, more)
  local sweeps = {}
  for _, d in ipairs(documents) do
    if d.schema == "hddlua.qdsweep/1" then sweeps[#sweeps + 1] = d end
  end
  if #sweeps == 0 then
    return nil, path .. ": no random reads in it: nothing here that a sweep could be held against", EBADMSG
  end
  append(side.fio, sweeps)
  return true
end

local function add_log(side, path, text, notes)
  local d, more, code = fiolog.read(text, { name = path })
  if not d then return nil, more, code end
  append(notes, more)
  table.insert(side.documents, d)
  return true
end

local function add_file(side, path, notes)
  if path:find("%.blob$") then return add_health(side, path) end
  local text, message, code = file.read(path)
  if not text then return nil, message, code end
  if text:find("^%s*{") then
    if text:find('"fio version"', 1, true) and fiojson.is(text) then return add_fio(side, path, text, notes) end
    return add_document(side, path, text, notes)
  elseif fiolog.is(text) then
    return add_log(side, path, text, notes)
  end
  if add_health(side, path) then return true end
  return nil, path .. ": no document, snapshot, recording, fio JSON or fio bandwidth log", EBADMSG
end

local function files_of(path)
  if lfs.attributes(path, "mode") ~= "directory" then return { path } end
  local list = {}
  for name in lfs.dir(path) do
    if name:find("%.json$") then list[#list + 1] = path:gsub("/*$", "/") .. name end
  end
  table.sort(list)
  return list
end

-- fio's files hold one depth each, as bench-fio makes them: the rows together are a sweep.
local function join_fio(side, notes)
  if #side.fio == 0 then return end
  local joined, why = fiojson.join(side.fio)
  if joined then
    table.insert(side.documents, joined)
  else
    notes[#notes + 1] = why
    append(side.documents, side.fio)
  end
end

--- Loads a side.
-- @tparam string what  files separated by commas, each a document, snapshot, recording, fio's JSON or
--   bandwidth log; or a folder: all *.json in it
-- @tparam[opt] string name  what the side is called
-- @treturn table  `name`, `documents`, `health` for `hdd.compare.run`; `snapshot`: the document that
--   `health` is from
-- @treturn {string,...} notes
-- @return or nil, message, code
-- @usage local side, notes = assert(load.side("old-run1.json,old-run2.json", "old"))
function M.side(what, name)
  local side, notes, paths = { name = name or what, documents = {}, fio = {} }, {}, {}
  if lfs.attributes(what) then
    paths = files_of(what)
  else
    for path in what:gmatch("[^,]+") do append(paths, files_of(path)) end
  end
  if #paths == 0 then return nil, what .. ": nothing in it that could be compared", ENOENT end
  for _, path in ipairs(paths) do
    local ok, message, code = add_file(side, path, notes)
    if not ok then return nil, message, code end
  end
  join_fio(side, notes)
  side.fio = nil
  return side, notes
end

return M
