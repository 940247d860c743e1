--- One thing of what a drive says of itself, by as few commands as it takes: a Drive's methods
-- `identify`, `log`, `phy`, `sct` and `temperature`. They take paths and recordings as well.
--
--     local drive <close> = assert(hdd.open("/dev/sdb"))
--     print(drive:identify().ncq.depth, drive:temperature())
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.health.part
local ata = require "hdd.transport.ata"
local ata_decode = require("hdd.drive.ata").decode
local files = require "hdd.sysfs.files"
local transport = require "hdd.transport"

local M = {}

local EAGAIN <const>, ENODATA <const>, EOPNOTSUPP <const> = 11, 61, 95

--- Asks how large the drive is, whatever SET MAX ADDRESS hides of it. A drive without the feature is
-- not asked.
-- @tparam Channel t
-- @tparam ?table identity  of `hdd.drive.identify`: gets `native_sectors` and `native_size_bytes`
-- @usage part.native_size(t, identity); print(identity.native_size_bytes)
function M.native_size(t, identity)
  local features = identity and identity.features or {}
  local hpa, ama = features.host_protected_area or {}, features.accessible_max_address or {}
  if not hpa.supported and not ama.supported then return end
  local sectors = ata.native_size(t)
  local unit = identity.logical_sector_size_bytes
  if not sectors or not unit or sectors > math.maxinteger // unit then return end
  identity.native_sectors, identity.native_size_bytes = sectors, sectors * unit
end

--- Who the drive is and what it can do, in its own words.
-- @tparam Drive drive
-- @tparam[opt] table options  `wake`, `as` as of `hdd.health.read`
-- @treturn[1] table  as `hdd.drive.identify` decodes it (ATA); of others their `identity`
-- @return[2] nil, message, code
-- @usage print(drive:identify().ncq.depth)
function M.identify(drive, options)
  return transport.through(drive, options, function(t)
    if t.kind == "ata" then
      local identity = require("hdd.drive.identify").decode(t.identify)
      M.native_size(t, identity)
      return identity
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
  return transport.through(drive, options, function(t)
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
-- @tparam[opt] table options  as of `hdd.health.read`
-- @treturn[1] table  as `hdd.drive.phy` decodes it
-- @return[2] nil, message, code
-- @usage for _, c in ipairs(drive:phy().counters) do print(c.name, c.value) end
function M.phy(drive, options)
  return transport.through(drive, options, function(t)
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
-- @tparam[opt] table options  as of `hdd.health.read`
-- @treturn[1] table  `status`, `temperature_history`, `error_recovery {read write}`
-- @return[2] nil, message, code
-- @usage print(drive:sct().temperature_history.size)
function M.sct(drive, options)
  return transport.through(drive, options, function(t)
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
-- @tparam[opt] table options  as of `hdd.health.read`
-- @treturn[1] number  °C
-- @treturn[1] string  where it is from: "drivetemp", "SCT status", "attribute 194" ...
-- @return[2] nil, message, code (61: the drive tells none)
-- @usage local celsius, source = drive:temperature()
function M.temperature(drive, options)
  return transport.through(drive, options, function(t)
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

return M
