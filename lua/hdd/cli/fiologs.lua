--- The logs that a fio job file asks for: a job's reads are recorded by the core's own thread, and made
-- into logs when all is done, so that nothing is written by Lua while it is measured.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.fiologs
local core = require "hdd.core"
local destination = require "hdd.cli.destination"
local fiorequests = require "hdd.view.fiorequests"
local lfs = require "lfs"

local M = {}
local Logs = {}
Logs.__index = Logs

-- What fio calls the logs of an option. (There is no slat: submission is not timed apart.)
local KINDS <const> = { bw = { "bw" }, iops = { "iops" }, lat = { "lat", "clat" } }

local HEADER <const>, RECORD <const> = 64, 24
local CHUNK <const> = RECORD * 4096

-- A job that is named by a path (as in fio's own zone profile) must not have its log under /dev.
local function base_of(job, wanted)
  return wanted == true and job.name:match("[^/]*$") or wanted
end

-- The logs of a job: {path, kind}.
local function logs_of(job)
  local list = {}
  for _, option in ipairs { "bw", "lat", "iops" } do
    local wanted = (job.logs or {})[option]
    for _, kind in ipairs(wanted and KINDS[option] or {}) do
      local number = job.per_job_logs == false and "" or "." .. job.number
      list[#list + 1] = {
        path = string.format("%s_%s%s.log", base_of(job, wanted), kind, number), kind = option,
      }
    end
  end
  return list
end

--- Looks whether all logs can be written.
-- @tparam {table,...} jobs  of a plan, see hdd.fio.plan
-- @tparam string source     what is read
-- @tparam boolean force     files that are there may be overwritten
-- @treturn Logs
-- @return or nil, message
function M.new(jobs, source, force)
  local self = setmetatable({ logs = {}, force = force }, Logs)
  local taken = {}
  for _, job in ipairs(jobs) do
    local list = logs_of(job)
    for _, log in ipairs(list) do
      if taken[log.path] then return nil, log.path .. ": two jobs would write it (per_job_logs=0)" end
      taken[log.path] = true
      local ok, message = destination.probe(log.path, { source }, force)
      if not ok then return nil, message end
    end
    if #list > 0 then self.logs[job.number] = { job = job, list = list } end
  end
  return self
end

--- Where the records of a job go while it runs; nil when it has no log.
-- @tparam table job
-- @treturn ?string
function Logs:records(job)
  local logs = self.logs[job.number]
  if not logs then return nil end
  logs.records = string.format("%s.%d-%d.records", logs.list[1].path, core.now(), job.number)
  return logs.records
end

local function convert(input, job, logs)
  local length = job.block_size
  input:seek("set", HEADER)
  while true do
    local data = input:read(CHUNK)
    if not data then return true end
    local lines = {}
    for at = 1, #data - RECORD + 1, RECORD do
      local offset, time_ns, packed = string.unpack("<I8I8I8", data, at)
      if packed & 0xffff == 0 then
        for i, log in ipairs(logs) do
          lines[i] = lines[i] or {}
          local text = log.add(time_ns, offset, length, packed >> 16)
          if text then lines[i][#lines[i] + 1] = text end
        end
      end
    end
    for i, log in ipairs(logs) do
      local ok, message = log.file:write(table.concat(lines[i] or {}))
      if not ok then return nil, log.path .. ": " .. message end
    end
  end
end

-- The logs of one job, beside their final names until they are whole.
local function write_job(logs)
  local input <close>, message = io.open(logs.records, "rb")
  if not input then return nil, message end
  local ok = true
  for _, log in ipairs(logs.list) do
    log.add = fiorequests.log(log.kind, {
      block_size = logs.job.block_size, avg_ms = logs.job.log_avg_ms, offset = logs.job.log_offset,
    })
    log.part = logs.records .. "." .. log.path:match("_(%a+)[.%d]*%.log$")
    log.file, message = io.open(log.part, "wb")
    ok = ok and log.file ~= nil
  end
  if ok then ok, message = convert(input, logs.job, logs.list) end
  for _, log in ipairs(logs.list) do
    if log.file then
      local wrote, why = true, nil
      if ok then wrote, why = log.file:write(log.add() or "") end
      local closed, reason = log.file:close()
      if ok and wrote and closed then wrote, why = os.rename(log.part, log.path) end
      if not (wrote and closed) then ok, message = nil, why or reason end
      os.remove(log.part)
    end
  end
  return ok, message
end

--- Writes the logs of the jobs that ran.
-- @treturn {string,...}  their names
-- @return or nil, message
function Logs:finish()
  local names, problem = {}, nil
  for _, logs in pairs(self.logs) do
    if logs.records and lfs.attributes(logs.records) then
      local ok, message = write_job(logs)
      if not ok then problem = string.format("cannot write the logs of job %s: %s", logs.job.name, message) end
      for _, log in ipairs(logs.list) do names[#names + 1] = log.path end
    end
    if logs.records then os.remove(logs.records) end
  end
  table.sort(names)
  if problem then return nil, problem end
  return names
end

return M
