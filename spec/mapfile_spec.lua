-- ddrescue's mapfile and the list of badblocks.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local mapfile = require "hdd.mapfile"
local needs = require "spec.support.needs"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

-- As ddrescue 1.27 writes it.
local DDRESCUE <const> = [[
# Mapfile. Created by GNU ddrescue version 1.27
# Command line: ddrescue -d /dev/sdb img map
# Start time:   2026-11-30 20:00:00
# Current time: 2026-11-30 20:00:05
# Copying non-tried blocks... Pass 1 (forwards)
# current_pos  current_status  current_pass
0x00120000     ?               1
#      pos        size  status
0x00000000  0x00117000  +
0x00117000  0x00000200  -
0x00117200  0x00001000  *
0x00118200  0x00007E00  /
0x00120000  0x2540000000  ?
]]

local function refused(text, pattern)
  local map, message = mapfile.parse(text)
  assert.is_nil(map)
  assert.matches(pattern, message)
end

local function document(more)
  local d = {
    schema = "hddlua.surface/1", parameters = { from = 0, to = 1 << 20 },
    coverage = {
      { offset_bytes = 0, length_bytes = 4096, status = "read" },
      { offset_bytes = 4096, length_bytes = 512, status = "unreadable" },
      { offset_bytes = 4608, length_bytes = 4096, status = "failed" },
      { offset_bytes = 8704, length_bytes = 65536, status = "read" },
    },
    slow = { { offset_bytes = 16384, length_bytes = 1024 } }, suspects = {},
  }
  for key, value in pairs(more or {}) do d[key] = value end
  return d
end

describe("a mapfile", function()
  it("of ddrescue is read, comments and all", function()
    local map = assert(mapfile.parse(DDRESCUE))
    assert.equal(0x120000, map.position)
    assert.equal("?", map.status)
    assert.equal(1, map.pass)
    assert.equal(5, #map.blocks)
    assert.same({ from = 0x117000, to = 0x117200, state = "-" }, map.blocks[2])
    assert.equal(0x120000 + 0x2540000000, map.blocks[5].to)
    assert.is_nil(map.document)
  end)

  it("comes back from being written", function()
    local blocks = assert(mapfile.parse(DDRESCUE)).blocks
    assert.same(blocks, assert(mapfile.parse(mapfile.format(blocks))).blocks)
  end)

  it("may be an old one, without the pass, with decimal numbers and other ends of line", function()
    local map = assert(mapfile.parse("0 +\r\n0 1024 +\r\n1024\t512 -\r\n"))
    assert.same({ { from = 0, to = 1024, state = "+" }, { from = 1024, to = 1536, state = "-" } },
      map.blocks)
  end)

  it("that is none is refused, with the line", function()
    refused("", "no mapfile: it is empty")
    refused("# nothing\n", "no mapfile: it is empty")
    refused("0 +\n", "it has no blocks")
    refused("hello world\n", "^line 1: no mapfile")
    refused("0 x\n0 1 +\n", "^line 1: no mapfile")
    refused("0 +\n0 10 %\n", "^line 2: position, size")
    refused("0 +\n0 0 +\n", "^line 2: position, size")
    refused("0 +\n0 10 + more\n", "^line 2: position, size")
    refused("0 +\n# c\n0 10 +\n11 10 +\n", "^line 4: the block must begin .* at 0xA")
    refused("0 +\n0 10 +\n5 10 +\n", "^line 3: the block must begin")
    refused("0 +\n0x10000000000000000 10 +\n", "^line 2")
    refused("0 +\n0x7FFFFFFFFFFFFFFF 10 +\n", "^line 2")
  end)

  it("of a scan has what was read, what cannot be, and slow or unread as not tried", function()
    assert.same({
      { from = 0, to = 4096, state = "+" }, { from = 4096, to = 4608, state = "-" },
      { from = 4608, to = 8704, state = "*" }, { from = 8704, to = 16384, state = "+" },
      { from = 16384, to = 17408, state = "?" }, { from = 17408, to = 74240, state = "+" },
      { from = 74240, to = 1 << 20, state = "?" },
    }, mapfile.blocks(document()))
  end)

  it("holds the document, unless the blocks were changed since", function()
    local d = document()
    local text = mapfile.format(mapfile.blocks(d), { document = d, comments = { "a\nb" } })
    local map = assert(mapfile.parse(text))
    assert.same(d.coverage, map.document.coverage)
    map = assert(mapfile.parse((text:gsub("(0x00000000  0x00001000  )%+", "%1?"))))
    assert.is_nil(map.document)
    map = assert(mapfile.parse((text:gsub("(# hddlua.surface/1 ).-\n", "%1{broken\n"))))
    assert.is_nil(map.document)
  end)

  it("as a domain is all that is not finished", function()
    assert.same({
      { offset_bytes = 0x117000, length_bytes = 0x200 + 0x1000 + 0x7E00 + 0x2540000000 },
    }, mapfile.domain(assert(mapfile.parse(DDRESCUE))))
    local d = document { parameters = { from = 0, to = 1 << 20, domain = {
      { offset_bytes = 0, length_bytes = 8192 } } } }
    local map = assert(mapfile.parse(mapfile.format(mapfile.blocks(d), { document = d })))
    assert.same({ { offset_bytes = 4096, length_bytes = 4096 } }, mapfile.domain(map))
  end)

  it("of ours is one to ddrescuelog", function()
    needs.program("ddrescuelog")
    local path = scratch.path("map")
    local d = document()
    local file <close> = assert(io.open(path, "w"))
    assert(file:write(mapfile.format(mapfile.blocks(d), { document = d })))
    file:flush()
    assert.equal("8\n9\n10\n11\n12\n13\n14\n15\n16",
      (shell.must("ddrescuelog -b 512 -l -* " .. path)))
    local status = shell.must("ddrescuelog -t " .. path)
    assert.matches("bad%-sector:%s+512 B", status)
  end)
end)

describe("a list of bad blocks", function()
  local ranges = { { offset_bytes = 512, length_bytes = 512 }, { offset_bytes = 1023, length_bytes = 2 },
    { offset_bytes = 10240, length_bytes = 2048 } }

  it("has each block once, and tells its unit", function()
    assert.equal("# unreadable blocks of 1024 bytes, from 0\n0\n1\n10\n11\n", mapfile.badblocks(ranges))
    assert.equal("# unreadable blocks of 4096 bytes, from 0\n0\n2\n",
      mapfile.badblocks(ranges, 4096))
    assert.equal("# unreadable blocks of 1024 bytes, from 0\n", mapfile.badblocks({}))
  end)

  it("is read, in any order", function()
    assert.same({ { offset_bytes = 0, length_bytes = 2048 }, { offset_bytes = 10240, length_bytes = 1024 } },
      mapfile.parse_badblocks("# comment\n10\n1\n0\n1\n"))
    local none, message = mapfile.parse_badblocks("1\n-2\n")
    assert.is_nil(none)
    assert.matches("^line 2", message)
  end)

  it("beyond 2^32 blocks keeps its numbers", function()
    local far = { { offset_bytes = (1 << 33) * 1024, length_bytes = 1024 } }
    assert.matches("\n8589934592\n", mapfile.badblocks(far))
    assert.same(far, mapfile.parse_badblocks(mapfile.badblocks(far)))
  end)
end)
