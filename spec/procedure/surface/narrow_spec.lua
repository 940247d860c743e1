-- From a range that is bad to the blocks that are to blame.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local narrow = require "hdd.procedure.surface.narrow"

local BLOCK <const> = 512

-- A drive with these bad blocks: the function to hand in, and how often it was called.
local function drive(bad)
  local count = { reads = 0 }
  return function(from, to)
    count.reads = count.reads + 1
    assert.is_true(from < to and from % BLOCK == 0 and to % BLOCK == 0)
    for block = from // BLOCK, to // BLOCK - 1 do
      if bad[block] then return true end
    end
    return false
  end, count
end

local function set(...)
  local bad = {}
  for _, block in ipairs { ... } do bad[block] = true end
  return bad
end

local function find(bad, first, last, reads)
  local test, count = drive(bad)
  local runs, vanished, rest = narrow.find(first * BLOCK, last * BLOCK, BLOCK, reads or 1000, test)
  local blocks = {}
  for i, run in ipairs(runs) do
    blocks[i] = { run.from // BLOCK, run.to // BLOCK, run.exact }
  end
  return blocks, count.reads, vanished, rest
end

describe("narrowing down", function()
  it("finds a single bad block, wherever it is, with few reads", function()
    for _, block in ipairs { 2048, 2049, 3000, 3071, 4094, 4095 } do
      local runs, reads = find(set(block), 2048, 4096)
      assert.same({ { block, block + 1, true } }, runs)
      assert.is_true(reads <= 14, reads .. " reads")
    end
  end)

  it("finds runs and several of them, each block of which was read", function()
    assert.same({ { 10, 13, true } }, (find(set(10, 11, 12), 0, 2048)))
    assert.same({ { 10, 11, true }, { 12, 13, true }, { 2047, 2048, true } },
      (find(set(10, 12, 2047), 0, 2048)))
    assert.same({ { 0, 4, true } }, (find(set(0, 1, 2, 3), 0, 4)))
    assert.same({ { 7, 8, true } }, (find(set(7), 7, 8)))
  end)

  it("finds where a long run ends, and says that its middle was not read", function()
    local bad = {}
    for block = 100, 1099 do bad[block] = true end
    local runs, reads = find(bad, 0, 2048, 64)
    assert.same({ { 100, 1100, false } }, runs)
    assert.is_true(reads <= 64)
  end)

  it("never makes more reads than it may, and misses nothing", function()
    math.randomseed(11)
    for _ = 1, 200 do
      local bad, first = {}, nil
      for _ = 1, math.random(1, 12) do
        local at = math.random(0, 2047)
        for block = at, math.min(2047, at + math.random(0, 9)) do
          bad[block], first = true, math.min(first or block, block)
        end
      end
      local limit = math.random(1, 64)
      local runs, reads = find(bad, 0, 2048, limit)
      assert.is_true(reads <= limit)
      local listed = {}
      for _, run in ipairs(runs) do
        for block = run[1], run[2] - 1 do
          listed[block] = true
          if run[3] then assert.is_true(bad[block], "listed as exact, and good") end
        end
      end
      for block in pairs(bad) do assert.is_true(listed[block], "missed") end
    end
  end)

  it("with reads enough finds exactly what is bad", function()
    math.randomseed(12)
    for _ = 1, 200 do
      local bad = {}
      for _ = 1, math.random(1, 6) do
        local at = math.random(0, 511)
        for block = at, math.min(511, at + math.random(0, 7)) do bad[block] = true end
      end
      local runs, _, vanished, rest = find(bad, 0, 512)
      assert.is_false(vanished)
      assert.is_nil(rest)
      local listed = {}
      for _, run in ipairs(runs) do
        assert.is_true(run[3])
        for block = run[1], run[2] - 1 do listed[block] = true end
      end
      assert.same(bad, listed)
    end
  end)

  it("says so when what was bad reads well", function()
    local runs, reads, vanished = find({}, 0, 2048)
    assert.same({}, runs)
    assert.is_true(vanished)
    assert.is_true(reads <= 13)
  end)

  it("hands on what the reading raises", function()
    assert.has_error(function()
      narrow.find(0, 4096, BLOCK, 10, function() error("gone", 0) end)
    end, "gone")
  end)
end)
