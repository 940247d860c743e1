--- What an ATA drive is asked, by name: each function sends a command and returns its bytes as they
-- came. `hdd.drive` decodes them. All only read, but for the self-tests, for which the drive must
-- have been opened with `consent = "self-tests"`.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.transport.ata
local M = {}

local EIO <const>, EBUSY <const>, ENODATA <const>, EINPROGRESS <const> = 5, 16, 61, 115
local EROFS <const>, EBADF <const>, ENODEV <const>, EOPNOTSUPP <const> = 30, 9, 19, 95
local SMART <const>, SIGNATURE <const> = 0xb0, 0xc24f00 -- in LBA 23:8 of all SMART commands
local PAGE <const> = 512
local PAGES_A_COMMAND <const> = 32 -- more than any log needs; controllers limit a transfer

-- Failures after which reading in smaller parts is no use.
local FINAL = {[EINPROGRESS] = true, [EROFS] = true, [EBADF] = true, [ENODEV] = true, [4] = true,
  [11] = true}

local function bytes_of(reply, message, code, extra)
  if not reply then return nil, message, code, extra end
  return reply.data
end

local function smart_in(t, feature, low, count, name)
  return bytes_of(t:ata {
    command = SMART, features = feature, lba = SIGNATURE | low, count = count, protocol = "pio-in",
    name = name,
  })
end

--- IDENTIFY DEVICE.
-- @tparam Channel t  see `hdd.transport`
-- @treturn[1] string  512 bytes
-- @return[2] nil, message, code
-- @usage local page = assert(ata.identify(t))
function M.identify(t)
  return bytes_of(t:ata {command = 0xec, protocol = "pio-in", count = 1, name = "IDENTIFY DEVICE"})
end

--- SMART READ DATA: the attributes.
-- @tparam Channel t
-- @treturn[1] string  512 bytes
-- @return[2] nil, message, code
-- @usage local page = assert(ata.smart_data(t))
function M.smart_data(t)
  return smart_in(t, 0xd0, 0, 1, "SMART READ DATA")
end

--- SMART READ THRESHOLDS. (Its LBA 7:0 is 1, as everyone sends it.)
-- @tparam Channel t
-- @treturn[1] string  512 bytes
-- @return[2] nil, message, code
-- @usage local page = assert(ata.smart_thresholds(t))
function M.smart_thresholds(t)
  return smart_in(t, 0xd1, 1, 1, "SMART READ THRESHOLDS")
end

--- SMART RETURN STATUS: the drive's own word on its health.
-- @tparam Channel t
-- @treturn[1] boolean  true: good
-- @return[2] nil, message, code (61 when no registers came back, or other ones: unknown)
-- @usage local good, why = ata.smart_status(t)
function M.smart_status(t)
  local name = "SMART RETURN STATUS"
  local reply, message, code, extra = t:ata {
    command = SMART, features = 0xda, lba = SIGNATURE, registers = true, name = name,
  }
  if not reply then return nil, message, code, extra end
  local answer = reply.registers and reply.registers.lba >> 8 & 0xffff
  if answer == 0xc24f then return true end
  if answer == 0x2cf4 then return false end
  local why = answer and ("the answer is neither yes nor no (%04Xh)"):format(answer) or
    "no registers came back"
  return nil, ("%s: %s: %s"):format(t.path, name, why), ENODATA
end

-- Pages of a log, in as large pieces as go through: bridges often take one page a command.
local function in_pieces(count, read)
  local pieces, at, size = {}, 0, math.min(count, PAGES_A_COMMAND)
  while at < count do
    local piece, message, code, extra = read(at, math.min(size, count - at))
    if piece then
      pieces[#pieces + 1] = piece
      at = at + #piece // PAGE
    elseif size == 1 or FINAL[code] then
      if at > 0 and not FINAL[code] then break end -- a log shorter than it said
      return nil, message, code, extra
    else
      size = 1
    end
  end
  return table.concat(pieces)
end

--- SMART READ LOG.
-- @tparam Channel t
-- @tparam integer address  of the log
-- @tparam[opt=1] integer pages  of 512 bytes, from the first on
-- @treturn[1] string  as many bytes
-- @return[2] nil, message, code
-- @usage local summary = assert(ata.smart_log(t, 0x01))
function M.smart_log(t, address, pages)
  return smart_in(t, 0xd5, address, pages or 1, ("SMART READ LOG %02Xh"):format(address))
end

--- READ LOG EXT: a general purpose log.
-- @tparam Channel t
-- @tparam integer address  of the log
-- @tparam[opt=0] integer page  the first
-- @tparam[opt=1] integer pages  of 512 bytes
-- @treturn[1] string  bytes; fewer when the log ends before
-- @return[2] nil, message, code
-- @usage local counters = assert(ata.log(t, 0x11))
function M.log(t, address, page, pages)
  page = page or 0
  return in_pieces(pages or 1, function(at, count)
    local first = page + at
    return bytes_of(t:ata {
      command = 0x2f, extended = true, count = count, protocol = "pio-in",
      lba = address | (first & 0xff) << 8 | (first >> 8 & 0xff) << 32,
      name = ("READ LOG EXT %02Xh, page %d"):format(address, first),
    })
  end)
end

--- The drive's own size, in logical blocks, which SET MAX ADDRESS may hide a part of.
-- @tparam Channel t
-- @treturn[1] integer
-- @return[2] nil, message, code
-- @usage local blocks = ata.native_size(t)
function M.native_size(t)
  local name = "READ NATIVE MAX ADDRESS"
  local reply, message, code, extra
  for _, command in ipairs {{0x78, true}, {0x27, true}, {0xf8, false}} do
    reply, message, code, extra = t:ata {
      command = command[1], extended = command[2], registers = true, device = 0x40, name = name,
    }
    if reply and reply.registers and not reply.registers.cut then
      local last = reply.registers.lba
      if not command[2] then last = last & 0xffffff | (reply.registers.device & 0x0f) << 24 end
      if last > 0 then return last + 1 end
    elseif code and code ~= EOPNOTSUPP then
      break
    end
  end
  if reply then return nil, ("%s: %s: no registers came back"):format(t.path, name), ENODATA end
  return nil, message, code, extra
end

--- DEVICE CONFIGURATION IDENTIFY.
-- @tparam Channel t
-- @treturn[1] string  512 bytes
-- @return[2] nil, message, code
-- @usage local page = ata.device_configuration(t)
function M.device_configuration(t)
  return bytes_of(t:ata {command = 0xb1, features = 0xc2, protocol = "pio-in", count = 1,
    name = "DEVICE CONFIGURATION IDENTIFY"})
end

-- --- SCT ------------------------------------------------------------------------------------

local STATUS_LOG <const>, DATA_LOG <const> = 0xe0, 0xe1

local function sct_command(t, words, with_registers, name)
  local key = string.pack("<I2I2I2I2", words[1], words[2], words[3], words[4] or 0)
  return t:ata {
    command = SMART, features = 0xd6, lba = SIGNATURE | STATUS_LOG, count = 1, protocol = "pio-out",
    data = key .. ("\0"):rep(PAGE - #key), registers = with_registers, name = name,
  }
end

--- The SCT status.
-- @tparam Channel t
-- @treturn[1] string  512 bytes
-- @return[2] nil, message, code
-- @usage local page = assert(ata.sct_status(t))
function M.sct_status(t)
  return M.smart_log(t, STATUS_LOG)
end

-- The state of the SCT command that was sent last: extended status, action, function.
local function sct_state(t)
  local page, message, code, extra = M.sct_status(t)
  if not page then return nil, message, code, extra end
  return string.unpack("<I2I2I2", page, 15)
end

--- The SCT temperature history.
-- @tparam Channel t
-- @treturn[1] string  512 bytes
-- @return[2] nil, message, code
-- @usage local page = assert(ata.sct_history(t))
function M.sct_history(t)
  local name = "SCT temperature history"
  local state, message, code, extra = sct_state(t)
  if not state then return nil, message, code, extra end
  if state == 0xffff then
    return nil, ("%s: %s: another SCT command is running"):format(t.path, name), EBUSY
  end
  local reply
  reply, message, code, extra = sct_command(t, {5, 1, 2}, false, name)
  if not reply then return nil, message, code, extra end
  local page
  page, message, code, extra = M.smart_log(t, DATA_LOG)
  if not page then return nil, message, code, extra end
  local after, action, func = sct_state(t)
  if after ~= 0 or action ~= 5 or func ~= 1 then
    local told = "%s: %s: the drive says that it failed (status %04Xh of action %d, function %d)"
    return nil, told:format(t.path, name, after or 0, action or 0, func or 0), EIO
  end
  return page
end

-- A number that comes back in the registers. Bridges that return what they were sent (count 1 and
-- the log's address) know no better.
local function sct_number(t, words, name)
  local reply, message, code, extra = sct_command(t, words, true, name)
  if not reply then return nil, message, code, extra end
  local r = reply.registers
  if not r or r.count & 0xff == 1 and r.lba & 0xff == STATUS_LOG then
    return nil, ("%s: %s: no registers came back"):format(t.path, name), ENODATA
  end
  return r.count & 0xff | (r.lba & 0xff) << 8
end

--- The SCT error recovery time.
-- @tparam Channel t
-- @tparam string which  "read" or "write"
-- @treturn[1] integer  in 0.1 s; 0: as long as it takes
-- @return[2] nil, message, code
-- @usage local deciseconds = ata.sct_erc(t, "read")
function M.sct_erc(t, which)
  assert(which == "read" or which == "write", "sct_erc: \"read\" or \"write\" expected")
  return sct_number(t, {3, 2, which == "read" and 1 or 2}, "SCT error recovery time, " .. which)
end

local FEATURES = {["write cache"] = 1, reordering = 2, interval = 3}

--- The state of an SCT feature, as a number: `hdd.drive.sct` has the words.
-- @tparam Channel t
-- @tparam string which  "write cache", "reordering" or "interval" (of the temperature history)
-- @treturn[1] integer
-- @return[2] nil, message, code
-- @usage local value = ata.sct_feature(t, "write cache")
function M.sct_feature(t, which)
  local number = FEATURES[which]
  assert(number, "sct_feature: \"write cache\", \"reordering\" or \"interval\" expected")
  return sct_number(t, {4, 2, number}, "SCT feature, " .. which)
end

-- --- self-tests -----------------------------------------------------------------------------

local TESTS = {offline = 0, short = 1, extended = 2, conveyance = 3, selective = 4, abort = 0x7f}

--- Start a self-test, or abort the one that runs. The drive stays usable.
-- @tparam Channel t  opened with `consent = "self-tests"`
-- @tparam string which  "short", "extended", "conveyance", "selective" (see `write_selective`),
--   "offline" (data collection), "abort"
-- @treturn[1] boolean true  the drive has taken it
-- @return[2] nil, message, code
-- @usage assert(ata.self_test(t, "short"))
function M.self_test(t, which)
  local number = TESTS[which]
  assert(number, "self_test: no such test")
  local reply, message, code, extra = t:ata {
    command = SMART, features = 0xd4, lba = SIGNATURE | number,
    name = which == "abort" and "abort of the self-test" or which .. " self-test",
  }
  if not reply then return nil, message, code, extra end
  return true
end

--- Write the selective self-test log: what the next selective test reads.
-- @tparam Channel t  opened with `consent = "self-tests"`
-- @tparam string page  512 bytes
-- @treturn[1] boolean true
-- @return[2] nil, message, code
-- @usage assert(ata.write_selective(t, page))
function M.write_selective(t, page)
  local reply, message, code, extra = t:ata {
    command = SMART, features = 0xd6, lba = SIGNATURE | 0x09, count = 1, protocol = "pio-out",
    data = page, name = "SMART WRITE LOG 09h",
  }
  if not reply then return nil, message, code, extra end
  return true
end

return M
