-- The capacity of drives that tell the truth, and of drives that do not.
-- SPDX-License-Identifier: GPL-3.0-or-later
local capacity = require "hdd.procedure.capacity"
local consent = require "hdd.consent"
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local MiB <const> = 1 << 20

local function open(path)
  return assert(hdd.open(path, { write = { serial = consent.name(path), overwrite_data = true } }))
end

local function sum_of(path)
  return shell.must("sha256sum < " .. path)
end

local function try(path, given)
  local drive <close> = open(path)
  local p = { evict = 8 * MiB }
  for key, value in pairs(given or {}) do p[key] = value end
  return capacity.run(drive, p)
end

describe("the capacity", function()
  it("of an honest drive is what it says, and all that lay there lies there again", function()
    needs.loop()
    local file = scratch.file(96 * MiB + 4096)
    local before = sum_of(file)
    for _, block_size in ipairs { 512, 4096 } do
      local device <close> = loop.attach(file, { block_size = block_size })
      local seen = {}
      local drive = open(device.path)
      local r = assert(capacity.run(drive, { evict = 8 * MiB }, {
        progress = function(state) seen[state.stage] = true end,
      }))
      drive:close()
      assert.equal("honest", r.verdict)
      assert.is_nil(r.true_size_bytes)
      assert.same({}, r.mismatches)
      assert.same({}, r.not_restored)
      assert.equal(r.places, r.restored)
      assert.is_true(r.places > 30)
      assert.is_true(seen["saving what lies there"] and seen.stamping)
    end
    assert.equal(before, sum_of(file))
  end)

  it("is tried beyond 16 TiB", function()
    local path = scratch.sparse(40 << 40)
    local ok, r, message = pcall(try, path)
    os.remove(path)
    if ok and not r and message:find("direct") then pending(message) end
    assert.is_true(ok, r)
    assert.equal("honest", r.verdict)
    assert.equal(40 << 40, r.size_bytes)
    assert.is_true(r.places >= 55)
  end)

  it("of a drive whose writes come round again is named", function()
    needs.fuse()
    for _, sizes in ipairs { { 64, 128 }, { 32, 256 }, { 27, 81 } } do
      local backing = scratch.file(sizes[1] * MiB)
      local before = sum_of(backing)
      do
        local disk <close> = faultfs.mount { backing = backing, claim = sizes[2] * MiB, wrap = true }
        local r = assert(try(disk.path))
        assert.equal("false", r.verdict)
        assert.equal(sizes[1] * MiB, r.true_size_bytes)
        assert.matches(("it says .* and has .* %%(%d bytes%%): what is written beyond comes round again")
          :format(sizes[1] * MiB), r.sentence)
        assert.is_true(#r.mismatches > 0)
        assert.equal("misdirected write", r.mismatches[1].kind)
        assert.is_true(r.mismatches[1].found_offset_bytes >= sizes[1] * MiB)
      end
      assert.equal(before, sum_of(backing))
    end
  end)

  it("of a drive that loses what is beyond is found to the block", function()
    needs.fuse()
    local true_size = 50 * MiB + 12288
    local backing = scratch.file(true_size)
    local before = sum_of(backing)
    do
      local disk <close> = faultfs.mount { backing = backing, claim = 256 * MiB }
      local r = assert(try(disk.path))
      assert.equal("false", r.verdict)
      assert.equal(true_size, r.true_size_bytes)
      assert.is_true(r.restored > r.places) -- those of the search, too
      assert.same({}, r.not_restored)
    end
    assert.equal(before, sum_of(backing))
  end)

  it("is tried at what can be read, and nothing is written elsewhere", function()
    needs.fuse()
    local backing = scratch.file(64 * MiB)
    local before = sum_of(backing)
    do
      local disk <close> = faultfs.mount { "at=16M,length=4k,error=EIO", backing = backing }
      local r = assert(try(disk.path))
      assert.equal("honest", r.verdict)
      assert.equal(1, #r.failures)
      assert.equal(16 * MiB, r.failures[1].offset_bytes)
    end
    assert.equal(before, sum_of(backing))
  end)

  it("is refused on a drive that is open for reading, and with parameters that cannot be", function()
    local file = scratch.file(MiB)
    do
      local drive <close> = assert(hdd.open(file))
      local r, message, code = capacity.run(drive)
      assert.is_nil(r)
      assert.matches("opened for writing %(%-%-write%)", message)
      assert.equal(9, code)
    end
    local _, message = try(file, { block_size = 513 })
    assert.matches("block_size", message)
    _, message = try(file, { evict = -1 })
    assert.matches("evict", message)
  end)

  it("puts back what lay there after Ctrl-C, too", function()
    needs.fuse()
    local backing = scratch.file(64 * MiB)
    local before = sum_of(backing)
    do
      -- The reads of what fills the cache take their time.
      local disk <close> = faultfs.mount { "every=1M,after=40,delay=300", backing = backing }
      local r = process.lua([[
        local hdd, capacity = require "hdd", require "hdd.procedure.capacity"
        local path, name = ...
        local drive <close> = assert(hdd.open(path, {write = {serial = name, overwrite_data = true}}))
        local r = capacity.run(drive, {evict = 64 << 20}, {progress = function(state)
          io.stderr:write(state.stage, "\n")
        end})
        print(r.verdict, r.places > 0 and r.places == r.restored, #r.not_restored)
      ]], { arguments = { disk.path, consent.name(disk.path) }, timeout = 30,
        events = { { when = "stamping", signal = "INT", after = 0.3 } } })
      assert.equal("interrupted\ttrue\t0\n", r.stdout, r.stderr)
    end
    assert.equal(before, sum_of(backing))
  end)
end)
