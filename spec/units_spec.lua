-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- What is read from the command line, and what is written for a person.
local locale = require "spec.support.locale"
local needs = require "spec.support.needs"
local units = require "hdd.units"

local function refused(value, message, ...)
  assert.is_nil(value)
  for _, part in ipairs {...} do assert.truthy(message:find(part, 1, true), message) end
end

describe("a size", function()
  it("of one letter is binary, in either case, as in fio", function()
    assert.equal(65536, units.size "64k")
    assert.equal(268435456, units.size "256m")
    assert.equal(2147483648, units.size "2G")
    assert.equal(1 << 40, units.size "1t")
  end)

  it("of two letters tells decimal and binary apart", function()
    assert.equal(64000, units.size "64kB")
    assert.equal(64000, units.size "64KB")
    assert.equal(65536, units.size "64KiB")
    assert.equal(65536, units.size "64kib")
    assert.equal(600000000000, units.size "600GB")
    assert.equal(1 << 40, units.size "1TiB")
  end)

  it("without a unit is in bytes, also hexadecimal", function()
    assert.equal(512, units.size "512")
    assert.equal(512, units.size "512B")
    assert.equal(4096, units.size "0x1000")
  end)

  it("is refused where programs disagree about the unit", function()
    local value, message = units.size "64kb"
    refused(value, message, '"64kb"', "64k", "KiB", "kB")
    assert.is_nil(units.size "64Ki")
  end)

  it("may be a fraction when that makes whole bytes", function()
    assert.equal(1610612736, units.size "1.5g")
    assert.equal(9200000000000000000, units.size "9.2EB")
    local value, message = units.size "1.0001k"
    refused(value, message, "not a whole number of bytes")
    assert.is_nil(units.size "1,5g")
  end)

  it("is an exact integer up to 2^63-1, and refused beyond", function()
    assert.equal(math.maxinteger, units.size "9223372036854775807")
    assert.equal(9007199254740993, units.size "9007199254740993")
    assert.equal("integer", math.type(units.size "8191p"))
    for _, text in ipairs {"9223372036854775808", "8E", "16EB", "99999999999999999999999",
      "0x8000000000000000"} do
      local value, message = units.size(text)
      refused(value, message, "2^63-1")
    end
  end)

  it("that is none is refused with what is allowed", function()
    for _, text in ipairs {"", " ", "-1", "abc", "1e9", "k", "1.", "1..5", "0x", "64k64k", "\0", "1 2"} do
      local value, message = units.size(text)
      refused(value, message, "allowed are")
    end
  end)

  it("of a block is more than 0", function()
    assert.is_nil(units.positive_size "0")
    assert.equal(0, units.size "0")
  end)
end)

describe("a list", function()
  it("of whole numbers keeps its order", function()
    assert.same({1, 2, 4, 8, 16, 24}, units.integers "1,2,4,8,16,24")
    assert.same({8, 1}, units.integers "8, 1")
    assert.equal("integer", math.type(units.integers("7")[1]))
  end)

  it("of sizes reads each as a size", function()
    assert.same({512, 4096, 65536}, units.sizes "512,4k,64KiB")
  end)

  it("with a wrong item names the item and the list", function()
    local value, message = units.integers "1,x,4"
    refused(value, message, '"x"', '"1,x,4"')
    for _, text in ipairs {"", ",", "1,,2", "0", "-1", "1.5", "1,", "99999999999999999999"} do
      assert.is_nil(units.integers(text), text)
    end
    assert.is_nil(units.sizes "512,0")
  end)
end)

describe("a duration", function()
  it("is in seconds, or has units, which add up", function()
    assert.equal(90, units.duration "90")
    assert.equal(10, units.duration "10s")
    assert.equal(120, units.duration "2m")
    assert.equal(5400, units.duration "1h30m")
    assert.equal(0.5, units.duration "500ms")
    assert.equal(86400, units.duration "1d")
    assert.equal("integer", math.type(units.duration "1.5h"))
  end)

  it("that is none is refused", function()
    for _, text in ipairs {"", "-5", "10x", "1h30", "m", "1e3", "nan", "inf", "9999999999999d"} do
      local value, message = units.duration(text)
      refused(value, message, "allowed are")
    end
  end)
end)

describe("a share", function()
  it("is a percentage or a fraction of 1", function()
    assert.equal(0.02, units.ratio "2%")
    assert.equal(0.02, units.ratio "0.02")
    assert.equal(1, units.ratio "100%")
  end)

  it("above 1 is refused, as 2 could mean 2 %", function()
    for _, text in ipairs {"2", "101%", "-1%", "", "x", "nan"} do assert.is_nil(units.ratio(text), text) end
  end)
end)

describe("a seed", function()
  it("is any 64-bit integer", function()
    assert.equal(-1, units.seed "-1")
    assert.equal(math.mininteger, units.seed "-9223372036854775808")
    assert.equal(255, units.seed "0xff")
    assert.is_nil(units.seed "9223372036854775808")
    assert.is_nil(units.seed "1.5")
  end)
end)

describe("a place on a drive", function()
  local size = 600127266816

  it("is given in bytes, as a size, in percent or in logical blocks", function()
    assert.equal(1 << 30, units.offset("1g", size, 512))
    assert.equal(12345, units.offset(12345, size, 512))
    assert.equal(2048 * 4096, units.offset("2048s", size, 4096))
    assert.equal(300063633408, units.offset("50%", size, 512))
    assert.equal(0, units.offset("0%", size, 512))
    assert.equal(size, units.offset("100%", size, 512))
  end)

  it("in percent lies on a block boundary", function()
    assert.equal(0, units.offset("33.3%", size, 4096) % 4096)
    local tenth = units.offset("10%", math.maxinteger - 4095, 4096)
    assert.equal("integer", math.type(tenth))
    assert.equal(0, tenth % 4096)
    assert.is_true(math.abs(tenth / (math.maxinteger / 10) - 1) < 1e-9)
  end)

  it("behind the end is refused with the drive's size", function()
    for _, text in ipairs {"600127266817", "9223372036854775807s", "1t"} do
      local value, message = units.offset(text, size, 512)
      refused(value, message, "600127266816 bytes")
    end
  end)

  it("can be checked before the drive is known", function()
    assert.equal("50%", units.position "50%")
    assert.is_nil(units.position "101%")
    assert.is_nil(units.position "middle")
  end)
end)

describe("a number for a person", function()
  it("has both kinds of units where it is a size or a rate", function()
    assert.equal("600.1 GB (558.9 GiB)", units.bytes(600127266816))
    assert.equal("154.8 MB/s (147.6 MiB/s)", units.rate(154.8e6))
    assert.equal("0.54 MB/s (0.51 MiB/s)", units.rate(537247))
    assert.equal("512 B", units.bytes(512))
    assert.equal("64 KiB", units.block(65536))
    assert.equal("1000 B", units.block(1000))
  end)

  it("has the unit that fits a latency", function()
    assert.equal("850 ns", units.latency(850))
    assert.equal("86.2 us", units.latency(86200))
    assert.equal("8.06 ms", units.latency(8060000))
    assert.equal("1.20 s", units.latency(1200000000))
  end)

  it("never rounds into the next unit's digits", function()
    assert.equal("1.00 MB", units.decimal_bytes(999999))
    assert.equal("1.00 ms", units.latency(999999))
    assert.equal("1 min 00 s", units.duration_text(59.7))
    assert.equal("1 h 00 min", units.duration_text(3599.7))
  end)

  it("says durations as people do", function()
    assert.equal("0.35 s", units.duration_text(0.35))
    assert.equal("42 s", units.duration_text(42.3))
    assert.equal("3 min 20 s", units.duration_text(200))
    assert.equal("1 h 04 min", units.duration_text(3840))
    assert.equal("2 d 03 h", units.duration_text(2 * 86400 + 3 * 3600))
  end)

  it("is n/a when it is unknown or not finite", function()
    for _, write in ipairs {units.bytes, units.rate, units.latency, units.duration_text, units.fixed,
                            units.exact, units.block, units.decimal_bytes} do
      assert.equal("n/a", write(nil))
      assert.equal("n/a", write(0 / 0))
      assert.equal("n/a", write(1 / 0))
      assert.equal("n/a", write(-1 / 0))
    end
    assert.equal("n/a", units.lba(nil, 512))
  end)

  it("shows an LBA in the drive's logical blocks, without wrapping", function()
    assert.equal("5368709120", units.lba(5368709120 * 4096, 4096))
    assert.equal("1", units.lba(1023, 512))
  end)

  it("is written exactly when asked: each reads back as the same value and kind", function()
    for _, value in ipairs {0.1, 1 / 3, 3.0, 1e300, 5e-324, -0.5, 154972766.28, math.maxinteger,
                            math.mininteger, 9007199254740993, 0} do
      local back = tonumber(units.exact(value))
      assert.equal(value, back)
      assert.equal(math.type(value), math.type(back))
    end
  end)

  it("has a decimal point in a locale with a comma", function()
    needs.program "localedef"
    local ran = locale.german [[
      assert(os.setlocale "")
      local units = require "hdd.units"
      print(string.format("%.1f", 0.5), units.fixed(0.5, 1), units.exact(0.1), units.exact(3.0),
        units.rate(154.8e6), units.latency(8060000), units.duration "1.5h", units.size "1.5g")
    ]]
    assert.equal("0,5\t0.5\t0.1\t3.0\t154.8 MB/s (147.6 MiB/s)\t8.06 ms\t5400\t1610612736\n", ran.stdout)
  end)
end)
