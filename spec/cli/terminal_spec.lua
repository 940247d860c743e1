-- What the environment says of the terminal.
-- SPDX-License-Identifier: GPL-3.0-or-later
local terminal = require "hdd.cli.terminal"

local function environment(variables)
  return function(name) return variables[name] end
end

describe("the text of a session", function()
  local function is_utf8(variables) return terminal.is_utf8(environment(variables)) end

  it("is UTF-8 when the first of LC_ALL, LC_CTYPE and LANG that is set says so", function()
    assert.is_true(is_utf8 { LANG = "de_DE.UTF-8" })
    assert.is_true(is_utf8 { LANG = "C", LC_CTYPE = "C.utf8" })
    assert.is_true(is_utf8 { LC_ALL = "", LANG = "en_US.UTF-8" })
    assert.is_false(is_utf8 { LANG = "de_DE.UTF-8", LC_ALL = "C" })
    assert.is_false(is_utf8 { LANG = "de_DE.ISO-8859-1" })
    assert.is_false(is_utf8 {})
  end)
end)

describe("a terminal", function()
  local function can_redraw(name)
    return terminal.can_redraw(environment { TERM = name, HOME = "/root" })
  end

  it("can draw over a line when this system knows it", function()
    assert.is_true(can_redraw "xterm")
    assert.is_true(can_redraw "vt100")
    assert.is_true(can_redraw "linux")
  end)

  it("cannot when TERM is unset, dumb, unknown or nonsense", function()
    for _, name in ipairs { "dumb", "unknown", "", "no-such-terminal-9", "../xterm", "x y" } do
      assert.is_false(can_redraw(name))
    end
    assert.is_false(can_redraw(nil))
  end)

  it("has no columns when it is none", function()
    local file = assert(io.tmpfile())
    assert.is_nil(terminal.columns(file))
    file:close()
  end)
end)
