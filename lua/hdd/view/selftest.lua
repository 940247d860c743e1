--- What came of a self-test, in a few lines.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.selftest
local pages = require "hdd.view.health.page"
local units = require "hdd.units"

local M = {}

local HEADS = {
  passed = "PASSED: the %s self-test found nothing",
  failed = "FAILED: the %s self-test",
  aborted = "ABORTED: the %s self-test was ended by a command",
  interrupted = "INTERRUPTED: the %s self-test was ended by a reset",
  running = "RUNNING: the %s self-test",
  unknown = "UNKNOWN: nothing shows how the %s self-test ended",
}

local function times(s)
  local text = s.elapsed_s and units.duration_text(s.elapsed_s) or nil
  if s.estimate_s then
    local estimate = "the drive's estimate is " .. units.duration_text(s.estimate_s)
    text = text and ("after %s (%s)"):format(text, estimate) or estimate
  elseif text then
    text = ("after %s (the drive gives no estimate)"):format(text)
  end
  return text
end

local function details(s, d)
  local list = {}
  if s.verdict == "failed" and s.result then list[1] = s.result end
  if s.failing_lba then list[#list + 1] = ("at LBA %d"):format(s.failing_lba) end
  if s.remaining_percent then list[#list + 1] = ("%d %% left"):format(s.remaining_percent) end
  list[#list + 1] = times(s)
  if s.verdict == "running" and d.status == "interrupted" then
    list[#list + 1] = "it goes on in the drive (--abort ends it)"
  end
  return table.concat(list, ", ")
end

--- The text.
-- @tparam table d  document, schema hddlua.selftest/1
-- @tparam[opt] table options  `width`, `utf8`
-- @treturn string
-- @usage io.write(view.text(assert(selftest.run("/dev/sdb")), {width = 80}))
function M.text(d, options)
  local page, s = pages.new(options), d.summary
  page:line(("%s, serial %s (%s)"):format(d.drive.model or d.drive.name or "drive",
    d.drive.serial or "unknown", d.drive.path))
  local more = details(s, d)
  page:paragraph((HEADS[s.verdict] or HEADS.unknown):format(d.parameters.type)
    .. (more ~= "" and ", " .. more or "") .. ".", "  ", "  ")
  if s.confirmed and (s.verdict == "passed" or s.verdict == "failed") then
    page:paragraph("Confirmed by a new entry in the drive's log.", "  ", "  ")
  end
  for _, w in ipairs(d.warnings) do page:paragraph(w, "    ", "  ! ") end
  return page:text()
end

return M
