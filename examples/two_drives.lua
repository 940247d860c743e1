#!/usr/bin/env hddlua
-- Several drives at once: hdd.each opens each of them and calls ordinary code for all at the same
-- time. One that is missing or fails does not hold up the others.
--   hddlua examples/two_drives.lua /dev/sdX /dev/sdY
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local qdsweep = require "hdd.procedure.qdsweep"

local function measure(drive)
  return qdsweep.run(drive, { depths = { 1, 8 }, block_sizes = { 4096 }, ramp = 0.2, runtime = 1 })
end

local failed = false
for _, entry in ipairs(hdd.each(table.move(arg, 1, #arg, 1, {}), measure)) do
  if entry.result then
    for _, row in ipairs(entry.result.rows) do
      print(string.format("%-24s depth %d  %8.1f IOPS", entry.drive, row.depth, row.iops or 0))
    end
  else
    print(string.format("%-24s %s", entry.drive, entry.message))
    failed = true
  end
end
os.exit(not failed)
