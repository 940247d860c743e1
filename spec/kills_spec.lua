-- A writing burn-in that is killed and resumed. `make acceptance` does it at fifty moments.
-- SPDX-License-Identifier: GPL-3.0-or-later
local kills = require "spec.support.kills"
local needs = require "spec.support.needs"

describe("a burn-in killed by kill -9 #realtime", function()
  it("goes on, says in the end what it would have said, and leaves no write unverified", function()
    needs.hddsim()
    local r = kills.burn_in(3, { 0.4, 1.2, 2.5 })
    assert.is_table(r.document, r.stderr)
    assert.same(r.expected, r.said)
    assert.equal("FAIL", r.document.verdict.status)
    assert.equal(1, r.status)
    assert.equal("complete", r.document.status)
    assert.is_true(r.killed >= 2)
    assert.is_true(#r.document.interruptions >= r.killed - 1) -- the first may have come before its state
    for _, interruption in ipairs(r.document.interruptions) do
      assert.equal("killed", interruption.reason)
    end
    assert.equal(0, r.unverified)
    assert.is_true(r.written >= 131072)
    assert.equal("", r.left)
  end)
end)
