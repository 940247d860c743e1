-- The burn-in script as a person runs it.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local hddsim = require "spec.support.hddsim"
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
  table.move({ "--no-contention", "--stress", "0.2", "--no-baseline", "--rpm", "0", "--charset", "ascii", "--state",
    where .. "/state/", "--json", where }, 1, 12, #arguments + 1, arguments)
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
    local disk <close> = faultfs.mount { "at=3M,length=512,error=EIO", "every=1M,delay=80", size = 96 * MiB }
    local first = process.run({ process.interpreter, "burnin", disk.path, "--stress", "0.2", "--no-baseline",
      "--rpm", "0", "--state", where .. "/state/", "--json", where },
      { events = { { when = "surface read", after = 0.2, signal = "INT" } } })
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
    assert.equal(96 * MiB, d.phases[3].covered_bytes)
    assert.same({ 3 * MiB, 512 }, { d.unreadable[1].offset_bytes, d.unreadable[1].length_bytes })
    assert.equal("stopped", d.interruptions[1].reason)
    assert.equal("", (shell.run("ls " .. where .. "/state")))
  end)

  describe("with --write", function()
    local WRITE <const> = { "--write", "--no-surface", "--no-self-tests", "--stress", "0" }

    local function name_of(path) return path:match("[^/]*$") end

    local function write(where, path, ...)
      local more = table.pack(...)
      return burnin(where, path, table.unpack(table.move(more, 1, more.n, #WRITE + 1, { table.unpack(WRITE) })))
    end

    it("writes nothing at all until each drive is confirmed by its name", function()
      local where = folder()
      local one, other = scratch.file(MiB), scratch.file(MiB)
      local before = shell.run(("sha256sum %s %s"):format(one, other))
      for _, confirm in ipairs { {}, { "--confirm", name_of(one) }, { "--confirm", "another" } } do
        local r = write(where, one, other, table.unpack(confirm))
        assert.equal(2, r.status)
        assert.matches("not written to: that has to be agreed to .*%-%-confirm scratch.*Nothing has been written",
          r.stderr)
        shell.run("rm -rf " .. where .. "/state")
      end
      assert.equal(before, shell.run(("sha256sum %s %s"):format(one, other)))
    end)

    it("takes the name when it is typed at a terminal, and nothing else", function()
      local where, path = folder(), scratch.file(MiB)
      local before = shell.run("sha256sum " .. path)
      local function at_terminal(text)
        local argv = { process.interpreter, "burnin", path, "--no-baseline", "--rpm", "0", "--state",
          where .. "/state/", "--json", where, "--force" }
        table.move(WRITE, 1, #WRITE, #argv + 1, argv)
        return process.run(argv, { terminal = { columns = 80, rows = 24 },
          events = { { when = "to agree: ", input = text .. "\n" } } })
      end
      local r = at_terminal("yes")
      assert.equal(2, r.status)
      assert.matches("ALL DATA on .* will be overwritten; nothing is recognised on it", r.stdout)
      assert.equal(before, shell.run("sha256sum " .. path))
      assert.equal(0, at_terminal(name_of(path)).status)
      assert.are_not.equal(before, shell.run("sha256sum " .. path))
    end)

    it("refuses a file system without --overwrite-data, whoever agrees", function()
      local where, path = folder(), scratch.file(4 * MiB)
      shell.must("mkfs.ext4 -q -F " .. path)
      local r = write(where, path, "--confirm", name_of(path))
      assert.equal(2, r.status)
      assert.matches("it holds data %(ext4", r.stderr)
      shell.run("rm -rf " .. where .. "/state")
      r = write(where, path, "--confirm", name_of(path), "--overwrite-data", "--capacity", "--pattern", "aa,random")
      assert.equal(0, r.status, r.stderr)
      local d = documents(where)[1]
      assert.equal("honest", d.capacity.verdict)
      assert.same({ "aa", "random" }, d.parameters.patterns)
      assert.equal(2 * 4 * MiB, d.summary.written_bytes)
      assert.matches("all of it was overwritten", d.summary.state)
    end)

    it("says after Ctrl-C what state the drive is in, and goes on to verify all that it wrote", function()
      needs.hddsim()
      local where = folder()
      local drive <close> = hddsim.start("tiny,capacity=192M,fault=flip:1000:bit=3:on=write")
      local common = { "--state", where .. "/state/", "--json", where .. "/d.json", "--confirm", name_of(drive.path),
        "--charset", "ascii" }
      local argv = { process.interpreter, "burnin", drive.path, "--no-baseline", "--rpm", "0" }
      table.move(WRITE, 1, #WRITE, #argv + 1, argv)
      table.move(common, 1, #common, #argv + 1, argv)
      local first = process.run(argv, { events = { { when = "write stamp", after = 0.3, signal = "INT" } } })
      assert.equal(130, first.status, first.stderr)
      assert.matches("overwritten with stamp up to byte %d+", first.stdout:gsub("\n +", " "))
      local resumed = { process.interpreter, "burnin", "--resume", drive.path }
      local r = process.run(table.move(common, 1, #common, #resumed + 1, resumed), { timeout = 60 })
      assert.equal(1, r.status, r.stderr)
      local d = assert(document.load(where .. "/d.json"))
      assert.equal("complete", d.status)
      assert.equal(1, #d.mismatches)
      assert.same({ "bit rot", 512000, 512 },
        { d.mismatches[1].kind, d.mismatches[1].offset_bytes, d.mismatches[1].length_bytes })
      for _, phase in ipairs(d.phases) do
        if phase.kind == "write" or phase.kind == "verify" then
          assert.equal(192 * MiB, phase.covered_bytes)
        end
      end
    end)
  end)

  it("refuses what it can't use before anything is begun", function()
    local path = scratch.file(MiB)
    for _, case in ipairs {
      { { "--criteria", "/no/such.lua" }, "cannot read the criteria" },
      { { "--loops", "0" }, "%-%-loops" },
      { { "--json", "/no/such/folder/d.json" }, "cannot write /no/such/folder/d.json" },
      { { "--confirm", "x" }, "%-%-confirm: belongs to %-%-write" },
      { { "--pattern", "aa" }, "%-%-pattern: belongs to %-%-write" },
      { { "--overwrite-data" }, "%-%-overwrite%-data: belongs to %-%-write" },
      { { "--capacity" }, "%-%-capacity: belongs to %-%-write" },
    } do
      local r = process.hddlua { "burnin", path, table.unpack(case[1]) }
      assert.equal(2, r.status)
      assert.matches(case[2], r.stderr)
    end
    assert.matches("which drives", process.hddlua({ "burnin" }).stderr)
  end)
end)
