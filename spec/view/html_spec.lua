-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Documents as a page of HTML: what is on it, and that nothing in a document becomes more than text.
local ata = require "hdd.drive.ata"
local chart = require "hdd.view.figure.chart"
local document = require "hdd.document"
local figure = require "hdd.view.figure"
local fixtures = require "spec.support.drive_fixtures"
local health = require "hdd.health"
local html = require "hdd.view.html"
local snapshots = require "hdd.procedure.snapshot"

local function example(name)
  return assert(document.load("spec/fixtures/documents/" .. name .. ".json"))
end

local function page(documents, options)
  options = options or {}
  options.pictures = options.pictures or false
  return html.page(documents, options)
end

local function has(s, ...)
  for _, part in ipairs {...} do assert.truthy(s:find(part, 1, true), part) end
end

-- What a reader reads: without head, scripts and tags.
local function text_of(bytes)
  return (bytes:match("<body.*"):gsub("<script.->.-</script>", ""):gsub("<[^>]*>", " "):gsub("%s+", " "))
end

describe("the page of one drive", function()
  local bytes, text
  setup(function()
    bytes = page {example "zoneprofile", example "qdsweep"}
    text = text_of(bytes)
  end)

  it("has its name, its identity and the numbers that matter, with units", function()
    has(bytes, "<!DOCTYPE html>", '<html lang="en">', "<title>WDC WD6000HLHX-01JJPV0</title>")
    has(text, "Serial number WD-WXL0E1234567", "Capacity 600.1 GB (558.9 GiB)", "Rotates 10000 rpm",
      "Rate, outermost zone 155.0 MB/s (147.8 MiB/s)", "Time to read all of it 1 h 21 min",
      "Random reads a second, most 221.2 at depth 16")
  end)

  it("has every document with when it was measured, its rows and all its parameters", function()
    has(text, "Zone profile", "2026-11-30 19:40:00 UTC", "Zones 32 rows", "Parameters", "zone size 256 MiB",
      "block size 64 KiB", "Circumstances", "Schema hddlua.zoneprofile", "Random reads by queue depth")
  end)

  it("says how each number is defined", function()
    has(text, "How the numbers are defined", "summary.full_read_s time that reading the whole drive would take")
  end)

  it("has charts, with their numbers in tables beside them", function()
    has(bytes, 'id="figure-zoneprofile"', 'id="figure-iops"', 'type="application/json"', "hddluaChart")
    has(text, "Read rate across the drive")
  end)

  it("shows what speaks against a document", function()
    local d = example "zoneprofile"
    d.status, d.errors, d.warnings = "interrupted", 3, {"the drive was busy"}
    has(text_of(page {d}), "This run was interrupted", "3 failed reads", "the drive was busy")
  end)
end)

-- Says of each string that it is to be harmless, and reads as itself.
local HOSTILE <const> = {
  "<script>window.hacked=1</script>", "</script><script>window.hacked=2</script>",
  "</title><img src=x onerror=window.hacked=3>", '"><svg onload=window.hacked=4>',
  "' onmouseover='window.hacked=5", "</style><style>body{display:none}", "<!--", "]]>", "&lt;b&gt;",
  "javascript:window.hacked=6", "\0\27[31m\xff\xfe", "\u{202e}drow", "${window.hacked=7}", "</noscript><b>",
}

local TAGS <const> = {
  html = true, head = true, body = true, meta = true, link = true, title = true, style = true, script = true,
  header = true, main = true, nav = true, footer = true, section = true, article = true, h1 = true, h2 = true,
  h3 = true, h4 = true, p = true, a = true, ul = true, li = true, div = true, span = true, dl = true, dt = true,
  dd = true, table = true, thead = true, tbody = true, tr = true, th = true, td = true, details = true,
  summary = true, figure = true, figcaption = true, canvas = true, noscript = true, img = true, strong = true,
  code = true, pre = true, br = true,
}

-- The page without its own style and script holds no markup but ours: each tag is one that we write, with
-- attributes that we write, and quotes stand in pairs.
local function assert_harmless(bytes)
  local rest = bytes:gsub("<style>.-</style>", "", 1)
  local scripts = 0
  rest = rest:gsub("<script>.-</script>", function() scripts = scripts + 1; return "" end)
  assert.is_true(scripts <= 1, "one script that runs")
  rest = rest:gsub('<script type="application/json">(.-)</script>', function(data)
    assert.is_nil(data:find("[<>&]"))
    return ""
  end)
  for tag in rest:gmatch("<[^>]*>") do
    local name, attributes = tag:match("^</?([%l%d]+)(.*)>$")
    if tag ~= "<!DOCTYPE html>" then
      assert.is_true(TAGS[name] or false, tag)
      local left = attributes:gsub('%s+([%l-]+)="[^"]*"', function(key)
        assert.is_nil(key:find("^on"), tag)
        return ""
      end)
      assert.equal("", (left:gsub("%s+[%l-]+", "")), tag)
    end
  end
  assert.is_nil(rest:gsub("<[^>]*>", ""):find("[<>]"))
end

-- A document with a string in every place that has room for one.
local function poisoned(name, poison)
  local d = example(name)
  local function spoil(value, keep)
    for key, member in pairs(value) do
      if type(member) == "string" and not (keep and key == "schema") then
        value[key] = poison
      elseif type(member) == "table" then
        spoil(member)
      end
    end
  end
  spoil(d, true)
  d.drive.vendor, d.drive.firmware, d.drive.wwn, d.drive.transport = poison, poison, poison, poison
  d.drive.link = {speed = poison}
  d.warnings = {poison, poison}
  for _, row in ipairs(d.zones or d.rows) do row.flagged, row.reason = true, poison end
  return d
end

describe("a page of hostile documents", function()
  it("holds no markup from a string, wherever it stands", function()
    for _, poison in ipairs(HOSTILE) do
      local bytes = page({poisoned("zoneprofile", poison), poisoned("qdsweep", poison .. "2")},
        {notes = {poison}, title = poison})
      assert_harmless(bytes)
    end
  end)

  it("shows such a string as text", function()
    local d = example "zoneprofile"
    d.drive.model = "<b>&'\"\27"
    has(page {d}, "<title>&lt;b&gt;&amp;&#39;&quot;\\x1B</title>", ">&lt;b&gt;&amp;&#39;&quot;\\x1B</h3>")
  end)

  it("is made of what is missing, not finite, or of another type", function()
    local function without(change)
      local d, e = example "zoneprofile", example "qdsweep"
      change(d)
      change(e)
      assert_harmless(page {d, e})
    end
    without(function(d) d.summary, d.parameters, d.warnings, d.tool, d.host = nil, nil, nil, nil, nil end)
    without(function(d) d.zones, d.rows, d.started_at, d.drive = nil, nil, nil, {} end)
    without(function(d) d.summary, d.parameters, d.warnings, d.zones, d.rows = "x", 1, "y", {}, {} end)
    without(function(d)
      for key in pairs(d.summary) do d.summary[key] = 0 / 0 end
      for _, row in ipairs(d.zones or d.rows) do
        for key, value in pairs(row) do
          if type(value) == "number" then row[key] = math.huge end
        end
      end
    end)
    without(function(d)
      for key in pairs(d.summary) do d.summary[key] = {} end
      for _, row in ipairs(d.zones or d.rows) do row.offset_bytes, row.depth = "12", {1} end
    end)
    assert_harmless(page {})
    assert_harmless(page {{}, {schema = "other/1"}, {schema = 7, drive = "x"}})
    assert_harmless(page {{schema = "hddlua.smart/1", drive = {model = "x"}, health = {kind = "ata", smart = 1}}})
  end)

  it("tells drives of the same name apart", function()
    local a, b = example "zoneprofile", example "zoneprofile"
    a.drive.serial, b.drive.serial = "ONE", "TWO"
    has(text_of(page {a, b}), "WDC WD6000HLHX-01JJPV0 ONE", "WDC WD6000HLHX-01JJPV0 TWO", "difference")
  end)
end)

describe("the page of a large document", function()
  it("stays one that can be opened: charts are thinned, tables are cut, and say so", function()
    local d, zones = example "zoneprofile", {}
    for i = 1, 200000 do
      zones[i] = {}
      for key, value in pairs(d.zones[i % 32 + 1]) do zones[i][key] = value end
      zones[i].offset_bytes, zones[i].flagged = (i - 1) * 3000000, i % 50000 == 0
    end
    d.zones = zones
    local bytes = page {d}
    assert.is_true(#bytes < 4e6, ("%d bytes"):format(#bytes))
    has(text_of(bytes), "200 000 rows", "rows are listed here, those that are flagged among them")
  end)
end)

describe("the page of several drives", function()
  local function slower()
    local d = example "zoneprofile"
    d.drive.model, d.drive.serial = "WDC WD3000GLFS-01F8U0", "WD-WXL308876543"
    d.summary.full_read_s = d.summary.full_read_s * 0.75
    return d
  end

  it("has their numbers beside one another, with the difference in per cent", function()
    local text = text_of(page {slower(), example "zoneprofile"})
    has(text, "Comparison", "WDC WD3000GLFS-01F8U0 WDC WD6000HLHX-01JJPV0 difference",
      "Time to read all of it 1 h 01 min 1 h 21 min +33.3 %")
  end)

  -- A comparison as hdd.compare gives it.
  local function comparison(of)
    local result = {
      schema = "hddlua.compare/1", parameters = {level = 0.95},
      sides = {{name = "old", documents = 1}, {name = "new", documents = 1}},
      comparisons = {{side = 2, kind = "zoneprofile", verdict = "faster",
        sentence = "new is faster by 33.3 % ± 1.2 %", notes = {"one run each: zones are the sample"},
        differences = {{key = "parameters.depth", a = "2", b = "4"}}}},
      metrics = {
        {side = 2, kind = "zoneprofile", scope = "whole", name = "mean_bytes_per_s", primary = true, a = 90e6,
          b = 120e6, change_percent = 33.3, low_percent = 32.1, high_percent = 34.5, verdict = "faster"},
        {side = 2, kind = "zoneprofile", scope = "stretch", name = "bandwidth_bytes_per_s", from_share = 0,
          to_share = 0.25, a = 90e6, b = 80e6, change_percent = -11.1, low_percent = -15, high_percent = -7,
          verdict = "slower"},
      },
    }
    for key, value in pairs(of or {}) do result.comparisons[1][key] = value end
    return result
  end

  it("has the verdict of each comparison, its intervals, and what was different", function()
    local text = text_of(page({slower(), example "zoneprofile"}, {comparison = comparison()}))
    has(text, "Rate across the drive new against old", "Faster new is faster by 33.3 % ± 1.2 %",
      "rate, mean 90.0 MB/s (85.8 MiB/s) 120.0 MB/s (114.4 MiB/s) +33.3 % (+32.1 to +34.5) faster",
      "0 to 25 % of the drive: rate 90.0 MB/s", "−11.1 % (−15.0 to −7.0) slower", "confidence of 95 %",
      "one run each", "parameters.depth 2 4")
  end)

  it("says why something was not compared", function()
    local text = text_of(page({slower(), example "zoneprofile"},
      {comparison = comparison {refused = "the block sizes differ: 64 KiB and 4 KiB"}}))
    has(text, "Not compared the block sizes differ")
  end)

  it("takes a comparison that is among the documents", function()
    has(text_of(page {slower(), example "zoneprofile", comparison()}), "new is faster by 33.3 %")
  end)

  it("is harmless whatever the comparison holds", function()
    for _, poison in ipairs(HOSTILE) do
      local c = comparison {sentence = poison, verdict = poison, kind = poison, notes = {poison, 7},
        differences = {{key = poison, a = poison}, 5}}
      c.sides[1].name, c.sides[2].name, c.metrics[1].name, c.metrics[1].kind = poison, poison, poison, poison
      assert_harmless(page({slower(), example "zoneprofile"}, {comparison = c}))
    end
    assert_harmless(page({slower(), example "zoneprofile"}, {comparison = {comparisons = {1, {side = 3}}}}))
  end)

  it("has what differs in what they can do, from their snapshots", function()
    local function snapshot(name)
      local said = ata.decode(fixtures.pages(name))
      said.kind, said.failures, said.source = "ata", {}, {path = "/dev/sdb", name = "sdb", kind = "recording"}
      return snapshots.document(health.judge(said), {})
    end
    local bytes = page {snapshot "WD3000GLFS-01F8U0-a", snapshot "WD6000HLHX-01JJPV0-a"}
    assert_harmless(bytes)
    has(text_of(bytes), "What they can do", "SATA version SATA 2.5 SATA 2.6", "Attributes", "interface CRC errors",
      "Look closer: something speaks against this drive")
  end)
end)

describe("a page where the charts' library is missing", function()
  it("says so, and shows pictures to everybody", function()
    local library = chart.library
    finally(function() chart.library = library end)
    chart.library = function() return nil, "no chart.min.js: the package libjs-chart.js" end
    local bytes = html.page {example "zoneprofile"}
    assert_harmless(bytes)
    has(text_of(bytes), "The charts are left out: no chart.min.js: the package libjs-chart.js.")
    assert.is_nil(bytes:find("<canvas", 1, true))
    assert.is_nil(bytes:find("<noscript", 1, true))
    assert.is_nil(bytes:find("<script", 1, true))
    if figure.can_draw() then has(bytes, '<img alt="') end
  end)
end)
