-- SPDX-License-Identifier: GPL-3.0-or-later
--- A drive's card: who it is, what speaks for and against it, its numbers; and the numbers of several
-- drives beside one another.
-- @module hdd.view.html.card
local drives = require "hdd.view.html.drives"
local markup = require "hdd.view.html.markup"
local tables = require "hdd.view.html.tables"
local units = require "hdd.units"
local values = require "hdd.view.html.values"
local verdict = require "hdd.view.html.verdict"

local M = {}

local el = markup.el

-- The numbers that stand for a document: kind, key of its summary, name; smaller is better where it says so.
local NUMBERS <const> = {
  { "zoneprofile", "outer_bytes_per_s", "Rate, outermost zone" },
  { "zoneprofile", "inner_bytes_per_s", "Rate, innermost zone" },
  { "zoneprofile", "mean_bytes_per_s", "Rate, mean" },
  { "zoneprofile", "full_read_s", "Time to read all of it" },
  { "qdsweep", "best_iops", "Random reads a second, most" },
  { "qdsweep", "gain", "Times those at depth 1" },
  { "seekprofile", "rpm", "Turns a minute, measured" },
  { "seekprofile", "seek_average_us", "Average seek" },
  { "seekprofile", "access_average_us", "Average access" },
  { "surface", "bandwidth_bytes_per_s", "Rate of the surface scan" },
  { "smart", "temperature_c", "Temperature" },
  { "smart", "power_on_hours", "Powered on" },
  { "smart", "power_cycles", "Power cycles" },
  { "burnin", "temperature_max_c", "Hottest in the burn-in" },
}

local function newest(entry, kind)
  local found
  for _, d in ipairs(entry.documents) do
    if drives.kind(d) == kind and (not found or tostring(d.started_at) >= tostring(found.started_at)) then
      found = d
    end
  end
  return found
end

local function number_of(entry, row)
  local d = newest(entry, row[1])
  local value = d and type(d.summary) == "table" and d.summary[row[2]]
  return type(value) == "number" and value or nil, d
end

local function text_of(row, value, d)
  if row[2] == "gain" then return units.fixed(value, 2) end
  local depth = row[2] == "best_iops" and d.summary.best_iops_depth
  return values.text(row[2], value)
    .. (math.type(depth) == "integer" and string.format(" at depth %d", depth) or "")
end

local function turning(drive)
  local rpm = drive.rotation_rpm
  if type(rpm) == "number" and rpm > 0 then return units.fixed(rpm, 0) .. " rpm" end
  if rpm == 0 or drive.rotational == false then return "no, it does not rotate" end
  return drive.rotational and "yes" or nil
end

local function identity(drive)
  local facts = {}
  local function add(name, value)
    if value ~= nil and value ~= "" then facts[#facts + 1] = { name, value } end
  end
  local function told(key) return drive[key] ~= nil and values.text(key, drive[key]) or nil end
  add("Serial number", told "serial")
  add("Firmware", told "firmware")
  add("Capacity", drive.size_bytes and units.bytes(drive.size_bytes))
  add("Rotates", turning(drive))
  local logical, physical = drive.logical_block_size_bytes, drive.physical_block_size_bytes
  add("Sectors", logical and units.block(logical)
    .. (physical and physical ~= logical and ", " .. units.block(physical) .. " physical" or ""))
  local link = type(drive.link) == "table" and drive.link.speed
  add("Connected by", told "transport" and told "transport" .. (link and ", " .. values.text("", link) or ""))
  add("WWN", told "wwn")
  add("Read as", told "path")
  return facts
end

--- A card.
-- @tparam table entry     of `hdd.view.html.drives.of`
-- @tparam ?integer colour  of the drive in the charts; nil: not told
-- @tparam boolean alone     false: its numbers stand beside those of others
-- @treturn Markup
function M.draw(entry, colour, alone)
  local facts = {}
  for _, row in ipairs(NUMBERS) do
    local value, d = number_of(entry, row)
    if value and alone then facts[#facts + 1] = { row[3], text_of(row, value, d) } end
  end
  return el("article", { class = "card" },
    el("h3", nil, colour and { el("span", { class = "swatch c" .. colour, ["aria-hidden"] = "true" }), " " }
      or nil, entry.name),
    tables.facts(identity(entry.drive)), verdict.draw(verdict.of(entry.documents)) or nil, #facts > 0
      and el("div", { class = "numbers" }, tables.facts(facts)) or nil)
end

-- Of a second drive against the first, in per cent.
local function change(a, b)
  if not a or not b or a == 0 then return "" end
  return string.format("%+.1f %%", (b / a - 1) * 100):gsub("^%-", "−")
end

local PLAIN <const> = { temperature_c = true, power_on_hours = true,
  power_cycles = true, temperature_max_c = true }

--- The numbers of several drives, a column for each; of two the difference, too.
-- @tparam {table,...} list  of `hdd.view.html.drives.of`
-- @tparam function difference  difference(kind, key): what was found of it as text, or nil
-- @treturn ?Markup  nil where no number is known
function M.beside(list, difference)
  local heads, rows = { { title = el("span", { class = "unseen" }, "number"), left = true } }, {}
  for i, entry in ipairs(list) do heads[i + 1] = { title = el("span", { class = "whole" }, entry.name) } end
  if #list == 2 then heads[4] = { title = "difference", class = "change" } end
  for _, number in ipairs(NUMBERS) do
    local row, known, found = { number[3] }, 0, {}
    for i, entry in ipairs(list) do
      local value, d = number_of(entry, number)
      found[i] = value
      known = known + (value and 1 or 0)
      row[i + 1] = value and values.graded(text_of(number, value, d)) or "–"
    end
    if #list == 2 then
      row[4] = difference(number[1], number[2]) or not PLAIN[number[2]] and change(found[1], found[2]) or ""
    end
    if known > 0 then rows[#rows + 1] = row end
  end
  return #rows > 0 and tables.grid("Numbers of the drives beside one another", heads, rows) or nil
end

return M
