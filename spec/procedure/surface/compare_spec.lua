-- Two scans of one drive.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local compare = require "hdd.procedure.surface.compare"

local SIZE <const> = 1 << 30

local function range(offset, length, more)
  local entry = { offset_bytes = offset, length_bytes = length, exact = true }
  for key, value in pairs(more or {}) do entry[key] = value end
  return entry
end

local function scan(unreadable, slow, coverage)
  return {
    drive = { model = "DISK", serial = "A1", size_bytes = SIZE }, unreadable = unreadable,
    slow = slow,
    coverage = coverage or { { offset_bytes = 0, length_bytes = SIZE, status = "read" } },
  }
end

-- The changes as "kind offset", by what they are.
local function told(old, new)
  local changes = assert(compare.scans(old, new))
  local lists = { worse = changes.worse }
  for _, key in ipairs { "new", "gone", "grown", "slower", "untried", "same" } do
    local words = {}
    for i, change in ipairs(changes[key]) do words[i] = change.kind .. " " .. change.offset_bytes end
    lists[key] = table.concat(words, ", ")
  end
  return lists, changes
end

describe("comparing two scans", function()
  it("finds nothing in what is alike", function()
    local d = scan({ range(512, 512) }, { range(8192, 512, { revolutions = 3 }) })
    local found = told(d, d)
    assert.is_false(found.worse)
    assert.equal("unreadable 512, slow 8192", found.same)
    assert.equal("", found.new .. found.gone .. found.grown .. found.slower)
  end)

  it("tells what is new, gone, grown and slower", function()
    local found, changes = told(
      scan({ range(512, 512), range(4096, 512) }, { range(8192, 512, { revolutions = 2 }) }),
      scan({ range(4096, 1024), range(65536, 512) }, { range(8192, 512, { revolutions = 5 }) }))
    assert.is_true(found.worse)
    assert.equal("unreadable 65536", found.new)
    assert.equal("unreadable 512", found.gone)
    assert.equal("unreadable 4096", found.grown)
    assert.equal("slow 8192", found.slower)
    assert.equal(2, changes.slower[1].was_revolutions)
    assert.equal(512, changes.grown[1].was_length_bytes)
  end)

  it("does not call a slow range gone that cannot be read any more", function()
    local found = told(scan({}, { range(8192, 512) }), scan({ range(8192, 512) }, {}))
    assert.equal("", found.gone)
    assert.equal("unreadable 8192", found.new)
    assert.is_true(found.worse)
  end)

  it("calls nothing new that lies where the earlier scan had not read, nor gone where the later",
    function()
    local half = { { offset_bytes = 0, length_bytes = SIZE // 2, status = "read" },
      { offset_bytes = SIZE // 2, length_bytes = SIZE // 2, status = "untried" } }
    local bad = { range(SIZE - 512, 512) }
    local found = told(scan({}, {}, half), scan(bad, {}))
    assert.equal("unreadable " .. SIZE - 512, found.untried)
    assert.equal("", found.new)
    assert.is_false(found.worse)
    assert.equal("", told(scan(bad, {}), scan({}, {}, half)).gone)
  end)

  it("goes by the latency where there are no turns", function()
    local function slow(ms) return scan({}, { range(0, 512, { latency_us = ms * 1000 }) }) end
    assert.equal("slow 0", told(slow(100), slow(200)).slower)
    assert.equal("slow 0", told(slow(100), slow(110)).same)
  end)

  it("of two drives is refused", function()
    local other = scan({}, {})
    other.drive.serial = "B2"
    local changes, message = compare.scans(scan({}, {}), other)
    assert.is_nil(changes)
    assert.matches("two drives: serial A1 and B2", message)
  end)
end)
