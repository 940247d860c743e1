--- A way to a drive, once it is open: its commands, and waiting for their answers.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @classmod hdd.transport.channel
local core = require "hdd.core"
local task = require "hdd.task"

local Channel = {}
Channel.__index = Channel

local EPERM <const>, EINTR <const>, EBADF <const>, EAGAIN <const> = 1, 4, 9, 11
local ENOTTY <const>, ENOSYS <const>, EINPROGRESS <const> = 25, 38, 115

-- The kernel's time-outs: shorter ones reset the link.
local TIMEOUT_S <const>, TIMEOUT_ASLEEP_S <const> = 20, 60
local FRESH_NS <const> = 1000000000 -- a drive that answered this long ago is still awake
local RETRIES <const> = 3           -- after a unit attention, which tells of something past

-- --- waiting --------------------------------------------------------------------------------

local Pending = {}
Pending.__index = Pending

--- Wait for a late answer.
-- @tparam[opt] number timeout_s
-- @treturn[1] table  the reply
-- @return[2] nil, message, code
-- @usage local reply = assert(late:wait(30))
function Pending:wait(timeout_s)
  local deadline_ns = timeout_s and core.now() + math.floor(timeout_s * 1e9)
  while not self.request:done() do
    local ready = task.wait {
      fd = self.request:fd(), deadline_ns = deadline_ns, interruptible = true,
    }
    if ready == nil then return nil, self.what .. ": interrupted", EINTR end
    if not ready then
      return nil, ("%s: no answer for %.0f s; it is still awaited"):format(
        self.what, (core.now() - self.since_ns) / 1e9), EINPROGRESS
    end
  end
  return self.request:reply()
end

-- Hands a command over and waits. Nothing is queued behind an answer that is overdue.
local function exchange(self, command, what)
  task.check()
  what = ("%s: %s"):format(self.path, what)
  local wait_s = command.wait or self.asleep and TIMEOUT_ASLEEP_S + 10 or self.wait_s
  if self.late then
    local answer, message, code = self.late:wait(wait_s)
    if not answer then return nil, message, code, self.late end
    self.late = nil
  end
  if not self.raw then return nil, what .. ": closed", EBADF end
  command.timeout = command.timeout or self.asleep and TIMEOUT_ASLEEP_S or TIMEOUT_S
  local request, message, code = self.raw:submit(command)
  if not request then return nil, ("%s: %s"):format(what, message), code end
  local pending = setmetatable({request = request, what = what, since_ns = core.now()}, Pending)
  local reply
  reply, message, code = pending:wait(wait_s)
  if not reply then
    self.late = pending
    return nil, message, code, pending
  end
  self.answered_ns = core.now()
  return reply
end

-- As exchange, with failures told: nil, message, code, reply.
local function ask(self, command, what)
  local reply, message, code, pending
  for _ = 1, RETRIES do
    reply, message, code, pending = exchange(self, command, what)
    if not reply then return nil, message, code, pending end
    if reply.sense_key ~= 6 then break end
  end
  if reply.code == 0 then return reply end
  return nil, ("%s: %s: %s"):format(self.path, what, reply.text), reply.code, reply
end

-- --- forms, and sleep ------------------------------------------------------------------------

local STANDBY = {[0x00] = true, [0x01] = true} -- answers of CHECK POWER MODE
-- Conditions of a SCSI drive that stands still: 5Eh with these, or 04h/02h (to be started).
local STANDBY_ASCQ = {[0x02] = true, [0x04] = true, [0x09] = true, [0x0a] = true, [0x43] = true}

-- In the form that is known to work, or the forms in their order: 16 bytes, then 12.
local function send_ata(self, command, what)
  command.kind, command.form = "ata", self.form or 16
  if command.form == 12 and command.extended then
    return nil, ("%s: %s: this bridge hands no 48 bit commands on"):format(self.path, what), ENOSYS
  end
  local reply, message, code, extra = ask(self, command, what)
  if code == ENOSYS and not self.form and not command.extended then
    command.form = 12
    local reply_12, message_12, code_12, extra_12 = ask(self, command, what)
    if code_12 ~= ENOSYS then
      self.form = code_12 ~= EINPROGRESS and 12 or nil
      return reply_12, message_12, code_12, extra_12
    end
  elseif reply then
    self.form = command.form
  end
  return reply, message, code, extra
end

-- Its answer is a number in the count register: of drives that do not say, nil.
local function power_mode(self)
  local reply, message, code, extra = send_ata(self, {command = 0xe5, registers = true},
    "CHECK POWER MODE")
  if reply and reply.registers then return reply.registers.count end
  return nil, message, code, extra
end

local function scsi_stands_still(self)
  local reply = ask(self, {kind = "scsi", cdb = "\x03\0\0\0\xfc\0", length = 252}, "REQUEST SENSE")
  local data = reply and reply.data or ""
  local fixed = #data >= 14 and data:byte(1) & 0x7e == 0x70
  if not fixed then return false end
  local key, asc, ascq = data:byte(3) & 0x0f, data:byte(13), data:byte(14)
  return asc == 0x5e and STANDBY_ASCQ[ascq] or key == 2 and asc == 4 and ascq == 2
end

-- May the drive be sent something that would wake it? True, or nil, message, code, pending.
local function awake(self)
  if self.recording or self.kind == "unknown" then return true end
  if self.answered_ns and core.now() - self.answered_ns < FRESH_NS then return true end
  local still
  if self.kind == "scsi" then
    still = scsi_stands_still(self)
  else
    local mode, message, code, extra = power_mode(self)
    if code == EINPROGRESS or code == EINTR or code == EPERM then
      return nil, message, code, extra
    end
    still = STANDBY[mode]
  end
  self.asleep = still and true or false
  if still and not self.wake then
    self.answered_ns = nil
    return nil, self.path .. ": the drive is asleep (standby), and it was not woken", EAGAIN
  end
  return true
end

local function wrong_kind(self, what, commands)
  return nil, ("%s: is %s drive: it takes no %s commands"):format(self.path, what, commands), ENOTTY
end

--- Send an ATA command.
-- @tparam table command  `command` (code), `protocol` ("non-data", "pio-in", "pio-out", "dma-in",
--   "dma-out"; "non-data"), `features`, `count` (sectors of 512 bytes), `lba`, `device` (0),
--   `extended` (true: a 48 bit command), `registers` (true: they are wanted back), `data` (string
--   that goes out), `timeout` (s, the kernel's: 20, or 60 when the drive was asleep), `wait` (s,
--   the caller's: 5, or as long as the time-out when it was asleep), `name` (for messages)
-- @treturn[1] table  reply: `data` (string), `registers` (`error status count lba device extended`,
--   when they came), `elapsed_us`
-- @treturn[2] nil
-- @treturn[2] string message
-- @treturn[2] integer code  see `reason`
-- @treturn[2] ?table  the reply as it is; or with "no answer yet" what to wait on: `:wait([s])`
-- @usage local reply = assert(t:ata {command = 0xec, protocol = "pio-in", count = 1})
function Channel:ata(command)
  if self.kind == "nvme" then return wrong_kind(self, "an NVMe", "ATA") end
  local ok, message, code, extra = awake(self)
  if not ok then return nil, message, code, extra end
  local copy = {}
  for key, value in pairs(command) do copy[key] = value end
  local reply
  reply, message, code, extra = send_ata(self, copy, command.name or
    ("ATA command %02Xh"):format(command.command or 0))
  if reply then self.asleep = false end
  return reply, message, code, extra
end

--- Send a SCSI command.
-- @tparam table command  `cdb` (string of 6 to 32 bytes), `length` (bytes that may come in) or
--   `data` (string that goes out), `timeout`, `wait`, `name` as of `ata`
-- @return as `ata` does; `data` has as many bytes as came in, or zeros after them
-- @usage local reply = assert(t:scsi {cdb = "\x12\1\x80\0\xff\0", length = 255, name = "VPD 80h"})
function Channel:scsi(command)
  if self.kind == "nvme" then return wrong_kind(self, "an NVMe", "SCSI") end
  local ok, message, code, extra = awake(self)
  if not ok then return nil, message, code, extra end
  local reply
  reply, message, code, extra = ask(self, {
    kind = "scsi", cdb = command.cdb, length = command.length, data = command.data,
    timeout = command.timeout, wait = command.wait,
  }, command.name or ("SCSI command %02Xh"):format((command.cdb or "\0"):byte()))
  if reply then
    self.asleep = false
    if reply.data then reply.data = reply.data:sub(1, reply.transferred_bytes) end
  end
  return reply, message, code, extra
end

--- Send an NVMe admin command.
-- @tparam table command  `opcode`, `nsid` (0), `cdw10` to `cdw15` (0), `length` (bytes that come
--   in) or `data` (string that goes out), `timeout`, `wait`, `name` as of `ata`
-- @return as `ata` does; the reply's `result` is dword 0 of the completion
-- @usage local reply = assert(t:nvme {opcode = 6, cdw10 = 1, length = 4096, name = "IDENTIFY"})
function Channel:nvme(command)
  if self.kind ~= "nvme" then return wrong_kind(self, "no NVMe", "NVMe") end
  return ask(self, {
    kind = "nvme", opcode = command.opcode, nsid = command.nsid,
    cdw10 = command.cdw10, cdw11 = command.cdw11, cdw12 = command.cdw12,
    cdw13 = command.cdw13, cdw14 = command.cdw14, cdw15 = command.cdw15,
    length = command.length, data = command.data, timeout = command.timeout, wait = command.wait,
  }, command.name or ("NVMe command %02Xh"):format(command.opcode or 0))
end

--- Is the drive asleep? It is not woken by the question.
-- @treturn ?boolean  nil when it does not say
-- @treturn ?integer  what CHECK POWER MODE answered
-- @usage if t:standby() then print("asleep") end
function Channel:standby()
  if self.kind == "scsi" then return scsi_stands_still(self) and true or false end
  if self.kind == "nvme" then return nil end
  local mode = power_mode(self)
  if mode == nil then return nil end
  return STANDBY[mode] or false, mode
end

--- Record every exchange from now on; nil ends it.
-- @tparam ?Recording recording  see `hdd.recording`
-- @treturn[1] boolean true
-- @return[2] nil, message, code
-- @usage t:record(recording)
function Channel:record(recording)
  if not self.raw then return nil, self.path .. ": closed", EBADF end
  return self.raw:record(recording)
end

--- Close it. What is on its way is still answered, on its own thread. Harmless a second time.
-- @usage t:close()
function Channel:close()
  if self.raw then self.raw:close() end
  self.raw = nil
end

Channel.__close = Channel.close

function Channel:__tostring()
  return ("transport %s (%s)"):format(self.path, self.raw and self.kind or "closed")
end

return Channel
