-- The time series: intervals, their merging when all are used, and what the precision is taken from.
-- SPDX-License-Identifier: GPL-3.0-or-later
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local needs = require "spec.support.needs"
local reads = require "spec.support.reads"

local function zero()
  return assert(hdd.open("/dev/zero", {size = 1 << 40}))
end

-- The series that the records of a job make, with intervals of `length` ns.
local function expected(list, length)
  local series = {}
  for _, read in ipairs(list) do
    local i = math.max((read.time_ns + length - 1) // length, 1) -- an interval has its end, not its begin
    for n = #series + 1, i do series[n] = {ios = 0, sum = 0, max = 0} end
    local interval = series[i]
    interval.ios, interval.sum = interval.ios + 1, interval.sum + read.latency_ns
    interval.max, interval.position = math.max(interval.max, read.latency_ns), read.offset
  end
  return series
end

local function check(series, list, length, elapsed_s)
  local want = expected(list, length)
  assert.equal(#want, #series)
  for i, interval in ipairs(series) do
    assert.equal((i - 1) * length / 1e9, interval.time_s)
    assert.equal(want[i].ios, interval.ios)
    assert.equal(want[i].ios * 512, interval.bytes)
    assert.equal(want[i].position, interval.position_bytes)
    if want[i].ios > 0 then
      assert.equal(want[i].max, interval.latency_max_ns)
      assert.is_true(math.abs(want[i].sum / want[i].ios - interval.latency_mean_ns) < 1e-6 * interval.latency_mean_ns)
    else
      assert.is_nil(interval.latency_max_ns)
    end
    local long = i < #series and length / 1e9 or elapsed_s - (i - 1) * length / 1e9
    assert.is_true(math.abs(long - interval.elapsed_s) < 1e-9)
  end
end

describe("a job's series #core", function()
  it("has each read in the interval in which it ended", function()
    local drive <close> = zero()
    local list, result = reads.of(drive, {pattern = "random", block_size = 512, ios = 3000, interval = 0.001})
    check(result.series, list, 1000000, result.elapsed_s)
  end)

  it("merges neighbours when all intervals are used, and loses nothing", function()
    local drive <close> = zero()
    local list, result = reads.of(drive, {pattern = "random", block_size = 512, ios = 4000, interval = 0.001,
                                          intervals = 4, depth = 2})
    local length = 1000000
    while (list[#list].time_ns + length - 1) // length > 4 do length = length * 2 end
    assert.is_true(#result.series <= 4 and #result.series >= 2)
    check(result.series, list, length, result.elapsed_s)
  end)

  it("of one interval is the whole", function()
    local drive <close> = zero()
    local result = assert(drive:run {pattern = "random", ios = 100, interval = 1000})
    assert.equal(1, #result.series)
    assert.equal(100, result.series[1].ios)
    assert.equal(result.elapsed_s, result.series[1].elapsed_s)
    assert.equal(0.0, result.series[1].time_s)
  end)

  it("never has more intervals than asked, however long it runs", function()
    local drive <close> = zero()
    for _, intervals in ipairs {2, 3, 16, 100} do
      local result = assert(drive:run {pattern = "random", runtime = 0.15, interval = 0.001, intervals = intervals})
      assert.is_true(#result.series <= intervals and #result.series >= intervals // 2)
      local ios, time = 0, 0
      for _, interval in ipairs(result.series) do
        assert.is_true(math.abs(interval.time_s - time) < 1e-9)
        ios, time = ios + interval.ios, time + interval.elapsed_s
      end
      assert.equal(result.ios, ios)
      assert.is_true(math.abs(time - result.elapsed_s) < 1e-9)
    end
  end)
end)

describe("the confidence interval of the IOPS", function()
  -- Student's t of 19 degrees of freedom at 97.5 %.
  local T19 <const> = 2.093

  it("is that of twenty batches of whole intervals", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"nth=7,delay=6", "delay=1", size = 1 << 20}
    local drive <close> = assert(hdd.open(disk.path))
    local list, result = reads.of(drive, {pattern = "random", block_size = 512, runtime = 0.45, interval = 0.02})
    local rates, sum = {}, 0
    local whole = #result.series - 1
    assert.is_true(whole >= 20 and whole < 40)
    for i = 1, whole do
      rates[i] = result.series[i].ios / 0.02
      sum = sum + rates[i]
    end
    local squares = 0
    for _, rate in ipairs(rates) do squares = squares + (rate - sum / whole) ^ 2 end
    local deviation = math.sqrt(squares / (whole - 1) / whole)
    local by_t = result.iops_ci95 / deviation
    assert.is_true(by_t > 2.02 and by_t <= T19 + 1e-9, "a t of " .. by_t .. " for " .. whole .. " batches")
    assert.is_true(#list > 20)
  end)

  it("is unknown while there are fewer than twenty", function()
    local drive <close> = zero()
    assert.is_nil(drive:run({pattern = "random", ios = 100, interval = 1}).iops_ci95)
  end)
end)
