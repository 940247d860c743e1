--- The values that the fixtures name, in expected.json and interpretation.json, against what our
-- decoders make of a drive's pages: counted.
-- SPDX-License-Identifier: GPL-3.0-or-later
local fixtures = require "spec.support.drive_fixtures"
local json = require "dkjson"
local raw_text = require "spec.support.raw_text"

local M = {}

local DECODERS = {ata = "hdd.drive.ata", nvme = "hdd.drive.nvme", scsi = "hdd.drive.scsi"}
local MIRRORS = {
  ata = "spec.support.ata_mirror", nvme = "spec.support.nvme_mirror",
  scsi = "spec.support.scsi_mirror",
}

-- Not values of a drive: how the fixture was made, and where a value was read.
local ABOUT_THE_FIXTURE = {
  synthetic = true, files = true, note = true, via = true, powerup_ms_rounded = true,
  source = true, real_dump = true, sectors_in_file = true,
}

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

local function note(count, good, path, ours, expected)
  count.all = count.all + 1
  if good then
    count.right = count.right + 1
  else
    table.insert(count.wrong, ("%s: %s, expected %s"):format(path,
      tostring(type(ours) == "table" and ours.text or ours), tostring(expected)))
  end
end

local compare

local function compare_tables(path, expected, ours, count)
  for key, value in pairs(expected) do
    if not ABOUT_THE_FIXTURE[key] and path .. "." .. key ~= count.drive .. ".name" then
      local mine
      if type(ours) == "table" then mine = ours[key] end
      compare(path .. "." .. tostring(key), value, mine, count)
    end
  end
  if type(ours) == "table" and #ours > #expected then
    table.insert(count.wrong, ("%s: %d entries, %d expected"):format(path, #ours, #expected))
  end
end

-- All of them, the type of a number included.
function compare(path, expected, ours, count)
  if is_not_in_the_bytes(path) then
    count.absent = count.absent + 1
  elseif type(expected) == "table" then
    compare_tables(path, expected, ours, count)
  elseif expected == json.null then
    note(count, ours == nil or ours == false or ours == json.null, path, ours, expected)
  elseif path:find "raw_text$" then
    note(count, raw_text.agrees(expected, ours), path, ours, expected)
  elseif is_disbelieved(path, expected) then
    count.disbelieved = count.disbelieved + 1
    note(count, ours == nil or ours == 0 and (path:find "_status$" or path:find "max_op$"), path,
      ours, expected)
  else
    note(count, expected == ours and math.type(expected) == math.type(ours), path, ours, expected)
  end
end

-- Theirs are cut to whole minutes, to three decimals.
local HOURS_OFF <const> = 1 / 60 + 0.0005

--- Adds what interpretation.json says of a drive.
-- @tparam string name    as there
-- @tparam table said     from hdd.drive.ata
-- @tparam table count    of `count`, added to
function M.interpret(name, said, count)
  local e = assert(fixtures.json("interpretation.json")[name], name)
  local function check(key, ours, within)
    local theirs = e[key]
    local good = theirs == ours
    if within and theirs and ours then good = math.abs(theirs - ours) <= within end
    note(count, good, name .. ".interpretation." .. key, ours, theirs)
  end
  check("family", said.smart.family)
  check("power_on_hours", said.power_on.power_on_hours, HOURS_OFF)
  check("temperature_celsius", said.temperature.temperature_c)
  check("power_cycles", said.power_cycles.power_cycles)
end

--- A count with nothing in it.
-- @treturn table
function M.none() return {right = 0, all = 0, disbelieved = 0, absent = 0, wrong = {}} end

--- Adds one count to another.
-- @tparam table total
-- @tparam table count
function M.add(total, count)
  for _, key in ipairs {"right", "all", "disbelieved", "absent"} do
    total[key] = total[key] + count[key]
  end
  table.move(count.wrong, 1, #count.wrong, #total.wrong + 1, total.wrong)
end

--- Compares all that a fixture names.
-- @tparam string drive  "ata/WD6000HLHX-01JJPV0-a"
-- @tparam table pages   as `hdd.pages.read` gives them
-- @treturn table  `right` of `all` values; of those `disbelieved`: stated as read, which the notes
--   beside them say must not be believed, and absent with us; `absent`: in no byte of the fixture,
--   not counted; `wrong[]`: texts
function M.count(drive, pages)
  local text = fixtures.read(drive .. "/expected.json")
  local expected = assert(json.decode(assert(text, drive), 1, json.null))
  local said = require(DECODERS[pages.kind]).decode(pages)
  local count = M.none()
  count.drive = drive
  compare(drive, expected, require(MIRRORS[pages.kind]).of(said, pages), count)
  if pages.kind == "ata" then M.interpret(drive:match "[^/]+$", said, count) end
  return count
end

return M
