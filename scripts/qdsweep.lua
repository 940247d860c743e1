#!/usr/bin/env hddlua
-- qdsweep: how many random reads a second a drive does at each queue depth, and how long each
-- takes.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local qdsweep = require "hdd.procedure.qdsweep"
local units = require "hdd.units"

cli.main(function()
  local parser = cli.parser("qdsweep",
    "Reads at random places, at each block size and queue depth in turn.",
    "hddlua qdsweep /dev/sdX --depths 1,8,32 --block-sizes 4k --json sdX.json")
  cli.option(parser, "--depths", "LIST", "queue depths (default: 1,2,4,8,16,24)", units.integers)
  cli.option(parser, "--block-sizes", "LIST", "bytes of a read (default: 512,4096)", units.sizes)
  cli.option(parser, "--ramp", "TIME", "seconds before counting starts (default: 10)",
    units.duration)
  cli.option(parser, "--runtime", "TIME", "seconds counted in each row (default: 120)",
    units.duration)
  cli.option(parser, "--precision", "SHARE", "a row is done when its IOPS are as exact: 2%",
    units.ratio)
  cli.option(parser, "--runtime-min", "TIME", "counted at least with --precision (default: 5)",
    units.duration)
  cli.option(parser, "--from", "PLACE", "where to begin: bytes, 64g, 50%, or blocks (2048s)",
    units.position)
  cli.option(parser, "--to", "PLACE", "where to end", units.position)
  cli.option(parser, "--seed", "N", "of the random places (default: another one each time)",
    units.seed)
  cli.option(parser, "--scheduler", "NAME", "I/O scheduler meanwhile (default: none), or keep")
  parser:flag("--quick", "two minutes at most: short rows, each until it is 2 % exact")
  cli.option(parser, "--rpm", "RPM", "turns a minute, if the drive does not tell; 0: none",
    cli.count)
  cli.option(parser, "--max-errors", "N", "failed reads after which it ends (default: 1000)",
    units.integer)
  local parameters, options = cli.parse(parser)
  return cli.measure(qdsweep, parameters, options)
end)
