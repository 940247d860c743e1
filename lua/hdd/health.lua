--- What a drive says of itself, read, decoded and judged: the pages of `hdd.pages`, the decoders of
-- `hdd.drive`, libatasmart's opinion beside ours, and the verdict. `read` is a Drive's method `smart`;
-- `hdd.health.part` reads one thing alone. Paths, recordings and snapshots are taken as well.
--
--     local drive <close> = assert(hdd.open("/dev/sdb"))
--     local s = assert(drive:smart())
--     print(s.verdict.status, s:attribute(194).raw, s.sct.temperature_history.size, #s.phy_events)
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.health
local ata_decode = require("hdd.drive.ata").decode
local part = require "hdd.health.part"
local second_opinion = require "hdd.drive.second_opinion"
local transport = require "hdd.transport"
local verdict = require "hdd.drive.verdict"

local M = {}

local ENODATA <const> = 61

-- `:attribute(id)`, `.attributes`, `.phy_events`: for NVMe and SCSI drives, and what was read from
-- a file, as well.
local HEALTH <const> = getmetatable(ata_decode {})

-- What the kernel knows of the drive that answers; nil of a recording.
local function kernel_identity(t)
  if t.recording then return nil end
  return (require("hdd.sysfs").identity(t.of or t.name))
end

--- Where a drive's words come from.
-- @tparam Channel t
-- @treturn table  `path name part_of kind read_at anonymised`, as in what `read` gives
-- @usage print(health.source(t).kind, health.source(t).read_at)
function M.source(t)
  local source = {path = t.path, name = t.name, part_of = t.of, kind = "drive"}
  local time = os.time()
  if t.recording then
    local about = t.recording:describe()
    source.kind, source.anonymised = "recording", about.anonymised
    source.warnings = about.warnings
    time = about.time
  end
  source.read_at = time and os.date("!%Y-%m-%dT%H:%M:%SZ", time)
  return source
end

local function first_opinion(pages)
  if not pages.smart_data or #pages.identify ~= 512 then return nil end
  return (require("hdd.commands").atasmart {
    identify = pages.identify, good = pages.smart_good, data = pages.smart_data,
    thresholds = pages.smart_thresholds,
  })
end

--- Judge what was read, against an earlier reading if there is one.
-- @tparam table health  what `read` gave
-- @tparam[opt] table before  the same of an earlier day
-- @treturn table  health, with its `verdict`
-- @usage print(health.judge(now, earlier).verdict.status)
function M.judge(said, before)
  said.verdict = verdict.judge(said, before)
  return said
end

--- All that a drive says of itself. The drive is not changed, and not woken unless asked.
-- @tparam string|Drive|Channel|Recording what  a path (of a drive, a recording, a libatasmart
--   blob), or what is open already
-- @tparam[opt] table options  `wake` (true: a drive in standby may be woken), `all` (true: also
--   what only engineers read), `before` (an earlier reading, for growth), `record` (a Recording,
--   for all exchanges), `as` ("ata", "scsi", "nvme": take the path as such a drive), `wait` (s that
--   each command waits for its answer)
-- @treturn[1] table  as `hdd.drive.ata.decode`, `hdd.drive.nvme.decode` or `hdd.drive.scsi.decode`
--   gives it, with `kind` ("ata", "nvme", "scsi"), `source {path name part_of kind read_at
--   anonymised}`, `verdict {status reasons[]}` (see `hdd.drive.verdict`), `failures[] {what message
--   code reason}` (what could not be read, and why), `incomplete` (a message: the drive did not
--   answer any more), `no_ata` (why a bridge hands no ATA commands on), `libatasmart` (its opinion)
--   and `opinions[] {what shown libatasmart why}` where that differs from ours
-- @return[2] nil, message, code (11: asleep)
-- @usage local s = assert(health.read("/dev/sdb")); print(s.verdict.status,
--   s.temperature.temperature_c)
function M.read(what, options)
  options = options or {}
  return transport.through(what, options, function(t)
    local pages = require("hdd.pages").read(t, options)
    local said = require("hdd.drive." .. t.kind).decode(pages)
    if not getmetatable(said) then setmetatable(said, HEALTH) end
    said.kind, said.source, said.no_ata = t.kind, M.source(t), t.no_ata
    said.failures, said.incomplete = pages.failures, pages.incomplete
    local kernel = kernel_identity(t)
    said.link = kernel and kernel.link
    said.used_through = kernel and kernel.transport
    if t.kind == "ata" then
      if not pages.incomplete then part.native_size(t, said.identity) end
      said.libatasmart = first_opinion(pages)
      said.opinions = said.libatasmart and second_opinion.compare(said, said.libatasmart)
    end
    return M.judge(said, options.before)
  end)
end

local STATUS = {failing = true, warning = true, unknown = true, good = true}

-- What is no table in what `read` gives.
local SCALARS = {
  kind = true, smart_status = true, power_mode = true, incomplete = true, no_ata = true,
  used_through = true,
}

-- A snapshot may come from another version, or from an editor: sections that can't be worked with are
-- left out, and named.
local function keep_sound(said, warnings)
  local capdiff = require "hdd.drive.capdiff"
  local function sound(probe)
    return pcall(capdiff.compare, probe, probe) and pcall(verdict.judge, probe)
  end
  local names = {}
  for name in pairs(said) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local value = said[name]
    local probe = {kind = said.kind, identity = {}}
    probe[name] = value
    local right = SCALARS[name] and type(value) ~= "table" or type(value) == "table" and sound(probe)
    if not right then
      said[name] = nil
      warnings[#warnings + 1] = ("the snapshot's %s is in no form that this version knows"):format(name)
    end
  end
end

--- What is in a snapshot's document.
-- @tparam table document  schema hddlua.smart/1; not changed
-- @tparam[opt] string path  where it is from, for messages
-- @treturn[1] table  as of `read`, with `source.kind` "snapshot"
-- @return[2] nil, message, code
-- @usage local said = assert(health.of(assert(document.load("sdb-2025.json"))))
function M.of(document, path)
  path = path or "the document"
  local found = document.health
  if document.schema ~= "hddlua.smart/1" or type(found) ~= "table" or not found.kind then
    return nil, path .. ": is a result of hddlua, but no snapshot of what a drive says", ENODATA
  end
  local said = {}
  for section, value in pairs(found) do said[section] = value end
  local warnings = {}
  keep_sound(said, warnings)
  said.source = {path = path, name = path:match("[^/]+$"), kind = "snapshot",
    read_at = document.started_at, warnings = warnings}
  said.verdict = document.verdict
  -- What another version, or somebody's editor, has left out.
  for _, section in ipairs {"identity", "temperature", "power_on", "power_cycles"} do
    if type(said[section]) ~= "table" then said[section] = {} end
  end
  if #warnings > 0 or #said.verdict.reasons == 0 or not STATUS[said.verdict.status] then
    M.judge(said)
  end
  return setmetatable(said, HEALTH)
end

--- What is in a file: a snapshot (`hddlua smart --save`), a recording, a libatasmart blob; or what
-- a drive says now.
-- @tparam string path
-- @tparam[opt] table options  as of `read`
-- @treturn[1] table  as of `read`; of a snapshot `source.kind` is "snapshot"
-- @return[2] nil, message, code
-- @usage local before = assert(health.load("sdb-2025.json"))
function M.load(path, options)
  local lfs = require "lfs"
  if (options and options.as) or lfs.attributes(path, "mode") ~= "file" then
    return M.read(path, options)
  end
  local file <close>, message, code = io.open(path, "rb")
  if not file then return nil, message, code end
  if not (file:read(64) or ""):find("^%s*{") then return M.read(path, options) end
  local document
  document, message, code = require("hdd.document").load(path)
  if not document then return nil, message, code end
  return M.of(document, path)
end

return M
