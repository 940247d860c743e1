-- What a stamped block holds, byte for byte, as core/stamp.h and docs/writing.md say.
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local scratch = require "spec.support.scratch"

local SIZE <const> = 64 * 1024

local function written(path, name, stamp)
  local drive <close> = assert(hdd.open(path, {write = {serial = name}}))
  assert(drive:run {operation = "write", stamp = stamp, block_size = 16384})
  local block <const> = math.max(512, drive.logical_block_size)
  drive:close()
  local stream <close> = assert(io.open(path, "rb"))
  return stream:read("a"), block
end

-- The i-th output, from 0, of splitmix64 started at 0.
local function pool(i)
  local z = (i + 1) * 0x9e3779b97f4a7c15
  z = (z ~ (z >> 30)) * 0xbf58476d1ce4e5b9
  z = (z ~ (z >> 27)) * 0x94d049bb133111eb
  return z ~ (z >> 31)
end

describe("a stamp #core", function()
  it("says its drive, LBA, seed, pass and size, each in its place", function()
    local path = scratch.sparse(SIZE)
    local data, size = written(path, "sparse", {serial = "WD-1", pass = 0x01020304, seed = -2})
    local drives = {}
    for lba = 0, SIZE // size - 1 do
      local magic, drive, found, seed, pass, bytes = string.unpack("<c8i8i8i8I4I4", data, lba * size + 1)
      assert.equal("hddstamp", magic)
      assert.equal(lba, found)
      assert.equal(-2, seed)
      assert.equal(0x01020304, pass)
      assert.equal(size, bytes)
      drives[drive] = true
    end
    local first = next(drives)
    assert.is_nil(next(drives, first))
    assert.not_equal(first, (string.unpack("<i8", (written(path, "sparse", {serial = "WD-2"})), 9)))
  end)

  it("has a body of pool and key, another one in each block", function()
    local data, size = written(scratch.sparse(SIZE), "sparse", {serial = "WD-1"})
    local keys = {}
    for lba = 0, SIZE // size - 1 do
      for w = 5, size // 8 - 2 do
        local p = lba * size // 8 + w
        local key = string.unpack("<i8", data, p * 8 + 1) ~ pool(p % 512)
        local chunk = p * 8 // math.min(size, 4096) * 4 + p % 4
        assert.equal(keys[chunk] or key, key)
        keys[chunk] = key
      end
    end
    local seen = {}
    for _, key in pairs(keys) do
      assert.is_nil(seen[key])
      seen[key] = true
    end
  end)

  it("is as large as a logical block of 4096 bytes, too", function()
    needs.loop()
    local path = scratch.sparse(SIZE)
    local device <close> = loop.attach(path, {block_size = 4096})
    do
      local drive <close> = assert(hdd.open(device.path, {write = {serial = device.name}}))
      assert(drive:run {operation = "write"})
      assert.equal(0, assert(drive:run {operation = "verify"}).mismatch_blocks.total)
    end
    local stream <close> = assert(io.open(path, "rb"))
    local lba, _, _, size = string.unpack("<i8i8I4I4", stream:read("a"), 3 * 4096 + 17)
    assert.equal(3, lba)
    assert.equal(4096, size)
  end)
end)
