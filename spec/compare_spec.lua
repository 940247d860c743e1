-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Comparing: verdicts that hold what they promise, refusals that say why.
local compare = require "hdd.compare"
local document = require "hdd.document"
local resample = require "spec.support.resample"
local view = require "hdd.view.compare"

local function example(name)
  return assert(document.load("spec/fixtures/documents/" .. name .. ".json"))
end

local PROFILE <const> = example "zoneprofile"
local second = 0

-- A profile of `n` zones of a drive of a size, with a scatter; no two begin at the same time.
local function profile(n, size, factor, change)
  second = (second + 1) % 86400
  local d, drive, parameters = {}, {}, {}
  for key, value in pairs(PROFILE) do d[key] = value end
  for key, value in pairs(PROFILE.drive) do drive[key] = value end
  for key, value in pairs(PROFILE.parameters) do parameters[key] = value end
  d.drive, d.parameters, d.zones = drive, parameters, {}
  d.started_at = ("2026-11-30T%02d:%02d:%02dZ"):format(second // 3600, second // 60 % 60, second % 60)
  d.drive.size_bytes, d.parameters.to = size, size
  for i = 1, n do
    local share = (i - 1) / n
    d.zones[i] = {
      offset_bytes = math.floor(size * share) // 4096 * 4096, length_bytes = 1 << 28, flagged = false,
      bandwidth_bytes_per_s = (155e6 - 60e6 * share ^ 1.5) * factor * (change and change(share) or 1),
    }
  end
  d.summary = { full_read_s = size / (130e6 * factor) }
  return resample.scatter(d, 0.004, 0.3)
end

local SIZE <const> = 600127266816

local function of(a, b, options)
  local function side(x) return { documents = x.schema and { x } or x } end
  local result = compare.run({ side(a), side(b) }, options)
  assert(document.validate(result))
  return result, result.comparisons[1]
end

local function metric(result, name, scope)
  local found = {}
  for _, m in ipairs(result.metrics) do
    if m.name == name and (not scope or m.scope == scope) then found[#found + 1] = m end
  end
  return found[1], found
end

describe("two profiles", function()
  before_each(function() math.randomseed(7) end)

  it("tell how much slower the one is, with an interval that holds the truth", function()
    local result, c = of(profile(240, SIZE, 1), profile(240, SIZE, 0.95), { level = 0.999 })
    assert.equal("slower", c.verdict)
    local m = metric(result, "mean_bytes_per_s")
    assert.is_true(m.low_percent < -5 and -5 < m.high_percent, c.sentence)
    assert.is_true(m.high_percent - m.low_percent < 0.6, c.sentence)
    assert.matches("B is slower than A by [45]%.%d+ %% ± 0%.%d+ %(mean rate; 99.9 %% interval from 240 zones",
      c.sentence)
    local whole = metric(result, "full_read_s")
    assert.equal("slower", whole.verdict)
    assert.is_true(whole.low_percent > 4 and whole.high_percent < 6.5)
  end)

  it("of drives of two sizes are laid at one another by share, and say so", function()
    local result, c = of(profile(140, SIZE // 2, 1), profile(260, SIZE, 1.4))
    assert.equal("faster", c.verdict)
    local m = metric(result, "mean_bytes_per_s")
    assert.is_true(m.low_percent < 40 and 40 < m.high_percent, c.sentence)
    assert.equal("slower", metric(result, "full_read_s").verdict)
    assert.matches("same share of each drive", table.concat(c.notes, "\n"))
  end)

  it("find the stretch that became slower, and no other", function()
    local result = of(profile(240, SIZE, 1), profile(240, SIZE, 1, function(share)
      return share >= 0.4 and share < 0.5 and 0.9 or 1
    end))
    local _, stretches = metric(result, "bandwidth_bytes_per_s", "stretch")
    assert.equal(10, #stretches)
    for i, m in ipairs(stretches) do
      assert.equal(i == 5 and "slower" or "no difference shown", m.verdict, i)
    end
  end)

  it("with several runs of each are judged by the runs", function()
    local result = of({ profile(60, SIZE, 1), profile(60, SIZE, 1.01), profile(60, SIZE, 0.99) },
      { profile(60, SIZE, 0.9), profile(60, SIZE, 0.91), profile(60, SIZE, 0.89) })
    for _, d in ipairs(result.metrics) do if d.primary then assert.equal("zones", d.unit) end end
    local function run(factor)
      local d = profile(60, SIZE, factor)
      d.summary = { mean_bytes_per_s = 130e6 * factor, full_read_s = 5000 / factor }
      return d
    end
    local _, c = of({ run(1), run(1.01), run(0.99) }, { run(0.9), run(0.91), run(0.89) })
    assert.equal("slower", c.verdict)
    assert.matches("3 runs of each", c.sentence)
    _, c = of({ run(1), run(1.2), run(0.8) }, { run(0.9), run(1.1), run(0.85) })
    assert.equal("no difference shown", c.verdict)
  end)

  it("leave out what came from no medium", function()
    local b = profile(100, SIZE, 1)
    for i = 41, 60 do
      b.zones[i].bandwidth_bytes_per_s, b.zones[i].reason, b.zones[i].flagged = 3e9, "unwritten", true
    end
    local _, c = of(profile(100, SIZE, 1), b)
    assert.equal("no difference shown", c.verdict)
    assert.matches("20 zones without a rate of the medium", table.concat(c.notes, "\n"))
  end)

  it("of which one is the other's copy are told to be one run", function()
    local d = profile(40, SIZE, 1)
    local _, c = of(d, resample.copy(d))
    assert.equal("no difference shown", c.verdict)
    assert.matches("the same run", table.concat(c.notes, "\n"))
  end)
end)

describe("what is not comparable", function()
  local function refused(change, options)
    local b = profile(40, SIZE, 1)
    change(b)
    local result, c = of(profile(40, SIZE, 1), b, options)
    return c.refused, result, c
  end

  it("is refused with the reason", function()
    local why, result = refused(function(d) d.parameters.block_size = 4096 end)
    assert.matches("different block size %(65536 and 4096%)", why)
    assert.equal("failed", result.status)
    assert.same({}, result.metrics)
    assert.matches("different queue depth", (refused(function(d) d.parameters.depth = 8 end)))
    assert.matches("B: the run is not complete %(interrupted%)", (refused(function(d) d.status = "interrupted" end)))
    assert.matches("different parts of the drives: to", (refused(function(d) d.parameters.to = SIZE // 2 end)))
    assert.matches("page cache", (refused(function(d) d.drive.direct = not d.drive.direct end)))
    assert.matches("only 10.3 %% of the surface in common",
      (refused(function(d) d.zones = table.move(d.zones, 1, 5, 1, {}) end)))
    assert.matches("only 0 zones lie at the same places", (refused(function(d) d.zones = {} end)))
  end)

  it("is compared all the same where that is asked for, with a note", function()
    local why, _, c = refused(function(d) d.parameters.depth = 8 end, { anyway = true })
    assert.is_nil(why)
    assert.equal("no difference shown", c.verdict)
    assert.matches("compared anyway: different queue depth", table.concat(c.notes, "\n"))
  end)

  it("has nothing in common: a warning says so", function()
    local result = of(example "zoneprofile", example "qdsweep")
    assert.equal("failed", result.status)
    assert.matches("no kind of measurement in common", result.warnings[1])
    local sweep = example "qdsweep"
    for _, row in ipairs(sweep.rows) do row.block_size_bytes = 65536 end
    local _, c = of(example "qdsweep", sweep)
    assert.matches("no block size and queue depth in common", c.refused)
  end)
end)

describe("two sweeps", function()
  before_each(function() math.randomseed(7) end)

  it("are judged row by row and as a whole", function()
    local draw = resample.sweeps(example "qdsweep")
    local result, c = of(draw(1), draw(1.05))
    assert.equal("faster", c.verdict)
    local m = metric(result, "iops_geometric_mean")
    assert.is_true(m.low_percent < 5.3 and m.high_percent > 4.7, c.sentence)
    local _, list = metric(result, "iops", "row")
    assert.equal(12, #list)
    assert.equal("not judged", metric(result, "latency_p99_us").verdict)
  end)

  it("without intervals of their own are judged by the rows' scatter", function()
    local a, b = example "qdsweep", example "qdsweep"
    for _, d in ipairs { a, b } do for _, row in ipairs(d.rows) do row.iops_ci95 = nil end end
    for i, row in ipairs(b.rows) do row.iops = row.iops * (1.05 + 0.002 * (i % 3 - 1)) end
    local result, c = of(a, b)
    assert.equal("faster", c.verdict)
    assert.equal("rows", metric(result, "iops_geometric_mean").unit)
    assert.equal("not judged", metric(result, "iops", "row").verdict)
  end)
end)

-- Of n trials with probability p more than this, or fewer than that, come once in a thousand: wide
-- enough for a seed, too narrow for a wrong interval.
local function bounds(n, low, high)
  return n * low - 3.3 * math.sqrt(n * low * (1 - low)), n * high + 3.3 * math.sqrt(n * high * (1 - high))
end

describe("on runs drawn anew", function()
  local N <const> = tonumber(os.getenv "COMPARE_RUNS" or "") or 250

  local function claims(draw, factor)
    local count = 0
    for _ = 1, N do
      local c = compare.run({ { documents = { draw(1) } }, { documents = { draw(factor) } } }).comparisons[1]
      if c.verdict == "faster" or c.verdict == "slower" then count = count + 1 end
    end
    return count
  end

  for _, case in ipairs { { "40 zones", 40, 0 }, { "40 zones, alike neighbours", 40, 0.4 },
    { "240 zones, alike neighbours", 240, 0.4 } } do
    it("a drive of " .. case[1] .. " differs from itself as often as the level says", function()
      math.randomseed(11)
      local function draw(factor)
        local d = profile(case[2], SIZE, factor)
        for _, zone in ipairs(d.zones) do zone.reason = nil end
        return case[3] > 0 and resample.scatter(d, 0.01, case[3]) or d
      end
      local low, high = bounds(N, 0.04, 0.07)
      local found = claims(draw, 1)
      assert.is_true(found >= low and found <= high, ("%d of %d"):format(found, N))
      assert.is_true(claims(draw, 0.95) >= 0.98 * N)
    end)
  end

  it("a sweep differs from itself as often as the level says", function()
    math.randomseed(12)
    local draw = resample.sweeps(example "qdsweep")
    local low, high = bounds(N, 0.04, 0.06)
    local found = claims(draw, 1)
    assert.is_true(found >= low and found <= high, ("%d of %d"):format(found, N))
    assert.equal(N, claims(draw, 0.95))
  end)

  it("hardly ever is any stretch of a drive said to differ from itself", function()
    math.randomseed(13)
    local wrong = 0
    for _ = 1, N do
      local result = of(profile(240, SIZE, 1), profile(240, SIZE, 1))
      for _, m in ipairs(result.metrics) do
        if m.scope == "stretch" and m.verdict ~= "no difference shown" then
          wrong = wrong + 1
          break
        end
      end
    end
    local _, high = bounds(N, 0.05, 0.05)
    assert.is_true(wrong <= high, ("%d of %d"):format(wrong, N))
  end)
end)

describe("the text", function()
  it("fits 80 columns and holds nothing that a terminal obeys", function()
    math.randomseed(7)
    local a, b = profile(240, SIZE, 1), profile(240, SIZE, 0.9)
    b.drive.model = "\27[31m<b>evil\n\tmodel"
    b.parameters.zone_size = 1 << 20
    local result = compare.run { { name = "old", documents = { a, example "qdsweep" } },
      { name = "n\27ew", documents = { b, example "qdsweep" } } }
    local text = view.text(result, { width = 80, utf8 = false, all = true })
    assert.is_nil(text:find("[^\n\32-\126]"))
    for line in text:gmatch("[^\n]+") do assert.is_true(#line <= 80, line) end
    assert.matches("slower than old by", text)
    assert.matches("parameters.zone_size", text)
  end)
end)
