-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- review: parts are kept, the review goes on with what is missing, and only for the same drive.
local document = require "hdd.document"
local hdd = require "hdd"
local lfs = require "lfs"
local place = require "spec.support.place"
local process = require "spec.support.process"
local results = require "hdd.cli.review"
local review = require "hdd.procedure.review"
local shell = require "spec.support.shell"

local SHORT <const> = {
  qdsweep = { depths = { 1, 2 }, block_sizes = { 4096 }, ramp = 0, runtime = 0.05 },
  zoneprofile = { count = 16, zone_size = 1 << 20 },
}

-- A file of a size with something in it, in place of a drive.
local function drive_file(home, name, megabytes)
  local path = home:path(name)
  shell.must(("head -c %dM /dev/urandom > %s"):format(megabytes, path))
  return path
end

local function open(path)
  return assert(hdd.open(path, { buffered = true }))
end

describe("a review", function()
  it("measures the parts of several drives in turn", function()
    local home <close> = place.new()
    local a <close> = open(drive_file(home, "a", 32))
    local b <close> = open(drive_file(home, "b", 32))
    local order = {}
    local entries = assert(review.run({ a, b }, SHORT, {
      part = function(drive, part, d)
        order[#order + 1] = part .. (drive == a and " a" or " b")
        assert.equal("complete", d.status)
      end,
    }))
    assert.same({ "qdsweep a", "qdsweep b", "zoneprofile a", "zoneprofile b" }, order)
    assert.equal(1, #entries[1].notes) -- a file says nothing of itself
    assert.is_nil(entries[1].over)
  end)

  it("measures only what is missing", function()
    local home <close> = place.new()
    local a <close> = open(drive_file(home, "a", 32))
    local first = assert(review.run({ a }, SHORT))
    local made = {}
    local again = assert(review.run({ a }, SHORT, { part = function(_, part) made[#made + 1] = part end },
      { [a] = { qdsweep = first[1].parts.qdsweep } }))
    assert.same({ "zoneprofile" }, made)
    assert.equal(first[1].parts.qdsweep, again[1].parts.qdsweep)
  end)

  it("takes no part of another drive, nor one measured otherwise", function()
    local home <close> = place.new()
    local a <close> = open(drive_file(home, "a", 32))
    local folder = home:path "review"
    local folders, have = assert(results.open(folder, { a }, SHORT))
    assert.same({ [a] = {} }, have)
    local entries = assert(review.run({ a }, SHORT))
    local d = entries[1].parts.zoneprofile
    assert(results.save(folders[a], "zoneprofile", d))
    assert.equal(d.started_at, select(2, assert(results.open(folder, { a }, SHORT)))[a].zoneprofile.started_at)

    local _, why = results.open(folder, { a }, { zoneprofile = { count = 8, zone_size = 1 << 20 } })
    assert.matches("it was measured with count 16, and now it is 8: name another folder", why)
    d.drive.size_bytes = 5 << 20
    assert(results.save(folders[a], "zoneprofile", d))
    _, why = results.open(folder, { a }, SHORT)
    assert.matches("it is of another drive: size_bytes 5242880", why)
  end)

  it("keeps a part that was interrupted, and does not count it", function()
    local home <close> = place.new()
    local a <close> = open(drive_file(home, "a", 32))
    local folder = home:path "review"
    local folders = assert(results.open(folder, { a }, SHORT))
    local d = assert(document.load "spec/fixtures/documents/qdsweep.json")
    d.status = "interrupted"
    assert(results.save(folders[a], "qdsweep", d))
    assert.equal("file", lfs.attributes(folders[a] .. "/qdsweep-incomplete.json", "mode"))
    local _, have = results.open(folder, { a }, SHORT)
    assert.same({}, have[a])
  end)

  it("ends in a page and, against others, in a comparison", function()
    local home <close> = place.new()
    local path, folder = drive_file(home, "a", 32), home:path "review"
    local argv = { "build/hddlua", "review", path, "--buffered", "--folder", folder, "--ramp", "0", "--runtime", "0.05",
      "--zone-size", "512k", "--zone-skip", "512k" }
    local run = process.run(argv, { timeout = 60 })
    assert.equal(0, run.status, run.stderr)
    assert.matches("report.html has all of it", run.stderr)
    assert.matches("^<!DOCTYPE html>", shell.read(folder .. "/report.html"))
    local own = shell.must(("dirname %s/*/qdsweep.json"):format(folder))
    local before = lfs.attributes(own .. "/qdsweep.json", "modification")
    table.move({ "--against", own }, 1, 2, #argv + 1, argv)
    run = process.run(argv, { timeout = 60 })
    assert.equal(0, run.status, run.stderr)
    assert.matches("the same run: nothing can differ", (run.stdout:gsub("%s+", " ")))
    assert.equal(before, lfs.attributes(own .. "/qdsweep.json", "modification"))
    local comparison = assert(document.load(folder .. "/comparison.json"))
    assert.equal("no difference shown", comparison.comparisons[1].verdict)
  end)
end)
