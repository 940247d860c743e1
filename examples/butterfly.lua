#!/usr/bin/env hddlua
-- Straight code for each read: a queue runs a function in each of its slots, and slot:read returns
-- when the read is done. Butterfly seeks: outermost, innermost, and inwards from there by turns, so
-- that each stroke is a little shorter than the one before.
--   hddlua examples/butterfly.lua /dev/sdX
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local units = require "hdd.units"

local drive <close> = assert(hdd.open(arg[1]))
local strokes <const>, block <const> = 100, math.max(4096, drive.logical_block_size)
local queue <close> = assert(drive:queue { depth = 1, block_size = block })

queue:each(function(slot)
  for i = 0, strokes do
    local blocks = drive.size // block - 1
    local from_edge = blocks // 2 * i // strokes
    slot:read(from_edge * block)
    local ns, why = slot:read((blocks - from_edge) * block)
    if i % 10 == 0 then
      print(string.format("stroke of %3d %%  %s", 100 - 100 * i // strokes,
        ns and units.latency(ns) or why))
    end
  end
end)
