--- Blobs of real drives in the folder that HDDLUA_SMART_BLOBS names, as libatasmart's blob-examples:
-- not kept here, but interpretation.json knows what they mean.
-- SPDX-License-Identifier: GPL-3.0-or-later
local expected = require "spec.support.expected"
local fixtures = require "spec.support.drive_fixtures"
local json = require "dkjson"
local scratch = require "spec.support.scratch"
local sgreplay = require "spec.support.sgreplay"
local shell = require "spec.support.shell"

local M = {}

--- The blobs that are there.
-- @treturn {table,...}  `name` (as in interpretation.json), `path`
function M.all()
  local folder, found = os.getenv "HDDLUA_SMART_BLOBS", {}
  if not folder then return found end
  for name in pairs(fixtures.json "interpretation.json") do
    local path = folder .. "/" .. name
    if shell.read(path) then found[#found + 1] = {name = name, path = path} end
  end
  table.sort(found, function(a, b) return a.name < b.name end)
  return found
end

local function counted(name, path)
  local count = expected.none()
  expected.interpret(name, assert(require("hdd.health").read(path)), count)
  return count
end

--- What our decoders make of a blob, against interpretation.json.
-- @tparam table blob  of `all`
-- @treturn table  as of `spec.support.expected`
function M.count(blob) return counted(blob.name, blob.path) end

local CHUNK = [[
  package.path = package.path .. ";./?.lua"
  local expected, count = require "spec.support.expected"
  local path, kind, name = ...
  count = expected.none()
  expected.interpret(name, assert(require("hdd.health").read(path, {as = kind})), count)
  print((require("dkjson").encode(count)))
]]

-- The chunks of a blob, by tag.
local function chunks(bytes)
  local at, of = 1, {}
  while at + 7 <= #bytes do
    local tag, length = bytes:sub(at, at + 3), string.unpack(">I4", bytes, at + 4)
    of[tag] = bytes:sub(at + 8, at + 7 + length)
    at = at + 8 + length
  end
  return of
end

--- The same through SG_IO: sgreplay answers with the blob's pages.
-- @tparam table blob  of `all`
-- @treturn table
function M.count_through_kernel(blob)
  local folder, of = scratch.path("blob"), chunks(assert(shell.read(blob.path)))
  shell.must("mkdir " .. folder)
  local good = of.SMST and string.unpack(">I4", of.SMST) == 1
  for file, bytes in pairs {
    ["identify.bin"] = of.IDFY, ["smart_data.bin"] = of.SMDT, ["smart_thresholds.bin"] = of.SMTH,
    ["regs.txt"] = "smart_status=" .. (good and "good" or "bad") .. "\n",
  } do
    local out <close> = assert(io.open(folder .. "/" .. file, "wb"))
    assert(out:write(bytes))
  end
  local r = sgreplay.lua(folder, CHUNK, {arguments = {blob.name}, kind = "ata"})
  shell.must("rm -r " .. folder)
  assert(r.status == 0, r.stderr)
  return assert(json.decode(r.stdout))
end

return M
