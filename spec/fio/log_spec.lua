-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- fio's bandwidth logs as profiles. The fixtures are what fio 3.33 wrote of a simulated drive.
local document = require "hdd.document"
local fiolog = require "hdd.fio.log"
local shell = require "spec.support.shell"
local view = require "hdd.view.fiolog"

local MiB <const> = 1 << 20

local function fixture(name) return assert(shell.read("spec/fixtures/fio/" .. name)) end

describe("fio's bandwidth log", function()
  it("of averages is a profile, its places what was read by then", function()
    local profile, notes = assert(fiolog.read(fixture "avg_bw.1.log", { name = "avg_bw.1.log" }))
    assert(document.validate(profile))
    assert.equal(16, #profile.zones)
    assert.equal(0, profile.zones[1].offset_bytes)
    for i, zone in ipairs(profile.zones) do
      if i > 1 then
        local before = profile.zones[i - 1]
        assert.equal(before.offset_bytes + before.length_bytes, zone.offset_bytes)
      end
      -- The drive reads 154.8 MB/s there.
      assert.is_true(math.abs(zone.bandwidth_bytes_per_s / 154.8e6 - 1) < 0.03)
    end
    assert.matches("places are taken to be what was read by then", notes[1])
  end)

  it("of averages lies where the zones were, when those are told", function()
    local profile, notes = assert(fiolog.read(fixture "avg_bw.1.log", { zone_size = 100 * MiB, zone_skip = 900 * MiB }))
    local beyond = 0
    for _, zone in ipairs(profile.zones) do
      assert.is_true(zone.offset_bytes % (1000 * MiB) < 100 * MiB)
      if zone.offset_bytes >= 1000 * MiB then beyond = beyond + 1 end
    end
    assert.is_true(beyond > 3)
    assert.matches("the zones that were given", notes[1])
  end)

  it("of single requests is refused, as that is no rate of the drive's", function()
    for _, text in ipairs { fixture "each_bw.1.log", (fixture("each_bw.1.log"):gsub(", %d+, 0\n", ", 0\n")) } do
      local profile, message, code = fiolog.read(text, { name = "each_bw.1.log" })
      assert.is_nil(profile)
      assert.matches("^each_bw.1.log: it has a line for each request.*log_avg_msec=500", message)
      assert.equal(22, code)
    end
    local profile, notes = assert(fiolog.read(fixture "each_bw.1.log", { per_request = true }))
    assert(document.validate(profile))
    assert.matches("not the drive's rate", notes[1])
  end)

  it("of hddlua's own zone profile comes back with its places and rates", function()
    local original = assert(document.load("spec/fixtures/documents/zoneprofile.json"))
    local profile, notes = assert(fiolog.read(assert(view.bandwidth(original)), { name = "x_bw.1.log" }))
    assert.same({}, notes)
    assert.equal(#original.zones, #profile.zones)
    for i, zone in ipairs(profile.zones) do
      assert.equal(original.zones[i].offset_bytes, zone.offset_bytes)
      assert.is_true(math.abs(zone.bandwidth_bytes_per_s / original.zones[i].bandwidth_bytes_per_s - 1) < 1e-4)
    end
  end)

  it("leaves out writes", function()
    local profile, notes = assert(fiolog.read("500, 1000, 0, 0, 0\n500, 9, 1, 0, 0\n1000, 1100, 0, 0, 0\n"))
    assert.equal(2, #profile.zones)
    assert.matches("1 lines of writes", notes[1])
  end)

  it("of latencies or IOPS, or of nothing, can't be compared", function()
    for name, pattern in pairs {
      ["a_lat.1.log"] = "a log of lat", ["a_clat.2.log"] = "a log of clat", ["a_iops.log"] = "of iops",
    } do
      local profile, message, code = fiolog.read("500, 1000, 0, 0, 0\n", { name = name })
      assert.is_nil(profile)
      assert.matches(pattern, message)
      assert.equal(22, code)
    end
    for text, code in pairs {
      [""] = 22, ["500, 9, 1, 0, 0\n"] = 22, ["x\n"] = 74, ["500, 1, 0, 0, 0\nx\n"] = 74, ["0, 5, 0, 0, 0\n"] = 22,
    } do
      local profile, message, found = fiolog.read(text, { name = "a_bw.log" })
      assert.is_nil(profile)
      assert.is_string(message)
      assert.equal(code, found)
    end
    assert.is_true(fiolog.is "500, 1000, 0, 0, 0\n")
    assert.is_false(fiolog.is "{}")
  end)
end)
