-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- The zone profile as bars.
local bars = require "hdd.view.bars"
local document = require "hdd.document"
local printable = require "hdd.printable"

local function lines_of(s)
  local lines = {}
  for line in s:gmatch("(.-)\n") do lines[#lines + 1] = line end
  return lines
end

local function zones_of(rates)
  local zones = {}
  for i = 1, rates.n or #rates do
    zones[i] = {offset_bytes = (i - 1) * 1000000000, bandwidth_bytes_per_s = rates[i], flagged = false}
  end
  return zones
end

describe("a bar", function()
  it("is as long as its share", function()
    assert.equal("#####", bars.bar(0.5, 10))
    assert.equal("█████", bars.bar(0.5, 10, true))
    assert.equal("█▌", bars.bar(0.15, 10, true))
    assert.equal("", bars.bar(0, 10))
    assert.equal("##########", bars.bar(7, 10))
  end)

  it("of nothing is nothing", function()
    for _, share in ipairs {0 / 0, -1} do assert.equal("", bars.bar(share, 10, true)) end
    assert.equal("", bars.bar(nil, 10))
    assert.equal("", bars.bar(1, 0))
    assert.equal("", bars.bar(1, -5, true))
  end)
end)

describe("a profile in bars", function()
  local zones = assert(document.load "spec/fixtures/documents/zoneprofile.json").zones

  it("fits 80 columns and 25 lines, however many zones there are", function()
    local many = {}
    for i = 1, 8000 do
      many[i] = {offset_bytes = i << 31, bandwidth_bytes_per_s = 2e8 - i * 1e4, flagged = i == 777}
    end
    for _, list in ipairs {zones, many} do
      for _, utf8 in ipairs {true, false} do
        local lines = lines_of(bars.profile(list, {utf8 = utf8}))
        assert.is_true(#lines <= 25 and #lines > 12)
        for _, line in ipairs(lines) do assert.is_true(printable.width(line) <= 80, line) end
      end
    end
    assert.truthy(bars.profile(many):find("1 of 320 flagged", 1, true))
  end)

  it("says each rate in decimal and binary units, and where", function()
    local lines = lines_of(bars.profile(zones_of {200e6, 100e6}))
    assert.truthy(lines[1]:find("^ +0 B  200.0 MB/s %(190.7 MiB/s%)  #+$"), lines[1])
    local long, short = lines[1]:match("#+"), lines[2]:match("#+")
    assert.is_true(math.abs(#long - 2 * #short) <= 1)
  end)

  it("marks flagged zones with why", function()
    local list = zones_of {200e6, 100e6, 190e6}
    list[2].flagged, list[2].reason = true, "slow\27[0m"
    assert.truthy(lines_of(bars.profile(list))[2]:find("slow\\x1B[0m", 1, true))
    list[2].reason = nil
    assert.truthy(lines_of(bars.profile(list))[2]:find("flagged$"))
  end)

  it("is plain ASCII unless UTF-8 is wanted", function()
    assert.is_nil(bars.profile(zones):find("[\128-\255]"))
    assert.truthy(bars.profile(zones, {utf8 = true}):find("█", 1, true))
  end)

  it("is drawn at any width", function()
    for width = 0, 90 do
      local drawn = bars.profile(zones, {width = width, lines = 1 + width % 30, utf8 = true})
      for _, line in ipairs(lines_of(drawn)) do
        assert.is_true(printable.width(line) <= width, line)
      end
    end
  end)

  it("is a sentence when there is nothing to draw", function()
    for _, list in ipairs {{}, zones_of {n = 3}, zones_of {0, 0.0}, zones_of {0 / 0, 1 / 0}} do
      assert.truthy(bars.profile(list):find("nothing to draw", 1, true))
    end
  end)

  it("is drawn for one zone, equal zones, gaps, zeros and nine decades", function()
    assert.equal(1, #lines_of(bars.profile(zones_of {5e6})))
    local lines = lines_of(bars.profile(zones_of {5e6, 5e6, n = 3}))
    assert.equal(lines[1]:match("#+"), lines[2]:match("#+"))
    assert.truthy(lines[3]:find("n/a", 1, true))
    assert.equal(4, #lines_of(bars.profile(zones_of {1, 1e3, 1e9, 0})))
    assert.equal(1, #lines_of(bars.profile {{bandwidth_bytes_per_s = 1e6}}))
  end)
end)
