--- Every read of a job, through its records.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

--- Runs a job and keeps all of its reads.
-- @tparam Drive drive
-- @tparam table options  of `drive:run`
-- @treturn {table,...}  {offset =, time_ns =, latency_ns =, code =} in the order of completion
-- @treturn table  the job's result
-- @usage local reads, result = reads.of(drive, {pattern = "random", ios = 100})
function M.of(drive, options)
  local list = {}
  local mine = {}
  for key, value in pairs(options) do mine[key] = value end
  function mine.records(batch)
    for i = 1, batch.n do
      list[#list + 1] = {offset = batch.offset_bytes[i], time_ns = batch.time_ns[i],
                         latency_ns = batch.latency_ns[i], code = batch.code[i]}
    end
  end
  local result = assert(drive:run(mine))
  return list, result
end

--- The offsets of a job's reads.
-- @treturn {integer,...}  in the order of completion, which is that of issue at depth 1
-- @treturn table  the job's result
function M.offsets(drive, options)
  local list, result = M.of(drive, options)
  for i, read in ipairs(list) do list[i] = read.offset end
  return list, result
end

return M
