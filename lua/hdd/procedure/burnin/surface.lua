--- The surface read of a burn-in: hdd.procedure.surface, stopped while the drive is too hot.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.surface
local core = require "hdd.core"
local document = require "hdd.document"
local surface = require "hdd.procedure.surface"
local task = require "hdd.task"

local M = {}

-- A part of the scan, in a task of its own so that heat can stop it. The scan's document, or nil,
-- message, code; and whether it was the heat.
local function part(run, parameters)
  local hot, scan = false, nil
  local function progress(state)
    run:report(state)
    local guard = run:guard()
    if guard and not hot and guard:look() == "hot" then
      hot = true
      scan:cancel()
    end
  end
  local function save(d)
    run:checkpoint(function() return { scan = document.encode(d) } end)
  end
  scan = task.spawn(surface.run, run.drive, parameters, { progress = progress, save = save })
  local d, message, code = scan:wait()
  return d, message, code, hot
end

local function put(list, rows, run)
  for _, row in ipairs(rows) do
    row.phase = run.index
    list[#list + 1] = row
  end
end

-- What the scan found, into the burn-in's document.
local function take(run, entry, scan)
  local d, sum = run.document, scan.summary
  put(d.unreadable, scan.unreadable, run)
  put(d.slow, scan.slow, run)
  put(d.recovered, scan.recovered, run)
  d.errors = d.errors + scan.errors
  for _, failure in ipairs(scan.failures) do
    if #d.failures < 256 then d.failures[#d.failures + 1] = failure end
  end
  for _, stall in ipairs(scan.stalls or {}) do
    if #d.stalls < 256 then d.stalls[#d.stalls + 1] = stall end
  end
  for _, warning in ipairs(scan.warnings) do run:warn(warning) end
  entry.errors, entry.read_bytes = scan.errors, sum.read_bytes
  entry.bandwidth_bytes_per_s, entry.result = sum.bandwidth_bytes_per_s, sum.verdict
  entry.covered_bytes, entry.classes, entry.map = sum.covered_bytes, scan.classes, scan.map
end

--- Runs the phase.
-- @tparam Run run
-- @tparam table entry    of the document's `phases`
-- @tparam ?table resume  `scan`: the scan's document as it was
-- @treturn boolean  true
-- @return or nil, message, code
function M.run(run, entry, resume)
  local scan = resume and resume.scan and document.decode(resume.scan) or nil
  while true do
    local parameters = { resume = scan, to = run.usable_bytes, rpm = run.parameters.rpm,
      domain = run.zoned and run.zoned.ranges or nil }
    local d, message, code, hot = part(run, parameters)
    if not d then return nil, message, code end
    scan = d
    run:checkpoint(function() return { scan = document.encode(d) } end, true)
    if not hot or core.interrupt_pending() or d.status == "failed" then break end
    if d.status == "complete" then break end
    run:cool()
  end
  if scan.status == "complete" then
    take(run, entry, scan)
  elseif scan.status == "failed" then
    take(run, entry, scan)
    run.m.over = run.m.over or "failed"
  else
    run.m.over = run.m.over or "interrupted"
    entry.covered_bytes = scan.summary.covered_bytes
  end
  return true
end

return M
