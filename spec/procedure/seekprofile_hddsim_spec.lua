-- A seek profile of the simulated drive, against its truth. What something else on the machine has put off
-- is measured again, up to three times.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local hdd = require "hdd"
local hddsim = require "spec.support.hddsim"
local needs = require "spec.support.needs"
local seekprofile = require "hdd.procedure.seekprofile"

local SHORT <const> = { distances = 15, samples = 10, accesses = 60 }

local function profile(sim, parameters, observer)
  local drive <close> = assert(hdd.open(sim.path))
  local d = assert(seekprofile.run(drive, parameters, observer))
  assert(document.validate(d))
  return d
end

-- Measures until `good` says nothing any more.
local function judged(sim, parameters, good)
  local d, problem
  for _ = 1, 3 do
    d = profile(sim, parameters)
    problem = good(d)
    if not problem then return d end
  end
  error(problem)
end

describe("a seek profile of the simulated drive #realtime", function()
  it("is the truth: turn, average seek, curve, read-ahead, places in the buffer", function()
    needs.hddsim()
    local sim <close> = hddsim.start("tiny,segments=6,ra=512K")
    local truth = sim:truth()
    local d = judged(sim, SHORT, function(d)
      local s = d.summary
      if math.abs(s.rpm / truth.parameters.rpm - 1) > 0.001 then return "rpm " .. s.rpm end
      local off = s.seek_average_us / (truth.seek.mean_random_ms * 1000) - 1
      -- Ten samples a distance: within 8 %. `make acceptance` asks for 5 of the full run.
      if math.abs(off) > 0.08 then return ("average seek off by %.1f %%"):format(off * 100) end
      if d.buffer.read_ahead_bytes ~= truth.parameters.ra then
        return "read-ahead " .. tostring(d.buffer.read_ahead_bytes)
      end
      if math.abs(d.buffer.places - truth.parameters.segments) > 1 then
        return "places " .. d.buffer.places
      end
    end)
    assert.equal("complete", d.status)
    assert.equal("measured", d.rotation.source)
    assert.is_true(d.rotating and d.buffer.hit)
    assert.is_false(d.buffer.reads_behind)
    assert.equal(15, #d.seeks)
    for i = 2, 15 do assert.is_true(d.seeks[i].fitted_us >= d.seeks[i - 1].fitted_us) end
    assert.is_true(d.seeks[15].seek_us > 3 * d.seeks[1].seek_us)
    assert.is_true(d.buffer.burst_bytes_per_s < truth.parameters.bus * 1e6 * 1.1)
    assert.is_true(d.buffer.burst_bytes_per_s > truth.parameters.bus * 1e6 * 0.3)
  end)

  it("of a drive whose stated speed is wrong tells the right one, and warns", function()
    needs.hddsim()
    local sim <close> = hddsim.start("tiny,rpm=7200,cache=0")
    local d = profile(sim, { distances = 6, samples = 4, accesses = 10, rpm = 5400 })
    assert.is_true(math.abs(d.rotation.rpm / 7200 - 1) < 0.002)
    assert.equal(5400, d.rotation.stated_rpm)
    assert.is_true(math.abs(d.rotation.deviation_percent - 33.3) < 0.3)
    local warnings = table.concat(d.warnings, "\n")
    assert.matches("it turns at 7%d%d%d%.%d rpm, not at the 5400 that were given", warnings)
    -- And this one has no buffer.
    assert.is_false(d.buffer.hit)
    assert.matches("no read buffer", warnings)
  end)
end)
