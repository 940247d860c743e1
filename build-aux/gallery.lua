-- gallery.lua: measures simulated drives, the two of 10,000 rpm and one with faults, and draws what
-- hddlua can draw of them: docs/gallery.md and docs/gallery/.  Some six minutes; `make gallery` runs it.
-- The documents stay in build/gallery; what is there already is not measured again.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local figure = require "hdd.view.figure"
local figures = require "hdd.view.figures"
local hddsim = require "spec.support.hddsim"
local lfs = require "lfs"

local DOCUMENTS <const>, PICTURES <const>, PAGE <const> = "build/gallery", "docs/gallery", "docs/gallery.md"
local WIDTH <const>, HEIGHT <const> = 900, 500

local NEW <const>, OLD <const> = "wd6000hlhx", "wd3000glfs"
local FAULTY <const> = "tiny,zones=2,capacity=1G,fault=eio:600000+8:ms=300,fault=slow:1200000+64:revs=4,"
  .. "fault=slow:300000+8:revs=20"

-- Name of the document, drive, what is run on it.
local RUNS <const> = {
  { "zoneprofile-new", NEW, { "zoneprofile", "$DISK", "--count", "64", "--zone-size", "64m" } },
  { "zoneprofile-old", OLD, { "zoneprofile", "$DISK", "--count", "64", "--zone-size", "64m" } },
  { "qdsweep-new", NEW, { "qdsweep", "$DISK", "--ramp", "1", "--runtime", "8" } },
  { "qdsweep-old", OLD, { "qdsweep", "$DISK", "--ramp", "1", "--runtime", "8" } },
  { "seekprofile-new", NEW, { "seekprofile", "$DISK" } },
  { "seekprofile-old", OLD, { "seekprofile", "$DISK" } },
  { "surface", FAULTY, { "surface", "$DISK" } },
}

-- What the page shows: the documents, and a sentence with the command.
local SHOWN <const> = {
  { "Rate across the drive", { "zoneprofile-new", "zoneprofile-old" },
    "A 600 GB and a 300 GB drive of 10,000 rpm laid over one another.",
    "hddlua zoneprofile /dev/sdX --plot rate.svg" },
  { "Random reads by queue depth", { "qdsweep-new", "qdsweep-old" },
    "Reads a second, what they cost in time, and how the times are distributed.",
    "hddlua qdsweep /dev/sdX --plot iops.svg" },
  { "Seeks", { "seekprofile-new", "seekprofile-old" },
    "Measured and fitted.", "hddlua seekprofile /dev/sdX --plot seek.svg" },
  { "A surface with faults", { "surface" },
    "A drive with one unreadable and two slow places.", "hddlua surface /dev/sdX --plot surface.svg" },
}

local function say(text, ...) io.stderr:write("gallery: ", string.format(text, ...), "\n") end

local function path_of(name) return DOCUMENTS .. "/" .. name .. ".json" end

-- Exit status 1 is a drive with bad sectors: that is what was to be shown.
local function measure(name, drive, argv)
  if lfs.attributes(path_of(name)) then return end
  say("measuring %s", name)
  local words = { "build/hddlua", table.unpack(argv) }
  table.move({ "--json", path_of(name) }, 1, 2, #words + 1, words)
  local run = hddsim.run(drive, words, { timeout = 600 })
  assert(run.status == 0 or run.status == 1, run.stderr)
end

-- A loop device has no name that says anything: here it is what it simulates.
local MODELS <const> = { new = "simulated WD6000HLHX", old = "simulated WD3000GLFS" }

local function load(name)
  local d = assert(document.load(path_of(name)))
  d.drive.kind = "disk"
  d.drive.model = MODELS[name:match("%-(%w+)$")] or "simulated drive with faults"
  return d
end

local function save(path, bytes)
  local file = assert(io.open(path, "wb"))
  assert(file:write(bytes))
  assert(file:close())
end

local function draw(page, list)
  for _, f in ipairs(list) do
    local path = string.format("%s/%s.svg", PICTURES, f.id)
    save(path, assert(figure.svg(f, { width = WIDTH, height = HEIGHT })))
    page[#page + 1] = string.format("![%s](gallery/%s.svg)\n\n%s\n", f.title, f.id, f.description)
  end
end

for _, folder in ipairs { DOCUMENTS, PICTURES } do lfs.mkdir(folder) end
for _, run in ipairs(RUNS) do measure(table.unpack(run)) end
local page = {
  "# Gallery\n\nWhat hddlua draws, of simulated drives behind loop devices; `make gallery` measures them and\n"
    .. "makes this page. Every procedure takes `--plot FILE.svg` or `.png`; `hddlua report` puts the same figures,\n"
    .. "with values under the pointer, into one HTML page.\n",
}
for _, section in ipairs(SHOWN) do
  local documents = {}
  for i, name in ipairs(section[2]) do documents[i] = load(name) end
  page[#page + 1] = string.format("## %s\n\n%s\n\n    %s\n", section[1], section[3], section[4])
  local list = figures.of(documents)
  draw(page, list)
  if section[2][1] == "zoneprofile-new" then
    page[#page + 1] = "In the terminal:\n\n    " .. figure.text(list[1], { width = 80, height = 16, utf8 = true })
      :gsub("%s+$", ""):gsub("\n", "\n    ") .. "\n"
  end
end
save(PAGE, table.concat(page, "\n"))
say("%s is written", PAGE)
