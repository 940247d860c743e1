-- What comes back with a command: sense data in both formats, registers, and what to make of them.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local commands = require "hdd.commands"

local STATUS <const> = {kind = "ata", command = 0xb0, features = 0xda, lba = 0xc24f00, registers = true}
local STATUS_CDB <const> = "\x85\x06\x20\0\xda\0\0\0\0\0\x4f\0\xc2\0\xb0\0"
local READ <const> = {kind = "ata", command = 0xb0, features = 0xd0, lba = 0xc24f00, count = 1,
  protocol = "pio-in"}
local READ_CDB <const> = "\x85\x08\x0e\0\xd0\0\x01\0\0\0\x4f\0\xc2\0\xb0\0"
local INQUIRY <const> = {kind = "scsi", cdb = "\x12\0\0\0\x24\0", length = 36}

-- The reply to a command whose answer is made up.
local function reply(command, answer)
  local recording = commands.recording {}
  local cdbs = {[STATUS] = STATUS_CDB, [READ] = READ_CDB, [INQUIRY] = INQUIRY.cdb}
  answer.cdb = cdbs[command]
  answer.direction = command == STATUS and "none" or "in"
  recording:add(answer)
  local t = recording:replay()
  local request = assert(t:submit(command))
  while not request:done() do end
  local r = request:reply()
  t:close()
  return r
end

local function sense(hex)
  return (hex:gsub("%s", ""):gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

local GOOD_DESCRIPTOR <const> = "72 01 00 1d 00 00 00 0e 09 0c 00 00 00 01 00 00 00 4f 00 c2 40 50"
local GOOD_FIXED <const> = "f0 00 01 00 50 40 01 0a 00 00 4f c2 00 1d 00 00 00 00"
local ABORTED <const> = "72 0b 00 00 00 00 00 0e 09 0c 00 04 00 00 00 00 00 00 00 00 00 51"

describe("registers", function()
  it("are found in a sense descriptor", function()
    local r = reply(STATUS, {status = 2, sense = sense(GOOD_DESCRIPTOR)})
    assert.equal("answered", r.reason)
    assert.same({error = 0, status = 0x50, device = 0x40, count = 1, lba = 0xc24f00, extended = false},
      r.registers)
  end)

  it("are found in it behind other descriptors", function()
    local other = "72 01 00 1d 00 00 00 1a 00 0a 80 00 00 00 00 00 00 00 00 00"
    local r = reply(STATUS, {status = 2, sense = sense(other .. GOOD_DESCRIPTOR:sub(24))})
    assert.equal(0xc24f00, r.registers.lba)
  end)

  it("are found in fixed format, when 00h/1Dh says so", function()
    local r = reply(STATUS, {status = 2, sense = sense(GOOD_FIXED)})
    assert.equal("answered", r.reason)
    assert.same({error = 0, status = 0x50, device = 0x40, count = 1, lba = 0xc24f00, extended = false},
      r.registers)
    r = reply(STATUS, {status = 2, sense = sense(GOOD_FIXED:gsub("1d", "1e"))})
    assert.is_nil(r.registers)
  end)

  it("have their upper halves when the command was one of 48 bits", function()
    local r = reply(STATUS, {status = 2,
      sense = sense "72 01 00 1d 00 00 00 0e 09 0c 01 00 12 34 0a 01 0b 02 0c 03 40 50"})
    assert.equal(0x1234, r.registers.count)
    assert.equal(0x0c0b0a030201, r.registers.lba)
    assert.is_true(r.registers.extended)
  end)

  it("say in fixed format when their upper halves are not told", function()
    local r = reply(STATUS, {status = 2,
      sense = sense "70 00 01 00 50 40 01 0a a0 01 02 03 00 1d 00 00 00 00"})
    assert.is_true(r.registers.cut)
  end)

  it("are not made up when a bridge returns none", function()
    local r = reply(STATUS, {status = 0})
    assert.equal("answered", r.reason)
    assert.is_nil(r.registers)
  end)

  it("are not taken from sense data that are cut short", function()
    for n = 0, 21 do
      local r = reply(STATUS, {status = 2, sense = sense(GOOD_DESCRIPTOR):sub(1, n)})
      assert.is_nil(r.registers, n .. " bytes")
    end
  end)

  it("are not believed while the drive is busy", function()
    local busy = GOOD_DESCRIPTOR:gsub("50$", "d0")
    assert.equal("failed", reply(STATUS, {status = 2, sense = sense(busy)}).reason)
  end)
end)

describe("an answer", function()
  local function expect(reason, code, command, answer)
    local r = reply(command, answer)
    assert.equal(reason, r.reason)
    assert.equal(code, r.code)
    return r
  end

  it("with ABRT means that the drive does not have it", function()
    expect("not supported by the drive", 95, READ, {status = 2, sense = sense(ABORTED)})
    expect("not supported by the drive", 95, READ, {status = 2, sense = sense "70 00 0b 00 00 00 00 0a"})
  end)

  it("with another error bit is a failure of the drive", function()
    expect("failed", 5, READ, {status = 2, sense = sense(ABORTED:gsub("0c 00 04", "0c 00 44"))})
    expect("failed", 5, READ, {status = 2, sense = sense "72 03 11 00 00 00 00 00"})
    expect("failed", 5, READ, {status = 2, sense = sense(ABORTED:gsub("51$", "71"))}) -- device fault
  end)

  it("of ILLEGAL REQUEST means no pass-through for ATA, and not supported for SCSI", function()
    expect("no pass-through", 38, READ,
      {status = 2, sense = sense "70 00 05 00 00 00 00 0a 00 00 00 00 20 00"})
    expect("not supported by the drive", 95, INQUIRY,
      {status = 2, sense = sense "70 00 05 00 00 00 00 0a 00 00 00 00 24 00"})
  end)

  it("that is shorter than an ATA command promises is told, and padded with nothing", function()
    local r = expect("short answer", 5, READ, {data = ("a"):rep(100)})
    assert.equal(("a"):rep(100), r.data)
    assert.equal("100 of 512 bytes came", r.text)
  end)

  it("that is shorter than a SCSI command has room for is whole", function()
    local r = expect("answered", 0, INQUIRY, {data = ("a"):rep(10)})
    assert.equal(10, r.transferred_bytes)
  end)

  it("tells failures of the kernel apart", function()
    expect("no such drive", 25, READ, {result = 25})
    expect("no permission", 1, READ, {result = 1})
    expect("gone", 19, READ, {result = 6})
    expect("no medium", 123, INQUIRY,
      {status = 2, sense = sense "70 00 02 00 00 00 00 0a 00 00 00 00 3a 00"})
    expect("not ready", 16, READ, {status = 8})
    expect("failed", 5, READ, {status = 2})
  end)
end)
