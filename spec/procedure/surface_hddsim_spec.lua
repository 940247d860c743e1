-- Surface scans of simulated drives whose faults are drawn by seed: what is found is held against what
-- was drawn.  Three drives here, 20 in the acceptance run.
-- SPDX-License-Identifier: GPL-3.0-or-later
local drawn_faults = require "spec.support.drawn_faults"
local hddsim = require "spec.support.hddsim"
local needs = require "spec.support.needs"

local SECTOR <const> = 512

describe("a surface scan of a simulated drive #realtime", function()
  for seed = 1, 3 do
    it("finds exactly the faults of seed " .. seed, function()
      needs.hddsim()
      assert.same({}, drawn_faults.try(seed).problems)
    end)
  end

  it("of a drive without faults is clean, at the drive's own rate", function()
    needs.hddsim()
    local drive <close> = hddsim.start("tiny,zones=1,capacity=512M")
    local d = drawn_faults.scan(drive, {})
    assert.equal("clean", d.summary.verdict)
    assert.same({}, d.slow)
    local truth = drive:truth()
    local rate = truth.zones[1].MB_s * 1e6
    assert.is_true(d.summary.bandwidth_bytes_per_s >= 0.97 * rate,
      string.format("%.1f of %.1f MB/s", d.summary.bandwidth_bytes_per_s / 1e6, rate / 1e6))
  end)

  it("finds the turn of a 7200 rpm drive, and holds its blocks against that", function()
    needs.hddsim()
    local drive <close> = hddsim.start("nas18t,zones=1,capacity=256M,fault=slow:200000+8:revs=3")
    local d = drawn_faults.scan(drive, {})
    assert.is_true(math.abs(d.rotation.revolution_us / 8333.33 - 1) < 0.001)
    assert.equal(1, #d.slow)
    assert.equal(200000 * SECTOR, d.slow[1].offset_bytes)
    assert.equal(8 * SECTOR, d.slow[1].length_bytes)
    assert.equal(3, d.slow[1].revolutions)
  end)
end)
