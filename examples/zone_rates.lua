#!/usr/bin/env hddlua
-- A procedure as a function: it takes a drive and parameters and returns a document, a plain table
-- with which a script can do what it likes. Here: is the drive worth short-stroking?
--   hddlua examples/zone_rates.lua /dev/sdX
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local zoneprofile = require "hdd.procedure.zoneprofile"

local drive <close> = assert(hdd.open(arg[1]))
local document = assert(zoneprofile.run(drive, { count = 5, zone_size = math.min(64 * hdd.MiB,
  drive.size // 5 // 65536 * 65536) }))

for _, zone in ipairs(document.zones) do
  print(string.format("from %5.1f %% on: %6.1f MB/s", 100 * zone.offset_bytes / drive.size,
    zone.bandwidth_bytes_per_s / hdd.MB))
end
print(string.format("outer to inner: %.2f", document.summary.ratio))
