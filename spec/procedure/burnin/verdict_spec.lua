-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local batch = require "hdd.procedure.burnin.batch"
local criteria = require "hdd.procedure.burnin.criteria"
local document = require "hdd.document"
local verdict = require "hdd.procedure.burnin.verdict"

local RULES = assert(criteria.merge())

local function new(more)
  local d = document.new("hddlua.burnin/1", {
    path = "/dev/sdz", name = "sdz", model = "M", serial = more and more.serial or "S",
    size_bytes = 1 << 30, logical_block_size_bytes = 512,
  }, {})
  d.failures, d.stalls, d.slowest = {}, {}, {}
  d.phases = {
    { kind = "smart", name = "SMART before", status = "complete" },
    { kind = "surface", name = "surface read", loop = 1, status = "complete" },
    { kind = "verify", name = "verify stamp", loop = 1, status = "complete", pattern = "stamp" },
  }
  for key, value in pairs(more or {}) do d[key] = value end
  return document.finish(d, d.status == "running" and "complete" or d.status)
end

local function judged(more, rules)
  return verdict.judge(new(more), rules or RULES)
end

describe("the verdict of a burn-in", function()
  it("is PASS, without a reason, when nothing speaks against the drive", function()
    assert.same({ status = "PASS", reasons = {} }, judged())
  end)

  it("is FAIL for an unreadable block, and says where and in which phase", function()
    local v = judged { unreadable = { { offset_bytes = 5120, length_bytes = 512, exact = true, phase = 2 } } }
    assert.equal("FAIL", v.status)
    assert.matches("the first at LBA 10", v.reasons[1].what)
    assert.equal("phase 2, surface read", v.reasons[1].phase_name)
    assert.equal("unreadable[]", v.reasons[1].where)
  end)

  it("names each kind of corruption", function()
    local v = judged { mismatches = {
      { offset_bytes = 0, length_bytes = 512, kind = "lost write", blocks = 1, pattern = "stamp", phase = 3 },
      { offset_bytes = 1024, length_bytes = 1024, kind = "bit rot", blocks = 2, pattern = "stamp", phase = 3 },
    } }
    assert.equal("FAIL", v.status)
    assert.matches("^bit rot: 2 blocks .*LBA 2$", v.reasons[1].what)
    assert.matches("^lost write: 1 block .*LBA 0$", v.reasons[2].what)
  end)

  it("tells faults of the cable from those of the medium, and names the phase", function()
    local phases = new().phases
    phases[2].changes = {
      { name = "attribute.199", what = "interface CRC errors", from = 0, to = 7, growth = 7, concerns = "cable" },
    }
    local v = judged { phases = phases }
    assert.equal("WARN", v.status)
    assert.matches("grew by 7 to 7 in the surface read: look at cable", v.reasons[1].what)
    phases[2].changes[1] = {
      name = "attribute.197", what = "pending sectors", from = 0, to = 1, growth = 1, concerns = "media",
    }
    assert.equal("FAIL", judged({ phases = phases }).status)
  end)

  it("puts the worst first, and warnings never hide a failure", function()
    local v = judged {
      slow = { { offset_bytes = 0, length_bytes = 512, exact = true, phase = 2 } },
      unreadable = { { offset_bytes = 512, length_bytes = 512, exact = true, phase = 2 } },
    }
    assert.equal("FAIL", v.reasons[1].status)
    assert.equal("WARN", v.reasons[2].status)
  end)

  it("is FAIL for a drive that was lost, and no PASS for a run that was interrupted", function()
    local v = judged { status = "failed", warnings = { "device lost at offset 7" } }
    assert.equal("FAIL", v.status)
    assert.equal("device lost at offset 7", v.reasons[1].what)
    assert.equal("WARN", judged({ status = "interrupted" }).status)
  end)

  it("warns and fails, zone by zone, for a drive that has become slower", function()
    local zones = {
      { offset_bytes = 0, length_bytes = 1, before_bytes_per_s = 100e6, after_bytes_per_s = 99e6, ratio = 0.99 },
      { offset_bytes = 1000000000, length_bytes = 1,
        before_bytes_per_s = 90e6, after_bytes_per_s = 81e6, ratio = 0.9 },
    }
    local v = judged { baseline = { zones = zones } }
    assert.equal("WARN", v.status)
    assert.matches("^1 zone is slower than before, the worst at 1.00 GB: 90.0 %%", v.reasons[1].what)
    zones[1].ratio = 0.5
    v = judged { baseline = { zones = zones } }
    assert.equal("FAIL", v.status)
    assert.matches("^2 zones are slower than before, the worst at 0 B: 50.0 %%", v.reasons[1].what)
  end)

  it("is as strict as the user's criteria", function()
    local slow = { { offset_bytes = 0, length_bytes = 512, exact = true, phase = 2 } }
    assert.equal("FAIL", judged({ slow = slow }, assert(criteria.merge { slow_bytes = { fail = 512 } })).status)
    assert.equal("PASS", judged({ slow = slow }, assert(criteria.merge { slow_bytes = { warn = false } })).status)
    local v = judged({}, assert(criteria.merge { judge = function(d, add)
      add("WARN", "mine", "the model is " .. d.drive.model, "drive.model")
    end }))
    assert.same({ status = "WARN", name = "mine", what = "the model is M", where = "drive.model" },
      v.reasons[1])
  end)
end)

describe("a batch of burn-ins", function()
  local function with_rates(serial, ...)
    local zones = {}
    for i, rate in ipairs { ... } do
      zones[i] = { offset_bytes = i << 20, length_bytes = 1 << 20, bandwidth_bytes_per_s = rate }
    end
    return new { serial = serial, baseline = { before = { zones = zones, rows = {} } },
      drive = { model = "M", size_bytes = 1 << 30, name = serial, serial = serial, path = "/dev/x",
        logical_block_size_bytes = 512 } }
  end

  it("singles out the drive that is slower than the others, zone by zone", function()
    local list = { with_rates("A", 200e6, 100e6), with_rates("B", 201e6, 101e6), with_rates("C", 150e6, 100e6),
      with_rates("D", 199e6, 99e6) }
    batch.compare(list)
    assert.near(0.75, list[3].batch.zones[1].ratio, 0.01)
    assert.near(1.0, list[3].batch.zones[2].ratio, 0.01)
    assert.equal("FAIL", verdict.judge(list[3], RULES).status)
    assert.equal("PASS", verdict.judge(list[1], RULES).status)
    local odd = batch.odd(list)
    assert.equal(1, #odd)
    assert.equal(3, odd[1].index)
    assert.matches("reads at 83.%d %% of the median", odd[1].what)
  end)

  it("does not compare two drives, nor drives of two models", function()
    local list = { with_rates("A", 200e6), with_rates("B", 100e6) }
    batch.compare(list)
    assert.is_nil(list[1].batch)
    list[3] = with_rates("C", 50e6)
    list[3].drive.model = "another"
    batch.compare(list)
    assert.is_nil(list[3].batch)
  end)

  it("singles out the one that has what the others have not", function()
    local list = { new(), new(), new() }
    list[2].summary.unreadable_bytes = 512
    local odd = batch.odd(list)
    assert.equal(2, odd[1].index)
    assert.matches("unreadable", odd[1].what)
    list[1].summary.unreadable_bytes, list[3].summary.unreadable_bytes = 512, 512
    assert.same({}, batch.odd(list))
  end)
end)
