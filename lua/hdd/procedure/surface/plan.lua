--- What a surface scan is to do: its parameters, and whether it can go on from an earlier one.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.plan
local parameters = require "hdd.procedure.parameters"

local M = {}

local KNOWN <const> = {
  "from", "to", "domain", "block_size", "depth", "revolutions", "slow", "rereads", "narrow_reads",
  "retries", "max_errors", "rpm", "resume",
}

-- The parts that are to be read, on logical blocks' boundaries and inside the range.
local function read_domain(reader)
  local given, block = reader.given.domain, reader.drive.logical_block_size
  if given == nil then return end
  if type(given) ~= "table" then
    reader:refuse("domain", given, "must be a list of offset_bytes and length_bytes")
    return
  end
  local from, to, list = reader.values.from, reader.values.to, {}
  for i, part in ipairs(given) do
    local offset, length = part.offset_bytes, part.length_bytes
    if math.type(offset) ~= "integer" or math.type(length) ~= "integer" or offset < 0
      or length < 1 then
      reader:refuse(string.format("domain[%d]", i), nil,
        "must have offset_bytes and length_bytes, whole numbers")
      return
    end
    local first = math.max(from, offset // block * block)
    local last = math.min(to, offset < to and (offset + length + block - 1) // block * block or to)
    if first < last then list[#list + 1] = { offset_bytes = first, length_bytes = last - first } end
  end
  if #list == 0 then reader:refuse("domain", nil, "no part of it lies in the range") end
  reader.values.domain = list
end

--- The parameters of a scan, checked, defaults filled in.
-- @tparam Drive drive
-- @tparam[opt] table given  see hdd.procedure.surface
-- @treturn table
-- @return or nil, message, code
-- @usage local p = assert(plan.read(drive, { from = "50%" }))
function M.read(drive, given)
  local reader = parameters.reader(given, drive, KNOWN)
  reader:range()
  read_domain(reader)
  local block_size = reader:bytes("block_size", 1 << 20, 1)
  if block_size > 64 << 20 then
    reader:refuse("block_size", block_size, "must be at most 67108864 bytes")
  end
  reader:integer("depth", 4, 1, 4096)
  reader:integer("revolutions", 2, 2, 1000)
  reader:number("slow", 0.1, 0, 3600, "seconds", true)
  reader:integer("rereads", 20000, 0, math.maxinteger)
  reader:integer("narrow_reads", 64, 1, math.maxinteger)
  reader:integer("retries", 3, 0, 1000)
  reader:integer("max_errors", 10000, 1, math.maxinteger)
  reader:integer("rpm", nil, 0, 100000)
  return reader:finish()
end

-- What must be as it was for a scan to be resumed.
local SAME <const> = { "from", "to", "block_size", "revolutions" }

--- Why a scan can't go on from an earlier document.
-- @tparam Drive drive
-- @tparam table p        parameters of the scan
-- @tparam table old      the document
-- @tparam string schema  of such documents
-- @treturn ?string  nil when it can
-- @usage local problem = plan.problem(drive, p, old, "hddlua.surface/1")
function M.problem(drive, p, old, schema)
  if old.schema ~= schema then return "it is no surface scan" end
  local was, is = old.drive or {}, drive:identity()
  for _, key in ipairs { "serial", "model", "size_bytes" } do
    if was[key] and is[key] and was[key] ~= is[key] then
      return string.format("it is of another drive: its %s is %s, and was %s", key,
        tostring(is[key]), tostring(was[key]))
    end
  end
  for _, key in ipairs(SAME) do
    local before = old.parameters and old.parameters[key]
    if before ~= p[key] then
      return string.format("it was made with another %s: %s, not %s", key, tostring(before),
        tostring(p[key]))
    end
  end
end

return M
