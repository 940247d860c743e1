-- The state of a long procedure: what it goes on from, and what it refuses to go on from.
-- SPDX-License-Identifier: GPL-3.0-or-later
local json = require "hdd.json"
local lfs = require "lfs"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"
local state = require "hdd.state"

local function drive(changes)
  local identity = {
    path = "/dev/sdz", real_path = "/dev/sdz", name = "sdz", kind = "disk", model = "WDC WD6000HLHX",
    serial = "WD-" .. scratch.path("S"):match("[^/]+$"), size_bytes = 600127266816,
  }
  for key, value in pairs(changes or {}) do identity[key] = value end
  return identity
end

local function write(path, text)
  local stream <close> = assert(io.open(path, "wb"))
  assert(stream:write(text))
end

-- A state that was saved and left.
local function left(path, identity, data, stopped)
  local s <close> = assert(state.open("burnin", identity, { version = 3, path = path }))
  assert(s:save(data or { position_bytes = 1 << 42, share = 0.1 }, stopped))
end

local function resume(path, identity, changes)
  local options = { version = 3, path = path, resume = true }
  for key, value in pairs(changes or {}) do options[key] = value end
  return state.open("burnin", identity, options)
end

describe("a state", function()
  local path, identity
  before_each(function() path, identity = scratch.path("state") .. ".json", drive() end)

  it("gives back what was saved, integers exact and floats to the last bit", function()
    local data = {
      position_bytes = math.maxinteger, share = 1 / 3, seed = -1, whole = 2.0, list = { 1, 2 },
      empty = {}, text = "é\n", phases = { { name = "surface", done = true } },
    }
    left(path, identity, data)
    local s <close> = assert(resume(path, identity))
    assert.same(data, s.data)
    assert.equal("integer", math.type(s.data.position_bytes))
    assert.equal("float", math.type(s.data.whole))
  end)

  it("keeps nothing of what is not finite", function()
    left(path, identity, { rate = 0 / 0, more = { 1 / 0 }, errors = 0 })
    local s <close> = assert(resume(path, identity))
    assert.equal(0, s.data.errors)
    assert.is_nil(s.data.rate)
  end)

  it("notes each interruption, and what it was", function()
    left(path, identity)
    do
      local s <close> = assert(resume(path, identity))
      assert.equal("killed", s.interruptions[1].reason)
      assert(s:save({}, true))
    end
    local s <close> = assert(resume(path, identity))
    assert.equal("stopped", s.interruptions[2].reason)
    assert.equal(2, #s.interruptions)
  end)

  it("knows a reboot from a kill", function()
    left(path, identity)
    write(path, (shell.read(path):gsub('("boot": ")[^"]*', "%1another")))
    local s <close> = assert(resume(path, identity))
    assert.equal("reboot", s.interruptions[1].reason)
  end)

  it("is not begun over one that is there, unless that is asked for", function()
    left(path, identity)
    local s, message, code = state.open("burnin", identity, { version = 3, path = path })
    assert.is_nil(s)
    assert.matches("begun: go on with it %(%-%-resume%), or begin anew %(%-%-force%)", message)
    assert.equal(17, code)
    local anew <close> = assert(state.open("burnin", identity, { version = 3, path = path, force = true }))
    assert.is_nil(anew.data)
  end)

  it("is gone when all is done", function()
    local s = assert(state.open("burnin", identity, { version = 3, path = path }))
    assert(s:save {})
    assert.is_true(s:finish())
    assert.is_nil(lfs.attributes(path))
    local _, message, code = resume(path, identity)
    assert.matches("no state of /dev/sdz %(WDC WD6000HLHX, WD%-S.*to go on from", message)
    assert.equal(2, code)
  end)

  it("is due at once after a saving that failed, and says so once", function()
    needs.root()
    local folder = scratch.path("full")
    assert(lfs.mkdir(folder))
    shell.must("mount -t tmpfs -o size=64k tmpfs " .. folder)
    local told = {}
    local s = assert(state.open("burnin", identity, {
      version = 3, path = folder .. "/s.json", tell = function(text) told[#told + 1] = text end,
    }))
    assert(s:save { first = true })
    shell.run("head -c 65536 /dev/zero > " .. folder .. "/fill")
    local big = { text = ("x"):rep(20000) }
    local ok, message, code = s:save(big)
    assert.is_nil(s:save(big))
    local next_ns = s.next_ns
    local entries = shell.run("ls -A " .. folder)
    os.remove(folder .. "/fill")
    assert(s:save(big))
    local again = shell.read(folder .. "/s.json")
    s:close()
    shell.must("umount " .. folder)
    assert.is_nil(ok)
    assert.matches("No space left", message)
    assert.equal(28, code)
    assert.is_true(next_ns - require("hdd.core").now() <= 5000000000)
    assert.equal("fill\ns.json", entries) -- no temporary file is left
    assert.equal(2, #told)
    assert.matches("goes on, and tries again; after a crash it would go on from what was saved at", told[1])
    assert.matches("saved again", told[2])
    assert.matches("xxxx", again)
  end)

  it("removes what a kill in the midst of saving has left", function()
    left(path, identity)
    local folder, name = path:match("^(.*/)(.*)$")
    local leftover = folder .. "." .. name .. ".0123456789abcdef.tmp"
    write(leftover, "half")
    assert(resume(path, identity)):close()
    assert.is_nil(lfs.attributes(leftover))
  end)
end)

describe("a state is refused", function()
  local path, identity
  before_each(function()
    path, identity = scratch.path("state") .. ".json", drive()
    left(path, identity, { position_bytes = 123456789, words = "abc" })
  end)

  local function refused(changed, options)
    local s, message, code = resume(path, changed or identity, options)
    if s then s:close() end
    assert.is_nil(s)
    assert.matches(path, message, 1, true)
    return message, code
  end

  it("with another drive, which is named", function()
    local message, code = refused(drive { serial = "WD-OTHER" })
    assert.matches("state of /dev/sdz %(WDC WD6000HLHX, WD%-S.*and /dev/sdz %(WDC WD6000HLHX, WD%-OTHER%)", message)
    assert.matches("serial is WD%-OTHER", message)
    assert.equal(19, code)
    assert.matches("size_bytes is 4096", (refused(drive { serial = identity.serial, size_bytes = 4096 })))
    local anonymous = drive()
    anonymous.serial = nil
    assert.matches("serial is not told", (refused(anonymous)))
  end)

  it("when it is of another procedure or version", function()
    assert.matches("older version.*go on with that version, or begin anew", (refused(nil, { version = 4 })))
    local message, code = refused(nil, { version = 2 })
    assert.matches("newer version", message)
    assert.equal(71, code)
    local s
    s, message = state.open("surface", identity, { version = 3, path = path, resume = true })
    assert.is_nil(s)
    assert.matches("is the state of burnin, not of surface", message)
    local text = shell.read(path)
    write(path, (text:gsub("hddlua.state/1", "hddlua.state/2")))
    assert.matches("its form is hddlua.state/2, and this version knows hddlua.state/1", (refused()))
  end)

  it("when it is damaged anywhere, with a way out", function()
    local text = shell.read(path)
    for length = 0, #text - 2, 7 do
      write(path, text:sub(1, length))
      local message, code = refused()
      assert.equal(74, code)
      assert.matches("move it away, or begin anew %(%-%-force%)", message)
    end
    for _, change in ipairs { { "123456789", "123456788" }, { '"abc"', '"abd"' },
      { '"data"', '"date"' }, { "abc", "ab\255" } } do
      write(path, (text:gsub(change[1], change[2])))
      local _, code = refused()
      assert.equal(74, code)
    end
    for _, other in ipairs { "", "[]", "3", "{}", json.encode { format = 1 }, "a,b\n1,2\n" } do
      write(path, other)
      assert.matches("cannot go on from", (refused()))
    end
  end)

  it("while this process has it open, or the drive", function()
    local s <close> = assert(resume(path, identity))
    local _, message, code = resume(path, identity)
    assert.matches("WD%-S.*is in use: this very process has it", message)
    assert.equal(16, code)
    local other = scratch.path("other")
    assert.matches("in use", (select(2, state.open("burnin", identity, { version = 3, path = other }))))
    assert.matches("the state file .* is in use", (select(2,
      state.open("burnin", drive { serial = "WD-X" }, { version = 3, path = path, force = true }))))
    s:close()
    resume(path, identity):close()
  end)
end)

-- Takes the lock of a drive in a process of its own, which then waits or is killed.
local HOLD <const> = [[
local state = require "hdd.state"
local serial, how = ...
local lock, message, code = state.lock { path = "/dev/sdz", name = "sdz", model = "WDC WD6000HLHX", serial = serial }
print(lock and "held" or message, code)
io.stdout:flush()
if how == "kill" then os.execute("kill -9 " .. io.open("/proc/self/stat"):read("n")) end
if how == "child" then assert(io.popen("sleep 3 >/dev/null 2>&1 </dev/null &")):close() end
]]

describe("the lock of a drive", function()
  local identity
  before_each(function() identity = drive() end)

  it("holds against other processes, which are told who has it", function()
    local lock = assert(state.lock(identity))
    local r = process.lua(HOLD, { arguments = { identity.serial } })
    local pid = assert(io.open("/proc/self/stat")):read("n")
    assert.matches("is in use: process " .. pid .. " %(.*%) has it, since 20%d%d%-", r.stdout)
    assert.matches("\t16", r.stdout)
    lock:release()
    lock:release()
    assert.matches("^held", process.lua(HOLD, { arguments = { identity.serial } }).stdout)
  end)

  it("ends with its process, however that ended, and whatever children it had", function()
    for _, how in ipairs { "kill", "child", "" } do
      assert.matches("^held", process.lua(HOLD, { arguments = { identity.serial, how } }).stdout)
      assert(state.lock(identity)):release()
    end
  end)

  it("lets two drives be used at once", function()
    local one, other = assert(state.lock(identity)), assert(state.lock(drive()))
    one:release()
    other:release()
  end)

  it("of another user's process is respected, too", function()
    needs.root()
    needs.nobody()
    local lock = assert(state.lock(identity))
    local r = process.hddlua({ "-e", (HOLD:gsub("%.%.%.", string.format("%q", identity.serial))) },
      { user = "nobody" })
    lock:release()
    assert.matches("is in use", r.stdout .. r.stderr)
  end)
end)

describe("the place of a state", function()
  it("follows XDG, and has a fallback where there is no home", function()
    local function folder(env) return state.folder(function(name) return env[name] end) end
    assert.equal("/var/state/hddlua", folder { XDG_STATE_HOME = "/var/state", HOME = "/root" })
    assert.equal("/root/.local/state/hddlua", folder { XDG_STATE_HOME = "relative", HOME = "/root" })
    assert.equal("/var/lib/hddlua", folder {})
  end)

  it("is a file of the drive's own, made with its folder", function()
    local identity = drive { serial = " WD/1 " }
    assert.equal("/x/burnin-WDC-WD6000HLHX-WD-1.json", state.path("burnin", identity, "/x/"))
    assert.equal("/x/y.json", state.path("burnin", identity, "/x/y.json"))
    local folder = scratch.path("deep") .. "/a/b/"
    left(state.path("burnin", identity, folder), identity)
    local list = state.list(folder)
    assert.equal(1, #list)
    assert.equal(" WD/1 ", list[1].drive.serial)
    shell.must("rm -r " .. folder:match("^(.*)/a/b/$"))
  end)

  it("is listed with what is wrong with it", function()
    local folder = scratch.path("states")
    assert(lfs.mkdir(folder))
    write(folder .. "/burnin-a.json", "{")
    local list = state.list(folder)
    assert.matches("not JSON", list[1].problem)
    shell.must("rm -r " .. folder)
    assert.same({}, state.list(folder .. "/nowhere/"))
  end)

  it("leads back to the drive, or says that it is not there", function()
    local file = scratch.file(1 << 20)
    local identity
    do
      local open <close> = assert(require("hdd").open(file, { buffered = true }))
      identity = open:identity()
    end
    local entry = { path = "s.json", drive = identity }
    assert.equal(file, state.find(entry))
    os.remove(file)
    local found, message, code = state.find(entry)
    assert.is_nil(found)
    assert.matches("is not there: attach it, or remove s.json", message)
    assert.equal(19, code)
  end)
end)
