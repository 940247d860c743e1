--- The phases of a burn-in in which the drive speaks for itself: SMART, and its self-tests.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.own_word
local selftest = require "hdd.procedure.selftest"

local M = {}

--- Reads SMART.
-- @tparam Run run
-- @tparam table entry  of the document's `phases`
-- @treturn boolean  true; a drive without SMART has the phase skipped, with the reason
function M.smart(run, entry)
  local said, message = run:look(entry)
  if said then
    entry.result = said.verdict.status
  else
    entry.status, entry.message = "skipped", message
  end
  return true
end

--- Runs one of the drive's self-tests to its end.
-- @tparam Run run
-- @tparam table entry  of the document's `phases`
-- @treturn boolean  true
function M.selftest(run, entry)
  if run.no_smart then
    entry.status, entry.message = "skipped", run.no_smart
    return true
  end
  local d, message = selftest.run(run.drive, { type = entry.type, wake = true }, {
    progress = function(state) run:report { share = state.share } end,
  })
  if not d then
    entry.status, entry.message = "skipped", message
    return true
  end
  if d.status == "interrupted" then
    run.m.over = run.m.over or "interrupted"
    return true
  end
  local s = d.summary
  entry.result, entry.message, entry.failing_lba = s.verdict, s.result, s.failing_lba
  for _, warning in ipairs(d.warnings) do run:warn(warning) end
  return true
end

return M
