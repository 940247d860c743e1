-- The surface script as a person runs it.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local mapfile = require "hdd.mapfile"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local MiB <const> = 1 << 20

local function surface(...)
  return process.hddlua {"surface", ...}
end

describe("hddlua surface", function()
  it("of a clean drive ends with 0, a map, classes and a verdict", function()
    local r = surface(scratch.file(8 * MiB), "--rpm", "0", "--charset", "ascii")
    assert.equal(0, r.status, r.stderr)
    assert.matches("\n%s+0 B  [.:oO@]+\n", r.stdout)
    assert.matches("below 10 ms%s+%d", r.stdout)
    assert.matches("\nverdict    clean", r.stdout)
    assert.matches("\ncovered    100.00 %% of 8.39 MB", r.stdout)
    assert.equal("", r.stderr)
  end)

  it("of a bad one ends with 1, lists the sectors, and writes mapfile, badblocks and document", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"at=5M,length=1k,error=EIO", size = 16 * MiB}
    local map, bad, json = scratch.path("map"), scratch.path("bad"), scratch.path("json")
    local r = surface(disk.path, "--rpm", "0", "--mapfile", map, "--badblocks", bad, "--json", json)
    assert.equal(1, r.status)
    assert.matches("LBA 10240 to 10241, offset 5242880, 1024 bytes, EIO", r.stdout)
    assert.equal("# unreadable blocks of 1024 bytes, from 0\n5120\n", shell.read(bad))
    local parsed = assert(mapfile.parse(assert(shell.read(map))))
    assert.same({
      {from = 0, to = 5 * MiB, state = "+"}, {from = 5 * MiB, to = 5 * MiB + 1024, state = "-"},
      {from = 5 * MiB + 1024, to = 16 * MiB, state = "+"},
    }, parsed.blocks)
    local d = assert(document.load(json))
    assert.equal(5 * MiB, d.unreadable[1].offset_bytes)
    -- The fault goes away; only what was bad is read again, and the two are laid side by side.
    disk:unmount()
    local path = scratch.file(16 * MiB)
    local later = scratch.path("json")
    local again = surface(path, "--rpm", "0", "--domain", map, "--json", later)
    assert.equal(0, again.status, again.stderr)
    assert.equal(1024, assert(document.load(later)).summary.span_bytes)
    local compared = surface("compare", json, later)
    assert.equal(0, compared.status)
    assert.matches("Gone:\n  unreadable, LBA 10240 to 10241", compared.stdout)
  end)

  it("goes on from its mapfile after Ctrl-C", function()
    needs.fuse()
    local disk <close> = faultfs.mount {"at=3M,length=512,error=EIO", "every=1M,delay=50", size = 48 * MiB}
    local map, json = scratch.path("map"), scratch.path("json")
    local arguments = {"surface", disk.path, "--rpm", "0", "--depth", "1", "--retries", "0",
                       "--mapfile", map}
    local r = process.hddlua(arguments, {events = {{after = 1.5, signal = "INT"}}})
    assert.equal(130, r.status, r.stderr)
    local d = assert(mapfile.parse(assert(shell.read(map)))).document
    assert.equal("interrupted", d.status)
    table.insert(arguments, "--json")
    table.insert(arguments, json)
    r = process.hddlua(arguments)
    assert.equal(1, r.status, r.stderr)
    d = assert(document.load(json))
    assert.equal("complete", d.status)
    assert.equal(100, d.summary.covered_percent)
    assert.equal(1, #d.interruptions)
    assert.same({3 * MiB, 512}, {d.unreadable[1].offset_bytes, d.unreadable[1].length_bytes})
    assert.matches("in 2 parts", r.stdout)
  end)

  it("refuses what cannot be, before anything is read", function()
    local path = scratch.file(MiB)
    local function refused(pattern, ...)
      local r = surface(...)
      assert.equal(2, r.status)
      assert.equal("", r.stdout)
      assert.matches(pattern, r.stderr)
    end
    refused("cannot write /no/such/map", path, "--mapfile", "/no/such/map")
    refused("cannot write", path, "--badblocks", "/no/such/list")
    refused("line 1: no mapfile", path, "--mapfile", path)
    refused("surface: /no/such/drive: No such file", "/no/such/drive")
    refused("two documents are needed", "compare", path)
    refused("it is not JSON", "compare", path, path)
  end)
end)

describe("hddlua surface compare", function()
  local function saved(rules)
    rules.size = 8 * MiB
    local disk <close> = faultfs.mount(rules)
    local json = scratch.path("json")
    surface(disk.path, "--rpm", "0", "--retries", "0", "--json", json)
    return json
  end

  it("ends with 1 when it is getting worse, else with 0", function()
    needs.fuse()
    local before = saved {"at=1M,length=512,error=EIO"}
    local after = saved {"at=1M,length=1k,error=EIO", "at=4M,length=512,error=EIO"}
    local r = surface("compare", before, after)
    assert.equal(1, r.status, r.stderr)
    assert.matches("New:\n  unreadable, LBA 8192,", r.stdout)
    assert.matches("Grown:\n  unreadable, LBA 2048 to 2049,.*was 512 bytes", r.stdout)
    assert.matches("It is getting worse: 1 new, 1 grown", r.stdout)
    r = surface("compare", after, before)
    assert.equal(0, r.status)
    assert.matches("Gone:\n  unreadable, LBA 8192,", r.stdout)
  end)
end)
