-- The writing burn-in on simulated drives that corrupt what is written.
-- SPDX-License-Identifier: GPL-3.0-or-later
local corruptions = require "spec.support.corruptions"
local needs = require "spec.support.needs"

-- `make acceptance` draws twenty (ACCEPTANCE_SEEDS).
describe("a burn-in with stamps #realtime", function()
  for _, seed in ipairs { 1, 2 } do
    it("names each corruption's kind and LBA, seed " .. seed, function()
      needs.hddsim()
      local said, expected, d, run = corruptions.burn_in(seed)
      assert.is_table(d, run.stderr)
      assert.same(expected, said)
      assert.equal("FAIL", d.verdict.status)
      assert.equal(1, run.status)
    end)
  end
end)
