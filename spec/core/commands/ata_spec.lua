-- ATA commands as the bytes that go to the drive: the two forms of pass-through.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local commands = require "hdd.commands"

-- The command block that a command becomes.
local function block(command)
  local recording = commands.recording {}
  local t = commands.recording {}:replay()
  t:permit("everything")
  t:record(recording)
  command.kind = "ata"
  local request = assert(t:submit(command))
  while not request:done() do end
  t:close()
  return recording:exchange(1)
end

local function hex(bytes)
  return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

describe("an ATA command", function()
  it("of 28 bits has its upper address in the device register", function()
    local x = block {command = 0xc8, features = 0x12, count = 3, lba = 0x7654321, device = 0xe0,
      protocol = "dma-in"}
    assert.equal("850c0e00120003002100430065e7c800", hex(x.cdb))
    assert.equal("in", x.direction)
  end)

  it("of 48 bits has each register twice", function()
    local x = block {command = 0x2f, features = 0x1234, count = 0x0102, lba = 0xaabbccddeeff,
      protocol = "pio-in", extended = true}
    assert.equal("85090e1234" .. "0102" .. "ccff" .. "bbee" .. "aadd" .. "002f00", hex(x.cdb))
  end)

  it("without data may ask for registers", function()
    local x = block {command = 0xe5, registers = true}
    assert.equal("850620000000000000000000" .. "0000e500", hex(x.cdb))
    assert.equal("none", x.direction)
  end)

  it("in the 12 byte form has the same in another place", function()
    local x = block {command = 0xb0, features = 0xd5, count = 1, lba = 0xc24f06, protocol = "pio-in",
      form = 12}
    assert.equal("a1080ed501064fc200b00000", hex(x.cdb))
  end)

  it("that writes takes its data along", function()
    local x = block {command = 0xb0, features = 0xd6, count = 1, lba = 0xc24f09, protocol = "pio-out",
      data = ("d"):rep(512)}
    assert.equal("850a0600d60001000900" .. "4f00c200b000", hex(x.cdb))
    assert.equal("out", x.direction)
    assert.equal(("d"):rep(512), x.data)
  end)
end)
