-- Do drives hold one another up?
-- SPDX-License-Identifier: GPL-3.0-or-later
local contention = require "hdd.procedure.contention"
local hdd = require "hdd"
local hddsim = require "spec.support.hddsim"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local function rates(list)
  local drives = {}
  for i, pair in ipairs(list) do
    drives[i] = { name = "sd" .. string.char(97 + i), alone_bytes_per_s = pair[1] * 1e6,
      together_bytes_per_s = pair[2] and pair[2] * 1e6 }
  end
  return contention.judge(drives)
end

describe("rates alone and together", function()
  it("that are the same say that none is held up", function()
    local r = rates { { 200, 199 }, { 150, 151 } }
    assert.is_false(r.limited)
    assert.is_nil(r.max_parallel)
    assert.equal("together they read 350.0 MB/s, 100 % of the 350.0 MB/s that they read one at a time: "
      .. "none is held up by the others", r.sentence)
  end)

  it("that differ say how many keep theirs", function()
    local r = rates { { 200, 100 }, { 200, 100 }, { 200, 100 }, { 200, 100 } }
    assert.is_true(r.limited)
    assert.equal(0.5, r.ratio)
    assert.equal(2, r.max_parallel)
    assert.matches("50 %% of the 800.0 MB/s .*: the controller, the link or this machine is the limit. "
      .. "At most 2 at a time keep their rate %(%-%-max%-parallel 2%)$", r.sentence)
  end)

  it("name the one that is held up alone", function()
    local r = rates { { 200, 200 }, { 200, 200 }, { 200, 90 } }
    assert.same({ "sdd" }, r.slowed)
    assert.matches("this machine %(of sdd%) is the limit", r.sentence)
    assert.equal(2, r.max_parallel)
  end)

  it("of a drive that could not be read do not count", function()
    local r = rates { { 200, 200 }, { 200 }, { 0, 0 } }
    assert.is_false(r.limited)
    assert.matches("fewer than two", r.sentence)
    assert.is_false(rates({}).limited)
  end)
end)

describe("drives", function()
  it("that are one or none are not read", function()
    local drive <close> = assert(hdd.open(scratch.file(1 << 20)))
    local r = assert(contention.run { drive })
    assert.is_false(r.limited)
    assert.is_nil(r.drives[1].alone_bytes_per_s)
    local none, message, code = contention.run({ drive, drive }, { runtime = 0 })
    assert.is_nil(none)
    assert.matches("runtime", message)
    assert.equal(22, code)
  end)

  it("#realtime of their own do not hold one another up", function()
    needs.hddsim()
    -- A fifth of their rate: two of them are no work for this machine.
    local one <close> = hddsim.start "tiny,outer=30,inner=20"
    local two <close> = hddsim.start "tiny,outer=30,inner=20"
    local r
    for _ = 1, 3 do -- a pause of this machine may hit one of them
      local a <close> = assert(hdd.open(one.path))
      local b <close> = assert(hdd.open(two.path))
      local stages = {}
      r = assert(contention.run({ a, b }, { runtime = 1 }, {
        progress = function(state)
          stages[state.stage] = true
          assert.is_true(state.share >= 0 and state.share <= 1)
        end,
      }))
      assert.is_true(stages["reading all"] and stages["reading " .. a.name .. " alone"])
      if not r.limited then break end
    end
    assert.is_false(r.limited, r.sentence)
    assert.is_true(r.ratio > 0.9 and r.ratio < 1.1)
  end)

  it("#realtime behind one bottleneck hold one another up", function()
    needs.hddsim()
    local home <close> = place.new()
    local disk <close> = hddsim.start "tiny"
    local drives = {}
    for i = 1, 3 do
      local path = shell.must(("losetup -f --show --direct-io=on -o %d --sizelimit %d %s"):format(
        i * 2000000000 // 4096 * 4096, 1 << 30, disk.path))
      home:note("loops", path)
      drives[i] = assert(hdd.open(path))
    end
    local r = assert(contention.run(drives, { runtime = 1 }))
    for _, drive in ipairs(drives) do drive:close() end
    home:close()
    assert.is_true(r.limited, r.sentence)
    assert.is_true(r.ratio < 0.6, r.sentence)
    assert.equal(1, r.max_parallel)
    assert.equal(3, #r.slowed)
  end)
end)
