-- A drive's methods, as scripts and the prompt have them.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local health = require "hdd.health"
local sgreplay = require "spec.support.sgreplay"

local RAPTOR <const> = "ata/WD6000HLHX-01JJPV0-a"

-- Runs a chunk with an open drive `d`, whose commands go where its kind has it.
local function with_drive(drive, chunk, options)
  local r = sgreplay.lua(drive, [[
    local path, kind = ...
    local hdd = require "hdd"
    local d <close> = assert(hdd.open(path, {buffered = true}))
    assert(d:commands {as = kind})
  ]] .. chunk, options)
  assert.equal("", r.stderr)
  assert.equal(0, r.status)
  return r.stdout
end

describe("an open drive", function()
  it("says all of itself", function()
    assert.equal("25\t478\t10\twarning\n", with_drive(RAPTOR, [[
      local s = assert(d:smart())
      print(s:attribute(199).raw, s.sct.temperature_history.size, #s.phy_events, s.verdict.status)]]))
  end)

  it("gives its parts alone, each by as few commands as it takes", function()
    assert.equal("32\t10\t3\t478\t7000\n", with_drive(RAPTOR, [[
      print(d:identify().ncq.depth, #d:phy().counters, d:sct().status.format_version,
        d:sct().temperature_history.size, d:sct().error_recovery.read.ms)]]))
  end)

  it("gives any log, decoded where a decoder knows it", function()
    assert.equal("10\t512\t2\tsimple\n", with_drive(RAPTOR, [[
      local phy = assert(d:log {page = 0x11})
      local tests = assert(d:log {page = 0x06, smart = true})
      print(#phy.counters, #phy.bytes, #tests.entries, "simple")]]))
    assert.matches("^nil\t.*not support", with_drive(RAPTOR, [[
      local ok, message = d:log {page = 0x55}
      print(ok, message and "not supported: " .. message)]]))
  end)

  it("names the argument when a log has no number", function()
    assert.equal("false\tlog: page = x: must be an integer from 0 to 255\n", with_drive(RAPTOR, [[
      local ok, message = pcall(d.log, d, {page = "x"})
      print(ok, (message:gsub("^[^ ]+:%d+: ", "")))]]))
  end)

  it("tells its temperature and where that is from", function()
    assert.equal("36\tSCT status\n", with_drive(RAPTOR, "print(d:temperature())"))
    assert.equal("37\tSMART / Health log\n", with_drive("nvme/KXG60ZNV512G_TOSHIBA", "print(d:temperature())"))
    assert.equal("30\tattribute 194\n", with_drive("ata/SP0812C-a", "print(d:temperature())"))
  end)

  it("runs a self-test to its verdict", function()
    assert.equal("passed\n", with_drive(RAPTOR, [[
      print(assert(d:self_test {poll = 0.05, as = kind}).summary.verdict)]],
      {env = {SGREPLAY_STEP = "00,00,00,f9,f5,00"}}))
  end)

  it("sends commands that only read, and refuses others", function()
    assert.matches("^512\tnil\t.*not in the table of commands that only read", with_drive(RAPTOR, [[
      local page = assert(d:ata {command = 0xec, protocol = "pio-in", count = 1}).data
      print(#page, d:ata {command = 0xe7})]]))
  end)
end)

describe("a snapshot", function()
  local document = require "hdd.document"
  local json = require "hdd.json"
  local place = require "spec.support.place"
  local capdiff, view = require "hdd.drive.capdiff", require "hdd.view.smart"
  local home, text

  setup(function()
    home = place.new()
    local said = assert(health.read((sgreplay.recording(RAPTOR))))
    text = document.encode(require("hdd.procedure.snapshot").document(said))
  end)

  teardown(function() home:close() end)

  local function changed(change)
    local d = assert(json.decode(text))
    change(d)
    local path = home:path("snapshot")
    local file <close> = assert(io.open(path, "w"))
    file:write(json.encode(d))
    file:close()
    return health.load(path)
  end

  it("is read as far as it goes: what makes no sense is left out, and named", function()
    for section in pairs(assert(json.decode(text)).health) do
      for _, value in ipairs {"x", -5, {}, {{}}} do
        local said, message = changed(function(d) d.health[section] = value end)
        assert.is_true(said ~= nil or message:find("no snapshot") ~= nil, section)
        if said then
          assert.matches("WD6000HLHX", section == "identity" and "WD6000HLHX" or said.identity.model)
          assert.is_string(view.text(said, {width = 80, all = true}))
          assert.is_table(capdiff.compare(said, said))
        end
      end
    end
    local said = assert(changed(function(d) d.health.smart = "x" end))
    assert.matches("the snapshot's smart is in no form", view.text(said, {}))
    assert.equal(478, said.sct.temperature_history.size)
  end)

  it("gets a verdict when its own is missing", function()
    assert.equal("warning", assert(changed(function(d) d.verdict = nil end)).verdict.status)
  end)
end)

describe("what a drive says", function()
  it("has the same short-cuts for every kind of drive, and from a file", function()
    for _, drive in ipairs {RAPTOR, "nvme/KXG60ZNV512G_TOSHIBA", "scsi/SEAGATE_ST4000NM0043"} do
      local said = assert(health.read((sgreplay.recording(drive))))
      assert.equal(drive:match("^%l+"), said.kind)
      assert.equal("recording", said.source.kind)
      assert.has_no.errors(function() return said:attribute(194), said.attributes, said.phy_events end)
    end
  end)

  it("keeps libatasmart's opinion beside ours, with the reason where they differ", function()
    local said = assert(health.read((sgreplay.recording("ata/CorsairForce3-a"))))
    assert.equal("GOOD", said.libatasmart.overall)
    local found
    for _, o in ipairs(said.opinions) do if o.what == "attribute 231" then found = o end end
    assert.same({"98 % left", "0.0 °C"}, {found.shown, found.libatasmart})
    assert.matches("takes it for a temperature", found.why)
  end)

  it("agrees with libatasmart where both know better", function()
    for _, drive in ipairs {RAPTOR, "ata/WD3000GLFS-01F8U0-a", "ata/HUH721212ALN604-a"} do
      assert.equal(0, #assert(health.read((sgreplay.recording(drive)))).opinions, drive)
    end
  end)
end)
