-- Where the zones of a profile lie.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local zones = require "hdd.procedure.zones"

local MiB <const>, GiB <const> = 1 << 20, 1 << 30

-- What must hold of any list of zones.
local function check(list, from, to, block)
  local position, good = from, list[1].offset == from
  for _, zone in ipairs(list) do
    good = good and math.type(zone.offset) == "integer" and math.type(zone.length) == "integer"
      and zone.length > 0 and zone.offset >= position and zone.offset % block == 0
    position = zone.offset + zone.length
  end
  assert.is_true(good)
  assert.equal(to, position)
end

describe("strided zones", function()
  it("lie size and skip apart, as those of fio's stock job", function()
    local size = 600127266816
    local list = assert(zones.strided(0, size, 256 * MiB, 2 * GiB, 65536))
    check(list, 0, size, 512)
    for i = 1, #list - 1 do
      assert.equal((i - 1) * (2 * GiB + 256 * MiB), list[i].offset)
      assert.equal(256 * MiB, list[i].length)
    end
  end)

  it("end with a whole zone at the end of the range", function()
    -- In the skip, and in the middle of a zone.
    for _, size in ipairs { 10 * GiB, 9 * GiB + 128 * MiB, 9 * GiB + 3 * 512 } do
      local list = assert(zones.strided(0, size, 256 * MiB, 2 * GiB, 65536))
      check(list, 0, size, 512)
      assert.is_true(list[#list].length > 256 * MiB - 65536)
    end
  end)

  it("without a skip cover every byte once, the last one shortened", function()
    local size = 64 * MiB + 3 * 512
    local list = assert(zones.strided(0, size, MiB, 0, 65536))
    local position = 0
    for _, zone in ipairs(list) do
      assert.equal(position, zone.offset)
      position = position + zone.length
    end
    assert.equal(size, position)
    assert.equal(3 * 512, list[#list].length)
  end)

  it("are one zone when the range has no room for more", function()
    assert.same({ { offset = 0, length = 64 * MiB } },
      zones.strided(0, 64 * MiB, 256 * MiB, 2 * GiB, 65536))
    assert.same({ { offset = 512, length = 512 } },
      zones.strided(512, 1024, 256 * MiB, 2 * GiB, 65536))
  end)

  it("never overlap, whatever the sizes", function()
    for size = 1, 60 do
      for zone = 1, 12 do
        for skip = 0, 12 do
          local list = assert(zones.strided(0, size * 512, zone * 512, skip * 512, 1024))
          check(list, 0, size * 512, 512)
        end
      end
    end
  end)

  it("touch the last sector of 40 TiB, and of 8 EiB less one", function()
    check(assert(zones.strided(0, 40 << 40, 256 * MiB, 2 * GiB, 65536)), 0, 40 << 40, 512)
    local size = math.maxinteger - 511
    check(assert(zones.strided(0, size, 1 << 50, 1 << 53, 65536)), 0, size, 512)
  end)

  it("are not made in millions", function()
    local list, count = zones.strided(0, 1 << 40, 4096, 0, 4096)
    assert.is_nil(list)
    assert.equal(1 << 28, count)
  end)
end)

describe("spread zones", function()
  it("begin where the range begins and end where it ends", function()
    local sizes = { 600127266816, 64 * MiB + 3 * 512, (40 << 40) + 512, math.maxinteger - 511 }
    for _, size in ipairs(sizes) do
      for _, count in ipairs { 2, 3, 40, 97 } do
        local list = zones.spread(0, size, 512 * 1000, count, 4096)
        assert.equal(count, #list)
        check(list, 0, size, 512)
      end
    end
  end)

  it("are evenly spread", function()
    local list = zones.spread(0, 100 * GiB, GiB, 10, 65536)
    for i, zone in ipairs(list) do
      assert.is_true(math.abs(zone.offset - (i - 1) * 11 * GiB) <= 65536)
      assert.equal(GiB, zone.length)
    end
  end)

  it("fill the range when they just fit it", function()
    local list = zones.spread(0, 40 * MiB, MiB, 40, 65536)
    for i, zone in ipairs(list) do assert.same({ offset = (i - 1) * MiB, length = MiB }, zone) end
  end)

  it("of number one lie at the beginning", function()
    assert.same({ { offset = 4096, length = MiB } }, zones.spread(4096, GiB, MiB, 1, 65536))
  end)
end)
