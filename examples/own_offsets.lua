#!/usr/bin/env hddlua
-- An access pattern of your own: a function from the number of a read (1, 2, 3 ...) to its offset.
-- This one reads a block, then the one before it, and so on: backwards, against the drive's
-- read-ahead.
--   hddlua examples/own_offsets.lua /dev/sdX
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local units = require "hdd.units"

local drive <close> = assert(hdd.open(arg[1]))
local block, count = 64 * hdd.KiB, math.min(512, drive.size // (64 * hdd.KiB))

local function backwards(i)
  if i <= count then return (count - i) * block end -- nil ends the job
end

local there = assert(drive:run { length = count * block, block_size = block })
local back = assert(drive:run { pattern = backwards, block_size = block })
print("forwards  " .. units.rate(there.bandwidth_bytes_per_s))
print("backwards " .. units.rate(back.bandwidth_bytes_per_s))
