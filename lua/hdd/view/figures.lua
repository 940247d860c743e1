--- The figures of documents: one or several, of any mix of kinds. Documents of a kind are laid over
-- one another.
--
-- Each kind has a room of its own in hdd.view.figures. A room gets runs, `{document, index, name,
-- serial, colour, dash}`, and returns figures and sentences about what it left out.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figures
-- @usage local list = figures.of { assert(document.load("a.json")), assert(document.load("b.json")) }
-- for _, f in ipairs(list) do io.write(figure.text(f)) end
local printable = require "hdd.printable"
local whose = require "hdd.view.whose"

local M = {}

-- Figures of each kind of document, the main one first.
local NAMES <const> = {
  zoneprofile = { "zoneprofile", "zone-latency" },
  qdsweep = { "iops", "latency", "latency-iops", "percentiles" },
  surface = { "surface-latency", "surface-rate" },
  seekprofile = { "seek" },
  smart = { "temperature-history" },
}
local ORDER <const> = { "zoneprofile", "qdsweep", "seekprofile", "surface", "smart" }

local function kind_of(document)
  local schema = type(document) == "table" and document.schema
  return type(schema) == "string" and schema:match("^hddlua%.([%w_]+)/") or nil
end

--- The names of the figures of a kind of document.
-- @tparam string schema  "hddlua.zoneprofile/1", or "zoneprofile"
-- @treturn {string,...}  the main one first; empty for what has none
-- @usage figures.names "hddlua.qdsweep/1" --> { "iops", "latency", "latency-iops", "percentiles" }
function M.names(schema)
  local names = NAMES[schema:match("^hddlua%.([%w_]+)/") or schema] or {}
  return table.move(names, 1, #names, 1, {})
end

local function text_of(value)
  return type(value) == "string" and value ~= "" and value or nil
end

-- Names that occur more than once get what tells them apart: serial, time, or a number.
local function make_unique(runs)
  local function repeated()
    local counts = {}
    for _, run in ipairs(runs) do counts[run.name] = (counts[run.name] or 0) + 1 end
    return counts
  end
  for _, key in ipairs { "serial", "started" } do
    local counts = repeated()
    for _, run in ipairs(runs) do
      if counts[run.name] > 1 and run[key] then run.name = run.name .. " " .. run[key] end
    end
  end
  local counts, seen = repeated(), {}
  for _, run in ipairs(runs) do
    local name = run.name
    if counts[name] > 1 then
      seen[name] = (seen[name] or 0) + 1
      run.name = string.format("%s #%d", name, seen[name])
    end
  end
end

-- Runs of one drive have its colour; the dash, which is its marker, too, tells them apart.
local function give_dashes(runs)
  local taken = {}
  for _, run in ipairs(runs) do
    run.dash = run.colour
    while taken[run.dash] do run.dash = run.dash + 1 end
    taken[run.dash] = true
  end
end

--- All figures of documents.
-- @tparam {table,...} documents  as `hdd.document.load` gives them
-- @treturn {table,...}  figures, see docs/figures.md
-- @treturn {string,...}  sentences about what could not be drawn (with names from outside)
-- @usage local list, notes = figures.of(documents)
function M.of(documents)
  local colours, next_colour, kinds, notes = {}, 1, {}, {}
  for index, document in ipairs(documents) do
    local kind = kind_of(document)
    if kind then
      local drive = type(document.drive) == "table" and document.drive or {}
      local key, serial = whose.key(drive), whose.serial(drive)
      if not colours[key] then
        colours[key], next_colour = next_colour, next_colour + 1
      end
      local started = text_of(document.started_at)
      local run = {
        document = document, index = index, name = whose.name(drive), serial = serial, colour = colours[key],
        started = started and printable.line(started:sub(1, 16):gsub("T", " ")),
      }
      kinds[kind] = kinds[kind] or {}
      table.insert(kinds[kind], run)
    else
      notes[#notes + 1] = string.format("document %d is no document of hddlua", index)
    end
  end
  local list = {}
  for _, kind in ipairs(ORDER) do
    local runs = kinds[kind]
    if runs then
      make_unique(runs)
      give_dashes(runs)
      local found, left_out = require("hdd.view.figures." .. kind)(runs)
      table.move(found, 1, #found, #list + 1, list)
      table.move(left_out or {}, 1, #(left_out or {}), #notes + 1, notes)
    end
  end
  return list, notes
end

return M
