-- Seek profiles of what does not turn, of reads that fail, and of runs that are ended.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local needs = require "spec.support.needs"
local report = require "hdd.view.report"
local scratch = require "spec.support.scratch"
local seekprofile = require "hdd.procedure.seekprofile"

local MiB <const> = 1 << 20

local function profile(path, parameters, observer)
  local drive <close> = assert(hdd.open(path))
  local d = assert(seekprofile.run(drive, parameters, observer))
  assert(document.validate(d))
  return d
end

describe("a seek profile of what does not turn", function()
  local path

  setup(function() path = scratch.file(16 * MiB) end)

  it("says what does not apply, and gives access times and the rate of repeated reads", function()
    local d = profile(path, { accesses = 100 })
    assert.equal("complete", d.status)
    assert.is_nil(d.rotation)
    assert.is_nil(d.fit)
    assert.same({}, d.seeks)
    for _, key in ipairs { "rpm", "seek_average_us", "seek_full_stroke_us", "read_ahead_bytes" } do
      assert.is_nil(d.summary[key])
    end
    assert.equal(1, #d.does_not_apply)
    assert.matches("No turning was found.*do not apply", d.does_not_apply[1])
    assert.equal(100, d.access.ios)
    assert.is_true(d.summary.access_average_us > 0)
    assert.is_true(d.buffer.reread_us > 0)
    assert.is_nil(d.buffer.hit)
    local text = assert(report.text(d, { width = 80 }))
    assert.matches("rotation%s+speed,%s+seek%s+times,%s+average%s+seek%s+and%s+seek%s+curve%s+do%s+not%s+apply", text)
    assert.not_matches("rpm %(measured", text)
  end)

  it("is not looked at for turning when it is said not to turn", function()
    local d = profile(path, { accesses = 10, rpm = 0 })
    assert.is_false(d.rotating)
    assert.matches("It does not turn", d.does_not_apply[1])
  end)

  it("believes a turn that is given, warns, and says that there are too few tracks", function()
    local d = profile(path, { accesses = 10, rpm = 7200 })
    assert.equal("given", d.rotation.source)
    assert.equal(7200, d.rotation.stated_rpm)
    assert.is_nil(d.rotation.deviation_percent)
    assert.matches("could not be measured: 7200 rpm are believed %(rpm was given%)", d.warnings[1])
    assert.matches("too small for a seek curve", d.does_not_apply[1])
  end)

  it("reads the same places again by its parameters", function()
    needs.fuse()
    local disk <close> = faultfs.mount { size = 16 * MiB }
    local function places(parameters)
      local before = #disk:reads()
      local d = profile(disk.path, parameters)
      local offsets = {}
      -- The first read wakes the drive; where is up to chance.
      for i, read in ipairs(disk:reads()) do
        if i > before + 1 then offsets[#offsets + 1] = read.offset end
      end
      table.sort(offsets)
      return offsets, d.parameters
    end
    local first, parameters = places { accesses = 50, seed = 7, rpm = 0 }
    assert.same(first, (places(parameters)))
    parameters.seed = 8
    assert.not_same(first, (places(parameters)))
  end)

  it("stays inside its range, on logical blocks", function()
    needs.fuse()
    local disk <close> = faultfs.mount { size = 16 * MiB }
    profile(disk.path, { accesses = 50, from = 4 * MiB, to = 8 * MiB + 1536 })
    for _, read in ipairs(disk:reads()) do
      assert.is_true(read.offset >= 4 * MiB and read.offset + read.length <= 8 * MiB + 4096)
      assert.equal(0, read.offset % 512)
    end
  end)
end)

describe("a seek profile with reads that fail", function()
  it("counts them, leaves them out of the numbers, and goes on", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=4M,length=2M,error=EIO", size = 16 * MiB }
    local d = profile(disk.path, { accesses = 100, rpm = 0 })
    assert.equal("complete", d.status)
    assert.is_true(d.errors > 0)
    assert.equal(100, d.access.ios + d.access.errors)
    assert.is_true(d.access.errors > 0 and d.access.errors < 50)
    assert.is_true(#d.rates >= 6 and #d.rates < 9)
    for _, failure in ipairs(d.failures) do
      assert.is_true(failure.offset_bytes + failure.length_bytes > 4 * MiB and failure.offset_bytes < 6 * MiB)
    end
  end)

  it("spares the drive the rest when there are too many", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=4M,length=12M,error=EIO", size = 16 * MiB }
    local d = profile(disk.path, { max_errors = 5, rpm = 0 })
    assert.equal("failed", d.status)
    assert.is_true(d.errors >= 5 and d.errors <= 8)
    assert.matches("too many read errors", table.concat(d.warnings, "\n"))
  end)

  it("fails, with a reason, where nothing can be read", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=0,length=16M,error=EIO", size = 16 * MiB }
    local d = profile(disk.path, {})
    assert.equal("failed", d.status)
    assert.matches("no part of the range can be read at all", table.concat(d.warnings, "\n"))
  end)

  it("keeps what was measured when the drive is gone", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "delay=1", size = 16 * MiB }
    local saved
    local d = profile(disk.path, { accesses = 5000, rpm = 0 }, {
      save = function(doc)
        if not saved and doc.access and doc.access.ios >= 100 then
          saved = doc.access.ios
          disk:kill()
        end
      end,
    })
    assert.equal("failed", d.status)
    assert.is_true(d.access.ios >= saved and d.access.ios < 5000)
    assert.matches("lost", table.concat(d.warnings, "\n"))
  end)
end)

describe("the parameters of a seek profile", function()
  it("are refused by name when they are not possible", function()
    local drive <close> = assert(hdd.open(scratch.file(MiB)))
    for _, case in ipairs {
      { { samples = 3 }, "^samples: 3: must be a whole number from 4" },
      { { distances = 5 }, "^distances: 5" }, { { accesses = 0 }, "^accesses: 0" },
      { { block_size = 100 }, "^block_size: 100: must be a multiple" },
      { { block_size = 2 * MiB }, "^block_size: 2097152: must be at most 1048576" },
      { { to = 63 * 512 }, "^to: 32256: the range must hold 64 blocks" },
      { { depth = 2 }, "^depth: no such parameter" },
    } do
      local d, message, code = seekprofile.run(drive, case[1])
      assert.is_nil(d)
      assert.matches(case[2], message)
      assert.equal(22, code)
    end
  end)
end)
