-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Text from drives and files, which may hold anything.
local printable = require "hdd.printable"

local ALL_BYTES = {}
for byte = 0, 255 do ALL_BYTES[#ALL_BYTES + 1] = string.char(byte) end
ALL_BYTES = table.concat(ALL_BYTES)

describe("text from outside", function()
  it("loses the padding of drives", function()
    assert.equal("WDC WD6000HLHX-01JJPV0", printable.trim("  WDC WD6000HLHX-01JJPV0 \0\0 "))
    assert.equal("", printable.trim("\0 \0"))
  end)

  it("becomes valid UTF-8 with the rest escaped", function()
    assert.equal('MO"D,EL <b>\\xE9\1', printable.utf8('MO"D,EL <b>\xE9\1'))
    assert.equal("Größe", printable.utf8("Größe"))
    assert.truthy(utf8.len(printable.utf8(ALL_BYTES)))
    assert.truthy(utf8.len(printable.utf8("\xED\xA0\x80\xF4\x90\x80\x80\xC0\x80\xE2\x82")))
  end)

  it("moves no cursor and starts no sequence on a terminal", function()
    assert.equal("\\x00\\xFF AB\\x1B[31m \"", printable.line('\x00\xFF AB\x1B[31m "'))
    assert.equal("a\\x0Ab\\x0D\\x09c", printable.line("a\nb\r\tc"))
    for _, hidden in ipairs {"\u{85}", "\u{9B}31m", "\u{200B}", "\u{202E}", "\u{2028}", "\u{FEFF}",
      "\u{AD}"} do
      assert.truthy(printable.line(hidden):find("^\\u{%x+}"), hidden)
    end
    assert.is_nil(printable.line(ALL_BYTES):find("[\0-\31\127]"))
    assert.is_nil(printable.line(ALL_BYTES, true):find("[^\32-\126]"))
  end)

  it("stays as it is where a terminal can show it", function()
    assert.equal("Größe µs █", printable.line("Größe µs █"))
    assert.equal("Gr\\u{F6}\\u{DF}e", printable.line("Größe", true))
  end)

  it("becomes a part of a file name", function()
    assert.equal("WDC-WD6000-HLHX", printable.file_name("WDC WD6000/HLHX"))
    assert.equal("etc-passwd", printable.file_name("../../etc/passwd"))
    assert.equal("unnamed", printable.file_name("\0\xFF \27"))
    assert.equal("unnamed", printable.file_name(".."))
    assert.is_true(#printable.file_name(("x"):rep(10000)) < 100)
  end)

  it("is cut to a width at a character", function()
    assert.equal("Größ~", printable.clip("Größenordnung", 5))
    assert.equal("Größe", printable.clip("Größe", 5))
    assert.equal("~", printable.clip("Größe", 1))
    assert.equal("", printable.clip("Größe", 0))
  end)
end)
