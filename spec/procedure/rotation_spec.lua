-- Results held against what a turning platter allows, and against Little's law.
-- SPDX-License-Identifier: GPL-3.0-or-later
local rotation = require "hdd.procedure.rotation"

-- A row of random reads that is right in itself.
local function row(depth, iops)
  return {
    depth = depth, depth_achieved = depth, iops = iops, ios = 100000, errors = 0,
    latency_mean_us = depth / iops * 1e6,
  }
end

describe("a drive's turning", function()
  it("is what the user says, else the drive, else the kernel", function()
    local drive = { rotation_rate_rpm = 7200, rotational = false }
    assert.same({ rotating = true, rpm = 10000, assumed = false }, rotation.of(drive, 10000))
    assert.same({ rotating = false, assumed = false }, rotation.of(drive, 0))
    assert.same({ rotating = true, rpm = 7200, assumed = false }, rotation.of(drive))
    assert.same({ rotating = false, assumed = false },
      rotation.of { rotation_rate_rpm = 0, rotational = true })
    assert.same({ rotating = false, assumed = false }, rotation.of { rotational = false })
  end)

  it("is taken for that of the fastest disks when only the kernel's flag is known", function()
    assert.same({ rotating = true, rpm = 15000, assumed = true }, rotation.of { rotational = true })
  end)

  it("is unknown when nobody says anything", function()
    assert.is_nil(rotation.of({}).rotating)
  end)
end)

describe("a row of a sweep", function()
  local disk = rotation.of { rotation_rate_rpm = 10000 }

  it("of a real disk is plausible at every depth", function()
    -- The 73 GB Raptor of 10000 rpm, as others have measured it.
    local raptor = { [1] = 124.0, [2] = 123.6, [4] = 123.2, [8] = 141.8, [16] = 162.7, [32] = 181.3 }
    for depth, iops in pairs(raptor) do
      assert.is_nil(rotation.verdict(row(depth, iops), disk))
    end
    -- One of two arms, 7200 rpm.
    assert.is_nil(rotation.verdict(row(16, 304), rotation.of { rotation_rate_rpm = 7200 }))
  end)

  it("above half a turn a read is not the medium's", function()
    assert.is_nil(rotation.verdict(row(1, 333), disk))
    assert.matches("above 333 IOPS, which is half a turn a read at 10000 rpm: a cache or unwritten",
      rotation.verdict(row(1, 334), disk))
    assert.matches("15000 rpm %(assumed%)",
      rotation.verdict(row(1, 501), rotation.of { rotational = true }))
  end)

  it("above three reads a turn is not either, at any depth", function()
    assert.is_nil(rotation.verdict(row(32, 499), disk))
    assert.matches("above 500 IOPS, which is 3 reads a turn", rotation.verdict(row(32, 501), disk))
  end)

  it("is not held against turns where nothing turns, or nobody knows", function()
    assert.is_nil(rotation.verdict(row(1, 9212), rotation.of { rotational = false }))
    assert.is_nil(rotation.verdict(row(1, 9212), rotation.of {}))
  end)

  it("that breaks Little's law is not to be trusted", function()
    local wrong = row(8, 200)
    wrong.latency_mean_us = wrong.latency_mean_us * 1.2
    assert.matches("mean latency 48.0 ms, but depth over IOPS is 40.0 ms",
      rotation.verdict(wrong, disk))
  end)

  it("is not held against it when it is short, was not that deep, or reads failed", function()
    for _, change in ipairs { { ios = 20 }, { depth_achieved = 5 }, { errors = 1 } } do
      local r = row(8, 200)
      r.latency_mean_us = r.latency_mean_us * 1.2
      for key, value in pairs(change) do r[key] = value end
      assert.is_nil(rotation.verdict(r, disk))
    end
  end)

  it("without a single read is no reason to complain", function()
    assert.is_nil(rotation.verdict({ depth = 1, ios = 0, errors = 0 }, disk))
  end)
end)
