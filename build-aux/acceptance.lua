-- acceptance.lua SECTION...: what `make acceptance` measures, as Markdown on standard output; what it
-- is at, on standard error.
-- SPDX-License-Identifier: GPL-3.0-or-later
package.path = "./?.lua;" .. package.path
local document = require "hdd.document"
local json = require "dkjson"
local hddsim = require "spec.support.hddsim"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"
local truth = require "spec.support.truth"

local HDDLUA = "build/hddlua"
local ROW_S <const> = os.getenv "ACCEPTANCE_ROW_S" or "60" -- seconds a row of the sweep
local sections = {}
local failed = {}

local function say(...) print(string.format(...)) end
local function at(...) io.stderr:write(string.format(...), "\n") end

-- A line of the summary under a section: what was to be, what is.
local function verdict(ok, ...)
  local text = string.format(...)
  say("**%s**: %s\n", ok and "met" or "MISSED", text)
  if not ok then table.insert(failed, text) end
end

local function run_on(drive, arguments, seconds)
  local path = scratch.path("document")
  local argv = table.move(arguments, 1, #arguments, 2, {HDDLUA})
  table.move({"--json", path}, 1, 2, #argv + 1, argv)
  local run = hddsim.run(drive, argv, {timeout = seconds})
  assert(run.status == 0, run.stderr)
  return assert(document.load(path)), run.truth
end

local function lateness(t)
  local late = t.answer_late_us
  return ("%.1f/%.0f/%.0f"):format(late.p50, late.p99, late.max)
end

--- 40 zones of the simulated WD6000HLHX at its own speed, against its truth.
function sections.profile()
  say("## Zone profile on the simulated WD6000HLHX\n")
  at("profile: 40 zones of 256 MiB, some 90 s")
  local profile, true_of = run_on("wd6000hlhx", {"zoneprofile", "$DISK", "--count", "40"}, 900)
  local errors = truth.zone_errors(profile, true_of)
  local outliers = 0
  say("\"Delivered\" is what the simulator gave out in its zone there, the host's pauses counted.\n")
  say("| offset, GB | measured, MB/s | true | off, %% | delivered | measured again, off, %% |")
  say("| ---: | ---: | ---: | ---: | ---: | ---: |")
  for i, zone in ipairs(profile.zones) do
    local again = ""
    local expected = truth.rate(true_of, zone.offset_bytes, zone.length_bytes)
    if math.abs(errors[i]) > 0.015 then
      outliers = outliers + 1
      if outliers <= 4 then
        at("profile: the zone at %d once more", zone.offset_bytes)
        local once, true_once = run_on("wd6000hlhx", {"zoneprofile", "$DISK", "--count", "1", "--from",
          tostring(zone.offset_bytes), "--to", tostring(zone.offset_bytes + zone.length_bytes)}, 120)
        local off = once.zones[1].bandwidth_bytes_per_s / expected - 1
        again = ("%+.2f; answers late by %s µs"):format(off * 100, lateness(true_once))
      end
    end
    say("| %.1f | %.2f | %.2f | %+.2f | %.2f | %s |", zone.offset_bytes / 1e9,
      zone.bandwidth_bytes_per_s / 1e6, expected / 1e6, errors[i] * 100,
      (truth.delivered(true_of, zone.offset_bytes) or 0) / 1e6, again)
  end
  local median, share = truth.within(errors, 0.015)
  say("\nThe simulator's answers were late by %s µs (median/p99/max); %d outliers.\n", lateness(true_of),
    outliers)
  verdict(share >= 0.95 and median <= 0.005,
    "%.0f %% of the zones within 1.5 %% of the truth (95 %% asked); median off by %.2f %% (0.5 %% asked)",
    share * 100, median * 100)
end

--- Random 4 KiB reads at each depth, against the forecast, what was served, and fio in turn.
function sections.sweep()
  say("## Queue-depth sweep on the simulated WD6000HLHX\n")
  say("4 KiB, " .. ROW_S .. " s a row after 5 s of ramp; fio 3.33 with libaio in turn, as its io_uring overruns the " ..
    "depth.\n")
  say("| depth | hddlua | ± | foretold | off, %% | served meanwhile | fio | off fio, %% |")
  say("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
  local good, rows = 0, 0
  for _, depth in ipairs {1, 2, 4, 8, 16, 24} do
    at("sweep: depth %d, hddlua and fio, some 140 s", depth)
    local sweep, true_of = run_on("wd6000hlhx", {"qdsweep", "$DISK", "--depths", tostring(depth),
      "--block-sizes", "4096", "--ramp", "5", "--runtime", ROW_S}, 200)
    local fio = hddsim.run("wd6000hlhx", {"sh", "-c",
      "exec fio --name=a --filename=$DISK --rw=randread --bs=4k --direct=1 --ioengine=libaio " ..
      "--iodepth=" .. depth .. " --ramp_time=5 --runtime=" .. ROW_S .. " --time_based --output-format=json"},
      {timeout = 200})
    assert(fio.status == 0, fio.stderr)
    local theirs = json.decode(fio.stdout:match("{.*}")).jobs[1].read.iops
    local row, foretold = sweep.rows[1], truth.iops(true_of, 4096, depth)
    local off, off_fio = row.iops / foretold - 1, row.iops / theirs - 1
    rows = rows + 1
    if math.abs(off) <= 0.03 or math.abs(off_fio) <= 0.03 then good = good + 1 end
    say("| %d | %.1f | %.1f | %.1f | %+.1f | %.1f | %.1f | %+.1f |", depth, row.iops,
      row.iops_ci95 or 0, foretold, off * 100, truth.served(true_of, depth) or 0, theirs, off_fio * 100)
  end
  say("")
  verdict(good == rows, "%d of %d depths within 3 %% of the forecast or of fio", good, rows)
end

local BUSY <const> = [[
local hdd = require "hdd"
local document = require "hdd.document"
local path, size, busy, seconds, depth, out = ...
local drive <close> = assert(hdd.open(path, {size = size ~= "0" and math.tointeger(size) or nil}))
local job = assert(drive:start {pattern = "random", depth = tonumber(depth), runtime = tonumber(seconds)})
local rounds = 0
while busy == "busy" and job:progress().phase ~= "finished" do
  local kept = {}
  for i = 1, 200000 do kept[i] = {i, tostring(i)} end
  collectgarbage()
  local doc = document.new("hddlua.qdsweep/1", drive:identity(), {})
  local file <close> = assert(io.open(out, "w"))
  file:write(document.encode(doc))
  assert(require "hdd.core".fsync(file))
  rounds = rounds + 1
end
local r = job:wait()
print(("iops=%.3f p999_ns=%d rounds=%d"):format(r.iops, r.latency:percentile(99.9), rounds))
]]

local function busy_run(kind, how, path, seconds, depth)
  local arguments = {path, kind == "zero" and tostring(4 << 30) or "0", how, tostring(seconds),
    tostring(depth), scratch.path("saved")}
  local chunk = scratch.path("busy") .. ".lua"
  do
    local file <close> = assert(io.open(chunk, "w"))
    assert(file:write(BUSY))
  end
  local argv = table.move(arguments, 1, #arguments, 3, {HDDLUA, chunk})
  local run = kind == "zero" and process.run(argv) or hddsim.run("tiny", argv, {timeout = 200})
  assert(run.status == 0, run.stderr)
  local iops, p999 = run.stdout:match("iops=([%d.]+) p999_ns=(%d+)")
  return tonumber(iops), tonumber(p999)
end

--- A Lua thread that collects garbage and saves documents all the time, against one that waits.
function sections.busy()
  say("## A busy Lua thread\n")
  say("7 pairs in turn: the Lua thread waits for the job, or makes and collects garbage, encodes a " ..
    "document and saves it with fsync, over and over, on the other processor.\n")
  say("| drive | IOPS, busy / quiet (median) | p99.9 quiet, µs | p99.9 busy, µs (median) |")
  say("| --- | ---: | ---: | ---: |")
  local lines = {}
  for _, kind in ipairs {"zero", "hddsim"} do
    local ratios, quiet, busy = {}, {}, {}
    for i = 1, 7 do
      at("busy: %s, pair %d of 7", kind, i)
      local path = kind == "zero" and "/dev/zero" or "$DISK"
      local seconds, depth = kind == "zero" and 2 or 10, kind == "zero" and 32 or 4
      local q_iops, q_p999 = busy_run(kind, "quiet", path, seconds, depth)
      local b_iops, b_p999 = busy_run(kind, "busy", path, seconds, depth)
      ratios[i], quiet[i], busy[i] = b_iops / q_iops, q_p999 / 1000, b_p999 / 1000
    end
    table.sort(quiet)
    local ratio, p999 = truth.median(ratios), truth.median(busy)
    say("| %s | %.3f | %.1f–%.1f | %.1f |", kind == "zero" and "/dev/zero, depth 32" or
      "simulated drive, depth 4", ratio, quiet[1], quiet[7], p999)
    table.insert(lines, {ratio >= 0.98 and p999 <= quiet[7] * 1.0001,
      ("%s: IOPS ratio %.3f (0.98 asked), p99.9 busy %.1f µs, quiet up to %.1f µs"):format(kind,
        ratio, p999, quiet[7])})
  end
  say("")
  for _, line in ipairs(lines) do verdict(line[1], "%s", line[2]) end
end

--- Memory after a million I/Os and after a hundred million.
function sections.flat()
  say("## Memory\n")
  local function rss(ios)
    local run = process.run({HDDLUA, "bench/job.lua", "/dev/zero", "size=4294967296", "buffered",
      "depth=128", "block_size=4096", "ios=" .. ios}, {timeout = 1200})
    assert(run.status == 0, run.stderr)
    return tonumber(run.stdout:match("rss_kib=(%d+)"))
  end
  at("flat: 10^6, then 10^8 I/Os, some 3 minutes")
  local one, hundred = rss(1000000), rss(100000000)
  say("Depth 128, 4 KiB: %d KiB resident after 10⁶ I/Os, %d KiB after 10⁸.\n", one, hundred)
  verdict(one <= 5 * 1024 and hundred - one <= 256, "%.1f MiB (5 asked), growing by %d KiB (256 asked)",
    one / 1024, hundred - one)
end

--- The seek profile of each simulated drive, against its truth.
function sections.seek()
  say("## Seek profile of the simulated drives\n")
  say("| drive | rpm | measured | off, %% | average seek, ms | measured | off, %% | read-ahead, KiB | " ..
    "measured | places | measured |")
  say("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
  local worst_rpm, worst_seek = 0, 0
  for _, drive in ipairs {"tiny", "wd6000hlhx", "wd3000glfs", "nas18t"} do
    at("seek: %s, some 30 s", drive)
    local d, true_of = run_on(drive, {"seekprofile", "$DISK"}, 200)
    local p, seek = true_of.parameters, true_of.seek.mean_random_ms
    local off_rpm = d.summary.rpm / p.rpm - 1
    local off_seek = d.summary.seek_average_us / 1000 / seek - 1
    worst_rpm, worst_seek = math.max(worst_rpm, math.abs(off_rpm)), math.max(worst_seek, math.abs(off_seek))
    say("| %s | %d | %.1f | %+.3f | %.3f | %.3f | %+.1f | %.0f | %.0f | %d | %d |", drive, p.rpm,
      d.summary.rpm, off_rpm * 100, seek, d.summary.seek_average_us / 1000, off_seek * 100, p.ra / 1024,
      (d.summary.read_ahead_bytes or 0) / 1024, p.segments, d.buffer.places or 0)
  end
  say("")
  verdict(worst_rpm <= 0.001 and worst_seek <= 0.05,
    "rotation speed off by %.3f %% at most (0.1 %% asked), average seek by %.1f %% (5 %% asked)",
    worst_rpm * 100, worst_seek * 100)
end

--- The table of `make bench`.
function sections.speed()
  say("## Speed\n")
  at("speed: the table of make bench, some 15 minutes")
  local output = shell.run("bench/run --markdown 2>&1")
  say("%s\n", output)
  if output:find("\nfailed: ", 1, true) then
    table.insert(failed, "speed: " .. output:match("\n(failed: [^\n]*)"))
  end
end

require "build-aux.acceptance_health"(sections, {say = say, at = at, verdict = verdict})
require "build-aux.acceptance_fio"(sections, {say = say, at = at, verdict = verdict})
require "build-aux.acceptance_burnin"(sections, {say = say, at = at, verdict = verdict})
require "build-aux.acceptance_compare"(sections, {say = say, at = at, verdict = verdict})
require "build-aux.acceptance_surface"(sections, {say = say, at = at, verdict = verdict})
require "build-aux.acceptance_kill"(sections, {say = say, at = at, verdict = verdict})

say("# Acceptance: what was measured\n")
say("Written by `make acceptance` on %s, commit %s, %s, %s, load %s.\n",
  os.date("!%Y-%m-%d %H:%M UTC"), (shell.run("git rev-parse --short HEAD")), (shell.run("uname -sr")),
  (shell.run("sed -n 's/^model name.*: //p' /proc/cpuinfo | sort | uniq -c | sed 's/^ *//'")),
  (shell.run("cut -d' ' -f1-3 /proc/loadavg")))
for i = 1, #arg do
  local section = sections[arg[i]]
  if not section then
    at("acceptance: no section %s", arg[i])
    os.exit(2)
  end
  section()
end
for _, what in ipairs(failed) do at("missed: %s", what) end
