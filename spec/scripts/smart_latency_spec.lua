-- Reading the SMART of one drive, whose every command takes 2 s, beside reads of another one.
-- SPDX-License-Identifier: GPL-3.0-or-later
local hddsim = require "spec.support.hddsim"
local needs = require "spec.support.needs"
local sgreplay = require "spec.support.sgreplay"

local PAIRS <const> = 7

-- Prints the 99th percentile (us) with and without, pair by pair, and how many commands were answered.
local MEASURE <const> = [[
  local hdd = require "hdd"
  local path, _, disk, pairs_ = ...
  local drive <close> = assert(hdd.open(disk))
  local t <close> = assert(require("hdd.transport").open(path, {as = "ata", wait = 30}))
  local function p99(seed)
    local r = assert(drive:run {pattern = "random", block_size = 4096, depth = 1, runtime = 4, seed = seed})
    return r.latency:percentile(99) / 1000
  end
  local function beside(seed)
    local stop, commands = false, 0
    local reader = hdd.task(function()
      repeat
        assert(require("hdd.transport.ata").smart_data(t))
        commands = commands + 1
      until stop
    end)
    local figure = p99(seed)
    stop = true
    reader:wait()
    return figure, commands
  end
  p99(0)
  for i = 1, tonumber(pairs_) do
    local with, without, commands
    if i % 2 == 0 then
      with, commands = beside(i)
      without = p99(i)
    else
      without = p99(i)
      with, commands = beside(i)
    end
    print(without, with, commands)
  end
]]

describe("reading SMART of one drive #realtime", function()
  it("adds nothing to another's latencies, even when each command takes 2 s", function()
    needs.hddsim()
    local drive <close> = hddsim.start("tiny")
    local r = sgreplay.lua("ata/WD6000HLHX-01JJPV0-a", MEASURE, {
      arguments = {drive.path, tostring(PAIRS)}, env = {SGREPLAY_DELAY_MS = "2000"}, timeout = 200})
    assert.equal("", r.stderr)
    local ratios, answered = {}, 0
    for without, with, commands in r.stdout:gmatch("(%S+)\t(%S+)\t(%d+)\n") do
      ratios[#ratios + 1] = tonumber(with) / tonumber(without)
      answered = answered + tonumber(commands)
    end
    assert.equal(PAIRS, #ratios)
    assert.is_true(answered >= PAIRS)
    table.sort(ratios)
    print(("p99 with SMART over without, median of %d pairs: %.3f (%.3f to %.3f)"):format(PAIRS,
      ratios[PAIRS // 2 + 1], ratios[1], ratios[PAIRS]))
    assert.is_true(ratios[PAIRS // 2 + 1] <= 1.05, table.concat(ratios, " "))
  end)
end)
