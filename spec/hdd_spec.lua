-- What `require "hdd"` offers beside its drives.
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local raises = require "spec.support.raises"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local path = scratch.file(64 << 10)

describe("hdd #core", function()
  it("has the binary and the decimal multiples of bytes, as integers", function()
    for name, expected in pairs {
      KiB = 1024, MiB = 1048576, GiB = 1073741824, TiB = 1099511627776,
      kB = 1000, MB = 1000000, GB = 1000000000, TB = 1000000000000,
    } do
      assert.equal(expected, hdd[name], name)
      assert.equal("integer", math.type(hdd[name]))
    end
  end)

  it("says its version", function()
    assert.matches("^%d+%.%d+%.%d+", hdd.version)
  end)

  it("has a clock that goes forward, in integer nanoseconds", function()
    local last = hdd.now()
    for _ = 1, 1000 do
      local now = hdd.now()
      assert.is_true(now >= last)
      last = now
    end
    assert.equal("integer", math.type(last))
  end)

  it("has a value for interruptions that tells its name", function()
    assert.equal("interrupted", tostring(hdd.interrupted))
    assert.equal("userdata", type(hdd.interrupted))
  end)

  it("is loaded without output, globals or side effects", function()
    needs.stock()
    local run = process.run({"lua5.4", "-e", [[
      local before = {}
      for k in pairs(_G) do before[k] = true end
      require "hdd"
      for k in pairs(_G) do assert(before[k], k) end
    ]]})
    assert.equal("", run.stdout .. run.stderr)
    assert.equal(0, run.status)
  end)
end)

describe("hdd.random #core", function()
  it("gives places of whole blocks inside the device, all of them", function()
    local seen, n = {}, 0
    for _ = 1, 2000 do
      local offset = hdd.random(10 * 512 + 100, 512)
      assert.equal("integer", math.type(offset))
      assert.is_true(offset >= 0 and offset <= 9 * 512 and offset % 512 == 0)
      if not seen[offset] then n = n + 1 end
      seen[offset] = true
    end
    assert.equal(10, n)
    assert.equal(0, hdd.random(512, 512))
    for _ = 1, 100 do
      local offset = hdd.random(math.maxinteger, 4096)
      assert.is_true(offset >= 0 and offset <= math.maxinteger - 4096)
    end
  end)

  it("follows math.randomseed", function()
    math.randomseed(42)
    local a = hdd.random(1 << 40, 512)
    math.randomseed(42)
    assert.equal(a, hdd.random(1 << 40, 512))
  end)

  it("refuses a block that does not fit, or that is none", function()
    for _, wrong in ipairs {{511, 512}, {0, 1}, {512, 0}, {512, -1}, {1e6, 512}, {"a", 1}, {}} do
      raises("hdd_spec.lua:%d+: random: size and block are bytes, 1 <= block <= size, not", function()
        local _ = hdd.random(wrong[1], wrong[2])
      end)
    end
  end)
end)

describe("hdd.each #core", function()
  it("opens paths, closes what it opened, and hands the results over in order", function()
    local zero <close> = assert(hdd.open("/dev/zero", {size = 1 << 30}))
    local entries = hdd.each({path, "/no/such/drive", zero, path}, function(drive)
      if drive == zero then error("a procedure's fault") end
      return drive:run({pattern = "random", ios = 100}).ios
    end)
    assert.equal(4, #entries)
    assert.same({drive = path, result = 100}, entries[1])
    assert.same({drive = "/no/such/drive", message = "/no/such/drive: No such file or directory", code = 2}, entries[2])
    assert.equal(zero, entries[3].drive)
    assert.matches("hdd_spec.lua:%d+: a procedure's fault", entries[3].message)
    assert.matches("hdd_spec.lua", entries[3].traceback)
    assert.same({drive = path, result = 100}, entries[4])
    assert.equal(5, zero:run({pattern = "random", ios = 5}).ios) -- not closed
    assert.equal("", (shell.run("ls -l /proc/$PPID/fd | grep -F " .. path)))
  end)

  it("runs all at the same time, or so many as told", function()
    local now, most = 0, 0
    local function work()
      now = now + 1
      most = math.max(most, now)
      hdd.sleep(0.01)
      now = now - 1
      return true
    end
    hdd.each({path, path, path, path, path, path}, work)
    assert.equal(6, most)
    now, most = 0, 0
    assert.equal(6, #hdd.each({path, path, path, path, path, path}, work, {max_parallel = 2}))
    assert.equal(2, most)
  end)

  it("runs a procedure's jobs and queues on each", function()
    local entries = hdd.each({path, path, path}, function(drive)
      local r = drive:run {pattern = "random", ios = 200, depth = 4}
      local q <close> = assert(drive:queue {depth = 2})
      return r.ios + q:each(function(slot) for _ = 1, 50 do slot:read(0) end end).ios
    end)
    for _, entry in ipairs(entries) do assert.equal(300, entry.result) end
  end)
end)
