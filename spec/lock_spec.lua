-- Locks between processes: the folders that everybody may write to.
-- SPDX-License-Identifier: GPL-3.0-or-later
local lfs = require "lfs"
local lock = require "hdd.lock"
local place = require "spec.support.place"
local shell = require "spec.support.shell"

describe("a lock", function()
  local before = lock.folders
  after_each(function() lock.folders = before end)

  it("is not written through a symbolic link that somebody has put in its place", function()
    local home <close> = place.new()
    local folder = home:path("locks")
    assert(lfs.mkdir(folder))
    lock.folders = { folder }
    local victim = home:path("victim")
    shell.must("echo precious > " .. victim)
    assert(lfs.link(victim, folder .. "/hddlua-sdz.lock", true))
    local taken, message, code = lock.take("sdz", "/dev/sdz")
    assert.is_nil(taken)
    assert.matches("is a symbolic link: remove it", message)
    assert.equal(13, code)
    assert.equal("precious\n", shell.read(victim))
  end)

  it("is taken in the first folder where it can be", function()
    local home <close> = place.new()
    local folder = home:path("locks")
    assert(lfs.mkdir(folder))
    lock.folders = { home:path("missing"), folder }
    local held <close> = assert(lock.take("sdz", "/dev/sdz"))
    assert.equal("file", lfs.attributes(folder .. "/hddlua-sdz.lock", "mode"))
    local again, message = lock.take("sdz", "/dev/sdz")
    assert.is_nil(again)
    assert.matches("this very process has it", message)
    held:release()
    assert.is_nil(lfs.attributes(folder .. "/hddlua-sdz.lock"))
  end)
end)
