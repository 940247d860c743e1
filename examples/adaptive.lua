#!/usr/bin/env hddlua
-- Stop when the answer is good enough: a job with `precision` ends when the 95 % confidence
-- interval of its IOPS is as narrow as asked for, here within 5 %, and after `runtime` at the
-- latest.
--   hddlua examples/adaptive.lua /dev/sdX
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"

local drive <close> = assert(hdd.open(arg[1]))
for _, depth in ipairs { 1, 4, 16 } do
  local r = assert(drive:run {
    pattern = "random", block_size = 4096, depth = depth,
    precision = 0.05, runtime_min = 0.5, runtime = 5,
  })
  print(string.format("depth %2d: %8.1f IOPS, give or take %.1f, after %.1f s (ended by %s)",
    depth, r.iops, r.iops_ci95 or 0 / 0, r.elapsed_s, r.stopped_by))
end
