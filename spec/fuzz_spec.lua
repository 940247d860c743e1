-- A short run of the fuzzers; `make fuzz RUNS=10000000` is a long one.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local needs = require "spec.support.needs"
local shell = require "spec.support.shell"

describe("the parsers of record files and of drives' answers", function()
  it("survive 50 000 mutated inputs each", function()
    needs.program("clang")
    local said = shell.must("make -s fuzz RUNS=50000")
    assert.matches("recording: Done 50000 runs", said)
    assert.matches("sense: Done 50000 runs", said)
  end)
end)
