-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local document = require "hdd.document"
local folders = require "spec.support.drive_folder"
local json = require "dkjson"
local place = require "spec.support.place"
local process = require "spec.support.process"
local sgreplay = require "spec.support.sgreplay"

local OLD <const>, NEW <const> = "ata/WD3000GLFS-01F8U0-a", "ata/WD6000HLHX-01JJPV0-a"

local function capdiff(a, b, ...)
  return process.hddlua {"capdiff", a, b, ...}
end

local function by_name(list)
  local found = {}
  for _, d in ipairs(list) do found[d.name] = d end
  return found
end

describe("capdiff of the two VelociRaptors", function()
  local result, text

  setup(function()
    local a, b = sgreplay.recording(OLD), sgreplay.recording(NEW)
    local r = capdiff(a, b, "--json", "-")
    assert.equal(0, r.status, r.stderr)
    local complaints
    result, complaints = assert(document.decode(r.stdout))
    assert.same({}, complaints)
    text = capdiff(a, b).stdout
  end)

  it("finds SCT status version 2 and 3, and histories of 128 and 478 temperatures", function()
    local found = by_name(result.capabilities)
    assert.same({2, 3}, {found["sct.status.format_version"].a, found["sct.status.format_version"].b})
    assert.same({128, 478}, {found["sct.temperature_history.size"].a, found["sct.temperature_history.size"].b})
    assert.matches("SCT status version +2 +3\n", text)
    assert.matches("temperature history rows +128 +478\n", text)
  end)

  it("finds the one Phy event counter that only one has", function()
    local only = {}
    for _, d in ipairs(result.capabilities) do
      if d.name:find("^phy%.") then only[#only + 1] = d.name .. " " .. tostring(d.only) end
    end
    assert.same({"phy.11 b"}, only)
    assert.matches("Phy event counter 11 %(CRC errors within", text)
  end)

  it("calls nothing growth, as they are two drives", function()
    assert.is_false(result.same_drive)
    assert.same({}, result.counters)
    assert.same({}, result.lifetime)
    assert.matches("Two drives", text)
    assert.is_nil(text:find("change", 1, true))
  end)

  it("lists only what really differs", function()
    for _, list in ipairs {"identity", "capabilities", "settings", "states"} do
      for _, d in ipairs(result[list]) do assert.are_not.same(d.a, d.b, d.name) end
    end
  end)
end)

describe("capdiff of one drive at two times", function()
  it("finds nothing when nothing has changed", function()
    local path = sgreplay.recording(NEW)
    local r = capdiff(path, path)
    assert.equal(0, r.status)
    assert.matches("Nothing differs", r.stdout)
  end)

  it("tells growth, resets, and the time between, with totals apart", function()
    local home <close> = place.new()
    local before = home:path("before")
    assert.equal(0, sgreplay.script(NEW, "smart", {"--save", before}).status)
    local function raw_of(id, value)
      return function(page)
        for at = 2, 350, 12 do
          if page:byte(at + 1) == id then
            return folders.with({[at + 5] = value & 255, [at + 6] = value >> 8 & 255})(page)
          end
        end
      end
    end
    local later = folders.copy(home, NEW, {
      ["smart_data.bin"] = function(page) return raw_of(9, 8830)(raw_of(199, 30)(page)) end,
      -- The counter of the COMRESETs was 15.
      ["gplog_11.bin"] = function(page)
        local at = page:find("\x0a\x10\x0f\0", 1, true)
        return folders.with({[at + 1] = 3})(page)
      end,
    })
    local after = home:path("after")
    assert.equal(0, sgreplay.script(later, "smart", {"--save", after}, {kind = "ata"}).status)
    local r = capdiff(before, after, "--json", "-")
    local result = assert(json.decode(r.stdout))
    assert.is_true(result.same_drive)
    assert.equal(100, result.elapsed_power_on_hours)
    local counters = by_name(result.counters)
    assert.equal(5, counters["attribute.199"].growth)
    assert.equal("reset", counters["phy.10"].change)
    assert.equal(100, by_name(result.lifetime)["attribute.9"].growth)
    local text = capdiff(before, after).stdout
    assert.matches("attribute 199 %(interface CRC errors%) +25 +30 +%+5\n", text)
    assert.matches("Phy event counter 10 .* 15 +3 +reset, since then 3\n", text)
  end)
end)

describe("capdiff", function()
  it("says which of the two it can't read", function()
    local r = capdiff((sgreplay.recording(NEW)), "/no/such/drive")
    assert.equal(2, r.status)
    assert.matches("/no/such/drive", r.stderr)
  end)
end)
