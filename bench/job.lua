-- job.lua: one workload for the benchmarks, said in words; prints its counts as pairio.py reads them.
--   hddlua bench/job.lua PATH [size=BYTES] [buffered] [KEY=VALUE]...
-- KEYs are drive:run's options.  shape=run (the pattern runs in C), function (a Lua function gives each
-- offset), coroutine (a coroutine a slot calls slot:read), record (every I/O to the file file=PATH).
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"

local options = {pattern = "random"}
local path, size, buffered, shape, file = arg[1], nil, false, "run", nil
for i = 2, #arg do
  local key, value = arg[i]:match("^([%w_]+)=(.*)$")
  if arg[i] == "buffered" then
    buffered = true
  elseif key == "size" then
    size = math.tointeger(value)
  elseif key == "shape" then
    shape = value
  elseif key == "file" then
    file = value
  else
    options[assert(key, arg[i])] = value == "true" or tonumber(value) or value
  end
end

local drive <close> = assert(hdd.open(path, {size = size, buffered = buffered}))

if shape == "coroutine" then
  local each, block = math.max(1, options.ios // options.depth), options.block_size
  local random, last = math.random, drive.size // block - 1
  local queue <close> = assert(drive:queue {depth = options.depth, block_size = block})
  local r = queue:each(function(slot)
    for _ = 1, each do slot:read(random(0, last) * block) end
  end)
  assert(r.errors == 0, "reads failed")
  print(("ios=%d iops=%.1f"):format(r.ios, r.iops or 0))
else
  if shape == "function" then
    local random, block, last = math.random, options.block_size, drive.size // options.block_size - 1
    options.pattern = function() return random(0, last) * block end
  elseif shape == "record" then
    options.records = file
  end
  local r = assert(drive:run(options))
  assert(r.errors == 0, "reads failed")
  local l <const> = r.latency
  print(("ios=%d iops=%.1f mean_ns=%.1f p50_ns=%d p999_ns=%d cpu_s=%.6f"):format(r.ios, r.iops or 0,
    l:mean(), l:percentile(50), l:percentile(99.9), r.cpu_user_s + r.cpu_system_s))
  local status <close> = assert(io.open("/proc/self/status"))
  print("rss_kib=" .. status:read("a"):match("VmHWM:%s*(%d+)"))
end
