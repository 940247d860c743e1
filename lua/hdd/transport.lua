--- Commands to a drive: ATA, SCSI and NVMe, or a recording that answers as the drive did.
--
-- Commands that only read are sent; others are refused unless whoever opens the drive consents.
-- Each runs on the drive's own thread, one at a time. What waits for an answer lets other tasks go
-- on, and stops waiting after some seconds; the answer is there when it comes. A drive that sleeps
-- is not woken unless asked.
--
--     local t <close> = assert(transport.open("/dev/sdb"))
--     local reply = assert(t:ata {command = 0xec, protocol = "pio-in", count = 1})
--     print(#reply.data, reply.elapsed_us)
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.transport
local bytes = require "hdd.drive.bytes"
local commands = require "hdd.commands"
local Channel = require "hdd.transport.channel"
local target = require "hdd.transport.target"

local M = {}
local EPERM <const>, EIO <const>, ENOTTY <const>, EROFS <const> = 1, 5, 25, 30
local ENOSYS <const>, EOPNOTSUPP <const> = 38, 95

local WAIT_S <const> = 5 -- that a caller waits for an answer

-- The reasons behind the codes that come back, for scripts that list them.
local REASONS = {
  [EPERM] = "no permission", [4] = "interrupted", [6] = "gone", [9] = "closed", [11] = "asleep",
  [13] = "no permission", [16] = "not ready", [19] = "gone", [ENOTTY] = "no such drive",
  [EROFS] = "refused", [ENOSYS] = "no pass-through", [EOPNOTSUPP] = "not supported",
  [61] = "no registers", [110] = "timed out", [115] = "no answer yet", [123] = "no medium",
}

--- The reason that a code stands for, in one or two words.
-- @tparam integer code  as these functions return it
-- @treturn string  "not supported" (by the drive), "no pass-through" (the bridge or controller
--   hands nothing on), "asleep", "no permission", "refused" (by the table of permitted commands),
--   "timed out", "no registers" (the answer is in them), "no answer yet", "no such drive", "gone",
--   "no medium", "not ready", "interrupted", "closed", "failed"
-- @usage local page, message, code = ata.log(t, 0x11); print(page or transport.reason(code))
function M.reason(code)
  return REASONS[code] or "failed"
end

-- The serial number, as the drive itself gives it; nil when it has none.
local function serial_of(self)
  if self.kind == "ata" then return bytes.ata_text(self.identify, 10, 10) end
  if self.kind == "nvme" then return bytes.text(self.identify:sub(5, 24)) end
  local reply = self:scsi {cdb = "\x12\1\x80\0\xff\0", length = 255, name = "VPD page 80h"}
  local length = reply and #reply.data >= 4 and string.unpack(">I2", reply.data, 3) or 0
  return reply and bytes.text(reply.data:sub(5, 4 + length))
end

local function consent(self, what)
  if what == nil then return true end
  if what == "self-tests" then
    self.raw:permit("self-tests")
    return true
  end
  local serial = serial_of(self)
  if serial ~= what then
    local told = "%s: consent was given for the drive with serial number %s, and this is %s"
    return nil, told:format(
      self.path, what, serial or "one without"), EROFS
  end
  self.raw:permit("everything")
  return true
end

-- An IDENTIFY page that can be one: bridges have been seen to answer with zeros.
local function plausible(page)
  return #page == 512 and page:find("[^%z]") and page:sub(21, 40):find("[^%z\xff]") and
    page:byte(2) & 0x80 == 0
end

local function probe_ata(self)
  self.kind = "ata"
  local reply, message, code, extra = self:ata {command = 0xec, protocol = "pio-in", count = 1,
    name = "IDENTIFY DEVICE"}
  if reply and not plausible(reply.data) then
    return nil, self.path .. ": IDENTIFY DEVICE: the answer makes no sense", EIO
  elseif reply then
    self.identify = reply.data
    return true
  end
  return nil, message, code, extra
end

local function probe_nvme(self)
  self.kind = "nvme"
  local reply, message, code, extra = self:nvme {opcode = 0x06, cdw10 = 1, length = 4096,
    name = "IDENTIFY"}
  if not reply then return nil, message, code, extra end
  self.identify = reply.data
  return true
end

-- INQUIRY does not wake a drive; what answers it may be a disk, a bridge to one, or neither.
local function probe_scsi(self)
  self.kind = "unknown"
  local reply, message, code, extra = self:scsi {cdb = "\x12\0\0\0\x60\0", length = 96,
    name = "INQUIRY"}
  local inquiry = reply and reply.data or ""
  if not reply and code ~= EOPNOTSUPP then return nil, message, code, extra end
  local kind = (inquiry:byte(1) or 0) & 0x1f
  if kind ~= 0 and kind ~= 0x14 then
    return nil, ("%s: is no disk (SCSI device type %02Xh)"):format(self.path, kind), ENOTTY
  end
  local ok
  ok, message, code, extra = probe_ata(self)
  if ok then
    self.inquiry = inquiry
    return true
  end
  -- A drive that is no ATA drive, or a bridge that hands nothing on: SCSI is what is left.
  if (code == ENOSYS or code == EOPNOTSUPP) and inquiry ~= "" then
    self.kind, self.inquiry, self.no_ata = "scsi", inquiry, message
    self.answered_ns = nil
    return true
  end
  return nil, message, code, extra
end

local function explain(self, message, code, extra)
  if code == EPERM then
    message = ("%s: it may be read, but not sent commands: the kernel asks for CAP_SYS_RAWIO " ..
      "(CAP_SYS_ADMIN for NVMe): run as root"):format(self.path)
  end
  return nil, message, code, extra
end

local function open_target(found, options)
  local raw, message, code
  if found.recording then
    raw, message, code = found.recording:replay()
  else
    raw, message, code = commands.open(found.path, found.as == "nvme" and "nvme" or "scsi")
  end
  if not raw then return nil, message, code end
  local self = setmetatable({
    raw = raw, path = found.path, name = found.name, of = found.of, nsid = found.nsid,
    recording = found.recording,
    wake = options.wake, wait_s = options.wait or WAIT_S,
  }, Channel)
  if options.record then raw:record(options.record) end
  return self
end

-- What a recording is of: its first exchange, or a blob's IDENTIFY, tells.
local function recorded_as(recording)
  if recording:describe().exchanges == 0 then return "ata" end
  return recording:exchange(1).kind
end

--- Open a way to a drive, or to a recording of one. What it is, is found out: `kind` becomes "ata",
-- "scsi" or "nvme", and `identify` (ATA, NVMe) or `inquiry` (SCSI) the page that it answered with.
-- A partition, or a volume on a single drive, stands for that drive: `of` is then its name. Of a
-- drive behind a bridge that hands no ATA commands on, `kind` is "scsi", and `no_ata` says why.
-- @tparam string|Drive|Recording what  a path, an open drive, or a recording
-- @tparam[opt] table options  `wake` (true: a drive that sleeps may be woken), `wait` (s that each
--   command waits for its answer, 5), `consent` ("self-tests", or the drive's serial number for
--   commands that change it), `record` (a Recording, for all exchanges), `as` ("ata", "scsi",
--   "nvme": take the path as such a drive)
-- @treturn[1] Channel  see `hdd.transport.channel`: `:ata`, `:scsi`, `:nvme`, `:record`, `:close`
-- @return[2] nil, message, code
-- @usage local t <close> = assert(transport.open("/dev/sdb", {wake = true}))
function M.open(what, options)
  options = options or {}
  local found, message, code, extra
  if type(what) == "userdata" then
    found = {path = "recording", name = "recording", recording = what}
  else
    found, message, code = target.find(type(what) == "string" and what or what.path, options)
    if not found then return nil, message, code end
  end
  local self
  self, message, code = open_target(found, options)
  if not self then return nil, message, code end
  local as, ok = found.recording and recorded_as(found.recording) or found.as
  local probe = as == "nvme" and probe_nvme or as == "ata" and probe_ata or probe_scsi
  ok, message, code, extra = probe(self)
  if ok then ok, message, code = consent(self, options.consent) end
  if not ok then
    self:close()
    return explain(self, message, code, extra)
  end
  return self
end

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

--- Calls a function with a way to a drive. One that was opened for this call is closed with it.
-- @tparam string|Drive|Channel|Recording what  a path, or what is open already
-- @tparam[opt] table options  as of `open`
-- @tparam function f  gets a Channel
-- @return what f returned
-- @return[2] nil, message, code, pending  when there is no way
-- @usage local page = transport.through("/dev/sdb", nil, ata.smart_data)
function M.through(what, options, f)
  if type(what) == "table" and not is_drive(what) then return f(what) end -- a Channel
  if is_drive(what) then
    local t, message, code, late = what:commands(way(options))
    if not t then return nil, message, code, late end
    return f(t)
  end
  local t <close>, message, code, late = M.open(what, way(options))
  if not t then return nil, message, code, late end
  return f(t)
end

return M
