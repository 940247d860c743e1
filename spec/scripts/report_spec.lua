-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- `hddlua report`, run the way a person runs it.
local file = require "hdd.file"
local place = require "spec.support.place"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local ZONES <const>, SWEEP <const> = "spec/fixtures/documents/zoneprofile.json", "spec/fixtures/documents/qdsweep.json"

local function report(...)
  return process.hddlua {"report", ...}
end

describe("report", function()
  local home

  before_each(function() home = place.new() end)
  after_each(function() home:close() end)

  it("explains itself, with an example", function()
    local r = report "--help"
    assert.equal(0, r.status)
    assert.matches("Example: hddlua report", r.stdout)
    assert.matches("%-%-output FILE", r.stdout)
  end)

  it("makes a page of documents, and says nothing", function()
    local path = home:path("page")
    local r = report(ZONES, SWEEP, "--output", path)
    assert.same({0, "", ""}, {r.status, r.stdout, r.stderr})
    local bytes = shell.read(path)
    assert.matches("^<!DOCTYPE html>", bytes)
    assert.matches("<title>WDC WD6000HLHX%-01JJPV0</title>", bytes)
    assert.matches("Random reads by queue depth", bytes)
  end)

  it("writes to standard output, with a title of one's own, without pictures", function()
    local r = report(ZONES, "--output", "-", "--title", "Before & after", "--no-pictures")
    assert.equal(0, r.status, r.stderr)
    assert.matches("<title>Before &amp; after</title>", r.stdout)
    assert.not_matches("<noscript>", r.stdout)
  end)

  it("overwrites a file only when asked to, and never a document that it reads", function()
    local path = home:path("page")
    assert(file.write(path, "mine"))
    local r = report(ZONES, "--output", path)
    assert.equal(2, r.status)
    assert.equal("mine", shell.read(path))
    assert.equal(0, report(ZONES, "--output", path, "--force").status)
    assert.equal(2, report(ZONES, "--output", ZONES, "--force").status)
  end)

  it("refuses what is no document, with the reason", function()
    for text, why in pairs {
      ["{}"] = "no result of hddlua", [""] = "", ["{\"schema\":\"hddlua.zoneprofile/1\","] = "cut off",
      ["nothing"] = "", ["{\"schema\": \"other/1\"}"] = "its schema is \"other/1\"",
    } do
      local path = home:path("document")
      assert(file.write(path, text))
      local r = report(path, "--output", "-")
      assert.equal(2, r.status, text)
      assert.equal("", r.stdout)
      assert.truthy(r.stderr:find(path, 1, true), r.stderr)
      assert.truthy(r.stderr:find(why, 1, true), r.stderr)
    end
    assert.equal(2, report("/nonexistent.json", "--output", "-").status)
  end)

  it("refuses a document that is too large to be one", function()
    local path = home:path("huge")
    shell.must("truncate -s 1G " .. path)
    local r = report(path, "--output", "-")
    assert.equal(2, r.status)
    assert.matches("larger than", r.stderr)
  end)

  it("makes a page of what is right in a document, and tells what is not", function()
    local path = home:path("document")
    local text = shell.read(ZONES):gsub('"offset_bytes": 0,', '"offset_bytes": "<b>zero",', 1)
      :gsub('"block_size": %d+', '"block_size": null', 1)
    assert(file.write(path, text))
    local r = report(path, "--output", "-", "--no-pictures")
    assert.equal(0, r.status, r.stderr)
    assert.matches("parameters.block_size: is missing", r.stdout)
    assert.matches("zones%[1%].offset_bytes: must be an integer, is the string &quot;&lt;b&gt;zero", r.stdout)
  end)

  it("takes fio's JSON", function()
    local path = home:path("fio")
    assert(file.write(path, [[{"fio version": "fio-3.33", "jobs": [{"jobname": "deep", "error": 0,
      "job options": {"rw": "randread", "bs": "4k", "iodepth": "8", "filename": "/dev/sdq"},
      "read": {"io_bytes": 8192000, "total_ios": 2000, "runtime": 10000, "iops": 200.0, "bw_bytes": 819200,
      "short_ios": 0, "lat_ns": {"min": 1000000, "max": 90000000, "mean": 40000000.0, "stddev": 1.0, "N": 2000},
      "clat_ns": {"min": 1000000, "max": 90000000, "mean": 40000000.0, "stddev": 1.0, "N": 2000,
      "percentile": {"50.000000": 39000000, "99.000000": 80000000}}}}]}]]))
    local r = report(path, "--output", "-", "--no-pictures")
    assert.equal(0, r.status, r.stderr)
    assert.matches("/dev/sdq", r.stdout)
    assert.matches("200%.0", r.stdout)
  end)
end)
