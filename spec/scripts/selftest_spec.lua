-- A drive that steps through its self-test: SGREPLAY_STEP is the state at each reading. Three readings
-- come before the start: what the drive has, its estimate, and whether a test runs already.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local document = require "hdd.document"
local folders = require "spec.support.drive_folder"
local place = require "spec.support.place"
local sgreplay = require "spec.support.sgreplay"
local shell = require "spec.support.shell"

local RAPTOR <const> = "ata/WD6000HLHX-01JJPV0-a"

local function selftest(steps, arguments, options)
  options = options or {}
  options.env = options.env or {}
  options.env.SGREPLAY_STEP = steps
  local words = {"--poll", "50ms"}
  table.move(arguments or {}, 1, #(arguments or {}), 3, words)
  return sgreplay.script(options.drive or RAPTOR, "selftest", words, options)
end

describe("selftest", function()
  it("passes when the drive's state says that it is over, without error", function()
    local r = selftest("00,00,00,f9,f5,f1,f0,f0,00", {"--json", "-"})
    assert.equal(0, r.status, r.stderr)
    local d, complaints = assert(document.decode(r.stdout))
    assert.same({}, complaints)
    assert.equal("passed", d.summary.verdict)
    assert.equal(120, d.summary.estimate_s)
    local seen = {}
    for i, p in ipairs(d.progress) do seen[i] = p.remaining_percent end
    assert.same({90, 50, 10, 0}, seen)
  end)

  it("warns that the log does not confirm it, and that something else speaks against the drive", function()
    local r = selftest("00,00,00,f9,00")
    assert.equal(0, r.status)
    assert.matches("PASSED", r.stdout)
    assert.matches("log has no new entry", r.stdout)
    assert.matches("interface CRC errors: 25", r.stdout)
  end)

  it("fails with the drive's words", function()
    local r = selftest("00,00,00,f9,f5,75")
    assert.equal(1, r.status)
    assert.matches("FAILED: the short self%-test, failed: read element", r.stdout)
  end)

  it("gives the failing LBA from the drive's log, which confirms it", function()
    local home <close> = place.new()
    -- The log is empty before the test; once that is seen running, the real one takes its place.
    local failed, log = "ata/ST14000NM001G-2KJ103-a", "gplog_07.bin"
    local folder = folders.copy(home, failed, {[log] = ("\0"):rep(512)})
    local page = assert(shell.read("spec/fixtures/smart/" .. failed .. "/" .. log))
    folders.change(folder, {["later"] = page})
    local r = sgreplay.lua(folder, [[
      local path, kind, folder, log = ...
      local d = assert(require("hdd.procedure.selftest").run(path, {as = kind, poll = 0.05},
        {save = function() os.rename(folder .. "/later", folder .. "/" .. log) end}))
      print(d.summary.verdict, d.summary.failing_lba, d.summary.confirmed)
    ]], {kind = "ata", arguments = {folder, log}, env = {SGREPLAY_STEP = "00,00,00,f9,79"}})
    assert.equal("failed\t74403384\ttrue\n", r.stdout, r.stderr)
  end)

  it("tells a test that another program ended from one that a reset ended, and passes neither", function()
    local aborted, reset = selftest("00,00,00,f9,f5,15"), selftest("00,00,00,f9,f5,25")
    assert.same({2, 2}, {aborted.status, reset.status})
    assert.matches("ABORTED", aborted.stdout)
    assert.matches("INTERRUPTED: .* by a reset", reset.stdout)
  end)

  it("never takes a time for a result: a test that nobody saw is unknown", function()
    local r = sgreplay.lua(RAPTOR, [[
      local path, kind = ...
      local d = assert(require("hdd.procedure.selftest").run(path,
        {as = kind, poll = 0.05, grace = 0.2}))
      print(d.summary.verdict, d.summary.confirmed, table.concat(d.warnings, "; "))
    ]], {env = {SGREPLAY_STEP = "00"}})
    assert.matches("^unknown\tfalse\t.*nothing shows that it ran;", r.stdout)
  end)

  it("gives up at the limit, not before, and says so", function()
    local r = selftest("00,00,00,f9", {"--limit", "1s"})
    assert.equal(2, r.status)
    assert.matches("still not over after 1%.00 s", r.stdout)
    assert.matches("90 %% left", r.stdout)
  end)

  it("notices a stall, and goes on", function()
    local r = sgreplay.lua(RAPTOR, [[
      local path, kind = ...
      local d = assert(require("hdd.procedure.selftest").run(path,
        {as = kind, poll = 0.05, stall = 0.1, limit = 60}))
      print(d.summary.verdict, table.concat(d.warnings, "; "))
    ]], {env = {SGREPLAY_STEP = "00,00,00," .. ("f5,"):rep(6) .. "00"}})
    -- The estimate of 2 minutes makes the limit of a stall 24 s: none is told.
    assert.matches("^passed\t", r.stdout)
    assert.is_nil(r.stdout:find("no progress", 1, true))
    local home <close> = place.new()
    local folder = folders.copy(home, RAPTOR, {["smart_data.bin"] = folders.with({[372] = 0})})
    r = sgreplay.lua(folder, [[
      local path = ...
      local d = assert(require("hdd.procedure.selftest").run(path,
        {as = "ata", poll = 0.05, stall = 0.1, limit = 60}))
      print(d.summary.verdict, table.concat(d.warnings, "; "))
    ]], {env = {SGREPLAY_STEP = "00,00,00," .. ("f5,"):rep(10) .. "00"}})
    assert.matches("^passed\t.*no progress for .*, with 50 %% left", r.stdout)
  end)

  it("ends the waiting when the drive no longer answers", function()
    local r = selftest("00,00,00,f9", {}, {env = {SGREPLAY_FAIL = "b0/d4=abrt"}})
    assert.equal(2, r.status)
    assert.matches("aborts the command", r.stderr)
  end)

  it("starts none beside one that runs, but waits for it or ends it", function()
    local r = selftest("f7")
    assert.equal(2, r.status)
    assert.matches("is running already %(70 %% left%)", r.stderr)
    r = selftest("f7,f3,00", {"--type", "running"})
    assert.equal(0, r.status)
    assert.matches("PASSED", r.stdout)
    assert.matches("was ended", selftest("f7", {"--abort"}).stdout)
    assert.matches("no self%-test is running", selftest("00", {"--abort"}).stdout)
  end)

  it("only starts it when it is not to wait", function()
    local r = selftest("00,00,00,f9", {"--no-wait"})
    assert.equal(0, r.status)
    assert.matches("RUNNING", r.stdout)
  end)

  it("leaves it running in the drive after Ctrl-C", function()
    local r = selftest("00,00,00,f9", {}, {env = {TERM = "xterm"},
      terminal = {columns = 80, rows = 24, streams = {"stderr"}},
      events = {{when = "short self-test", signal = "INT"}}})
    assert.equal(130, r.status)
    assert.matches("RUNNING.*goes on in the drive", r.stdout)
  end)

  it("refuses a test that the drive lacks", function()
    for drive, kind in pairs {["nvme/KXG60ZNV512G_TOSHIBA"] = "conveyance", [RAPTOR] = "selective"} do
      local arguments = {"--type", kind}
      if kind == "selective" then
        arguments[3], arguments[4] = "--span", "0-99999999999999"
      end
      local r = sgreplay.script(drive, "selftest", arguments)
      assert.equal(2, r.status)
      assert.matches(kind == "selective" and "not within the drive" or "self%-test", r.stderr)
    end
  end)

  it("shows progress on a terminal", function()
    local r = selftest("00,00,00,f9,f5,f1,00", {"--poll", "400ms"}, {
      terminal = {columns = 80, rows = 24, streams = {"stderr"}}, env = {TERM = "xterm"}})
    assert.matches("50 %%", r.stderr)
    assert.matches("short self%-test", r.stderr)
    assert.matches(" left", r.stderr)
  end)
end)
