--- Reading the SMART of one drive, whose every command takes 2 s, beside reads of another one.
-- SPDX-License-Identifier: GPL-3.0-or-later
local sgreplay = require "spec.support.sgreplay"

local M = {}

local PAIRS <const> = 7

-- Prints the 99th percentile (us) without and with, pair by pair, and how many readings were
-- answered. The pairs take turns in what comes first: without with, with without, ...
local MEASURE <const> = [[
  local hdd = require "hdd"
  local smart_data = require("hdd.transport.ata").smart_data
  local path, _, disk, pairs_, run_s = ...
  local drive <close> = assert(hdd.open(disk))
  local t <close> = assert(require("hdd.transport").open(path, {as = "ata", wait = 30}))
  local stop, reader, commands
  local function read_smart(on)
    if on and not reader then
      stop = false
      reader = hdd.task(function()
        repeat
          assert(smart_data(t))
          commands = commands + 1
        until stop
      end)
    elseif not on and reader then
      stop = true
      reader:wait()
      reader = nil
    end
  end
  local function p99(seed)
    local r = assert(drive:run {pattern = "random", block_size = 4096, depth = 1,
      runtime = tonumber(run_s), seed = seed})
    return r.latency:percentile(99) / 1000
  end
  p99(0)
  commands = 0
  for i = 1, tonumber(pairs_) do
    local figures = {}
    for turn = 0, 1 do
      local beside = (i + turn) % 2 == 0
      read_smart(beside)
      figures[beside] = p99(i)
    end
    print(figures[false], figures[true])
  end
  read_smart(false)
  print("commands", commands)
]]

--- The 99th percentile of the reads' latencies with SMART being read, over that without.
-- @tparam string disk    the drive that is read
-- @tparam number run_s   how long each of the 14 runs takes, s. A reading takes 4 s, as the drive is
--   asked whether it sleeps, then for the page: of a little less than 2 s, none is waited for
-- @treturn {number,...}  the ratios of the 7 pairs, ascending: the median is the fourth
-- @treturn integer       how often SMART was read meanwhile
function M.ratios(disk, run_s)
  local r = sgreplay.lua("ata/WD6000HLHX-01JJPV0-a", MEASURE, {
    arguments = {disk, tostring(PAIRS), tostring(run_s)}, env = {SGREPLAY_DELAY_MS = "2000"},
    timeout = 60 + 18 * run_s})
  assert(r.stderr == "", r.stderr)
  local ratios = {}
  for without, with in r.stdout:gmatch("([%d.]+)\t([%d.]+)\n") do
    ratios[#ratios + 1] = tonumber(with) / tonumber(without)
  end
  assert(#ratios == PAIRS, r.stdout)
  table.sort(ratios)
  return ratios, math.tointeger(tonumber(r.stdout:match("commands\t(%d+)")))
end

return M
