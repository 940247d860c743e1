#!/usr/bin/env hddlua
-- surface: reads all of a drive; finds the sectors that cannot be read and those that are slow.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local compare = require "hdd.procedure.surface.compare"
local document = require "hdd.document"
local keep = require "hdd.cli.keep"
local mapfile = require "hdd.mapfile"
local surface = require "hdd.procedure.surface"
local terminal = require "hdd.cli.terminal"
local units = require "hdd.units"
local view = require "hdd.view.surface"

-- surface compare OLD NEW: 1 when it is getting worse.
local function compare_scans(old_path, new_path)
  if not new_path then cli.refuse("compare: two documents are needed: OLD NEW") end
  local scans = {}
  for i, path in ipairs { old_path, new_path } do
    local d, complaints = document.load(path)
    if not d then cli.refuse(complaints) end
    if d.schema ~= surface.schema then cli.refuse(path .. " is no surface scan") end
    scans[i] = d
  end
  local changes, message = compare.scans(scans[1], scans[2])
  if not changes then cli.refuse(message) end
  io.write(view.changes(changes, scans[2], terminal.columns(io.stdout)))
  return changes.worse and 1 or 0
end

local function read_domain(path)
  local map, message = keep.read(path)
  if not map then cli.refuse(message) end
  local domain = mapfile.domain(map)
  if #domain == 0 then cli.refuse(path .. ": all of it is finished: nothing is left to be read") end
  return domain
end

local function parser_of()
  local parser = cli.parser("surface",
    "Reads everything, grades each block by its time, finds the unreadable and the slow sectors.",
    "hddlua surface /dev/sdX --mapfile sdX.map\n"
    .. "Then:    hddlua surface compare OLD.json NEW.json")
  cli.option(parser, "--from", "PLACE", "where to begin: bytes, 64g, 50%, or blocks (2048s)",
    units.position)
  cli.option(parser, "--to", "PLACE", "where to end", units.position)
  cli.option(parser, "--domain", "MAPFILE", "read only what is not finished there: bad, slow, not tried")
  cli.option(parser, "--mapfile", "FILE", "keep a ddrescue mapfile; go on from it if it is there")
  cli.option(parser, "--badblocks", "FILE", "save the numbers of unreadable blocks")
  cli.option(parser, "--badblocks-size", "SIZE", "their unit (default: 1024)", units.positive_size)
  cli.option(parser, "--block-size", "SIZE", "bytes of a read (default: 1m)", units.positive_size)
  cli.option(parser, "--depth", "N", "reads in flight (default: 4)", units.integer)
  cli.option(parser, "--revolutions", "N", "extra turns that make a sector slow (default: 2)",
    units.integer)
  cli.option(parser, "--slow", "TIME", "the same, if it does not turn (default: 0.1)", units.duration)
  cli.option(parser, "--rereads", "N", "reads for confirming slow blocks (default: 20000)", cli.count)
  cli.option(parser, "--narrow-reads", "N", "reads a MiB for finding bad sectors (default: 64)",
    units.integer)
  cli.option(parser, "--retries", "N", "later tries of unreadable sectors (default: 3)", cli.count)
  cli.option(parser, "--rpm", "RPM", "turns a minute, if the drive does not tell; 0: none",
    cli.count)
  cli.option(parser, "--max-errors", "N", "failed reads after which it ends (default: 10000)",
    units.integer)
  return parser
end

cli.main(function()
  if arg[1] == "compare" then return compare_scans(arg[2], arg[3]) end
  local parameters, options = cli.parse(parser_of())
  local files, message = keep.new {
    mapfile = parameters.mapfile, badblocks = parameters.badblocks,
    badblocks_size = parameters.badblocks_size, force = options.force,
  }
  if not files then cli.refuse(message) end
  parameters.domain = parameters.domain and read_domain(parameters.domain)
  parameters.mapfile, parameters.badblocks, parameters.badblocks_size = nil, nil, nil
  parameters.resume = files.resume
  local passed, saved = true, true
  local kept = {}
  function kept.run(drive, p, observer)
    local save = observer.save
    observer.save = function(d)
      save(d)
      files:save(d)
    end
    local d, why, code = surface.run(drive, p, observer)
    if not d then return nil, why, code end
    saved = files:finish(d)
    passed = d.summary.verdict == "clean"
    return d
  end
  local status = cli.measure(kept, parameters, options)
  if not saved then return 3 end
  return status == 0 and not passed and 1 or status
end)
