--- What a drive says of itself, as a document: to be kept, and compared with later ones.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.snapshot
local document = require "hdd.document"
local health = require "hdd.health"
local json = require "hdd.json"
local sysfs = require "hdd.sysfs"

local M = {}

-- Facts about the reading, which have places of their own in the document.
local ELSEWHERE = {source = true, verdict = true, failures = true}

--- The `drive` of a document: the kernel's word on it, and its own, which counts more.
-- @tparam table said  `identity` and `source`, as `hdd.health.read` gives them
-- @treturn table
-- @usage local d = document.new("hddlua.selftest/1", snapshot.drive(said), parameters)
function M.drive(said)
  local id, source = said.identity or {}, said.source or {}
  local kernel = source.kind == "drive" and sysfs.identity(source.part_of or source.name)
  local drive = kernel and sysfs.document(kernel) or {name = source.name, kind = "file"}
  drive.path = source.path
  for _, key in ipairs {"model", "serial", "firmware", "wwn", "rotation_rpm", "size_bytes"} do
    drive[key] = id[key] or drive[key]
  end
  drive.logical_block_size_bytes = id.logical_sector_size_bytes or drive.logical_block_size_bytes
  drive.physical_block_size_bytes = id.physical_sector_size_bytes or drive.physical_block_size_bytes
  return drive
end

-- Documents have text keys and numbered ones alone, and no empty table without a kind.
local function plain(value)
  if type(value) ~= "table" then return value end
  local new = {}
  for key, member in pairs(value) do
    if type(key) == "string" or math.type(key) == "integer" then new[key] = plain(member) end
  end
  if next(new) == nil then
    local mark = getmetatable(value)
    return mark and mark.__jsontype == "array" and json.list(new) or json.object(new)
  end
  return new
end

--- The document of what was read.
-- @tparam table said  what `hdd.health.read` gave
-- @tparam[opt] table parameters  `all`, `wake`, `as`
-- @treturn table  schema hddlua.smart/1
-- @usage local d = snapshot.document(assert(drive:smart()))
function M.document(said, parameters)
  local d = document.new("hddlua.smart/1", M.drive(said), parameters or {})
  local v = said.verdict
  d.source, d.verdict = plain(said.source), plain(v)
  d.health = {}
  for key, value in pairs(said) do
    if not ELSEWHERE[key] then d.health[key] = plain(value) end
  end
  for i, f in ipairs(said.failures or {}) do
    d.missing[i] = {what = f.what, reason = f.reason, message = f.message, code = f.code}
  end
  d.summary = {
    status = v.status, temperature_c = said.temperature and said.temperature.temperature_c,
    power_on_hours = said.power_on and said.power_on.power_on_hours,
    power_cycles = said.power_cycles and math.tointeger(said.power_cycles.power_cycles),
    incomplete = said.incomplete,
  }
  return document.finish(d, said.incomplete and "interrupted" or "complete")
end

--- Read a drive and make the document.
-- @tparam string|Drive drive  as of `hdd.health.read`
-- @tparam[opt] table parameters  `all`, `wake`, `as`
-- @treturn[1] table  the document
-- @return[2] nil, message, code
-- @usage assert(document.save(assert(snapshot.run("/dev/sdb")), "sdb.json"))
function M.run(drive, parameters)
  local said, message, code = health.read(drive, parameters)
  if not said then return nil, message, code end
  return M.document(said, parameters)
end

return M
