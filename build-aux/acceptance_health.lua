-- acceptance_health.lua: what is long about drives' health. A function that adds its sections to
-- acceptance.lua's.
-- SPDX-License-Identifier: GPL-3.0-or-later
local broken_pages = require "spec.support.broken_pages"
local blobs = require "spec.support.blobs"
local expected = require "spec.support.expected"
local health = require "hdd.health"
local hddsim = require "spec.support.hddsim"
local pages = require "hdd.pages"
local sgreplay = require "spec.support.sgreplay"
local shell = require "spec.support.shell"
local smart_latency = require "spec.support.smart_latency"
local smartctl = require "spec.support.smartctl"
local transport = require "hdd.transport"

local MUTATIONS <const> = math.tointeger(os.getenv "ACCEPTANCE_MUTATIONS") or 1000000
local FUZZ_RUNS <const> = os.getenv "ACCEPTANCE_FUZZ_RUNS" or "10000000"
local LATENCY_RUN_S <const> = tonumber(os.getenv "ACCEPTANCE_LATENCY_RUN_S") or 15.9

local function from_recording(drive)
  local t <close> = assert(transport.open((sgreplay.recording(drive))))
  return pages.read(t, {all = true})
end

return function(sections, tools)
  local say, at, verdict = tools.say, tools.at, tools.verdict

  -- Blobs of real drives, which interpretation.json knows as well; not kept here.
  local function real_blobs()
    local found = blobs.all()
    if #found == 0 then
      say("HDDLUA_SMART_BLOBS names no folder with libatasmart's blob-examples: left out.\n")
      return
    end
    local read, asked = expected.none(), expected.none()
    for _, blob in ipairs(found) do
      expected.add(read, blobs.count(blob))
      expected.add(asked, blobs.count_through_kernel(blob))
    end
    verdict(read.right == read.all and asked.right == asked.all, "%d real drives of libatasmart's " ..
      "blob-examples: %d of %d values of interpretation.json from the blob, %d of %d through SG_IO",
      #found, read.right, read.all, asked.right, asked.all)
    for _, wrong in ipairs(read.wrong) do say("- %s", wrong) end
  end

  --- Every expected value of every fixture, from recordings and through the kernel's calls; and
  -- smartctl beside it.
  function sections.health()
    say("## What drives say of themselves\n")
    say("| drive | values | from a recording | through the ioctl | smartctl agrees | explained |")
    say("| --- | ---: | ---: | ---: | ---: | ---: |")
    local replayed, asked, same, explained = expected.none(), expected.none(), 0, 0
    local has_smartctl = select(2, shell.run("command -v smartctl")) == 0
    for _, drive in ipairs(sgreplay.drives()) do
      at("health: %s", drive)
      local path, _, _, values = sgreplay.recording(drive)
      local count = expected.count(drive, from_recording(drive))
      local agree, differ = "", {}
      if has_smartctl then
        agree, differ = smartctl.compare(smartctl.ask(drive), assert(health.read(path, {all = true})))
        same, explained = same + agree, explained + #differ
      end
      expected.add(replayed, count)
      expected.add(asked, values)
      say("| %s | %d | %d | %d | %s | %s |", drive, count.all, count.right, values.right, agree,
        has_smartctl and #differ or "")
    end
    say("")
    verdict(replayed.right == replayed.all, "%d of %d values from recordings", replayed.right,
      replayed.all)
    verdict(asked.right == asked.all, "%d of %d values through SG_IO and NVMe's ioctl", asked.right,
      asked.all)
    say("%d of them are read by the tools that printed them and not to be believed: absent with us. " ..
      "%d more is in no byte of its fixture.\n", asked.disbelieved, asked.absent)
    if has_smartctl then
      say("smartctl's JSON: %d fields agree, %d differ: docs/smartctl-differences.md.\n", same, explained)
    end
    real_blobs()
  end

  --- The C parsers and the Lua decoders on broken bytes.
  function sections.decoders()
    say("## Broken bytes\n")
    at("decoders: %s mutated inputs for each of the C parsers, some 5 minutes", FUZZ_RUNS)
    local said = shell.run("make -s fuzz RUNS=" .. FUZZ_RUNS .. " 2>&1")
    local survived = 0
    for _ in said:gmatch("Done " .. FUZZ_RUNS .. " runs") do survived = survived + 1 end
    verdict(survived == 2, "the C parsers, under AddressSanitizer and UndefinedBehaviorSanitizer: %s",
      (said:gsub("\n", "; "):gsub("; $", "")))
    at("decoders: %d broken pages, some 10 minutes", MUTATIONS)
    local ok, r = pcall(broken_pages.decode, MUTATIONS, os.time())
    verdict(ok and r.slowest_s < 0.010, "the decoders: %s", not ok and r or
      ("%d mutations of %d pages (%d ATA, %d NVMe, %d SCSI); none raised, no value outside its "
        .. "field, the slowest took %.2f ms (%s)"):format(MUTATIONS, r.pages, r.kinds.ata,
        r.kinds.nvme, r.kinds.scsi, r.slowest_s * 1e3, r.slowest))
  end

  --- SMART of one drive beside reads of another.
  function sections.latency()
    say("## SMART of one drive, and another drive's latencies\n")
    at("latency: 7 pairs, some %.0f s", 16 * LATENCY_RUN_S)
    local drive <close> = hddsim.start("wd6000hlhx")
    local ratios, readings = smart_latency.ratios(drive.path, LATENCY_RUN_S)
    say("Each command takes 2 s; runs of %g s, random 4 KiB reads at depth 1 of the simulated " ..
      "WD6000HLHX; SMART was read %d times. Ratios: %s.\n", LATENCY_RUN_S, readings,
      (table.concat(ratios, ", "):gsub("(%d%.%d%d%d)%d*", "%1")))
    verdict(ratios[4] <= 1.05, "p99 with SMART over without, median of 7 pairs: %.3f (1.05 asked)",
      ratios[4])
  end
end
