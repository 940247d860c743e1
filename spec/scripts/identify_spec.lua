-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local json = require "dkjson"
local process = require "spec.support.process"
local sgreplay = require "spec.support.sgreplay"

local RAPTOR <const> = "ata/WD6000HLHX-01JJPV0-a"

describe("identify", function()
  it("lists all drives of this machine, one a line", function()
    local r = process.hddlua {"identify"}
    assert.equal("", r.stderr)
    assert.equal(0, r.status)
    assert.matches("^drive +model +serial", r.stdout)
    assert.is_nil(r.stdout:find("[\0-\9\11-\31\127]"))
  end)

  it("puts the drives that are named into a table that fits 80 columns", function()
    local paths = {}
    for _, drive in ipairs {RAPTOR, "nvme/SSD_970_EVO_Plus_cw0d", "scsi/SAS_predicted_failure"} do
      paths[#paths + 1] = (sgreplay.recording(drive))
    end
    local r = process.hddlua({"identify", "--table", table.unpack(paths)}, {
      env = {LC_ALL = "C"}, terminal = {columns = 80, rows = 24, streams = {"stdout"}}})
    assert.equal(0, r.status)
    for line in r.stdout:gmatch("[^\r\n]+") do assert.is_true(#line <= 80, line) end
    assert.matches("600%.1 GB", r.stdout)
    assert.matches("FAILING", r.stdout)
    assert.matches("look closer", r.stdout)
  end)

  it("prints the serial number alone, or the name of what has none", function()
    assert.equal("FX7959969306\n", sgreplay.script(RAPTOR, "identify", {"--serial"}).stdout)
    local r = sgreplay.script(RAPTOR, "identify", {"--serial"},
      {env = {SGREPLAY_POWER = "0x00"}})
    -- A file that is asleep has no name in the kernel: it is told that nobody knows it.
    assert.equal(0, r.status)
    assert.matches("standby", r.stderr)
  end)

  it("shows what a drive can do", function()
    local r = sgreplay.script(RAPTOR, "identify")
    for _, text in ipairs {"WD6000HLHX%-01JJPV0", "NCQ depth 32", "write cache", "on +.*smart",
      "11h +1 +SATA Phy event counters", "error recovery control"} do
      assert.matches(text, r.stdout)
    end
  end)

  it("gives a list as JSON, alone on standard output", function()
    local list = assert(json.decode(sgreplay.script(RAPTOR, "identify", {"--json", "-"}).stdout))
    assert.equal("FX7959969306", list[1].serial)
    assert.equal(600127266816, list[1].size_bytes)
    assert.equal(32, list[1].identity.ncq.depth)
  end)

  it("ends with 2 for what is no drive", function()
    assert.equal(2, process.hddlua({"identify", "/no/such/drive"}).status)
  end)
end)
