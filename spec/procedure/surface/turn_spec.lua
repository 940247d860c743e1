-- The time of a turn, from reads that wait for one each.
-- SPDX-License-Identifier: GPL-3.0-or-later
local turn = require "hdd.procedure.surface.turn"

-- Completions that are whole turns apart, some of them seen late, some a turn later.
local function times(turn_ns, late_share, count)
  local list, at = {}, 1000000000
  for i = 1, count or 48 do
    at = at + turn_ns * (math.random() < 0.1 and 2 or 1)
    local late = math.random() < late_share and math.random() * turn_ns or math.random() * 60000
    list[i] = math.max(at + late, list[i - 1] or 0)
  end
  return list
end

describe("the turn of a platter", function()
  it("is found for all speeds that were sold, most completions seen late or not", function()
    math.randomseed(5)
    for _, rpm in ipairs { 3600, 4200, 5400, 5900, 7200, 10000, 15000 } do
      for _, late in ipairs { 0, 0.5 } do
        for _ = 1, 2 do assert.equal(60e9 / rpm, turn.from(times(60e9 / rpm, late))) end
      end
    end
  end)

  it("of no usual speed is what was measured", function()
    math.randomseed(6)
    local found = turn.from(times(60e9 / 6400, 0.2))
    assert.is_true(math.abs(found / (60e9 / 6400) - 1) < 0.005)
  end)

  it("is not found where nothing turns", function()
    math.randomseed(8)
    for _ = 1, 10 do
      local fast, random, at = {}, {}, { 0, 0 }
      for i = 1, 48 do
        at[1] = at[1] + 80000 + math.random(0, 60000)
        at[2] = at[2] + math.random(1000000, 12000000)
        fast[i], random[i] = at[1], at[2]
      end
      assert.is_nil(turn.from(fast))
      assert.is_nil(turn.from(random))
    end
    assert.is_nil(turn.from({}))
    assert.is_nil(turn.from({ 1 }))
  end)
end)
