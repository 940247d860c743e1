-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- The rows of a document as comma-separated values.
local csv = require "hdd.view.csv"
local document = require "hdd.document"
local json = require "hdd.json"
local locale = require "spec.support.locale"
local needs = require "spec.support.needs"
local place = require "spec.support.place"
local shell = require "spec.support.shell"

local function example(name)
  return assert(document.load("spec/fixtures/documents/" .. name .. ".json"))
end

describe("comma-separated values", function()
  it("begin with the keys, which carry their units", function()
    local header = csv.document(example "qdsweep"):match("^(.-)\r\n")
    assert.equal("block_size_bytes,depth,iops,iops_ci95,bandwidth_bytes_per_s,latency_mean_us,latency_p50_us,"
      .. "latency_p95_us,latency_p99_us,latency_p999_us,latency_max_us,ios,errors,elapsed_s,gain,"
      .. "depth_achieved,stopped_by,flagged,reason,time_s", header)
    assert.truthy(csv.document(example "zoneprofile")
      :find("^offset_bytes,length_bytes,elapsed_s,bandwidth_bytes_per_s,"))
  end)

  it("are read by another program as the document has them", function()
    needs.program "python3"
    local d = example "zoneprofile"
    d.zones[2].reason = 'a "quoted", odd\r\none '
    d.zones[3].latency_max_us = 0 / 0
    d.zones[4].added = math.maxinteger
    local home <close> = place.new()
    local path = home:path()
    local file = assert(io.open(path, "wb"))
    file:write(csv.document(d))
    file:close()
    local reader = "import csv,json,sys; " ..
      'print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline="")))))'
    local rows = json.decode(shell.must(shell.words {"python3", "-c", reader, path}))
    assert.equal(32, #rows)
    for i, row in ipairs(rows) do
      assert.equal(d.zones[i].offset_bytes, math.tointeger(tonumber(row.offset_bytes)))
      assert.equal(d.zones[i].bandwidth_bytes_per_s, tonumber(row.bandwidth_bytes_per_s))
      assert.equal(tostring(d.zones[i].flagged), row.flagged)
    end
    assert.equal('a "quoted", odd\\x0D\\x0Aone ', rows[2].reason)
    assert.equal("", rows[3].latency_max_us)
    assert.equal("", rows[3].reason)
    assert.equal("9223372036854775807", rows[4].added)
    assert.equal("", rows[5].added)
  end)

  it("are empty where nothing is known, never NaN or infinite", function()
    assert.equal("a,b,c,d\r\n,,,\r\n", csv.table({{a = 0 / 0, b = 1 / 0, c = -1 / 0}}, {"a", "b", "c", "d"}))
  end)

  it("of no rows are the header", function()
    local d = example "qdsweep"
    d.rows = {}
    assert.equal(2, select(2, csv.document(d):gsub("\r\n", "")) + 1)
  end)

  it("have no control byte, whatever the strings hold", function()
    local s = csv.table({{a = "\27[31m\0\u{85}\xE9"}}, {"a"})
    assert.is_nil(s:gsub("\r\n", ""):find("[\0-\31\127-\255]"))
  end)

  it("of an unknown schema are refused", function()
    local s, message = csv.document {schema = "x/1"}
    assert.is_nil(s)
    assert.is_string(message)
  end)

  it("have a decimal point in a locale with a comma", function()
    needs.program "localedef"
    local ran = locale.german [[
      assert(os.setlocale "")
      io.write(require "hdd.view.csv".table({{a = 0.5, b = 1e-7, c = 1234567}}, {"a", "b", "c"}))
    ]]
    assert.equal("a,b,c\r\n0.5,1e-07,1234567\r\n", ran.stdout)
  end)
end)
