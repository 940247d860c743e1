-- Decoders fed with broken pages of ATA, NVMe and SCSI drives, and drives with broken pages put
-- together, judged and compared: no error, no value outside its field, none longer than 10 ms of
-- the processor. HDDLUA_MUTATIONS sets how many pages (some thousands without it), HDDLUA_SEED
-- which; the acceptance has a million.
-- SPDX-License-Identifier: GPL-3.0-or-later
local broken_pages = require "spec.support.broken_pages"
local capdiff = require "hdd.drive.capdiff"
local document = require "hdd.document"
local fixtures = require "spec.support.drive_fixtures"
local pages = require "spec.support.page_fixtures"
local verdict = require "hdd.drive.verdict"

local COUNT = math.tointeger(os.getenv "HDDLUA_MUTATIONS") or 6000
local SEED = math.tointeger(os.getenv "HDDLUA_SEED") or 20250101
local LIMIT_S <const> = 0.010

local function told(what, count, r)
  print(("\n%d broken %s; the slowest took %.2f ms (%s)"):format(count, what, r.slowest_s * 1e3,
    r.slowest))
  assert.is_true(r.slowest_s < LIMIT_S)
end

describe("a broken page", function()
  it("never raises, leaves no value outside its field, and takes less than 10 ms", function()
    local r = broken_pages.decode(COUNT, SEED)
    told(("pages from %d"):format(r.pages), COUNT, r)
    for kind, n in pairs(r.kinds) do assert.is_true(n > COUNT // 4, kind) end
  end)
end)

describe("a drive with broken pages", function()
  local drives, decoders = {}, {}
  for _, name in ipairs(fixtures.ata()) do
    drives[#drives + 1] = {name = name, pages = fixtures.pages(name)}
  end
  for _, kind in ipairs {"nvme", "scsi"} do
    for _, drive in ipairs(pages.drives(kind)) do
      drives[#drives + 1] = {name = drive.name, pages = pages.pages(kind, drive.folder)}
    end
  end
  for _, kind in ipairs {"ata", "nvme", "scsi"} do
    decoders[kind] = require("hdd.drive." .. kind).decode
  end

  local function any() return drives[math.random(#drives)] end

  local function copy(t)
    local new = {}
    for key, value in pairs(t) do new[key] = type(value) == "table" and copy(value) or value end
    return new
  end

  local function broken(drive)
    local some = copy(drive.pages)
    broken_pages.some(some)
    return some
  end

  local function said_by(some) return decoders[some.kind](some) end

  it("is put together all the same", function()
    told("drives put together", COUNT // 20, broken_pages.hold(COUNT // 20, SEED, function()
      local drive = any()
      return drive.name, broken(drive), said_by, drive.pages.kind
    end))
  end)

  it("is judged, and never without the drive's own word or its absence", function()
    local STATUS = {good = true, warning = true, failing = true, unknown = true}
    told("drives judged", COUNT // 20, broken_pages.hold(COUNT // 20, SEED, function()
      local drive = any()
      local said, before = said_by(broken(drive)), said_by(broken(drive))
      return drive.name, said, function(s)
        local v = verdict.judge(s, before)
        assert(STATUS[v.status])
        local own = false
        for _, r in ipairs(v.reasons) do
          own = own or r.name == "own_status"
          assert(type(r.what) == "string" and type(r.where) == "string", r.name)
          assert(not r.growth or r.growth >= 0, r.name)
        end
        assert(own, "no word of the drive's own")
        return v
      end
    end))
  end)

  it("is compared in a document as its schema has it", function()
    math.randomseed(SEED)
    for _ = 1, COUNT // 40 do
      local d = capdiff.compare(said_by(broken(any())), said_by(broken(any())))
      d.schema, d.a, d.b = "hddlua.capdiff/1", {}, {}
      assert(document.validate(d))
    end
  end)

  it("is compared, without a growth below zero", function()
    told("drives compared", COUNT // 20, broken_pages.hold(COUNT // 20, SEED, function()
      local drive, other = any(), any()
      local a = said_by(broken(drive))
      local b = said_by(broken(math.random(2) == 1 and drive or other))
      return drive.name, a, function(s)
        local d = capdiff.compare(s, b)
        for _, list in ipairs {d.counters, d.lifetime} do
          for _, c in ipairs(list) do assert(not c.growth or c.growth >= 0, c.name) end
        end
        return {warnings = d.warnings, not_compared = d.not_compared}
      end
    end))
  end)
end)
