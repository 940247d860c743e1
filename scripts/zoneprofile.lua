#!/usr/bin/env hddlua
-- zoneprofile: how fast a drive reads, at places across its whole surface.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local units = require "hdd.units"
local zoneprofile = require "hdd.procedure.zoneprofile"

cli.main(function()
  local parser = cli.parser("zoneprofile",
    "Reads zones across the drive and shows how fast each of them is.",
    "hddlua zoneprofile /dev/sdX --quick --json sdX.json")
  cli.option(parser, "--zone-size", "SIZE", "bytes read in each zone (default: 256m)",
    units.positive_size)
  cli.option(parser, "--zone-skip", "SIZE", "bytes left out between two zones (default: 2g)",
    units.size)
  cli.option(parser, "--count", "N", "so many zones, evenly spread, instead", units.integer)
  cli.option(parser, "--block-size", "SIZE", "bytes of a read (default: 64k)", units.positive_size)
  cli.option(parser, "--depth", "N", "reads in flight (default: 2)", units.integer)
  cli.option(parser, "--from", "PLACE", "where to begin: bytes, 64g, 50%, or blocks (2048s)",
    units.position)
  cli.option(parser, "--to", "PLACE", "where to end", units.position)
  cli.option(parser, "--passes", "N", "how often each zone is read (default: 1)", units.integer)
  parser:flag("--quick", "about a minute: 40 zones of 128 MiB, less of each on a slow drive")
  cli.option(parser, "--rpm", "RPM", "turns a minute, if the drive does not tell; 0: none",
    cli.count)
  cli.option(parser, "--max-errors", "N", "failed reads after which it ends (default: 1000)",
    units.integer)
  cli.option(parser, "--fio-log", "PREFIX", "save PREFIX_bw.1.log: fio's format, true zone rates")
  local parameters, options = cli.parse(parser)
  return cli.measure(zoneprofile, parameters, options)
end)
