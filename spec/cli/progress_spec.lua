-- The progress line: what it says, and what is left out where there is little room.
-- SPDX-License-Identifier: GPL-3.0-or-later
local printable = require "hdd.printable"
local progress = require "hdd.cli.progress"

local function state(changes)
  local s = {
    stage = "zone 12 of 40", share = 0.3, left_s = 62, elapsed_s = 27, errors = 0,
    bandwidth_bytes_per_s = 146.3e6, position_bytes = 174152548352,
  }
  for key, value in pairs(changes or {}) do s[key] = value end
  return s
end

describe("a progress line", function()
  it("says how far it is, at what rate, and how long it will take", function()
    assert.equal("30 %  zone 12 of 40  146.3 MB/s (139.5 MiB/s)  at 174.2 GB  1 min 02 s left",
      progress.line(state()))
    local row = {
      stage = "row 1 of 12: 4 KiB, depth 8", share = 0.08, iops = 207.6, left_s = 1560, at_most = true,
    }
    assert.equal("8 %  row 1 of 12: 4 KiB, depth 8  207.6 IOPS  at most 26 min 00 s left",
      progress.line(row))
  end)

  it("shows the time that went by where the end is not known", function()
    assert.equal("waking the drive  3 s",
      progress.line { stage = "waking the drive", elapsed_s = 3.7 })
  end)

  it("tells of errors, and of a drive that does not answer", function()
    assert.matches("2 read errors", progress.line(state { errors = 2 }))
    assert.matches("no completion for 12 s at offset 4096",
      progress.line(state { idle_s = 12.4, oldest_offset_bytes = 4096 }))
    assert.not_matches("no completion", progress.line(state { idle_s = 1.9 }))
  end)

  it("fits any width, dropping what matters least", function()
    for width = 0, 120 do
      local line = progress.line(state { errors = 2, idle_s = 12 }, width)
      assert.is_true(printable.width(line) <= width)
    end
    assert.equal("30 %  146.3 MB/s (139.5 MiB/s)  1 min 02 s left", progress.line(state(), 60))
    assert.equal("30 %  1 min 02 s left", progress.line(state(), 30))
    assert.equal("no completion for 12 s", progress.line(state { idle_s = 12 }, 22))
  end)

  it("never counts beyond 100 %", function()
    assert.matches("^100 %%", progress.line { share = 1.02 })
  end)

  it("is plain ASCII without control characters", function()
    assert.equal("zone \\x1B[31m \\u{E9}", progress.line { stage = "zone \27[31m é" })
  end)
end)

describe("progress on something that is no terminal", function()
  it("is nothing", function()
    local file = assert(io.tmpfile())
    local p = progress.new { stream = file }
    p:show(state())
    p:clear()
    assert.equal(0, file:seek("end"))
    file:close()
  end)

  it("is a line for each silence of the drive, once as it begins", function()
    local file = assert(io.tmpfile())
    local p = progress.new { stream = file }
    for _, idle_s in ipairs { 0.5, 2.2, 2.5, 30, 0, 3 } do
      p:show(state { idle_s = idle_s, oldest_offset_bytes = 33554432 })
    end
    file:seek("set")
    assert.equal("no completion for 2 s at offset 33554432\nno completion for 3 s at offset 33554432\n",
      file:read("a"))
    file:close()
  end)
end)
