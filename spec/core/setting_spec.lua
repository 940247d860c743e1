-- Kernel settings that are changed for a while. A plain file stands for a sysfs file where that
-- makes no difference; one spec takes a loop device's own scheduler.
-- SPDX-License-Identifier: GPL-3.0-or-later
local core = require "hdd.core"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local function setting_file(text)
  local path = scratch.path("setting")
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(text, "\n"))
  return path
end

local function now(path) return (shell.read(path):gsub("\n$", "")) end

describe("a setting #core", function()
  it("is changed, and put back once", function()
    local path = setting_file("64")
    local setting = assert(core.setting(path, "128"))
    assert.equal("128", now(path))
    assert.is_true(setting:restore())
    assert.equal("64", now(path))
    setting_file("7")
    assert(core.setting(path, "9"))
    assert.is_true(setting:restore())
    assert.equal("9", now(path))
  end)

  it("of a choice was the one in brackets", function()
    local path = setting_file("none [mq-deadline] bfq")
    local setting = assert(core.setting(path, "none"))
    setting:restore()
    assert.equal("mq-deadline", now(path))
  end)

  it("is put back when it is closed, and when it is collected", function()
    local path = setting_file("1")
    do
      local _ <close> = assert(core.setting(path, "2"))
      assert.equal("2", now(path))
    end
    assert.equal("1", now(path))
    core.setting(path, "3")
    assert.equal("3", now(path))
    collectgarbage()
    collectgarbage()
    assert.equal("1", now(path))
  end)

  it("changed twice is put back to the first value in whatever order", function()
    local path = setting_file("1")
    local a, b = assert(core.setting(path, "2")), assert(core.setting(path, "3"))
    a:restore()
    assert.equal("3", now(path))
    b:restore()
    assert.equal("1", now(path))
    a, b = assert(core.setting(path, "2")), assert(core.setting(path, "3"))
    b:restore()
    assert.equal("2", now(path))
    a:restore()
    assert.equal("1", now(path))
  end)

  it("that cannot be changed says why, and is left alone", function()
    local setting, message, code = core.setting("/sys/no/such/setting", "1")
    assert.is_nil(setting)
    assert.equal("set /sys/no/such/setting to 1: No such file or directory", message)
    assert.equal(2, code)
    assert.has_error(function() core.setting("/tmp/x", "") end)
    assert.has_error(function() core.setting(("x"):rep(300), "1") end)
  end)

  it("of a loop device is its scheduler", function()
    needs.loop()
    local device <close> = loop.attach(scratch.file(1 << 20))
    local path = "/sys/block/" .. device.name .. "/queue/scheduler"
    local before = now(path)
    local other
    for name in before:gmatch("[%w-]+") do
      if not before:find("[" .. name .. "]", 1, true) then other = name end
    end
    if not other then pending("there is one scheduler only") end
    local setting = assert(core.setting(path, other))
    assert.matches("%[" .. other:gsub("%-", "%%-") .. "%]", now(path))
    assert.is_true(setting:restore())
    assert.equal(before, now(path))
    local refused, _, code = core.setting(path, "no-such-scheduler")
    assert.is_nil(refused)
    assert.equal(22, code) -- EINVAL
    assert.equal(before, now(path))
  end)

  local function after(chunk, events)
    local path = setting_file("1")
    local r = process.lua([[
      local core, hdd = require "hdd.core", require "hdd"
      setting = assert(core.setting(..., "2"))
      io.stdout:setvbuf "no"
      print "changed"
    ]] .. chunk, {arguments = {path}, events = events, timeout = 20})
    assert.matches("changed", r.stdout)
    return now(path), r.status
  end

  it("is put back however the program ends", function()
    assert.same({"1", 0}, {after("")})
    assert.same({"1", 1}, {after("error 'oops'")})
    assert.same({"1", 3}, {after("os.exit(3)")})
    local int, term = {when = "changed", after = 0.1, signal = "INT"},
      {when = "changed", after = 0.1, signal = "TERM"}
    assert.same({"1", 130}, {after("hdd.sleep(100)", {int})})
    assert.same({"1", 143}, {after("hdd.sleep(100)", {term})})
    local again = {when = "changed", after = 0.4, signal = "INT"}
    assert.same({"1", 130}, {after("io.popen('exec 2>&-; sleep 5'):read()", {int, again})})
  end)
end)
