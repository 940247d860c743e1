-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- The schemas, and the page that describes them.
local document = require "hdd.document"
local schemadoc = require "hdd.view.schemadoc"
local schemas = require "hdd.schema"
local shell = require "spec.support.shell"

local NAMES = {"hddlua.zoneprofile/1", "hddlua.qdsweep/1"}

-- The keys that other programs rely on.
local PROMISED = {
  ["hddlua.zoneprofile/1"] = {
    rows = {"offset_bytes", "length_bytes", "elapsed_s", "bandwidth_bytes_per_s", "latency_p50_us",
            "latency_p99_us", "latency_max_us", "flagged"},
    summary = {"outer_bytes_per_s", "inner_bytes_per_s", "mean_bytes_per_s", "fastest_bytes_per_s",
               "slowest_bytes_per_s", "full_read_s"},
  },
  ["hddlua.qdsweep/1"] = {
    rows = {"block_size_bytes", "depth", "iops", "iops_ci95", "bandwidth_bytes_per_s", "latency_mean_us",
            "latency_p50_us", "latency_p95_us", "latency_p99_us", "latency_p999_us", "latency_max_us",
            "ios", "errors", "elapsed_s"},
    summary = {},
  },
}

local function keys_of(fields)
  local keys = {}
  for _, field in ipairs(fields) do keys[field[1]] = field end
  return keys
end

for _, name in ipairs(NAMES) do
  describe("the schema " .. name, function()
    local schema = assert(schemas.find(name))

    it("has the keys that other programs rely on", function()
      local top = keys_of(schema.fields)
      for _, key in ipairs {"schema", "tool", "host", "drive", "parameters", "started_at", "finished_at",
                            "status", "summary", "failures", "errors", "warnings"} do
        assert.truthy(top[key], key)
      end
      local rows = keys_of(schemas.row_fields(schema))
      for _, key in ipairs(PROMISED[name].rows) do assert.truthy(rows[key], key) end
      for _, key in ipairs(PROMISED[name].summary) do assert.truthy(keys_of(top.summary.of)[key], key) end
    end)

    it("says of each field a known type and what it means, once", function()
      local known = {boolean = 1, integer = 1, number = 1, string = 1, time = 1, any = 1, object = 1, list = 1}
      local function look(fields)
        local seen = {}
        for _, field in ipairs(fields) do
          assert.truthy(known[schemas.type_of(field)], field[1])
          assert.is_true(type(field[3]) == "string" and #field[3] > 3, field[1])
          assert.is_nil(seen[field[1]], field[1])
          seen[field[1]] = true
          if type(field.of) == "table" then look(field.of) end
        end
      end
      look(schema.fields)
    end)

    it("fits its example, which is written exactly as it was read", function()
      local path = "spec/fixtures/documents/" .. name:match("%.(.-)/") .. ".json"
      local example, complaints = assert(document.load(path))
      assert.same({}, complaints)
      assert.is_true(document.validate(example))
      assert.equal(shell.read(path), document.encode(example))
      assert.is_true(#example[schema.rows] > 0)
    end)

    it("is described in docs/documents.md as it is", function()
      local list = {}
      for i, other in ipairs(NAMES) do list[i] = schemas.find(other) end
      local common = schemadoc.common(list)
      local page = assert(shell.read("docs/documents.md"))
      assert.truthy(page:find(schemadoc.table(common), 1, true), "run build-aux/documents")
      assert.truthy(page:find(schemadoc.table(schemadoc.own(schema, common)), 1, true),
        "run build-aux/documents")
    end)
  end)
end

describe("what drives say of themselves", function()
  it("is described in docs/documents.md as it is", function()
    local page = assert(shell.read("docs/documents.md"))
    local common = schemadoc.common {assert(schemas.find("hddlua.zoneprofile/1")),
      assert(schemas.find("hddlua.qdsweep/1"))}
    for _, name in ipairs {"hddlua.smart/1", "hddlua.selftest/1"} do
      local own = schemadoc.own(assert(schemas.find(name)), common)
      assert.truthy(page:find(schemadoc.table(own), 1, true), name .. ": run build-aux/documents")
    end
    local capdiff = assert(schemas.find("hddlua.capdiff/1"))
    assert.truthy(page:find(schemadoc.table(capdiff.fields), 1, true), "run build-aux/documents")
  end)
end)

describe("a schema", function()
  it("of another version, or unknown, is not found", function()
    for _, name in ipairs {"hddlua.zoneprofile/2", "hddlua.common/1", "hddlua.nothing/1", "zoneprofile", "",
                           "hddlua.../1", "hddlua.zoneprofile/1\n"} do
      local schema, message = schemas.find(name)
      assert.is_nil(schema)
      assert.is_string(message)
    end
    assert.truthy(select(2, schemas.find "hddlua.zoneprofile/2"):find("another version", 1, true))
    assert.is_nil((schemas.find(nil)))
    assert.is_nil((schemas.find {}))
  end)

  it("of a script's own can be added", function()
    local common = require "hdd.schema.common"
    schemas.add {name = "example.seek/1", rows = "seeks",
                 fields = common.document({}, {{"seeks", "list", "distances", of = "integer"}}, {})}
    local d = document.new("example.seek/1", {path = "x", size_bytes = 1, logical_block_size_bytes = 512}, {})
    d.seeks[1] = 7
    assert.is_true(document.validate(d))
    d.seeks[2] = "far"
    assert.same({nil, 'seeks[2]: must be an integer, is the string "far"'}, {document.validate(d)})
    assert.has_error(function() schemas.add {name = "no version", fields = {}} end)
  end)
end)
