-- Zone profiles of real files, loop devices and drives that misbehave.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"
local zoneprofile = require "hdd.procedure.zoneprofile"

local KiB <const>, MiB <const> = 1 << 10, 1 << 20

local function profile(path, parameters, observer)
  local drive <close> = assert(hdd.open(path))
  local d = assert(zoneprofile.run(drive, parameters, observer))
  assert(document.validate(d))
  return d
end

local function refusal(path, parameters)
  local drive <close> = assert(hdd.open(path))
  local d, message, code = zoneprofile.run(drive, parameters)
  assert.is_nil(d)
  assert.equal(22, code)
  return message
end

describe("a zone profile", function()
  local path

  setup(function() path = scratch.file(32 * MiB) end)

  it("is a document with a zone for each place, and a summary", function()
    local d = profile(path, { count = 4, zone_size = MiB })
    assert.equal("complete", d.status)
    assert.equal(4, #d.zones)
    assert.equal(0, d.errors)
    local last = d.zones[4]
    assert.equal(32 * MiB, last.offset_bytes + last.length_bytes)
    for _, zone in ipairs(d.zones) do
      assert.equal(16, zone.ios)
      local rate = zone.length_bytes / zone.elapsed_s
      assert.is_true(math.abs(rate / zone.bandwidth_bytes_per_s - 1) < 1e-6)
      assert.is_true(zone.latency_p50_us <= zone.latency_p99_us)
      assert.is_true(zone.latency_p99_us <= zone.latency_max_us)
      assert.is_true(zone.latency_max_offset_bytes >= zone.offset_bytes)
      assert.is_true(zone.latency_max_offset_bytes < zone.offset_bytes + zone.length_bytes)
      assert.is_false(zone.flagged and zone.reason == "errors")
    end
    assert.equal(d.zones[1].bandwidth_bytes_per_s, d.summary.outer_bytes_per_s)
    assert.equal(4 * MiB, d.summary.read_bytes)
    assert.is_true(d.summary.full_read_s > 0)
    assert.is_true(d.wake_s > 0)
  end)

  it("has all parameters, and measures the same zones when they are passed back", function()
    local first = profile(path, { zone_size = MiB, zone_skip = 3 * MiB, from = "25%" })
    local p = first.parameters
    assert.same({
      block_size = 64 * KiB, depth = 2, zone_size = MiB, zone_skip = 3 * MiB, from = 8 * MiB,
      to = 32 * MiB, passes = 1, quick = false, max_errors = 1000,
    }, p)
    local again = profile(path, assert(document.decode(document.encode(first))).parameters)
    assert.same(p, again.parameters)
    for i, zone in ipairs(first.zones) do
      assert.equal(zone.offset_bytes, again.zones[i].offset_bytes)
    end
  end)

  it("in its short form has 40 zones, of a small drive all of it", function()
    local d = profile(path, { quick = true })
    assert.equal(40, #d.zones)
    assert.equal(40, d.parameters.count)
    assert.is_true(d.summary.read_bytes > 31 * MiB)
    assert.same(d.parameters, profile(path, d.parameters).parameters)
  end)

  it("of a single sector is one zone", function()
    for _, parameters in ipairs { {}, { quick = true }, { count = 1 } } do
      local d = profile(scratch.file(512), parameters)
      assert.equal(1, #d.zones)
      assert.equal(1, d.zones[1].ios)
      assert.equal(512, d.zones[1].length_bytes)
    end
  end)

  it("of several passes has the median of the rates, and the spread", function()
    local d = profile(path, { count = 3, zone_size = MiB, passes = 3 })
    for _, zone in ipairs(d.zones) do
      assert.equal(48, zone.ios)
      assert.is_true(zone.bandwidth_min_bytes_per_s <= zone.bandwidth_bytes_per_s)
      assert.is_true(zone.bandwidth_bytes_per_s <= zone.bandwidth_max_bytes_per_s)
      assert.is_true(zone.bandwidth_min_bytes_per_s < zone.bandwidth_max_bytes_per_s)
    end
    assert.equal(9 * MiB, d.summary.read_bytes)
  end)

  it("tells how far it is, and hands its document over after each zone", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "delay=6", size = 16 * MiB } -- so slow that there is time to tell
    local saved, states = 0, {}
    local d = profile(disk.path, { count = 8, zone_size = MiB, block_size = 16 * KiB, depth = 1 }, {
      save = function(so_far)
        saved = saved + 1
        assert.equal("running", so_far.status)
        assert.equal(saved, #so_far.zones)
        assert(document.validate(so_far))
      end,
      progress = function(state) states[#states + 1] = state end,
    })
    assert.equal(8, saved)
    assert.is_true(#states <= d.summary.elapsed_s * 5 + 1)
    local share = 0
    for _, state in ipairs(states) do
      if state.share then
        assert.is_true(state.share >= share and state.share <= 1)
        assert.matches("^zone %d of 8$", state.stage)
        share = state.share
      end
    end
    assert.is_true(share > 0)
  end)

  it("runs on several drives at once", function()
    local entries = hdd.each({ path, scratch.file(4 * MiB), "/no/such/drive" }, function(drive)
      return zoneprofile.run(drive, { count = 2, zone_size = MiB })
    end)
    assert.equal("complete", entries[1].result.status)
    assert.equal(4 * MiB, entries[2].result.drive.size_bytes)
    assert.matches("No such file", entries[3].message)
  end)

  it("of a cancelled task is what was measured until then", function()
    local d
    local task = hdd.task(function()
      d = profile(path, { count = 16, zone_size = 256 * KiB, depth = 1, passes = 1000 })
    end)
    hdd.sleep(0.3)
    task:cancel()
    pcall(task.wait, task)
    assert.equal("interrupted", d.status)
    assert.is_true(#d.zones > 0)
    assert(document.validate(d))
  end)

  it("raises what its observer raises, and leaves the drive usable", function()
    local drive <close> = assert(hdd.open(path))
    assert.has_error(function()
      zoneprofile.run(drive, { count = 2, zone_size = MiB },
        { save = function() error("full", 0) end })
    end)
    assert.equal("complete", assert(zoneprofile.run(drive, { count = 2, zone_size = MiB })).status)
  end)

  it("that is not possible is refused, with the reason", function()
    assert.matches("^depth: 0: must be a whole number from 1 to 4096", refusal(path, { depth = 0 }))
    assert.matches("^block_size: 1000: must be a multiple", refusal(path, { block_size = 1000 }))
    assert.matches("^block_size: 134217728: must be at most",
      refusal(path, { block_size = 128 * MiB }))
    assert.matches("^count: 3: cannot be had together", refusal(path, { count = 3, zone_skip = 0 }))
    assert.matches("^count: 33: so many zones of 1 MiB do not fit .* at most 32 do",
      refusal(path, { count = 33, zone_size = MiB }))
    assert.matches("make 131072 zones: at most 100000", refusal(scratch.file(64 * MiB),
      { zone_size = 512, zone_skip = 0, block_size = 512 }))
    assert.matches("^from: .* nothing lies between", refusal(path, { from = "50%", to = "50%" }))
    assert.matches("^zonesize: no such parameter", refusal(path, { zonesize = MiB }))
  end)
end)

describe("a zone's rate", function()
  it("is its bytes over its own time, and none of another zone's", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=9M,length=4k,delay=300", size = 16 * MiB }
    local d = profile(disk.path, { count = 4, zone_size = 4 * MiB })
    local slow = d.zones[3]
    assert.equal(8 * MiB, slow.offset_bytes)
    assert.is_true(slow.elapsed_s >= 0.3)
    assert.is_true(slow.bandwidth_bytes_per_s <= 4 * MiB / 0.3)
    assert.is_true(slow.latency_max_us >= 300000)
    assert.equal(9 * MiB, slow.latency_max_offset_bytes)
    for _, i in ipairs { 1, 2, 4 } do assert.is_true(d.zones[i].latency_max_us < 300000) end
    assert.equal(9 * MiB, d.slowest[1].offset_bytes)
  end)

  it("does not contain the way to the zone", function()
    needs.fuse()
    local before = 8 * MiB - 64 * KiB
    local disk <close> = faultfs.mount { "at=" .. before .. ",length=64k,delay=300",
      size = 16 * MiB }
    local d = profile(disk.path, { zone_size = MiB, zone_skip = 3 * MiB })
    for _, zone in ipairs(d.zones) do assert.is_true(zone.latency_max_us < 300000) end
  end)

  it("does not contain the time in which the drive wakes up", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "idle=60000,delay=700", size = 8 * MiB }
    local d = profile(disk.path, { count = 2, zone_size = MiB })
    assert.is_true(d.wake_s >= 0.7)
    for _, zone in ipairs(d.zones) do assert.is_true(zone.latency_max_us < 700000) end
  end)
end)

describe("a drive with bad sectors", function()
  it("is read on, its failures counted and listed with their place in time", function()
    needs.fuse()
    local disk <close> = faultfs.mount {
      "at=5M,length=512,error=EIO", "at=9M,length=200k,error=ENODATA", size = 16 * MiB,
    }
    local d = profile(disk.path, { count = 4, zone_size = 4 * MiB })
    assert.equal("complete", d.status)
    assert.is_true(d.errors >= 5 and d.errors <= 6)
    assert.equal(d.errors, #d.failures)
    assert.equal(5 * MiB, d.failures[1].offset_bytes)
    assert.equal("EIO", d.failures[1].error)
    assert.equal("ENODATA", d.failures[2].error)
    assert.is_true(d.failures[1].time_s >= d.zones[2].time_s)
    assert.is_true(d.failures[1].time_s <= d.zones[2].time_s + d.zones[2].elapsed_s + 0.1)
    for i, reason in ipairs { false, "errors", "errors", false } do
      assert.equal(reason, d.zones[i].reason == "errors" and "errors")
    end
    assert.equal(256 - d.errors, d.zones[1].ios + d.zones[2].ios + d.zones[3].ios + d.zones[4].ios)
  end)

  it("is spared after max_errors", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=6M,error=EIO", size = 16 * MiB }
    local d = profile(disk.path, { count = 4, zone_size = 4 * MiB, max_errors = 10 })
    assert.equal("failed", d.status)
    assert.is_true(d.errors >= 10 and d.errors <= 12)
    assert.matches("too many read errors", d.warnings[1])
    assert.equal(2, #d.zones)
  end)
end)

describe("a drive that is lost", function()
  it("ends the profile, which keeps what was measured", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=9M,error=ENODEV", size = 16 * MiB }
    local d = profile(disk.path, { count = 4, zone_size = 4 * MiB })
    assert.equal("failed", d.status)
    assert.equal(0, d.errors)
    assert.equal("device lost at offset " .. 9 * MiB, d.warnings[1])
    -- Of the third zone a quarter was read: it tells something.
    assert.equal(3, #d.zones)
    assert.equal(MiB, d.zones[3].length_bytes)
  end)

  it("does not leave a zone of which next to nothing was read", function()
    needs.fuse()
    local disk <close> = faultfs.mount { "at=8M,error=ENODEV", size = 16 * MiB }
    local d = profile(disk.path, { count = 4, zone_size = 4 * MiB })
    assert.equal("failed", d.status)
    assert.equal(2, #d.zones)
  end)
end)

describe("the geometry of a drive", function()
  it("of 4096-byte sectors is kept to, and smaller reads are refused", function()
    needs.loop()
    local disk <close> = loop.attach(scratch.file(64 * MiB), { block_size = 4096 })
    local d = profile(disk.path)
    assert.equal(1, #d.zones)
    assert.equal(4096, d.drive.logical_block_size_bytes)
    assert.matches("block_size: 512: must be a multiple of .* 4096 bytes",
      refusal(disk.path, { block_size = 512 }))
    assert.matches("from: 512: must be a multiple of .* 4096 bytes",
      refusal(disk.path, { from = 512 }))
  end)

  it("that is no multiple of the block is read to the last sector, and not beyond", function()
    needs.fuse()
    needs.loop()
    local size = 8 * MiB + 3 * 512
    local disk <close> = faultfs.mount { size = size, loop = true }
    local d = profile(disk.path, { zone_size = MiB, zone_skip = 0 })
    local last = d.zones[#d.zones]
    assert.equal(size, last.offset_bytes + last.length_bytes)
    local most = 0
    for _, read in ipairs(disk:reads()) do
      assert.is_true(read.result >= 0)
      most = math.max(most, read.offset + read.length)
    end
    assert.is_true(most >= size and most < size + 4096)
  end)

  it("of 40 TiB is measured to its end", function()
    needs.loop()
    local disk <close> = loop.attach(scratch.sparse(40 << 40))
    local d = profile(disk.path, { count = 5, zone_size = MiB })
    assert.equal(40 << 40, d.zones[5].offset_bytes + d.zones[5].length_bytes)
    assert.is_true(math.abs(d.zones[2].offset_bytes - (10 << 40)) <= MiB)
  end)
end)

describe("areas that were never written", function()
  it("are marked on flash, and left out of the summary", function()
    needs.loop()
    local path = scratch.file(32 * MiB)
    shell.must(("truncate -s %d %s"):format(64 * MiB, path))
    local disk <close> = loop.attach(path)
    shell.must(("echo 0 > /sys/block/%s/queue/rotational"):format(disk.name))
    local d = profile(disk.path, { count = 8, zone_size = 4 * MiB })
    for i, zone in ipairs(d.zones) do assert.equal(i > 4, zone.reason == "unwritten") end
    assert.equal(d.zones[4].bandwidth_bytes_per_s, d.summary.inner_bytes_per_s)
    assert.is_nil(d.summary.full_read_s)
    assert.matches("4 of 8 zones hold nothing but zeros", table.concat(d.warnings, "\n"))
  end)

  it("count when the drive is said to turn and is no faster there than a disk may be", function()
    needs.fuse()
    -- 5 ms a read: 26 MB/s at most.
    local backing = scratch.path("zeros")
    shell.must("head -c 4194304 /dev/zero > " .. backing)
    local disk <close> = faultfs.mount { "delay=5", backing = backing }
    local d = profile(disk.path, { count = 4, zone_size = MiB, rpm = 7200 })
    for _, zone in ipairs(d.zones) do assert.not_equal("unwritten", zone.reason) end
    assert.matches("4 of 4 zones hold nothing but zeros; they are no faster than a disk",
      d.warnings[1])
    d = profile(disk.path, { count = 4, zone_size = MiB, rpm = 0 })
    for _, zone in ipairs(d.zones) do assert.equal("unwritten", zone.reason) end
  end)
end)

describe("what is no measurement of the drive alone", function()
  it("is a warning: reads through the page cache, once", function()
    local drive <close> = assert(hdd.open(scratch.file(4 * MiB), { buffered = true }))
    local d = assert(zoneprofile.run(drive, { count = 4, zone_size = MiB }))
    assert.equal(1, #d.warnings)
    assert.matches("page cache", d.warnings[1])
  end)

  it("is a warning: a file in memory", function()
    local path = scratch.sparse(4 * MiB)
    local drive = hdd.open(path)
    if not drive then return pending("no direct reads of tmpfs on this kernel") end
    local d = assert(zoneprofile.run(drive, { count = 2, zone_size = MiB }))
    drive:close()
    assert.matches("lies in memory", table.concat(d.warnings, "\n"))
  end)

  it("is a warning: other programs' reads", function()
    needs.loop()
    local disk <close> = loop.attach(scratch.file(64 * MiB))
    local command = "dd if=%s of=/dev/null bs=1M iflag=direct status=none"
    local d = profile(disk.path, { count = 2, zone_size = MiB }, {
      save = function() shell.must(command:format(disk.path)) end,
    })
    assert.is_true(d.foreign.read_bytes >= 2 * 64 * MiB)
    assert.matches("other programs read", table.concat(d.warnings, "\n"))
  end)
end)
