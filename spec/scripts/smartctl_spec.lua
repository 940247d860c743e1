-- smartctl's JSON and ours, field by field, over all fixtures, through the real calls.
-- docs/smartctl-differences.md explains each of the differences below.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local health = require "hdd.health"
local needs = require "spec.support.needs"
local sgreplay = require "spec.support.sgreplay"
local smartctl = require "spec.support.smartctl"

-- By drive, patterns of the fields that differ.
local EXPLAINED = {
  ["ata/CT1050MX300SSD1-a"] = {"^attribute 197%.name$"},
  ["ata/MZ7LM960HCHP-00003-a"] = {"^attribute 249%.name$"},
  ["ata/CorsairForce3-a"] = {"^attribute 9%.raw%.value$"},
  ["ata/ST14000NM001G-2KJ103-a"] = {"^attribute 240%.raw%.value$"},
  ["ata/HUS724020ALA640-a"] = {"^temperature%.current$"},
  ["ata/WD3000GLFS-01F8U0-a"] = {"^error %d+%."},
  ["ata/WD3000HLFS-01G6U4-a"] = {"^error %d+%."},
  ["ata/usb-jmicron-hitachi-failed-a"] = {"^error %d+%.lba$"},
}

local function is_explained(drive, field)
  for _, pattern in ipairs(EXPLAINED[drive] or {}) do
    if field:find(pattern) then return true end
  end
  return false
end

describe("smartctl's JSON", function()
  it("agrees on every field that both have, but for those that are explained", function()
    needs.program("smartctl")
    local same, explained = 0, 0
    for _, drive in ipairs(sgreplay.drives()) do
      local said = assert(health.read((sgreplay.recording(drive)), {all = true}))
      local agree, differ = smartctl.compare(smartctl.ask(drive), said)
      same = same + agree
      assert.is_true(agree >= 20, ("%s: only %d fields to compare"):format(drive, agree))
      for _, d in ipairs(differ) do
        assert.is_true(is_explained(drive, d.field), ("%s: %s: smartctl has %s, we %s"):format(drive,
          d.field, tostring(d.theirs), tostring(d.ours)))
        explained = explained + 1
      end
    end
    print(("\n%d fields agree with smartctl's, %d differ for a reason"):format(same, explained))
    assert.is_true(same >= 15858, ("%d fields agree"):format(same))
    assert.equal(32, explained)
  end)
end)
