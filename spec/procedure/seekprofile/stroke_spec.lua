-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Where on the stroke a byte lies, by the rates at some places.
local stroke = require "hdd.procedure.seekprofile.stroke"

local GB <const> = 1000000000

describe("the scale of the stroke", function()
  it("is even where the rate is", function()
    local s = stroke.new(0, 8 * GB, { { place = 0, rate = 1e8 }, { place = 8 * GB, rate = 1e8 } })
    assert.is_true(math.abs(s:share(2 * GB) - 0.25) < 1e-9)
    assert.is_true(math.abs(s:place(0.25) - 2 * GB) < 1)
    assert.is_true(math.abs(s.full_ns / 80e9 - 1) < 1e-9)
  end)

  it("gives the slow inner bytes more of the stroke", function()
    -- From 2 to 1: reading x bytes takes ln(1 / (1 - x / 2)) of ln 2.
    local s = stroke.new(0, 8 * GB, { { place = 0, rate = 2e8 }, { place = 8 * GB, rate = 1e8 } })
    local expected = math.log(1 / (1 - 0.25)) / math.log(2)
    assert.is_true(math.abs(s:share(4 * GB) - expected) < 1e-4)
    assert.is_true(s:share(4 * GB) < 0.5)
  end)

  it("leads from a place to a share and back, in a range that begins anywhere", function()
    local s = stroke.new(3 * GB, 8 * GB, { { place = 4 * GB, rate = 2e8 }, { place = 7 * GB, rate = 1e8 } })
    assert.equal(0, s:share(3 * GB))
    assert.is_true(math.abs(s:share(8 * GB) - 1) < 1e-9)
    for _, share in ipairs { 0, 0.001, 0.3, 0.77, 1 } do
      assert.is_true(math.abs(s:share(s:place(share)) - share) < 1e-9)
    end
  end)
end)
