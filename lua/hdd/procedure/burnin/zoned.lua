--- Host-managed zoned drives: what of them can be read. Beyond a zone's write pointer there is nothing,
-- and a drive may refuse to read it.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.zoned
local core = require "hdd.core"
local json = require "hdd.json"
local sysfs = require "hdd.sysfs"

local M = {}

local PLACES <const> = 8192

--- Is it host-managed, and what of it can be read?
-- @tparam Drive drive
-- @treturn ?table  nil of any other drive; `ranges` of {`offset_bytes`, `length_bytes`}, `zones` (how
--   many), `readable_bytes`; or `problem`, why they are not known
-- @usage local found = zoned.look(drive)
function M.look(drive)
  if drive.type ~= "block" then return nil end
  local identity = sysfs.identity(drive.name)
  local queue = identity and identity.queue
  if not queue or queue.zoned ~= "host-managed" then return nil end
  local ranges, count = core.zones(drive.device)
  if not ranges then return { ranges = {}, zones = 0, readable_bytes = 0, problem = count } end
  local bytes = 0
  for _, range in ipairs(ranges) do bytes = bytes + range.length_bytes end
  return { ranges = ranges, zones = count, readable_bytes = bytes }
end

--- What the document has of it.
-- @tparam table found  of `look`
-- @treturn table
function M.document(found)
  return { model = "host-managed", zones = found.zones, readable_bytes = found.readable_bytes,
    ranges = json.list(table.move(found.ranges, 1, math.min(#found.ranges, 1000), 1, {})) }
end

--- Offsets for reads spread over what can be read, in the order of a pattern of the seek stress.
-- @tparam {table,...} ranges
-- @tparam integer block  bytes of a read
-- @tparam string kind    "random", "full stroke", "butterfly"
-- @tparam function random  of (from, to), whole numbers
-- @treturn {integer,...}  at least one, when any range has room for a block
function M.places(ranges, block, kind, random)
  local list, total = {}, 0
  for _, range in ipairs(ranges) do total = total + range.length_bytes // block end
  if total == 0 then return list end
  -- The n-th block of all that can be read.
  local function offset_of(n)
    for _, range in ipairs(ranges) do
      local blocks = range.length_bytes // block
      if n < blocks then return range.offset_bytes + n * block end
      n = n - blocks
    end
  end
  for i = 0, PLACES // 2 - 1 do
    local near, far
    if kind == "random" then
      near, far = random(0, total - 1), random(0, total - 1)
    elseif kind == "full stroke" then
      near = i * 7919 % math.max(1, total // 64)
      far = total - 1 - near
    else
      near = (total - 1) // 2 * i // (PLACES // 2)
      far = total - 1 - near
    end
    list[#list + 1], list[#list + 2] = offset_of(near), offset_of(far)
  end
  return list
end

return M
