--- What a SCSI or SAS drive is asked, by name: each function sends a command and returns its bytes
-- as they came. `hdd.drive` decodes them. All only read, but for the self-tests, for which the
-- drive must have been opened with `consent = "self-tests"`.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.transport.scsi
local M = {}

local INQUIRY_BYTES <const>, VPD_BYTES <const> = 96, 252
local LOG_BYTES <const>, MODE_BYTES <const> = 16384, 252
local DEFECT_HEADER <const>, DEFECTS_MOST_BYTES <const> = 8, 65536
local SHORT_DEFECT_HEADER <const>, SHORT_DEFECTS_MOST <const> = 4, 65535
local EOPNOTSUPP <const> = 95
local GROWN <const>, BYTES_FROM_INDEX <const> = 0x08, 0x04

local function bytes_of(reply, message, code, extra)
  if not reply then return nil, message, code, extra end
  return reply.data
end

local function ask(t, length, name, format, ...)
  return bytes_of(t:scsi {cdb = string.pack(format, ...), length = length, name = name})
end

--- INQUIRY.
-- @tparam Channel t  see `hdd.transport`
-- @treturn[1] string
-- @return[2] nil, message, code
-- @usage local data = assert(scsi.inquiry(t))
function M.inquiry(t)
  return ask(t, INQUIRY_BYTES, "INQUIRY", ">BBBI2B", 0x12, 0, 0, INQUIRY_BYTES, 0)
end

--- A page of vital product data.
-- @tparam Channel t
-- @tparam integer page  00h list, 80h serial number, 83h designators, 89h ATA, B1h characteristics
--   …
-- @treturn[1] string
-- @return[2] nil, message, code
-- @usage local serial = assert(scsi.vpd(t, 0x80))
function M.vpd(t, page)
  return ask(t, VPD_BYTES, ("VPD page %02Xh"):format(page), ">BBBI2B", 0x12, 1, page, VPD_BYTES, 0)
end

--- LOG SENSE: cumulative values of a log page.
-- @tparam Channel t
-- @tparam integer page  00h list, 02h writing, 03h reading, 0Dh temperature, 2Fh exceptions …
-- @tparam[opt=0] integer subpage
-- @treturn[1] string
-- @return[2] nil, message, code
-- @usage local temperature = assert(scsi.log(t, 0x0d))
function M.log(t, page, subpage)
  local name = ("LOG SENSE %02Xh"):format(page) .. (subpage and ("/%02Xh"):format(subpage) or "")
  return ask(t, LOG_BYTES, name, ">BBBBBI2I2B", 0x4d, 0, 0x40 | page, subpage or 0, 0, 0,
    LOG_BYTES, 0)
end

--- MODE SENSE(10): the current values of a mode page.
-- @tparam Channel t
-- @tparam integer page  08h caching, 1Ch informational exceptions …
-- @tparam[opt=0] integer subpage
-- @treturn[1] string  with the mode parameter header in front
-- @return[2] nil, message, code
-- @usage local data = assert(scsi.mode(t, 0x1c))
function M.mode(t, page, subpage)
  return ask(t, MODE_BYTES, ("MODE SENSE %02Xh"):format(page), ">BBBBBBBI2B", 0x5a, 0, page,
    subpage or 0, 0, 0, 0, MODE_BYTES, 0)
end

--- READ CAPACITY(16).
-- @tparam Channel t
-- @treturn[1] string  32 bytes
-- @return[2] nil, message, code
-- @usage local data = assert(scsi.capacity(t))
function M.capacity(t)
  return ask(t, 32, "READ CAPACITY(16)", ">BBI8I4BB", 0x9e, 0x10, 0, 32, 0, 0)
end

local function defects_of_12(t)
  local function read(length)
    return ask(t, length, "READ DEFECT DATA(12)", ">BBI4I4BB", 0xb7, GROWN | BYTES_FROM_INDEX, 0,
      length, 0, 0)
  end
  local header, message, code, extra = read(DEFECT_HEADER)
  if not header or #header < DEFECT_HEADER then return header, message, code, extra end
  local length = string.unpack(">I4", header, 5)
  if length == 0 then return header end
  return read(math.min(DEFECT_HEADER + length, DEFECTS_MOST_BYTES))
end

-- The older command, whose lengths have 16 bits: its answer with the newer one's header.
local function defects_of_10(t)
  local function read(length)
    return ask(t, length, "READ DEFECT DATA(10)", ">BBBI4I2B", 0x37, 0, GROWN | BYTES_FROM_INDEX, 0,
      length, 0)
  end
  local data, message, code, extra = read(SHORT_DEFECT_HEADER)
  if not data or #data < SHORT_DEFECT_HEADER then return nil, message, code, extra end
  local length = string.unpack(">I2", data, 3)
  if length > 0 then
    data, message, code, extra = read(math.min(SHORT_DEFECT_HEADER + length, SHORT_DEFECTS_MOST))
    if not data then return nil, message, code, extra end
  end
  return string.pack(">BBI2I4", 0, data:byte(2), 0, length) .. data:sub(SHORT_DEFECT_HEADER + 1)
end

--- READ DEFECT DATA(12), or of a drive that lacks it the older (10): the grown defects. Of a long
-- list the end is missing; its header has the length.
-- @tparam Channel t
-- @treturn[1] string  as READ DEFECT DATA(12) has it
-- @return[2] nil, message, code
-- @usage local data = assert(scsi.defects(t))
function M.defects(t)
  local data, message, code, extra = defects_of_12(t)
  if data or code ~= EOPNOTSUPP then return data, message, code, extra end
  local older = defects_of_10(t)
  if older then return older end
  return nil, message, code, extra
end

--- REQUEST SENSE: what the drive has to say now.
-- @tparam Channel t
-- @treturn[1] string  sense data
-- @return[2] nil, message, code
-- @usage local sense = assert(scsi.sense(t))
function M.sense(t)
  return ask(t, 252, "REQUEST SENSE", ">BBBBBB", 0x03, 0, 0, 0, 252, 0)
end

local TESTS = {short = 1, extended = 2, abort = 4}

--- Start a self-test in the background, or abort the one that runs.
-- @tparam Channel t  opened with `consent = "self-tests"`
-- @tparam string which  "short", "extended" or "abort"
-- @treturn[1] boolean true  the drive has taken it
-- @return[2] nil, message, code
-- @usage assert(scsi.self_test(t, "short"))
function M.self_test(t, which)
  local number = TESTS[which]
  assert(number, "self_test: \"short\", \"extended\" or \"abort\" expected")
  local reply, message, code, extra = t:scsi {cdb = string.char(0x1d, number << 5, 0, 0, 0, 0),
    name = which == "abort" and "abort of the self-test" or which .. " self-test"}
  if not reply then return nil, message, code, extra end
  return true
end

return M
