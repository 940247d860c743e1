-- The burn-in script as a person runs it.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local MiB <const> = 1 << 20

local function folder()
  local path = scratch.path("folder")
  shell.must("mkdir " .. path)
  return path
end

-- Short, with states and documents in folders of their own.
local function burnin(where, ...)
  local arguments = table.pack("burnin", ...)
  table.move({ "--stress", "0.2", "--no-baseline", "--rpm", "0", "--charset", "ascii", "--state",
    where .. "/state/", "--json", where }, 1, 11, #arguments + 1, arguments)
  return process.hddlua(arguments)
end

local function documents(where)
  local list = {}
  for path in (shell.run("ls " .. where .. "/*.json 2>/dev/null")):gmatch("[^\n]+") do
    list[#list + 1] = assert(document.load(path))
  end
  return list
end

describe("hddlua burnin", function()
  it("shows the plan with its durations, runs it, and ends with PASS and 0", function()
    local where = folder()
    local r = burnin(where, scratch.file(8 * MiB))
    assert.equal(0, r.status, r.stderr)
    assert.matches("SMART before +0.00 s\n", r.stdout)
    assert.matches("seek stress +0.60 s\n", r.stdout)
    assert.matches("\nVerdict: PASS\n", r.stdout)
    local list = documents(where)
    assert.equal(1, #list)
    assert.equal("PASS", list[1].verdict.status)
    assert.equal("", (shell.run("ls " .. where .. "/state"))) -- done: nothing to go on from
    for line in r.stdout:gmatch("[^\n]+") do assert.is_true(#line <= 100, line) end
  end)

  it("with --plan shows it and does nothing", function()
    local where = folder()
    local r = burnin(where, scratch.file(MiB), "--plan")
    assert.equal(0, r.status, r.stderr)
    assert.matches("in all", r.stdout)
    assert.is_nil(r.stdout:find("Verdict", 1, true))
    assert.same({}, documents(where))
  end)

  it("of several drives tests each, and a bad one ends with 1, its reason and place", function()
    needs.fuse()
    local where = folder()
    local disk <close> = faultfs.mount { "at=5M,length=1k,error=EIO", size = 16 * MiB }
    local r = burnin(where, scratch.file(16 * MiB), disk.path, scratch.file(16 * MiB))
    assert.equal(1, r.status, r.stderr)
    assert.matches("3 drives: 2 PASS, 0 WARN, 1 FAIL", r.stdout)
    assert.matches("Odd beside the others", r.stdout)
    assert.matches("FAIL: cannot be read: 1.02 kB %(1.00 KiB%) in 1 range, the first at LBA 10240", r.stdout
      :gsub("\n +", " "))
    assert.equal(3, #documents(where))
  end)

  it("goes on with the others when one is missing, and ends with 2", function()
    local where = folder()
    local r = burnin(where, scratch.file(MiB), where .. "/none")
    assert.equal(2, r.status)
    assert.matches("/none: No such file or directory .the others go on", r.stderr)
    assert.matches("1 PASS, 0 WARN, 1 FAIL", r.stdout)
  end)

  it("goes on after Ctrl-C with --resume, and refuses to begin another beside it", function()
    needs.fuse()
    local where = folder()
    local disk <close> = faultfs.mount { "at=3M,length=512,error=EIO", "every=1M,delay=100", size = 48 * MiB }
    local first = process.run({ process.interpreter, "burnin", disk.path, "--stress", "0.2", "--no-baseline",
      "--rpm", "0", "--state", where .. "/state/", "--json", where },
      { events = { { after = 2, signal = "INT" } } })
    assert.equal(130, first.status, first.stderr)
    assert.matches("interrupted: `hddlua burnin %-%-resume", first.stderr)
    local again = burnin(where, disk.path)
    assert.equal(2, again.status)
    assert.matches("has been begun: go on with it %(%-%-resume%), or begin anew %(%-%-force%)", again.stderr)
    local r = process.hddlua { "burnin", "--resume", disk.path, "--state", where .. "/state/", "--json",
      where .. "/whole.json" }
    assert.equal(1, r.status, r.stderr)
    local d = assert(document.load(where .. "/whole.json"))
    assert.equal("complete", d.status)
    assert.equal(48 * MiB, d.phases[3].covered_bytes)
    assert.same({ 3 * MiB, 512 }, { d.unreadable[1].offset_bytes, d.unreadable[1].length_bytes })
    assert.equal("stopped", d.interruptions[1].reason)
    assert.equal("", (shell.run("ls " .. where .. "/state")))
  end)

  it("refuses what it can't use before anything is begun", function()
    local path = scratch.file(MiB)
    for _, case in ipairs {
      { { "--criteria", "/no/such.lua" }, "cannot read the criteria" },
      { { "--loops", "0" }, "%-%-loops" },
      { { "--json", "/no/such/folder/d.json" }, "cannot write /no/such/folder/d.json" },
    } do
      local r = process.hddlua { "burnin", path, table.unpack(case[1]) }
      assert.equal(2, r.status)
      assert.matches(case[2], r.stderr)
    end
    assert.matches("which drives", process.hddlua({ "burnin" }).stderr)
  end)
end)
