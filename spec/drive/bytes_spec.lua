-- Reading fields, and the names of registers.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local bytes = require "hdd.drive.bytes"
local registers = require "hdd.drive.ata_registers"
local versions = require "hdd.drive.ata_versions"

describe("a field", function()
  local data = "\1\2\3\4\5\6\7\255"

  it("is little-endian", function()
    assert.equal(0x0201, bytes.u16(data, 0))
    assert.equal(0x06050403, bytes.u32(data, 2))
    assert.equal(0x060504030201, bytes.u48(data, 0))
    assert.equal(0x050403, bytes.number(data, 2, 3))
    assert.equal(-1, bytes.s8(data, 7))
    assert.equal(math.mininteger | 0x7f07060504030201, bytes.u64(data, 0))
  end)

  it("beyond the end is nil, not an error", function()
    assert.is_nil(bytes.u8(data, 8))
    assert.is_nil(bytes.u16(data, 7))
    assert.is_nil(bytes.u32(data, 5))
    assert.is_nil(bytes.u48(data, 3))
    assert.is_nil(bytes.u64(data, 1))
    assert.is_nil(bytes.number(data, 6, 3))
    assert.is_nil(bytes.celsius("", 0))
  end)

  it("of 64 bits is never negative when shown", function()
    assert.equal("18446744073709551615", bytes.unsigned(-1))
    assert.equal("9223372036854775808", bytes.unsigned(math.mininteger))
    assert.equal(math.maxinteger, bytes.unsigned(math.maxinteger))
  end)

  it("of temperature has 80h for none", function()
    assert.is_nil(bytes.celsius("\x80", 0))
    assert.equal(-127, bytes.celsius("\x81", 0))
    assert.equal(127, bytes.celsius("\x7f", 0))
  end)
end)

describe("text of a drive", function()
  it("is trimmed of blanks and zeroes", function()
    assert.equal("a b", bytes.text("\0 a b \0 "))
    assert.is_nil(bytes.text(" \0 "))
  end)

  it("has control bytes and bytes above 127 written out", function()
    assert.equal("a\\x00b\\x0a\\x7f\\xe9", bytes.text("a\0b\n\127\233"))
  end)

  it("of ATA has its characters swapped in each word", function()
    assert.equal("DRIVE", bytes.ata_text("RDVI E", 0, 3))
    assert.is_nil(bytes.ata_text("", 10, 10))
  end)
end)

describe("a checksum", function()
  local page = ("\3"):rep(511) .. string.char(-511 * 3 & 255)

  it("is right when the page's bytes add up to 0", function()
    assert.is_true(bytes.sum_is_right(page))
    assert.is_true(bytes.sum_is_right("x" .. page, 1))
    assert.is_false(bytes.sum_is_right(page:sub(1, 511) .. "\0"))
  end)

  it("is unknown for a page that is cut short", function()
    assert.is_nil(bytes.sum_is_right(page:sub(1, 511)))
    assert.is_nil(bytes.sum_is_right(page, 1))
  end)
end)

describe("ATA registers", function()
  it("name commands, errors and states", function()
    assert.equal("SMART", registers.command(0xb0))
    assert.is_nil(registers.command(0xfe))
    assert.same({"ICRC", "ABRT"}, setmetatable(registers.errors(0x84), nil))
    assert.equal("maker's own state", registers.state(0x3b))
  end)
end)

describe("the standards that a drive claims", function()
  it("are the highest of word 80 and the draft of word 81", function()
    assert.equal("ACS-3 T13/2161-D revision 5", versions.ata(0x7e0, 0x6d))
    assert.equal("ACS-4, ACS-3 T13/2161-D revision 5", versions.ata(0xfc0, 0x6d))
    assert.equal("ATA8-ACS (minor revision not indicated)", versions.ata(0x1f8, 0))
    assert.equal("ATA/ATAPI-4 T13/1153D revision 17", versions.ata(0x1e, 0x17))
    assert.equal("ACS-4 published as INCITS 529-2018", versions.ata(0xff0, 0x9c))
    assert.equal("ACS-2 (minor revision code 0777h)", versions.ata(0x3f0, 0x777))
    assert.is_nil(versions.ata(0, 0x6d))
    assert.is_nil(versions.ata(0xffff, 0xffff))
  end)

  it("are the highest bit of word 222", function()
    assert.equal("SATA 3.2", versions.sata(0x10fe))
    assert.is_nil(versions.sata(0x001e))
    assert.is_nil(versions.sata(0xffff))
  end)
end)
