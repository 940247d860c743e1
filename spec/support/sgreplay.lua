--- Drives of the fixtures, behind the real calls: hddlua run with a library that answers SG_IO and
-- NVMe's ioctl from a folder (spec/fixtures/sgreplay).
-- SPDX-License-Identifier: GPL-3.0-or-later
local json = require "dkjson"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local M = {}

local FIXTURES <const> = "spec/fixtures/smart/"
local stand_in -- a file that stands for the drive's node

local function prepare()
  if stand_in then return end
  shell.must("make -s build/support/sgreplay.so")
  stand_in = scratch.file(1 << 20)
end

--- The environment in which a program finds a drive.
-- @tparam string drive  folder of the fixtures, "ata/WD6000HLHX-01JJPV0-a", or a path of another
--   folder
-- @tparam[opt] table more  further variables
-- @treturn table  for `process.run`
-- @treturn string  path of the file that stands for the drive's node
function M.environment(drive, more)
  prepare()
  local env = {
    SGREPLAY_DIR = drive:match("^/") and drive or FIXTURES .. drive,
    LD_PRELOAD = "build/support/sgreplay.so",
    -- The sanitiser wants to be the first library that is loaded.
    ASAN_OPTIONS = (os.getenv("ASAN_OPTIONS") or "") .. ":verify_asan_link_order=0",
  }
  for name, value in pairs(more or {}) do env[name] = value end
  return env, stand_in
end

--- Runs a chunk of Lua in hddlua; in `...` it has the path of the drive, and what it is: "ata",
-- "nvme" or "scsi".
-- @tparam string drive  folder of the fixtures: "ata/WD6000HLHX-01JJPV0-a"
-- @tparam string chunk  Lua code
-- @tparam[opt] table options  as for `process.run`, `arguments` after the two, `kind` of a folder
--   elsewhere
-- @treturn table  as `process.run`'s
-- @usage local r = sgreplay.lua("ata/SP0812C-a", "print(...)", {env = {SGREPLAY_ONLY12 = "1"}})
function M.lua(drive, chunk, options)
  options = options or {}
  local env, path = M.environment(drive, options.env)
  local arguments = {path, options.kind or drive:match("^%l+") or "-"}
  table.move(options.arguments or {}, 1, #(options.arguments or {}), 3, arguments)
  return process.lua(chunk, setmetatable({env = env, arguments = arguments}, {__index = options}))
end

--- Runs a script that comes with hddlua on a drive.
-- @tparam string drive   folder of the fixtures, "ata/WD6000HLHX-01JJPV0-a"
-- @tparam string script  "smart"
-- @tparam[opt] {string,...} arguments  after the drive
-- @tparam[opt] table options  as for `process.run`; `kind` of a folder elsewhere
-- @treturn table  as `process.run`'s
-- @usage local r = sgreplay.script("ata/SP0812C-a", "smart", {"--json", "-"})
function M.script(drive, script, arguments, options)
  options = options or {}
  local env, path = M.environment(drive, options.env)
  local words = {script, path, "--as", options.kind or (drive:match("^%l+"))}
  table.move(arguments or {}, 1, #(arguments or {}), #words + 1, words)
  return process.hddlua(words, setmetatable({env = env}, {__index = options}))
end

local recorded = {}

-- Reads all pages in a process of its own, records that, compares with the files and with the values
-- that they must give.
local RECORD = [[
  package.path = package.path .. ";./?.lua"
  local transport, recordings = require "hdd.transport", require "hdd.recording"
  local path, kind, drive, file = ...
  local recording = recordings.new("sdb")
  local t <close> = assert(transport.open(path, {as = kind, record = recording}))
  local pages = require("hdd.pages").read(t, {all = true})
  assert(recordings.save(recording, file))
  local same, missing = require("spec.support.sgreplay").compare(drive, pages)
  print(same, table.concat(missing, " "))
  print((require("dkjson").encode(require("spec.support.expected").count(drive, pages))))
]]

--- A recording of one of these drives, with everything that hdd.pages reads; made once.
-- @tparam string drive
-- @treturn string  its path
-- @treturn integer  how many of the fixtures' files were found through the ioctl, byte for byte
-- @treturn string  names of those that were not
-- @treturn table  the values that were found through the ioctl, of `spec.support.expected`
-- @usage local t <close> = assert(transport.open((sgreplay.recording("scsi/SEAGATE_ST373453LC"))))
function M.recording(drive)
  local one = recorded[drive]
  if not one then
    one = {path = scratch.path("recording")}
    local r = M.lua(drive, RECORD, {arguments = {drive, one.path}})
    assert(r.status == 0, r.stderr)
    local same, missing, values = r.stdout:match("^(%d+)\t([^\n]*)\n([^\n]+)\n$")
    one.same, one.missing = math.tointeger(tonumber(same)), missing
    one.values = assert(json.decode(values))
    recorded[drive] = one
  end
  return one.path, one.same, one.missing, one.values
end

--- The folders of the fixtures.
-- @tparam[opt] string kind  "ata", "nvme" or "scsi" (all)
-- @treturn {string,...}  "ata/CT1050MX300SSD1-a" ...
function M.drives(kind)
  local found = {}
  for _, each in ipairs(kind and {kind} or {"ata", "nvme", "scsi"}) do
    for folder in shell.must("ls " .. FIXTURES .. each):gmatch("[^\n]+") do
      found[#found + 1] = each .. "/" .. folder
    end
  end
  return found
end

-- What hdd.pages calls a page, as the fixtures' files are named.
local function named(pages)
  local files = {
    ["identify.bin"] = pages.kind == "ata" and pages.identify or nil,
    ["nvme_id_ctrl.bin"] = pages.kind == "nvme" and pages.identify or nil,
    ["nvme_id_ns.bin"] = pages.namespace,
    ["inquiry.bin"] = pages.kind == "scsi" and pages.inquiry or nil,
    ["smart_data.bin"] = pages.smart_data, ["smart_thresholds.bin"] = pages.smart_thresholds,
    ["smartlog_e0.bin"] = pages.sct_status, ["smartlog_e1_t2.bin"] = pages.sct_history,
    ["readcap16.bin"] = pages.capacity, ["defects_b7.bin"] = pages.defects,
    ["log_0d_01.bin"] = pages.environment,
  }
  local prefixes = {ata = "gplog_%02x.bin", nvme = "nvme_log_%02x.bin", scsi = "log_%02x.bin"}
  for _, set in ipairs {
    {pages.logs, prefixes[pages.kind]}, {pages.smart_logs, "smartlog_%02x.bin"},
    {pages.statistics_extra, "gplog_04_p%02x.bin"}, {pages.vpd, "vpd_%02x.bin"},
    {pages.modes, "mode_%02x.bin"},
  } do
    for number, page in pairs(set[1] or {}) do files[set[2]:format(number)] = page end
  end
  return files
end

--- Compares what hdd.pages has read with the fixtures' files.
-- @tparam string drive
-- @tparam table pages
-- @treturn integer  how many files were found again, byte for byte
-- @treturn {string,...}  names of those that were not
function M.compare(drive, pages)
  local same, missing, found = 0, {}, named(pages)
  for path in shell.must("ls " .. FIXTURES .. drive .. "/*.bin"):gmatch("[^\n]+") do
    local name, expected = path:match("[^/]+$"), assert(shell.read(path))
    local page = found[name] or ""
    if page:sub(1, #expected) == expected and not page:find("[^%z]", #expected + 1) then
      same = same + 1
    else
      missing[#missing + 1] = name
    end
  end
  return same, missing
end

return M
