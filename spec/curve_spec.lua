-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- The falling curve of a drive, what is off it, and the time of a full read.
local curve = require "hdd.curve"

-- A drive of `zones` zones with equally many cylinders: the rate falls in steps, evenly from zone to
-- zone; each zone holds as much as its rate says.
local function drive_of(zones, outer, inner, size)
  local rates, total = {}, 0
  for i = 1, zones do
    rates[i] = zones == 1 and outer or outer + (inner - outer) * (i - 1) / (zones - 1)
    total = total + rates[i]
  end
  local ends, sum = {}, 0
  for i = 1, zones do
    sum = sum + rates[i]
    ends[i] = sum / total * size
  end
  return function(offset)
    for i = 1, zones do
      if offset < ends[i] then return rates[i] end
    end
    return rates[zones]
  end
end

local function noise_of(seed)
  local state = seed
  return function(share)
    state = (state * 1103515245 + 12345) % 2147483648
    return 1 + (state / 1073741824 - 1) * share
  end
end

-- Positions and rates of n zones on a drive.
local function profile(rate_at, size, n, noise)
  local xs, ys = {}, {}
  for i = 1, n do
    xs[i] = size * (i - 1) // n
    ys[i] = rate_at(xs[i]) * (noise and noise(0.005) or 1)
  end
  return xs, ys
end

local function flagged_in(xs, ys, options)
  local list = {}
  for i, verdict in ipairs(curve.judge(xs, ys, options)) do
    if verdict.flagged then list[#list + 1] = i end
  end
  return list
end

local SIZE <const> = 600127266816
local DRIVES <const> = {
  {24, 154.8e6, 95.5e6}, {20, 110e6, 72e6}, {30, 268e6, 124e6}, {16, 111.4e6, 51.6e6}, {8, 154.8e6, 95.5e6},
}

describe("the fitted curve", function()
  it("is that of the physics, found from points with a fifth of them wrong", function()
    local k, xs, ys = 0.5, {}, {}
    for i = 1, 100 do
      local x = (i - 1) / 99
      xs[i], ys[i] = x * SIZE, 200e6 * math.sqrt(1 - x * (1 - k * k))
      if i % 5 == 0 then ys[i] = ys[i] * (i % 10 == 0 and 3 or 0.2) end
    end
    local fitted = curve.fit(xs, ys)
    for _, x in ipairs {0, 0.3, 0.7, 1} do
      local truth = 200e6 * math.sqrt(1 - x * 0.75)
      assert.is_true(math.abs(fitted(x * SIZE) / truth - 1) < 0.02)
    end
  end)

  it("is level for flash, and above 0 for anything", function()
    local fitted = curve.fit({0, 1, 2, 3}, {500, 500, 500, 500})
    assert.equal(500, fitted(17))
    assert.is_true(curve.fit({0, 1, 2}, {100, 10, 1})(50) > 0)
    assert.equal(7, curve.fit({5}, {7})(9))
    assert.is_nil(curve.fit({}, {}))
  end)
end)

describe("the zones of a drive", function()
  it("are not flagged for the steps between them", function()
    for _, d in ipairs(DRIVES) do
      for _, n in ipairs {5, 8, 12, 24, 40, 100, 248, 2000} do
        local xs, ys = profile(drive_of(d[1], d[2], d[3], SIZE), SIZE, n, noise_of(n))
        assert.same({}, flagged_in(xs, ys), string.format("%d zones, %d points", d[1], n))
      end
    end
  end)

  it("are not flagged where a drive jumps: two actuators, one after the other", function()
    for _, n in ipairs {20, 40, 100, 240, 2000} do
      local half = drive_of(24, 250e6, 125e6, SIZE // 2)
      local xs, ys = profile(function(x) return half(x % (SIZE // 2)) end, SIZE, n, noise_of(1))
      assert.same({}, flagged_in(xs, ys), n)
    end
  end)

  it("are not flagged on a level drive with much noise", function()
    local noise, xs, ys = noise_of(3), {}, {}
    for i = 1, 200 do xs[i], ys[i] = i, 500e6 * noise(0.3) end
    assert.same({}, flagged_in(xs, ys))
  end)

  it("are flagged when one is slow or fast, wherever it is", function()
    for _, d in ipairs(DRIVES) do
      for _, n in ipairs {24, 40, 248} do
        for _, i in ipairs {1, 2, n // 3, n // 2, n - 1, n} do
          for _, factor in ipairs {0.7, 1.5} do
            local xs, ys = profile(drive_of(d[1], d[2], d[3], SIZE), SIZE, n, noise_of(i))
            ys[i] = ys[i] * factor
            assert.same({i}, flagged_in(xs, ys), string.format("%d zones, %d points, at %d", d[1], n, i))
            local verdict = curve.judge(xs, ys)[i]
            assert.equal(factor < 1 and "slow" or "fast", verdict.reason)
            assert.is_true(math.abs(verdict.expected / (ys[i] / factor) - 1) < 0.08)
          end
        end
      end
    end
  end)

  it("are flagged to the edges of a weak region", function()
    for _, case in ipairs {{40, 12, 15}, {100, 50, 57}, {248, 30, 48}, {2000, 1000, 1120}} do
      local n, first, last = case[1], case[2], case[3]
      local xs, ys = profile(drive_of(24, 154.8e6, 95.5e6, SIZE), SIZE, n, noise_of(n))
      local expected = {}
      for i = first, last do
        ys[i] = ys[i] * 0.8
        expected[#expected + 1] = i
      end
      assert.same(expected, flagged_in(xs, ys), n)
    end
  end)

  it("are flagged by the tolerance that is asked for", function()
    local xs, ys = profile(drive_of(1, 100e6, 100e6, SIZE), SIZE, 30)
    ys[10] = 92e6
    assert.same({10}, flagged_in(xs, ys))
    assert.same({}, flagged_in(xs, ys, {tolerance = 0.1}))
  end)

  it("are judged without error however few or odd they are", function()
    assert.same({}, curve.judge({}, {}))
    for n = 1, 4 do
      local xs, ys = profile(drive_of(4, 100e6, 50e6, SIZE), SIZE, n)
      ys[1] = ys[1] * 0.1
      local verdicts = curve.judge(xs, ys)
      assert.equal(n, #verdicts)
      for _, verdict in ipairs(verdicts) do
        assert.is_false(verdict.flagged)
        assert.is_true(verdict.expected > 0)
      end
    end
    for _, verdict in ipairs(curve.judge({7, 7, 7, 7, 7, 7}, {1, 1, 1, 1, 1, 1})) do
      assert.is_false(verdict.flagged)
    end
  end)

  it("are judged quickly on the largest drive", function()
    local xs, ys = profile(drive_of(30, 268e6, 124e6, 18e12), 18000207937536, 8000, noise_of(5))
    local start = os.clock()
    curve.judge(xs, ys)
    assert.is_true(os.clock() - start < 5)
  end)
end)

describe("the time of a full read", function()
  local function zones_of(rate_at, size, n, length)
    local zones = {}
    for i = 1, n do
      local offset = (size - length) * (i - 1) // math.max(1, n - 1)
      zones[i] = {offset_bytes = offset, length_bytes = length,
        bandwidth_bytes_per_s = rate_at(offset + length // 2)}
    end
    return zones
  end

  it("is size over rate on a level drive", function()
    local zones = zones_of(function() return 100e6 end, 1000000000000, 10, 1 << 28)
    assert.is_true(math.abs(curve.read_time(zones, 0, 1000000000000) - 10000) < 1e-6)
    assert.is_true(math.abs(curve.read_time(zones, 0, 500000000000) - 5000) < 1e-6)
    assert.is_true(math.abs(curve.read_time({zones[4]}, 0, 1000000000000) - 10000) < 1e-6)
  end)

  it("is within half a percent of the truth on drives with steps", function()
    for _, d in ipairs(DRIVES) do
      local rate_at, truth = drive_of(d[1], d[2], d[3], SIZE), 0
      for i = 1, 20000 do truth = truth + SIZE / 20000 / rate_at((i - 0.5) * SIZE / 20000) end
      local estimate = curve.read_time(zones_of(rate_at, SIZE, 60, 1 << 28), 0, SIZE)
      assert.is_true(math.abs(estimate / truth - 1) < 0.005, estimate / truth)
    end
  end)

  it("passes over zones without a rate, and is unknown without any", function()
    local zones = zones_of(function() return 100e6 end, 1000000000, 5, 1 << 20)
    zones[2].bandwidth_bytes_per_s, zones[3].bandwidth_bytes_per_s = nil, 0
    assert.is_true(math.abs(curve.read_time(zones, 0, 1000000000) - 10) < 1e-9)
    assert.is_nil(curve.read_time({}, 0, 1000))
    assert.is_nil(curve.read_time({zones[2]}, 0, 1000))
    assert.is_nil(curve.read_time(zones, 10, 10))
  end)
end)
