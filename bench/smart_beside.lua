#!/usr/bin/env hddlua
-- Does reading the SMART data of one drive slow down the reads of another?  Pairs of runs, with and
-- without a drive beside it that is asked for its SMART data all the time and takes 2 s for each
-- answer: bench/smart-beside FILE [PAIRS] [SECONDS]
-- SPDX-License-Identifier: GPL-3.0-or-later
local ata = require "hdd.transport.ata"
local hdd = require "hdd"
local transport = require "hdd.transport"

local path, stand_in, pairs_wanted, seconds = ...
pairs_wanted, seconds = tonumber(pairs_wanted) or 7, tonumber(seconds) or 10
local drive <close> = assert(hdd.open(path))
local beside <close> = assert(transport.open(stand_in, {as = "ata", wait = 30}))

local function run()
  return assert(drive:run {
    pattern = "random", block_size = 4096, depth = 4, ramp = 1, runtime = seconds,
  })
end

local function run_beside()
  local asked = 0
  local asking = hdd.task(function()
    while true do
      assert(ata.smart_data(beside))
      asked = asked + 1
    end
  end)
  local result = run()
  asking:cancel()
  pcall(asking.wait, asking)
  if asked == 0 then error("the drive beside it never answered") end
  return result
end

local ratios = {}
print("pair  p99 alone us  p99 beside us  ratio  IOPS alone  IOPS beside")
for i = 1, pairs_wanted do
  local alone, with
  if i % 2 == 1 then alone, with = run(), run_beside() else with, alone = run_beside(), run() end
  local a, b = alone.latency:percentile(99) / 1000, with.latency:percentile(99) / 1000
  ratios[i] = b / a
  local line = "%4d  %12.1f  %13.1f  %5.3f  %10.0f  %11.0f"
  print(line:format(i, a, b, b / a, alone.iops, with.iops))
end
table.sort(ratios)
print(("median ratio of p99: %.3f"):format(ratios[(#ratios + 1) // 2]))
