--- The acceptance section of the burn-in: corruptions of simulated drives, drawn by seed, named with their
-- kind and place.
-- SPDX-License-Identifier: GPL-3.0-or-later
local corruptions = require "spec.support.corruptions"

local SEEDS <const> = math.tointeger(tonumber(os.getenv "ACCEPTANCE_SEEDS" or "20"))

return function(sections, tell)
  function sections.burnin()
    tell.say("## Burn-in with stamps of simulated drives with drawn faults\n")
    tell.say("| seed | corrupted runs | named right | missed or false | verdict |")
    tell.say("| ---: | ---: | ---: | --- | --- |")
    local good, runs, bytes = 0, 0, 0
    for seed = 1, SEEDS do
      tell.at("burnin: seed %d", seed)
      local said, expected, d, run = corruptions.burn_in(seed)
      local left, right, wrong = {}, 0, {}
      for _, line in ipairs(expected) do left[line] = (left[line] or 0) + 1 end
      for _, line in ipairs(said) do
        if (left[line] or 0) > 0 then
          left[line], right = left[line] - 1, right + 1
        else
          wrong[#wrong + 1] = "false: " .. line
        end
      end
      for line, n in pairs(left) do
        if n > 0 then wrong[#wrong + 1] = "missed: " .. line end
      end
      if not d then wrong[#wrong + 1] = run.stderr:gsub("\n", " ") end
      local status = d and d.verdict.status
      runs, bytes = runs + #expected, bytes + (d and d.summary.written_bytes or 0)
      if #wrong == 0 and status == "FAIL" and run.status == 1 then good = good + 1 end
      tell.say("| %d | %d | %d | %s | %s |", seed, #expected, right,
        #wrong > 0 and table.concat(wrong, "; ") or "none", status or "n/a")
    end
    tell.say("")
    tell.verdict(good == SEEDS, "%d of %d seeds: each of %d corrupted runs named with its kind and LBA, nothing "
      .. "false (%.0f MB written and verified)", good, SEEDS, runs, bytes / 1e6)
  end
end
