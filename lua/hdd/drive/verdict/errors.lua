-- Logs of failed commands, and SCSI's background scan. That commands failed is history and mostly
-- harmless (a program asked for what the drive lacks); that sectors could not be read is not.
-- SPDX-License-Identifier: GPL-3.0-or-later

-- In hours of powered-on time: what is older is history.
local YEAR <const> = 8766

local function grown(said, before, of)
  local old, new = before and of(before), of(said)
  if math.type(old) ~= "integer" or math.type(new) ~= "integer" or new < old then return nil end
  return new - old
end

local function at(lba) return lba and (" at LBA %s"):format(lba) or "" end

local function error_count(said) return said.error_log and said.error_log.count end

local function nvme_error_count(said) return said.health_log and said.health_log.error_log_entries end

local function non_medium_count(said)
  return said.non_medium_errors and said.non_medium_errors.count
end

local function unreadable(log)
  local newest, count = nil, 0
  for _, e in ipairs(log.entries) do
    for _, name in ipairs(e.error_names) do
      if name == "UNC" then
        count, newest = count + 1, newest or e
      end
    end
  end
  return newest, count
end

local function ata(said, add, before)
  local log = said.error_log
  if not log or not log.count or log.count == 0 then return end
  local least = log.count_saturated and "at least " or ""
  add("notice", "errors", "error log", log.count,
    ("failed commands in the drive's life: %s%d"):format(least, log.count),
    {at_least = log.count_saturated, growth = grown(said, before, error_count)})
  local newest, count = unreadable(log)
  if not newest then return end
  local age = newest.age_hours
  local when = not age and "at a time not known" or age == 0 and "within the last power-on hour"
    or ("%d power-on hours ago"):format(age)
  add(age and age > YEAR and "notice" or "warning", "unreadable", "error log", count,
    ("unreadable sectors in the error log: %d, the newest%s, %s"):format(count, at(newest.lba), when),
    {lba = newest.lba, age_hours = age})
end

local function nvme(said, add, before)
  local health = said.health_log
  local count = health and not health.doubtful and health.error_log_entries or 0
  if count ~= 0 then
    add("notice", "errors", "SMART / Health log", count,
      ("failed commands in the drive's life: %s, most often some that it lacks"):format(count),
      {growth = grown(said, before, nvme_error_count)})
  end
  local newest, media = nil, 0
  for _, e in ipairs(said.error_log and said.error_log.entries or {}) do
    if e.media then newest, media = newest or e, media + 1 end
  end
  if newest then
    add("warning", "unreadable", "error log", media,
      ("errors of the medium in the error log: %d, the newest: %s%s"):format(media,
        newest.status_name, at(newest.lba)), {lba = newest.lba})
  end
end

-- States of a finding that the drive did not mend.
local OPEN = {[1] = true, [4] = true, [8] = true}

local function scsi(said, add, before)
  local other, scan = said.non_medium_errors, said.background_scan
  if other and other.count and other.count ~= 0 then
    add("notice", "non_medium_errors", "non-medium error counter", other.count,
      ("non-medium errors: %s (link, commands, resets)"):format(other.count),
      {at_least = other.saturated or nil, growth = grown(said, before, non_medium_count)})
  end
  if not scan then return end
  if scan.halted then
    add(scan.status_code == 7 and "notice" or "warning", "background_scan", "background scan page",
      scan.status_code, "the drive's background scan: " .. scan.status)
  end
  local open = 0
  for _, f in ipairs(scan.findings) do
    if OPEN[f.state_code] then open = open + 1 end
  end
  if #scan.findings > 0 then
    add(open > 0 and "warning" or "notice", "scan_findings", "background scan page", #scan.findings,
      ("bad places found by the background scan: %d, not mended: %d"):format(#scan.findings, open))
  end
end

return function(said, add, before)
  if said.kind == "nvme" then
    nvme(said, add, before)
  elseif said.kind == "scsi" then
    scsi(said, add, before)
  else
    ata(said, add, before)
  end
end
