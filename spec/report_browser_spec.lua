-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- A report in Chromium: what a reader sees and does, what the page does not do, and what axe-core finds.
local document = require "hdd.document"
local file = require "hdd.file"
local html = require "hdd.view.html"
local json = require "dkjson"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local process = require "spec.support.process"

-- What was seen of a page; by name, each is opened once.
local pages, seen = {}, {}

local function example(name)
  return assert(document.load("spec/fixtures/documents/" .. name .. ".json"))
end

-- The same measurement of a slower drive.
local function other(name)
  local d = example(name)
  d.drive.model, d.drive.serial = "WDC WD3000GLFS-01F8U0", "WD-WXL308876543"
  for _, row in ipairs(d.zones or d.rows) do
    for _, key in ipairs {"bandwidth_bytes_per_s", "iops"} do
      row[key] = row[key] and row[key] * 0.75
    end
  end
  return d
end

function pages.comparison()
  return html.page({other "zoneprofile", other "qdsweep", example "zoneprofile", example "qdsweep"})
end

function pages.hostile()
  local poison = "</script><script>window.hacked=1</script><img src=http://127.0.0.1:9/x onerror=hacked=2>\""
    .. " onfocus=hacked=3 autofocus <svg onload=hacked=4>"
  local d, e = example "zoneprofile", other "zoneprofile"
  for _, of in ipairs {d, e} do
    of.drive.model = poison .. of.drive.serial
    of.warnings, of.status = {poison}, poison
    for i, row in ipairs(of.zones) do row.reason, row.flagged = i % 5 == 0 and poison or nil, i % 5 == 0 end
  end
  return html.page({d, e}, {title = poison, notes = {poison}})
end

local NAMES <const> = {"comparison", "hostile"}
local LOOKS <const> = "1280 light open,1280 dark,390 light,390 dark open;390 light"

-- All pages are opened by one browser, once.
local function look(name)
  needs.browser()
  if not seen[name] then
    local home <close> = place.new()
    local argv = {"node", "spec/support/browser/look.js"}
    for i, each in ipairs(NAMES) do
      argv[i + 2] = home:path(each) .. ".html" -- by the end of its name the browser knows what it is
      assert(file.write(argv[i + 2], pages[each]()))
    end
    local r = process.run(argv,
      {timeout = 270, env = {NODE_PATH = "build/browser/node_modules", LOOKS = LOOKS}})
    assert(r.status == 0, r.stderr)
    for i, found in ipairs(assert(json.decode(r.stdout, 1, nil, nil, nil))) do seen[NAMES[i]] = found end
  end
  return seen[name]
end

describe("a report of two drives in a browser", function()
  it("opens without an error and without a request", function()
    local s = look "comparison"
    assert.same({}, s.console)
    assert.same({}, s.requests)
    assert.same({}, s.markup.outside)
    assert.equal("refused", s.network)
    assert.equal("WDC WD3000GLFS-01F8U0 and WDC WD6000HLHX-01JJPV0", s.title)
  end)

  it("gives axe-core nothing serious to find, at both widths, light and dark, folded and unfolded", function()
    local s, looks = look "comparison", 0
    for name, found in pairs(s.looks) do
      looks = looks + 1
      for _, v in ipairs(found.violations) do
        assert.is_false(v.impact == "serious" or v.impact == "critical",
          name .. ": " .. v.id .. ": " .. tostring(v.nodes[1]))
      end
      assert.is_true(found.rules > 20, "rules that passed")
    end
    assert.equal(4, looks)
  end)

  it("scrolls down alone: nothing is wider than the window", function()
    for name, found in pairs(look("comparison").looks) do
      assert.is_true(found.overflow <= 0, name)
      assert.is_true(found.overflow_open <= 0, name .. ", unfolded")
    end
  end)

  it("switches a drive off and on again by the legend, by pointer and keyboard", function()
    local s = look "comparison"
    assert.equal("WDC WD3000GLFS-01F8U0", s.legend[1])
    assert.equal("WDC WD6000HLHX-01JJPV0", s.legend[2])
    assert.is_true(s.shown[1]["1"] > 0)
    assert.equal("false", s.pressed)
    assert.equal(0, s.shown_without[1]["1"])
    assert.equal(s.shown[1]["2"], s.shown_without[1]["2"])
    assert.same(s.shown, s.shown_again)
  end)

  it("tells the values under the pointer, with units", function()
    local hover = look("comparison").hover
    assert.equal(1, hover.opacity)
    assert.matches("^position [%d.]+ GB$", hover.title[1])
    assert.matches("^WDC WD%w+%-%w+: [%d.]+ MB/s", hover.lines[1])
  end)

  it("tells them to who goes along by keyboard, too", function()
    assert.matches("^position [%d.]+ GB: WDC WD%w+%-%w+: [%d.]+ MB/s", look("comparison").keyboard)
  end)

  it("has its tables folded, and unfolds them", function()
    local s, rows = look "comparison", {}
    for _, details in ipairs(s.tables) do
      assert.is_false(details.open, details.title)
      rows[details.title:match("^%a+")] = details.rows
    end
    assert.equal(32, rows.Zones)
    assert.is_true(s.opened.open)
    assert.is_true(s.opened.height > 100)
  end)

  it("shows pictures in place of charts where scripts are off", function()
    needs.program("gnuplot")
    local s = look "comparison"
    assert.is_true(s.charts >= 4)
    assert.equal(s.charts, s.pictures)
    assert.equal(0, s.empty_charts)
  end)
end)

describe("a report of hostile documents in a browser", function()
  it("runs nothing of theirs, asks for nothing, and is still read", function()
    local s = look "hostile"
    assert.is_nil(s.markup.hacked)
    assert.same({}, s.dialogs)
    assert.same({}, s.console)
    assert.same({}, s.requests)
    assert.same({}, s.markup.outside)
    assert.equal(0, s.markup.handlers)
    assert.equal(1, s.markup.ran)
    assert.matches("^</script><script>window.hacked=1", s.title)
    assert.is_true(s.charts >= 1)
    assert.matches("^position [%d.]+ GB: </script>", s.keyboard)
  end)
end)
