-- SPDX-License-Identifier: GPL-3.0-or-later
--- A zone profile in the format of fio's bandwidth log, for the tools that plot those.
--
-- The columns are fio 3.33's with log_offset=1: time in ms, KiB/s (1024), direction (0: read), block
-- size in bytes, offset in bytes, priority (0). There is one line a zone, at the time it was done.
-- Its value is the true rate of the zone: bytes over the time that the zone took. fio's own log has a
-- line for each request, whose value is block size over the latency of that one request: with more
-- than one in flight that is not the drive's rate, and must not be laid beside this unsaid.
-- @module hdd.view.fiolog

local M = {}

--- The name that fio gives a bandwidth log.
-- @tparam string prefix
-- @treturn string  "PREFIX_bw.1.log"
function M.file_name(prefix)
  return prefix .. "_bw.1.log"
end

local function rounded(value)
  return math.tointeger(math.floor(value + 0.5))
end

local function is_rate(value)
  return type(value) == "number" and value >= 0 and value < 2 ^ 62
end

--- The zones of a profile as a bandwidth log. A zone without a rate has no line.
-- @tparam table document  a zone profile
-- @treturn string  lines
-- @return or nil, message when it is none
-- @usage assert(file.write(fiolog.file_name("disk"), fiolog.bandwidth(document)))
function M.bandwidth(document)
  if not document.zones then
    return nil, string.format("a fio log is made of a zone profile, not of %s", tostring(document.schema))
  end
  local block = document.parameters and document.parameters.block_size or 0
  local lines, done = {}, 0.0
  for _, zone in ipairs(document.zones) do
    if is_rate(zone.bandwidth_bytes_per_s) and zone.offset_bytes then
      done = (zone.time_s or done) + (zone.elapsed_s or 0)
      lines[#lines + 1] = string.format("%d, %d, 0, %d, %d, 0\n", rounded(done * 1000),
        rounded(zone.bandwidth_bytes_per_s / 1024), block, zone.offset_bytes)
    end
  end
  return table.concat(lines)
end

return M
