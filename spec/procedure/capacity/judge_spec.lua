-- Where a capacity is tried, and what the answers say.
-- Runs beside others: nothing here depends on the time it takes.
-- SPDX-License-Identifier: GPL-3.0-or-later
local judge = require "hdd.procedure.capacity.judge"

-- What the stamps of a drive come to that has `true_size` bytes: written in ascending order, the last one
-- at a place is what is read there.
local function bad_of(places, true_size, wraps)
  local content, bad = {}, {}
  for _, place in ipairs(places) do
    local at = wraps and place % true_size or place
    if at < true_size then content[at] = place end
  end
  for _, place in ipairs(places) do
    local at = wraps and place % true_size or place
    local found = at < true_size and content[at] or nil
    if found ~= place then bad[place] = { kind = found and "misdirected write" or "zeroes", found_bytes = found } end
  end
  return bad
end

describe("the places of a capacity", function()
  it("are the powers of two, the parts, the beginning and the end, of any size", function()
    for _, size in ipairs { 8192, 12288, 65536, 1000204886016, 18000207937536, 40 << 40, math.maxinteger } do
      local places, is_place = judge.places(size, 4096), {}
      assert.is_true(#places <= 100)
      for i, place in ipairs(places) do
        is_place[place] = true
        assert.equal("integer", math.type(place))
        assert.is_true(place % 4096 == 0 and place <= size - 4096 and place > (places[i - 1] or -1))
      end
      assert.is_true(is_place[0] and is_place[size // 4096 * 4096 - 4096])
      local power = 4096
      while power > 0 and power <= size - 4096 do
        assert.is_true(is_place[power])
        power = power << 1
      end
      assert.is_true(is_place[size // 2 // 4096 * 4096])
    end
  end)
end)

describe("the answers of a capacity", function()
  local function verdict(size, bad_or_true, wraps)
    local places = judge.places(size, 4096)
    local bad = type(bad_or_true) == "table" and bad_or_true or bad_of(places, bad_or_true, wraps)
    return judge.verdict(size, #places, judge.answers(places, bad))
  end

  it("call an honest drive honest", function()
    local what, sentence, true_size = verdict(1 << 30, {})
    assert.equal("honest", what)
    assert.matches("as large as it says, 1.07 GB %(1073741824 bytes%): %d+ stamps", sentence)
    assert.is_nil(true_size)
  end)

  it("name the true size of one that comes round again: powers of two, and whole parts", function()
    for size = 30, 46 do
      for true_size = 14, size - 1 do
        local what, _, found = verdict(1 << size, 1 << true_size, true)
        assert.equal("false", what)
        assert.equal(1 << true_size, found)
      end
    end
    for parts = 2, 8 do
      local true_size = 1000204886016 // 4096 * 4096
      local what, sentence, found = verdict(true_size * parts, true_size, true)
      assert.equal("false", what)
      assert.equal(true_size, found)
      assert.matches("has 1.00 TB %(1000204886016 bytes%): what is written beyond comes round", sentence)
    end
  end)

  it("bound the true size of one that loses what is beyond", function()
    local places = judge.places(1 << 40, 4096)
    local answers = judge.answers(places, bad_of(places, 8000000000, false))
    assert.equal(1 << 32, answers.good_bytes)
    assert.equal(1 << 33, answers.bad_bytes)
    local what, sentence, size = judge.verdict(1 << 40, #places, answers, 8000000000)
    assert.equal("false", what)
    assert.equal(8000000000, size)
    assert.matches("it says 1.10 TB .* and has 8.00 GB %(8000000000 bytes%): .* lost", sentence)
  end)

  it("do not take another fault for a false size", function()
    assert.equal("unknown", (verdict(1 << 30, { [1 << 20] = { kind = "bit rot" } })))
    assert.equal("unknown", (verdict(1 << 30, { [1 << 20] = { kind = "unreadable" } })))
    local all = {}
    for _, place in ipairs(judge.places(1 << 30, 4096)) do all[place] = { kind = "unknown" } end
    local what, sentence = verdict(1 << 30, all)
    assert.equal("unknown", what)
    assert.matches("no stamp", sentence)
  end)
end)
