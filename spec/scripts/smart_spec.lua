-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local document = require "hdd.document"
local folders = require "spec.support.drive_folder"
local health = require "hdd.health"
local json = require "dkjson"
local place = require "spec.support.place"
local process = require "spec.support.process"
local sgreplay = require "spec.support.sgreplay"
local shell = require "spec.support.shell"

local RAPTOR <const> = "ata/WD6000HLHX-01JJPV0-a"

local FAILING = {
  ["ata/CT1050MX300SSD1-a"] = true, ["ata/HUS724020ALA640-a"] = true,
  ["ata/usb-jmicron-hitachi-failed-a"] = true, ["nvme/CT500P1SSD8_worn"] = true,
  ["nvme/SSD_970_EVO_Plus_cw0d"] = true, ["scsi/SAS_predicted_failure"] = true,
}

local function smart(drive, arguments, options)
  return sgreplay.script(drive, "smart", arguments, options)
end

local function lines(text)
  local list = {}
  for line in text:gsub("\r", ""):gmatch("([^\n]*)\n") do list[#list + 1] = line end
  return list
end

describe("smart", function()
  it("ends with 1 for the drives that are failing, 0 for all others, and never says PASSED", function()
    for _, drive in ipairs(sgreplay.drives()) do
      local r = process.hddlua {"smart", (sgreplay.recording(drive))}
      assert.equal("", r.stderr, drive)
      assert.equal(FAILING[drive] and 1 or 0, r.status, drive)
      assert.equal(FAILING[drive] ~= nil, r.stdout:find("\nFAILING: ") ~= nil, drive)
      assert.is_nil(r.stdout:find("PASSED", 1, true), drive)
      assert.is_nil(r.stdout:find("[\0-\9\11-\31\127]"), drive)
    end
  end)

  it("fits a terminal of 80 columns, in ASCII where UTF-8 is not wanted", function()
    for _, drive in ipairs {RAPTOR, "ata/ST14000NM001G-2KJ103-a", "ata/SP0812C-a",
      "nvme/SSD_970_EVO_Plus_cw0d", "scsi/SAS_predicted_failure"} do
      local path = sgreplay.recording(drive)
      for _, locale in ipairs {"C", "C.UTF-8"} do
        local r = process.hddlua({"smart", "--all", path}, {
          env = {LC_ALL = locale}, terminal = {columns = 80, rows = 24, streams = {"stdout"}}})
        for _, line in ipairs(lines(r.stdout)) do
          assert.is_true((utf8.len(line) or #line) <= 80, drive .. ": " .. line)
          if locale == "C" then assert.is_nil(line:find("[\128-\255]"), line) end
        end
      end
    end
  end)

  it("survives a terminal of one column, and of twenty", function()
    for _, columns in ipairs {1, 7, 20} do
      local r = process.hddlua({"smart", (sgreplay.recording(RAPTOR))}, {
        terminal = {columns = columns, rows = 1, streams = {"stdout"}}})
      assert.equal(0, r.status)
      for _, line in ipairs(lines(r.stdout)) do
        assert.is_true((utf8.len(line) or #line) <= columns, line)
      end
    end
  end)

  it("shows what the drive says, with the history of temperatures drawn", function()
    local r = smart(RAPTOR, {"--charset", "ascii"})
    for _, text in ipairs {
      "WDC WD6000HLHX%-01JJPV0, serial FX7959969306", "600%.1 GB %(558%.9 GiB%), 10000 rpm",
      "NCQ depth 32, write cache on, read%-ahead on", "history of 478 temperatures",
      "199 interface CRC errors .* 25\n", "8%.0 h ago +now\n",
      "the drive's own status is good, but something speaks against it",
      "extended +at 8388 h +14 days ago +completed without error",
      "000Ah +15 +Device%-to%-host register FISes", "Failed commands: none noted",
    } do
      assert.matches(text, r.stdout)
    end
  end)

  it("gives a valid document, and nothing else, on standard output", function()
    for _, drive in ipairs {RAPTOR, "nvme/KXG60ZNV512G_TOSHIBA", "scsi/SEAGATE_ST4000NM0043"} do
      local r = smart(drive, {"--json", "-"})
      local d, complaints = assert(document.decode(r.stdout))
      assert.same({}, complaints)
      assert.equal("hddlua.smart/1", d.schema)
      assert.equal(d.health.identity.serial, d.drive.serial)
      assert.is_true(#d.verdict.reasons > 0)
    end
  end)

  it("keeps integers above 2^53 digit for digit", function()
    local r = smart("ata/CorsairForce3-a", {"--json", "-"})
    assert.matches('"raw": 208726820732394[,}]', r.stdout)
  end)

  it("saves a snapshot, which it takes in the drive's place, and overwrites nothing", function()
    local home <close> = place.new()
    local path = home:path("snapshot")
    assert.equal(0, smart(RAPTOR, {"--save", path}).status)
    local again = process.hddlua {"smart", path}
    assert.equal(0, again.status)
    assert.matches("snapshot .*, read 20", again.stdout)
    assert.matches("history of 478 temperatures", again.stdout)
    local refused = smart(RAPTOR, {"--save", path})
    assert.equal(2, refused.status)
    assert.matches("exists already", refused.stderr)
    assert.equal(0, smart(RAPTOR, {"--save", path, "--force"}).status)
  end)

  it("shows what has changed since a snapshot, of the same drive alone", function()
    local home <close> = place.new()
    local path = home:path("snapshot")
    assert.equal(0, smart(RAPTOR, {"--save", path}).status)
    local later = folders.copy(home, RAPTOR, {
      -- Attribute 199 is the 16th: its raw value's lowest byte is 31 now, and was 25.
      ["smart_data.bin"] = function(page)
        for at = 2, 350, 12 do
          if page:byte(at + 1) == 199 then return folders.with({[at + 5] = 31})(page) end
        end
      end})
    local r = smart(later, {"--before", path}, {kind = "ata"})
    assert.matches("199 interface CRC errors .* %+6 +31\n", r.stdout)
    assert.matches("6 more than before", r.stdout)
    local other = smart("ata/WD6000HLHX-01JJPV0-b", {"--before", path})
    assert.is_nil(other.stdout:find("more than before", 1, true))
  end)

  it("records a drive so that the recording says the same, without its names when asked", function()
    local home <close> = place.new()
    local path, public = home:path("drive"), home:path("public")
    assert.equal(0, smart(RAPTOR, {"--record", path}).status)
    assert.equal(0, smart(RAPTOR, {"--record", public, "--anonymise"}).status)
    local a = assert(health.read(path))
    assert.equal("FX7959969306", a.identity.serial)
    assert.equal(478, a.sct.temperature_history.size)
    local bytes = assert(shell.read(public))
    assert.is_nil(bytes:find("FX7959969306", 1, true))
    assert.is_nil(bytes:find("XF97959963", 1, true)) -- as IDENTIFY stores it
    local b = assert(health.read(public))
    assert.equal("ok", b.identity.checksum)
    assert.same(a.attributes, b.attributes)
  end)

  it("takes a bare libatasmart blob", function()
    local r = process.hddlua {"smart", "spec/fixtures/smart/" .. RAPTOR .. "/libatasmart.blob"}
    assert.equal(0, r.status)
    assert.matches("199 interface CRC errors", r.stdout)
    assert.matches("Not read\n", r.stdout)
  end)

  it("leaves a drive asleep, and says so, unless it is to be woken", function()
    local options = {env = {SGREPLAY_POWER = "0x00", SGREPLAY_TRACE = "1"}}
    local r = smart(RAPTOR, {}, options)
    assert.equal(0, r.status)
    assert.equal("", r.stdout)
    assert.matches("skipped: standby", r.stderr)
    for command in r.stderr:gmatch("cmd=(%x+)") do assert.equal("e5", command) end
    assert.matches("WD6000HLHX", smart(RAPTOR, {"--wake"}, options).stdout)
  end)

  it("names the missing right, and shows no invented values", function()
    local r = smart(RAPTOR, {}, {env = {SGREPLAY_FAIL = "ec=eperm,e5=eperm"}})
    assert.equal(2, r.status)
    assert.equal("", r.stdout)
    assert.matches("CAP_SYS_RAWIO", r.stderr)
  end)

  it("marks a log that the drive refuses, and shows the others", function()
    local r = smart(RAPTOR, {}, {env = {SGREPLAY_FAIL = "2f/11=abrt,b0/d1=medium"}})
    assert.equal(0, r.status)
    assert.matches("not supported: .*SATA Phy event counters", r.stdout)
    assert.matches("failed: +SMART thresholds", r.stdout)
    assert.matches("no thresholds", r.stdout)
    assert.matches("199 interface CRC errors", r.stdout)
  end)

  it("says unknown where a bridge returns no registers", function()
    local r = smart(RAPTOR, {}, {env = {SGREPLAY_NOREGS = "1"}})
    assert.equal(0, r.status)
    assert.matches("no registers: .*SMART status", r.stdout)
    assert.matches("199 interface CRC errors", r.stdout)
  end)

  it("says that SMART is switched off, and leaves it so", function()
    local home <close> = place.new()
    local off = folders.copy(home, RAPTOR, {["identify.bin"] = function(page)
      return folders.with({[170] = page:byte(171) & 0xfe})(page)
    end})
    local r = smart(off, {}, {kind = "ata", env = {SGREPLAY_TRACE = "1"}})
    assert.equal(0, r.status)
    assert.matches("SMART off", r.stdout)
    assert.matches("SMART is disabled", r.stdout)
    assert.is_nil(r.stderr:find("cmd=b0", 1, true))
  end)

  it("gives each of several drives its result", function()
    local r = process.hddlua {"smart", (sgreplay.recording("ata/HUS724020ALA640-a")), "/no/such/drive",
      (sgreplay.recording(RAPTOR))}
    assert.equal(1, r.status)
    assert.matches("HUS724020ALA640", r.stdout)
    assert.matches("WD6000HLHX", r.stdout)
    assert.matches("/no/such/drive", r.stderr)
    assert.equal(2, process.hddlua({"smart", "/no/such/drive", (sgreplay.recording(RAPTOR))}).status)
  end)

  it("gives a list on standard output for several drives", function()
    local path = sgreplay.recording(RAPTOR)
    local list = assert(json.decode(process.hddlua({"smart", path, path, "--json", "-"}).stdout))
    assert.equal(2, #list)
    assert.equal("hddlua.smart/1", list[2].schema)
  end)

  it("says what is wrong with files and devices that are no drive", function()
    for path, message in pairs {
      ["/dev/null"] = "no drive", ["/"] = "directory", ["spec/scripts/smart_spec.lua"] = "is ",
    } do
      local r = process.hddlua {"smart", path}
      assert.equal(2, r.status, path)
      assert.matches(message, r.stderr)
    end
  end)

  it("shows two opinions where libatasmart reads something else", function()
    local r = smart("ata/CorsairForce3-a")
    assert.matches("libatasmart reads otherwise", r.stdout)
    assert.matches("231 %(shown 98 %% left, libatasmart 0%.0 ", r.stdout)
  end)
end)

describe("smart, of a drive that ends to answer,", function()
  it("shows what was read until then, and ends with 2", function()
    local r = smart(RAPTOR, {}, {env = {SGREPLAY_FAIL = "b0/d0=gone"}})
    assert.equal(2, r.status)
    assert.matches("WD6000HLHX", r.stdout)
    assert.matches("NOT ALL READ", r.stdout)
    assert.matches("gone: SMART data", r.stdout)
  end)

  it("says how long it was waited for when it never answers", function()
    local r = smart(RAPTOR, {}, {env = {SGREPLAY_DELAY_MS = "5500"}})
    assert.equal(2, r.status)
    assert.matches("CHECK POWER MODE: no answer for 5 s; it is still awaited", r.stderr)
  end)
end)

-- Which page of a drive a broken one stands for.
local PAGES = {
  {"^sct_status", RAPTOR, "smartlog_e0.bin"}, {"^temphist", RAPTOR, "smartlog_e1_t2.bin"},
  {"^phy", RAPTOR, "gplog_11.bin"}, {"^smart_data", RAPTOR, "smart_data.bin"},
  {"^exterr", RAPTOR, "gplog_03.bin"}, {"^selftest", "ata/SP0812C-a", "smartlog_06.bin"},
  {"^devstat", "ata/HUH721212ALN604-a", "gplog_04.bin"},
  {"^nvme_log", "nvme/KXG60ZNV512G_TOSHIBA", "nvme_log_02.bin"},
}

describe("smart, of a broken page,", function()
  for name in shell.must("ls spec/fixtures/smart/broken"):gmatch("[^\n]+%.bin") do
    it("shows the rest: " .. name, function()
      local home <close> = place.new()
      local page = assert(shell.read("spec/fixtures/smart/broken/" .. name))
      for _, p in ipairs(PAGES) do
        if name:find(p[1]) then
          local r = smart(folders.copy(home, p[2], {[p[3]] = page}), {"--all"}, {kind = (p[2]:match("^%l+"))})
          assert.equal("", r.stderr)
          -- Two of them are of drives that are failing.
          local failing = name:find("all_warnings") or name:find("invalid_norm")
          assert.equal(failing and 1 or 0, r.status)
          assert.matches("serial FX", r.stdout)
          return
        end
      end
      error("no page for " .. name)
    end)
  end

  for name in shell.must("ls spec/fixtures/smart/broken"):gmatch("[^\n]+%.blob") do
    it("shows or refuses a blob, and says why: " .. name, function()
      local r = process.hddlua {"smart", "spec/fixtures/smart/broken/" .. name}
      assert.is_true(r.status == 0 or r.status == 2, r.stderr)
      assert.is_true(r.status == 0 or r.stderr:find("smart: ", 1, true) == 1, r.stderr)
    end)
  end
end)
