-- The command at the end of a long procedure.
-- SPDX-License-Identifier: GPL-3.0-or-later
local on_finish = require "hdd.cli.on_finish"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

describe("the command at the end", function()
  it("gets what it is told about in its environment, whatever is in it", function()
    local out = scratch.path("out")
    local odd = "it's \"a\" $HOME `id`\n\\ü"
    assert.is_true(on_finish.run("printf '%s|%s' \"$HDDLUA_VERDICT\" \"$HDDLUA_DOCUMENT\" >" .. out,
      {HDDLUA_VERDICT = "FAIL", HDDLUA_DOCUMENT = odd}))
    assert.equal("FAIL|" .. odd, shell.read(out))
    assert.is_true(on_finish.run("true", {}))
  end)

  it("that fails is told, by its status or signal", function()
    local function why(command)
      local ok, message = on_finish.run(command, {HDDLUA_VERDICT = "PASS"})
      assert.is_nil(ok)
      return message
    end
    assert.equal("--on-finish exit 3: it ended with status 3; the result is not touched by that",
      why "exit 3")
    assert.matches("signal 9", why "kill -9 $$")
    assert.matches("status 127", why "no-such-command 2>/dev/null")
    assert.matches("status 2", why "exec 2>/dev/null; exit 2")
  end)

  it("prints to standard error: a result may go to standard output", function()
    local r = process.lua([[
      io.write "{"
      print(require "hdd.cli.on_finish".run("echo said; cat", {A = 1}), "}")
    ]], {stdin = "not for it"})
    assert.equal("{true\t}\n", r.stdout)
    assert.equal("said\n", r.stderr)
  end)
end)
