-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- A fio job's document in fio's own layout.
local fiojson = require "hdd.view.fiojson"
local json = require "hdd.json"

local function row(more)
  local job = {
    name = "a", number = 1, group = 0, rw = "randread", block_size_bytes = 4096, depth = 8, numjobs = 1, merged = 1,
    iops = 200.5, bandwidth_bytes_per_s = 821248.0, latency_mean_us = 8000.5, latency_stddev_us = 100.0,
    latency_min_us = 0.9, latency_max_us = 3000000.0, ios = 4, bytes = 16384, errors = 0, elapsed_s = 2.5, ramp_s = 1.0,
    percentiles = { { percent = 50.0, latency_ns = 9000 }, { percent = 99.95, latency_ns = 3000000000 } },
    bins = {
      { latency_ns = 900, count = 1 }, { latency_ns = 9000, count = 1 }, { latency_ns = 9000000, count = 1 },
      { latency_ns = 3000000000, count = 1 },
    },
    bandwidth_samples = { samples = 3, min = 1024.0, max = 4096.0, mean = 2048.0, stddev = 512.0 },
    iops_samples = { samples = 3, min = 1.0, max = 4.0, mean = 2.0, stddev = 0.5 },
    cpu_user_s = 0.25, cpu_system_s = 0.5,
    options = { { name = "blocksize", value = "4k" }, { name = "time_based", value = "1" } },
  }
  for key, value in pairs(more or {}) do job[key] = value end
  return job
end

local function encoded(jobs, more, options)
  local document = {
    schema = "hddlua.fiojob/1", started_at = "2026-12-01T03:00:00Z", finished_at = "2026-12-01T03:06:57Z",
    jobs = jobs, global_options = { { name = "iodepth", value = "8" } }, drive = { path = "/dev/sdb" }, disk_util = {},
  }
  for key, value in pairs(more or {}) do document[key] = value end
  local text = assert(fiojson.document(document, options))
  return assert(json.decode(text)), text
end

describe("fio's layout", function()
  it("has the time in fio's three ways, whatever the time zone", function()
    local value = encoded { row() }
    assert.equal(1796094417, value.timestamp)
    assert.equal(1796094417000, value.timestamp_ms)
    assert.equal("Tue Dec  1 03:06:57 2026", value.time)
    value = encoded({ row() }, { finished_at = "2000-02-29T00:00:01Z" })
    assert.equal(951782401, value.timestamp)
    assert.equal("Tue Feb 29 00:00:01 2000", value.time)
  end)

  it("has rates in KiB/s and bytes/s, times in ms and ns", function()
    local read = encoded({ row() }).jobs[1].read
    assert.same({ 16384, 16, 821248, 802, 2500, 4 },
      { read.io_bytes, read.io_kbytes, read.bw_bytes, read.bw, read.runtime, read.total_ios })
    assert.equal(200.5, read.iops)
    assert.same({ 900, 3000000000, 4 }, { read.clat_ns.min, read.clat_ns.max, read.clat_ns.N })
    assert.equal(8000500.0, read.lat_ns.mean)
    assert.same({ ["50.000000"] = 9000, ["99.950000"] = 3000000000 }, read.clat_ns.percentile)
    assert.same({ 1, 4, 2.0, 0.5, 3 }, { read.bw_min, read.bw_max, read.bw_mean, read.bw_dev, read.bw_samples })
    assert.equal(100.0, read.bw_agg)
  end)

  it("has the shares of latencies below each limit: all of them, once", function()
    local job = encoded({ row() }).jobs[1]
    assert.equal(25.0, job.latency_ns["1000"])
    assert.equal(25.0, job.latency_us["10"])
    assert.equal(25.0, job.latency_ms["10"])
    assert.equal(25.0, job.latency_ms[">=2000"])
    local sum = 0
    for _, key in ipairs { "latency_ns", "latency_us", "latency_ms" } do
      for _, share in pairs(job[key]) do sum = sum + share end
    end
    assert.equal(100.0, sum)
  end)

  it("has bins only when they are asked for", function()
    assert.is_nil(encoded({ row() }).jobs[1].read.clat_ns.bins)
    local bins = encoded({ row() }, nil, { bins = true }).jobs[1].read.clat_ns.bins
    assert.equal(1, bins["9000000"])
  end)

  it("has fio's names for options, and those that its readers need", function()
    local options = encoded({ row() }).jobs[1]["job options"]
    assert.same({
      name = "a", filename = "/dev/sdb", rw = "randread", bs = "4k", numjobs = "1", time_based = "1",
    }, options)
    assert.same({ iodepth = "8" }, encoded({ row() })["global options"])
  end)

  it("keeps the options of each job to itself", function()
    local value = encoded { row { options = { { name = "stonewall", value = "1" } } }, row() }
    assert.equal("1", value.jobs[1]["job options"].stonewall)
    assert.is_nil(value.jobs[2]["job options"].stonewall)
    -- And what it has of its group's rate.
    assert.equal(50.0, value.jobs[2].read.bw_agg)
  end)

  it("places the depth in fio's steps", function()
    for depth, step in pairs { [1] = "1", [3] = "4", [8] = "8", [33] = ">=64", [300] = ">=64" } do
      assert.equal(100.0, encoded({ row { depth = depth } }).jobs[1].iodepth_level[step])
    end
  end)

  it("is whole without a job, without a read, and with failed reads", function()
    local value, text = encoded {}
    assert.same({}, value.jobs)
    assert.truthy(text:find('"jobs": []', 1, true))
    local empty = row {
      ios = 0, bytes = 0, elapsed_s = 0.0, bins = {}, percentiles = {}, bandwidth_samples = { samples = 0 },
      iops_samples = { samples = 0 }, errors = 7,
    }
    for _, key in ipairs {
      "iops", "bandwidth_bytes_per_s", "latency_mean_us", "latency_stddev_us", "latency_min_us", "latency_max_us",
    } do
      empty[key] = nil
    end
    local job = encoded({ empty }).jobs[1]
    assert.equal(5, job.error)
    assert.equal(0.0, job.read.iops)
    assert.is_nil(job.read.clat_ns.percentile)
  end)

  it("has the device's own counters", function()
    local disk = { name = "sdb", read_ios = 9, in_queue_ms = 3, util_percent = 50.5 }
    local value = encoded({ row() }, { disk_util = { disk } })
    assert.same({ "sdb", 9, 0, 3, 50.5 }, { value.disk_util[1].name, value.disk_util[1].read_ios,
      value.disk_util[1].write_ios, value.disk_util[1].in_queue, value.disk_util[1].util })
  end)

  it("is made of a fio job only", function()
    local text, message = fiojson.document { schema = "hddlua.qdsweep/1" }
    assert.is_nil(text)
    assert.matches("not of hddlua.qdsweep/1", message)
  end)
end)
