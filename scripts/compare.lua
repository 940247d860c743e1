#!/usr/bin/env hddlua
-- compare: drives, or runs of one, held against one another.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local compare = require "hdd.compare"
local core = require "hdd.core"
local destination = require "hdd.cli.destination"
local document = require "hdd.document"
local frame = require "hdd.cli.health"
local hdd = require "hdd"
local health = require "hdd.health"
local lfs = require "lfs"
local load = require "hdd.compare.load"
local procedure = require "hdd.procedure.compare"
local progress = require "hdd.cli.progress"
local units = require "hdd.units"
local view = require "hdd.view.compare"

local function parse()
  local parser = frame.parser("compare",
    "Compares documents, health snapshots, recordings, fio's JSON and bandwidth logs: faster, slower, or no "
    .. "difference shown, with a confidence interval. The first is what the others are held against.",
    "hddlua compare old.json new.json\n"
    .. "         hddlua compare old-1.json,old-2.json new-1.json,new-2.json (several runs of each)")
  parser:argument("sides", "FILE, several with commas between them (runs of one drive), a folder, or a drive: "
    .. "drives are measured in turn, A B A B"):args("*")
  cli.option(parser, "--rounds", "N", "of drives: how often each is measured (default: 3)", units.integer)
  cli.option(parser, "--of", "LIST", "of drives: what is measured (default: zoneprofile,qdsweep)")
  parser:flag("--long", "of drives: the long forms, not the quick ones")
  cli.option(parser, "--keep", "DIR", "of drives: save each run's document in this folder")
  parser:flag("--measure", "the arguments are drives, even where they are files")
  parser:flag("--buffered", "read through the page cache, where direct reads are refused")
  cli.option(parser, "--names", "LIST", "what the sides are called: old,new")
  cli.option(parser, "--level", "P", "of the intervals (default: 95%)", units.ratio)
  parser:flag("--anyway", "compare although settings differ that change what is measured")
  parser:flag("--all", "latencies of each row, normalized values of attributes")
  cli.option(parser, "--json", "FILE", "save the comparison there (-: standard output)")
  parser:option("--charset", "characters of the tables (default: by the locale)"):choices { "utf8", "ascii" }
  parser:flag("--force", "overwrite the file")
  parser:add_complete()
  local options = cli.read(parser)
  if #options.sides < 2 then
    cli.refuse("two or more files, folders or drives are compared: give what to compare"
      .. (options.sides[1] and " " .. options.sides[1] .. " with" or ""))
  end
  if options.level and (options.level <= 0.5 or options.level >= 1) then
    cli.refuse("--level P: lies above 50% and below 100%")
  end
  return options
end

local function load_sides(options)
  local sides, drives = {}, {}
  for i, what in ipairs(options.sides) do
    if options.measure or lfs.attributes(what, "mode") == "block device" then
      local drive, message = hdd.open(what, { buffered = options.buffered })
      if not drive then cli.refuse(message) end
      drives[#drives + 1], sides[i] = drive, { drive = drive }
    else
      local side, notes = load.side(what)
      if not side then cli.refuse(notes) end
      for _, note in ipairs(notes) do frame.say(note) end
      sides[i] = side
    end
  end
  return sides, drives
end

-- Keeps what was measured, under names of its own.
local function keep(side, folder)
  for i, d in ipairs(side.documents) do
    local path = string.format("%s/%d-%s", folder, i, document.file_name(d))
    local ok, message = document.save(d, path)
    if not ok then
      frame.say(message)
      return 3
    end
  end
  return 0
end

-- The drives among the sides, measured in turn; the exit status.
local function measure(sides, drives, options)
  local line, status = progress.new(), 0
  local measurements = {}
  for name in (options.of or "zoneprofile,qdsweep"):gmatch("[^,]+") do measurements[#measurements + 1] = name end
  local given = { rounds = options.rounds, measurements = measurements }
  if options.long then given.zoneprofile, given.qdsweep = {}, {} end
  local measured, message = procedure.run(drives, given, { progress = function(state) line:show(state) end })
  line:clear()
  if not measured then cli.refuse(message) end
  local k = 0
  for i, side in ipairs(sides) do
    if side.drive then
      k = k + 1
      sides[i] = measured[k]
      sides[i].health = health.read(side.drive) or nil
      if options.keep then status = math.max(status, keep(sides[i], options.keep)) end
    end
  end
  if measured.over then frame.say("not all was measured: " .. measured.over) end
  return measured.over == "interrupted" and 130 or measured.over and 1 or status
end

local function name_sides(sides, options)
  local names = {}
  for name in (options.names or ""):gmatch("[^,]+") do names[#names + 1] = name end
  for i, side in ipairs(sides) do side.name = names[i] or string.char(64 + (i - 1) % 26 + 1) end
end

cli.main(function()
  local options = parse()
  if options.json then
    local ok, message = destination.probe(options.json, options.sides, options.force)
    if not ok then cli.refuse(message) end
  end
  if options.keep and lfs.attributes(options.keep, "mode") ~= "directory" then
    cli.refuse("--keep " .. options.keep .. ": is no folder")
  end
  local sides, drives = load_sides(options)
  local status = #drives > 0 and measure(sides, drives, options) or 0
  core.clear_interrupt()
  name_sides(sides, options)
  local result = compare.run(sides, { level = options.level, anyway = options.anyway })
  if options.json then
    status = math.max(status, frame.write(options.json, document.encode(result), options))
    if options.json == "-" then return status end
  end
  local look = frame.look(options)
  look.all = options.all
  io.write(view.text(result, look))
  if result.status == "failed" and status == 0 then return 2 end
  return status
end)
