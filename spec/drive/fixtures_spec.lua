-- Every value that a fixture's expected.json and interpretation.json name must come out of our
-- decoders, from the files, through a recording, and through the kernel's calls: counted, N of N.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local ata = require "hdd.drive.ata"
local expected = require "spec.support.expected"
local fixtures = require "spec.support.drive_fixtures"
local json = require "dkjson"
local pages = require "hdd.pages"
local recorded = require "spec.support.page_fixtures"
local sgreplay = require "spec.support.sgreplay"
local transport = require "hdd.transport"

describe("all of a drive", function()
  local health = ata.decode(fixtures.pages "WD6000HLHX-01JJPV0-a")

  it("is at hand as a script wants it", function()
    assert.equal(36, health:attribute(194).raw)
    assert.equal(478, health.sct.temperature_history.size)
    assert.equal(10, #health.phy_events)
    assert.equal(17, #health.attributes)
    assert.equal("passed", health.smart_status)
    assert.equal(7000, health.sct.error_recovery.read.ms)
  end)

  it("is JSON as it stands, nothing twice", function()
    local again = json.decode(json.encode(health))
    assert.equal(600127266816, again.identity.size_bytes)
    assert.equal("integer", math.type(again.identity.size_bytes))
    assert.is_nil(again.attributes)
    assert.equal(17, #again.smart.attributes)
  end)

  it("is what there is when pages are missing", function()
    local none = ata.decode {}
    assert.is_nil(none.attributes)
    assert.is_nil(none:attribute(194))
    assert.is_nil(none.phy_events)
    assert.is_nil(none.sct)
    assert.is_nil(none.temperature.temperature_c)
    local old = ata.decode(fixtures.pages "SP0812C-a")
    assert.is_nil(old.sct)
    assert.equal(1699, old.error_log.count)
  end)
end)

-- All that the fixtures name.
local VALUES <const> = 26292

-- Compared in the process that the calls are answered in.
local THROUGH_THE_KERNEL <const> = "through SG_IO and NVMe's ioctl"

-- The pages of a drive, from elsewhere.
local WAYS = {
  {"from the files", function(drive)
    local kind, name = drive:match "^(%l+)/(.+)$"
    return kind == "ata" and fixtures.pages(name) or recorded.pages(kind, name)
  end},
  {"from a recording", function(drive)
    local t <close> = assert(transport.open((sgreplay.recording(drive))))
    return pages.read(t, {all = true})
  end},
}

describe("what our decoders make of a drive", function()
  local totals = {}

  local function hold(way, drive, count)
    totals[way] = totals[way] or expected.none()
    expected.add(totals[way], count)
    local wrong = count.wrong
    assert.equal("", table.concat(wrong, "\n", 1, math.min(#wrong, 20)))
    assert.equal(count.all, count.right)
    assert.is_true(count.all > 25, drive)
  end

  for _, drive in ipairs(sgreplay.drives()) do
    it("is every expected value of " .. drive, function()
      for _, way in ipairs(WAYS) do hold(way[1], drive, expected.count(drive, way[2](drive))) end
      hold(THROUGH_THE_KERNEL, drive, (select(4, sgreplay.recording(drive))))
    end)
  end

  it("is every expected value of all drives, in each of three ways", function()
    for _, way in ipairs {WAYS[1][1], WAYS[2][1], THROUGH_THE_KERNEL} do
      local total = assert(totals[way], way)
      print(("\n%d of %d values reproduced %s (%d rightly disbelieved, %d in no byte)"):format(
        total.right, total.all, way, total.disbelieved, total.absent))
      assert.equal(VALUES, total.all)
      assert.equal(total.all, total.right)
    end
  end)
end)

describe("the files of a drive", function()
  it("are as long as they are said to be", function()
    for _, name in ipairs(fixtures.ata()) do
      local files = json.decode(fixtures.read("ata/" .. name .. "/expected.json")).files
      for file, size in pairs(files) do
        assert.equal(size, #fixtures.read("ata/" .. name .. "/" .. file))
      end
    end
  end)
end)
