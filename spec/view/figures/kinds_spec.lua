-- Figures of surface scans, seek profiles and snapshots.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local figure = require "hdd.view.figure"
local figures = require "hdd.view.figures"

local DRIVE <const> = { model = "WDC WD6000HLHX", serial = "WD-1" }

local function the_only(document, id)
  for _, f in ipairs(figures.of { document }) do
    if f.id == id then return f end
  end
end

local function series_of(f, role)
  for _, series in ipairs(f.series) do
    if series.role == role then return series end
  end
end

-- Every renderer takes it.
local function drawn(f)
  assert.truthy(figure.text(f, { width = 80, height = 12 }):find(f.title, 1, true))
  local svg = assert(figure.svg(f, { width = 600, height = 400 }))
  assert.truthy(svg:find("<svg", 1, true))
  assert.equal("table", type(require("hdd.view.figure.chart").configuration(f)))
end

describe("figures of a surface scan", function()
  local document = {
    schema = "hddlua.surface/1", drive = DRIVE, status = "complete",
    summary = { unreadable_ranges = 1, slow_ranges = 1, bandwidth_bytes_per_s = 150e6 },
    map = {
      { offset_bytes = 0, length_bytes = 2e9, latency_max_us = 6500, bandwidth_bytes_per_s = 160e6 },
      { offset_bytes = 2e9, length_bytes = 2e9, latency_max_us = 0 },
      { offset_bytes = 4e9, length_bytes = 2e9, latency_max_us = 90000, bandwidth_bytes_per_s = 140e6 },
    },
    slow = { { offset_bytes = 4500000000, length_bytes = 4096, latency_us = 36000 } },
    unreadable = { { offset_bytes = 5e9, length_bytes = 512 } },
  }

  it("have the slowest block of each part, with a gap where nothing was read", function()
    local f = assert(the_only(document, "surface-latency"))
    local line = series_of(f, "value")
    assert.same({ 1, 3, 5 }, line.x)
    assert.same({ 6.5, false, 90 }, line.y)
    assert.equal("WDC WD6000HLHX: 1 unreadable range, 1 slow range.", f.description)
    drawn(f)
  end)

  it("mark what is slow at its time, and what cannot be read at the top", function()
    local marks = {}
    for _, series in ipairs(the_only(document, "surface-latency").series) do
      if series.role == "flagged" then marks[series.label] = series end
    end
    assert.same({ { 4.5 }, { 36 } }, { marks.slow.x, marks.slow.y })
    assert.same({ { 5 }, { 90 } }, { marks.unreadable.x, marks.unreadable.y })
    assert.truthy(marks.unreadable.labels[1]:find("from byte 5000000000 on", 1, true))
  end)

  it("have the rate", function()
    assert.same({ 160, false, 140 }, series_of(the_only(document, "surface-rate"), "value").y)
  end)

  it("of a scan of nothing are none, and it is said why", function()
    local list, notes = figures.of { { schema = "hddlua.surface/1", map = { 1, "x", {} }, slow = 7 } }
    assert.same({}, list)
    assert.matches("nothing to draw", notes[1])
  end)
end)

describe("the figure of a seek profile", function()
  local document = {
    schema = "hddlua.seekprofile/1", drive = DRIVE, status = "complete",
    summary = { seek_average_us = 3600, seek_track_to_track_us = 400, seek_full_stroke_us = 8000 },
    fit = { a_us = 300, b_us = 8000, c_us = 2000, e_us = 6000, knee_share = 0.25 },
    seeks = {
      { stroke_share = 0.01, seek_us = 1100, uncertainty_us = 50, ios = 20, flagged = false },
      { stroke_share = 0.5, seek_us = 5000, uncertainty_us = 100, ios = 20, flagged = false },
      { stroke_share = 0.9, seek_us = 9000, ios = 3, flagged = true, reason = "off the curve" },
      { stroke_share = 1 },
    },
  }

  it("has what was measured with its error bars, and what is to be looked at", function()
    local f = assert(the_only(document, "seek"))
    local value, flagged = series_of(f, "value"), series_of(f, "flagged")
    assert.same({ 1.0, 50.0 }, value.x)
    assert.same({ 1.1, 5.0 }, value.y)
    assert.near(1.15, value.high[1], 1e-9)
    assert.same({ { 90.0 }, { 9.0 }, { "off the curve" } }, { flagged.x, flagged.y, flagged.labels })
    assert.equal("WDC WD6000HLHX: track to track 0.40 ms, average 3.60 ms, full stroke 8.00 ms.",
      f.description)
    drawn(f)
  end)

  it("has the fitted curve up to the knee and beyond", function()
    local fit = series_of(the_only(document, "seek"), "fit")
    local first, last = fit.x[1] / 100, #fit.x
    assert.near((300 + 8000 * math.sqrt(first)) / 1000, fit.y[1], 1e-9)
    assert.same({ 100.0, 8.0 }, { fit.x[last], fit.y[last] })
  end)

  it("of what does not turn is none", function()
    local list, notes = figures.of { { schema = "hddlua.seekprofile/1", seeks = {} } }
    assert.same({}, list)
    assert.matches("Nothing turns", notes[1])
  end)
end)

describe("figures of snapshots", function()
  local function snapshot(read_at, hours, drive)
    return {
      schema = "hddlua.smart/1", drive = drive or DRIVE, status = "complete",
      source = { read_at = read_at }, started_at = read_at,
      health = {
        smart = { attributes = {
          { id = 9, name = "power-on time", raw = hours }, { id = 5, name = "reallocated", raw = 0 },
          "no attribute",
        } },
        sct = { temperature_history = { rows = {
          { minutes_ago = 120, temperature_c = 36 }, { minutes_ago = 60 },
          { minutes_ago = 0, temperature_c = 41 },
        } } },
      },
    }
  end

  it("have the drive's own temperatures, hours before they were read", function()
    local f = assert(the_only(snapshot("2026-10-01T00:00:00Z", 1), "temperature-history"))
    assert.same({ { -2.0, -1.0, -0.0 }, { 36, false, 41 } }, { f.series[1].x, f.series[1].y })
    assert.equal("WDC WD6000HLHX: 36 to 41 °C in the last 2.0 h.", f.description)
    drawn(f)
  end)

  it("have a trend of what has changed between two of one drive, in the order of their times", function()
    local list = figures.of { snapshot("2026-11-01T00:00:01Z", 900), snapshot("2026-10-01T00:00:00Z", 100) }
    local f = list[#list]
    assert.equal("attribute-9", f.id)
    assert.equal("Attribute 9: power-on time", f.title)
    assert.same({ { 1790812800, 1793491201 }, { 100, 900 } }, { f.series[1].x, f.series[1].y })
    assert.equal("WDC WD6000HLHX WD-1: from 100 to 900.", f.description)
    assert.same({ "temperature-history", "attribute-9" }, { list[1].id, list[2].id })
    drawn(f)
  end)

  it("have no trend across different drives", function()
    local list = figures.of {
      snapshot("2026-10-01T00:00:00Z", 1), snapshot("2026-11-01T00:00:00Z", 2, { model = "other", serial = "2" }),
    }
    assert.equal(1, #list)
  end)
end)
