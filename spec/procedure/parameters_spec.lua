-- Parameters of procedures: defaults, and refusals that name what is wrong.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local parameters = require "hdd.procedure.parameters"

local function reader(given, drive)
  return parameters.reader(given, drive or { size = 1 << 30, logical_block_size = 512 },
    { "depth", "ramp", "block_size", "quick", "from", "to" })
end

-- What one reading says: the value, or nil, message and code.
local function read(given, f, drive)
  local r = reader(given, drive)
  f(r)
  local values, message, code = r:finish()
  return values, message, code
end

describe("a parameter", function()
  it("that was not given has its default", function()
    local values = assert(read({}, function(r)
      r:integer("depth", 2, 1, 4096)
      r:number("ramp", 10, 0, 86400, "seconds")
      r:bytes("block_size", 65536, 1)
      r:boolean("quick", false)
      r:range()
    end))
    assert.same({
      depth = 2, ramp = 10, block_size = 65536, quick = false, from = 0, to = 1 << 30,
    }, values)
  end)

  it("is taken as given, a float that is whole as the integer it is", function()
    local values = assert(read({ depth = 8.0, ramp = 0.5 }, function(r)
      r:integer("depth", 2, 1, 4096)
      r:number("ramp", 10, 0, 86400, "seconds")
    end))
    assert.equal("integer", math.type(values.depth))
    assert.equal(0.5, values.ramp)
  end)

  it("that is not possible is refused by name, value and what is allowed", function()
    for _, wrong in ipairs { 0, 4097, 1.5, "8", true } do
      local values, message, code = read({ depth = wrong }, function(r)
        r:integer("depth", 2, 1, 4096)
      end)
      assert.is_nil(values)
      assert.matches("^depth: .+: must be a whole number from 1 to 4096$", message)
      assert.equal(22, code)
    end
    for _, wrong in ipairs { -1, 86401, 0 / 0, "1" } do
      local _, message = read({ ramp = wrong }, function(r)
        r:number("ramp", 1, 0, 86400, "seconds")
      end)
      assert.matches("^ramp: .+: must be a number of seconds from 0, at most 86400$", message)
    end
    local _, refused = read({ ramp = 0 }, function(r) r:number("ramp", 1, 0, 0.5, nil, true) end)
    assert.equal("ramp: 0: must be a number above 0, at most 0.5", refused)
    local _, message = read({ quick = "yes" }, function(r) r:boolean("quick", false) end)
    assert.equal("quick: yes: must be true or false", message)
  end)

  it("that nobody knows is refused, with those that there are", function()
    local values, message, code = reader({ dept = 3 }):finish()
    assert.is_nil(values)
    assert.matches("^dept: no such parameter; there are: depth, ramp", message)
    assert.equal(22, code)
  end)

  it("is named only if it is the first that is wrong", function()
    local _, message = read({ depth = 0, ramp = -1 }, function(r)
      r:integer("depth", 2, 1, 4096)
      r:number("ramp", 1, 0, 86400, "seconds")
    end)
    assert.matches("^depth", message)
  end)
end)

describe("a number of bytes", function()
  local drive = { size = 1 << 30, logical_block_size = 4096 }

  it("is a multiple of the logical block, or refused with it", function()
    local _, message = read({ block_size = 512 }, function(r)
      r:bytes("block_size", 65536, 1)
    end, drive)
    assert.equal("block_size: 512: must be a multiple of the drive's logical block size, 4096 bytes",
      message)
    assert.equal(8192, assert(read({ block_size = 8192 }, function(r)
      r:bytes("block_size", 65536, 1)
    end, drive)).block_size)
  end)

  it("has a default that is rounded up to the logical block", function()
    assert.equal(4096,
      assert(read({}, function(r) r:bytes("block_size", 512, 1) end, drive)).block_size)
  end)
end)

describe("a range", function()
  local function range(from, to, drive)
    return read({ from = from, to = to }, function(r) r:range() end, drive)
  end

  it("is given in bytes, sizes, percent or blocks", function()
    assert.same({ from = 512, to = 1 << 20 }, range(512, "1m"))
    assert.same({ from = (1 << 30) // 10 // 512 * 512, to = 1 << 29 }, range("10%", "50%"))
    assert.same({ from = 1 << 20, to = 1 << 30 }, range("2048s"))
  end)

  it("that is empty, backwards, unaligned or beyond the end is refused", function()
    assert.matches("nothing lies between", (select(2, range(1024, 1024))))
    assert.matches("nothing lies between", (select(2, range(2048, 1024))))
    assert.matches("must be a multiple of .* 512 bytes", (select(2, range(100))))
    assert.matches("behind the end of the drive", (select(2, range(0, "2g"))))
  end)

  it("reaches the last sector of a drive of 40 TB", function()
    local drive = { size = 40 << 40, logical_block_size = 512 }
    assert.same({ from = (40 << 40) - 512, to = 40 << 40 }, range((40 << 40) - 512, nil, drive))
  end)
end)
