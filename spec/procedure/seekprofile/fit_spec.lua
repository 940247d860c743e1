-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- The seek curve: found again in points that were made of one.
local fit = require "hdd.procedure.seekprofile.fit"
local stroke = require "hdd.procedure.seekprofile.stroke"

local TRUE <const> = { a_us = 700, b_us = 7000, e_us = 6600, knee = 0.33 }
TRUE.c_us = TRUE.a_us + TRUE.b_us * math.sqrt(TRUE.knee) - TRUE.e_us * TRUE.knee

local function points_of(curve, off)
  local points = {}
  for i = 1, 24 do
    local d = i <= 14 and 1e-4 * 3000 ^ (i / 14) or 0.3 + 0.07 * (i - 15)
    points[i] = { d = d, us = fit.at(curve, d) + (off and off(i) or 0) }
  end
  return points
end

describe("a seek curve", function()
  it("is found again in its own points, knee and all", function()
    local found = fit.curve(points_of(TRUE))
    assert.is_true(math.abs(found.a_us - 700) < 1)
    assert.is_true(math.abs(found.b_us / 7000 - 1) < 0.001)
    assert.is_true(math.abs(found.e_us / 6600 - 1) < 0.001)
    assert.is_true(math.abs(found.knee - 0.33) < 0.0101)
    assert.is_true(found.residual_us < 1)
    assert.equal(24, found.points)
  end)

  it("is not moved by two points that are far off", function()
    local found = fit.curve(points_of(TRUE, function(i)
      return (i == 5 or i == 20) and 4000 or i % 2 == 0 and 20 or -20
    end))
    assert.equal(22, found.points)
    for _, d in ipairs { 0.001, 0.1, 0.33, 0.9 } do
      assert.is_true(math.abs(fit.at(found, d) / fit.at(TRUE, d) - 1) < 0.03)
    end
  end)

  it("meets itself at the knee, and takes no time for no distance", function()
    local found = fit.curve(points_of(TRUE))
    assert.is_true(math.abs(found.a_us + found.b_us * math.sqrt(found.knee)
      - (found.c_us + found.e_us * found.knee)) < 1e-6)
    assert.equal(0, fit.at(found, 0))
  end)

  it("is none of fewer than six points, and of none", function()
    assert.is_nil(fit.curve({}))
    local points = points_of(TRUE)
    assert.is_nil(fit.curve(table.move(points, 1, 5, 1, {})))
  end)

  it("is none of points that are all at one distance", function()
    local points = {}
    for i = 1, 10 do points[i] = { d = 0.1, us = 3000 + i } end
    assert.is_nil(fit.curve(points))
  end)

  it("has an average over pairs of bytes: a third of the stroke where all tracks are alike", function()
    local line = { a_us = 0, b_us = 0, c_us = 0, e_us = 9000, knee = 0 }
    local even = stroke.new(0, 1 << 40, { { place = 0, rate = 1e8 } })
    assert.is_true(math.abs(fit.average(line, even) / 3000 - 1) < 0.001)
  end)
end)
