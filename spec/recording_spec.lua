-- Recordings as users make them: saved, loaded, and made fit to be shown to others.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local anonymise = require "hdd.anonymise"
local pages = require "hdd.pages"
local recordings = require "hdd.recording"
local scratch = require "spec.support.scratch"
local sgreplay = require "spec.support.sgreplay"
local shell = require "spec.support.shell"
local transport = require "hdd.transport"

local function word_swapped(text) return (text:gsub("(.)(.)", "%2%1")) end

local function trimmed(text) return text:match("^[%z ]*(.-)[%z ]*$") end

-- All bytes of all exchanges, apart from what was sent.
local function all(recording)
  local parts = {}
  for i = 1, recording:describe().exchanges do parts[i] = recording:exchange(i).data end
  return table.concat(parts)
end

local function sum(page)
  local s = 0
  for i = 1, #page do s = s + page:byte(i) end
  return s & 0xff
end

local function public(drive)
  return recordings.anonymise(assert(recordings.load((sgreplay.recording(drive)))))
end

describe("a saved recording", function()
  it("is loaded again, and not overwritten", function()
    local path = scratch.path("saved")
    local recording = recordings.new("sdb")
    assert(recordings.save(recording, path))
    assert.equal("sd", assert(recordings.load(path)):describe().device_class)
    local done, _, code = recordings.save(recording, path)
    assert.is_nil(done)
    assert.equal(17, code)
    assert(recordings.save(recording, path, {force = true}))
  end)

  it("that cannot be loaded names the file and the reason", function()
    local none, message = recordings.load("/no/such/file")
    assert.is_nil(none)
    assert.matches("/no/such/file", message)
    none, message = recordings.load("spec/fixtures/README.md")
    assert.is_nil(none)
    assert.equal("spec/fixtures/README.md: neither a recording nor a libatasmart blob", message)
  end)
end)

describe("an anonymised recording", function()
  it("of an ATA drive has neither its serial number nor its name, and right sums", function()
    local n = 0
    for _, drive in ipairs(sgreplay.drives("ata")) do
      local before = assert(recordings.load((sgreplay.recording(drive))))
      local identify = before:describe().identify
      local serial = trimmed(word_swapped(identify:sub(21, 40)))
      local recording = public(drive)
      local bytes, blob = all(recording), recording:describe()
      assert.is_true(blob.anonymised)
      assert.is_true(#serial > 4)
      for _, page in ipairs {bytes, blob.identify} do
        assert.is_nil(page:find(serial, 1, true), drive)
        assert.is_nil(word_swapped(page):find(serial, 1, true), drive)
      end
      local was, is = word_swapped(identify:sub(217, 224)), word_swapped(blob.identify:sub(217, 224))
      assert.equal(was:sub(1, 3), is:sub(1, 3)) -- the maker's part stays
      assert.equal(("\0"):rep(4), is:sub(5))
      if sum(identify) == 0 then assert.equal(0, sum(blob.identify), drive) end
      assert.equal(identify:sub(47, 94), blob.identify:sub(47, 94)) -- firmware and model
      n = n + 1
    end
    assert.equal(24, n)
  end)

  it("is read like the one it was made of, and marked in its file", function()
    local path = scratch.path("public")
    assert(recordings.save(public("ata/WD6000HLHX-01JJPV0-a"), path))
    local t <close> = assert(transport.open(path))
    local same, missing = sgreplay.compare("ata/WD6000HLHX-01JJPV0-a", pages.read(t, {all = true}))
    assert.same({"identify.bin"}, missing)
    assert.equal(12, same)
    assert.is_true(assert(recordings.load(path)):describe().anonymised)
    assert.matches("XXXX", word_swapped(t.identify:sub(21, 40)))
  end)

  it("of a SAS drive has neither serial numbers nor addresses", function()
    for _, drive in ipairs(sgreplay.drives("scsi")) do
      local folder = "spec/fixtures/smart/" .. drive
      local serial = trimmed(assert(shell.read(folder .. "/vpd_80.bin")):sub(5))
      local names = assert(shell.read(folder .. "/vpd_83.bin"))
      local bytes = all(public(drive))
      assert.is_true(#serial >= 4, drive)
      assert.is_nil(bytes:find(serial, 1, true), drive)
      assert.is_nil(bytes:find(names:sub(9, 16), 1, true), drive)
    end
    local ports = all(public("scsi/SAMSUNG_MZILT7T6HALA"))
    local was = assert(shell.read("spec/fixtures/smart/scsi/SAMSUNG_MZILT7T6HALA/log_18.bin"))
    local address = was:sub(21, 28)
    assert.is_true(address:byte(1) >> 4 == 5)
    assert.is_nil(ports:find(address, 1, true))
  end)

  it("of an NVMe drive has no identifier at all", function()
    for _, drive in ipairs(sgreplay.drives("nvme")) do
      local was = assert(shell.read("spec/fixtures/smart/" .. drive .. "/nvme_id_ctrl.bin"))
      local bytes = all(public(drive))
      local serial = trimmed(was:sub(5, 24))
      assert.is_nil(bytes:find(serial, 1, true), drive)
      assert.matches(trimmed(was:sub(25, 64)):gsub("%p", "%%%0"), bytes) -- the model stays
    end
  end)

  it("blanks the fields in which FARM cuts the serial number into pieces", function()
    local recording = recordings.new("sda")
    local page = ("F"):rep(512)
    recording:add {cdb = "\x85\x09\x0e\0\0\0\1\0\xa6\0\x20\0\0\0\x2f\0", data = page}
    recordings.anonymise(recording)
    local is = recording:exchange(1).data
    assert.equal(("\0"):rep(7) .. "F", is:sub(25, 32))
    assert.equal(("\0"):rep(7) .. "F", is:sub(49, 56))
    assert.equal(page:sub(57), is:sub(57))
  end)
end)

describe("bytes", function()
  it("lose what is secret and keep their length; right sums stay right, others are left alone", function()
    local secrets = {{from = "SECRET", to = "XXXXXX"}}
    local page = "SECRET" .. ("\0"):rep(505)
    local right = page .. string.char(-sum(page) & 0xff)
    local is = anonymise.bytes(secrets, right .. page .. "\1")
    assert.equal(1024, #is)
    assert.equal("XXXXXX", is:sub(1, 6))
    assert.equal(0, sum(is:sub(1, 512)))
    assert.equal("\1", is:sub(1024))
    assert.equal("no secrets", anonymise.bytes(secrets, "no secrets"))
  end)
end)
