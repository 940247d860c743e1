-- SPDX-License-Identifier: GPL-3.0-or-later
-- Statistics of samples, with their edges.
local statistics = require "hdd.statistics"

local function upto(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

-- A normal distribution that is the same every time.
local function normal(seed)
  local state = seed
  local function uniform()
    state = (state * 1103515245 + 12345) % 2147483648
    return (state + 1) / 2147483650
  end
  return function() return math.sqrt(-2 * math.log(uniform())) * math.cos(2 * math.pi * uniform()) end
end

describe("a percentile", function()
  it("lies between minimum and maximum for 1, 2, 3 and 99 values", function()
    for _, n in ipairs {1, 2, 3, 99} do
      for _, p in ipairs {0, 1, 50, 95, 99, 99.9, 99.99, 100} do
        local value = statistics.percentile(upto(n), p)
        assert.is_true(value >= 1 and value <= n)
        assert.equal("integer", math.type(value))
      end
      assert.equal(n, statistics.percentile(upto(n), 100))
      assert.equal(1, statistics.percentile(upto(n), 0))
    end
    assert.equal(7, statistics.percentile({7}, 99.9))
  end)

  it("is by nearest rank, whatever the rounding of p * n", function()
    assert.equal(999, statistics.percentile(upto(1000), 99.9))
    assert.equal(161, statistics.percentile(upto(1000), 16.1))
    for tenths = 1, 1000 do
      assert.equal(tenths, statistics.percentile(upto(1000), tenths / 10))
      assert.equal(-(-tenths // 10), statistics.percentile(upto(100), tenths / 10))
    end
  end)

  it("does not depend on order, and leaves the list alone", function()
    local list = {5, 1, 4, 2, 3}
    assert.equal(3, statistics.percentile(list, 50))
    assert.same({5, 1, 4, 2, 3}, list)
  end)

  it("outside of 0 to 100 raises", function()
    for _, p in ipairs {-1, 101, 0 / 0} do
      assert.has_error(function() statistics.percentile({1}, p) end)
    end
  end)
end)

describe("of an empty sample", function()
  it("there is nothing", function()
    for _, f in ipairs {statistics.median, statistics.mean, statistics.deviation, statistics.mad,
                        statistics.iqr, statistics.batch_means} do
      assert.is_nil((f {}))
      assert.is_nil((f {0 / 0, 1 / 0, -1 / 0}))
    end
    assert.is_nil(statistics.percentile({}, 50))
    assert.is_nil((statistics.rate_interval({}, {})))
    assert.is_nil((statistics.rate_interval({0}, {0})))
  end)
end)

describe("values that are not finite", function()
  it("count as not measured", function()
    local list = {1, 0 / 0, 3, 1 / 0, 2, -1 / 0}
    assert.equal(2, statistics.median(list))
    assert.equal(2, statistics.mean(list))
    assert.equal(3, statistics.percentile(list, 100))
    assert.equal(1, statistics.deviation(list))
  end)
end)

describe("middle and spread", function()
  it("are those of the textbook", function()
    local list = {2, 4, 4, 4, 5, 5, 7, 9}
    assert.equal(5, statistics.mean(list))
    assert.equal(4.5, statistics.median(list))
    assert.is_true(math.abs(statistics.deviation(list) - 2.13808993529939) < 1e-12)
    assert.equal(0.5, statistics.mad(list))
    assert.equal(1, statistics.iqr(list))
    assert.is_nil(statistics.deviation {1})
    assert.equal(0, statistics.deviation {1, 1})
    assert.equal(0, statistics.mad {1})
  end)

  it("do not lose digits to large numbers", function()
    local base = 1e15
    local deviation = statistics.deviation {base + 4, base + 7, base + 13, base + 16}
    assert.is_true(math.abs(deviation - 5.477225575051661) < 1e-6)
    assert.equal(math.maxinteger, statistics.percentile({math.maxinteger, 1}, 100))
  end)

  it("that are robust hold against a third of wild values", function()
    local list = {}
    for i = 1, 60 do list[i] = 100 + i % 3 end
    for i = 61, 85 do list[i] = 1e9 end
    assert.is_true(statistics.median(list) <= 102)
    assert.is_true(statistics.mad(list) <= 2)
  end)
end)

describe("the 95 % interval", function()
  it("uses Student's t", function()
    assert.equal(12.7062, statistics.t95(1))
    assert.equal(2.0860, statistics.t95(20))
    assert.is_true(math.abs(statistics.t95(21) - 2.0796) < 2e-4)
    assert.is_true(math.abs(statistics.t95(60) - 2.0003) < 2e-4)
    assert.is_true(math.abs(statistics.t95(100000) - 1.95998) < 2e-4)
  end)

  it("of independent values covers the true mean 95 times in 100", function()
    local random, covered = normal(42), 0
    for _ = 1, 1000 do
      local values = {}
      for i = 1, 60 do values[i] = 10 + random() end
      local mean, half = statistics.batch_means(values)
      if math.abs(mean - 10) <= half then covered = covered + 1 end
    end
    assert.is_true(covered > 925 and covered < 975, covered)
  end)

  it("of values that depend on one another is wider than a plain one, and covers better", function()
    local random, batch, plain = normal(7), 0, 0
    for _ = 1, 400 do
      local values, state = {}, 0
      for i = 1, 2000 do
        state = 0.9 * state + random()
        values[i] = state
      end
      local mean, half = statistics.batch_means(values)
      if math.abs(mean) <= half then batch = batch + 1 end
      if math.abs(mean) <= 1.96 * statistics.deviation(values) / math.sqrt(2000) then plain = plain + 1 end
    end
    assert.is_true(batch > 0.88 * 400, batch)
    assert.is_true(plain < 0.7 * 400, plain)
  end)

  it("needs 4 values", function()
    for n = 1, 3 do
      local mean, half = statistics.batch_means(upto(n))
      assert.equal((n + 1) / 2, mean)
      assert.is_nil(half)
    end
    assert.is_number(select(2, statistics.batch_means(upto(4))))
  end)

  it("of equal values is a point", function()
    local mean, half = statistics.batch_means {5, 5, 5, 5, 5, 5}
    assert.equal(5, mean)
    assert.equal(0, half)
  end)

  it("of a rate divides each interval by its real length", function()
    local counts, seconds = {}, {}
    for i = 1, 10 do counts[i], seconds[i] = 100, 1.0 end
    counts[11], seconds[11] = 5, 0.05 -- the run ended within the interval
    local rate, half = statistics.rate_interval(counts, seconds)
    assert.is_true(math.abs(rate - 100) < 1e-9)
    assert.is_true(half < 1e-9)
  end)

  it("of a rate counts an interval in which nothing completed", function()
    local rate, half = statistics.rate_interval({10, 0, 10, 0, 10, 0, 10, 0}, {1, 1, 1, 1, 1, 1, 1, 1})
    assert.equal(5, rate)
    assert.equal(0, half) -- each batch of two intervals has the same
    half = select(2, statistics.rate_interval({10, 10, 0, 0, 10, 10, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1}))
    assert.is_true(half > 5)
  end)
end)
