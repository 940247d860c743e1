-- Which documents are of one drive.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local drives = require "hdd.view.html.drives"
local figures = require "hdd.view.figures"

local function document(drive)
  return {
    schema = "hddlua.zoneprofile/1", drive = drive,
    zones = { { offset_bytes = 0, length_bytes = 1 << 20, bandwidth_bytes_per_s = 1e8 } },
  }
end

-- The names of the drives, on the page and in its figures.
local function names(...)
  local documents, page = {}, {}
  for i, drive in ipairs { ... } do documents[i] = document(drive) end
  for i, drive in ipairs(drives.of(documents)) do page[i] = drive.name end
  local colours, count = {}, 0
  for _, series in ipairs(figures.of(documents)[1].series) do
    if not colours[series.colour] then colours[series.colour], count = true, count + 1 end
  end
  return page, count
end

describe("documents", function()
  it("with one serial number are of one drive, wherever it was attached", function()
    local page, colours = names({ model = "WDC X", serial = "1", path = "/dev/sda", kind = "disk" },
      { model = "WDC X", serial = "1", path = "/dev/sdb", kind = "disk" })
    assert.same({ "WDC X" }, page)
    assert.equal(1, colours)
  end)

  it("of two files on one drive are of two, named as the files are", function()
    local function file(name)
      return { kind = "file", name = name, path = "/data/" .. name, serial = "1", identity_of = "sda",
        model = "the drive below" }
    end
    local page, colours = names(file "a.img", file "b.img")
    assert.same({ "a.img", "b.img" }, page)
    assert.equal(2, colours)
  end)
end)
