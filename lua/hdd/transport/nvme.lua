--- What an NVMe drive is asked, by name: each function sends a command and returns its bytes as
-- they came. `hdd.drive` decodes them. All only read, but for the self-tests, for which the drive
-- must have been opened with `consent = "self-tests"`.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.transport.nvme
local M = {}

local ALL_NAMESPACES <const> = 0xffffffff
local IDENTIFY_BYTES <const> = 4096
local RETAIN_EVENT <const> = 1 << 15 -- so that other programs are still told of it

local function bytes_of(reply, message, code, extra)
  if not reply then return nil, message, code, extra end
  return reply.data
end

local function identify(t, what, nsid, name)
  return bytes_of(t:nvme {
    opcode = 0x06, nsid = nsid, cdw10 = what, length = IDENTIFY_BYTES, name = name,
  })
end

--- Identify Controller.
-- @tparam Channel t  see `hdd.transport`
-- @treturn[1] string  4096 bytes
-- @return[2] nil, message, code
-- @usage local page = assert(nvme.controller(t))
function M.controller(t)
  return identify(t, 1, 0, "IDENTIFY controller")
end

--- Identify Namespace.
-- @tparam Channel t
-- @tparam[opt] integer nsid  (the one that was opened, else 1)
-- @treturn[1] string  4096 bytes
-- @return[2] nil, message, code
-- @usage local page = assert(nvme.namespace(t))
function M.namespace(t, nsid)
  nsid = nsid or t.nsid or 1
  return identify(t, 0, nsid, ("IDENTIFY namespace %d"):format(nsid))
end

--- The numbers of the active namespaces.
-- @tparam Channel t
-- @treturn[1] {integer,...}
-- @return[2] nil, message, code
-- @usage for _, nsid in ipairs(assert(nvme.namespaces(t))) do print(nsid) end
function M.namespaces(t)
  local page, message, code, extra = identify(t, 2, 0, "IDENTIFY active namespaces")
  if not page then return nil, message, code, extra end
  local list = {}
  for at = 1, #page - 3, 4 do
    local nsid = string.unpack("<I4", page, at)
    if nsid == 0 then break end
    list[#list + 1] = nsid
  end
  return list
end

--- Get Log Page.
-- @tparam Channel t
-- @tparam integer id      01h errors, 02h SMART / health, 03h firmware, 06h self-tests …
-- @tparam integer length  bytes, a multiple of 4
-- @tparam[opt] table options  `nsid` (all namespaces), `offset` (bytes, 0)
-- @treturn[1] string
-- @return[2] nil, message, code
-- @usage local page = assert(nvme.log(t, 0x02, 512))
function M.log(t, id, length, options)
  options = options or {}
  assert(length > 0 and length % 4 == 0, "log: a length in bytes that is a multiple of 4 expected")
  local words, offset = length // 4 - 1, options.offset or 0
  return bytes_of(t:nvme {
    opcode = 0x02, nsid = options.nsid or ALL_NAMESPACES, length = length,
    cdw10 = id | RETAIN_EVENT | (words & 0xffff) << 16, cdw11 = words >> 16,
    cdw12 = offset & 0xffffffff, cdw13 = offset >> 32,
    name = ("GET LOG PAGE %02Xh"):format(id),
  })
end

--- Get Features: the current value of a feature.
-- @tparam Channel t
-- @tparam integer id  04h temperature threshold, 06h volatile write cache …
-- @treturn[1] integer  dword 0 of the completion
-- @return[2] nil, message, code
-- @usage local cache = nvme.feature(t, 0x06)
function M.feature(t, id)
  local reply, message, code, extra = t:nvme {opcode = 0x0a, cdw10 = id,
    name = ("GET FEATURES %02Xh"):format(id)}
  if not reply then return nil, message, code, extra end
  return reply.result
end

local TESTS = {short = 1, extended = 2, abort = 0xf}

--- Start a self-test, or abort the one that runs.
-- @tparam Channel t  opened with `consent = "self-tests"`
-- @tparam string which  "short", "extended" or "abort"
-- @tparam[opt] integer nsid  the namespace to be read in the test (all)
-- @treturn[1] boolean true  the drive has taken it
-- @return[2] nil, message, code
-- @usage assert(nvme.self_test(t, "short"))
function M.self_test(t, which, nsid)
  local number = TESTS[which]
  assert(number, "self_test: \"short\", \"extended\" or \"abort\" expected")
  local reply, message, code, extra = t:nvme {opcode = 0x14, nsid = nsid or ALL_NAMESPACES,
    cdw10 = number, name = which == "abort" and "abort of the self-test" or which .. " self-test"}
  if not reply then return nil, message, code, extra end
  return true
end

return M
