-- acceptance_compare.lua: does a comparison claim what is there, and nothing else? On runs drawn anew
-- from a measured one, and on simulated drives. ACCEPTANCE_COMPARE_RUNS shortens the former (10000),
-- ACCEPTANCE_COMPARE_PAIRS the latter (20).
-- SPDX-License-Identifier: GPL-3.0-or-later
local compare = require "hdd.compare"
local document = require "hdd.document"
local hdd = require "hdd"
local hddsim = require "spec.support.hddsim"
local procedure = require "hdd.procedure.compare"
local resample = require "spec.support.resample"
local zoneprofile = require "hdd.procedure.zoneprofile"

local RUNS <const> = math.tointeger(os.getenv "ACCEPTANCE_COMPARE_RUNS") or 10000
local PAIRS <const> = math.tointeger(os.getenv "ACCEPTANCE_COMPARE_PAIRS") or 20
-- Long reads, several in flight, in zones long enough that one late answer of the simulator (some 10 ms)
-- is a small part of one: what is to be seen is the simulated drive, not the host's pauses.
local ZONES <const> = { count = 16, zone_size = 32 << 20, block_size = 1 << 20, depth = 4 }
local SLOWER <const> = "tiny,outer=147.06,inner=90.725" -- by 5 %

local function claims(result)
  local verdict = result.comparisons[1].verdict
  return verdict == "faster" or verdict == "slower", verdict
end

-- Of `count` comparisons of two draws: how many claim a difference, and how many a slower one.
local function count_claims(draw, factor, count)
  local claimed, slower = 0, 0
  for _ = 1, count do
    local claim, verdict = claims(compare.run({ { documents = { draw(1.0) } }, { documents = { draw(factor) } } }))
    if claim then claimed = claimed + 1 end
    if verdict == "slower" then slower = slower + 1 end
  end
  return claimed, slower
end

local function stretches_claimed(draw, count)
  local wrong = 0
  for _ = 1, count do
    local result = compare.run({ { documents = { draw(1.0) } }, { documents = { draw(1.0) } } })
    for _, m in ipairs(result.metrics) do
      if m.scope == "stretch" and (m.verdict == "faster" or m.verdict == "slower") then
        wrong = wrong + 1
        break
      end
    end
  end
  return wrong
end

return function(sections, report)
  local say, at, verdict = report.say, report.at, report.verdict

  --- Claims on runs drawn anew.
  function sections.compare()
    say("## Comparing runs drawn anew\n")
    at("compare: a profile of 200 zones of the simulated WD6000HLHX, then %d runs drawn from it", RUNS)
    local measured
    do
      local sim <close> = hddsim.start("wd6000hlhx")
      local drive <close> = assert(hdd.open(sim.path))
      measured = assert(zoneprofile.run(drive, { count = 200, zone_size = 8 << 20 }))
    end
    local sweep = assert(document.load("spec/fixtures/documents/qdsweep.json"))
    math.randomseed(20261201)
    say("%d comparisons of single runs drawn anew (zones: moving blocks of four; rows: batches) at 95 %%.\n", RUNS)
    say("| primary metric | with itself: claimed, %% | with one 5 %% slower: found, %% |")
    say("| --- | ---: | ---: |")
    local good = true
    for _, case in ipairs { { "mean rate, 200 zones", resample.profiles(measured) },
      { "IOPS, geometric mean, 12 rows", resample.sweeps(sweep) } } do
      local own = count_claims(case[2], 1.0, RUNS) / RUNS
      local _, found = count_claims(case[2], 0.95, RUNS)
      say("| %s | %.2f | %.2f |", case[1], own * 100, found / RUNS * 100)
      good = good and own >= 0.04 and own <= 0.06 and found / RUNS >= 0.98
    end
    local wrong = stretches_claimed(resample.profiles(measured), RUNS) / RUNS
    say("\nAny of the ten stretches was claimed in %.2f %% of the comparisons of the drive with itself.\n", wrong * 100)
    verdict(good, "claims with itself 4 to 6 %%, 5 %% slower found in at least 98 %% of the runs")
    verdict(wrong <= 0.055, "over the stretches the error is family-wise: %.2f %% (5 %% asked)", wrong * 100)
  end

  --- Claims on simulated drives, measured in turn.
  function sections.inturn()
    say("## Comparing simulated drives in turn\n")
    at("compare: %d comparisons of a simulated drive with itself, %d with a slower one, some 4 minutes", PAIRS, PAIRS)
    local same <close> = hddsim.start "tiny"
    local other <close> = hddsim.start "tiny"
    local slow <close> = hddsim.start(SLOWER)
    local a <close> = assert(hdd.open(same.path))
    local b <close> = assert(hdd.open(other.path))
    local c <close> = assert(hdd.open(slow.path))
    local wrong, found = 0, 0
    for i = 1, PAIRS do
      at("compare: %d of %d", i, PAIRS)
      local sides = assert(procedure.run({ a, b, c },
        { rounds = 1, measurements = { "zoneprofile" }, zoneprofile = ZONES }))
      local with_itself, with_slower = compare.run({ sides[1], sides[2] }), compare.run({ sides[1], sides[3] })
      if claims(with_itself) then
        wrong = wrong + 1
        at("compare: %s", with_itself.comparisons[1].sentence)
      end
      local _, what = claims(with_slower)
      if what == "slower" then found = found + 1 end
      if i == 1 then say("For one: %s.\n", with_slower.comparisons[1].sentence) end
    end
    verdict(wrong <= 3 * PAIRS // 20, "simulated drive with itself: %d claims of %d (at most 3 of 20 asked)", wrong,
      PAIRS)
    verdict(found >= 18 * PAIRS // 20, "with a 5 %% slower one: %d found of %d (at least 18 of 20 asked)", found, PAIRS)
  end
end
