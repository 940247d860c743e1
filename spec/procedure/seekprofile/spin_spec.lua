-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- The turn, from the times of reads that go backwards.
local spin = require "hdd.procedure.seekprofile.spin"

-- Completions of 128 such reads: each waits for the next time that its block comes round, `busy(i)` is how
-- late it is seen.
local function times_of(turn, block, busy)
  local times, at = {}, 0.0
  for i = 1, 128 do
    local phase = -(i - 1) * block % turn
    local seen = i > 1 and times[i - 1] or 0
    at = math.max(at + turn - block, seen - (seen - phase) % turn + (seen > 0 and turn or phase))
    times[i] = at + (busy and busy(i) or 0)
  end
  return times
end

describe("the turn", function()
  it("is measured to a ten-thousandth at any speed, and not rounded to one that is sold", function()
    for _, rpm in ipairs { 4200, 5391.3, 7200, 7230, 10000, 15000 } do
      local turn = 60e9 / rpm
      local found = spin.turn(times_of(turn, 3400), 3400)
      assert(found and math.abs(found / turn - 1) < 1e-4, rpm .. ": " .. tostring(found))
    end
  end)

  it("is measured to a thousandth when many completions are seen late, and turns are missed", function()
    local state = 1
    local function busy()
      state = state * 48271 % 2147483647
      local u = state / 2147483647
      return u < 0.3 and u * 10e6 or u * 50e3
    end
    local found = spin.turn(times_of(6e6, 3400, busy), 3400)
    assert(found and math.abs(found / 6e6 - 1) < 1e-3, tostring(found))
  end)

  it("is none where nothing turns, or too few reads were made", function()
    local times, at = {}, 0
    for i = 1, 128 do
      at = at + 90000 + i * 7919 % 20000
      times[i] = at
    end
    assert.is_nil(spin.turn(times, 3400))
    assert.is_nil(spin.turn({ 0, 6e6, 12e6 }, 3400))
    assert.is_nil(spin.turn({}, 3400))
  end)

  it("is that on which places agree", function()
    local found = spin.agreed { 6.0e6, 6.001e6, 5.2e6, 6.002e6, 6.3e6 }
    assert.equal(3, found.places)
    assert.equal(6.001e6, found.turn_ns)
    assert.is_nil(spin.agreed { 6.0e6, 5e6 })
    assert.is_nil(spin.agreed {})
  end)
end)
