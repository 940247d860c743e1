-- stamp.lua: what writing and verifying stamps costs; prints the user CPU time per byte of each.
--   hddlua bench/stamp.lua FILE write|verify|read PASSES [KEY=VALUE]...
-- The file is overwritten. KEYs are the stamp's (pattern=random). `read` is what a verify costs without
-- the looking.
-- SPDX-License-Identifier: GPL-3.0-or-later
local consent = require "hdd.consent"
local hdd = require "hdd"

local path, operation, passes = arg[1], arg[2], math.tointeger(arg[3])
local stamp = {}
for i = 4, #arg do
  local key, value = arg[i]:match("^(%w+)=(.*)$")
  stamp[key] = math.tointeger(value) or value
end
local drive <close> = assert(hdd.open(path, {
  write = operation == "write" and {serial = consent.name(path), overwrite_data = true} or nil}))
local user, bytes = 0, 0
for _ = 1, passes do
  local r = assert(drive:run {operation = operation, stamp = operation ~= "read" and stamp or nil,
                              block_size = 1 << 18, depth = 2})
  assert(r.errors == 0 and (not r.mismatch_blocks or r.mismatch_blocks.total == 0))
  user, bytes = user + r.cpu_user_s, bytes + r.bytes
end
print(("bytes=%d user_ns_per_byte=%.4f"):format(bytes, user / bytes * 1e9))
