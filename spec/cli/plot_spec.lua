-- --plot of the procedures' scripts.
-- SPDX-License-Identifier: GPL-3.0-or-later
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local QUICK <const> = { "--runtime", "50ms", "--ramp", "0", "--depths", "1,2", "--block-sizes", "4k" }

local function qdsweep(arguments, options)
  local words = { "qdsweep", scratch.file(4 << 20) }
  table.move(QUICK, 1, #QUICK, #words + 1, words)
  table.move(arguments, 1, #arguments, #words + 1, words)
  return process.hddlua(words, options)
end

describe("--plot", function()
  it("saves the main figure, as SVG or PNG by the file's name", function()
    for _, form in ipairs { { ".svg", "^<%?xml" }, { ".PNG", "^\137PNG\r\n" } } do
      local path = scratch.path("figure") .. form[1]
      local r = qdsweep { "--plot", path }
      assert.equal(0, r.status, r.stderr)
      assert.truthy(assert(shell.read(path)):find(form[2]))
    end
  end)

  it("refuses, before measuring, a form that it does not know and a file that is there", function()
    local taken = scratch.path("figure") .. ".svg"
    shell.must("touch " .. taken)
    for _, path in ipairs { scratch.path("figure") .. ".jpg", "figure", taken, "/no/such/folder/x.svg" } do
      local r = qdsweep { "--plot", path }
      assert.equal(2, r.status)
      assert.equal("", r.stdout)
      assert.truthy(r.stderr:find(path, 1, true))
    end
  end)

  it("names the package where gnuplot is missing, before measuring", function()
    local r = qdsweep({ "--plot", scratch.path("figure") .. ".svg" }, { env = { PATH = "/nowhere" } })
    assert.equal(2, r.status)
    assert.truthy(r.stderr:find("gnuplot-nox", 1, true))
    assert.equal("", r.stdout)
  end)
end)

describe("the curve below a table", function()
  it("is drawn without a terminal as well, as wide as 80 columns, without colours", function()
    for _, charset in ipairs { "ascii", "utf8" } do
      local r = qdsweep { "--charset", charset }
      local curve = r.stdout:match("\n\n(Random reads a second by queue depth\n.*)$")
      assert.truthy(curve)
      for line in curve:gmatch("[^\n]+") do assert.is_true(utf8.len(line) <= 80) end
      assert.is_nil(r.stdout:find("\27", 1, true))
      assert.equal(charset == "ascii", r.stdout:find("[\x80-\xFF]") == nil)
    end
  end)

  it("has colours on a terminal, but not with NO_COLOR", function()
    local terminal = { columns = 80, rows = 24, streams = { "stdout" } }
    local r = qdsweep({}, { terminal = terminal, env = { TERM = "xterm", NO_COLOR = false } })
    assert.truthy(r.stdout:find("\27[38;5;", 1, true))
    r = qdsweep({}, { terminal = terminal, env = { TERM = "xterm", NO_COLOR = "1" } })
    assert.is_nil(r.stdout:find("\27[38;5;", 1, true))
  end)
end)
