-- SPDX-License-Identifier: GPL-3.0-or-later
--- What a key of a document is called on a page, and how its value is written: by the unit that the
-- key ends with.
-- @module hdd.view.html.values
local markup = require "hdd.view.html.markup"
local printable = require "hdd.printable"
local units = require "hdd.units"
local words = require "hdd.view.health.words"

local M = {}

-- Parameters carry no unit in their names.
local BLOCKS <const> = { block_size = true, block_sizes = true, zone_size = true, zone_skip = true }
local PLACES <const> = { from = true, to = true }
local TIMES <const> = {
  ramp = true, runtime = true, runtime_min = true, poll = true, limit = true, stall = true, grace = true,
  slow = true,
}

local NAMES <const> = {
  iops_ci95 = "95 % interval, ±", full_read_s = "time to read all of it", elapsed_s = "took",
  best_iops = "most IOPS", best_iops_depth = "at depth", best_iops_block_size_bytes = "in blocks of",
  read_bytes = "read in all", span_bytes = "span", span_percent = "share of the drive",
  covered_bytes = "covered", covered_percent = "covered, share of it", rpm = "turns a minute", time_s = "at",
  latency_p999_us = "latency p99.9", flagged_zones = "flagged zones", ios = "reads",
  bandwidth_bytes_per_s = "rate", depth_achieved = "depth achieved", seek_average_us = "average seek",
  access_average_us = "average access", power_on_hours = "powered on", temperature_c = "temperature",
}

local UPPER <const> = {
  iops = "IOPS", smart = "SMART", lba = "LBA", rpm = "rpm", wwn = "WWN", io = "I/O", cpu = "processor",
}

--- A key as words, without its unit.
-- @tparam string key
-- @treturn string  "latency p99" for "latency_p99_us"
function M.name(key)
  key = tostring(key)
  if NAMES[key] then return NAMES[key] end
  local text = key:gsub("_bytes_per_s$", ""):gsub("_bytes$", ""):gsub("_percent$", "")
    :gsub("_[unm]?[sc]$", ""):gsub("_", " ")
  return (text:gsub("%a+", UPPER))
end

local function is_number(value)
  return type(value) == "number" and value == value and math.abs(value) ~= math.huge
end

local function latency(ns)
  return (units.latency(ns):gsub("us$", "µs"))
end

-- By the end of the key; the first that fits.
local FORMS <const> = {
  { "_bytes_per_s$", units.rate },
  { "offset_bytes$", units.decimal_bytes },
  { "block_size_bytes$", units.block },
  { "sector_size_bytes$", units.block },
  { "_bytes$", units.bytes },
  { "_us$", function(v) return latency(v * 1000) end },
  { "_ns$", latency },
  { "_ms$", function(v) return latency(v * 1e6) end },
  { "_s$", units.duration_text },
  { "_c$", words.celsius },
  { "_percent$", function(v) return units.fixed(v, 1) .. " %" end },
  { "_share$", function(v) return units.fixed(v * 100, 2) .. " %" end },
  { "_hours$", words.hours },
  { "rpm$", function(v) return units.fixed(v, 0) end },
  { "ratio$", function(v) return units.fixed(v, 2) end },
  { "depth$", function(v) return units.fixed(v, 0) end },
  { "^gain$", function(v) return units.fixed(v, 2) .. " times depth 1" end },
  { "iops", function(v) return units.fixed(v, v < 1000 and 1 or 0) end },
}

-- Significant digits that a person reads.
local function plain(value)
  if math.type(value) == "integer" then return words.grouped(value) end
  if value == math.floor(value) and math.abs(value) < 1e15 then return units.fixed(value, 0) end
  local size = math.abs(value)
  return units.fixed(value, size >= 1000 and 0 or size >= 10 and 1 or size >= 1 and 2 or 3)
end

local function number(key, value)
  if not is_number(value) then return "n/a" end
  if BLOCKS[key] then return units.block(value) end
  if PLACES[key] then return units.decimal_bytes(value) end
  if TIMES[key] then return units.duration_text(value) end
  for _, form in ipairs(FORMS) do
    if key:find(form[1]) then return form[2](value) end
  end
  if key:find("lba") or key == "seed" or key == "code" then return units.exact(value) end
  return plain(value)
end

--- A time of ours as a person writes it.
-- @tparam string text  "2026-11-30T19:40:00Z"
-- @treturn string  "2026-11-30 19:40:00 UTC"; what is no time as it came
function M.time(text)
  local day, clock = text:match("^(%d%d%d%d%-%d%d%-%d%d)T(%d%d:%d%d:%d%d)%.?%d*Z$")
  return day and day .. " " .. clock .. " UTC" or text
end

--- Rates and sizes with what stands in brackets, the same in binary units, made less of.
-- @tparam string text  as `text` gives it
-- @treturn {string|Markup,...}
-- @usage values.graded "154.8 MB/s (147.6 MiB/s)"
function M.graded(text)
  local first, second = text:match("^([%d.]+ %a+/?s?) (%([%d.]+ %a+/?s?%))$")
  if not first then return { text } end
  return { markup.el("span", { class = "whole" }, first), " ",
    markup.el("span", { class = "whole second" }, second) }
end

--- A value with its unit.
-- @tparam string key   says the unit
-- @param value         nil: "n/a"; lists of plain values one behind the other
-- @treturn string
-- @usage values.text("latency_p99_us", 8060) --> "8.06 ms"
function M.text(key, value)
  if type(value) == "number" then return number(key, value) end
  if value == true then return "yes" end
  if value == false then return "no" end
  if type(value) == "string" then return printable.line(M.time(value)) end
  if type(value) ~= "table" then return "n/a" end
  local parts = {}
  for i, member in ipairs(value) do
    if type(member) == "table" then return words.grouped(#value) .. (#value == 1 and " row" or " rows") end
    if i > 40 then
      parts[i] = "…"
      break
    end
    parts[i] = M.text(key, member)
  end
  return #parts > 0 and table.concat(parts, ", ") or "none"
end

return M
