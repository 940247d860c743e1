-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Documents as a page of HTML: what is on it, and that nothing in a document becomes more than text.
local document = require "hdd.document"
local html = require "hdd.view.html"

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
