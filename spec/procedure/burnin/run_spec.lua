-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local make = require "spec.support.smart_page"
local run = require "hdd.procedure.burnin.run"
local smart_data = require "hdd.drive.smart_data"

-- What a drive says whose attributes have these raw values, and these Phy counters.
local function said(attributes, counters)
  local list = {}
  for id, raw in pairs(attributes) do list[#list + 1] = { id = id, raw = raw } end
  table.sort(list, function(a, b) return a.id < b.id end)
  local identity = { model = "M", serial = "S" }
  local phy = { counters = {} }
  for id, value in pairs(counters or {}) do
    phy.counters[#phy.counters + 1] = { id = id, name = "R_ERR responses", value = value }
  end
  local smart = smart_data.decode(make.data(list), nil, identity)
  return { identity = identity, kind = "ata", smart = smart, attributes = smart.attributes, phy_events = phy }
end

local function lines(changes)
  local out = {}
  for i, c in ipairs(changes) do out[i] = ("%s +%s %s"):format(c.name, c.growth, c.concerns) end
  table.sort(out)
  return out
end

describe("what changed in a phase", function()
  it("is told of the medium, of the cable, or of neither", function()
    local changes = run.changes_between(
      said({ [5] = 0, [9] = 100, [187] = 0, [194] = 30, [197] = 0, [199] = 3 }),
      said({ [5] = 8, [9] = 101, [187] = 1, [194] = 45, [197] = 2, [199] = 10 }))
    assert.same({ "attribute.187 +1 media", "attribute.197 +2 media", "attribute.199 +7 cable",
      "attribute.5 +8 media" }, lines(changes))
  end)

  it("is not what went down, nor what stood there before", function()
    assert.same({}, run.changes_between(said { [5] = 7, [199] = 3 }, said { [5] = 7, [199] = 3 }))
    assert.same({}, run.changes_between(said { [197] = 7 }, said { [197] = 0 }))
  end)

  it("is nothing between two drives", function()
    local other = said { [5] = 9 }
    other.identity.serial = "T"
    assert.same({}, run.changes_between(said { [5] = 0 }, other))
  end)
end)
