-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Result files: whole or not at all, and never over another one.
local file = require "hdd.file"
local lfs = require "lfs"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local shell = require "spec.support.shell"

local EEXIST, EISDIR, EINVAL, ENOSPC, ENOENT = 17, 21, 22, 28, 2

local function names_in(folder)
  local names = {}
  for name in lfs.dir(folder) do
    if not name:match("^%.%.?$") then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function put(path, text)
  local stream <close> = assert(io.open(path, "w"))
  assert(stream:write(text))
end

describe("a result file", function()
  local home, folder

  before_each(function()
    home = place.new()
    folder = home.folder .. "/results"
    assert(lfs.mkdir(folder))
  end)
  after_each(function() home:close() end)

  it("is there whole, with nothing beside it", function()
    assert(file.write(folder .. "/a", "text\0more\n"))
    assert.equal("text\0more\n", shell.read(folder .. "/a"))
    assert.same({"a"}, names_in(folder))
  end)

  it("in the current folder needs no slash, and may begin with a dash or dot", function()
    local here = lfs.currentdir()
    assert(lfs.chdir(folder))
    local written = {file.write("-a", "1"), file.write(".b", "2")}
    assert(lfs.chdir(here))
    assert.equal(2, #written)
    assert.same({"-a", ".b"}, names_in(folder))
  end)

  it("is not overwritten without being asked to", function()
    put(folder .. "/a", "old")
    local written, message, code = file.write(folder .. "/a", "new")
    assert.is_nil(written)
    assert.equal(EEXIST, code)
    assert.truthy(message:find("--force", 1, true))
    assert.equal("old", shell.read(folder .. "/a"))
    assert(file.write(folder .. "/a", "new", {force = true}))
    assert.equal("new", shell.read(folder .. "/a"))
    assert.same({"a"}, names_in(folder))
  end)

  it("may replace what the same run has written, not what came in its place", function()
    local stamp = assert(file.write(folder .. "/a", "1"))
    stamp = assert(file.write(folder .. "/a", "2", {replacing = stamp}))
    assert.equal("2", shell.read(folder .. "/a"))
    os.remove(folder .. "/a")
    assert(file.write(folder .. "/a", "3", {replacing = stamp}))
    put(folder .. "/b", "another's")
    assert(os.rename(folder .. "/b", folder .. "/a"))
    local written, _, code = file.write(folder .. "/a", "4", {replacing = stamp})
    assert.is_nil(written)
    assert.equal(EEXIST, code)
    assert.equal("another's", shell.read(folder .. "/a"))
  end)

  it("that appears while it is being written is not overwritten either", function()
    -- The last look at the name is the rename itself: here one loses, with the file of the other kept.
    local core = require "hdd.core"
    put(folder .. "/mine", "mine")
    put(folder .. "/theirs", "theirs")
    local renamed, _, code = core.rename(folder .. "/mine", folder .. "/theirs", {exclusive = true})
    assert.is_nil(renamed)
    assert.equal(EEXIST, code)
    assert.equal("theirs", shell.read(folder .. "/theirs"))
  end)

  it("behind a link is written where the link leads, also when nothing is there yet", function()
    assert(lfs.mkdir(folder .. "/sub"))
    assert(lfs.link("sub/real", folder .. "/link", true))
    assert(file.write(folder .. "/link", "1"))
    assert.equal("1", shell.read(folder .. "/sub/real"))
    assert.is_nil((file.write(folder .. "/link", "2")))
    assert(file.write(folder .. "/link", "2", {force = true}))
    assert.equal("link", lfs.symlinkattributes(folder .. "/link", "mode"))
    assert.equal("2", shell.read(folder .. "/sub/real"))
    assert(lfs.link("b", folder .. "/a", true))
    assert(lfs.link("a", folder .. "/b", true))
    assert.is_nil((file.write(folder .. "/a", "x", {force = true})))
  end)

  it("is refused where no file can be, with the reason", function()
    for path, expected in pairs {
      [folder] = EISDIR, [folder .. "/"] = EINVAL, [""] = EINVAL, ["a\0b"] = EINVAL,
      [folder .. "/no/such/folder"] = ENOENT, [folder .. "/" .. ("x"):rep(300)] = 36,
    } do
      local written, message, code = file.write(path, "text", {force = true})
      assert.is_nil(written)
      assert.equal(expected, code)
      assert.truthy(message:find("^cannot write "), message)
      local probed, _, probe_code = file.probe(path, {force = true})
      assert.is_nil(probed)
      assert.equal(expected, probe_code)
    end
    assert.same({}, names_in(folder))
  end)

  it("is never a drive", function()
    needs.loop()
    local loop = shell.must("losetup -f")
    if lfs.attributes(loop, "mode") ~= "block device" then return pending("no free loop device node") end
    local written, message = file.write(loop, "text", {force = true})
    assert.is_nil(written)
    assert.truthy(message:find("drive", 1, true))
    assert.is_nil((file.probe(loop, {force = true})))
  end)

  it("may be a pipe or device, written as it stands", function()
    assert(file.write("/dev/null", "text"))
    assert.equal("char device", lfs.attributes("/dev/null", "mode"))
    assert.is_true(file.probe "/dev/null")
    local pipe = folder .. "/pipe"
    shell.must("mkfifo " .. pipe)
    assert.is_true(file.probe(pipe))
    local reader = io.popen("cat " .. pipe)
    assert(file.write(pipe, "through the pipe"))
    assert.equal("through the pipe", reader:read("a"))
    reader:close()
    assert.equal("named pipe", lfs.attributes(pipe, "mode"))
  end)

  it("is waited for while nobody reads the pipe, until the first Ctrl-C", function()
    local process = require "spec.support.process"
    local pipe = folder .. "/unread"
    shell.must("mkfifo " .. pipe)
    local r = process.lua([[
      io.stdout:setvbuf("no")
      print "waiting"
      print(require("hdd.file").write(..., "text"))
    ]], {arguments = {pipe}, events = {{when = "waiting", after = 0.2, signal = "INT"}}})
    assert.matches("^waiting\nnil\t.*interrupted: nothing has read this pipe\t4\n", r.stdout)
    assert.is_false(r.timed_out)
  end)

  it("on a full device is an error", function()
    local written, message, code = file.write("/dev/full", "text")
    assert.is_nil(written)
    assert.equal(ENOSPC, code)
    assert.truthy(message:find("/dev/full", 1, true))
  end)

  it("on a full disk is not there, and what was there before stays", function()
    needs.root()
    shell.must("mount -t tmpfs -o size=64k none " .. folder)
    home:note("mounts", folder)
    assert(file.write(folder .. "/a", "old"))
    local stamp, _, code = file.write(folder .. "/a", ("x"):rep(200000), {force = true})
    assert.is_nil(stamp)
    assert.equal(ENOSPC, code)
    assert.equal("old", shell.read(folder .. "/a"))
    assert.same({"a"}, names_in(folder))
    shell.must("mount -o remount,ro " .. folder)
    assert.is_nil((file.probe(folder .. "/b")))
    local written, message = file.write(folder .. "/b", "x")
    assert.is_nil(written)
    assert.truthy(message:find("[Rr]ead%-only"), message)
  end)

  it("can be probed without leaving anything", function()
    assert.is_true(file.probe(folder .. "/a"))
    assert.same({}, names_in(folder))
    put(folder .. "/a", "old")
    local probed, _, code = file.probe(folder .. "/a")
    assert.is_nil(probed)
    assert.equal(EEXIST, code)
    assert.is_true(file.probe(folder .. "/a", {force = true}))
    assert.equal("old", shell.read(folder .. "/a"))
  end)
end)

describe("reading a file", function()
  it("returns all of it, also an empty one", function()
    local home <close> = place.new()
    local path = home:path()
    put(path, "")
    assert.equal("", file.read(path))
    put(path, ("x"):rep(200000))
    assert.equal(200000, #file.read(path))
  end)

  it("is bounded", function()
    local text, message, code = file.read("/dev/zero", 100000)
    assert.is_nil(text)
    assert.equal(27, code)
    assert.truthy(message:find("100000", 1, true))
  end)

  it("that fails says which and why", function()
    local text, message, code = file.read("/no/such/file")
    assert.is_nil(text)
    assert.equal(ENOENT, code)
    assert.truthy(message:find("/no/such/file", 1, true))
    text, message, code = file.read("/tmp")
    assert.is_nil(text)
    assert.equal(EISDIR, code)
    assert.truthy(message:find("/tmp", 1, true))
  end)
end)
