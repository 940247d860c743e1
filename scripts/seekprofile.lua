#!/usr/bin/env hddlua
-- seekprofile: how fast a drive turns and seeks, and what its buffer does.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local seekprofile = require "hdd.procedure.seekprofile"
local units = require "hdd.units"

cli.main(function()
  local parser = cli.parser("seekprofile",
    "Measures rotation speed, seek time against distance, access time and the drive's buffer.",
    "hddlua seekprofile /dev/sdX --json sdX.json")
  cli.option(parser, "--from", "PLACE", "where to begin: bytes, 64g, 50%, or blocks (2048s)",
    units.position)
  cli.option(parser, "--to", "PLACE", "where to end", units.position)
  cli.option(parser, "--block-size", "SIZE", "bytes of a read (default: a physical block)",
    units.positive_size)
  cli.option(parser, "--distances", "N", "distances that are measured (default: 24)", units.integer)
  cli.option(parser, "--samples", "N", "reads of each (default: 32)", units.integer)
  cli.option(parser, "--accesses", "N", "random reads for the access time (default: 1000)",
    units.integer)
  parser:flag("--quick", "15 distances, 12 samples, 300 random reads")
  cli.option(parser, "--seed", "N", "of the places (default: 1)", cli.count)
  cli.option(parser, "--rpm", "RPM", "turns a minute, if they can't be measured; 0: it does not turn",
    cli.count)
  cli.option(parser, "--max-errors", "N", "failed reads after which it ends (default: 100)",
    units.integer)
  local parameters, options = cli.parse(parser)
  return cli.measure(seekprofile, parameters, options)
end)
