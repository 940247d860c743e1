-- The temperature guard, with a clock and a thermometer that the spec moves, and on a drive's own words.
-- Runs beside others: nothing here depends on the time it takes.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cooling = require "hdd.procedure.cooling"
local sgreplay = require "spec.support.sgreplay"

-- A drive that warms by 0.1 °C a second under load and cools by 0.05 °C a second in a pause.
local function world(start_c)
  local w = { ns = 0, celsius = start_c, reads = 0, events = {} }
  function w.pass(s, rate)
    w.ns, w.celsius = w.ns + math.floor(s * 1e9), w.celsius + rate * s
  end
  w.options = {
    now = function() return w.ns end,
    sleep = function(s) w.pass(s, -0.05) end,
    temperature = function()
      w.reads, w.ns = w.reads + 1, w.ns + 20000000
      if w.gone then return nil, w.gone, 61 end
      return w.celsius, "SCT status"
    end,
    event = function(entry) w.events[#w.events + 1] = entry.event end,
  }
  return w
end

local function without(list, what)
  local others = {}
  for _, name in ipairs(list) do
    if name ~= what then others[#others + 1] = name end
  end
  return others
end

describe("the temperature guard", function()
  it("reads at most once a minute, and says what it read last", function()
    local w = world(30)
    local guard = cooling.new({}, { limit_c = 60 }, w.options)
    for _ = 1, 600 do
      assert.equal("go", (guard:look()))
      w.pass(1, 0)
    end
    assert.is_true(w.reads >= 9 and w.reads <= 10)
    assert.equal(30, select(2, guard:look()))
    local before = w.reads
    guard:look(true)
    assert.equal(before + 1, w.reads)
  end)

  it("pauses at the limit, and goes on only when it is the hysteresis below", function()
    local w = world(50)
    local guard = cooling.new({}, { limit_c = 55, hysteresis_c = 5 }, w.options)
    local loaded_s, hottest = 0, 0
    while loaded_s < 3600 do
      if guard:look() == "hot" then
        hottest = math.max(hottest, w.celsius)
        assert.equal("hot", (guard:look())) -- until it was waited for
        local reports = 0
        local paused_s = guard:wait(function(state)
          reports = reports + 1
          assert.equal("paused", state.mode)
          assert.matches("^%d+ °C, cooling to 50 °C$", state.note)
        end)
        assert.is_true(w.celsius <= 50)
        assert.is_true(paused_s >= 60 and reports >= 60)
      end
      w.pass(1, 0.1)
      loaded_s = loaded_s + 1
    end
    assert.is_true(hottest < 55 + 61 * 0.1) -- what it warms between two readings
    assert.is_true(guard.pauses >= 10)
    local turns = without(w.events, "sample")
    for i, event in ipairs(turns) do assert.equal(i % 2 == 1 and "hot" or "cool", event) end
    local last
    for _, entry in ipairs(guard.entries) do last = entry.event == "cool" and entry or last end
    assert.equal(55, last.limit_c)
    assert.is_true(last.paused_s > 0 and last.temperature_c <= 50)
  end)

  it("of a drive without temperature or limit lets it go", function()
    local w = world(90)
    local no_limit = cooling.new({ smart = function() return nil, "no SMART", 95 end }, {}, w.options)
    assert.is_nil(no_limit.limit_c)
    assert.equal("go", (no_limit:look()))
    assert.equal(0.0, no_limit:wait())
    w.gone = "/dev/sdz: the drive tells no temperature"
    local guard = cooling.new({}, { limit_c = 55 }, w.options)
    for _ = 1, 5 do assert.equal("go", (guard:look(true))) end
    assert.same({ "no temperature" }, without(w.events, "sample")) -- told once
    assert.equal(w.gone, guard.entries[1].what)
  end)

  it("does not wait without end for one whose temperature can't be read any more", function()
    local w = world(60)
    local guard = cooling.new({}, { limit_c = 55 }, w.options)
    assert.equal("hot", (guard:look()))
    w.gone = "asleep"
    local paused_s = guard:wait()
    assert.is_true(paused_s >= 240 and paused_s <= 360)
    assert.equal("go", (guard:look()))
  end)

  it("ends a pause by Ctrl-C as every wait", function()
    local w = world(60)
    local guard = cooling.new({}, { limit_c = 55 }, w.options)
    guard:look()
    guard.sleep = function() error "interrupted" end
    assert.has_error(function() guard:wait() end)
    assert.equal("hot", (guard:look()))
  end)

  it("marks the intervals with a sample, and no others", function()
    local w = world(30)
    local guard = cooling.new({}, { limit_c = 60 }, w.options)
    local series = {}
    for i = 1, 130 do
      guard:look()
      series[i] = { time_s = (i - 1) * 1.0, elapsed_s = 0.99 }
      w.ns = i * 1000000000
    end
    assert.equal(3, guard:mark(series, 0))
    for i, interval in ipairs(series) do
      assert.equal((i == 1 or i == 62 or i == 123) and true or nil, interval.sampled, i)
    end
    assert.equal(0, guard:mark({}, 0))
  end)
end)

describe("the temperature guard of a real drive's words", function()
  it("has the limit that the drive states, and its temperature", function()
    local r = sgreplay.lua("ata/HUS724020ALA640-a", [[
      local cooling = require "hdd.procedure.cooling"
      local path, kind = ...
      local channel <close> = assert(require "hdd.transport".open(path, {as = kind}))
      local health = require "hdd.health"
      local drive = {
        smart = function() return health.read(channel) end,
        temperature = function() return require("hdd.health.part").temperature(channel) end,
      }
      local guard = cooling.new(drive)
      print(guard.limit_c, guard.limit_source, guard:look())
    ]])
    local limit, source, state, celsius = r.stdout:match("^(%S+)\t([^\t]+)\t(%a+)\t(%S+)")
    assert.equal("60", limit, r.stderr)
    assert.equal("device statistics", source)
    assert.equal("go", state)
    assert.is_true(tonumber(celsius) > 10 and tonumber(celsius) < 60)
  end)
end)
