#!/usr/bin/env hddlua
-- review: all that is worth knowing of a drive, or of several beside one another, as one page.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local core = require "hdd.core"
local frame = require "hdd.cli.health"
local hdd = require "hdd"
local load = require "hdd.compare.load"
local progress = require "hdd.cli.progress"
local results = require "hdd.cli.review"
local review = require "hdd.procedure.review"
local units = require "hdd.units"

local function parse()
  local parser = frame.parser("review",
    "What drives say of themselves, random reads of 512 and 4096 bytes at depths 1 to 24, the zone profile: then a "
    .. "page with all of it. Several drives are measured in turn. Nothing is written to them.",
    "hddlua review /dev/sdX --against old/ --folder review")
  parser:argument("drives", "drives, partitions, loop devices or files"):args("+")
  parser:option("--against", "documents, snapshots, folders to hold them against (see compare)"):argname("DOC")
    :args("+")
  cli.option(parser, "--folder", "DIR",
    "where it is kept; what is there already is not measured again (default: review)")
  parser:flag("--quick", "minutes, in place of half an hour and more")
  parser:flag("--seek", "the seek profile, too")
  parser:flag("--at-once", "all drives at the same time: they may slow each other down")
  cli.option(parser, "--runtime", "TIME", "of each row of the sweep (default: 120)", units.duration)
  cli.option(parser, "--ramp", "TIME", "before each row, not counted (default: 10)", units.duration)
  cli.option(parser, "--zone-size", "SIZE", "read in each zone (default: 256m)", units.positive_size)
  cli.option(parser, "--zone-skip", "SIZE", "between two zones (default: 2g)", units.size)
  parser:option("--charset", "characters of tables (default: by the locale)"):choices { "utf8", "ascii" }
  parser:flag("--buffered", "read through the page cache, where direct reads are refused")
  parser:add_complete()
  return cli.read(parser)
end

local function open(paths, options)
  local drives = {}
  for i, path in ipairs(paths) do
    local drive, message = hdd.open(path, { buffered = options.buffered })
    if not drive then cli.refuse(message) end
    drives[i] = drive
  end
  return drives
end

local function load_against(paths)
  local sides = {}
  for i, path in ipairs(paths or {}) do
    local side, notes = load.side(path, path:match("([^/]+)/*$"))
    if not side then cli.refuse(notes) end
    for _, note in ipairs(notes) do frame.say(note) end
    sides[i] = side
  end
  return sides
end

-- Tells what is missing of each drive; the exit status.
local function status_of(entries)
  local status = 0
  for _, entry in ipairs(entries) do
    for _, note in ipairs(entry.notes) do frame.say(note) end
    if entry.over == "interrupted" then return 130 end
    if entry.over then status = 1 end
  end
  return status
end

cli.main(function()
  local options = parse()
  local base = (options.folder or "review"):gsub("(.)/+$", "%1")
  local against, drives = load_against(options.against), open(options.drives, options)
  local given = { quick = options.quick, seek = options.seek, at_once = options.at_once,
    qdsweep = { runtime = options.runtime, ramp = options.ramp },
    zoneprofile = { zone_size = options.zone_size, zone_skip = options.zone_skip } }
  local folders, have = results.open(base, drives, given)
  if not folders then cli.refuse(have) end
  local line, unsaved = progress.new(), nil
  local entries, message = review.run(drives, given, {
    progress = function(state) line:show(state) end,
    part = function(drive, part, d)
      local ok, why = results.save(folders[drive], part, d)
      line:clear()
      frame.say(ok and string.format("%s: %s %s", drive.path, part, d.status) or why)
      unsaved = unsaved or not ok
    end,
  }, have)
  line:clear()
  if not entries then cli.refuse(message) end
  core.clear_interrupt()
  local text, problem = results.conclude(base, entries, against, frame.look(options))
  if text then io.write(text) end
  if problem then frame.say(problem) end
  frame.say(string.format("%s/report.html has all of it", base))
  local status = status_of(entries)
  return (unsaved or problem) and 3 or status
end)
