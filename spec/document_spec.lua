-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Documents: made, checked, saved, loaded.
local document = require "hdd.document"
local json = require "hdd.json"
local locale = require "spec.support.locale"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local shell = require "spec.support.shell"

local IDENTITY = {path = "/dev/sdb", model = "  WDC WD6000HLHX-01JJPV0 \0", serial = " WD-1 ",
                  size_bytes = 600127266816, logical_block_size_bytes = 512, partitions = {}}
local PARAMETERS = {block_size = 65536, depth = 2, zone_size = 268435456, from = 0, to = 600127266816,
                    passes = 1}

local function profile()
  local d = document.new("hddlua.zoneprofile/1", IDENTITY, PARAMETERS)
  for i = 1, 3 do
    d.zones[i] = {offset_bytes = (i - 1) << 30, length_bytes = 268435456, elapsed_s = 2.0, flagged = false,
                  bandwidth_bytes_per_s = 134217728.0, latency_max_us = 12000.5}
  end
  return d
end

local function example(name)
  return assert(document.load("spec/fixtures/documents/" .. name .. ".json"))
end

local function put(path, text)
  local stream <close> = assert(io.open(path, "w"))
  assert(stream:write(text))
end

describe("a new document", function()
  it("says which tool, host, drive and parameters, and that it is running", function()
    local d = document.new("hddlua.qdsweep/1", IDENTITY, {depths = {1, 2}})
    assert.equal("hddlua.qdsweep/1", d.schema)
    assert.equal("hddlua", d.tool.name)
    assert.equal("running", d.status)
    assert.truthy(d.started_at:match("^%d+%-%d%d%-%d%dT%d%d:%d%d:%d%dZ$"))
    assert.equal("integer", math.type(d.host.cpus))
    assert.equal(shell.must("uname -r"), d.host.kernel)
    assert.same({1, 2}, d.parameters.depths)
    assert.same({}, d.rows)
    assert.is_nil(d.finished_at)
  end)

  it("has the drive's name without padding, and is a copy", function()
    local parameters = {depths = {1}}
    local d = document.new("hddlua.qdsweep/1", IDENTITY, parameters)
    parameters.depths[1] = 9
    assert.equal("WDC WD6000HLHX-01JJPV0", d.drive.model)
    assert.equal("WD-1", d.drive.serial)
    assert.equal(1, d.parameters.depths[1])
    assert.equal("  WDC WD6000HLHX-01JJPV0 \0", IDENTITY.model)
  end)

  it("of an unknown schema raises", function()
    assert.has_error(function() document.new("hddlua.nothing/1", IDENTITY, {}) end,
      'unknown schema "hddlua.nothing/1"')
  end)

  it("ends complete, interrupted or failed, and nothing else", function()
    local d = document.finish(profile(), "interrupted")
    assert.equal("interrupted", d.status)
    assert.is_true(d.finished_at >= d.started_at)
    assert.has_error(function() document.finish(d, "done") end)
  end)
end)

describe("a malformed document", function()
  local function complaint(change)
    local d = profile()
    change(d)
    local valid, message = document.validate(d)
    assert.is_nil(valid)
    return message
  end

  it("is refused with the path of the key", function()
    assert.equal('zones[3].offset_bytes: must be an integer, is the string "12"',
      complaint(function(d) d.zones[3].offset_bytes = "12" end))
    assert.equal("zones[2].offset_bytes: must be an integer, is the number 1.5",
      complaint(function(d) d.zones[2].offset_bytes = 1.5 end))
    assert.equal("zones[1].offset_bytes: must be an integer, is the number 3.0",
      complaint(function(d) d.zones[1].offset_bytes = 3.0 end))
    assert.equal("zones[1].flagged: is missing", complaint(function(d) d.zones[1].flagged = nil end))
    assert.equal("zones[2]: must be an object, is the integer 7", complaint(function(d) d.zones[2] = 7 end))
    assert.equal("zones[1].elapsed_s: must not be negative, is the integer -1",
      complaint(function(d) d.zones[1].elapsed_s = -1 end))
    assert.equal('drive: must be an object, is the string "sdb"',
      complaint(function(d) d.drive = "sdb" end))
    assert.equal("drive.size_bytes: is missing", complaint(function(d) d.drive.size_bytes = nil end))
    assert.equal("parameters.depth: must be an integer, is a boolean",
      complaint(function(d) d.parameters.depth = true end))
    assert.equal("status: must be one of running, complete, interrupted, failed, is the string \"done\"",
      complaint(function(d) d.status = "done" end))
    assert.equal("warnings: must be a list without gaps or names, is a table",
      complaint(function(d) d.warnings = {x = 1} end))
    assert.equal("warnings[1]: must be a string, is the integer 1",
      complaint(function(d) d.warnings = {1} end))
    assert.truthy(complaint(function(d) d.started_at = "yesterday" end):find("^started_at: must be a time"))
    assert.equal("errors: must be an integer, is NaN", complaint(function(d) d.errors = 0 / 0 end))
    assert.equal("slowest[1].latency_ns: must be an integer, is infinite", complaint(function(d)
      d.slowest = {{offset_bytes = 0, latency_ns = 1 / 0}}
    end))
    assert.truthy(complaint(function(d) d.schema = "hddlua.zoneprofile/9" end):find("^schema: "))
    assert.truthy(complaint(function(d) d.schema = nil end):find("^schema: "))
    assert.equal("a document is a table, not a nil", select(2, document.validate(nil)))
  end)

  it("is refused for what JSON can't hold, in keys of a script's own too", function()
    assert.equal("zones[1].mine.deep[1]: a function can't be written as JSON",
      complaint(function(d) d.zones[1].mine = {deep = {print}} end))
    assert.truthy(complaint(function(d) d.mine = d end):find("contains itself", 1, true))
  end)

  it("is not saved", function()
    local home <close> = place.new()
    local d = profile()
    d.zones[3].offset_bytes = "12"
    local saved, message, code = document.save(d, home.folder .. "/a.json")
    assert.is_nil(saved)
    assert.equal(74, code)
    assert.truthy(message:find("zones[3].offset_bytes", 1, true))
    assert.is_nil(shell.read(home.folder .. "/a.json"))
  end)

  it("may have keys of its own, and unknown numbers where they may be unknown", function()
    local d = profile()
    d.mine, d.zones[1].mine = {1, 2}, "x"
    d.zones[1].bandwidth_bytes_per_s, d.zones[2].elapsed_s, d.zones[3].latency_max_us = 0 / 0, 1 / 0, nil
    assert.is_true(document.validate(d))
    local read = assert(document.decode(document.encode(d)))
    assert.is_nil(read.zones[1].bandwidth_bytes_per_s)
    assert.is_nil(read.zones[2].elapsed_s)
    assert.equal("x", read.zones[1].mine)
  end)
end)

describe("a document in a file", function()
  local home, path
  before_each(function()
    home = place.new()
    path = home.folder .. "/a.json"
  end)
  after_each(function() home:close() end)

  it("comes back as it was", function()
    local d = document.finish(profile(), "complete")
    assert(document.save(d, path))
    local read, complaints = document.load(path)
    assert.same({}, complaints)
    assert.same(d, read)
    assert.equal(document.encode(d), document.encode(read))
  end)

  it("has integers where they were integers", function()
    for _, name in ipairs {"zoneprofile", "qdsweep"} do
      local function walk(a, b)
        for key, value in pairs(a) do
          if type(value) == "table" then walk(value, b[key]) else
            assert.equal(math.type(value), math.type(b[key]), key)
          end
        end
      end
      local d = example(name)
      walk(d, document.decode(document.encode(d)))
      assert.equal("600127266816", string.format("%d", d.drive.size_bytes))
    end
  end)

  it("has [] for lists without elements and {} for objects", function()
    local d = document.new("hddlua.zoneprofile/1", IDENTITY, PARAMETERS)
    d.parameters.labels = document.object()
    local text = document.encode(d)
    for _, part in ipairs {'"zones": []', '"failures": []', '"warnings": []', '"partitions": []',
                           '"labels": {}'} do
      assert.truthy(text:find(part, 1, true), part)
    end
    assert.equal(text, document.encode(document.decode(text)))
  end)

  it("is valid JSON whatever the drive calls itself", function()
    local identity = {path = "/dev/sd\xFF", model = ' MO"D,EL <b>\xE9\x01 ',
                      serial = "\x00\xFF AB\x1B[31m \"", size_bytes = 1, logical_block_size_bytes = 512}
    local d = document.new("hddlua.zoneprofile/1", identity, PARAMETERS)
    assert(document.save(d, path))
    local text = assert(shell.read(path))
    assert.truthy(utf8.len(text))
    assert.is_nil(text:gsub("\n", ""):find("[\0-\31\127-\159]"))
    local model = 'import json,sys; print(json.load(open(sys.argv[1]))["drive"]["model"])'
    assert.equal('MO"D,EL <b>\\xE9\1', shell.must(shell.words {"python3", "-c", model, path}))
  end)

  it("is not overwritten, but by the document that was saved there", function()
    local d = profile()
    assert.is_true(document.save(d, path))
    d.zones[4] = d.zones[3]
    assert.is_true(document.save(document.finish(d, "complete"), path))
    assert.equal(4, #document.load(path).zones)
    local saved, message, code = document.save(profile(), path)
    assert.is_nil(saved)
    assert.equal(17, code)
    assert.truthy(message:find(path, 1, true))
    assert.equal(4, #document.load(path).zones)
    assert.is_true(document.save(profile(), path, {force = true}))
    assert.equal(3, #document.load(path).zones)
    saved, message, code = document.save(d, path)
    assert.truthy(message:find("exists already", 1, true))
    assert.is_nil(saved)
    assert.equal(17, code)
  end)

  it("can be probed before the run", function()
    assert.is_true(document.probe(path))
    assert.is_nil(shell.read(path))
    assert.is_nil((document.probe(home.folder .. "/no/such/a.json")))
  end)

  it("is the same in a locale with a decimal comma", function()
    needs.program "localedef"
    local ran = locale.german([[
      assert(os.setlocale "")
      local document = require "hdd.document"
      local d = assert(document.load "spec/fixtures/documents/zoneprofile.json")
      io.write(document.encode(d))
    ]])
    assert.equal(shell.read "spec/fixtures/documents/zoneprofile.json", ran.stdout)
  end)
end)

describe("loading", function()
  local home, path
  before_each(function()
    home = place.new()
    path = home.folder .. "/a.json"
  end)
  after_each(function() home:close() end)

  it("goes on without any of the keys, naming the one that is missing", function()
    for _, name in ipairs {"zoneprofile", "qdsweep"} do
      for key in pairs(example(name)) do
        local d = example(name)
        d[key] = nil
        local read, complaints = document.decode(json.encode(d))
        if key == "schema" then
          assert.is_nil(read)
        else
          assert.is_table(read, key)
          assert.is_table(read.drive)
          assert.is_table(read.summary)
          assert.is_table(read.warnings)
          if #complaints > 0 then assert.truthy(complaints[1]:find("^" .. key), complaints[1]) end
        end
      end
    end
  end)

  it("leaves out what has the wrong type, and keeps the rest", function()
    local d = example "zoneprofile"
    d.zones[2] = "seven"
    d.zones[3].bandwidth_bytes_per_s = "fast"
    d.zones[4].offset_bytes = 77401096192.0
    d.summary, d.errors = 5, "none"
    local read, complaints = document.decode(json.encode(d))
    assert.equal(31, #read.zones)
    assert.is_nil(read.zones[2].bandwidth_bytes_per_s)
    assert.equal(38700515328, read.zones[2].offset_bytes)
    assert.equal("integer", math.type(read.zones[3].offset_bytes))
    assert.same({}, read.summary)
    assert.is_nil(read.errors)
    assert.equal(4, #complaints)
    assert.truthy(complaints[1]:find("^zones%[2%]: must be an object"))
    assert.truthy(complaints[2]:find("^zones%[3%].bandwidth_bytes_per_s: must be a number"))
  end)

  it("keeps keys that it does not know", function()
    local d = example "qdsweep"
    d.rows[1].added, d.added = 1.5, {x = {}}
    local read, complaints = document.decode(json.encode(d))
    assert.same({}, complaints)
    assert.equal(1.5, read.rows[1].added)
    assert.is_table(read.added.x)
  end)

  it("reads a document of another version as far as it goes, and says so", function()
    local d = example "zoneprofile"
    d.schema = "hddlua.zoneprofile/2"
    local read, complaints = document.decode(json.encode(d))
    assert.equal(32, #read.zones)
    assert.truthy(complaints[1]:find("another version", 1, true))
  end)

  it("refuses what is no result, with file and reason", function()
    local whole = assert(shell.read "spec/fixtures/documents/zoneprofile.json")
    for text, part in pairs {
      [""] = "empty", [" \n"] = "empty", ["offset_bytes,length_bytes\r\n0,1\r\n"] = "JSON",
      [whole:sub(1, #whole // 2)] = "cut off", [whole:sub(1, -3)] = "cut off",
      ["[1, 2]"] = "no JSON object", ["7"] = "no JSON object", ["null"] = "no JSON object",
      ["{}"] = 'no "schema"', ['{"schema": 7}'] = "7", ['{"schema": "smartctl"}'] = "smartctl",
      ['{"schema": "x\\u001b[31m"}'] = "\\u001b", [whole .. whole] = "behind the end",
    } do
      put(path, text)
      local read, message, code = document.load(path)
      assert.is_nil(read)
      assert.equal(74, code)
      assert.truthy(message:find("cannot read " .. path, 1, true), message)
      assert.truthy(message:find(part, 1, true), message)
    end
    for where, expected in pairs {[home.folder] = 21, [home.folder .. "/none"] = 2} do
      local read, message, code = document.load(where)
      assert.is_nil(read)
      assert.equal(expected, code)
      assert.truthy(message:find(where, 1, true))
    end
  end)

  it("survives a document cut anywhere", function()
    local whole = assert(shell.read "spec/fixtures/documents/qdsweep.json")
    for length = 0, #whole - 2, 97 do
      local read, message = document.decode(whole:sub(1, length))
      assert.is_nil(read)
      assert.is_string(message)
    end
  end)

  it("survives any one value being replaced by any other", function()
    local others = {json.list(), json.object(), "x", -1, 1.5, true, json.null, math.maxinteger, {1, 2},
                    {a = 1}}
    local function places(value, list)
      for key, member in pairs(value) do
        list[#list + 1] = {value, key}
        if type(member) == "table" then places(member, list) end
      end
      return list
    end
    local d = example "qdsweep"
    d.rows = {d.rows[1], d.rows[2]}
    for _, spot in ipairs(places(d, {})) do
      local kept = spot[1][spot[2]]
      for _, other in ipairs(others) do
        spot[1][spot[2]] = other
        local read, complaints = document.decode(json.encode(d))
        assert.is_true(read ~= nil or type(complaints) == "string")
        if read then assert.is_table(read.rows) end
      end
      spot[1][spot[2]] = kept
    end
  end)
end)

describe("a default file name", function()
  it("is that of procedure, drive and start, and safe", function()
    local d = example "zoneprofile"
    assert.equal("zoneprofile-WDC-WD6000HLHX-01JJPV0-WD-WXL0E1234567-20261130T194000Z.json",
      document.file_name(d))
    d.drive.model, d.drive.serial = "../../x \27[2J", "/"
    assert.equal("zoneprofile-x-2J-unnamed-20261130T194000Z.csv", document.file_name(d, "csv"))
    assert.is_string(document.file_name {})
  end)

  it("differs from run to run", function()
    local first, second = example "zoneprofile", example "zoneprofile"
    second.started_at = "2026-11-30T19:40:01Z"
    assert.not_equal(document.file_name(first), document.file_name(second))
  end)
end)

describe("the differences of two runs", function()
  it("are none when the settings are the same", function()
    assert.same({}, document.differences(example "qdsweep", example "qdsweep"))
  end)

  it("are the settings, whatever was measured", function()
    local a, b = example "qdsweep", example "qdsweep"
    b.parameters.depths, b.parameters.runtime, b.drive.size_bytes, b.drive.direct = {1, 2}, 60, 500, false
    b.parameters.extra, b.rows[1].iops = "x", 1.0
    local keys = {}
    for i, difference in ipairs(document.differences(a, b)) do keys[i] = difference.key end
    assert.same({"drive.size_bytes", "drive.direct", "parameters.depths", "parameters.runtime",
      "parameters.extra"}, keys)
    assert.same({key = "parameters.runtime", a = 120, b = 60}, document.differences(a, b)[4])
  end)
end)
