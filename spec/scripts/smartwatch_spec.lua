-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local folders = require "spec.support.drive_folder"
local json = require "dkjson"
local place = require "spec.support.place"
local process = require "spec.support.process"
local sgreplay = require "spec.support.sgreplay"
local shell = require "spec.support.shell"

local RAPTOR <const> = "ata/WD6000HLHX-01JJPV0-a"

-- Runs smartwatch on a copy of a drive, one of whose pages is another one after its first reading.
local function watch_change(name, change, arguments)
  local home <close> = place.new()
  local folder = folders.copy(home, RAPTOR)
  local later = folders.copy(home, RAPTOR, {[name] = change})
  local words = {"--every", "200ms", "--count", "5"}
  table.move(arguments or {}, 1, #(arguments or {}), #words + 1, words)
  return sgreplay.script(folder, "smartwatch", words, {kind = "ata", events = {
    {when = arguments and '"first"' or "look closer", run = ("mv %s/%s %s/"):format(later, name, folder)},
  }})
end

local function raw(id, value)
  return function(page)
    for at = 2, 350, 12 do
      if page:byte(at + 1) == id then return folders.with({[at + 5] = value})(page) end
    end
  end
end

describe("smartwatch", function()
  it("tells a change in one line, and nothing else", function()
    local r = watch_change("smart_data.bin", raw(199, 26))
    assert.equal(0, r.status, r.stderr)
    local lines = {}
    for line in r.stdout:gmatch("[^\n]+") do lines[#lines + 1] = line end
    assert.equal(2, #lines, r.stdout)
    assert.matches("look closer, 36 ", lines[1])
    assert.matches("attribute 199 %(interface CRC errors%): 25 %-> 26 %(%+1%)$", lines[2])
  end)

  it("tells the temperature once, whatever the sources that have it", function()
    local r = watch_change("smartlog_e0.bin", function(page)
      return page:sub(1, 200) .. "\41" .. page:sub(202)
    end, {"--json", "-"})
    local events = {}
    for line in r.stdout:gmatch("[^\n]+") do events[#events + 1] = assert(json.decode(line)) end
    assert.equal("first", events[1].name)
    local heat = {}
    for _, e in ipairs(events) do if e.name == "temperature" then heat[#heat + 1] = e end end
    assert.equal(1, #heat)
    assert.same({36, 41, "FX7959969306"}, {heat[1].from, heat[1].to, heat[1].serial})
  end)

  it("leaves a drive alone that fails again and again, and one that sleeps asleep", function()
    local r = sgreplay.script(RAPTOR, "smartwatch", {"--every", "100ms", "--count", "9"},
      {env = {SGREPLAY_FAIL = "ec=timeout"}})
    assert.equal(2, r.status)
    assert.matches("not read 5 times in a row", r.stdout)
    r = sgreplay.script(RAPTOR, "smartwatch", {"--every", "100ms", "--count", "3"},
      {env = {SGREPLAY_POWER = "0x00"}})
    assert.equal(0, r.status)
    local _, told = r.stdout:gsub("asleep, and left so", "")
    assert.equal(1, told)
  end)

  it("ends with 130 after Ctrl-C", function()
    local r = sgreplay.script(RAPTOR, "smartwatch", {"--every", "10s"},
      {events = {{when = "look closer", signal = "INT"}}})
    assert.equal(130, r.status)
    assert.matches("look closer", r.stdout)
  end)

  it("keeps metrics that are whole at any time", function()
    local home <close> = place.new()
    local path = home:path("metrics")
    local r = sgreplay.script(RAPTOR, "smartwatch", {"--every", "200ms", "--count", "3",
      "--openmetrics", path})
    assert.equal(0, r.status)
    local text = assert(shell.read(path))
    assert.matches("# EOF\n$", text)
    assert.matches('\nsmartctl_device_temperature{device="[^"]+",temperature_type="current"} 36\n', text)
    assert.matches('hddlua_phy_events_total{[^}]*id="0x000a"[^}]*} 15\n', text)
    assert.equal("", shell.must("ls -A " .. home.folder .. " | grep tmp || true"))
  end)

  it("watches all drives of the machine when none is named", function()
    local r = process.hddlua {"smartwatch", "--count", "1"}
    assert.is_true(r.status == 0 or r.status == 1 or r.status == 2, r.stderr)
  end)
end)
