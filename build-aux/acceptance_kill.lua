--- The acceptance sections of what a burn-in of many drives over days stands on: kill -9 at random
-- moments, and many drives at once.
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local hddsim = require "spec.support.hddsim"
local json = require "dkjson"
local kills = require "spec.support.kills"
local shell = require "spec.support.shell"

local KILLS <const> = math.tointeger(tonumber(os.getenv "ACCEPTANCE_KILLS" or "50"))
local FIRST <const> = math.tointeger(tonumber(os.getenv "ACCEPTANCE_KILL_SEED" or "1")) -- for a run in pieces
local EACH <const>, LONGEST_S <const> = 4, 3.5
local DRIVES <const>, IOS <const>, SEQUENTIAL_S <const> = 8, 2000, 8

-- xorshift64*, as in spec/support/corruptions.lua: the same moments each time.
local function draws(seed)
  local x = seed * 0x9e3779b97f4a7c15 | 1
  return function()
    x = x ~ (x >> 12)
    x = x ~ (x << 25)
    x = x ~ (x >> 27)
    return ((x * 0x2545f4914f6cdd1d) >> 11) / 2 ^ 53
  end
end

local function same(a, b)
  return table.concat(a, "\n") == table.concat(b, "\n")
end

-- What is wrong with the end of a burn-in; nil when nothing is.
local function fault_of(r)
  local d = r.document
  if not d then return "no document: " .. r.stderr:gsub("\n", " ") end
  if not same(r.expected, r.said) then
    return "said: " .. table.concat(r.said, "; ") .. "; expected: " .. table.concat(r.expected, "; ")
  end
  if d.status ~= "complete" or d.verdict.status ~= "FAIL" or r.status ~= 1 then
    return string.format("%s, verdict %s, exit status %s", d.status, d.verdict.status, r.status)
  end
  if r.unverified > 0 then return r.unverified .. " sectors written and not read after it" end
  if #d.interruptions > r.killed then return "more interruptions than kills" end
  if r.left ~= "" then return "left behind: " .. r.left end
end

-- Starts simulated drives, and hands them over open; all is closed afterwards.
local function with_drives(settings, f)
  local sims, drives = {}, {}
  local _ <close> = setmetatable({}, { __close = function()
    for _, drive in ipairs(drives) do drive:close() end
    for _, sim in ipairs(sims) do sim:close() end
  end })
  for i, words in ipairs(settings) do
    sims[i] = hddsim.start(words)
    drives[i] = assert(hdd.open(sims[i].path))
  end
  f(drives, sims)
end

-- What each drive reads, all at once: results in their order.
local function together(drives, options)
  local list = {}
  for i, r in ipairs(hdd.each(drives, function(drive) return drive:run(options) end)) do
    list[i] = assert(r.result, r.message)
  end
  return list
end

local function random_options(i)
  return { pattern = "random", block_size = 4096, depth = 4, ios = IOS, seed = i, max_errors = 1000000 }
end

-- Random reads of each alone, then of all with a ninth that fails most of its reads.
local function random_reads(tell)
  local settings = {}
  for i = 1, DRIVES do settings[i] = "tiny,seed=" .. i end
  -- Two thirds of the ninth are unreadable, each failure taking 200 ms.
  settings[DRIVES + 1] = "tiny,fault=eio:0-10000000:ms=200"
  local worst, worst_p99 = 0, 0
  tell.say("| drive | alone, IOPS | together | off, %% | p99 alone, ms | together | errors |")
  tell.say("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
  with_drives(settings, function(drives)
    local alone = {}
    for i = 1, DRIVES do
      tell.at("many: drive %d alone, some 12 s", i)
      alone[i] = assert(drives[i]:run(random_options(i)))
    end
    tell.at("many: all together with one that fails")
    local sick = assert(drives[DRIVES + 1]:start {
      pattern = "random", block_size = 4096, depth = 4, runtime = 600, max_errors = 1000000,
    })
    local index = {}
    for i, drive in ipairs(drives) do index[drive] = i end
    local healthy = table.move(drives, 1, DRIVES, 1, {})
    local all = hdd.each(healthy, function(drive) return drive:run(random_options(index[drive])) end)
    sick:stop()
    local failed = sick:wait()
    for i = 1, DRIVES do
      local r = assert(all[i].result, all[i].message)
      local off = r.iops / alone[i].iops - 1
      local p99, p99_alone = r.latency:percentile(99) / 1e6, alone[i].latency:percentile(99) / 1e6
      worst = math.max(worst, math.abs(off))
      worst_p99 = math.max(worst_p99, p99 / p99_alone - 1)
      tell.say("| %d | %.1f | %.1f | %+.2f | %.1f | %.1f | %d |", i, alone[i].iops, r.iops, off * 100,
        p99_alone, p99, r.errors)
    end
    tell.say("| sick | | %.1f | | | | %d |", failed.iops, failed.errors)
  end)
  tell.say("")
  tell.verdict(worst <= 0.02 and worst_p99 <= 0.05, "%d drives at once, beside one that fails: each within %.2f %% "
    .. "of its rate alone (2 %% asked), p99 at most %.1f %% above (5 %% asked)", DRIVES, worst * 100,
    worst_p99 * 100)
end

-- Bytes a second of each job.
local function fio(sims)
  local words = { "fio --rw=read --bs=1m --direct=1 --ioengine=libaio --iodepth=4 --time_based",
    "--runtime=" .. SEQUENTIAL_S, "--output-format=json" }
  for i, sim in ipairs(sims) do words[#words + 1] = ("--name=d%d --filename=%s"):format(i, sim.path) end
  local rates = {}
  for i, job in ipairs(json.decode(shell.must(table.concat(words, " ")):match("{.*}")).jobs) do
    rates[i] = job.read.bw_bytes
  end
  return rates
end

-- How many drives at once keep their rate when read sequentially, by hddlua and by fio in turn.
local function sequential_reads(tell)
  tell.say("| drives | MB/s of each asked | slowest by hddlua | slowest by fio |")
  tell.say("| ---: | ---: | ---: | ---: |")
  local good, lines = true, {}
  for _, count in ipairs { 2, 4, 8 } do
    local settings = {}
    for i = 1, count do settings[i] = "tiny,zones=1,outer=150,inner=150,seed=" .. i end
    tell.at("many: %d drives sequentially, some 40 s", count)
    local ours, theirs, rate = 0, 0, nil
    with_drives(settings, function(drives, sims)
      rate = sims[1]:truth().zones[1].MB_s
      for _ = 1, 2 do -- the better of two, in turn
        local slowest, slowest_fio = math.huge, math.huge
        for _, r in ipairs(together(drives, { block_size = 1 << 20, depth = 4, runtime = SEQUENTIAL_S })) do
          slowest = math.min(slowest, r.bandwidth_bytes_per_s / 1e6)
        end
        for _, r in ipairs(fio(sims)) do slowest_fio = math.min(slowest_fio, r / 1e6) end
        ours, theirs = math.max(ours, slowest), math.max(theirs, slowest_fio)
      end
    end)
    tell.say("| %d | %s | %.1f | %.1f |", count, rate and ("%.1f"):format(rate) or "150", ours, theirs)
    good = good and ours >= theirs * 0.98
    lines[#lines + 1] = ("%d: %.0f %%"):format(count, ours / theirs * 100)
  end
  tell.say("")
  tell.verdict(good, "the slowest of as many drives, hddlua against fio in turn: %s (98 %% asked)",
    table.concat(lines, ", "))
end

return function(sections, tell)
  --- Eight drives and more at once.
  function sections.many()
    tell.say("## Many drives at once\n")
    tell.say("Random 4 KiB reads at depth 4, %d of each drive, the same places alone and together.\n", IOS)
    random_reads(tell)
    tell.say("Sequential 1 MiB reads at depth 4, the slowest drive's rate.\n")
    sequential_reads(tell)
  end

  function sections.kill()
    tell.say("## A writing burn-in killed at random moments\n")
    tell.say("| seed | kills | gone on from phase | noted | written, of the drive | unverified | right |")
    tell.say("| ---: | ---: | --- | ---: | ---: | ---: | --- |")
    local killed, runs, good, seed = 0, 0, 0, FIRST
    while killed < KILLS do
      local random, moments = draws(seed * 7919), {}
      for i = 1, math.min(EACH, KILLS - killed) do moments[i] = 0.05 + random() * LONGEST_S end
      tell.at("kill: seed %d, %d of %d kills so far", seed, killed, KILLS)
      local r = kills.burn_in(seed, moments)
      local fault = fault_of(r)
      killed, runs, good = killed + r.killed, runs + 1, good + (fault and 0 or 1)
      tell.say("| %d | %d | %s | %d | %.2f | %d | %s |", seed, r.killed, table.concat(r.phases, ", "),
        r.document and #r.document.interruptions or 0, r.written / 131072, r.unverified, fault or "yes")
      seed = seed + 1
    end
    tell.say("")
    tell.verdict(good == runs, "%d kills in %d burn-ins: %d of them resumed to the right verdict and the right "
      .. "list of corruptions, no write unverified", killed, runs, good)
    -- Slow enough for checkpoints within a phase, which come each 20 to 30 s. If each part began the phase
    -- anew, 2.6 times the drive would be written.
    tell.at("kill: a slow drive, some 90 s")
    local r = kills.burn_in(2, { 33, 3, 33 }, "speed=1,outer=1.8,inner=1.7", 200)
    local fault = fault_of(r)
    tell.verdict(not fault and r.written < 131072 * 2.2, "a drive that takes 40 s to write, killed %d times: %s, %.2f "
      .. "times its sectors written", r.killed, fault or "right", r.written / 131072)
  end
end
