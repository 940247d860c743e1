-- The burn-in in the drive lab: a host-managed zoned drive, and a SATA drive with SMART and self-tests.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local document = require "hdd.document"
local lab = require "spec.support.lab"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local MiB <const> = 1 << 20

local SCRIPT <const> = [[
dd if=/dev/zero of=/dev/lab/d0 bs=1M count=10 oflag=direct 2>/dev/null
dd if=/dev/zero of=/dev/lab/d0 bs=1M count=5 seek=128 oflag=direct 2>/dev/null
%s burnin /dev/lab/d0 /dev/lab/d1 --stress 0.3 --no-contention --zone-count 2 --sweep-runtime 0.2 \
  --state %s/ --json %s
]]

describe("a burn-in in the lab #realtime", function()
  it("reads a zoned drive up to its write pointers, and asks a SATA drive for its own word", function()
    needs.lab()
    local home <close> = place.new()
    local folder, script = home:path("results"), home:path("script")
    shell.must("mkdir " .. folder)
    do
      local file <close> = assert(io.open(script, "w"))
      assert(file:write(SCRIPT:format(process.interpreter, folder .. "/states", folder)))
    end
    local r = lab.run({ "null_blk,gb=1,zoned=1,zone_size=64,zone_nr_conv=1", "ata" }, { "sh", script },
      { rw = folder, timeout = 400 })
    local by_kind = {}
    for path in shell.run("ls " .. folder .. "/*.json"):gmatch("[^\n]+") do
      local d = assert(document.load(path))
      by_kind[d.zoned and "zoned" or "ata"] = d
    end
    local zoned, ata = by_kind.zoned, by_kind.ata
    assert.is_table(zoned, r.stdout .. r.stderr)
    assert.is_table(ata, r.stdout .. r.stderr)
    assert.equal("PASS", zoned.verdict.status)
    assert.same({
      { offset_bytes = 0, length_bytes = 64 * MiB }, { offset_bytes = 128 * MiB, length_bytes = 5 * MiB },
    }, zoned.zoned.ranges)
    assert.equal(16, zoned.zoned.zones)
    for _, phase in ipairs(zoned.phases) do
      if phase.kind == "surface" then assert.equal(69 * MiB, phase.covered_bytes) end
      if phase.kind == "baseline" then assert.equal("skipped", phase.status) end
      if phase.kind == "stress" then assert.equal(0, phase.errors) end
    end
    assert.equal("complete", ata.status)
    assert.is_true(#ata.smart >= 5)
    for _, phase in ipairs(ata.phases) do
      assert.equal("complete", phase.status, phase.name .. ": " .. (phase.message or ""))
      if phase.kind == "selftest" then assert.equal("passed", phase.result) end
    end
    assert.is_not_nil(ata.health.before.identity)
  end)
end)
