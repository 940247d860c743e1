-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- fio's JSON as documents. The fixtures are what fio 3.33 wrote of a simulated drive.
local document = require "hdd.document"
local fiojson = require "hdd.fio.json"
local json = require "hdd.json"
local shell = require "spec.support.shell"
local view = require "hdd.view.fiojson"

local function fixture(name) return assert(shell.read("spec/fixtures/fio/" .. name)) end

local function near(expected, found) return math.abs(found / expected - 1) < 1e-9 end

-- One job of reads, to be changed.
local function result(change)
  local value = {
    ["fio version"] = "fio-3.33", timestamp = 1796094417, ["global options"] = { filename = "/dev/sdb" },
    jobs = { {
      jobname = "a", groupid = 0, error = 0, ["job options"] = { rw = "randread", bs = "4k", iodepth = "2" },
      read = {
        total_ios = 100, io_bytes = 409600, bw_bytes = 40960, bw = 40, iops = 10.0, runtime = 10000,
        lat_ns = { min = 1000, max = 9000, mean = 5000.0, stddev = 10.0, N = 100 },
        clat_ns = {
          min = 900, max = 8900, mean = 4900.0, stddev = 10.0, N = 100, percentile = { ["50.000000"] = 4000 },
        },
      },
    } },
  }
  if change then change(value, value.jobs[1]) end
  return json.encode(value)
end

describe("fio's JSON", function()
  it("is a sweep of its random reads, and a document of all its jobs", function()
    local documents, notes = assert(fiojson.read(fixture "two.json"))
    assert.equal(2, #documents)
    local sweep, all = documents[1], documents[2]
    for _, d in ipairs(documents) do
      assert(document.validate(d))
      assert.same({ name = "fio", version = "3.33" }, d.tool)
      assert.equal("2026-12-01T03:21:54Z", d.started_at)
      assert.equal("disk", d.drive.path)
      assert.is_nil(d.drive.serial)
    end
    assert.equal(2, #sweep.rows)
    local one, eight = sweep.rows[1], sweep.rows[2]
    assert.same({ 512, 1, 512, 8 }, { one.block_size_bytes, one.depth, eight.block_size_bytes, eight.depth })
    assert.is_true(near(124.750499, one.iops) and near(214.285714, eight.iops))
    assert.is_true(near(8008.260248, one.latency_mean_us))
    assert.is_true(near(13959.168, one.latency_p99_us))
    assert.same({ 1, 8 }, sweep.parameters.depths)
    assert.equal(8, sweep.summary.best_iops_depth)
    assert.same({ "one", "eight", "outer" }, { all.jobs[1].name, all.jobs[2].name, all.jobs[3].name })
    assert.equal("read", all.jobs[3].rw)
    assert.is_true(math.abs(all.jobs[3].bandwidth_bytes_per_s / 1024 - 147603) <= 1)
    assert.matches("completion latencies %(clat%)", table.concat(notes, "\n"))
  end)

  it("plus has its bins", function()
    local documents = assert(fiojson.read(fixture "json_plus.json"))
    local job = documents[2].jobs[1]
    local count = 0
    for i, bin in ipairs(job.bins) do
      count = count + bin.count
      assert.is_true(i == 1 or bin.latency_ns > job.bins[i - 1].latency_ns)
    end
    assert.equal(job.ios, count)
    assert.equal(17, #job.percentiles)
  end)

  it("is read behind messages that fio wrote before it", function()
    local documents, notes = assert(fiojson.read("fio: some warning\nmore\n" .. fixture "two.json"))
    assert.equal(2, #documents)
    assert.matches("messages before the JSON", table.concat(notes, "\n"))
  end)

  it("of version 2 has microseconds and KiB", function()
    local documents = assert(fiojson.read(result(function(value, job)
      value["fio version"] = "fio-2.16"
      job.read = {
        total_ios = 100, io_bytes = 400, bw = 40, iops = 10.0, runtime = 10000,
        lat = { min = 1, max = 9000, mean = 5000.5 },
        clat = { min = 1, max = 8000, mean = 4000, percentile = { ["99.00"] = 7000 } },
      }
    end)))
    local row = documents[1].rows[1]
    assert.equal(5000.5, row.latency_mean_us)
    assert.equal(7000, row.latency_p99_us)
    assert.equal(40960, row.bandwidth_bytes_per_s)
    assert.equal(409600, documents[2].jobs[1].bytes)
  end)

  it("has percentiles of the whole latency, where fio was asked for them", function()
    local documents, notes = assert(fiojson.read(result(function(_, job)
      job.read.lat_ns.percentile, job.read.clat_ns.percentile = { ["50.000000"] = 5100 }, nil
    end)))
    assert.is_true(near(5.1, documents[1].rows[1].latency_p50_us))
    assert.same({}, notes)
  end)

  it("leaves out writes, says so, and is refused when there is nothing else", function()
    local documents, notes = assert(fiojson.read(result(function(value, job)
      value.jobs[2] = { jobname = "w", read = { total_ios = 0 }, write = { total_ios = 5 }, ["job options"] = {} }
      job.error = 5
    end)))
    assert.equal(1, #documents[2].jobs)
    notes = table.concat(notes, "\n")
    assert.matches("1 job wrote: writes are left out", notes)
    assert.matches("job a ended with error 5", notes)
    assert.is_true(documents[1].rows[1].flagged)
    local none, message, code = fiojson.read(result(function(_, job) job.read.total_ios = 0 end), { name = "x.json" })
    assert.is_nil(none)
    assert.matches("^x.json: it has no job with reads", message)
    assert.equal(22, code)
  end)

  it("is no sweep where clones made another depth", function()
    local documents, notes = assert(fiojson.read(result(function(_, job) job["job options"].numjobs = "4" end)))
    assert.equal("hddlua.fiojob/1", documents[1].schema)
    assert.matches("numjobs=4", table.concat(notes, "\n"))
  end)

  it("that is none is refused, whatever it is", function()
    for _, text in ipairs { "", "x", "{", "[]", "{}", '{"jobs": []}', "0, 1, 0, 4096, 0\n" } do
      local documents, message, code = fiojson.read(text, { name = "x.json" })
      assert.is_nil(documents)
      assert.matches("^x.json: it is", message)
      assert.equal(74, code)
    end
    assert.is_false(fiojson.is "{}")
    assert.is_true(fiojson.is(fixture "two.json"))
  end)

  it("with wrong types in it is read as far as it goes, or refused, and never an error", function()
    local odd = { json.null, true, -1, "x", {}, 1e300 }
    local function spoil(value, path)
      local spoilt = {}
      for key, member in pairs(value) do
        for _, other in ipairs(odd) do
          spoilt[#spoilt + 1] = function(root)
            local at = root
            for _, step in ipairs(path) do at = at[step] end
            at[key] = other
          end
        end
        if type(member) == "table" then
          local longer = table.move(path, 1, #path, 1, {})
          longer[#longer + 1] = key
          table.move(spoil(member, longer), 1, #spoil(member, longer), #spoilt + 1, spoilt)
        end
      end
      return spoilt
    end
    local whole = json.decode(result())
    local n = 0
    for _, change in ipairs(spoil(whole, {})) do
      local text = result(function(value) change(value) end)
      local documents, message = fiojson.read(text)
      assert.is_true(documents ~= nil or type(message) == "string")
      for _, d in ipairs(documents or {}) do assert(document.validate(d)) end
      n = n + 1
    end
    assert.is_true(n > 150)
  end)

  it("of several files, each with one depth, is joined to one sweep", function()
    local sweeps = {}
    for i, depth in ipairs { "16", "1", "4" } do
      sweeps[i] = assert(fiojson.read(result(function(_, job) job["job options"].iodepth = depth end)))[1]
    end
    local joined = assert(fiojson.join(sweeps))
    assert(document.validate(joined))
    assert.same({ 1, 4, 16 }, { joined.rows[1].depth, joined.rows[2].depth, joined.rows[3].depth })
    assert.same({ 1, 4, 16 }, joined.parameters.depths)
    sweeps[2].drive.path = "/dev/sdc"
    assert.same({ nil, "/dev/sdb and /dev/sdc are not the same drive", 22 }, { fiojson.join(sweeps) })
  end)

  it("made by hddlua is read as what it was", function()
    local all = assert(fiojson.read(fixture "json_plus.json"))[2]
    local again = assert(fiojson.read(assert(view.document(all, { bins = true }))))[2]
    local a, b = all.jobs[1], again.jobs[1]
    for _, key in ipairs { "ios", "bytes", "depth", "block_size_bytes", "rw", "name" } do
      assert.equal(a[key], b[key])
    end
    assert.is_true(near(a.iops, b.iops))
    assert.same(a.bins, b.bins)
    assert.same(a.percentiles, b.percentiles)
    assert.equal("hddlua", again.tool.name)
  end)
end)
