-- ATA attributes against the drive's own thresholds: failing now, or at some time in the past.
-- A pre-fail attribute at its threshold announces a failure; an old-age one says that the drive is
-- worn out, or is or was too hot.
-- SPDX-License-Identifier: GPL-3.0-or-later

local HEAT = {[190] = true, [194] = true, [231] = true}

local function where_of(a) return ("attribute %d"):format(a.id) end

local function now(a, doubtful, add)
  local numbers = ("value %d, threshold %d"):format(a.value, a.threshold)
  if HEAT[a.id] and not a.pre_fail then
    add("warning", "attribute_now", where_of(a), a.value,
      ("%s is at the drive's own limit now (%s)"):format(a.name, numbers))
  elseif a.pre_fail then
    -- A wrong checksum makes the numbers doubtful, not the drive bad.
    add(doubtful and "warning" or "failing", "attribute_now", where_of(a), a.value,
      ("%s (pre-fail) is at its threshold now (%s)"):format(a.name, numbers))
  else
    add("warning", "attribute_now", where_of(a), a.value,
      ("%s (old-age) is at its threshold now (%s): worn out by its maker's measure"):format(a.name,
        numbers))
  end
end

local function past(a, add)
  local numbers = ("worst %d, threshold %d, now %d"):format(a.worst, a.threshold, a.value)
  if a.pre_fail then
    add("warning", "attribute_past", where_of(a), a.worst,
      ("%s (pre-fail) was at its threshold in the past (%s)"):format(a.name, numbers))
  else
    add("notice", "attribute_past", where_of(a), a.worst,
      (HEAT[a.id] and "%s was beyond the drive's own limit once (%s)"
        or "%s (old-age) was at its threshold in the past (%s)"):format(a.name, numbers))
  end
end

return function(said, add)
  local smart = said.smart
  if not smart then return end
  local doubtful = smart.checksum_ok == false or smart.thresholds_checksum_ok == false
  if smart.checksum_ok == false then
    add("notice", "checksum", "SMART data", nil,
      "the checksum of the SMART data is wrong: its values are doubtful")
  end
  if smart.thresholds_checksum_ok == false then
    add("notice", "checksum", "SMART thresholds", nil,
      "the checksum of the SMART thresholds is wrong: they are doubtful")
  end
  local found, judged = false, 0
  for _, a in ipairs(smart.attributes) do
    if a.state == "failing_now" then
      now(a, doubtful, add)
      found = true
    elseif a.state == "failed_past" then
      past(a, add)
    end
    if a.state ~= "no_threshold" and a.threshold > 0 then judged = judged + 1 end
  end
  if said.smart_status == "failed" and not found then
    add("notice", "no_attribute", "attributes", nil,
      "no attribute is at its threshold: the drive does not say why it is failing")
  elseif not said.smart_status and not found and judged > 0 and not doubtful then
    -- What the drive itself compares for its status.
    add("good", "attributes", "attributes", judged,
      ("all %d attributes that have a threshold are above it"):format(judged))
  end
end
