--- Runs programs, hddlua above all, the way a person or another program would.
-- SPDX-License-Identifier: GPL-3.0-or-later
local json = require "dkjson"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local M = {}

-- Debian's own, past what else of that name is on the path.
local PYTHON = select(2, shell.run("test -x /usr/bin/python3")) == 0 and "/usr/bin/python3" or "python3"
local RING = "trace=io_uring_setup,io_uring_register,io_uring_enter"

--- The interpreter that is under test.
M.interpreter = os.getenv("HDDLUA") or "build/hddlua"

--- Runs a program to its end.
-- @tparam {string,...} argv  program and arguments
-- @tparam[opt] table options
--   `env` {NAME = "value" or false (unset)}; `stdin` text (""); `cwd`; `user` name of the user to be;
--   `limits` {memlock = bytes, ...} (RLIMIT_...); `timeout` s, then it is killed (60);
--   `terminal` {columns = 80, rows = 24, streams = {"stdin", "stdout", "stderr"}}: a terminal for
--   these, with all that is printed there in `stdout` (in `stderr` when stdout is no terminal);
--   `keep_stdin` leaves standard input open;
--   `events` list of {after = s, when = "text that has been printed by then", and one of
--   signal = "INT", input = "text typed", window = {columns, rows}, close = true (standard input),
--   run = "shell command"};
--   `inject` list for strace ("io_uring_setup:error=EPERM"), `trace` strace's -e trace=... (the ring's
--   calls): the trace is in the result's `trace`
-- @treturn table  `status` (nil when killed), `signal`, `stdout`, `stderr`, `elapsed_s`, `timed_out`,
--   `user_s`, `system_s`, `events` (when each happened, s), `trace`
-- @usage local r = process.run({"sleep", "9"}, {events = {{after = 0.2, signal = "INT"}}})
function M.run(argv, options)
  options = options or {}
  local trace
  local env = options.env
  if options.inject or options.trace then
    trace = scratch.path("trace")
    local traced = {"strace", "-f", "-qq", "-o", trace, "-e", options.trace or RING}
    for _, what in ipairs(options.inject or {}) do
      table.insert(traced, "-e")
      table.insert(traced, "inject=" .. what)
    end
    table.move(argv, 1, #argv, #traced + 1, traced)
    argv = traced
    local asan = os.getenv("ASAN_OPTIONS")
    if asan then -- LeakSanitizer cannot work in a program that is traced
      env = {}
      for name, value in pairs(options.env or {}) do env[name] = value end
      env.ASAN_OPTIONS = asan .. ":detect_leaks=0"
    end
  end
  local job, result = scratch.path("job"), scratch.path("result")
  local stdout, stderr = scratch.path("stdout"), scratch.path("stderr")
  do
    local file <close> = assert(io.open(job, "w"))
    assert(file:write(json.encode {
      argv = argv, env = env, stdin = options.stdin, cwd = options.cwd, user = options.user,
      limits = options.limits, timeout_s = options.timeout, terminal = options.terminal,
      keep_stdin = options.keep_stdin, events = options.events, stdout = stdout, stderr = stderr,
    }))
  end
  shell.must(shell.words {PYTHON, "spec/support/process.py", job, result})
  local ended = assert(json.decode(assert(shell.read(result)), 1, nil))
  ended.stdout, ended.stderr = assert(shell.read(stdout)), assert(shell.read(stderr))
  ended.trace = trace and shell.read(trace)
  return ended
end

--- Runs hddlua with arguments.
-- @tparam {string,...} arguments
-- @tparam[opt] table options  as for `run`
-- @usage local r = process.hddlua {"zoneprofile", "--help"}
function M.hddlua(arguments, options)
  local argv = table.move(arguments, 1, #arguments, 2, {M.interpreter})
  return M.run(argv, options)
end

--- Runs a chunk of Lua in hddlua; its arguments are in `...`.
-- @tparam string chunk  Lua code
-- @tparam[opt] table options  as for `run`, and `arguments` {string,...}
-- @usage local r = process.lua([[print(require "hdd".version)]])
function M.lua(chunk, options)
  options = options or {}
  local path = scratch.path("chunk") .. ".lua"
  do
    local file <close> = assert(io.open(path, "w"))
    assert(file:write(chunk))
  end
  return M.hddlua(table.move(options.arguments or {}, 1, #(options.arguments or {}), 2, {path}), options)
end

return M
