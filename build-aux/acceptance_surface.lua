-- acceptance_surface.lua: what is long about surface scans. A function that adds its section to
-- acceptance.lua's.
-- SPDX-License-Identifier: GPL-3.0-or-later
local drawn_faults = require "spec.support.drawn_faults"
local hddsim = require "spec.support.hddsim"

local SEEDS <const> = math.tointeger(os.getenv "ACCEPTANCE_SEEDS") or 20

return function(sections, tools)
  local say, at, verdict = tools.say, tools.at, tools.verdict

  -- Of a drive without faults: the rate of the scan over the media rate.
  local function rate()
    local drive <close> = hddsim.start("tiny,zones=1,capacity=1G")
    local d = drawn_faults.scan(drive, {})
    local media = drive:truth().zones[1].MB_s * 1e6
    local share = d.summary.bandwidth_bytes_per_s / media
    verdict(share >= 0.97 and d.summary.verdict == "clean",
      "a drive without faults is %s, read at %.2f %% of its media rate (%.1f MB/s; 97 %% asked)",
      d.summary.verdict, share * 100, media / 1e6)
  end

  --- Surface scans of simulated drives whose faults are drawn by seed.
  function sections.surface()
    say("## Surface scans of simulated drives\n")
    say("| seed | unreadable sectors | slow sectors | reads to narrow down | to read again | found |")
    say("| ---: | ---: | ---: | ---: | ---: | --- |")
    local right = 0
    for seed = 1, SEEDS do
      at("surface: seed %d of %d, some 10 s", seed, SEEDS)
      local r = drawn_faults.try(seed)
      local summary = r.document.summary
      right = right + (#r.problems == 0 and 1 or 0)
      say("| %d | %d | %d | %d | %d | %s |", seed, r.unreadable, r.slow, summary.narrow_reads or 0,
        summary.rereads or 0, #r.problems == 0 and "exactly these" or table.concat(r.problems, "; "))
    end
    say("")
    verdict(right == SEEDS, "%d of %d seeds: no sector missed, none that is not", right, SEEDS)
    rate()
  end
end
