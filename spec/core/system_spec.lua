-- The few calls to the system that Lua lacks.
-- SPDX-License-Identifier: GPL-3.0-or-later
local core = require "hdd.core"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local function write(path, text)
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(text))
  return path
end

describe("the clocks #core", function()
  it("are integers of ns that never go back, and seconds of the day", function()
    local a, b = core.now(), core.now()
    assert.equal("integer", math.type(a))
    assert.is_true(b >= a)
    assert.is_true(math.abs(core.time() - os.time()) <= 1)
  end)
end)

describe("fsync #core", function()
  it("takes a path, a folder and an open file", function()
    local path = write(scratch.path(), "x")
    assert.is_true(core.fsync(path))
    assert.is_true(core.fsync("/tmp"))
    local file <close> = assert(io.open(path, "a"))
    file:write("y")
    assert.is_true(core.fsync(file))
    assert.equal("xy", shell.read(path))
  end)

  it("says what went wrong", function()
    local ok, message, code = core.fsync("/no/such/file")
    assert.is_nil(ok)
    assert.equal("sync /no/such/file: No such file or directory", message)
    assert.equal(2, code)
    local full <close> = assert(io.open("/dev/full", "w"))
    full:write("x")
    assert.equal(28, select(3, core.fsync(full))) -- ENOSPC
  end)
end)

describe("renaming #core", function()
  it("replaces what is there, unless asked not to", function()
    local a, b = write(scratch.path(), "a"), write(scratch.path(), "b")
    local ok, message, code = core.rename(a, b, {exclusive = true})
    assert.is_nil(ok)
    assert.equal(("rename %s to %s: File exists"):format(a, b), message)
    assert.equal(17, code)
    assert.equal("b", shell.read(b))
    assert.is_true(core.rename(a, b))
    assert.equal("a", shell.read(b))
    assert.is_nil(shell.read(a))
    assert.is_true(core.rename(b, a, {exclusive = true}))
    assert.equal("a", shell.read(a))
  end)
end)

describe("a terminal #core", function()
  it("is told from what is none", function()
    local file <close> = assert(io.open("/dev/null"))
    assert.is_false(core.isatty(file))
    assert.is_nil((core.window_size(file)))
    assert.is_false(core.isatty(999))
  end)

  it("has a size, unless it does not know it", function()
    local chunk = [[
      local core = require "hdd.core"
      print(core.isatty(1), core.window_size(1))
    ]]
    local known = process.lua(chunk, {terminal = {columns = 20, rows = 5}})
    assert.equal("true\t20\t5\r\n", known.stdout)
    local unknown = process.lua(chunk, {terminal = {columns = 0, rows = 0}})
    assert.equal("true\tnil\r\n", unknown.stdout)
  end)

  it("is a descriptor or an open file; anything else is refused", function()
    assert.error_matches(function() core.isatty("x") end,
      "descriptor or an open file expected, not x")
    local file = assert(io.open("/dev/null"))
    file:close()
    assert.error_matches(function() core.isatty(file) end, "descriptor or an open file expected")
    assert.has_error(function() core.window_size(-1) end)
    assert.has_error(function() core.isatty() end)
  end)
end)
