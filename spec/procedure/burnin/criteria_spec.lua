-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local criteria = require "hdd.procedure.burnin.criteria"
local scratch = require "spec.support.scratch"

local function file(text)
  local path = scratch.path("criteria")
  do
    local stream <close> = assert(io.open(path, "w"))
    assert(stream:write(text))
  end
  return path
end

describe("the criteria of a burn-in", function()
  it("are the defaults, with what is given laid over them", function()
    local rules = assert(criteria.merge { slow_bytes = { fail = 4096 }, zone_ratio = { warn = false } })
    assert.same({ warn = 1, fail = 4096 }, rules.slow_bytes)
    assert.same({ warn = false, fail = 0.80 }, rules.zone_ratio)
    assert.same({ warn = 1, fail = false }, criteria.defaults.slow_bytes) -- untouched
  end)

  it("grade counts from a level on, and shares below one", function()
    local rules = assert(criteria.merge { slow_bytes = { warn = 512, fail = 4096 } })
    assert.is_nil(criteria.grade(rules, "slow_bytes", 511))
    assert.equal("WARN", criteria.grade(rules, "slow_bytes", 512))
    assert.equal("FAIL", criteria.grade(rules, "slow_bytes", 4096))
    assert.is_nil(criteria.grade(rules, "zone_ratio", 0.92))
    assert.equal("WARN", criteria.grade(rules, "zone_ratio", 0.919))
    assert.equal("FAIL", criteria.grade(rules, "zone_ratio", 0.7))
    assert.is_nil(criteria.grade(rules, "zone_ratio", nil))
  end)

  it("of a file are a Lua table", function()
    local given = assert(criteria.load(file "return { stalls = { fail = 3 } }"))
    assert.equal(3, given.stalls.fail)
  end)

  for name, case in pairs {
    ["an unknown name"] = { "return { slow_byte = { warn = 1 } }",
      "none of the name slow_byte; there are: .*slow_bytes" },
    ["an unknown level"] = { "return { slow_bytes = { error = 1 } }", "has warn and fail, and no error" },
    ["a level that is no number"] = { "return { slow_bytes = { warn = '1' } }", "slow_bytes.warn: must be a number" },
    ["NaN"] = { "return { slow_bytes = { warn = 0/0 } }", "must be a number" },
    ["no table"] = { "return 7", "returns no table of criteria, but 7" },
    ["an error"] = { "error 'oops'", "raised an error: .*oops" },
    ["no Lua"] = { "slow_bytes: 1", "cannot read the criteria: .*" },
  } do
    it("with " .. name .. " are refused, by name", function()
      local given, message = criteria.load(file(case[1]))
      assert.is_nil(given)
      assert.matches(case[2], message)
    end)
  end

  it("of a file that is not there are refused", function()
    local given, message = criteria.load("/no/such/criteria.lua")
    assert.is_nil(given)
    assert.matches("/no/such/criteria.lua", message)
  end)
end)
