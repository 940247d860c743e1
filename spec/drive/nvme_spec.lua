-- NVMe drives: how the recorded ones read, and what broken logs give.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local fixtures = require "spec.support.drive_fixtures"
local nvme = require "hdd.drive.nvme"
local nvme_bytes = require "hdd.drive.nvme_bytes"
local nvme_errors = require "hdd.drive.nvme_errors"
local nvme_health = require "hdd.drive.nvme_health"
local nvme_identify = require "hdd.drive.nvme_identify"
local nvme_self_test = require "hdd.drive.nvme_self_test"
local pages = require "spec.support.page_fixtures"

local function warned(result, name)
  for _, w in ipairs(result.warnings) do
    if w.name == name then return w.message end
  end
end

-- A health log of zeroes with some bytes set: {offset, format, value}.
local function log_with(...)
  local data = ("\0"):rep(512)
  for _, change in ipairs {...} do
    local packed = string.pack(change[2], change[3])
    data = data:sub(1, change[1]) .. packed .. data:sub(change[1] + #packed + 1)
  end
  return data
end

describe("an NVMe health log", function()
  it("gives counters up to 2^63-1 as integers and larger ones digit for digit", function()
    local h = nvme_health.decode(log_with({112, "<i8", math.maxinteger}, {128, "<I8", 1 << 63},
      {152, "<i8", 1}))
    assert.equal(math.maxinteger, h.power_cycles)
    assert.equal("integer", math.type(h.power_cycles))
    assert.equal("9223372036854775808", h.power_on_hours)
    assert.equal("18446744073709551616", h.unsafe_shutdowns)
    assert.equal(0, h.media_errors)
  end)

  it("gives data units as bytes too, digit for digit", function()
    local h = nvme_health.decode(log_with({32, "<i8", 86115037}, {48, "<i8", 1 << 62}))
    assert.equal(86115037 * 512000, h.data_read_bytes)
    assert.equal(1 << 62, h.data_units_written)
    assert.equal("2361183241434822606848000", h.data_written_bytes)
  end)

  it("names what the drive warns of", function()
    local h = nvme_health.decode(fixtures.read "broken/nvme_log_all_warnings.bin")
    local names = {}
    for i, w in ipairs(h.critical_warnings) do names[i] = w.name end
    assert.same({"spare", "temperature", "reliability", "read_only", "backup",
      "persistent_memory"}, names)
    assert.is_nil(h.temperature_c)
    assert.equal(255, h.life_used_percent)
    local said = nvme.decode {logs = {[2] = fixtures.read "broken/nvme_log_all_warnings.bin"}}
    assert.is_nil(said.temperature.temperature_c)
  end)

  it("of all ones is not believed, and nothing in it overflows or is negative", function()
    local h = nvme_health.decode(fixtures.read "broken/nvme_log_ff.bin")
    assert.is_true(h.doubtful)
    assert.is_string(warned(h, "all_ones"))
    assert.equal("340282366920938463463374607431768211455", h.power_on_hours)
    assert.equal("174224571863520493293247799005065324264960000", h.data_written_bytes)
    for _, key in ipairs {"temperature_c", "available_spare_percent",
      "spare_threshold_percent"} do assert.is_nil(h[key]) end
    assert.equal(0, #h.sensors)
    assert.is_string(warned(h, "reserved_bit"))
    local said = nvme.decode {logs = {[2] = fixtures.read "broken/nvme_log_ff.bin"}}
    assert.is_nil(said.power_on.power_on_hours)
  end)

  it("with more busy minutes than hours of life says so", function()
    assert.matches("384079248 busy minutes", warned(pages.decode("nvme",
      "SSD_970_EVO_Plus_cw0d").health_log, "busy_time"))
    assert.is_nil(warned(pages.decode("nvme", "Micron_7450_MTFDKCC3T2TFS").health_log, "busy_time"))
  end)

  it("of a drive without temperature limits has no time above them", function()
    assert.is_nil(pages.decode("nvme",
      "INTEL_MEMPEK1W032GA").health_log.warning_temperature_minutes)
    assert.equal(0,
      pages.decode("nvme", "KXG60ZNV512G_TOSHIBA").health_log.warning_temperature_minutes)
  end)

  it("cut short gives what is there", function()
    local h = nvme_health.decode(log_with({1, "<I2", 300}):sub(1, 40))
    assert.equal(27, h.temperature_c)
    assert.is_nil(h.data_units_read)
    assert.is_string(warned(h, "short"))
  end)
end)

describe("a counter of 128 bits", function()
  it("has every digit where it does not fit an integer", function()
    for _, case in ipairs {
      {0, 1 << 63, "9223372036854775808"}, {1, 0, "18446744073709551616"},
      {5, 7, "92233720368547758087"},
    } do
      assert.equal(case[3], nvme_bytes.counter(string.pack("<i8i8", case[2], case[1]), 0))
    end
    assert.equal(7, nvme_bytes.counter(string.pack("<i8i8", 7, 0), 0))
    assert.is_nil(nvme_bytes.counter(("\0"):rep(15), 0))
  end)
end)

describe("NVMe Identify", function()
  local function page(fields)
    local data = ("\0"):rep(4096)
    for at, packed in pairs(fields) do data = data:sub(1, at) .. packed
      .. data:sub(at + #packed + 1) end
    return data
  end

  it("tells features, versions, power states and names safely", function()
    local id = nvme_identify.controller(page {
      [4] = "S\27[1m \255              ", [24] = "Model X\0\0", [80] = string.pack("<I4", 0x10401),
      [256] = string.pack("<I2", 0x10), [263] = "\1", [520] = string.pack("<I2", 4), [525] = "\1",
      [768] = "nqn.2014-08.org:x\0junk", [2048] = string.pack("<I2BBI4I4", 900, 0, 0, 0, 0),
      [2080] = string.pack("<I2BBI4I4", 50, 0, 3, 2000, 3000),
    })
    assert.equal("1.4.1", id.version)
    assert.equal("S\\x1b[1m \\xff", id.serial)
    assert.equal("Model X", id.model)
    assert.is_true(id.features.self_test.supported)
    assert.is_true(id.features.trim.supported)
    assert.is_true(id.features.write_cache.supported)
    assert.is_false(id.features.sanitize_overwrite.supported)
    assert.equal("nqn.2014-08.org:x", id.nqn)
    assert.equal(2, #id.power_states)
    assert.same({state = 0, operational = true, max_power_uw = 9000000}, id.power_states[1])
    assert.is_false(id.power_states[2].operational)
    assert.equal(3000, id.power_states[2].exit_us)
    assert.is_nil(id.warning_temperature_c)
    assert.is_nil(id.total_capacity_bytes)
  end)

  it("gives no size where no block size can be believed", function()
    local ns = nvme_identify.namespace(page {[0] = string.pack("<i8i8i8", 1000, 1000, 10)})
    assert.equal(1000, ns.blocks)
    assert.is_nil(ns.size_bytes)
    assert.is_string(warned(ns, "sector_size"))
    ns = nvme_identify.namespace(page {[0] = string.pack("<i8i8i8", -1, 1 << 60, 10),
      [130] = "\12"})
    assert.equal("18446744073709551615", ns.blocks)
    assert.is_nil(ns.size_bytes)
    assert.is_nil(ns.capacity_bytes)
    assert.equal(40960, ns.used_bytes)
  end)

  it("marks the format in use, beyond the sixteenth too", function()
    local ns = nvme_identify.namespace(page {
      [0] = string.pack("<i8", 8), [25] = "\17", [26] = "\x21", [128] = string.pack("<I4", 9 << 16),
      [128 + 17 * 4] = string.pack("<I4", 12 << 16 | 8),
    })
    assert.equal(4096, ns.logical_sector_size_bytes)
    assert.equal(8, ns.metadata_bytes)
    assert.equal(32768, ns.size_bytes)
    assert.same({false, true}, {ns.formats[1].in_use, ns.formats[2].in_use})
  end)
end)

describe("the NVMe error log", function()
  local function entry(count, status, lba)
    return string.pack("<i8I2I2I2I2i8I4", count, 3, 9, status, 0xffff, lba, 1) .. ("\0"):rep(36)
  end

  it("tells errors of the medium from refused commands", function()
    local log = nvme_errors.decode(
      entry(981, (2 << 8 | 0x81) << 1 | 1, 123456) .. entry(980, 2 << 1 | 0x8000, 77)
        .. ("\0"):rep(64))
    assert.equal(2, #log.entries)
    local media, refused = log.entries[1], log.entries[2]
    assert.equal("unrecovered read error", media.status_name)
    assert.equal(123456, media.lba)
    assert.is_true(media.media)
    assert.equal("invalid field in command", refused.status_name)
    assert.is_false(refused.media)
    assert.is_true(refused.do_not_retry)
    assert.is_nil(refused.lba)
    assert.equal(980, refused.count)
  end)
end)

describe("the NVMe self-test log", function()
  local function entry(status, valid, hours, lba)
    return string.pack("<BBBBi8I4i8BBI2", status, 2, valid, 0, hours, 1, lba, 2, 0x81, 0)
  end

  local function log(current, done, ...)
    local data = string.pack("<BBI2", current, done, 0) .. table.concat {...}
    return data .. ("\x0f" .. ("\0"):rep(27)):rep((564 - #data) // 28)
  end

  it("gives results newest first, and addresses only where they count", function()
    local t = nvme_self_test.decode(log(0, 0, entry(0x27, 15, 500, 4711), entry(0x11, 0, 400, 99),
      entry(0x10, 0, 300, 0)))
    assert.is_false(t.in_progress)
    assert.equal(3, #t.entries)
    local failed = t.entries[1]
    assert.equal("extended", failed.type)
    assert.is_true(failed.failed)
    assert.equal(4711, failed.lba)
    assert.equal(2, failed.segment)
    assert.equal(500, failed.power_on_hours)
    assert.equal("unrecovered read error", failed.status_name)
    assert.equal("aborted by the host", t.entries[2].result)
    assert.is_false(t.entries[2].failed)
    assert.is_nil(t.entries[2].lba)
    assert.equal("completed without error", t.entries[3].result)
  end)

  it("tells how much of a running test is left", function()
    local t = nvme_self_test.decode(log(2, 30))
    assert.is_true(t.in_progress)
    assert.same({type = "extended", type_code = 2, remaining_percent = 70}, t.current)
    assert.equal(0, #t.entries)
  end)
end)
