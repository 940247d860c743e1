-- The table of permitted commands: what is sent without being asked twice, and what never is.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local commands = require "hdd.commands"

local SIGNATURE <const> = 0xc24f00

describe("a drive opened for reading", function()
  local t
  before_each(function() t = commands.recording {}:replay() end)
  after_each(function() t:close() end)

  local function takes(command)
    local request, message = t:submit(command)
    assert(request, message)
    while not request:done() do end
  end

  local function refuses(command, why)
    local request, message, code = t:submit(command)
    assert.is_nil(request)
    assert.equal(30, code) -- EROFS
    assert.matches(why, message, 1, true)
  end

  local function sct(action, func, first, rest)
    local key = string.pack("<I2I2I2", action, func, first) .. (rest or "")
    return {kind = "ata", command = 0xb0, features = 0xd6, lba = SIGNATURE | 0xe0, count = 1,
      protocol = "pio-out", data = key .. ("\0"):rep(512 - #key)}
  end

  it("takes what only reads", function()
    takes {kind = "ata", command = 0xec, protocol = "pio-in", count = 1}
    takes {kind = "ata", command = 0xe5, registers = true}
    takes {kind = "ata", command = 0xec, protocol = "pio-in", count = 1, form = 12}
    for _, features in ipairs {0xd0, 0xd1, 0xd5} do
      takes {kind = "ata", command = 0xb0, features = features, lba = SIGNATURE, protocol = "pio-in",
        count = 1}
    end
    takes {kind = "ata", command = 0x2f, lba = 0x11, protocol = "pio-in", count = 1, extended = true}
    takes {kind = "ata", command = 0x47, lba = 0x11, protocol = "dma-in", count = 1, extended = true}
    takes {kind = "ata", command = 0x27, registers = true, extended = true}
    takes(sct(5, 1, 2))
    takes(sct(3, 2, 1))
    takes(sct(4, 2, 2))
    takes {kind = "scsi", cdb = "\x4d\0\x40\0\0\0\0\0\xff\0", length = 255}
    takes {kind = "nvme", opcode = 2, nsid = 0xffffffff, cdw10 = 0x02 | 1 << 15 | 127 << 16, length = 512}
    takes {kind = "nvme", opcode = 6, cdw10 = 1, length = 4096}
  end)

  it("refuses what changes the drive", function()
    local changes = "not in the table"
    for _, features in ipairs {0xd2, 0xd8, 0xd9, 0xdb} do
      refuses({kind = "ata", command = 0xb0, features = features, lba = SIGNATURE}, changes)
    end
    for _, command in ipairs {0xe0, 0xe6, 0xef, 0xf4, 0xf5, 0x20, 0x92, 0xb4} do
      refuses({kind = "ata", command = command}, changes)
    end
    refuses({kind = "ata", command = 0xb1, features = 0xc3}, changes)
    refuses({kind = "ata", command = 0x2f, features = 1, lba = 0x11, protocol = "pio-in", count = 1,
      extended = true}, changes) -- resets the Phy counters
    refuses({kind = "ata", command = 0x2f, lba = 0x21, protocol = "pio-in", count = 1, extended = true},
      "empties it")
    refuses({kind = "scsi", cdb = "\x4d\1\x40\0\0\0\0\0\xff\0", length = 255}, "SP")
    for _, opcode in ipairs {0x04, 0x0a, 0x15, 0x1b, 0x2a, 0x3b, 0x42, 0x48, 0x55, 0x85, 0xa1} do
      refuses({kind = "scsi", cdb = string.char(opcode, 0, 0, 0, 0, 0, 0, 0, 0, 0)}, changes)
    end
    refuses({kind = "scsi", cdb = "\x12\0\0\0\x24\0", data = "x"}, changes)
    refuses({kind = "nvme", opcode = 2, cdw10 = 0x02 | 127 << 16, length = 512}, "RAE")
    refuses({kind = "nvme", opcode = 2, cdw10 = 0x07 | 1 << 8 | 1 << 15, length = 512}, "log-specific")
    for _, opcode in ipairs {0x09, 0x10, 0x80, 0x84} do
      refuses({kind = "nvme", opcode = opcode}, changes)
    end
  end)

  it("refuses commands that only look like reading", function()
    refuses({kind = "ata", command = 0xec, protocol = "pio-out", count = 1, data = ("\0"):rep(512)},
      "not in the table")
    refuses({kind = "ata", command = 0x2f, protocol = "dma-in", count = 1, extended = true},
      "not in the table")
    -- READ LOG DMA EXT in a block that says that data go out.
    refuses({kind = "scsi", cdb = "\x85\x0d\x06\0\0\0\x01\0\x11\0\0\0\0\0\x47\0", length = 512},
      "not in the table")
    refuses(sct(3, 1, 1), "settings")
    refuses(sct(5, 1, 2, "\1"), "overwrite")
  end)

  it("takes self-tests with that permission only, and captive ones never", function()
    local function test(number)
      return {kind = "ata", command = 0xb0, features = 0xd4, lba = SIGNATURE | number}
    end
    local background = {kind = "scsi", cdb = "\x1d\x20\0\0\0\0"}
    refuses(test(1), "self-test")
    refuses(background, "self-test")
    refuses({kind = "nvme", opcode = 0x14, cdw10 = 1}, "self-test")
    t:permit("self-tests")
    for _, number in ipairs {0, 1, 2, 3, 4, 0x7f} do takes(test(number)) end
    takes(background)
    takes {kind = "nvme", opcode = 0x14, cdw10 = 1}
    refuses({kind = "ata", command = 0xef}, "not in the table")
    t:permit("everything")
    for _, number in ipairs {0x81, 0x82, 0x83, 0x84, 0xff} do refuses(test(number), "captive") end
    refuses({kind = "scsi", cdb = "\x1d\xa0\0\0\0\0"}, "foreground")
  end)

  it("never takes SCT actions that overwrite data", function()
    t:permit("everything")
    takes {kind = "ata", command = 0xb0, features = 0xd8, lba = SIGNATURE}
    takes(sct(3, 1, 1))
    for _, action in ipairs {0, 1, 2, 6, 0x100, 0xc000} do refuses(sct(action, 1, 0), "overwrite data") end
  end)

  it("raises for commands that make no sense", function()
    local function raises(command, why)
      assert.error_matches(function() t:submit(command) end, why)
    end
    raises({kind = "ata"}, "'command'")
    raises({kind = "ata", command = 256}, "'command': 256")
    raises({kind = "ata", command = 0xec, protocol = "pio-in"}, "'count'")
    raises({kind = "scsi", cdb = "\x12"}, "'cdb'")
    raises({kind = "nvme", opcode = 6, length = 1 << 30}, "'length'")
    raises({kind = "ata", command = 0x2f, form = 12, extended = true}, "48 bit")
    raises({kind = "ata", command = 0xec, timeout = -1}, "'timeout'")
  end)
end)
