-- All pages of all drives of the fixtures: through the real calls, and from recordings of them.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local needs = require "spec.support.needs"
local pages = require "hdd.pages"
local sgreplay = require "spec.support.sgreplay"
local transport = require "hdd.transport"

local function of_kind(kind, files)
  it(("finds each of the %d files of the %s fixtures, through the ioctl and replayed"):format(files, kind),
    function()
      needs.program("make")
      local ioctl, replayed = 0, 0
      for _, drive in ipairs(sgreplay.drives(kind)) do
        local recording, same, missing = sgreplay.recording(drive)
        assert.equal("", missing, drive)
        ioctl = ioctl + same
        local t <close> = assert(transport.open(recording))
        assert.equal(kind, t.kind)
        local again, lost = sgreplay.compare(drive, pages.read(t, {all = true}))
        assert.same({}, lost, drive)
        replayed = replayed + again
      end
      assert.equal(files, ioctl)
      assert.equal(files, replayed)
    end)
end

describe("all pages of a drive", function()
  of_kind("ata", 305)
  of_kind("nvme", 16)
  of_kind("scsi", 82)
end)
