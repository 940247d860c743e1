-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local document = require "hdd.document"
local report = require "hdd.view.report"
local view = require "hdd.view.burnin"

local function burnt_in(serial, status)
  local d = document.new("hddlua.burnin/1", {
    path = "/dev/sdz", name = "sdz", model = "WDC WD6000HLHX\27[31m", serial = serial, kind = "disk",
    size_bytes = 600127266816, logical_block_size_bytes = 512,
  }, { loops = 1, write = true, patterns = { "stamp" } })
  d.phases = {
    { kind = "surface", name = "surface read", loop = 1, status = "complete", elapsed_s = 5000.0,
      temperature_c = 41, bandwidth_bytes_per_s = 120e6, result = "unreadable", errors = 3 },
    { kind = "verify", name = "verify stamp", loop = 1, status = "complete", elapsed_s = 5000.0, pattern = "stamp" },
  }
  d.unreadable = { { offset_bytes = 5120, length_bytes = 512, exact = true, error = "EIO", phase = 1 } }
  d.mismatches = { { offset_bytes = 1024, length_bytes = 1024, kind = "misdirected write", blocks = 2, phase = 2,
    pattern = "stamp", landed_offset_bytes = 512000, reread = "same" } }
  d.verdict = { status = status, reasons = status == "PASS" and {} or {
    { status = status, name = "unreadable_bytes", what = "cannot be read: 512 B", where = "unreadable[]", phase = 1,
      phase_name = "phase 1, surface read" } } }
  d.summary.verdict, d.summary.elapsed_s = status, 10000.0
  return document.finish(d, "complete")
end

local function widest(text)
  local most = 0
  for line in text:gmatch("[^\n]+") do most = math.max(most, utf8.len(line) or #line) end
  return most
end

describe("a burn-in as text", function()
  it("has phases, places, verdict and reasons, in 80 columns and without control characters", function()
    local text = assert(report.text(burnt_in("S1", "FAIL"), { width = 80 }))
    assert.is_true(widest(text) <= 80)
    assert.is_nil(text:find("\27", 1, true))
    assert.matches("1 surface read +complete +1 h 23 min +unreadable, 120.0 MB/s, 3 errors", text)
    assert.matches("LBA 10, offset 5120, 512 bytes, EIO", text)
    assert.matches("LBA 2 to 3, offset 1024, 1024 bytes, misdirected write, went to offset%s+512000", text)
    assert.matches("Verdict: FAIL\n  FAIL  cannot be read: 512 B %(phase 1, surface read; unreadable%[%]%)", text)
  end)

  it("of a batch is a page with a line for each drive, the odd one marked, and why", function()
    local results = {}
    for i, status in ipairs { "PASS", "FAIL", "PASS" } do
      results[i] = { name = "sd" .. i, document = burnt_in("S" .. i, status) }
    end
    results[4] = { name = "sdx", message = "open /dev/sdx: No such device" }
    local text = view.batch(results, { { index = 2, what = "has unreadable blocks: 512 B" } }, { width = 80 })
    assert.is_true(widest(text) <= 80)
    assert.matches("^4 drives: 2 PASS, 0 WARN, 2 FAIL\n", text)
    assert.matches("\n *%* sdz S2 +FAIL", text)
    assert.matches("Odd beside the others %(%*%):\n  sdz S2: has unreadable blocks", text)
    assert.matches("sdx: FAIL: open /dev/sdx: No such device", text)
  end)

  it("of a plan has a line for each phase and the time in all", function()
    local text = view.plan({ { drive = { name = "sdz", size_bytes = 1 << 40 }, all_s = 90000,
      phases = { { name = "surface read", loop = 2, planned_s = 5000 }, { name = "long self-test" } } } },
      { width = 80 })
    assert.matches("1  loop 2: surface read +1 h 23 min", text)
    assert.matches("2  long self%-test +unknown", text)
    assert.matches("in all +1 d 01 h", text)
  end)
end)
