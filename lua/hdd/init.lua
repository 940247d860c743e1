--- hddlua: a drive laboratory that you script.
--
--     local hdd = require "hdd"
--     local drive <close> = assert(hdd.open("/dev/sdb"))
--     local r = assert(drive:run {pattern = "random", block_size = 4096, depth = 8, runtime = 10})
--     print(r.iops, r.latency:percentile(99))
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd
local core = require "hdd.core"
local device = require "hdd.device"
local task = require "hdd.task"

local M = {}

--- The version of hddlua.
M.version = require "hdd.version"

-- Sizes in bytes: binary and decimal multiples.
M.KiB, M.MiB, M.GiB, M.TiB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
M.kB, M.MB, M.GB, M.TB = 1000, 1000000, 1000000000, 1000000000000

--- What Ctrl-C raises, once what was measured has been handed over.
M.interrupted = core.interrupted

M.open = device.open

--- Have the drive test itself; see `hdd.procedure.selftest.run`.
-- @function Drive:self_test
-- @tparam[opt] table parameters
-- @treturn[1] table  the document
-- @return[2] nil, message, code
-- @usage print(drive:self_test {type = "short"}.summary.verdict)
function device.Drive:self_test(parameters)
  return require("hdd.procedure.selftest").run(self, parameters)
end

M.task, M.sleep, M.each = task.spawn, task.sleep, task.each

--- An empty latency histogram.
-- @treturn Histogram `:add(ns[, n])`, `:merge(other)`, `:reset()`, `:percentile(p)` (0 to 100, nearest
--   rank, within 0.4 %), `:count()`, `:min()`, `:max()`, `:mean()`, `:buckets()`; latencies are ns, nil
--   while it is empty
-- @usage local h = hdd.histogram():add(8000000):add(9000000)
M.histogram = core.histogram

--- The monotonic clock, ns.
-- @treturn integer
M.now = core.now

--- A random offset at which a block lies inside a device, from Lua's generator (math.randomseed).
-- @tparam integer size   of the device, bytes
-- @tparam integer block  size of the block, bytes; the offset is a multiple of it
-- @treturn integer bytes
-- @usage slot:read(hdd.random(drive.size, 512))
function M.random(size, block)
  if math.type(size) ~= "integer" or math.type(block) ~= "integer" or block < 1 or size < block then
    error(("random: size and block are bytes, 1 <= block <= size, not %s and %s"):format(size, block), 2)
  end
  return math.random(0, size // block - 1) * block
end

return M
