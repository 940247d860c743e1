--- Is this drive healthy, and why? From what its decoders gave to a status with its reasons.
--
-- The verdict is derived from its reasons alone, each of which names the place where its number
-- stands; the drive's own word is always one of them. What is not known raises no alarm: attributes
-- whose meaning is a guess for this model, raw values that can't be what they claim, pages with a
-- wrong checksum (which makes their values doubtful, not the drive bad).
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.verdict

local bytes = require "hdd.drive.bytes"

local M = {}

-- Each judges one side of a drive: judge(said, add, before).
local SIDES = {
  "own_word", "attributes", "counts", "self_tests", "errors", "link", "heat", "wear",
}
for i, name in ipairs(SIDES) do SIDES[i] = require("hdd.drive.verdict." .. name) end

local ORDER = {failing = 1, warning = 2, unknown = 3, notice = 4, good = 5}

local function same_drive(a, b)
  local serial = a.identity and a.identity.serial
  return serial ~= nil and b.identity ~= nil and serial == b.identity.serial
end

-- The worst reason counts. What is only worth knowing changes nothing; where nothing speaks against
-- a drive, somebody has to have spoken for it.
local function status_of(reasons)
  local seen = {}
  for _, r in ipairs(reasons) do seen[r.severity] = true end
  if seen.failing then return "failing" end
  if seen.warning then return "warning" end
  return seen.good and "good" or "unknown"
end

--- Judge a drive.
-- @tparam table said  what `hdd.drive.ata.decode`, `hdd.drive.nvme.decode` or
--   `hdd.drive.scsi.decode` gave; whatever is missing is not judged. `link {speed maximum_speed}`
--   of @{hdd.sysfs}'s identity, put in by the caller, says what the host's side can do
-- @tparam[opt] table before  the same of an earlier day: counters of the same drive get their
--   growth
-- @treturn table  `status`: "good", "warning" (look closer), "failing" (the drive or one of its own
--   thresholds says so: save the data), "unknown"; `reasons[]`, worst first, `{severity name what
--   where value}`: severity is "failing", "warning", "unknown" (something that should have been
--   told was not), "notice" (worth knowing, no alarm) or "good"; `name` is fixed, for programs,
--   `what` for people, `where` the place of the value. Some have `growth` (since `before`),
--   `sources[] {where value}` (where several places count the same), `at_least` (a counter that is
--   full).
-- @usage local v = verdict.judge(said); print(v.status, v.reasons[1].what)
function M.judge(said, before)
  local reasons = bytes.list()
  local function add(severity, name, where, value, what, more)
    local reason = more or {}
    reason.severity, reason.name, reason.where, reason.value = severity, name, where, value
    reason.what, reason.order = what, #reasons
    table.insert(reasons, reason)
  end
  if before and not same_drive(said, before) then before = nil end
  for _, judge in ipairs(SIDES) do judge(said, add, before) end
  table.sort(reasons, function(a, b)
    if a.severity ~= b.severity then return ORDER[a.severity] < ORDER[b.severity] end
    return a.order < b.order
  end)
  for _, reason in ipairs(reasons) do reason.order = nil end
  return {status = status_of(reasons), reasons = reasons}
end

return M
