-- libatasmart's opinion, from bytes that were read by other means.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local commands = require "hdd.commands"
local json = require "dkjson"
local sgreplay = require "spec.support.sgreplay"
local shell = require "spec.support.shell"

local function blob(drive)
  local bytes = assert(shell.read("spec/fixtures/smart/" .. drive .. "/libatasmart.blob"))
  return assert(commands.decode(bytes)):describe()
end

describe("libatasmart", function()
  it("finds the attributes of every drive of the fixtures", function()
    local n = 0
    for _, drive in ipairs(sgreplay.drives("ata")) do
      local path = "spec/fixtures/smart/" .. drive .. "/expected.json"
      local expected = json.decode(assert(shell.read(path)))
      local found = {}
      for _, a in ipairs(assert(commands.atasmart(blob(drive))).attributes) do found[a.id] = a end
      for _, a in ipairs(expected.attributes) do
        local is = found[a.id]
        assert(is, drive .. ": attribute " .. a.id)
        assert.equal(a.raw48, is.raw, drive)
        -- It believes values from 1 to 253 alone.
        if is.current then assert.equal(a.current, is.current, drive) end
        if is.worst then assert.equal(a.worst, is.worst, drive) end
        if is.threshold then assert.equal(a.threshold, is.threshold, drive) end
        n = n + 1
      end
    end
    assert.is_true(n > 400, n)
  end)

  it("gives identity, verdict, self-test state and the figures that it derives", function()
    local o = assert(commands.atasmart(blob("ata/WD6000HLHX-01JJPV0-a")))
    assert.equal("WDC WD6000HLHX-01JJPV0", o.model)
    assert.equal("GOOD", o.overall)
    assert.equal(0, o.self_test_remaining_percent)
    assert.equal("integer", math.type(o.power_on_ms))
    assert.equal(88, o.extended_test_minutes)
    local failed = assert(commands.atasmart(blob("ata/HUS724020ALA640-a")))
    assert.equal("BAD_STATUS", failed.overall)
  end)

  it("has no verdict without the drive's own status, and the attributes all the same", function()
    local parts = blob("ata/WD6000HLHX-01JJPV0-a")
    parts.good = nil
    local o = assert(commands.atasmart(parts))
    assert.is_nil(o.overall)
    assert.is_true(#o.attributes > 10)
  end)

  it("takes a drive that shows nothing but its IDENTIFY page", function()
    local o = assert(commands.atasmart {identify = blob("ata/SP0812C-a").identify})
    assert.same({}, o.attributes)
    assert.is_nil(o.self_test_status)
  end)

  it("survives pages in which bytes were changed, and gives values within their range", function()
    math.randomseed(42)
    local function mutated(page)
      local bytes = {page:byte(1, -1)}
      for _ = 1, math.random(40) do bytes[math.random(#bytes)] = math.random(0, 255) end
      return string.char(table.unpack(bytes))
    end
    local drives = sgreplay.drives("ata")
    for i = 1, 48 do
      local was = blob(drives[i % #drives + 1])
      local o, message = commands.atasmart {
        identify = mutated(was.identify), good = was.good, data = mutated(was.data),
        thresholds = mutated(was.thresholds),
      }
      assert(o, message)
      for _, a in ipairs(o.attributes) do
        assert.is_true(a.id >= 1 and a.id <= 255)
        assert.is_true(a.raw >= 0 and a.raw < 1 << 48)
        assert.is_true((a.current or 1) >= 1 and (a.current or 1) <= 253)
      end
    end
  end)

  it("refuses pages of the wrong length", function()
    assert.error_matches(function() commands.atasmart {identify = "short"} end, "'identify'")
    assert.error_matches(function() commands.atasmart {} end, "'identify'")
    assert.error_matches(function()
      commands.atasmart {identify = ("\0"):rep(512), data = ("\0"):rep(511)}
    end, "'data'")
  end)
end)
