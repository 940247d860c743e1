#!/usr/bin/env hddlua
-- A summary of your own from the histogram of latencies: how many reads took how many turns of the
-- platter. On a disk a read that needed a second try shows up one turn behind the others.
--   hddlua examples/histogram.lua /dev/sdX [RPM]
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"

local drive <close> = assert(hdd.open(arg[1]))
local turn_ns = 60e9 / (tonumber(arg[2]) or 7200)
local r = assert(drive:run { pattern = "random", block_size = 4096, runtime = 2 })

local reads_of_turns, most = {}, 0
for _, bucket in ipairs(r.latency:buckets()) do
  local turns = math.floor(bucket.low_ns / turn_ns)
  reads_of_turns[turns], most = (reads_of_turns[turns] or 0) + bucket.count, math.max(most, turns)
end
for turns = 0, most do
  local n = reads_of_turns[turns] or 0
  print(string.format("%3d to %3d turns %8d reads %6.2f %%", turns, turns + 1, n, 100 * n / r.ios))
end
