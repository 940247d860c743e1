-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- scripts/compare: files of all kinds as sides, drives measured in turn, hostile files refused.
local document = require "hdd.document"
local place = require "spec.support.place"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local EXAMPLES <const> = "spec/fixtures/documents/"

local function run(...)
  return process.run({ "build/hddlua", "compare", ... }, { timeout = 60 })
end

local function put(path, text)
  local stream <close> = assert(io.open(path, "wb"))
  assert(stream:write(text))
  return path
end

describe("compare", function()
  it("takes documents, joined by commas, and saves the comparison", function()
    local home <close> = place.new()
    local json = home:path "comparison"
    local r = run(EXAMPLES .. "zoneprofile.json," .. EXAMPLES .. "qdsweep.json", EXAMPLES .. "qdsweep.json", "--json",
      json, "--names", "old,new")
    assert.equal(0, r.status, r.stderr)
    assert.matches("no difference shown between new and old", (r.stdout:gsub("%s+", " ")))
    local d, complaints = assert(document.load(json))
    assert.same({}, complaints)
    assert.equal("qdsweep", d.comparisons[1].kind)
    assert.equal(1, #d.comparisons)
  end)

  it("takes fio's JSON and refuses a log of single requests", function()
    local home <close> = place.new()
    local log = put(home:path "x_bw.1.log", ("0, 1000, 0, 65536, 0\n1, 1200, 0, 65536, 65536\n"):rep(50))
    local r = run(EXAMPLES .. "zoneprofile.json", log)
    assert.equal(2, r.status)
    assert.matches("it has a line for each request", r.stderr)
  end)

  it("takes fio's bandwidth log, and says what has to be taken on trust", function()
    local r = run("spec/fixtures/fio/avg_bw.1.log", "spec/fixtures/fio/avg_bw.1.log")
    assert.equal(0, r.status, r.stderr)
    local text = r.stdout:gsub("%s+", " ")
    assert.matches("does not tell block size and queue depth", text)
    assert.matches("size is not known", text)
    assert.equal(2, run("spec/fixtures/fio/avg_bw.1.log", EXAMPLES .. "zoneprofile.json").status) -- 600 MB of 600 GB
    r = run("spec/fixtures/fio/two.json", EXAMPLES .. "qdsweep.json")
    assert.equal(0, r.status, r.stderr)
    assert.matches("512 B, depth 8", r.stdout)
  end)

  it("ends with 2 and the reason where nothing is comparable", function()
    local r = run(EXAMPLES .. "zoneprofile.json", EXAMPLES .. "qdsweep.json")
    assert.equal(2, r.status)
    assert.matches("no kind of measurement in common", (r.stdout:gsub("%s+", " ")))
    assert.equal(2, run("/nonexistent.json", EXAMPLES .. "qdsweep.json").status)
    assert.equal(2, run(EXAMPLES .. "qdsweep.json", "README.md").status)
  end)

  it("measures drives in turn, and keeps their runs", function()
    local home <close> = place.new()
    local a, b, kept = home:path "a", home:path "b", home:path "kept"
    shell.must(("head -c 24M /dev/urandom > %s && cp %s %s && mkdir %s"):format(a, a, b, kept))
    local r = run(a, b, "--measure", "--buffered", "--rounds", "2", "--of", "zoneprofile", "--keep", kept)
    assert.equal(0, r.status, r.stderr)
    assert.matches("2 runs of each", (r.stdout:gsub("%s+", " ")))
    assert.equal("4", shell.must(("ls %s | wc -l"):format(kept)))
  end)
end)

describe("a hostile file", function()
  -- Memory is bounded, and so is what is said: a message, no traceback.
  local function refused(text, reason)
    local home <close> = place.new()
    local path = put(home:path "hostile", text)
    local r = process.run({ "sh", "-c", "ulimit -v 1500000; exec build/hddlua compare " .. path .. " " .. EXAMPLES
      .. "qdsweep.json" }, { timeout = 60 })
    assert.equal(2, r.status, r.stderr)
    assert.matches(reason, r.stderr .. r.stdout)
    assert.is_nil(r.stderr:find("traceback", 1, true))
    assert.is_true(#r.stderr < 2000)
  end

  it("is refused: too deep, too many values, another version, no object", function()
    refused("{\"a\":" .. ("["):rep(100000), "nested too deeply")
    refused("{\"schema\":\"hddlua.qdsweep/1\",\"rows\":[" .. ("[],"):rep(2100000) .. "[]]}", "no result has more than")
    refused("{\"schema\":\"hddlua.qdsweep/99\"}", "of another version.*status unknown")
    refused("{\"schema\":\"<script>/1\"}", "no result that this version knows")
    refused("{\"schema\":{\"a\":1}}", "no result")
    refused("{}", "no result of hddlua")
    refused("[1, 2]", "no document")
    refused("", "no document")
    refused("{\"schema\":\"hddlua.qdsweep/1\",\"rows\":NaN}", "not JSON")
  end)

  it("is refused when it is 1 GB long, before it is read to its end", function()
    local home <close> = place.new()
    local path = home:path "long"
    shell.must("truncate -s 1G " .. path)
    local d, why = document.load(path)
    assert.is_nil(d)
    assert.matches("larger than 67108864 bytes", why)
    local r = run(path, EXAMPLES .. "qdsweep.json")
    assert.equal(2, r.status)
    assert.matches("larger than", r.stderr)
  end)

  it("of which parts are right is compared as far as they are", function()
    local home <close> = place.new()
    local d = assert(document.load(EXAMPLES .. "qdsweep.json"))
    local text = document.encode(d):gsub('"iops": [%d.]+', '"iops": 1e999', 2):gsub('"depth": 4', '"depth": "<b>"')
    text = text:gsub('"model": "[^"]*"', '"model": "<script>alert(1)</script>\\u001b[31m"')
    local r = run(put(home:path "odd", text), EXAMPLES .. "qdsweep.json")
    assert.equal(0, r.status, r.stderr)
    assert.is_nil(r.stdout:find("\27", 1, true))
  end)
end)
