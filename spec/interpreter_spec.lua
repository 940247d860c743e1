-- hddlua as it is called by a person: options, scripts, errors, the prompt.
-- SPDX-License-Identifier: GPL-3.0-or-later
local core = require "hdd.core"
local place = require "spec.support.place"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local function hddlua(arguments, options)
  local r = process.hddlua(arguments, options)
  return r.status, r.stdout, r.stderr
end

local function file(text, name)
  local path = scratch.path("script") .. (name or ".lua")
  local f <close> = assert(io.open(path, "w"))
  assert(f:write(text))
  return path
end

-- The interpreter's own path as an absolute one.
local function interpreter()
  return (shell.must("readlink -f " .. shell.quote(process.interpreter)))
end

describe("hddlua's options", function()
  it("are lua5.4's: -e, -l, -W, in their order", function()
    local status, out, err = hddlua {"-e", "a = 1", "-ea = a + 1", "-l", "string", "-lm=math",
      "-W", "-e", "print(a, string == _G.string, m == math) warn 'careful'"}
    assert.same({0, "2\ttrue\ttrue\n", "hddlua: warning: careful\n"}, {status, out, err})
    assert.same({0, "", ""}, {hddlua {"-e", "warn 'careful'"}})
    status, out = hddlua {"-e", "print(1)", "-e", "error 'x'", "-e", "print(2)"}
    assert.same({1, "1\n"}, {status, out})
  end)

  it("-v and --version print the version, and no more", function()
    for _, option in ipairs {"-v", "--version"} do
      local status, out = hddlua {option}
      assert.equal(0, status)
      assert.equal(("hddlua %s, on Lua 5.4"):format(require "hdd.version"), out:match("^.-5%.4"))
    end
  end)

  it("--help lists them", function()
    local status, out, err = hddlua {"--help"}
    assert.same({0, ""}, {status, err})
    assert.matches("^usage: hddlua %[OPTION...%]", out)
    assert.matches("\nscripts: ", out)
  end)

  it("that are unknown or lack their argument end with status 2", function()
    for _, case in ipairs {
      {"-x", "unrecognized option '-x'"}, {"--nope", "unrecognized option '--nope'"},
      {"-vv", "unrecognized option '-vv'"}, {"-e", "missing after '-e'"},
      {"-l", "missing after '-l'"},
    } do
      local status, out, err = hddlua {case[1]}
      assert.same({2, ""}, {status, out})
      assert.equal("hddlua: ", err:sub(1, 8))
      assert.is_truthy(err:find(case[2], 1, true))
    end
  end)

  it("-E ignores the environment, which LUA_INIT is part of", function()
    local env = {LUA_INIT = "print 'init'", LUA_PATH = "/mine/?.lua;;"}
    local show = "print(package.path:find('/mine/', 1, true) ~= nil)"
    local _, out = hddlua({"-e", show}, {env = env})
    assert.equal("init\ntrue\n", out)
    _, out = hddlua({"-E", "-e", show}, {env = env})
    assert.equal("false\n", out)
    env.LUA_INIT = "@" .. file("print('file', arg[0] ~= nil)")
    _, out = hddlua({"-e", show}, {env = env})
    assert.equal("file\ttrue\ntrue\n", out)
    env.LUA_INIT_5_4 = "error 'wrong'"
    local status, _, err = hddlua({"-e", show}, {env = env})
    assert.equal(1, status)
    assert.matches("^hddlua: LUA_INIT_5_4:1: wrong\n", err)
  end)
end)

describe("a script", function()
  it("gets its arguments in ... and in arg, with what came before it below", function()
    local path = file "print(...) print(#arg, arg[0], arg[-1], arg[-2], arg[-3], arg[-4])"
    local _, out = hddlua {"-e", "x = 1", path, "a", "", "--help"}
    local expected = "a\t\t--help\n3\t%s\tx = 1\t-e\t%s\tnil\n"
    assert.equal(expected:format(path, process.interpreter), out)
  end)

  it("may be on standard input, with and without a dash", function()
    local _, out = hddlua({}, {stdin = "print(1, arg[0])"})
    assert.equal(("1\t%s\n"):format(process.interpreter), out)
    _, out = hddlua({"-", "-h"}, {stdin = "#! first line\nprint(arg[1])"})
    assert.equal("-h\n", out)
    _, out = hddlua({"--", file("print(...)"), "-v"})
    assert.equal("-v\n", out)
  end)

  it("may name hddlua in its first line", function()
    local path = file("#!/usr/bin/env hddlua\nprint(require('hdd').version, ...)\n")
    shell.must("chmod +x " .. path)
    local folder = interpreter():match("(.*)/")
    local r = process.run({path, "a"}, {env = {PATH = folder .. ":/usr/bin:/bin"}})
    assert.equal(require("hdd.version") .. "\ta\n", r.stdout)
  end)

  it("of hddlua's own runs by its bare name, unless a file has that very path", function()
    local home <close> = place.new()
    local folder = home:path("folder")
    shell.must("mkdir " .. folder)
    local names = select(2, hddlua {"--help"}):match("\nscripts: ([^\n]*)")
    local name = names:match("^[%w-]+")
    local program = interpreter()
    if name then
      local r = process.run({program, name, "--help"}, {cwd = folder})
      assert.equal(0, r.status)
      assert.matches("^Usage: ", r.stdout)
    end
    name = name or "zoneprofile"
    local mine <close> = assert(io.open(folder .. "/" .. name, "w"))
    assert(mine:write("print 'mine'"))
    mine:flush()
    assert.equal("mine\n", process.run({program, name}, {cwd = folder}).stdout)
  end)

  it("that is not there ends with status 2, and the names of those that are", function()
    local status, out, err = hddlua {"no-such-script"}
    assert.same({2, ""}, {status, out})
    assert.matches("^hddlua: no%-such%-script: no such file, nor a script of hddlua's own; " ..
      "these are: ", err)
    status, out, err = hddlua {"./no-such-script.lua"}
    assert.same({2, "", "hddlua: cannot open ./no-such-script.lua: No such file or directory\n"},
      {status, out, err})
    assert.equal(2, (hddlua {"/"}))
  end)

  it("finds hdd from wherever it runs, and whatever tree it runs from", function()
    local home <close> = place.new()
    local root = home:path("root")
    shell.must(("make -s install DESTDIR=%s PREFIX=/opt/x"):format(root))
    local installed = root .. "/opt/x/bin/hddlua"
    for _, program in ipairs {interpreter(), installed} do
      local r = process.run({program, "-e", "io.write(require('hdd').version, ' ', " ..
        "package.searchpath('hdd.task', package.path))"},
        {cwd = "/", env = {LUA_PATH = false, LUA_CPATH = false}})
      assert.equal("", r.stderr)
      local version, path = r.stdout:match("(%S+) (.*)")
      assert.equal(require "hdd.version", version)
      local top = shell.must("pwd -P") .. "/lua"
      if program == installed then top = root .. "/opt/x/share/lua/5.4" end
      assert.equal(top .. "/hdd/task.lua", path)
    end
  end)

  it("may load Debian's modules, which need the shared liblua", function()
    local status, out = hddlua {"-e", "print(require('lfs').attributes('/').mode)"}
    assert.same({0, "directory\n"}, {status, out})
  end)
end)

describe("an uncaught error", function()
  local function fails(chunk, ...)
    local status, out, err = hddlua {"-e", chunk}
    assert.equal(1, status)
    assert.equal("", out)
    for _, pattern in ipairs {...} do assert.matches(pattern, err) end
    return err
  end
  local TRACEBACK <const> = "\nstack traceback:\n\t.*%[C%]: in %?\n$"

  it("is told on standard error with its traceback, whatever was raised", function()
    fails("error 'text'", "^hddlua: %(command line%):1: text\n", TRACEBACK)
    fails("error {}", "^hddlua: %(error object is a table value%)\n", TRACEBACK)
    fails("error()", "^hddlua: %(error object is a nil value%)\n", TRACEBACK)
    fails("error(nil)", "^hddlua: %(error object is a nil value%)\n", TRACEBACK)
    fails("error(setmetatable({}, {__tostring = function() return 'custom' end}))",
      "^hddlua: custom\n", TRACEBACK)
    fails("error(12)", "^hddlua: 12\n", TRACEBACK)
    fails("error(print)", "^hddlua: %(error object is a function value%)\n", TRACEBACK)
    fails("local a = nil + 1", "attempt to perform arithmetic on a nil value")
  end)

  it("in a coroutine, a module, a __close or the syntax is told as well", function()
    fails("coroutine.wrap(function() error('deep') end)()", "deep\n", TRACEBACK)
    fails("local a = = 1", "^hddlua: %(command line%):1: unexpected symbol near '='")
    fails("require 'no.such.module'", "module 'no.such.module' not found", TRACEBACK)
    fails("local _ <close> = setmetatable({}, {__close = function() error 'closing' end})",
      "closing\n")
    local module = file("error 'in the module'")
    fails(("package.path = %q; require 'x'"):format(module), "in the module", TRACEBACK)
  end)

  it("in a finalizer is told, and is the exit status, too", function()
    fails("setmetatable({}, {__gc = function() error 'finalizing' end})",
      "^hddlua: warning: error in __gc %(%(command line%):1: finalizing%)\n")
  end)
end)

describe("the end of a program", function()
  it("is what os.exit says, with the state closed and all finalizers run", function()
    local cases = {["true"] = 0, ["false"] = 1, ["7"] = 7, [""] = 0, ["3, false"] = 3}
    for code, status in pairs(cases) do
      local leave = "os.exit(" .. code .. ")"
      local chunk = "setmetatable({}, {__gc = function() print 'closed' end}) " .. leave
      assert.same({status, "closed\n", ""}, {hddlua {"-e", chunk}})
      assert.equal(status, (hddlua {"-e", "coroutine.wrap(function() " .. leave .. " end)()"}))
    end
    local _, out = hddlua {"-e", [[
      setmetatable({}, {__gc = function() print "first made" end})
      setmetatable({}, {__gc = function() os.exit(0) end})
      local _ <close> = setmetatable({}, {__close = function() print "closed" end})
      os.exit(1)
    ]]}
    assert.equal("closed\nfirst made\n", out)
  end)

  it("stops all jobs, together", function()
    for _, ending in ipairs {"", "os.exit(0)", "error 'x'"} do
      local r = process.lua([[
        local hdd = require "hdd"
        for _ = 1, 8 do
          local drive = assert(hdd.open("/dev/zero", {size = 1 << 20}))
          assert(drive:start {loop = true, pattern = "random", runtime = 1000})
        end
        hdd.sleep(0.05)
      ]] .. ending, {timeout = 20})
      assert.equal(ending == "error 'x'" and 1 or 0, r.status)
      assert.is_true(r.elapsed_s < 5)
    end
  end)

  it("tells when standard output could not be written", function()
    local r = process.run {"sh", "-c", "\"$0\" -e 'print(1)' > /dev/full", process.interpreter}
    assert.equal(3, r.status)
    assert.matches("^hddlua: standard output: ", r.stderr)
  end)

  it("with a closed standard output does not print into what it opens", function()
    local path = file ""
    local chunk = ("f = io.open(%q, 'w') print 'lost' io.stdout:flush() f:close()"):format(path)
    local r = process.run {"sh", "-c", "\"$0\" -e \"$1\" >&-", process.interpreter, chunk}
    assert.same({3, "hddlua: standard output: not all could be written\n"}, {r.status, r.stderr})
    assert.equal("", shell.read(path))
  end)
end)

describe("the start of a program", function()
  it("takes no longer than lua5.4's #realtime", function()
    local function median_s(program)
      local times = {}
      for i = 1, 31 do
        local start = core.now()
        os.execute(program .. " -e ''")
        times[i] = (core.now() - start) / 1e9
      end
      table.sort(times)
      return times[16]
    end
    local ours, theirs = median_s(process.interpreter), median_s("lua5.4")
    assert.is_true(ours < 1.5 * theirs + 0.002, ("%.4f s, lua5.4 %.4f s"):format(ours, theirs))
  end)

  it("loads nothing that was not asked for", function()
    local _, out = hddlua {"-e", "print(package.loaded['hdd.core'], hdd)"}
    assert.equal("nil\tnil\n", out)
  end)
end)

describe("the prompt on a pipe", function()
  local function prompt(text, ...)
    local status, out, err = hddlua({"-i", "-e_PROMPT,_PROMPT2='',''", ...}, {stdin = text})
    return out:gsub("^hddlua[^\n]*\n", ""), err, status
  end

  it("prints values as lua5.4 does", function()
    assert.equal("2\n1\tnil\tx\n5\n\n", (prompt "1+1\n1, nil, 'x'\n= 5\n"))
    assert.equal("\n", (prompt "x = 1\n\nlocal y = 2\n"))
    assert.equal("own\n\n",
      (prompt "setmetatable({}, {__tostring = function() return 'own' end})\n"))
  end)

  it("takes statements of several lines, and the last line without its end", function()
    assert.equal("1\n2\n\n", (prompt "for i = 1, 2 do\nprint(i)\nend\n"))
    assert.equal("b\nc\n\n", (prompt "a = [[b\nc]]\n= a"))
    local out, err = prompt "function f(\n"
    assert.equal("\n", out)
    assert.matches("near <eof>", err)
  end)

  it("tells of errors and goes on", function()
    local out, err, status = prompt "error 'oops'\nlocal = 1\nerror {}\nnosuch()\nprint 'on'\n"
    assert.same({"on\n\n", 0}, {out, status})
    assert.matches("stdin:1: oops\nstack traceback:\n\t%[C%]: in function 'error'\n" ..
      "\tstdin:1: in main chunk\n\t%[C%]: in %?\n", err)
    assert.matches("stdin:1: <name> expected near '='\n", err)
    assert.matches("%(error object is a table value%)", err)
    assert.not_matches("prompt.lua", err)
    assert.matches("error calling 'print'", select(2, prompt("10\n", "-eprint=nil")))
  end)

  it("has hdd, and keeps globals", function()
    assert.equal("true\n7\n\n", (prompt "hdd.open ~= nil\nx = 7\nx\n"))
  end)

  it("shows its prompts, a person's own too", function()
    local _, out = hddlua({"-i"}, {stdin = "do\nend\n"})
    assert.matches("\n> >> > \n$", out)
    local own = "_PROMPT = setmetatable({}, {__tostring = function() return 'own? ' end})"
    _, out = hddlua({"-i", "-e", own}, {stdin = "x = 1\n"})
    assert.matches("\nown%? own%? \n$", out)
  end)
end)

describe("the prompt on a terminal", function()
  -- Types the steps, each once the one before has had its answer, and gives what was on the screen.
  local function type_in(steps, options)
    local events, last = {}, "> "
    for i, step in ipairs(steps) do
      events[i] = {when = last, after = step.after or 0.15, input = step[1], signal = step.signal}
      last = step.till or last
    end
    local r = process.hddlua(options and options.arguments or {},
      {terminal = {columns = 80}, events = events, timeout = 30})
    return r.stdout:gsub("\r\n", "\n"), r
  end

  it("is left with Ctrl-D", function()
    local screen, r = type_in {{"6*7\n", till = "42"}, {"\4"}}
    assert.matches("> 6%*7\n42\n> \n$", screen)
    assert.equal(0, r.status)
  end)

  it("discards the line, a continued one too, at Ctrl-C", function()
    local screen, r = type_in {
      {"x = 'kept'\n", till = "kept'\r\n> "}, {"\3", till = "^C"},
      {"half a li", till = "half a li"},
      {"\3", till = "half a li^C"}, {"for i = 1, 2 do\n", till = ">> "}, {"  pri", till = "  pri"},
      {"\3", till = "  pri^C"}, {"'x is ' .. x\n", till = "x is kept"}, {"\4"},
    }
    assert.matches("\nx is kept\n> \n$", screen)
    assert.not_matches("near", screen)
    assert.equal(0, r.status)
  end)

  it("interrupts a loop, a sleep and a run at Ctrl-C, and keeps variables", function()
    -- ThreadSanitizer keeps a signal back until the program calls the C library: here it allocates.
    local body = process.interpreter:find("tsan", 1, true) and " local _ = {}" or ""
    local screen, r = type_in {
      {"x = 'kept'; print 'lo' while true do" .. body .. " end\n", till = "\nlo"},
      {"\3", till = "interrupted\r\n> "},
      {"print 'sl' hdd.sleep(100)\n", till = "\nsl"}, {"\3", till = "sl\r\n^Cinterrupted\r\n> "},
      {"drive = hdd.open('/dev/zero', {size = 1 << 20})\n", till = "1 << 20})\r\n> "},
      {"print 'ru' r = drive:run {pattern = 'random', runtime = 100}\n", till = "\nru"},
      {"\3", till = "ru\r\n^Cinterrupted\r\n> "},
      {"r.stopped_by .. x\n", till = "interruptkept"}, {"\4"},
    }
    assert.matches("\ninterruptkept\n> \n$", screen)
    assert.equal(0, r.status)
    assert.is_true(r.elapsed_s < 25)
  end)

  it("lets tasks go on while it waits for a line", function()
    local screen = type_in {
      {"t = hdd.task(function() hdd.sleep(0.1) print('the task ' .. 'says so') end)\n",
       till = "the task says so"},
      {"t:done()\n", till = "true"}, {"\4"},
    }
    assert.matches("the task says so\nt:done%(%)\ntrue\n", screen)
  end)

  it("ends at SIGTERM and SIGHUP with their status", function()
    assert.equal(143, select(2, type_in {{signal = "TERM"}}).status)
    assert.equal(129, select(2, type_in {{signal = "HUP"}}).status)
  end)

  it("writes no escape codes", function()
    assert.not_matches("\27", (type_in {{"1\n", till = "1\r\n1"}, {"\4"}}))
  end)
end)
