-- Tasks and their one poll. Pipes come from io.popen, whose streams core.poll takes.
-- SPDX-License-Identifier: GPL-3.0-or-later
local core = require "hdd.core"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local task = require "hdd.task"

local function elapsed_s(f, ...)
  local start = core.now()
  f(...)
  return (core.now() - start) / 1e9
end

describe("a task #core", function()
  it("hands its function's results to whoever waits, as often as they wait", function()
    local t = task.spawn(function(a, b) task.sleep(0.01) return a + b, nil, "c", nil end, 1, 2)
    assert.is_false(t:done())
    assert.same({n = 4, 3, nil, "c", nil}, table.pack(t:wait()))
    assert.same({n = 4, 3, nil, "c", nil}, table.pack(t:wait()))
    assert.is_true(t:done())
    assert.equal("hdd.task: done", tostring(t))
  end)

  it("that waits lets the others go on", function()
    local tasks = {}
    local took = elapsed_s(function()
      for i = 1, 20 do tasks[i] = task.spawn(task.sleep, 0.2) end
      for _, t in ipairs(tasks) do t:wait() end
    end)
    assert.is_true(took >= 0.2)
    assert.is_true(took < 1)
  end)

  it("uses no processor time while it waits", function()
    local t = task.spawn(task.sleep, 0.5)
    local before = os.clock()
    t:wait()
    assert.is_true(os.clock() - before < 0.05)
  end)

  it("takes turns with the others, also when it is always ready", function()
    local order = {}
    local function work(name)
      for _ = 1, 3 do
        order[#order + 1] = name
        task.sleep(0)
      end
    end
    local a, b = task.spawn(work, "a"), task.spawn(work, "b")
    a:wait()
    b:wait()
    assert.equal("ababab", table.concat(order))
  end)

  it("may yield by itself, to let the others have their turn", function()
    local others = 0
    local busy = task.spawn(function()
      while others < 3 do coroutine.yield() end
      return others
    end)
    for _ = 1, 3 do task.spawn(function() task.sleep(0.01) others = others + 1 end) end
    assert.equal(3, busy:wait())
  end)

  it("may wait for another task, and be one of several that do", function()
    local slow = task.spawn(function() task.sleep(0.05) return "done" end)
    local a = task.spawn(function() return slow:wait() end)
    local b = task.spawn(function() return slow:wait() end)
    assert.equal("done", a:wait())
    assert.equal("done", b:wait())
  end)

  it("cannot wait for itself, nor two for one another", function()
    local me
    me = task.spawn(function() me:wait() end)
    assert.error_matches(function() me:wait() end, "a task cannot wait for itself")
    local a, b
    a = task.spawn(function() b:wait() end)
    b = task.spawn(function() a:wait() end)
    assert.error_matches(function() a:wait() end, "nothing can end this wait")
  end)

  it("is made from a function only", function()
    assert.error_matches(function() task.spawn(3) end, "a function expected, not number")
  end)
end)

describe("an error in a task #core", function()
  it("is raised where the task is waited for, with where it came from", function()
    local function deep() error("boom") end
    local t = task.spawn(function() task.sleep(0.01) deep() end)
    local ok, message = pcall(t.wait, t)
    assert.is_false(ok)
    assert.matches("^[^\n]*task_spec.lua:%d+: boom\ntask's stack traceback:\n", message)
    assert.matches("in upvalue 'deep'", message)
  end)

  it("stays the object that it was", function()
    local object = {}
    local t = task.spawn(error, object)
    local ok, raised = pcall(t.wait, t)
    assert.is_false(ok)
    assert.equal(object, raised)
    local silent = task.spawn(error)
    assert.is_false((pcall(silent.wait, silent)))
  end)

  it("does not end the others", function()
    local good = task.spawn(function() task.sleep(0.05) return 1 end)
    local bad = task.spawn(function() error("boom") end)
    assert.equal(1, good:wait())
    assert.is_false((pcall(bad.wait, bad)))
  end)

  it("closes what the task held", function()
    local closed = false
    local t = task.spawn(function()
      local _ <close> = setmetatable({}, {__close = function() closed = true end})
      task.sleep(0)
      error("boom")
    end)
    assert.is_false((pcall(t.wait, t)))
    assert.is_true(closed)
  end)

  it("that nobody collects is reported at the program's end, which has failed", function()
    local r = process.lua [[
      local task = require "hdd.task"
      task.spawn(error, "unseen"); task.spawn(error, "seen")
      local seen = task.spawn(error, "waited for")
      task.sleep(0.01)
      pcall(seen.wait, seen)
    ]]
    assert.equal(1, r.status)
    assert.matches("hddlua: a task failed, and nothing waited for it: unseen\nstack traceback:",
      r.stderr)
    assert.not_matches("waited for\n", r.stderr)
  end)
end)

describe("a wait #core", function()
  it("is true when the descriptor is readable, false at its deadline", function()
    local pipe <close> = io.popen("sleep 0.2; echo here")
    assert.is_false(task.wait {fd = pipe, deadline_ns = core.now() + 20000000})
    assert.is_true(task.wait {fd = pipe, deadline_ns = core.now() + 20000000000})
    assert.equal("here", pipe:read())
  end)

  it("in the main program runs the tasks meanwhile", function()
    local n = 0
    local t = task.spawn(function() for _ = 1, 3 do task.sleep(0.01) n = n + 1 end end)
    task.sleep(0.3)
    assert.equal(3, n)
    assert.is_true(t:done())
  end)

  it("in a plain coroutine of the main program blocks as there", function()
    local values = {}
    for i in coroutine.wrap(function()
      for i = 1, 3 do task.sleep(0.01) coroutine.yield(i) end
    end) do values[#values + 1] = i end
    assert.same({1, 2, 3}, values)
  end)

  it("in a coroutine that a task made raises", function()
    local t = task.spawn(function()
      return pcall(coroutine.wrap(function() task.sleep(0.01) end))
    end)
    local ok, message = t:wait()
    assert.is_false(ok)
    assert.matches("only the task's own function may wait", message)
  end)

  it("is not needed while the caller is alone", function()
    assert.is_true(task.alone())
    local other = task.spawn(task.sleep, 0.05)
    assert.is_false(task.alone())
    assert.is_false(task.spawn(task.alone):wait())
    other:wait()
    assert.is_true(task.alone())
    assert.is_true(task.spawn(task.alone):wait())
  end)

  it("serves several tasks on one descriptor", function()
    local pipe <close> = io.popen("sleep 0.1; echo here")
    local a = task.spawn(task.wait, {fd = pipe})
    local b = task.spawn(task.wait, {fd = pipe})
    assert.is_true(a:wait())
    assert.is_true(b:wait())
  end)
end)

describe("a sleep #core", function()
  it("lasts at least as long as asked", function()
    assert.is_true(elapsed_s(task.sleep, 0.05) >= 0.05)
    assert.is_true(elapsed_s(task.sleep, 0) < 0.05)
  end)

  it("refuses what is no time", function()
    for _, bad in ipairs {-1, 0 / 0, "1"} do
      assert.error_matches(function() task.sleep(bad) end, "seconds, 0 or more, expected")
    end
    assert.has_error(function() task.sleep() end)
  end)
end)

describe("cancelling a task #core", function()
  local function interrupted(t)
    local ok, value = pcall(t.wait, t)
    return not ok and value == core.interrupted
  end

  it("ends its sleep at once", function()
    local t = task.spawn(task.sleep, 100)
    task.sleep(0.01)
    t:cancel()
    t:cancel()
    assert.is_true(elapsed_s(function() assert.is_true(interrupted(t)) end) < 1)
  end)

  it("stops what it waits for, once, and raises at its next start of something", function()
    local calls, result = 0, nil
    local pipe <close> = io.popen("sleep 0.1; echo partial")
    local t = task.spawn(function()
      task.wait {fd = pipe, cancel = function() calls = calls + 1 end}
      result = pipe:read() -- the partial result is handed over
      task.check()
    end)
    task.sleep(0.01)
    t:cancel()
    t:cancel()
    assert.is_true(interrupted(t))
    assert.equal(1, calls)
    assert.equal("partial", result)
  end)

  it("while it runs itself stops what it waits for next", function()
    local pipe <close> = io.popen("sleep 0.1; echo partial")
    local calls, t = 0, nil
    t = task.spawn(function()
      t:cancel()
      task.wait {fd = pipe, deadline_ns = core.now() + 1000000} -- cannot be cut short
      for _ = 1, 2 do
        task.wait {deadline_ns = core.now() + 1000000, cancel = function() calls = calls + 1 end}
      end
      task.check()
    end)
    assert.is_true(interrupted(t))
    assert.equal(1, calls)
  end)

  it("while it is ready to go on stops what it waits for next", function()
    local other
    local calls = 0
    local t = task.spawn(function()
      task.wait {deadline_ns = core.now()}
      task.wait {deadline_ns = core.now() + 1000000, cancel = function() calls = calls + 1 end}
      other:wait()
    end)
    other = task.spawn(function()
      repeat coroutine.yield() until t.wait_now == nil
      t:cancel()
      task.sleep(100)
    end)
    assert.is_true(interrupted(t))
    assert.equal(1, calls)
    other:cancel()
  end)

  it("that has not begun yet keeps it from beginning", function()
    local began = false
    local t = task.spawn(function() began = true end)
    t:cancel()
    assert.is_true(interrupted(t))
    task.sleep(0.01)
    assert.is_false(began)
  end)

  it("ends its wait for another task, which goes on", function()
    local other = task.spawn(function() task.sleep(0.1) return "whole" end)
    local t = task.spawn(function() other:wait() end)
    task.sleep(0.01)
    t:cancel()
    assert.is_true(interrupted(t))
    assert.equal("whole", other:wait())
  end)

  it("that has ended changes nothing", function()
    local t = task.spawn(function() return 1 end)
    assert.equal(1, t:wait())
    t:cancel()
    assert.equal(1, t:wait())
  end)
end)

describe("a function that attends a descriptor #core", function()
  it("is called while anything waits, until it says that it is done", function()
    local pipe <close> = io.popen("for i in 1 2 3; do echo $i; sleep 0.05; done")
    local lines = {}
    task.attend(pipe, function()
      lines[#lines + 1] = pipe:read()
      return #lines == 2
    end)
    task.sleep(0.4)
    assert.same({"1", "2"}, lines)
  end)

  it("must not wait itself", function()
    local pipe <close> = io.popen("echo 1")
    local ok, message
    task.attend(pipe, function()
      ok, message = pcall(task.sleep, 0)
      return true
    end)
    task.sleep(0.1)
    assert.is_false(ok)
    assert.matches("must not wait", message)
  end)
end)

describe("hdd.each", function()
  it("hands out results in the drives' order, whatever their functions do", function()
    local missing = scratch.path("missing")
    local paths = {scratch.file(4096), missing, scratch.file(8192), scratch.file(512)}
    local results = task.each(paths, function(drive)
      if drive.size == 4096 then task.sleep(0.05) return drive.size end
      if drive.size == 8192 then error("boom") end
      return nil, "it says so itself", 5
    end)
    assert.equal(4, #results)
    for i, path in ipairs(paths) do assert.equal(path, results[i].drive) end
    assert.equal(4096, results[1].result)
    assert.equal(2, results[2].code)
    assert.is_string(results[2].message)
    assert.matches("boom$", results[3].message)
    assert.matches("^stack traceback:", results[3].traceback)
    assert.same({"it says so itself", 5}, {results[4].message, results[4].code})
  end)

  it("closes what it opened, and leaves open what it was given", function()
    local hdd = require "hdd"
    local mine <close> = assert(hdd.open(scratch.file(4096)))
    local theirs
    task.each({mine, scratch.file(4096)}, function(drive)
      if drive ~= mine then theirs = drive end
    end)
    assert.equal(1, mine:run({ios = 1}).ios)
    assert.equal(9, select(3, theirs:run {ios = 1})) -- EBADF
  end)

  it("runs max_parallel at a time", function()
    local running, most, paths = 0, 0, {}
    for i = 1, 6 do paths[i] = scratch.file(512) end
    task.each(paths, function()
      running = running + 1
      most = math.max(most, running)
      task.sleep(0.01)
      running = running - 1
    end, {max_parallel = 2})
    assert.equal(2, most)
    assert.has_error(function() task.each(paths, print, {max_parallel = 0}) end,
      "each: max_parallel is an integer, 1 or more, not 0")
  end)

  it("of no drives is nothing", function()
    assert.same({}, task.each({}, print))
  end)

  it("in a task that is cancelled ends all of them", function()
    local t = task.spawn(function()
      return task.each({scratch.file(512), scratch.file(512)}, function() task.sleep(100) end,
        {max_parallel = 1})
    end)
    task.sleep(0.05)
    t:cancel()
    local results = t:wait()
    assert.same({"interrupted", "interrupted"}, {results[1].message, results[2].message})
  end)
end)

describe("Ctrl-C", function()
  it("ends each drive's function, and hands over what there is", function()
    local r = process.lua([[
      local task = require "hdd.task"
      local core = require "hdd.core"
      print "ready"
      local results = task.each({...}, function() task.sleep(100) end)
      print(#results, results[1].message, results[2].message)
      print(pcall(task.sleep, 1))
      core.clear_interrupt()
      print(pcall(task.sleep, 0))
    ]], {arguments = {scratch.file(512), scratch.file(512)},
         events = {{when = "ready", after = 0.1, signal = "INT"}}})
    assert.equal("ready\n2\tinterrupted\tinterrupted\nfalse\tinterrupted\ntrue\n", r.stdout)
    assert.equal(0, r.status)
    assert.is_true(r.elapsed_s < 5)
  end)
end)
