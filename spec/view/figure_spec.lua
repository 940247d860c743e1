-- Figures of documents as data, as SVG, PNG and text.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local document = require "hdd.document"
local figure = require "hdd.view.figure"
local figures = require "hdd.view.figures"
local json = require "dkjson"
local place = require "spec.support.place"
local printable = require "hdd.printable"
local shell = require "spec.support.shell"

local PROFILE, SWEEP = "spec/fixtures/documents/zoneprofile.json", "spec/fixtures/documents/qdsweep.json"
local HOSTILE = "<script>alert(1)</script>`touch PWNED`$(touch PWNED)@x{/Bold y}'\";\n%s\\n\27[31m\xff#{{\0"

local function load(path)
  return (assert(document.load(path)))
end

local function by_id(list)
  local found = {}
  for _, f in ipairs(list) do found[f.id] = f end
  return found
end

local function series_of(f, role, drive)
  for _, series in ipairs(f.series) do
    if series.role == role and (not drive or series.drive == drive) then return series end
  end
end

-- The error that an XML parser finds, or nil.
local function xml_fault(text)
  local home <close> = place.new()
  local path = home:path("x.svg")
  local stream <close> = assert(io.open(path, "wb"))
  assert(stream:write(text))
  stream:flush()
  local said, status = shell.run("/usr/bin/python3 -c 'import sys, xml.dom.minidom as m;"
    .. " m.parse(sys.argv[1])' " .. path .. " 2>&1")
  return status ~= 0 and said or nil
end

describe("the figures of a document", function()
  it("are those of its kind, the main one first, and JSON as they stand", function()
    local list, notes = figures.of { load(SWEEP), load(PROFILE) }
    local ids = {}
    for i, f in ipairs(list) do
      ids[i] = f.id
      local again = json.decode(assert(json.encode(f)))
      assert.equal(#f.series, #again.series)
    end
    assert.same({ "zoneprofile", "zone-latency", "iops", "latency", "latency-iops", "percentiles" }, ids)
    assert.same({}, notes)
    assert.same({ "zoneprofile", "zone-latency" }, figures.names "hddlua.zoneprofile/1")
    assert.same({}, figures.names "hddlua.nothing/1")
  end)

  it("have the numbers of the document in the axis' units", function()
    local d = load(PROFILE)
    local f = by_id(figures.of { d }).zoneprofile
    local value = series_of(f, "value")
    assert.equal("position (GB)", figure.axis_title(f.x))
    assert.equal("rate (MB/s)", figure.axis_title(f.y))
    assert.equal(0, f.y.min)
    for i, zone in ipairs(d.zones) do
      assert.near((zone.offset_bytes + zone.length_bytes / 2) / 1e9, value.x[i], 1e-9)
      assert.near(zone.bandwidth_bytes_per_s / 1e6, value.y[i], 1e-9)
    end
    assert.equal(figure.value(154.8, f.y), "154.8 MB/s")
    assert.truthy(f.description:find("zones, from", 1, true))
  end)

  it("mark flagged zones, with the reason", function()
    local d = load(PROFILE)
    d.zones[3].flagged, d.zones[3].reason = true, "slow"
    local flagged = series_of(by_id(figures.of { d }).zoneprofile, "flagged")
    assert.equal("slow", flagged.labels[#flagged.labels > 1 and 1 or #flagged.labels])
    assert.near(d.zones[3].bandwidth_bytes_per_s / 1e6, flagged.y[1], 1e-9)
  end)

  it("draw many zones as median, spread, single zones and fitted curve", function()
    local d = load(PROFILE)
    local zones = {}
    for i = 1, 200 do
      zones[i] = { offset_bytes = (i - 1) * 3000000000, length_bytes = 1 << 26, flagged = false,
        bandwidth_bytes_per_s = (150 - i / 4 + (i % 10 == 0 and -60 or i % 3)) * 1e6 }
    end
    d.zones = zones
    local f = by_id(figures.of { d }).zoneprofile
    local value, single = series_of(f, "value"), series_of(f, "single")
    assert.near(60, single.y[99] - single.y[100], 5)
    assert.is_true(math.abs(value.y[99] - value.y[100]) < 2)
    local spread, fit = series_of(f, "spread"), series_of(f, "fit")
    for i = 1, 200 do assert.is_true(spread.low[i] <= value.y[i] and value.y[i] <= spread.high[i]) end
    assert.near(125, fit.y[#fit.y // 2], 5)
    assert.equal("spread", f.series[1].role)
    assert.equal("value", f.series[#f.series].role)
  end)

  it("lay documents of a kind over one another: a colour a drive, a dash a run", function()
    local a, b, again = load(PROFILE), load(PROFILE), load(PROFILE)
    b.drive.model, b.drive.serial = "WDC WD3000GLFS-01F8U0", "WD-OTHER"
    again.started_at = "2011-01-01T00:00:00Z"
    local list = figures.of { a, b, again }
    local f = by_id(list).zoneprofile
    assert.equal(2, #list)
    assert.equal(3, #f.drives)
    local one, two, three = series_of(f, "value", 1), series_of(f, "value", 2), series_of(f, "value", 3)
    assert.equal(one.colour, three.colour)
    assert.is_true(one.colour ~= two.colour)
    assert.is_true(one.dash ~= two.dash and two.dash ~= three.dash and one.dash ~= three.dash)
    assert.is_true(f.drives[1].name ~= f.drives[3].name)
  end)

  it("give one drive one colour, whatever the figure", function()
    local other = load(PROFILE)
    other.drive.serial = "WD-OTHER"
    local sweep = load(SWEEP)
    sweep.drive.serial = "WD-OTHER"
    local found = by_id(figures.of { load(PROFILE), other, sweep })
    assert.equal(series_of(found.zoneprofile, "value", 2).colour, series_of(found.iops, "value", 1).colour)
  end)

  it("say what is no document, and draw what is left of a damaged one", function()
    local list, notes = figures.of { "x", { schema = "other/1" }, { schema = "hddlua.zoneprofile/1" } }
    assert.same({}, list)
    assert.equal(3, #notes)
    local d = load(PROFILE)
    d.zones[2] = "zone"
    d.zones[4].bandwidth_bytes_per_s = 0 / 0
    d.zones[5].bandwidth_bytes_per_s = math.huge
    d.zones[6].offset_bytes = "here"
    d.summary, d.parameters, d.drive = nil, 7, false
    for _, f in ipairs(figures.of { d }) do
      assert.is_string(figure.text(f))
      local svg = assert(figure.svg(f))
      assert.is_nil(xml_fault(svg))
      for family in svg:gmatch('font%-family="([^"]*)"') do assert.matches("sans%-serif$", family) end
      assert.truthy(svg:find('font-weight="bold"', 1, true))
    end
  end)

  it("have their numbers as a table", function()
    local head, rows = figure.table(by_id(figures.of { load(PROFILE) }).zoneprofile)
    assert.equal("position (GB)", head[1])
    assert.truthy(table.concat(head, "|"):find("WDC WD6000HLHX-01JJPV0 (MB/s)", 1, true))
    for _, row in ipairs(rows) do assert.equal(#head, #row) end
  end)
end)

describe("a figure as SVG", function()
  it("is well-formed, has a text alternative, and names its axes with units", function()
    local f = by_id(figures.of { load(PROFILE) }).zoneprofile
    for _, theme in ipairs { "light", "dark" } do
      local svg = assert(figure.svg(f, { theme = theme }))
      assert.is_nil(xml_fault(svg))
      assert.truthy(svg:find("<title>Read rate across the drive</title>", 1, true))
      assert.truthy(svg:find("zones, from", 1, true))
      assert.truthy(svg:find("position (GB)", 1, true))
      assert.truthy(svg:find("rate (MB/s)", 1, true))
    end
  end)

  it("takes any text as text: markup, gnuplot's, the shell's, control bytes", function()
    local a, b = load(PROFILE), load(PROFILE)
    a.drive.model, b.drive.model, b.drive.serial = HOSTILE, HOSTILE .. "2", HOSTILE
    a.zones[1].flagged, a.zones[1].reason = true, HOSTILE
    a.status = "interrupted"
    for _, f in ipairs(figures.of { a, b }) do
      f.annotations[1] = { x = 1, y = 100, text = HOSTILE }
      f.title = HOSTILE
      local svg = assert(figure.svg(f))
      assert.is_nil(xml_fault(svg))
      assert.is_nil(svg:find("<script", 1, true))
      assert.truthy(assert(figure.png(f)))
      local text = figure.text(f)
      assert.is_nil(text:find("[\27\0]"))
    end
    assert.is_nil(shell.read("PWNED"))
  end)
end)

describe("a figure as PNG", function()
  it("has the size that was asked for", function()
    local f = by_id(figures.of { load(SWEEP) }).iops
    local png = assert(figure.png(f, { width = 640, height = 360 }))
    assert.equal("\137PNG\r\n\26\n", png:sub(1, 8))
    local width, height = string.unpack(">I4I4", png, 17)
    assert.same({ 640, 360 }, { width, height })
  end)
end)

describe("a figure as text", function()
  it("fits the width, and keeps to ASCII without colours where that is wanted", function()
    for _, path in ipairs { PROFILE, SWEEP } do
      for _, f in ipairs(figures.of { load(path) }) do
        for _, width in ipairs { 1, 5, 24, 40, 80, 200 } do
          for _, look in ipairs { {}, { utf8 = true } } do
            local text = figure.text(f, { width = width, utf8 = look.utf8 })
            for line in text:gmatch("[^\n]*") do
              assert.is_true(printable.width(line) <= width)
              assert.is_nil(line:find(" $"))
              assert.is_nil(line:find(look.utf8 and "[%c]" or "[^ -~]"))
            end
          end
        end
      end
    end
  end)

  it("falls with the drive's rate from left to right", function()
    local f = by_id(figures.of { load(PROFILE) }).zoneprofile
    local first, last
    local row = 0
    for line in figure.text(f, { width = 80, height = 20 }):gmatch("[^\n]+") do
      row = row + 1
      local cells = line:match("^ *%d*[|+](.*)$")
      if cells and cells:find("*", 1, true) then
        first = first or { row = row, column = cells:find("*", 1, true) }
        last = { row = row, column = cells:find("%*[^*]*$") }
      end
    end
    assert.is_true(first.column < 10 and last.column > 60 and last.row > first.row)
  end)

  it("tells lines apart by their signs, with colours as well where these are wanted", function()
    local other = load(SWEEP)
    other.drive.serial, other.drive.model = "X", "Another"
    for _, row in ipairs(other.rows) do row.iops = row.iops * 1.5 end
    local f = by_id(figures.of { load(SWEEP), other }).iops
    local plain = figure.text(f, { utf8 = true })
    assert.truthy(plain:find("●", 1, true) and plain:find("▲ Another", 1, true))
    local coloured = figure.text(f, { utf8 = true, colour = true })
    assert.equal(plain, (coloured:gsub("\27%[[%d;]*m", "")))
    assert.truthy(coloured:find("\27[38;5;", 1, true))
  end)

  it("is a sentence where there is nothing to draw", function()
    local f = by_id(figures.of { load(PROFILE) }).zoneprofile
    f.series, f.description = {}, ""
    assert.equal("There is nothing to draw.\n", figure.text(f))
  end)
end)

describe("an axis of any data", function()
  local ODD = {
    { 5 }, { 5, 5, 5 }, { false, false }, { 0, -1, 3 }, { 0, 0 }, { 1e-9, 1 }, { 1e9, 1e-3 },
    { 0 / 0, 1 }, { math.huge, 1 }, { 2 ^ 62, 2 ^ 62 + 1 }, {},
  }

  it("is drawn, or replaced by a sentence", function()
    for _, values in ipairs(ODD) do
      for _, scale in ipairs { "linear", "log", "time" } do
        for _, kind in ipairs { "line", "points", "step", "bars" } do
          local x = {}
          for i = 1, #values do x[i] = i end
          local f = {
            id = "odd", title = "odd", description = "odd", x = { label = "x", scale = "linear" },
            y = { label = "y", scale = scale }, drives = {}, annotations = {}, notes = {},
            series = { { name = "s", role = "value", kind = kind, x = x, y = values, colour = 1 } },
          }
          assert.is_true(#figure.text(f, { utf8 = true }) > 0)
          if kind == "line" then assert.is_nil(xml_fault(assert(figure.svg(f)))) end
        end
      end
    end
  end)
end)
