-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Statistics of samples, with their edges.
local statistics = require "hdd.statistics"

local function upto(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
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
                        statistics.iqr} do
      assert.is_nil((f {}))
      assert.is_nil((f {0 / 0, 1 / 0, -1 / 0}))
    end
    assert.is_nil(statistics.percentile({}, 50))
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

describe("the quantile of Student's t", function()
  it("is that of the tables", function()
    for _, row in ipairs {{0.975, 1, 12.7062}, {0.975, 10, 2.2281}, {0.995, 200, 2.6006}, {0.9975, 30, 3.0298},
                          {0.95, 5, 2.0150}, {0.975, 1e6, 1.95997}} do
      assert.is_true(math.abs(statistics.student_quantile(row[1], row[2]) - row[3]) < 2e-4, row[2])
    end
    assert.has_error(function() statistics.student_quantile(0.5, 3) end)
    assert.has_error(function() statistics.student_quantile(0.9, 0) end)
  end)
end)

describe("the long-run variance", function()
  it("is that of independent values, and more where neighbours are alike", function()
    math.randomseed(5)
    local function mean_of(rho)
      local sum = 0.0
      for _ = 1, 200 do
        local values, state = {}, 0.0
        for i = 1, 300 do
          state = rho * state + math.random() - 0.5
          values[i] = state
        end
        sum = sum + statistics.long_run_variance(values) * 12 / 200
      end
      return sum
    end
    assert.is_true(math.abs(mean_of(0) - 1) < 0.1)
    assert.is_true(math.abs(mean_of(0.5) - 4) < 0.5) -- 1 / (1 - rho)^2
  end)

  it("takes no notice of the mean, and needs four values", function()
    local values, shifted = {}, {}
    for i = 1, 50 do
      values[i] = math.sin(i * i)
      shifted[i] = values[i] + 10
    end
    local a, df = statistics.long_run_variance(values)
    assert.is_true(math.abs(a - statistics.long_run_variance(shifted)) < 1e-9)
    assert.equal(5, df)
    assert.is_nil((statistics.long_run_variance {1, 2, 3}))
  end)
end)
