#!/usr/bin/env hddlua
-- When were the slow reads? Each read of ten seconds, by time and latency: a line from left to right
-- is the drive's pace, a column of slow ones something that held it up.
--   hddlua examples/latency_map.lua /dev/sdX [PICTURE.svg]
-- SPDX-License-Identifier: GPL-3.0-or-later
local figure = require "hdd.view.figure"
local hdd = require "hdd"
local latency_map = require "hdd.view.latency_map"

local drive <close> = assert(hdd.open(arg[1]))
local times, latencies = {}, {}
assert(drive:run {
  pattern = "random", block_size = 4096, depth = 4, runtime = 10, ios = 200000,
  records = function(batch)
    for i = 1, batch.n do
      times[#times + 1], latencies[#latencies + 1] = batch.time_ns[i], batch.latency_ns[i]
    end
  end,
})
local map = latency_map.of(times, latencies, drive:identity().model or drive.path)
io.write(figure.text(map, { width = 80, height = 18, utf8 = true }))
if arg[2] then
  local file = assert(io.open(arg[2], "wb"))
  assert(file:write(assert(figure.svg(map))))
  file:close()
end
