#!/usr/bin/env hddlua
-- compare: drives, or runs of one, held against one another.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local compare = require "hdd.compare"
local document = require "hdd.document"
local frame = require "hdd.cli.health"
local load = require "hdd.compare.load"
local units = require "hdd.units"
local view = require "hdd.view.compare"

local function parse()
  local parser = frame.parser("compare",
    "Compares documents, health snapshots, recordings, fio's JSON and bandwidth logs: faster, slower, or no "
    .. "difference shown, with a confidence interval. The first is what the others are held against.",
    "hddlua compare old.json new.json\n"
    .. "         hddlua compare old-1.json,old-2.json new-1.json,new-2.json (several runs of each)")
  parser:argument("sides", "FILE, several with commas between them (runs of one drive), or a folder"):args("2+")
  cli.option(parser, "--names", "LIST", "what the sides are called: old,new")
  cli.option(parser, "--level", "P", "of the intervals (default: 95%)", units.ratio)
  parser:flag("--anyway", "compare although settings differ that change what is measured")
  parser:flag("--all", "latencies of each row, normalized values of attributes")
  cli.option(parser, "--json", "FILE", "save the comparison there (-: standard output)")
  parser:option("--charset", "characters of the tables (default: by the locale)"):choices { "utf8", "ascii" }
  parser:flag("--force", "overwrite the file")
  parser:add_complete()
  local options = frame.parse(parser)
  if options.level and (options.level <= 0.5 or options.level >= 1) then
    cli.refuse("--level: a level lies above 50% and below 100%")
  end
  return options
end

local function load_sides(options)
  local names, sides, notes = {}, {}, {}
  for name in (options.names or ""):gmatch("[^,]+") do names[#names + 1] = name end
  for i, what in ipairs(options.sides) do
    local side, more = load.side(what, names[i] or string.char(64 + (i - 1) % 26 + 1))
    if not side then cli.refuse(more) end
    sides[i] = side
    table.move(more, 1, #more, #notes + 1, notes)
  end
  return sides, notes
end

cli.main(function()
  local options = parse()
  if options.json then frame.probe(options.json, options.sides, "--json", options) end
  local sides, notes = load_sides(options)
  frame.check()
  for _, note in ipairs(notes) do frame.say(note) end
  local result = compare.run(sides, { level = options.level, anyway = options.anyway })
  local status = 0
  if options.json then
    status = frame.write(options.json, document.encode(result), options)
    if options.json == "-" then return status end
  end
  local look = frame.look(options)
  look.all = options.all
  io.write(view.text(result, look))
  if result.status == "failed" then return 2 end
  return status
end)
