-- What SCSI drives are asked, where they differ in what they know.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local folders = require "spec.support.drive_folder"
local place = require "spec.support.place"
local sgreplay = require "spec.support.sgreplay"

local SEAGATE <const> = "scsi/SEAGATE_ST4000NM0043"

-- What becomes of the grown defects of a drive that knows READ DEFECT DATA(10) alone.
local function defects()
  local home <close> = place.new()
  local folder = folders.copy(home, SEAGATE, {
    ["defects_b7.bin"] = false,
    ["defects_37.bin"] = "\0\x0d\0\x10" .. ("\0\0\1\2\0\0\0\3"):rep(2),
  })
  local r = sgreplay.lua(folder, [[
    local path = ...
    local t <close> = assert(require("hdd.transport").open(path, {as = "scsi"}))
    local data, message = require("hdd.transport.scsi").defects(t)
    if not data then return print(message) end
    local list = require("hdd.drive.scsi_answers").decode(data)
    print(list.grown, list.count, #list.defects, #list.warnings, list.defects[2].cylinder,
      list.defects[2].head, list.defects[2].position)
  ]], {kind = "scsi"})
  assert.equal("", r.stderr)
  return r.stdout
end

describe("the grown defects of a SCSI drive", function()
  it("are asked for by the older command where the newer is not known", function()
    assert.equal("true\t2\t2\t0\t1\t2\t3\n", defects())
  end)
end)
