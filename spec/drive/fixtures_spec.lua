-- Every value that a fixture's expected.json names must come out of our decoders: counted, N of N.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local json = require "dkjson"
local ata = require "hdd.drive.ata"
local fixtures = require "spec.support.drive_fixtures"
local mirror = require "spec.support.drive_mirror"

-- Not values of a drive: how the fixture was made, and where a value was read.
local ABOUT_THE_FIXTURE = {
  name = true, synthetic = true, files = true, note = true, via = true, powerup_ms_rounded = true,
}

-- smartctl's raw value as text, against our meaning of the same bytes. Its numbers must be ours.
local function raw_text_agrees(text, a)
  local m = a.meaning or {}
  local byte = {}
  for i = 0, 6 do byte[i] = i < 6 and a.raw >> i * 8 & 255 or a.reserved_byte or 0 end
  local function word(i) return byte[i] | byte[i + 1] << 8 end
  local n = {}
  for digits in text:gmatch("%-?%d+") do n[#n + 1] = math.tointeger(digits) end
  if text:find("Min/Max") then
    return m.temperature_c == n[1] and m.lowest_c == n[2] and m.highest_c == n[3]
  elseif text:find("Average") then
    return m.spin_up_ms == n[1] and m.average_ms == n[2]
  elseif text:find("h%+") then
    local seconds = (m.power_on_hours or m.head_flying_hours) * 3600 + (m.head_flying_ms
      or 0) / 1000
    local theirs = n[1] * 3600 + n[2] * 60 + (n[3] or 0) + (n[4] or 0) / 1000
    return math.abs(seconds - theirs) < (n[3] and 0.002 or 60)
  elseif text:find("/") then  -- 24 bits of 32 (with the seventh byte), or of 24
    local low, high = a.raw & 0xffffffff, byte[4] | byte[5] << 8 | byte[6] << 16
    return m.errors and m.errors == n[1] and m.operations == n[2] and low == n[2] and high == n[1]
      or not m.errors and a.raw & 0xffffff == n[2] and a.raw >> 24 == n[1]
  elseif #n == 6 then         -- the lowest byte (the other five)
    return (m.temperature_c or byte[0]) == n[1] and byte[5] == n[2] and byte[4] == n[3]
      and byte[3] == n[4] and byte[2] == n[5]
      and byte[1] == n[6] or n[1] == 128 and m.temperature_c == nil
  elseif #n == 4 then         -- 24 bits of hours (the upper three bytes)
    return (m.power_on_hours or m.head_flying_hours) == n[1] and byte[5] == n[2] and byte[4] == n[3]
      and byte[3] == n[4]
  elseif text:find("%(") then -- the lowest word (the upper two)
    return (m.result or m.sectors or m.count or word(0)) == n[1] and word(4) == n[2]
      and word(2) == n[3]
  elseif #n == 3 then
    return m.words and m.words[1] == n[1] and m.words[2] == n[2] and m.words[3] == n[3]
  end
  return a.raw == n[1]
end

-- What the fixtures state as read and the notes beside them say must not be believed: absent with
-- us.
local function is_disbelieved(path, value)
  if path:find("sct_status.under$") or path:find("sct_status.over$") then
    return value >= 1 << 31
  end
  if path:find("sct_status.smart_status$") then return value == 0x8080 end
  -- 25 °C, in a byte that was once for an average.
  if path:find("sct_status.max_op$") then return value > 0 and value < 40 end
  -- Lowest 127 °C, highest -127 °C.
  return path:find("CorsairForce3.*sct_status.cycle_m") and math.abs(value) == 127
end

-- The log has five spans. The sixth of this one drive is a line that smartctl prints from the
-- current address (0 to 65535), and the fixture's bytes hold zeroes there.
local function is_not_in_the_bytes(path)
  return path:find("MZ7LM960HCHP.*selective_self_test.spans.6$")
end

local function compare(path, expected, ours, count)
  if is_not_in_the_bytes(path) then return end
  if type(expected) == "table" then
    for key, value in pairs(expected) do
      if not ABOUT_THE_FIXTURE[key] or key == "name" and path ~= count.drive then
        local mine
        if type(ours) == "table" then mine = ours[key] end
        compare(path .. "." .. tostring(key), value, mine, count)
      end
    end
    if type(ours) == "table" and #ours > #expected then
      table.insert(count.wrong, ("%s: %d entries, %d expected"):format(path, #ours, #expected))
    end
    return
  end
  count.all = count.all + 1
  local good
  if expected == json.null then
    good = ours == nil or ours == false
  elseif path:find("raw_text$") then
    good = raw_text_agrees(expected, ours)
  elseif is_disbelieved(path, expected) then
    good = ours == nil or ours == 0 and path:find("_status$") or ours == 0 and path:find("max_op$")
    count.disbelieved = count.disbelieved + 1
  else
    good = expected == ours and math.type(expected) == math.type(ours)
  end
  if good then
    count.right = count.right + 1
  else
    table.insert(count.wrong, ("%s: %s, expected %s"):format(path,
      tostring(ours and ours.text or ours), tostring(expected)))
  end
end

describe("all of a drive", function()
  local health = ata.decode(fixtures.pages "WD6000HLHX-01JJPV0-a")

  it("is at hand as a script wants it", function()
    assert.equal(36, health:attribute(194).raw)
    assert.equal(478, health.sct.temperature_history.size)
    assert.equal(10, #health.phy_events)
    assert.equal(17, #health.attributes)
    assert.equal("passed", health.smart_status)
    assert.equal(7000, health.sct.error_recovery.read.ms)
  end)

  it("is JSON as it stands, nothing twice", function()
    local again = json.decode(json.encode(health))
    assert.equal(600127266816, again.identity.size_bytes)
    assert.equal("integer", math.type(again.identity.size_bytes))
    assert.is_nil(again.attributes)
    assert.equal(17, #again.smart.attributes)
  end)

  it("is what there is when pages are missing", function()
    local none = ata.decode {}
    assert.is_nil(none.attributes)
    assert.is_nil(none:attribute(194))
    assert.is_nil(none.phy_events)
    assert.is_nil(none.sct)
    assert.is_nil(none.temperature.temperature_c)
    local old = ata.decode(fixtures.pages "SP0812C-a")
    assert.is_nil(old.sct)
    assert.equal(1699, old.error_log.count)
  end)
end)

describe("the decoders of ATA drives", function()
  local total = {right = 0, all = 0, disbelieved = 0, drives = 0}

  for _, name in ipairs(fixtures.ata()) do
    it("give every expected value of " .. name, function()
      local function read(file) return fixtures.read("ata/" .. name .. "/" .. file) end
      local expected = json.decode(read "expected.json", 1, json.null)
      local pages = fixtures.pages(name)
      local count = {right = 0, all = 0, disbelieved = 0, wrong = {}, drive = name}
      compare(name, expected, mirror.of(ata.decode(pages), pages), count)
      for file, size in pairs(expected.files) do assert.equal(size, #read(file)) end
      total.right, total.all = total.right + count.right, total.all + count.all
      total.disbelieved, total.drives = total.disbelieved + count.disbelieved, total.drives + 1
      assert.equal("", table.concat(count.wrong, "\n", 1, math.min(#count.wrong, 20)))
      assert.is_true(count.all > 100)
    end)
  end

  it("give the power-on hours, temperatures and cycles of interpretation.json", function()
    local expected = fixtures.json "interpretation.json"
    local wrong, all = {}, 0
    for _, name in ipairs(fixtures.ata()) do
      local e = assert(expected[name], name)
      local d = ata.decode(fixtures.pages(name))
      local function check(key, theirs, ours, within)
        all = all + 1
        local good = theirs == ours
        if within and theirs and ours then good = math.abs(theirs - ours) <= within end
        if not good then
          table.insert(wrong, ("%s %s: %s, expected %s"):format(name, key, tostring(ours),
            tostring(theirs)))
        end
      end
      check("family", e.family, d.smart.family)
      -- Theirs are cut to whole minutes, to three decimals.
      check("power_on_hours", e.power_on_hours, d.power_on.power_on_hours, 1 / 60 + 0.0005)
      check("temperature_celsius", e.temperature_celsius, d.temperature.temperature_c)
      check("power_cycles", e.power_cycles, d.power_cycles.power_cycles)
    end
    assert.equal("", table.concat(wrong, "\n"))
    total.right, total.all = total.right + all, total.all + all
  end)

  it("give all values of all drives", function()
    local line = "\n%d of %d values of %d ATA drives reproduced (%d of them rightly disbelieved)"
    print(line:format(total.right, total.all, total.drives, total.disbelieved))
    assert.equal(total.all, total.right)
    assert.equal(24, total.drives)
  end)
end)
