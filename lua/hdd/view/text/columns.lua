-- SPDX-License-Identifier: GPL-3.0-or-later
-- What a key of a row looks like as a column: heading, unit, and how its values are written.

local units = require "hdd.units"

local M = {}

-- Headings of keys whose own name would be too long, or lacks what a person says.
local TITLES = {
  iops = "IOPS", iops_ci95 = "95% +-", errors = "errors", depth_achieved = "really",
  bandwidth_bytes_per_s = "rate", expected_bytes_per_s = "expected",
  bandwidth_min_bytes_per_s = "slowest", bandwidth_max_bytes_per_s = "fastest",
  block_size_bytes = "block", offset_bytes = "offset", length_bytes = "length",
  latency_p999_us = "p99.9", stopped_by = "stopped by", time_s = "at", elapsed_s = "took",
}
local UTF8_TITLES = { iops_ci95 = "95% ±" }

-- The values of a column that are known.
local function known(rows, key)
  local list = {}
  for _, row in ipairs(rows) do
    local value = row[key]
    if type(value) == "number" and value == value and math.abs(value) ~= math.huge then
      list[#list + 1] = value
    end
  end
  return list
end

local function smallest_positive(values)
  local least
  for _, value in ipairs(values) do
    if value > 0 and (not least or value < least) then least = value end
  end
  return least
end

-- Digits behind the point that leave three significant ones in the smallest value.
local function digits_for(values, factor)
  local least = (smallest_positive(values) or 1) / factor
  return least < 1 and 3 or least < 10 and 2 or least < 1000 and 1 or 0
end

-- A writer of numbers, in units of `factor`.
local function number(values, factor)
  local digits = digits_for(values, factor)
  return function(value)
    return type(value) == "number" and units.fixed(value / factor, digits) or "n/a"
  end
end

local function whole(value)
  return type(value) == "number" and units.fixed(value, 0) or "n/a"
end

-- All latencies of a table are in one unit, so that its columns compare.
local function latency_unit(rows)
  local least
  for _, row in ipairs(rows) do
    for key, value in pairs(row) do
      if type(key) == "string" and key:match("^latency_.*_us$") and type(value) == "number"
        and value > 0 and (not least or value < least) then
        least = value
      end
    end
  end
  if not least or least < 100 then return "us", 1 end
  if least < 1e6 then return "ms", 1000 end
  return "s", 1e6
end

-- By the end of the key: unit, and a writer for the values of the rows.
local KINDS = {
  { "_bytes_per_s$", function(rows, key)
    return "MB/s", number(known(rows, key), units.MB)
  end },
  { "offset_bytes$", function(rows, key)
    local values, most = known(rows, key), 0
    for _, value in ipairs(values) do most = math.max(most, value) end
    local name = most < 10 * units.GB and "MB" or "GB"
    return name, function(value) return value and units.fixed(value / units[name], 1) or "n/a" end
  end },
  { "_bytes$", function()
    return "", function(value) return units.block(value) end
  end },
  { "^latency_.*_us$", function(rows, key)
    local name, factor = latency_unit(rows)
    return name, number(known(rows, key), factor)
  end },
  { "_us$", function(rows, key) return "us", number(known(rows, key), 1) end },
  { "_ns$", function(rows, key) return "ms", number(known(rows, key), 1e6) end },
  { "_s$", function(rows, key) return "s", number(known(rows, key), 1) end },
}

local function words_of(key)
  return (key:gsub("^latency_", ""):gsub("_bytes_per_s$", ""):gsub("_bytes$", "")
    :gsub("_[unm]?s$", ""):gsub("_", " "))
end

-- Rows of the special columns that are no key of a document.
local SPECIAL = {
  -- The rate in binary units, beside that in decimal ones.
  ["bandwidth_bytes_per_s:MiB"] = function(rows)
    local values = known(rows, "bandwidth_bytes_per_s")
    return { key = "bandwidth_bytes_per_s", title = "rate", unit = "MiB/s",
      show = number(values, units.MiB) }
  end,
  -- Why a row is flagged, in one word or sentence; nothing for the others.
  flag = function()
    return { key = "reason", title = "", unit = "", left = true,
      show = function(value, row)
        return value or row.flagged and "flagged" or ""
      end }
  end,
}

-- A plain value: numbers to the right, whatever else to the left.
local function plain(rows, key)
  local values = known(rows, key)
  if #values == 0 then
    return "", function(value) return value == nil and "n/a" or tostring(value) end, true
  end
  for _, value in ipairs(values) do
    if math.type(value) == "float" then return "", number(values, 1) end
  end
  return "", whole
end

--- The column of a key.
-- @tparam string key      a key of the rows; "bandwidth_bytes_per_s:MiB" and "flag" are special
-- @tparam {table,...} rows  all of them: the unit is chosen to suit
-- @tparam boolean utf8
-- @treturn table  key, title, unit, show(value, row) -> text, left (align to the left)
function M.of(key, rows, utf8)
  if SPECIAL[key] then return SPECIAL[key](rows) end
  local title = utf8 and UTF8_TITLES[key] or TITLES[key] or words_of(key)
  for _, kind in ipairs(KINDS) do
    if key:find(kind[1]) then
      local unit, show = kind[2](rows, key)
      return { key = key, title = title, unit = unit, show = show }
    end
  end
  local unit, show, left = plain(rows, key)
  return { key = key, title = title, unit = unit, show = show, left = left }
end

return M
