-- The seek profile's script as a person runs it.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local hddsim = require "spec.support.hddsim"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"

local MiB <const> = 1 << 20

describe("hddlua seekprofile", function()
  it("explains itself", function()
    local r = process.hddlua { "seekprofile", "--help" }
    assert.equal(0, r.status)
    assert.matches("default: 24", r.stdout)
    assert.matches("Example: hddlua seekprofile /dev/sdX", r.stdout)
  end)

  it("of a file says what does not apply, and ends with 0", function()
    local json = scratch.path("json")
    local r = process.hddlua { "seekprofile", scratch.file(8 * MiB), "--accesses", "50", "--json", json }
    assert.equal(0, r.status, r.stderr)
    assert.matches("do not apply", r.stdout)
    assert.matches("\naccess     ", r.stdout)
    assert.equal("", r.stderr)
    local d, complaints = assert(document.load(json))
    assert.same({}, complaints)
    assert.equal("hddlua.seekprofile/1", d.schema)
  end)

  it("refuses what cannot be", function()
    local r = process.hddlua { "seekprofile", scratch.file(MiB), "--samples", "1" }
    assert.equal(2, r.status)
    assert.matches("samples: 1: must be a whole number from 4", r.stderr)
    assert.equal("", r.stdout)
  end)

  it("ends with 130 after Ctrl-C, and what was measured is saved", function()
    needs.hddsim()
    local json = scratch.path("json")
    local disk <close> = hddsim.start("tiny")
    local r = process.hddlua({ "seekprofile", disk.path, "--json", json, "--charset", "ascii" },
      { timeout = 60, events = { { after = 3.5, signal = "INT" } } })
    assert.equal(130, r.status, r.stderr)
    local d = assert(document.load(json))
    assert.equal("interrupted", d.status)
    assert.is_true(#d.rates >= 1)
    assert.matches("Interrupted: what was measured until then", r.stdout)
  end)
end)
