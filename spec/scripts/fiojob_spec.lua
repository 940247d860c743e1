-- The fio job's script as a person runs it; its files as fio's readers take them.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local json = require "dkjson"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local MiB <const> = 1 << 20

-- Every key that is somewhere in a JSON value, as paths; what a list holds counts once.
local function keys_of(value, path, found)
  found, path = found or {}, path or ""
  if type(value) ~= "table" then return found end
  for key, member in pairs(value) do
    local inner = math.type(key) and path .. "[]" or path .. "/" .. key
    if not math.type(key) then found[inner] = true end
    keys_of(member, inner, found)
  end
  return found
end

-- What fio-plot takes from a file: the keys that its jsonparsing_support.py names, without a default.
local function fio_plot_row(value)
  local job, options = value.jobs[1], {}
  for _, list in ipairs { value.jobs[1]["job options"], value["global options"] } do
    for key, text in pairs(list) do options[key] = text end
  end
  local row = {
    iodepth = assert(tonumber(options.iodepth)), numjobs = assert(tonumber(options.numjobs)),
    bs = assert(options.bs), rw = assert(options.rw), version = assert(value["fio version"]),
  }
  for _, key in ipairs { "bw", "iops", "iops_stddev" } do row[key] = assert(tonumber(job.read[key]), key) end
  row.lat, row.lat_stddev = assert(job.read.lat_ns.mean), assert(job.read.lat_ns.stddev)
  for _, key in ipairs { "latency_ms", "latency_us", "latency_ns" } do
    local sum = 0
    for _, share in pairs(assert(job[key], key)) do sum = sum + share end
    row[key] = sum
  end
  row.cpu_usr, row.cpu_sys = assert(job.usr_cpu), assert(job.sys_cpu)
  return row
end

-- A folder of its own to run in, as logs go to where one is.
local function in_folder(home, arguments, env, options)
  options = options or {}
  options.cwd, options.env = home.folder, env
  local root = shell.must "pwd"
  local argv = table.move(arguments, 1, #arguments, 2, { root .. "/" .. process.interpreter })
  if process.interpreter:find("^/") then argv[1] = process.interpreter end
  for i, word in ipairs(argv) do argv[i] = word:gsub("^examples/", root .. "/examples/") end
  return process.run(argv, options)
end

local function job_file(home, text)
  local path = home:path("job") .. ".fio"
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(text))
  return path
end

describe("hddlua fiojob", function()
  it("runs the zone job as it is, with its log and fio's JSON", function()
    local home <close> = place.new()
    local r = in_folder(home, { "fiojob", "examples/disk-zoning.fio", "--output", "zoning.json", "--json", "own.json" },
      { DRIVE = scratch.file(8 * MiB) })
    assert.equal(0, r.status, r.stderr)
    assert.matches("disk_zoning +read +64 KiB +2 ", r.stdout)
    assert.matches("Note: zonesize without zonemode: the zones are read once", r.stdout)
    local log = assert(shell.read(home.folder .. "/disk_zoning_bw.1.log"))
    local lines = 0
    for line in log:gmatch("[^\n]+") do
      lines = lines + 1
      assert.matches("^%d+, %d+, 0, 65536, 0$", line)
    end
    assert.equal(128, lines)
    local value = assert(json.decode(assert(shell.read(home.folder .. "/zoning.json"))))
    assert.equal(8 * MiB, value.jobs[1].read.io_bytes)
    assert.equal("disk_zoning", value.jobs[1].jobname)
    local own = assert(document.load(home.folder .. "/own.json"))
    assert.equal("hddlua.fiojob/1", own.schema)
    assert.equal("", shell.run("ls " .. home.folder .. " | grep records || true"))
  end)

  it("writes JSON with every key of fio's own, and what fio-plot takes", function()
    needs.program "fio"
    local home <close> = place.new()
    local path = scratch.file(8 * MiB)
    local job = job_file(home, "[global]\nfilename=${DRIVE}\ndirect=1\n[a]\nrw=randread\nbs=4k\niodepth=4\n"
      .. "ioengine=libaio\nruntime=1\ntime_based=1\n")
    shell.must(("cd %s && DRIVE=%s fio --readonly --output-format=json+ --output=theirs.json %s"):format(
      home.folder, path, job))
    local r = in_folder(home, { "fiojob", job, "--output", "ours.json", "--output-format", "json+" }, { DRIVE = path })
    assert.equal(0, r.status, r.stderr)
    local theirs = assert(json.decode(assert(shell.read(home.folder .. "/theirs.json"))))
    local ours = assert(json.decode(assert(shell.read(home.folder .. "/ours.json"))))
    local have = keys_of(ours)
    for key in pairs(keys_of(theirs)) do
      -- A file has no counters of its own; which bins there are is chance.
      if not key:find("^/disk_util") and not key:find("/bins/") then assert.is_true(have[key] or false, key) end
    end
    for _, value in ipairs { theirs, ours } do
      if value == theirs then value.jobs[1]["job options"].numjobs = "1" end -- as bench-fio gives it
      local row = fio_plot_row(value)
      assert.same({ 4, 1, "4k", "randread" }, { row.iodepth, row.numjobs, row.bs, row.rw })
      assert.is_true(row.iops > 0 and row.lat > 0)
      assert.is_true(math.abs(row.latency_ms + row.latency_us + row.latency_ns - 100) < 1)
      assert.is_true(math.abs(value.jobs[1].read.bw_bytes / (row.iops * 4096) - 1) < 0.01)
    end
  end)

  it("prints fio's JSON alone on standard output when asked to", function()
    local home <close> = place.new()
    local job = job_file(home, "[a]\nrw=read\nbs=1m\ndirect=1\nsize=2m\n")
    local r = in_folder(home, { "fiojob", job, "--filename", scratch.file(4 * MiB), "--output", "-" })
    assert.equal(0, r.status, r.stderr)
    assert.equal(2, json.decode(r.stdout).jobs[1].read.total_ios)
  end)

  it("writes logs of averages as bench-fio's jobs ask for them", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "delay=5", size = 4 * MiB }
    local home <close> = place.new()
    local job = job_file(home, [[
[FIOJOB]
filename=${DRIVE}
direct=1
ioengine=libaio
rw=randread
bs=4k
iodepth=2
numjobs=2
runtime=1
time_based=1
loops=1
invalidate=1
group_reporting=1
log_avg_msec=200
write_bw_log=randread-iodepth-2-numjobs-2
write_lat_log=randread-iodepth-2-numjobs-2
write_iops_log=randread-iodepth-2-numjobs-2
]])
    local r = in_folder(home, { "fiojob", job }, { DRIVE = disk.path })
    assert.equal(0, r.status, r.stderr)
    for _, kind in ipairs { "bw", "lat", "clat", "iops" } do
      for number = 1, 2 do
        local log = shell.read(("%s/randread-iodepth-2-numjobs-2_%s.%d.log"):format(home.folder, kind, number))
        local lines, sum = 0, 0
        for time, value in assert(log, kind):gmatch("(%d+), (%d+), 0, 0, 0\n") do
          lines, sum = lines + 1, sum + tonumber(value)
          -- A span without a read has no latency.
          assert.is_true(tonumber(time) == lines * 200 or kind:find("lat") and tonumber(time) % 200 == 0)
        end
        assert.is_true(lines >= 1 and (lines >= 4 or kind:find("lat") ~= nil), kind .. lines)
        -- No read takes less than 5 ms.
        if kind == "lat" then assert.is_true(sum / lines >= 5e6) end
        if kind == "iops" then assert.is_true(sum / lines <= 2 / 0.005) end
      end
    end
  end)

  it("overwrites no log unasked, and refuses before anything is read", function()
    needs.fuse()
    local disk <close> = faultfs.mount { size = 4 * MiB }
    local home <close> = place.new()
    local env = { DRIVE = disk.path }
    shell.must("touch " .. home.folder .. "/disk_zoning_bw.1.log")
    local r = in_folder(home, { "fiojob", "examples/disk-zoning.fio" }, env)
    assert.equal(2, r.status)
    assert.matches("disk_zoning_bw.1.log", r.stderr)
    assert.equal("", r.stdout)
    local job = job_file(home, "[a]\nfilename=${DRIVE}\nrw=randwrite\n")
    r = in_folder(home, { "fiojob", job }, env)
    assert.equal(2, r.status)
    assert.matches("job%S*.fio:3: rw=randwrite: only reads are run .*: hddlua writes nothing", r.stderr)
    job = job_file(home, "[a]\nfilename=${DRIVE}\nrate_iops=9\n")
    r = in_folder(home, { "fiojob", job }, env)
    assert.equal(2, r.status)
    assert.matches(":3: rate_iops=9: not supported", r.stderr)
    r = in_folder(home, { "fiojob", "examples/rate-iops.fio" }, { DRIVE = disk.path, IODEPTH = "2", BS = false })
    assert.equal(2, r.status)
    assert.matches("the variable BS is not set: put BS=VALUE before the command", r.stderr)
    r = in_folder(home, { "fiojob", "no-such.fio" }, env)
    assert.equal(2, r.status)
    assert.same({}, disk:reads())
  end)

  it("ends with 130 after Ctrl-C: results and logs are of what was read", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "delay=2", size = 4 * MiB }
    local home <close> = place.new()
    local job = job_file(home, "[a]\nfilename=${DRIVE}\nrw=randread\ndirect=1\nruntime=60\nwrite_lat_log=x\n")
    local r = in_folder(home, { "fiojob", job, "--output", "x.json" }, { DRIVE = disk.path },
      { events = { { after = 0.8, signal = "INT" } }, timeout = 20 })
    assert.equal(130, r.status, r.stderr)
    local n = json.decode(assert(shell.read(home.folder .. "/x.json"))).jobs[1].read.total_ios
    assert.is_true(n > 0)
    local log = assert(shell.read(home.folder .. "/x_lat.1.log"))
    assert.equal(n, select(2, log:gsub("\n", "")))
  end)

  it("reads through the page cache when the job does not say direct=1, and says so", function()
    local home <close> = place.new()
    local job = job_file(home, "[a]\nrw=read\nbs=64k\n")
    local r = in_folder(home, { "fiojob", job, "--filename", scratch.file(MiB) })
    assert.equal(0, r.status, r.stderr)
    assert.matches("without direct=1 reads go through the page cache", (r.stdout:gsub("%s+", " ")))
  end)
end)
