-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Whole documents as text.
local document = require "hdd.document"
local json = require "hdd.json"
local locale = require "spec.support.locale"
local needs = require "spec.support.needs"
local printable = require "hdd.printable"
local report = require "hdd.view.report"

local function example(name)
  return assert(document.load("spec/fixtures/documents/" .. name .. ".json"))
end

local function has(s, ...)
  for _, part in ipairs {...} do assert.truthy(s:find(part, 1, true), part .. "\n" .. s) end
end

describe("the text of a zone profile", function()
  it("says which drive, how it was measured, and the result, with units", function()
    has(report.text(example "zoneprofile"),
      "WDC WD6000HLHX-01JJPV0, serial WD-WXL0E1234567, 600.1 GB (558.9 GiB)", "10000 rpm", "512-byte blocks",
      "32 zones of 256 MiB, read in blocks of 64 KiB, at depth 2, 1 pass", "2026-11-30T19:40:00Z",
      "outer      155.0 MB/s (147.8 MiB/s)", "inner      95.6 MB/s (91.2 MiB/s)", "ratio      1.62",
      "full read  1 h 21 min", "slowest    95.6 MB/s (91.2 MiB/s) at 599.9 GB (LBA 1171599232)",
      "Slowest reads:\n  91.3 ms at 367.8 GB (LBA 7",
      "367.7   98.3   93.8  1.333  4.35  91.31     121.4  slow")
  end)

  it("lists of very many zones the flagged ones", function()
    local d, zones = example "zoneprofile", {}
    for i = 1, 8000 do zones[i] = d.zones[i % 32 + 1] end
    d.zones = zones
    local s = report.text(d)
    has(s, "8000 zones, of which 250 are flagged; the first 100:")
    assert.is_true(select(2, s:gsub("\n", "")) < 160)
    assert.is_true(select(2, report.text(d, {rows = 9000}):gsub("\n", "")) > 8000)
    for _, zone in ipairs(zones) do zone.flagged = false end
    has(report.text(d), "8000 zones, of which 0 are flagged.")
  end)

  it("shows the spread over several passes", function()
    local d = example "zoneprofile"
    d.parameters.passes = 3
    has(report.text(d, {width = 100}), "3 passes", "slowest", "fastest")
  end)
end)

describe("the text of a sweep", function()
  it("says how it was measured and the result, with units", function()
    has(report.text(example "qdsweep"),
      "random reads, 2 min 00 s a row, 10 s ramp before, scheduler none, seed 20261130,",
      "over the whole drive",
      "best       221.2 IOPS at depth 16 with blocks of 4 KiB", "gain       1.69 times depth 1", "95% +-",
      "4 KiB     24  218.9   1.310  0.897  109.65")
  end)

  it("writes out below the table why a row is not plausible", function()
    local d = example "qdsweep"
    d.rows[2].flagged, d.rows[2].reason = true, "faster than half a revolution allows"
    has(report.text(d), "* depth 2, 512 B: faster than half a revolution allows")
  end)

  it("says what share of the drive was read", function()
    local d = example "qdsweep"
    d.parameters.from, d.parameters.to = 60012726681, 120025453362
    has(report.text(d), "60.0 GB to 120.0 GB (10.0 % of the drive)")
  end)
end)

describe("the text of any document", function()
  it("names what went wrong: status, failed reads, stalls, warnings", function()
    for _, name in ipairs {"zoneprofile", "qdsweep"} do
      local d = example(name)
      d.status, d.errors = "interrupted", 12
      for i = 1, 12 do
        d.failures[i] = {offset_bytes = i * 1000000 * 512, length_bytes = 4096, error = "EIO", code = 5,
                         latency_ns = 3000000000}
      end
      d.stalls = {{elapsed_s = 5.25, offset_bytes = 4096}}
      d.warnings = {"the scheduler could not be set: permission denied"}
      has(report.text(d), "Interrupted", "12 failed reads:",
        "EIO at 512.0 MB (LBA 1000000), 4 KiB, after 3.00 s",
        "and 2 more", "Nothing completed for a while:", "5.25 s at 4.10 kB (LBA 8)", "errors     12",
        "Warning: the scheduler could not be set: permission denied")
    end
  end)

  it("fits the terminal, whatever its width", function()
    for _, name in ipairs {"zoneprofile", "qdsweep"} do
      local d = example(name)
      d.warnings = {("a rather long warning "):rep(9)}
      for _, width in ipairs {0, 1, 2, 5, 13, 20, 33, 40, 60, 80, 132} do
        for line in report.text(d, {width = width, utf8 = true}):gmatch("(.-)\n") do
          assert.is_true(printable.width(line) <= math.max(1, width), line)
        end
      end
      assert.is_string(report.text(d, {width = false}))
    end
  end)

  it("is plain ASCII unless UTF-8 is wanted, and never moves the cursor", function()
    for _, name in ipairs {"zoneprofile", "qdsweep"} do
      local d = example(name)
      d.drive.model, d.drive.serial = 'MO"D,EL <b>\xE9\1', '\0\xFF AB\27[31m "'
      d.drive.path = "/dev/Größe\r\27]0;x\7"
      d.warnings = {"\27[2J\u{9B}31m\u{202E}"}
      d.failures = {{offset_bytes = 0, error = "\27[H"}}
      d.parameters.scheduler = "\27[1m"
      assert.is_nil(report.text(d):gsub("\n", ""):find("[^\32-\126]"))
      local s = report.text(d, {utf8 = true})
      assert.truthy(utf8.len(s))
      assert.is_nil(s:gsub("\n", ""):find("[\0-\31\127]"))
      assert.is_nil(s:find("\u{9B}", 1, true) or s:find("\u{202E}", 1, true))
      has(s, "Größe")
    end
  end)

  it("of nothing measured is a sentence, not an error", function()
    for _, name in ipairs {"hddlua.zoneprofile/1", "hddlua.qdsweep/1"} do
      local d = document.new(name, {path = "/dev/sdb", size_bytes = 0, logical_block_size_bytes = 512}, {})
      has(report.text(document.finish(d, "interrupted")), "/dev/sdb", "Interrupted", "Nothing was measured.")
    end
  end)

  it("is made of whatever a damaged file still holds", function()
    for _, name in ipairs {"zoneprofile", "qdsweep"} do
      local function places(value, list)
        for key, member in pairs(value) do
          list[#list + 1] = {value, key}
          if type(member) == "table" then places(member, list) end
        end
        return list
      end
      local d = example(name)
      local rows = d.zones or d.rows
      for i = #rows, 3, -1 do rows[i] = nil end
      for _, spot in ipairs(places(d, {})) do
        local kept = spot[1][spot[2]]
        for _, other in ipairs {json.null, -1, 0, 1.5, "x", json.list(), true, math.maxinteger} do
          spot[1][spot[2]] = other
          local read = document.decode(json.encode(d))
          if read then assert.is_string(report.text(read), tostring(spot[2])) end
        end
        spot[1][spot[2]] = kept
      end
    end
  end)

  it("is refused for a schema without a text form", function()
    local s, message = report.text {schema = "example.seek/1"}
    assert.is_nil(s)
    has(message, "example.seek/1")
    assert.is_nil((report.text {}))
  end)

  it("has a decimal point in a locale with a comma", function()
    needs.program "localedef"
    local ran = locale.german [[
      local document, report = require "hdd.document", require "hdd.view.report"
      local d = assert(document.load "spec/fixtures/documents/qdsweep.json")
      local before = report.text(d)
      assert(os.setlocale "")
      print(before == report.text(d))
    ]]
    assert.equal("true\n", ran.stdout)
  end)
end)
