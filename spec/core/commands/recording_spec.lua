-- The record file: what is written is read back, and what is broken gives what can be trusted.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local commands = require "hdd.commands"
local needs = require "spec.support.needs"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local BROKEN <const> = "spec/fixtures/smart/broken/"
local BLOB <const> = "spec/fixtures/smart/ata/WD6000HLHX-01JJPV0-a/libatasmart.blob"

local function bytes(path) return assert(shell.read(path)) end

local function ask(t, command)
  local request = assert(t:submit(command))
  while not request:done() do end
  return request:reply()
end

local IDENTIFY <const> = {kind = "ata", command = 0xec, protocol = "pio-in", count = 1}
local IDENTIFY_CDB <const> = "\x85\x08\x0e\0\0\0\x01\0\0\0\0\0\0\0\xec\0"

local function recording_of(...)
  local recording = commands.recording {tool = "spec", device_class = "sd"}
  for _, data in ipairs {...} do recording:add {cdb = IDENTIFY_CDB, data = data, elapsed_us = 1234} end
  return recording
end

describe("a recording", function()
  it("is read back as it was written", function()
    local recording = recording_of(("a"):rep(512))
    recording:add {kind = "nvme", cdb = "\2" .. ("\0"):rep(63), data = "log", sense = "\0\0\0\0\0\7"}
    recording:add {cdb = "\x1d\0\0\0\0\0", direction = "out", data = "out", result = 5}
    recording:note("the drive clicks")
    local again = assert(commands.decode(recording:encode()))
    local was, is = recording:describe(), again:describe()
    assert.same(was, is)
    assert.same({"the drive clicks"}, is.notes)
    assert.same({}, is.warnings)
    assert.matches("^Linux ", is.kernel)
    for i = 1, 3 do assert.same(recording:exchange(i), again:exchange(i)) end
    assert.equal(recording:encode(), again:encode())
  end)

  it("begins with a blob that libatasmart takes", function()
    needs.program("skdump")
    local recording = assert(commands.decode(bytes(BLOB)))
    recording:add {cdb = IDENTIFY_CDB, data = recording:describe().identify}
    local path = scratch.path("blob")
    local file = assert(io.open(path, "wb"))
    file:write(recording:encode())
    file:close()
    assert.matches("Model: %[WDC WD6000HLHX", shell.must("skdump --load=" .. path))
  end)

  it("is answered from in the order in which it was made, and then as it was last", function()
    local t = recording_of(("1"):rep(512), ("2"):rep(512)):replay()
    assert.equal(("1"):rep(512), ask(t, IDENTIFY).data)
    local second = ask(t, IDENTIFY)
    assert.equal(("2"):rep(512), second.data)
    assert.equal(1234, second.elapsed_us)
    assert.equal(("2"):rep(512), ask(t, IDENTIFY).data)
    t:close()
  end)

  it("answers what was never asked as a drive that does not have it", function()
    local t = recording_of():replay()
    assert.equal("not supported by the drive", ask(t, IDENTIFY).reason)
    assert.equal("not supported by the drive", ask(t, {kind = "nvme", opcode = 6, length = 8}).reason)
    assert.equal("not supported by the drive", ask(t, {kind = "scsi", cdb = "\x12\0\0\0\0\0"}).reason)
    t:close()
  end)

  it("is recorded again from a replay, exchange by exchange", function()
    local first = recording_of(("1"):rep(512))
    local second = commands.recording {}
    local t = first:replay()
    t:record(second)
    ask(t, IDENTIFY)
    t:close()
    assert.same(first:exchange(1), second:exchange(1))
    assert.equal(("1"):rep(512), second:describe().identify)
  end)

  it("lives on while it is replayed", function()
    local t = recording_of(("1"):rep(512)):replay()
    collectgarbage()
    collectgarbage()
    assert.equal(("1"):rep(512), ask(t, IDENTIFY).data)
    t:close()
    t:close()
  end)

  it("says at once what was changed in a file", function()
    local file = recording_of(("a"):rep(512)):encode()
    local changed = file:gsub("aaaa", "aaab", 1)
    assert.matches("the sum is wrong", assert(commands.decode(changed)):describe().warnings[1])
  end)

  it("gives what can be trusted of a file that ends at any byte", function()
    local file = recording_of(("a"):rep(512), ("b"):rep(512)):encode()
    for n = 0, #file - 1, 7 do
      local recording = commands.decode(file:sub(1, n))
      if recording then
        assert.is_true(#recording:describe().warnings > 0 or recording:describe().exchanges == 0, n)
        assert.is_true(recording:describe().exchanges <= 2)
      end
    end
  end)

  it("keeps no more than fits its bound, and counts the rest", function()
    local recording = commands.recording {}
    local data = ("x"):rep(1 << 20)
    for _ = 1, 70 do recording:add {cdb = "\xb7\0\0\0\0\0\0\0\0\0\0\0", data = data} end
    local is = recording:describe()
    assert.equal(63, is.exchanges)
    assert.same({"7 exchanges found no room and are missing"}, is.warnings)
  end)
end)

describe("a libatasmart blob", function()
  it("answers four commands", function()
    local blob = assert(commands.decode(bytes(BLOB)))
    local is = blob:describe()
    assert.same({}, is.warnings)
    local t = blob:replay()
    local function smart(features, rest)
      local command = {kind = "ata", command = 0xb0, features = features, lba = 0xc24f00}
      for key, value in pairs(rest) do command[key] = value end
      return ask(t, command)
    end
    assert.equal(is.identify, ask(t, IDENTIFY).data)
    assert.equal(is.data, smart(0xd0, {protocol = "pio-in", count = 1}).data)
    assert.equal(is.thresholds, smart(0xd1, {protocol = "pio-in", count = 1}).data)
    assert.equal(0xc24f00, smart(0xda, {registers = true}).registers.lba)
    assert.equal("not supported by the drive", smart(0xd5, {protocol = "pio-in", count = 1}).reason)
    t:close()
  end)

  local function warnings(name) return assert(commands.decode(bytes(BROKEN .. name))):describe().warnings end

  it("that is broken is read as far as it makes sense, and says so", function()
    assert.same({}, warnings("blob_unknown_tag.blob"))
    assert.same({"a page is there twice: the first counts"}, warnings("blob_duplicate.blob"))
    assert.same({"the file ends within a chunk: it was cut short"}, warnings("blob_truncated.blob"))
    assert.same({"the file ends within a chunk: it was cut short"}, warnings("blob_tail.blob"))
    assert.same({"the file ends within a chunk: it was cut short"}, warnings("blob_huge_length.blob"))
    assert.is_nil(assert(commands.decode(bytes(BROKEN .. "blob_no_identify.blob"))):describe().identify)
  end)

  it("is told from any other file", function()
    for _, text in ipairs {"", "IDFY", "hello", ("\0"):rep(4096), bytes("spec/fixtures/README.md")} do
      local recording, message, code = commands.decode(text)
      assert.is_nil(recording)
      assert.equal("neither a recording nor a libatasmart blob", message)
      assert.equal(74, code)
    end
  end)
end)
