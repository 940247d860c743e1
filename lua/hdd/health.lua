--- What a drive says of itself, read, decoded and judged: the pages of `hdd.pages`, the decoders of
-- `hdd.drive`, libatasmart's opinion beside ours, and the verdict. These are a Drive's methods
-- `smart`, `identify`, `log`, `phy`, `sct`, `temperature` and `self_test`; `read` and `load` take
-- paths, recordings and snapshots as well.
--
--     local drive <close> = assert(hdd.open("/dev/sdb"))
--     local s = assert(drive:smart())
--     print(s.verdict.status, s:attribute(194).raw, s.sct.temperature_history.size, #s.phy_events)
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.health
local ata = require "hdd.transport.ata"
local ata_decode = require("hdd.drive.ata").decode
local files = require "hdd.sysfs.files"
local second_opinion = require "hdd.drive.second_opinion"
local transport = require "hdd.transport"
local verdict = require "hdd.drive.verdict"

local M = {}

local EAGAIN <const>, ENODATA <const>, EOPNOTSUPP <const> = 11, 61, 95

-- `:attribute(id)`, `.attributes`, `.phy_events`: for NVMe and SCSI drives, and what was read from
-- a file, as well.
local HEALTH <const> = getmetatable(ata_decode {})

-- Options of a way to a drive; any of them opens a new one.
local function way(options)
  if not options then return nil end
  local chosen = {
    as = options.as, wake = options.wake, wait = options.wait, record = options.record,
    consent = options.consent,
  }
  return next(chosen) and chosen or nil
end

local function is_drive(what)
  return type(what) == "table" and what.commands ~= nil
end

-- Calls f with a way to the drive. One that was opened for this call is closed with it.
local function through(what, options, f)
  if type(what) == "table" and not is_drive(what) then return f(what) end -- a Channel
  if is_drive(what) then
    local t, message, code, late = what:commands(way(options))
    if not t then return nil, message, code, late end
    return f(t)
  end
  local t <close>, message, code, late = transport.open(what, way(options))
  if not t then return nil, message, code, late end
  return f(t)
end

-- What the kernel knows of the drive that answers; nil of a recording.
local function kernel_identity(t)
  if t.recording then return nil end
  return (require("hdd.sysfs").identity(t.of or t.name))
end

--- Where a drive's words come from.
-- @tparam Channel t
-- @treturn table  `path name part_of kind read_at anonymised`, as in what `read` gives
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

-- SET MAX ADDRESS may hide a part of the drive. Those without the feature are not asked.
local function native_size(t, said)
  local features = said.identity and said.identity.features or {}
  local hpa, ama = features.host_protected_area or {}, features.accessible_max_address or {}
  if not hpa.supported and not ama.supported then return end
  local sectors = ata.native_size(t)
  local unit = said.identity.logical_sector_size_bytes
  if not sectors or not unit or sectors > math.maxinteger // unit then return end
  said.identity.native_sectors, said.identity.native_size_bytes = sectors, sectors * unit
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
  return through(what, options, function(t)
    local pages = require("hdd.pages").read(t, options)
    local said = require("hdd.drive." .. t.kind).decode(pages)
    if not getmetatable(said) then setmetatable(said, HEALTH) end
    said.kind, said.source, said.no_ata = t.kind, M.source(t), t.no_ata
    said.failures, said.incomplete = pages.failures, pages.incomplete
    local kernel = kernel_identity(t)
    said.link = kernel and kernel.link
    said.used_through = kernel and kernel.transport
    if t.kind == "ata" then
      if not pages.incomplete then native_size(t, said) end
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

-- --- a Drive's methods ----------------------------------------------------------------------

--- See `read`.
-- @function smart
-- @tparam Drive drive
-- @tparam[opt] table options
-- @usage local s = assert(drive:smart())
M.smart = M.read

--- Who the drive is and what it can do, in its own words.
-- @tparam Drive drive
-- @tparam[opt] table options  `wake`, `as` as of `read`
-- @treturn[1] table  as `hdd.drive.identify` decodes it (ATA); of others their `identity`
-- @return[2] nil, message, code
-- @usage print(drive:identify().ncq.depth)
function M.identify(drive, options)
  return through(drive, options, function(t)
    if t.kind == "ata" then
      local said = {identity = require("hdd.drive.identify").decode(t.identify)}
      native_size(t, said)
      return said.identity
    end
    local pages = require("hdd.pages").read(t)
    return require("hdd.drive." .. t.kind).decode(pages).identity
  end)
end

-- Decoders of logs by address: general purpose, SMART.
local LOGS = {
  [0x00] = {"log_directory", "general_purpose"}, [0x03] = {"error_log", "extended"},
  [0x04] = {"device_statistics", "decode"}, [0x07] = {"self_test_log", "extended"},
  [0x0c] = {"pending_defects", "decode"}, [0x10] = {"ncq_error", "decode"},
  [0x11] = {"phy", "decode"}, [0xa6] = {"farm", "decode"},
}
local SMART_LOGS = {
  [0x00] = {"log_directory", "smart"}, [0x01] = {"error_log", "summary"},
  [0x02] = {"error_log", "summary"}, [0x06] = {"self_test_log", "simple"},
  [0x09] = {"self_test_log", "selective"}, [0xe0] = {"sct", "status"},
}
local NVME_LOGS = {
  [0x01] = {"nvme_errors", "decode", 4096}, [0x02] = {"nvme_health", "decode", 512},
  [0x06] = {"nvme_self_test", "decode", 564},
}

-- Its decoder, and a function that reads its bytes.
local function log_of(t, page, options)
  if t.kind == "nvme" then
    local known = NVME_LOGS[page]
    local length = options.length or known and known[3] or 512
    return known, function() return require("hdd.transport.nvme").log(t, page, length) end
  elseif t.kind == "scsi" then
    return nil, function() return require("hdd.transport.scsi").log(t, page) end
  elseif options.smart then
    return SMART_LOGS[page], function() return ata.smart_log(t, page, options.count) end
  end
  return (options.first or 0) == 0 and LOGS[page], function()
    return ata.log(t, page, options.first, options.count)
  end
end

--- One log.
-- @tparam Drive drive
-- @tparam table options  `page` (its number); of ATA drives `first` (page within it, 0), `count`
--   (pages of 512 bytes, 1) and `smart` (true: the SMART log of that number); of NVMe drives
--   `length` (bytes)
-- @treturn[1] table  decoded, where a decoder knows it; `bytes` are its bytes
-- @return[2] nil, message, code
-- @usage for _, c in ipairs(drive:log {page = 0x11}.counters) do print(c.name, c.value) end
function M.log(drive, options)
  local page = options and options.page
  if math.type(page) ~= "integer" or page < 0 or page > 255 then
    error(("log: page = %s: must be an integer from 0 to 255"):format(tostring(page)), 2)
  end
  return through(drive, options, function(t)
    local decoder, read = log_of(t, page, options)
    local data, message, code = read()
    if not data then return nil, message, code end
    local result = decoder and require("hdd.drive." .. decoder[1])[decoder[2]](data) or {}
    result.bytes = data
    return result
  end)
end

local function only_ata(t, what)
  if t.kind == "ata" then return true end
  return nil, ("%s: %s: is no ATA drive"):format(t.path, what), EOPNOTSUPP
end

--- The Phy event counters: errors on the link.
-- @tparam Drive drive
-- @tparam[opt] table options  as of `read`
-- @treturn[1] table  as `hdd.drive.phy` decodes it
-- @return[2] nil, message, code
-- @usage for _, c in ipairs(drive:phy().counters) do print(c.name, c.value) end
function M.phy(drive, options)
  return through(drive, options, function(t)
    local ok, message, code = only_ata(t, "Phy event counters")
    if not ok then return nil, message, code end
    local page
    page, message, code = ata.log(t, 0x11)
    if not page then return nil, message, code end
    return require("hdd.drive.phy").decode(page)
  end)
end

--- SCT: status, temperature history, error recovery times. What the drive lacks is absent.
-- @tparam Drive drive
-- @tparam[opt] table options  as of `read`
-- @treturn[1] table  `status`, `temperature_history`, `error_recovery {read write}`
-- @return[2] nil, message, code
-- @usage print(drive:sct().temperature_history.size)
function M.sct(drive, options)
  return through(drive, options, function(t)
    local ok, message, code = only_ata(t, "SCT")
    if not ok then return nil, message, code end
    local pages = {identify = t.identify}
    pages.sct_status, message, code = ata.sct_status(t)
    if not pages.sct_status then return nil, message, code end
    pages.sct_history = ata.sct_history(t)
    pages.sct_erc_read, pages.sct_erc_write = ata.sct_erc(t, "read"), ata.sct_erc(t, "write")
    return ata_decode(pages).sct
  end)
end

-- Of the kernel's own sensor for the drive (drivetemp, nvme), in °C.
local function of_hwmon(t)
  local disk = not t.recording and require("hdd.sysfs.tree").by_name(t.of or t.name)
  if not disk then return nil end
  local base = disk.disk.dir .. "/device/"
  for _, folder in ipairs {base .. "hwmon/", base} do
    for _, name in ipairs(files.names(folder)) do
      if name:match("^hwmon%d+$") then
        local milli = files.integer(folder .. name .. "/temp1_input")
        if milli then return milli / 1000, files.text(folder .. name .. "/name") or name end
      end
    end
  end
end

--- The temperature, from the cheapest source: the kernel's sensor, else SCT, else an attribute,
-- else the log that the drive's kind has for it.
-- @tparam Drive drive
-- @tparam[opt] table options  as of `read`
-- @treturn[1] number  °C
-- @treturn[1] string  where it is from: "drivetemp", "SCT status", "attribute 194" ...
-- @return[2] nil, message, code (61: the drive tells none)
-- @usage local celsius, source = drive:temperature()
function M.temperature(drive, options)
  return through(drive, options, function(t)
    -- The sensor, too, sends the drive a command, which not every drive sleeps through.
    if t:standby() and not (options and options.wake) then
      return nil, t.path .. ": the drive is asleep (standby), and it was not woken", EAGAIN
    end
    local celsius, source = of_hwmon(t)
    if celsius then return celsius, source end
    local said
    if t.kind == "ata" then
      said = ata_decode {identify = t.identify, sct_status = ata.sct_status(t)}
      if not said.temperature.temperature_c then
        said = ata_decode {identify = t.identify, smart_data = ata.smart_data(t)}
      end
    else
      said = require("hdd.drive." .. t.kind).decode(require("hdd.pages").read(t))
    end
    if not said.temperature.temperature_c then
      return nil, t.path .. ": the drive tells no temperature", ENODATA
    end
    return said.temperature.temperature_c, said.temperature.source
  end)
end

--- Run a self-test, wait for its end, and say what came of it. See `hdd.procedure.selftest`.
-- @tparam Drive drive
-- @tparam[opt] table parameters  `type` ("short"), `wait` (true) ...
-- @treturn[1] table  the document
-- @return[2] nil, message, code
-- @usage print(drive:self_test {type = "short"}.summary.verdict)
function M.self_test(drive, parameters)
  return require("hdd.procedure.selftest").run(drive, parameters)
end

return M
