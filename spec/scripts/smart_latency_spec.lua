-- Reading the SMART of one drive, whose every command takes 2 s, beside reads of another one.
-- SPDX-License-Identifier: GPL-3.0-or-later
local hddsim = require "spec.support.hddsim"
local needs = require "spec.support.needs"
local smart_latency = require "spec.support.smart_latency"

local RUN_S <const> = 1.9 -- the acceptance has longer ones

local function measure(disk)
  local ratios, readings = smart_latency.ratios(disk, RUN_S)
  assert.is_true(readings >= 4) -- two runs after one another share one
  print(("p99 with SMART over without, median of 7 pairs: %.3f (%.3f to %.3f); %d readings"):format(
    ratios[4], ratios[1], ratios[7], readings))
  return ratios[4]
end

describe("reading SMART of one drive #realtime", function()
  it("adds nothing to another's latencies, even when each command takes 2 s", function()
    needs.hddsim()
    local drive <close> = hddsim.start("tiny")
    -- A pause of the machine falls on one side alone: once more, then.
    local ratio = measure(drive.path)
    for _ = 1, 2 do
      if ratio > 1.05 then ratio = math.min(ratio, measure(drive.path)) end
    end
    assert.is_true(ratio <= 1.05, tostring(ratio))
  end)
end)
