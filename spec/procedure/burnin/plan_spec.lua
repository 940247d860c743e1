-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local plan = require "hdd.procedure.burnin.plan"

local function parameters(more)
  local p = {
    write = false, patterns = { "stamp" }, loops = 1, surface = true, stress = 300, self_tests = true,
    baseline = true, capacity = false, zone_count = 20, zone_size = 64 << 20, depths = { 1, 8 },
    sweep_runtime = 5,
  }
  for key, value in pairs(more or {}) do p[key] = value end
  return p
end

local FACTS <const> = { size_bytes = 18000207937536, bytes_per_s = 200e6 }

local function names(list)
  local out = {}
  for i, phase in ipairs(list) do out[i] = plan.title(phase) end
  return out
end

describe("the plan of a burn-in", function()
  it("of a drive that is only read has SMART and rates around reading and stress", function()
    assert.same({
      "SMART before", "baseline before", "short self-test", "loop 1: surface read",
      "loop 1: seek stress", "long self-test", "baseline after", "SMART after",
    }, names((plan.make(parameters(), FACTS))))
  end)

  it("with writing has each pattern written and verified, in each loop", function()
    local list = plan.make(parameters { write = true, patterns = { "aa", "stamp" }, loops = 2,
      surface = false, stress = 0, self_tests = false, baseline = false }, FACTS)
    assert.same({
      "SMART before", "loop 1: write aa", "loop 1: verify aa", "loop 1: write stamp",
      "loop 1: verify stamp", "loop 2: write aa", "loop 2: verify aa", "loop 2: write stamp",
      "loop 2: verify stamp", "SMART after",
    }, names(list))
  end)

  it("never has a write without its verify right behind it", function()
    local list = plan.make(parameters { write = true, patterns = { "00", "random", "55" }, loops = 3 }, FACTS)
    for i, phase in ipairs(list) do
      if phase.kind == "write" then
        assert.equal("verify", list[i + 1].kind)
        assert.equal(phase.pattern, list[i + 1].pattern)
      end
    end
  end)

  it("estimates from the drive's rate, beyond 16 TiB too", function()
    local list, all_s = plan.make(parameters(), FACTS)
    assert.near(18000207937536 / 200e6, list[4].planned_s, 1)
    assert.is_true(all_s > 2 * list[4].planned_s) -- the long self-test reads everything as well
  end)

  it("takes at least the hours that were asked for", function()
    local _, all_s = plan.make(parameters { hours = 100 }, FACTS)
    assert.equal(360000, all_s)
  end)

  it("says that it does not know where nothing could be read", function()
    local list, all_s = plan.make(parameters(), { size_bytes = 1 << 40 })
    assert.is_nil(list[4].planned_s)
    assert.is_nil(all_s)
    assert.equal("unknown", plan.time(nil))
  end)
end)
