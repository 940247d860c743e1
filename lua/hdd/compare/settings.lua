--- Can two runs be laid at one another? What differs in how they were made. Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.compare.settings
local document = require "hdd.document"
local json = require "hdd.json"
local printable = require "hdd.printable"
local units = require "hdd.units"

local M = {}

-- Settings that change what is measured, each with why.
local MUST <const> = {
  zoneprofile = {
    { "block_size", "block size", "the rate depends on it" },
    { "depth", "queue depth", "the rate depends on it" },
  },
  surface = {
    { "block_size", "block size", "times of blocks depend on it" },
    { "depth", "queue depth", "the rate depends on it" },
  },
  seekprofile = { { "block_size", "block size", "a read's time depends on it" } },
}

-- Ranges count as the same when both ends are within this share of the drive.
local SAME_RANGE <const> = 0.02

-- What each measurement has of its own: not a setting.
local OWN <const> = { schema = true, status = true, ["parameters.seed"] = true, ["drive.size_bytes"] = true,
  ["parameters.to"] = true, ["parameters.rpm"] = true }

-- Documents may be anybody's: what is told of them is bounded.
local MOST_DIFFERENCES <const>, MOST_TEXT <const> = 64, 80

local function as_text(value)
  if value == nil then return nil end
  local text = type(value) == "number" and units.exact(value) or tostring(value)
  if type(value) == "table" then text = json.encode(value, nil, true):gsub("%s+$", "") end
  return printable.clip(printable.utf8(text), MOST_TEXT)
end

local function status_problem(documents, name)
  for _, d in ipairs(documents) do
    if d.status ~= "complete" then
      return string.format("%s: the run is not complete (%s): what is missing could be its slow part", name,
        tostring(d.status or "status unknown"))
    end
  end
end

local function share(d, key)
  local size, at = d.drive and d.drive.size_bytes or 0, (d.parameters or {})[key]
  return at and size > 0 and at / size or nil
end

local function range_problem(a, b)
  for _, key in ipairs { "from", "to" } do
    local x, y = share(a, key), share(b, key)
    if x and y and math.abs(x - y) > SAME_RANGE then
      return string.format("they read different parts of the drives: %s is at %s %% and at %s %%", key,
        units.fixed(x * 100, 1), units.fixed(y * 100, 1))
    end
  end
end

-- fio's logs do not tell how they were made; what their reader fills in is no setting.
local function is_fio_log(d)
  return d.schema == "hddlua.zoneprofile/1" and d.tool ~= nil and d.tool.name == "fio"
end

local function setting_problem(kind, a, b)
  local p, q = a.parameters or {}, b.parameters or {}
  local told = not (is_fio_log(a) or is_fio_log(b))
  for _, must in ipairs(MUST[kind] or {}) do
    local x, y = p[must[1]], q[must[1]]
    if told and x and y and x ~= y then
      return string.format("different %s (%s and %s): %s", must[2], as_text(x), as_text(y), must[3])
    end
  end
  local x, y = a.drive and a.drive.direct, b.drive and b.drive.direct
  if x ~= nil and y ~= nil and x ~= y then
    return "one was read through the page cache (--buffered), the other was not"
  end
  return range_problem(a, b)
end

--- What keeps two sides' runs of a kind from being compared.
-- @tparam string kind   "zoneprofile" …
-- @tparam table a       side: `name`, `documents` (of the kind)
-- @tparam table b
-- @treturn {string,...} sentences; empty when nothing does
function M.problems(kind, a, b)
  local list = {}
  for _, side in ipairs { a, b } do list[#list + 1] = status_problem(side.documents, side.name) end
  local first = a.documents[1]
  for _, documents in ipairs { a.documents, b.documents } do
    for _, d in ipairs(documents) do
      local problem = d ~= first and setting_problem(kind, first, d)
      if problem then
        list[#list + 1] = problem
        return list
      end
    end
  end
  return list
end

--- What has to be taken on trust.
-- @tparam {table,...} a  documents
-- @tparam {table,...} b
-- @treturn ?string  sentence
function M.trust(a, b)
  for _, documents in ipairs { a, b } do
    for _, d in ipairs(documents) do
      if is_fio_log(d) then
        return "fio's log does not tell block size and queue depth: they are taken to be the other's"
      end
    end
  end
end

--- The settings in which the first runs differ, as text.
-- @tparam table a  document
-- @tparam table b
-- @treturn {table,...}  `key`, `a`, `b` (nil: unknown)
function M.differences(a, b)
  local list = {}
  for _, d in ipairs(document.differences(a, b)) do
    if not OWN[d.key] and #list < MOST_DIFFERENCES then
      list[#list + 1] = { key = d.key, a = as_text(d.a), b = as_text(d.b) }
    end
  end
  return list
end

return M
