-- What has become of each byte of a range.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local cover = require "hdd.procedure.surface.cover"

local function text_of(c)
  local parts = {}
  for i, part in ipairs(c.list) do
    parts[i] = string.format("%d-%d%s", part.from, part.to, part.state)
  end
  return table.concat(parts, " ")
end

describe("the cover of a range", function()
  it("begins in one state", function()
    assert.equal("5-90?", text_of(cover.new(5, 90, "?")))
  end)

  it("is cut where a part changes, and joined where neighbours are alike", function()
    local c = cover.new(0, 100, "?")
    c:set(0, 10, "+")
    c:set(10, 20, "+")
    assert.equal("0-20+ 20-100?", text_of(c))
    c:set(40, 50, "-")
    assert.equal("0-20+ 20-40? 40-50- 50-100?", text_of(c))
    c:set(15, 60, "+")
    assert.equal("0-60+ 60-100?", text_of(c))
    c:set(60, 100, "+")
    assert.equal("0-100+", text_of(c))
  end)

  it("leaves out what lies outside", function()
    local c = cover.new(10, 20, "?")
    c:set(0, 5, "-")
    c:set(25, 30, "-")
    c:set(20, 20, "-")
    c:set(18, 99, "+")
    assert.equal("10-18? 18-20+", text_of(c))
  end)

  it("counts, and gives the parts in a state, whole or in a window", function()
    local c = cover.new(0, 100, "?")
    c:set(10, 20, "*")
    c:set(30, 40, "-")
    assert.equal(20, c:bytes("*-"))
    assert.equal(80, c:bytes("?"))
    assert.same({ { from = 15, to = 20, state = "*" }, { from = 30, to = 35, state = "-" } },
      c:ranges("*-", 15, 35))
    assert.equal("-", c:at(39))
    assert.equal("?", c:at(40))
  end)

  it("is what a plain list of bytes says, whatever is set", function()
    math.randomseed(7)
    local c, plain = cover.new(0, 200, "?"), {}
    for i = 0, 199 do plain[i] = "?" end
    for _ = 1, 2000 do
      local a, b = math.random(-10, 210), math.random(-10, 210)
      local state = ("?+-*"):sub(math.random(4)):sub(1, 1)
      c:set(a, b, state)
      for i = math.max(a, 0), math.min(b, 200) - 1 do plain[i] = state end
      for i, part in ipairs(c.list) do
        assert.is_true(part.from < part.to)
        assert.equal(i == 1 and 0 or c.list[i - 1].to, part.from)
        assert.is_true(i == 1 or c.list[i - 1].state ~= part.state)
      end
    end
    for i = 0, 199 do assert.equal(plain[i], c:at(i)) end
  end)
end)
