-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Which reads show a seek, and what their times say.
local seeks = require "hdd.procedure.seekprofile.seeks"
local stroke = require "hdd.procedure.seekprofile.stroke"

local GB <const>, TURN <const> = 1000000000, 6000000

local function scale()
  return stroke.new(0, 8 * GB, { { place = 0, rate = 155e6 }, { place = 8 * GB, rate = 95e6 } })
end

describe("distances", function()
  it("ascend from more than a track to nearly all of the stroke", function()
    local s = scale()
    local list = seeks.distances(s, TURN, 24)
    assert.equal(24, #list)
    for i = 2, 24 do assert.is_true(list[i] > list[i - 1]) end
    assert.is_true((list[1] - 0.5 * TURN / s.full_ns) * s.full_ns > 1.2 * TURN)
    assert.equal(0.99, list[24])
  end)

  it("are none on a range of few tracks", function()
    assert.is_nil(seeks.distances(stroke.new(0, 64 << 20, { { place = 0, rate = 155e6 } }), TURN, 24))
  end)

  it("lie between two places, on blocks and inside the range, whatever is drawn", function()
    local s = scale()
    for _, drawn in ipairs { 0, 0.5, 1 - 2 ^ -53 } do
      local with = { turn_ns = TURN, block = 4096, random = function() return drawn end }
      for _, share in ipairs(seeks.distances(s, TURN, 24)) do
        for _, spread in ipairs { 0, 0.5, 0.999 } do
          local from, to = seeks.pair(s, share, spread, with)
          for _, place in ipairs { from, to } do
            assert.equal("integer", math.type(place))
            assert.is_true(place >= 0 and place <= 8 * GB - 4096 and place % 4096 == 0)
          end
          local off = math.abs(s:share(from) - s:share(to)) - share
          assert.is_true(math.abs(off) <= 0.51 * TURN / s.full_ns)
        end
      end
    end
  end)

  it("that are short go backwards, away from what the drive reads ahead", function()
    local with = { turn_ns = TURN, block = 512, random = function() return 0.1 end }
    local from, to = seeks.pair(scale(), 0.0005, 0.5, with)
    assert.is_true(to < from)
  end)
end)

describe("the times of reads that are equally far apart", function()
  -- n reads that wait for an even part of the turn each, after a seek and the overhead.
  local function waits(n, seek, overhead)
    local list = {}
    for i = 1, n do list[i] = overhead + seek + TURN * (i * 7 % n + 0.5) // n end
    return list
  end

  it("are those of the seek, the turn and the overhead", function()
    local found = seeks.evaluate(waits(32, 4000000, 200000), TURN, 200000)
    assert.is_true(math.abs(found.seek_us - 4000) < 1)
    assert.is_true(math.abs(found.latency_mean_us - 7200) < 1)
    assert.equal(0, found.late)
    assert.is_true(math.abs(found.uncertainty_us - 6000 / math.sqrt(2 * 33 * 34)) < 1e-6)
  end)

  it("leave out those that were held up", function()
    local list = waits(32, 4000000, 200000)
    list[#list + 1], list[#list + 2] = 29000000, 17000000
    local found = seeks.evaluate(list, TURN, 200000)
    assert.is_true(math.abs(found.seek_us - 4000) < 1)
    assert.equal(2, found.late)
    assert.equal(29000, found.latency_max_us)
  end)

  it("are judged by the fastest alone on a machine that is late", function()
    local list = waits(32, 4000000, 200000)
    for i = 1, 32, 3 do list[i] = list[i] + 3000000 end
    local found = seeks.evaluate(list, TURN, 500000, 200000)
    assert.is_true(math.abs(found.seek_us - 4000) < 200)
    assert.is_true(math.abs(found.uncertainty_us - 6000 / 33) < 1e-6)
  end)

  it("say nothing of the seek where the turn is not known, and nothing at all when there are none", function()
    local found = seeks.evaluate(waits(8, 4000000, 0), nil, 0)
    assert.is_nil(found.seek_us)
    assert.is_true(found.latency_min_us > 4000)
    assert.same({ late = 0 }, seeks.evaluate({}, TURN, 0))
  end)
end)
