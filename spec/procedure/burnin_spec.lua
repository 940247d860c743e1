-- The burn-in on files that go wrong where they are told to.
-- SPDX-License-Identifier: GPL-3.0-or-later
local burnin = require "hdd.procedure.burnin"
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local json = require "hdd.json"
local needs = require "spec.support.needs"
local scratch = require "spec.support.scratch"

local MiB <const> = 1 << 20

local SHORT <const> = { stress = 0.1, baseline = false, rpm = 0 }

local function with(more)
  local p = {}
  for key, value in pairs(SHORT) do p[key] = value end
  for key, value in pairs(more or {}) do p[key] = value end
  return p
end

local function phase(d, kind)
  for _, entry in ipairs(d.phases) do
    if entry.kind == kind then return entry end
  end
end

describe("a burn-in", function()
  it("of a clean file passes, each phase complete or skipped with a reason", function()
    local drive <close> = assert(hdd.open(scratch.file(8 * MiB)))
    local d = assert(burnin.run(drive, { stress = 0.1, zone_count = 2, sweep_runtime = 0.1, rpm = 0 }))
    assert(document.validate(d))
    assert.equal("PASS", d.verdict.status, d.verdict.reasons[1] and d.verdict.reasons[1].what)
    assert.equal("complete", d.status)
    for _, entry in ipairs(d.phases) do
      assert.is_true(entry.status == "complete" or entry.status == "skipped" and #entry.message > 0, entry.name)
    end
    assert.equal(8 * MiB, phase(d, "surface").covered_bytes)
    assert.equal(3, #phase(d, "stress").patterns)
    for _, row in ipairs(phase(d, "stress").patterns) do assert.is_true(row.ios > 0) end
    assert.equal(2, #d.baseline.after.zones)
  end)

  it("fails a drive with an unreadable sector, and names it and the phase", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=5M,length=1k,error=EIO", size = 16 * MiB }
    local drive <close> = assert(hdd.open(disk.path))
    local d = assert(burnin.run(drive, with()))
    assert(document.validate(d))
    assert.equal("FAIL", d.verdict.status)
    assert.equal(1, #d.unreadable)
    assert.equal(5 * MiB, d.unreadable[1].offset_bytes)
    assert.equal(1024, d.unreadable[1].length_bytes)
    assert.equal("surface", d.phases[d.unreadable[1].phase].kind)
    assert.equal("unreadable_bytes", d.verdict.reasons[1].name)
  end)

  it("is FAIL, with what was done, when the drive is lost on the way", function()
    local path = scratch.file(8 * MiB)
    local drive <close> = assert(hdd.open(path))
    local told = 0
    local d = assert(burnin.run(drive, with { stress = 5 }, { progress = function(state)
      told = told + 1
      if state.stage:find("seek stress") then assert(os.execute("truncate -s 0 " .. path)) end
    end }))
    assert.is_true(told > 0)
    assert.equal("failed", d.status)
    assert.equal("FAIL", d.verdict.status)
    assert.equal("complete", phase(d, "surface").status)
    assert.equal("failed", phase(d, "stress").status)
    assert.equal("not run", d.phases[#d.phases].status)
    assert(document.validate(d))
  end)

  it("runs loops until the hours are over, and what comes after them", function()
    local drive <close> = assert(hdd.open(scratch.file(MiB)))
    local d = assert(burnin.run(drive, with { hours = 1 / 3600, stress = 0.1, self_tests = false }))
    assert.is_true(d.summary.loops >= 2)
    assert.equal("SMART after", d.phases[#d.phases].name)
    assert.is_true(d.summary.elapsed_s >= 1)
  end)

  it("goes on from any of its checkpoints to the document of an uninterrupted run", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=3M,length=512,error=EIO", "every=1M,delay=5", size = 8 * MiB }
    local drive <close> = assert(hdd.open(disk.path))
    local saved = {}
    local whole = assert(burnin.run(drive, with { seed = 7 }, { checkpoint = function(make)
      saved[#saved + 1] = json.decode(json.encode(make())) -- as a file has it
    end }))
    assert.is_true(#saved > 6)
    for i = 1, #saved, math.max(1, #saved // 4) do
      local d = assert(burnin.run(drive, with { seed = 7 }, { resume = saved[i], interruptions = {
        { saved_at = "2026-12-01T00:00:00Z", resumed_at = "2026-12-01T00:01:00Z", reason = "killed" } } }))
      assert(document.validate(d))
      assert.equal("complete", d.status)
      assert.equal(#whole.phases, #d.phases)
      assert.equal(whole.verdict.status, d.verdict.status)
      assert.same({ 3 * MiB, 512 }, { d.unreadable[1].offset_bytes, d.unreadable[1].length_bytes })
      assert.equal(1, #d.unreadable)
      assert.equal(1, #d.interruptions)
      for j, entry in ipairs(d.phases) do assert.equal(whole.phases[j].status, entry.status) end
      for j, row in ipairs(phase(d, "stress").patterns) do
        assert.equal(phase(whole, "stress").patterns[j].pattern, row.pattern)
        assert.is_true(row.elapsed_s >= 0.09)
      end
    end
  end)

  it("pauses the load of a drive that is too hot until it has cooled, and tells so in the time line", function()
    local drive <close> = assert(hdd.open(scratch.file(4 * MiB)))
    local readings, told, i = { 40, 52, 51, 49, 47, 44 }, {}, 0
    local d = assert(burnin.run(drive, with { max_temperature = 50, surface = false }, {
      sensor = { every = 0.01, temperature = function()
        i = i + 1
        return readings[i] or 42, "spec"
      end },
      progress = function(state) if state.mode then told[#told + 1] = state.note end end,
    }))
    local events = {}
    for _, entry in ipairs(d.timeline) do
      if entry.event == "hot" or entry.event == "cool" then events[#events + 1] = entry end
    end
    assert.same({ "hot", "cool" }, { events[1].event, events[2].event })
    assert.same({ 52, 44 }, { events[1].temperature_c, events[2].temperature_c })
    assert.is_true(events[2].paused_s > 0)
    assert.is_true(#told > 0)
    assert.equal("WARN", d.verdict.status)
    assert.equal("over_temperature", d.verdict.reasons[1].name)
    assert.equal(52, d.summary.temperature_max_c)
    assert.is_true(phase(d, "stress").intervals[1].sampled)
    assert(document.validate(d))
  end)

  it("stops a surface read for heat, and goes on where it was", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "every=1M,delay=80", size = 64 * MiB }
    local drive <close> = assert(hdd.open(disk.path))
    local readings, i = { 40, 60, 40 }, 0
    local d = assert(burnin.run(drive, with { max_temperature = 50, stress = 0 }, {
      sensor = { every = 0.1, temperature = function()
        i = i + 1
        return readings[i] or 40
      end },
    }))
    assert.equal("complete", d.status)
    assert.equal(64 * MiB, phase(d, "surface").covered_bytes)
    assert.same({}, d.unreadable)
    assert.equal("over_temperature", d.verdict.reasons[#d.verdict.reasons].name)
  end)

  for name, case in pairs {
    ["an unknown parameter"] = { { strees = 1 }, "strees: no such parameter" },
    ["a pattern that there is not"] = { { patterns = { "ab" } }, "patterns%[1%]: ab: must be one of stamp" },
    ["hours and loops"] = { { hours = 1, loops = 2 }, "hours: cannot be had together with loops" },
    ["criteria that are none"] = { { criteria = { x = 1 } }, "none of the name x" },
    ["capacity without writing"] = { { capacity = true }, "capacity: writes: it needs write" },
  } do
    it("refuses " .. name, function()
      local drive <close> = assert(hdd.open(scratch.file(MiB)))
      local d, message, code = burnin.run(drive, case[1])
      assert.is_nil(d)
      assert.matches(case[2], message)
      assert.equal(22, code)
    end)
  end

  it("beyond 16 TiB plans and stresses the whole of it", function()
    local path = scratch.sparse(20 << 40)
    local drive <close> = assert(hdd.open(path))
    local d = assert(burnin.run(drive, with { surface = false }))
    assert.equal("PASS", d.verdict.status)
    assert.equal(20 << 40, d.drive.size_bytes)
    os.remove(path)
  end)
end)
