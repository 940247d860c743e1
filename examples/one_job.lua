#!/usr/bin/env hddlua
-- Run one job and look at its results: random reads of 4 KiB, four of them in flight, for two
-- seconds.
--   hddlua examples/one_job.lua /dev/sdX
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local units = require "hdd.units"

local drive <close> = assert(hdd.open(arg[1]))
local r = assert(drive:run {
  pattern = "random", block_size = 4096, depth = 4, ramp = 0.2, runtime = 2,
})

print(string.format("%s: %d reads in %.2f s, %.1f IOPS, %s", drive.model or drive.path, r.ios,
  r.elapsed_s, r.iops, units.rate(r.bandwidth_bytes_per_s)))
print(string.format("latency: median %s, 99 %% below %s, slowest %s",
  units.latency(r.latency:percentile(50)), units.latency(r.latency:percentile(99)),
  units.latency(r.latency:max())))

-- A read that failed is a result like the others.
print(r.errors .. " reads failed")
for _, f in ipairs(r.failures) do print(f.offset_bytes, f.error) end
