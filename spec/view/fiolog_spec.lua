-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- A zone profile in the format of fio's bandwidth log.
local document = require "hdd.document"
local fiolog = require "hdd.view.fiolog"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local shell = require "spec.support.shell"

local function example()
  return assert(document.load "spec/fixtures/documents/zoneprofile.json")
end

local function lines_of(s)
  local lines = {}
  for line in s:gmatch("(.-)\n") do lines[#lines + 1] = line end
  return lines
end

describe("a log in fio's format", function()
  it("has a line for each zone: ms, KiB/s, direction, block size, offset, priority", function()
    local lines = lines_of(fiolog.bandwidth(example()))
    assert.equal(32, #lines)
    assert.equal("1732, 151341, 0, 65536, 0, 0", lines[1])
    assert.equal("3482, 150880, 0, 65536, 19350224896, 0", lines[2])
  end)

  it("has the lines that docs/documents.md shows", function()
    local page = shell.read "docs/documents.md"
    local lines = lines_of(fiolog.bandwidth(example()))
    assert.truthy(page:find("    " .. lines[1] .. "\n    " .. lines[2] .. "\n", 1, true))
  end)

  it("has the columns and separators of fio's own", function()
    needs.program "fio"
    local home <close> = place.new()
    shell.must("cd " .. home.folder .. " && fio --name=x --filename=f --size=1m --bs=64k --rw=read "
      .. "--write_bw_log=own --log_offset=1")
    local theirs = assert(shell.read(home.folder .. "/own_bw.1.log"))
    assert.equal("own_bw.1.log", fiolog.file_name "own")
    local function shape(line) return (line:gsub("%d+", "N")) end
    assert.equal(shape(lines_of(theirs)[2]), shape(lines_of(fiolog.bandwidth(example()))[2]))
  end)

  it("goes forward in time, also where the times are missing", function()
    local d = example()
    for _, zone in ipairs(d.zones) do zone.time_s = nil end
    local before = -1
    for _, line in ipairs(lines_of(fiolog.bandwidth(d))) do
      local ms = math.tointeger(tonumber(line:match("^(%d+), ")))
      assert.is_true(ms > before)
      before = ms
    end
  end)

  it("has no line for a zone without a rate", function()
    local d = example()
    d.zones[1].bandwidth_bytes_per_s, d.zones[2].bandwidth_bytes_per_s = nil, 0 / 0
    d.zones[3].offset_bytes = nil
    assert.equal(29, #lines_of(fiolog.bandwidth(d)))
    d.zones = {}
    assert.equal("", fiolog.bandwidth(d))
  end)

  it("is made of zone profiles only", function()
    local s, message = fiolog.bandwidth(assert(document.load "spec/fixtures/documents/qdsweep.json"))
    assert.is_nil(s)
    assert.truthy(message:find("qdsweep", 1, true))
  end)
end)
