-- Each example runs as its first lines say.
-- SPDX-License-Identifier: GPL-3.0-or-later
local lfs = require "lfs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"

-- What each prints, as a pattern; {} in the arguments is a drive.
local EXAMPLES <const> = {
  one_job = { { "{}" }, "reads in 2%.%d+ s, .* IOPS.*latency: median .*0 reads failed" },
  own_offsets = { { "{}" }, "^forwards  .* MB/s .*\nbackwards .* MB/s .*\n$" },
  butterfly = { { "{}" }, "stroke of 100 %%  [%d.]+ %a+.*stroke of   0 %%  [%d.]+ %a+\n$" },
  two_drives = { { "{}", "{}" }, "depth 1 .*depth 8 .*depth 1 .*depth 8 .*IOPS\n$" },
  adaptive = { { "{}" }, "depth  1: .* IOPS, give or take .*depth 16: .*ended by %a+" },
  histogram = { { "{}", "7200" }, "^  0 to   1 turns +%d+ reads +[%d.]+ %%" },
  latency_map = { { "{}" }, "Time of each read while it went on.*reads" },
  zone_rates = { { "{}" }, "from   0.0 %% on: .*from  8.%.%d %% on: .*outer to inner: [%d.]+\n$" },
}

describe("the example", function()
  local drive = scratch.file(16 << 20)

  for name, example in pairs(EXAMPLES) do
    it(name .. ".lua does what it says", function()
      local arguments = { "examples/" .. name .. ".lua" }
      for _, argument in ipairs(example[1]) do
        arguments[#arguments + 1] = argument == "{}" and drive or argument
      end
      local r = process.hddlua(arguments)
      assert.equal("", r.stderr)
      assert.equal(0, r.status)
      assert.matches(example[2], r.stdout)
    end)
  end

  it("of each file is among these", function()
    local n = 0
    for file in lfs.dir("examples") do
      local name = file:match("^(.*)%.lua$")
      if name then
        n = n + 1
        assert.is_truthy(EXAMPLES[name])
      end
    end
    assert.is_true(n >= 6)
  end)

  it("two_drives.lua goes on with the other when one is missing, and says so", function()
    local r = process.hddlua { "examples/two_drives.lua", "/no/such/drive", drive }
    assert.equal(1, r.status)
    assert.matches("/no/such/drive +/no/such/drive: No such file", r.stdout)
    assert.matches("depth 8 .*IOPS", r.stdout)
  end)
end)
