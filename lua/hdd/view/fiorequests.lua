--- Records of reads in the format of fio's bandwidth, IOPS and latency logs. Pure.
--
-- The columns are fio 3.33's: time in ms, value, direction (0: read), block size, offset (with
-- log_offset), priority (0). Without log_avg_msec there is a line for each read, and its bandwidth is what
-- fio makes it: block size over the latency of that one read, in units of 1000 bytes/s, which is not the
-- drive's rate with more than one in flight. With log_avg_msec there is a line for each span, and its
-- bandwidth is the rate, in KiB/s.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.fiorequests

local M = {}

local function line(time_ms, value, block_size, offset)
  if offset then return string.format("%d, %d, 0, %d, %d, 0\n", time_ms, value, block_size, offset) end
  return string.format("%d, %d, 0, %d, 0\n", time_ms, value, block_size)
end

-- The value of one read.
local SINGLE <const> = {
  bw = function(length, latency_ns) return length * 1000000 // math.max(1, latency_ns) end,
  iops = function() return 1 end,
  lat = function(_, latency_ns) return latency_ns end,
}

-- The value of a span: reads, bytes, latencies summed, seconds.
local SPAN <const> = {
  bw = function(sum, seconds) return math.floor(sum.bytes / seconds / 1024 + 0.5) end,
  iops = function(sum, seconds) return math.floor(sum.ios / seconds + 0.5) end,
  lat = function(sum) return sum.ios > 0 and sum.latency_ns // sum.ios or 0 end,
}

--- A log in the making.
-- @tparam string kind   "bw", "iops" or "lat" (fio's clat has the same form)
-- @tparam table options  `block_size`, `avg_ms` (0: a line for each read), `offset` (true: with a column of
--   offsets)
-- @treturn function  time_ns, offset, length, latency_ns -> lines that are ready, or nil; called without
--   arguments in the end
-- @usage local add = fiorequests.log("bw", { block_size = 65536, avg_ms = 500 })
-- file:write(add(time_ns, offset, 65536, latency_ns) or "")
function M.log(kind, options)
  if (options.avg_ms or 0) == 0 then
    local value = SINGLE[kind]
    return function(time_ns, offset, length, latency_ns)
      if not time_ns then return nil end
      return line(time_ns // 1000000, value(length, latency_ns), length, options.offset and offset or nil)
    end
  end
  local span_ns, value = options.avg_ms * 1000000, SPAN[kind]
  local number, sum = 1, { ios = 0, bytes = 0, latency_ns = 0 }
  -- Spans without a read are there, too: as rate and IOPS of 0.
  local function close(lines)
    if sum.ios > 0 or kind ~= "lat" then
      lines[#lines + 1] = line(number * options.avg_ms, value(sum, options.avg_ms / 1000), 0,
        options.offset and 0 or nil)
    end
    number, sum = number + 1, { ios = 0, bytes = 0, latency_ns = 0 }
  end
  return function(time_ns, _, length, latency_ns)
    local lines = {}
    if not time_ns then
      -- The last span is not whole: its latencies are, its rate is not.
      if kind == "lat" then close(lines) end
      return table.concat(lines)
    end
    while time_ns > number * span_ns do close(lines) end
    sum.ios, sum.bytes, sum.latency_ns = sum.ios + 1, sum.bytes + length, sum.latency_ns + latency_ns
    return #lines > 0 and table.concat(lines) or nil
  end
end

return M
