-- IDENTIFY DEVICE, from recordings and from pages made here.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local fixtures = require "spec.support.drive_fixtures"
local identify = require "hdd.drive.identify"
local json = require "dkjson"

local function read(drive) return assert(fixtures.read("ata/" .. drive .. "/identify.bin")) end

-- The page with some words changed: {[word] = value}.
local function with(page, words)
  local list = {string.unpack("<" .. ("I2"):rep(256), page)}
  for word, value in pairs(words) do list[word + 1] = value end
  return string.pack("<" .. ("I2"):rep(256), table.unpack(list, 1, 256))
end

local function text_words(first, count, text)
  local words = {}
  text = text .. (" "):rep(count * 2 - #text)
  for k = 0, count - 1 do
    local a, b = text:byte(k * 2 + 1, k * 2 + 2)
    words[first + k] = a << 8 | b
  end
  return words
end

local function warned(result, name)
  for _, w in ipairs(result.warnings) do if w.name == name then return w.message end end
end

describe("IDENTIFY DEVICE", function()
  local raptor = read "WD6000HLHX-01JJPV0-a"

  it("tells a disk's identity, size and mechanics", function()
    local id = identify.decode(raptor)
    assert.equal("WDC WD6000HLHX-01JJPV0", id.model)
    assert.equal("04.05G04", id.firmware)
    assert.equal(600127266816, id.size_bytes)
    assert.equal(600127266816 // 512, id.sectors)
    assert.equal(10000, id.rotation_rpm)
    assert.is_false(id.solid_state)
    assert.is_nil(id.form_factor)
    assert.equal("ok", id.checksum)
    assert.equal(0, #id.warnings)
  end)

  it("tells the link's speeds and the queue's depth", function()
    local id = identify.decode(read "ST14000NM001G-2KJ103-a")
    assert.same({1500, 3000, 6000}, setmetatable(id.link.supported_mbit_per_s, nil))
    assert.equal(6000, id.link.max_mbit_per_s)
    assert.equal(3000, id.link.current_mbit_per_s)
    assert.is_true(id.ncq.supported)
    assert.equal(32, id.ncq.depth)
    assert.is_true(id.sata.phy_event_counters)
  end)

  it("has no link where the drive is not serial", function()
    local id = identify.decode(read "SP0812C-a")
    assert.is_nil(id.link)
    assert.is_nil(id.ncq)
    assert.is_nil(id.sata_version)
  end)

  it("tells features, whether supported and whether enabled", function()
    local f = identify.decode(raptor).features
    assert.same({supported = true, enabled = true}, f.smart)
    assert.same({supported = true, enabled = true}, f.write_cache)
    assert.is_true(f.general_purpose_log.supported)
    local off = identify.decode(with(raptor, {[85] = 0x4028})).features
    assert.same({supported = true, enabled = false}, off.smart)
  end)

  it("says nothing of features whose words are not valid", function()
    local f = identify.decode(with(raptor, {[83] = 0, [84] = 0, [87] = 0})).features
    assert.is_nil(f.smart)
    assert.is_nil(f.write_cache)
  end)

  it("tells sizes of physical sectors and their alignment", function()
    local id = identify.decode(with(raptor, {[106] = 0x6003, [209] = 0x4001}))
    assert.equal(512, id.logical_sector_size_bytes)
    assert.equal(4096, id.physical_sector_size_bytes)
    assert.equal(1, id.alignment_offset_sectors)
  end)

  it("tells native 4096 byte sectors", function()
    local id = identify.decode(read "HUH721212ALN604-a")
    assert.equal(4096, id.logical_sector_size_bytes)
    assert.equal(4096, id.physical_sector_size_bytes)
    assert.equal(12000138625024, id.size_bytes)
  end)

  it("takes the extended number of sectors where the drive says so", function()
    local id = identify.decode(with(raptor, {[69] = 8, [230] = 0, [231] = 0, [232] = 2, [233] = 0}))
    assert.equal(1 << 33, id.sectors)
  end)

  it("does not believe impossible sector sizes", function()
    local id = identify.decode(with(raptor, {[106] = 0x5000, [117] = 1, [118] = 0}))
    assert.is_nil(id.size_bytes)
    assert.is_string(warned(id, "sector_size"))
  end)

  it("does not believe a size beyond 63 bits", function()
    local id = identify.decode(with(raptor,
      {[69] = 8, [230] = 0xffff, [231] = 0xffff, [232] = 0xffff, [233] = 0x7fff}))
    assert.is_nil(id.size_bytes)
    assert.is_string(warned(id, "size"))
  end)

  it("tells TRIM, zones, sanitize and security", function()
    local id = identify.decode(with(raptor, {
      [69] = 0x4021, [169] = 1, [59] = 0x3000, [128] = 0x0123, [89] = 0x80ff, [90] = 4,
    }))
    assert.same({supported = true, deterministic = true, reads_zeroes = true}, id.features.trim)
    assert.equal("host-aware", id.zoned)
    assert.is_true(id.features.sanitize.crypto_scramble)
    assert.is_true(id.security.enabled)
    assert.equal("maximum", id.security.level)
    assert.equal(510, id.security.erase_minutes)
    assert.equal(8, id.security.enhanced_erase_minutes)
  end)

  it("tells levels of power and acoustic management", function()
    local id = identify.decode(with(raptor, {
      [83] = 0x7608, [86] = 0x3608, [87] = 0x4123, [91] = 0x40fe, [94] = 0x80fe,
    }))
    assert.equal(254, id.features.advanced_power_management.level)
    assert.equal(254, id.features.automatic_acoustic_management.level)
    assert.equal(128, id.features.automatic_acoustic_management.recommended_level)
  end)

  it("has a wrong checksum noted, and none where the drive gives none", function()
    local id = identify.decode(raptor:sub(1, 511) .. "\0")
    assert.equal("bad", id.checksum)
    assert.is_string(warned(id, "checksum"))
    assert.equal("none", identify.decode(raptor:sub(1, 510) .. "\0\0").checksum)
  end)

  it("gives text that is trimmed, and JSON whatever bytes were in it", function()
    local words = text_words(27, 20, '  A"B\1\27[31m\\\255C')
    for word, value in pairs(text_words(10, 10, "\0\0  WD-1\0\0")) do words[word] = value end
    local id = identify.decode(with(raptor, words))
    assert.equal('A"B\\x01\\x1b[31m\\\\xffC', id.model)
    assert.equal("WD-1", id.serial)
    assert.is_nil(json.encode(id):find("[\1-\31\127-\255]"))
    assert.equal(id.model, json.decode(json.encode(id)).model)
  end)

  it("without a model says so", function()
    assert.is_string(warned(identify.decode(("\0"):rep(512)), "no_model"))
    assert.is_string(warned(identify.decode(with(raptor, {[0] = 0x8580})), "packet_device"))
  end)

  it("that is cut short gives what is there", function()
    local id = identify.decode(raptor:sub(1, 100))
    assert.equal("WDC WD6000HLHX-01JJPV0", id.model)
    assert.is_nil(id.size_bytes)
    assert.is_string(warned(id, "short"))
  end)
end)
