-- The latency histogram against an exact computation over the same samples.
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"

-- The nearest-rank percentile of a sorted list.  p is given in thousandths of a per cent, so that the
-- rank is computed in integers.
local function exact(sorted, p_thousandths)
  local rank = (p_thousandths * #sorted + 99999) // 100000
  return sorted[math.max(rank, 1)]
end

local function filled(samples)
  local h = hdd.histogram()
  for _, ns in ipairs(samples) do h:add(ns) end
  return h
end

-- Latencies as drives have them: some tens of microseconds to many seconds, log-uniform.
local function samples(n, seed, low, high)
  math.randomseed(seed)
  local list, sum = {}, 0
  for i = 1, n do
    list[i] = math.floor(math.exp(math.log(low) + math.random() * (math.log(high) - math.log(low))))
    sum = sum + list[i]
  end
  return list, sum
end

local PERCENTILES <const> = {
  1, 1000, 5000, 10000, 25000, 50000, 75000, 90000, 95000, 99000, 99500, 99900, 99950, 99990, 99999,
}

describe("a latency histogram #core", function()
  it("gives percentiles within 1 % of the exact nearest rank", function()
    for _, range in ipairs {{1, 300}, {100, 1e5}, {5e4, 5e7}, {1e6, 3.6e12}} do
      local list = samples(8000, 7, range[1], range[2])
      local h = filled(list)
      table.sort(list)
      for _, p in ipairs(PERCENTILES) do
        local want, got = exact(list, p), h:percentile(p / 1000)
        assert.is_true(math.abs(got - want) <= want * 0.01,
          ("p%g of %g to %g ns: %d, exactly %d"):format(p / 1000, range[1], range[2], got, want))
      end
    end
  end)

  it("is exact below 128 ns, and at the ends everywhere", function()
    local list = {}
    for ns = 0, 127 do list[#list + 1] = ns end
    local h = filled(list)
    for i = 1, 128 do assert.equal(i - 1, h:percentile(i * 100 / 128)) end
    assert.equal(0, h:percentile(0))
    h:add(123456789123)
    assert.equal(123456789123, h:percentile(100))
    assert.equal(123456789123, h:max())
    assert.equal(0, h:min())
  end)

  it("has the exact minimum, maximum, mean and count", function()
    local list, sum = samples(5000, 3, 1000, 1e11)
    local h = filled(list)
    assert.equal(5000, h:count())
    assert.equal(math.min(table.unpack(list)), h:min())
    assert.equal(math.max(table.unpack(list)), h:max())
    assert.equal(sum / 5000, h:mean())
  end)

  it("takes the rank as whole where it is whole but for rounding", function()
    local h = hdd.histogram() -- 999 reads of 10 ns, one of 100: 99.9 % of 1000 is the 999th
    h:add(10, 999):add(100)
    assert.equal(10, h:percentile(99.9))
    assert.equal(100, h:percentile(99.91))
    for n = 1, 300 do
      local even = hdd.histogram():add(1, 999 * n):add(2, n)
      assert.equal(1, even:percentile(99.9))
    end
  end)

  it("of 1, 2, 3 or 99 samples has percentiles between minimum and maximum", function()
    for _, n in ipairs {1, 2, 3, 99} do
      local list = samples(n, n, 1e6, 1e8)
      local h = filled(list)
      table.sort(list)
      for _, p in ipairs(PERCENTILES) do
        local got, want = h:percentile(p / 1000), exact(list, p)
        assert.is_true(got >= h:min() and got <= h:max())
        assert.is_true(math.abs(got - want) <= want * 0.01)
      end
    end
  end)

  it("of one sample says that sample for everything", function()
    local h = hdd.histogram():add(7654321)
    for _, p in ipairs {0, 0.1, 50, 99.9, 100} do assert.equal(7654321, h:percentile(p)) end
    assert.equal(7654321, h:min())
    assert.equal(7654321, h:max())
    assert.equal(7654321.0, h:mean())
    assert.equal(1, h:count())
  end)

  it("that is empty knows nothing", function()
    local h = hdd.histogram()
    assert.equal(0, h:count())
    for _, what in ipairs {"min", "max", "mean"} do assert.is_nil(h[what](h)) end
    assert.is_nil(h:percentile(50))
    assert.same({}, h:buckets())
    assert.equal("latency histogram: empty", tostring(h))
    h:add(5, 0) -- no reads of 5 ns
    assert.is_nil(h:min())
  end)

  it("holds within 1 % up to an hour, and knows the maximum beyond", function()
    local hour = 3600 * 1000000000
    local h = hdd.histogram():add(hour - 1, 2):add(hour * 24)
    assert.is_true(math.abs(h:percentile(50) - hour) < hour / 100)
    assert.equal(hour * 24, h:percentile(100))
    assert.equal((2 * (hour - 1) + 24 * hour) / 3, h:mean())
    h:add(math.maxinteger, 4)
    assert.equal(math.maxinteger, h:max())
    assert.is_true(h:mean() > 5e18 and h:mean() < math.maxinteger)
  end)

  it("merged from two is the one of all samples", function()
    local list = samples(4000, 11, 1e4, 1e9)
    local all, a, b = filled(list), hdd.histogram(), hdd.histogram()
    for i, ns in ipairs(list) do (i % 3 == 0 and a or b):add(ns) end
    assert.equal(a, a:merge(b))
    assert.same(all:buckets(), a:buckets())
    for _, what in ipairs {"count", "min", "max", "mean"} do
      assert.equal(all[what](all), a[what](a))
    end
    a:merge(hdd.histogram()) -- of nothing: as before
    assert.equal(all:min(), a:min())
    assert.equal(all:max(), hdd.histogram():merge(all):max())
    a:merge(a)
    assert.equal(2 * all:count(), a:count())
    assert.equal(all:mean(), a:mean())
  end)

  it("is empty again after a reset", function()
    local h = hdd.histogram():add(5):add(1e9 // 1 | 0)
    assert.equal(0, h:reset():count())
    assert.is_nil(h:min())
    h:add(9)
    assert.equal(9, h:percentile(50))
  end)

  it("shows its buckets, ascending, with nothing between that was counted elsewhere", function()
    local list = samples(500, 5, 1, 4e12)
    local last, n = -1, 0
    for _, bucket in ipairs(filled(list):buckets()) do
      assert.is_true(bucket.low_ns > last and bucket.high_ns >= bucket.low_ns)
      assert.is_true(bucket.high_ns - bucket.low_ns <= math.max(0, bucket.low_ns // 100))
      local inside = 0
      for _, ns in ipairs(list) do
        if ns >= bucket.low_ns and ns <= bucket.high_ns then inside = inside + 1 end
      end
      assert.equal(inside, bucket.count)
      last, n = bucket.high_ns, n + bucket.count
    end
    assert.equal(500, n)
  end)

  it("gives integers for all but the mean", function()
    local h = hdd.histogram():add(12345):add(3e9 // 1 | 0)
    for _, value in ipairs {h:count(), h:min(), h:max(), h:percentile(50), h:percentile(0), h:percentile(100)} do
      assert.equal("integer", math.type(value))
    end
    for _, bucket in ipairs(h:buckets()) do
      for _, value in pairs(bucket) do assert.equal("integer", math.type(value)) end
    end
    assert.equal("float", math.type(h:mean()))
  end)

  it("refuses what is no latency, no count or no percentile", function()
    local h = hdd.histogram()
    assert.error_matches(function() h:add(-1) end, "a latency is 0 ns or more")
    assert.error_matches(function() h:add(1, -1) end, "a count is 0 or more")
    assert.error_matches(function() h:add(1.5) end, "number has no integer representation")
    assert.error_matches(function() h:percentile(100.1) end, "a percentile is 0 to 100")
    assert.error_matches(function() h:percentile(-1) end, "a percentile is 0 to 100")
    assert.error_matches(function() h:percentile(0 / 0) end, "a percentile is 0 to 100")
    assert.error_matches(function() h:merge({}) end, "hdd.Histogram expected, got table")
    assert.equal(0, h:count())
  end)
end)
