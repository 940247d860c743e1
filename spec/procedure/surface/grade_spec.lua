-- Blocks graded by what each took the drive.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local grade = require "hdd.procedure.surface.grade"

local MiB <const>, MS <const> = 1 << 20, 1000000
local TURN <const>, BLOCK_NS <const> = 6 * MS, 7 * MS

-- A drive that serves `count` blocks one after the other, `depth` in flight: block i takes BLOCK_NS and
-- extra[i], and is seen late[i] after it was done.
local function scan(count, depth, extra, late, options)
  options = options or {}
  local g = grade.new {
    block_size = MiB, depth = depth, turn_ns = options.turn_ns, slow_ns = options.slow_ns or 100 * MS,
    map = options.map,
  }
  local free, seen = 0, {}
  for i = 1, count do
    local submitted = i > depth and seen[i - depth] or 0
    free = math.max(free, submitted) + BLOCK_NS + (extra[i] or 0)
    seen[i] = math.max(free + (late and late(i) or 0), seen[i - 1] or 0)
    g:add((i - 1) * MiB, MiB, submitted, seen[i], options.code and options.code[i] or 0)
  end
  g:finish()
  return g
end

local function numbers(g)
  local list = {}
  for i, suspect in ipairs(g.suspects) do list[i] = suspect.offset // MiB + 1 end
  table.sort(list)
  return list
end

local function contains(list, number)
  for _, one in ipairs(list) do
    if one == number then return true end
  end
  return false
end

local function sum(counts, first)
  local total = 0
  for i = first, #counts do total = total + counts[i] end
  return total
end

describe("a block's own time", function()
  it("is the time between completions, however many are in flight", function()
    for _, depth in ipairs { 1, 4, 32 } do
      local g = scan(500, depth, {}, nil, { turn_ns = TURN })
      assert.same({ 0, 500, 0, 0, 0, 0 }, g.classes)
      assert.equal(500, g.turns[0])
      assert.same({}, g.suspects)
    end
  end)

  it("is the latency where a drive serves many at once", function()
    local g = grade.new { block_size = MiB, depth = 8, slow_ns = 100 * MS }
    local order = {}
    for i = 1, 200 do
      local submitted = (i - 1) // 8 * MS
      order[i] = { (i - 1) * MiB, submitted, submitted + MS // 2 + (i == 90 and 300 * MS or 0) }
    end
    table.sort(order, function(a, b) return a[3] < b[3] end)
    for _, one in ipairs(order) do g:add(one[1], MiB, one[2], one[3], 0) end
    g:finish()
    assert.same({ 90 }, numbers(g))
    assert.same({ 199, 0, 0, 0, 1, 0 }, g.classes)
  end)

  it("puts it into the class that it is in", function()
    local g = scan(300, 4, { [50] = 40 * MS, [100] = 100 * MS, [150] = 400 * MS, [200] = 3000 * MS })
    assert.same({ 0, 296, 1, 1, 1, 1 }, g.classes)
    assert.equal(1, grade.class_of(2999999))
    assert.equal(2, grade.class_of(3 * MS))
    assert.equal(6, grade.class_of(500 * MS))
  end)
end)

describe("extra turns", function()
  it("make a block suspect, and are counted", function()
    local g = scan(500, 4, { [77] = 2 * TURN, [300] = 5 * TURN }, nil, { turn_ns = TURN })
    local list = numbers(g)
    assert.is_true(contains(list, 77) and contains(list, 300))
    assert.is_true(#list <= 4)
    assert.equal(500, g.turns[0] + sum(g.turns, 1))
    assert.is_true(g.turns[2] >= 1 and g.turns[5] >= 1)
  end)

  it("are found on a busy machine, and what was merely seen late is mostly no suspect", function()
    math.randomseed(3)
    local late = function() return math.random() < 0.3 and math.random(0, 8) * MS or 0 end
    for _ = 1, 20 do
      local at = math.random(10, 390)
      local g = scan(400, 4, { [at] = 2 * TURN }, late, { turn_ns = TURN })
      local list = numbers(g)
      assert.is_true(contains(list, at))
      assert.is_true(#list < 40, #list .. " suspects")
    end
  end)

  it("are found where the drive puts the block off", function()
    local g, done = grade.new { block_size = MiB, depth = 4, turn_ns = TURN, slow_ns = 0 }, 0
    -- Block 50 comes after 51, 52 and 53; half of its time went by before.
    for i = 1, 100 do
      if i ~= 50 then
        done = done + BLOCK_NS
        g:add((i - 1) * MiB, MiB, done - 4 * BLOCK_NS, done, 0)
      end
      if i == 53 then
        done = done + BLOCK_NS // 2 + 2 * TURN
        g:add(49 * MiB, MiB, 46 * BLOCK_NS, done, 0)
      end
    end
    g:finish()
    assert.is_true(contains(numbers(g), 50))
  end)

  it("are held against the speed around: a slower zone is no suspect", function()
    local extra = {}
    for i = 201, 400 do extra[i] = MS end
    local g = scan(400, 4, extra, nil, { turn_ns = TURN })
    assert.same({}, g.suspects)
  end)

  it("of a block that was cleared are taken back", function()
    local g = scan(100, 4, { [50] = 3 * TURN }, nil, { turn_ns = TURN })
    for _, suspect in ipairs(g.suspects) do g:regrade(suspect, BLOCK_NS, 0) end
    assert.equal(100, g.turns[0])
    assert.same({ 0, 100, 0, 0, 0, 0 }, g.classes)
  end)
end)

describe("a grader", function()
  it("counts failed blocks in the map only", function()
    local map = { { from = 0, to = 50 * MiB }, { from = 50 * MiB, to = 100 * MiB } }
    local g = scan(100, 4, {}, nil, { map = map, code = { [60] = 5 } })
    assert.equal(99, sum(g.classes, 1))
    assert.equal(50, map[1].blocks)
    assert.equal(50 * MiB, map[1].bytes)
    assert.is_nil(map[1].failed)
    assert.equal(50, map[2].blocks)
    assert.equal(1, map[2].failed)
    assert.equal(49 * MiB, map[2].bytes)
    assert.equal(BLOCK_NS, map[2].most_ns)
    assert.equal(BLOCK_NS / MiB, g:pace_at(0))
  end)

  it("keeps the worst suspects when there are too many", function()
    local g = scan(20000, 4, setmetatable({}, {
      __index = function(_, i) return i % 2 == 0 and 200 * MS + i or 0 end,
    }))
    assert.is_true(#g.suspects <= 4096)
    assert.equal(10000, #g.suspects + g.unlisted)
  end)

  it("of a few blocks knows no median, and says what they took", function()
    local g = scan(2, 1, {}, nil, { turn_ns = TURN })
    assert.equal(2, #g.suspects)
    assert.equal(0.0, g.suspects[1].pace)
    assert.equal(0.0, g:pace_at(0))
  end)
end)
