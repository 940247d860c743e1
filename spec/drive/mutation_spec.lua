-- Decoders fed with broken pages: no error, no value outside its field, no decoding longer than 10
-- ms. HDDLUA_MUTATIONS sets how many pages (some thousands without it), HDDLUA_SEED which.
-- SPDX-License-Identifier: GPL-3.0-or-later
local ata = require "hdd.drive.ata"
local device_statistics = require "hdd.drive.device_statistics"
local error_log = require "hdd.drive.error_log"
local farm = require "hdd.drive.farm"
local farm_log = require "spec.support.farm_log"
local fields = require "spec.support.fields"
local fixtures = require "spec.support.drive_fixtures"
local identify = require "hdd.drive.identify"
local json = require "dkjson"
local log_directory = require "hdd.drive.log_directory"
local make = require "spec.support.smart_page"
local ncq_error = require "hdd.drive.ncq_error"
local pending_defects = require "hdd.drive.pending_defects"
local phy = require "hdd.drive.phy"
local sct = require "hdd.drive.sct"
local self_test_log = require "hdd.drive.self_test_log"
local smart_data = require "hdd.drive.smart_data"

local COUNT = math.tointeger(os.getenv "HDDLUA_MUTATIONS") or 3000
local SEED = math.tointeger(os.getenv "HDDLUA_SEED") or 20250101

-- The page is broken, and for SMART data at times the thresholds or the identity in its place.
local thresholds = fixtures.read "ata/HUS724020ALA640-a/smart_thresholds.bin"
local MODELS = {
  "ST14000NM001G", "Maxtor 6Y080L0", "SAMSUNG SP0812C", "Corsair Force 3 SSD",
  "INTEL SSDSC2BA012T4", "Crucial_CT1050MX300SSD1", "Samsung SSD 870 QVO", "FUJITSU MHY2120BH",
  "WDC WD6000HLHX", "X", "HGST HUH721212ALN604", "MTFDDAK128MAM-1J1", "SAMSUNG SV1204H",
}

local DECODERS = {
  ["identify.bin"] = identify.decode,
  ["smart_data.bin"] = function(data)
    local other = math.random(4) == 1 and data or thresholds
    return smart_data.decode(data, other, {
      model = MODELS[math.random(#MODELS)], firmware = "0085000B",
      solid_state = ({true, false})[math.random(3)], logical_sector_size_bytes = 4096,
    })
  end,
  ["smart_thresholds.bin"] = smart_data.decode,
  ["smartlog_00.bin"] = log_directory.smart,
  ["smartlog_01.bin"] = error_log.summary,
  ["smartlog_06.bin"] = function(data) return self_test_log.simple(data,
    math.random(0, 200000)) end,
  ["smartlog_09.bin"] = self_test_log.selective,
  ["smartlog_e0.bin"] = sct.status,
  ["smartlog_e1_t2.bin"] = sct.history,
  ["gplog_00.bin"] = log_directory.general_purpose,
  ["gplog_03.bin"] = error_log.extended,
  ["gplog_04.bin"] = function(data) return device_statistics.decode(data,
    {[255] = data:sub(1, 512)}) end,
  ["gplog_07.bin"] = function(data) return self_test_log.extended(data,
    math.random(0, 200000) / 2) end,
  ["gplog_0c.bin"] = pending_defects.decode,
  ["gplog_11.bin"] = phy.decode,
}

local function pages()
  local list = {}
  for _, drive in ipairs(fixtures.ata()) do
    for file, decode in pairs(DECODERS) do
      local data = fixtures.read("ata/" .. drive .. "/" .. file)
      if data then list[#list + 1] = {name = drive .. "/" .. file, data = data, decode = decode} end
    end
  end
  for file, case in pairs(fixtures.json "broken/expected.json") do
    if case.kind == "sct_status" then
      list[#list + 1] = {name = file, data = fixtures.read("broken/" .. file), decode = sct.status}
    end
  end
  list[#list + 1] = {name = "farm", data = farm_log.pages(farm_log.example()), decode = farm.decode}
  list[#list + 1] = {
    name = "ncq", data = make.sealed "\5\0\65\64\1\2\3\64\4\5\6\0\8\0\3\17\4\1\2\3\4\5\6",
    decode = ncq_error.decode,
  }
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

local EXTREME = {"\0", "\xff", "\x7f", "\x80", "\1", "\0\0", "\xff\xff", "\xff\xff\xff\xff",
  ("\xff"):rep(8), "\0\0\0\x80"}

local function replaced(data, at, with)
  return (data:sub(1, at - 1) .. with .. data:sub(at + #with)):sub(1, #data)
end

-- The checksum mended, so that what lies behind it is reached too.
local function mended(data)
  if #data ~= 512 then return data end
  return make.sealed(data:sub(1, 511))
end

local CHANGES = {
  function(data)  -- some bytes anywhere
    for _ = 1, math.random(12) do
      data = replaced(data, math.random(#data), string.char(math.random(0, 255)))
    end
    return data
  end,
  function(data)  -- extreme numbers, most of them in the header
    for _ = 1, math.random(3) do
      local reach = math.random(3) > 1 and math.min(#data, 64) or #data
      data = replaced(data, math.random(reach), EXTREME[math.random(#EXTREME)])
    end
    return data
  end,
  function(data) return data:sub(1, math.random(0, #data)) end,
  function(data) return data .. data:sub(1, math.random(#data)) end,
  function(data)  -- a stretch moved
    local from, to = math.random(#data), math.random(#data)
    return replaced(data, to, data:sub(from, from + math.random(64)))
  end,
  function(data)  -- a stretch of one byte
    return replaced(data, math.random(#data), EXTREME[math.random(5)]:rep(math.random(200)))
  end,
  function(data)  -- noise
    local noise = {}
    for k = 1, math.min(#data, 512) do noise[k] = string.char(math.random(0, 255)) end
    return data:sub(1, math.random(0, 40)) .. table.concat(noise)
  end,
}

-- The decoder's time; the collector's (it clears up after this spec) and the machine's pauses are
-- not its own, so that a long one is measured again.
local function timed(decode, data)
  local least, ok, result = math.huge, nil, nil
  for _ = 1, 3 do
    collectgarbage "stop"
    local began = os.clock()
    ok, result = pcall(decode, data)
    least = math.min(least, os.clock() - began)
    collectgarbage "restart"
    if least < 0.005 then break end
  end
  return ok, result, least
end

describe("a broken page", function()
  it("never raises, leaves no value outside its field, and takes less than 10 ms", function()
    math.randomseed(SEED)
    local list, slowest, slowest_name = pages(), 0, nil
    for k = 1, COUNT do
      local page = list[math.random(#list)]
      local data = page.data
      for _ = 1, math.random(2) do
        if #data > 0 then data = CHANGES[math.random(#CHANGES)](data) end
      end
      if math.random(2) == 1 then data = mended(data) end
      local ok, result, took = timed(page.decode, data)
      if not ok then error(("%s, change %d of seed %d: %s"):format(page.name, k, SEED, result)) end
      local problem = fields.problem(result)
      if problem then
        error(("%s, change %d of seed %d: %s"):format(page.name, k, SEED, problem))
      end
      if k % 100 == 0 then assert.is_string(json.encode(result)) end
      if took > slowest then slowest, slowest_name = took, page.name end
    end
    print(("\n%d broken pages from %d; the slowest took %.2f ms (%s)"):format(COUNT, #list,
      slowest * 1e3, slowest_name))
    assert.is_true(slowest < 0.010)
  end)
end)

describe("a drive all of whose pages are broken", function()
  local function broken(data)
    if type(data) ~= "string" or #data == 0 or math.random(3) == 1 then return data end
    local changed = CHANGES[math.random(#CHANGES)](data)
    return math.random(2) == 1 and mended(changed) or changed
  end

  it("is put together all the same", function()
    math.randomseed(SEED)
    local drives = fixtures.ata()
    for k = 1, COUNT // 20 do
      local given = {}
      for key, value in pairs(fixtures.pages(drives[math.random(#drives)])) do
        given[key] = broken(value)
        if type(value) == "table" then
          given[key] = {}
          for address, data in pairs(value) do given[key][address] = broken(data) end
        end
      end
      local ok, health = pcall(ata.decode, given)
      assert(ok, ("change %d of seed %d: %s"):format(k, SEED, health))
      local problem = fields.problem(health)
      assert(not problem, ("change %d of seed %d: %s"):format(k, SEED, problem))
    end
  end)
end)
