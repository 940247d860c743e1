-- Ctrl-C and its kin, and the poll that they end. What a person presses is pressed in a process of
-- its own.
-- SPDX-License-Identifier: GPL-3.0-or-later
local core = require "hdd.core"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local function elapsed_s(f, ...)
  local start = core.now()
  f(...)
  return (core.now() - start) / 1e9
end

-- Runs a chunk in hddlua; once it has printed "ready" the signals come, each so long after.
local function run(chunk, signals, options)
  options = options or {}
  options.events, options.timeout = {}, 20
  for i, signal in ipairs(signals) do
    options.events[i] = {when = "ready", after = signal[2], signal = signal[1]}
  end
  return process.lua([[
    local hdd, core = require "hdd", require "hdd.core"
    local function ready() io.write "ready\n" io.flush() end
  ]] .. chunk, options)
end

local INT <const> = {{"INT", 0.1}}

-- ThreadSanitizer keeps a signal back until the program calls the C library, which an allocation
-- does.
local deferred = process.interpreter:find("tsan", 1, true)
local LOOP <const> = deferred and "while true do local _ = {} end" or "while true do end"

describe("poll #core", function()
  it("says which descriptors can be read", function()
    local a <close> = io.popen("echo 1")
    local b <close> = io.popen("sleep 1")
    local readable = core.poll({a, b}, 10)
    assert.same({[a] = true}, readable)
    assert.same({}, core.poll({b}, 0))
  end)

  it("waits no shorter and hardly longer than asked", function()
    for _, seconds in ipairs {0, 0.001, 0.05} do
      local took = elapsed_s(core.poll, {}, seconds)
      assert.is_true(took >= seconds)
      assert.is_true(took < seconds + 0.5)
    end
    assert.is_true(elapsed_s(core.poll, {}, -1) < 0.5)
  end)

  it("takes many descriptors", function()
    local file <close> = assert(io.open("/dev/zero"))
    local many = {}
    for i = 1, 1000 do many[i] = file end
    assert.same({[file] = true}, core.poll(many, 1))
  end)

  it("refuses what is no descriptor and no time", function()
    assert.error_matches(function() core.poll {"x"} end,
      "descriptor or an open file expected, not x")
    assert.error_matches(function() core.poll({}, 0 / 0) end,
      "a time%-out is seconds, 0 or more, or nil")
    assert.has_error(function() core.poll(3) end)
  end)

  it("is neither ended nor lengthened by signals that are not ours", function()
    local pid = shell.must("echo $PPID")
    local noise <close> = io.popen(("for i in $(seq 80); do kill -WINCH %s; kill -CONT %s; " ..
      "sleep 0.01; done"):format(pid, pid))
    local took = elapsed_s(core.poll, {}, 0.5)
    assert.is_true(took >= 0.5)
    assert.is_true(took < 0.7)
    assert.is_nil(core.interrupt_pending())
    noise:read("a")
  end)
end)

describe("a signal in a stock interpreter #core", function()
  local function caught()
    return shell.must("grep SigCgt /proc/$PPID/status")
  end

  local function stock_only()
    if package.preload["hdd.core"] then
      pending("this is hddlua, which handles them all the time")
    end
  end

  it("is handled only while a call of ours waits", function()
    stock_only()
    local before, count = caught(), core.interrupts()
    local pid = shell.must("echo $PPID")
    local killer <close> = io.popen("sleep 0.1; kill -INT " .. pid)
    assert.is_true(elapsed_s(core.poll, {}, 10) < 5)
    assert.equal(2, core.interrupt_pending())
    assert.equal(count + 1, core.interrupts())
    assert.equal(before, caught())
    -- it was seen: the next wait is a whole one
    assert.is_true(elapsed_s(core.poll, {}, 0.1) >= 0.1)
    core.clear_interrupt()
    assert.is_nil(core.interrupt_pending())
    killer:read("a")
  end)

  it("is handled all the time if so asked, and no longer when that is taken back", function()
    stock_only()
    local before = caught()
    core.interrupt_signals(true)
    core.interrupt_signals(true)
    local pid = shell.must("echo $PPID")
    os.execute("kill -TERM " .. pid)
    assert.equal(15, core.interrupt_pending())
    -- it came before the wait, and still ends it
    assert.is_true(elapsed_s(core.poll, {}, 10) < 5)
    core.clear_interrupt()
    core.interrupt_signals(false)
    assert.equal(before, caught())
  end)
end)

describe("the first signal", function()
  it("ends a sleep; uncaught, the status says which it was", function()
    for name, status in pairs {INT = 130, TERM = 143, HUP = 129} do
      local r = run("ready() hdd.sleep(100)", {{name, 0.1}})
      assert.same({status, "hddlua: interrupted\n"}, {r.status, r.stderr})
      assert.is_true(r.elapsed_s < 5)
    end
  end)

  it("raises hdd.interrupted at each further wait, until the script ends", function()
    local r = run([[
      ready()
      for _ = 1, 3 do
        local ok, raised = pcall(hdd.sleep, 100)
        print(ok, raised == hdd.interrupted, raised)
      end
    ]], INT)
    assert.equal("ready\n" .. ("false\ttrue\tinterrupted\n"):rep(3), r.stdout)
    assert.same({130, ""}, {r.status, r.stderr}) -- it ended early, in good order
  end)

  it("leaves the status to a script that says it", function()
    assert.equal(3, run("ready() pcall(hdd.sleep, 100) os.exit(3)", INT).status)
  end)

  it("comes twice from timeout(1), and is one", function()
    local r = run("ready() print(pcall(hdd.sleep, 100)) print 'saved'",
      {{"TERM", 0.1}, {"TERM", 0.11}})
    assert.matches("saved", r.stdout)
    assert.equal(143, r.status)
  end)

  it("is not taken by a program that was to ignore it", function()
    local r = process.run({"sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh", process.interpreter,
      "-e", "io.stdout:setvbuf 'no' print 'ready' require('hdd').sleep(0.5) print 'whole'"},
      {events = {{when = "ready", after = 0.1, signal = "INT"},
                 {when = "ready", after = 0.2, signal = "HUP"}}})
    assert.same({0, "ready\nwhole\n"}, {r.status, r.stdout})
  end)
end)

describe("the second signal", function()
  it("ends the process at once, whatever it does", function()
    local r = run("ready() while true do pcall(hdd.sleep, 0.1) end", {{"INT", 0.1}, {"TERM", 0.5}})
    assert.equal(143, r.status)
    if deferred then return end
    r = run("ready() string.find(('a'):rep(200000), '.*b')", {{"INT", 0.1}, {"INT", 0.5}})
    assert.equal(130, r.status)
    assert.is_true(r.elapsed_s < 5)
  end)
end)

describe("Lua code that loops without calling us", function()
  local function looping(chunk)
    local r = run(chunk:gsub("LOOP", LOOP), INT)
    assert.equal(130, r.status)
    assert.equal("hddlua: interrupted\n", r.stderr)
    assert.is_true(r.elapsed_s < 10)
    return r.stdout
  end

  it("is ended in the main program", function()
    looping "ready() LOOP"
  end)

  it("is ended in coroutines, and what resumed them then", function()
    looping "ready() coroutine.wrap(function() LOOP end)()"
    looping [[
      ready()
      coroutine.wrap(function() coroutine.wrap(function() LOOP end)() end)()
    ]]
    assert.equal("ready\nfalse\tinterrupted\n", looping [[
      ready()
      print(coroutine.resume(coroutine.create(function() LOOP end)))
      LOOP
    ]])
    looping [[
      ready()
      for _ in coroutine.wrap(function() while true do coroutine.yield(1) end end) do end
    ]]
    looping [[
      ready()
      local co = coroutine.create(function()
        local _ <close> = setmetatable({}, {__close = function() LOOP end})
        coroutine.yield()
      end)
      coroutine.resume(co)
      coroutine.close(co)
      LOOP
    ]]
  end)

  it("is ended in tasks, which does not end the others", function()
    assert.equal("ready\nfalse\tinterrupted\nstill here\n", looping [[
      local looping = hdd.task(function() ready() LOOP end)
      print(pcall(looping.wait, looping))
      print(hdd.task(function() return "still here" end):wait())
      hdd.sleep(1)
    ]])
  end)

  it("is ended in a queue's slots", function()
    looping [[
      local drive <close> = assert(hdd.open("/dev/zero", {size = 1 << 20}))
      local queue <close> = assert(drive:queue {depth = 2})
      queue:each(function(slot) slot:read(0) ready() LOOP end)
    ]]
  end)

  it("is told once: who catches it may go on and save", function()
    local r = run(([[
      ready()
      print(pcall(function() LOOP end))
      local clock = os.clock()
      while os.clock() < clock + 1.5 do end
      print "saved"
    ]]):gsub("LOOP", LOOP), INT)
    assert.equal("ready\nfalse\tinterrupted\nsaved\n", r.stdout)
  end)

  it("is not told while it saves what a call of ours has just handed over", function()
    local r = run([[
      ready()
      pcall(hdd.sleep, 100)
      for _ = 1, 4 do
        local clock = os.clock()
        while os.clock() < clock + 0.3 do end
        core.fsync("/tmp")
      end
      print "saved"
    ]], INT)
    assert.equal("ready\nsaved\n", r.stdout)
  end)

  it("has the whole grace time after the other tasks have had theirs", function()
    local r = run([[
      local tasks = {}
      for i = 1, 5 do
        tasks[i] = hdd.task(function()
          pcall(hdd.sleep, 100)
          local clock = os.clock()
          while os.clock() < clock + 0.3 do end
          return "saved"
        end)
      end
      hdd.task(ready)
      for i = 1, 5 do print(tasks[i]:wait()) end
    ]], INT)
    assert.equal("ready\n" .. ("saved\n"):rep(5), r.stdout)
  end)

  it("costs nothing when nothing is pending: no hook is set", function()
    local r = run([[
      print(debug.gethook())
      coroutine.wrap(function() print(debug.gethook()) end)()
    ]], {})
    assert.equal("nil\nnil\n", r.stdout)
  end)
end)

describe("a job that a signal stops", function()
  it("hands over what it has measured; the next one does not start", function()
    local r = run([[
      local drive <close> = assert(hdd.open("/dev/zero", {size = 1 << 20}))
      ready()
      local result = drive:run {pattern = "random", runtime = 100}
      print(result.stopped_by, result.interrupted, result.ios > 0)
      print(pcall(drive.run, drive, {ios = 1}))
    ]], INT)
    assert.equal("ready\ninterrupt\ttrue\ttrue\nfalse\tinterrupted\n", r.stdout)
    assert.equal(130, r.status)
  end)

  it("is counted well under a hail of other signals", function()
    local r = process.run({"sh", "-c", [[
      "$@" & pid=$!
      while kill -WINCH $pid 2>/dev/null; do kill -CONT $pid 2>/dev/null; sleep 0.01; done
      wait $pid
    ]], "sh", process.interpreter, "-e", [[
      local hdd = require "hdd"
      local drive <close> = assert(hdd.open("/dev/zero", {size = 1 << 20}))
      local r = drive:run {pattern = "random", runtime = 1, depth = 4}
      print(r.stopped_by, r.issued_bytes == r.bytes, r.bytes == r.ios * 4096, r.errors)
      print(r.elapsed_s >= 1 and r.elapsed_s < 1.5)
    ]]})
    assert.equal("runtime\ttrue\ttrue\t0\ntrue\n", r.stdout)
  end)
end)

describe("a reader that goes away", function()
  it("costs no result, and prints no error", function()
    local r = process.run({"sh", "-c", [["$@" | head -n 1]], "sh", process.interpreter, "-e", [[
      for i = 1, 20000 do print(i) end
      print(io.write("x"):flush())
      io.stderr:write("saved\n")
    ]]})
    assert.same({"1\n", "saved\n"}, {r.stdout, r.stderr})
  end)

  it("ends a script that would print for ever", function()
    local r = process.run({"sh", "-c", [[{ "$@"; echo $? >&2; } | head -n 1]], "sh",
      process.interpreter, "-e", "while true do print 'x' end"}, {timeout = 60})
    assert.same({"x\n", "141\n"}, {r.stdout, r.stderr})
  end)

  it("of a program that was started is that program's affair", function()
    local r = process.lua [[
      local program = io.popen("true", "w")
      os.execute("sleep 0.1")
      print(program:write(("x"):rep(100000)))
      program:close()
      os.execute("grep SigIgn /proc/self/status")
    ]]
    -- bit 12, SIGPIPE's, is clear
    assert.matches("^nil\tBroken pipe\t32\nSigIgn:\t%x*[02468ace]%x%x%x\n", r.stdout)
  end)
end)
