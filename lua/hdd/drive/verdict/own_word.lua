-- The drive's own word on its health: SMART RETURN STATUS, NVMe's critical warning, SCSI's
-- informational exceptions. One reason at least comes from here, so that no verdict is without it.
-- SPDX-License-Identifier: GPL-3.0-or-later

local NAME <const> = "own_status"

local function ata(said, add)
  local smart = said.identity and said.identity.features and said.identity.features.smart
  local by_sct = said.sct and said.sct.status and said.sct.status.smart_status
  local where = "SMART RETURN STATUS"
  if said.smart_status == "failed" then
    add("failing", NAME, where, "failed", "the drive says that it is failing")
  elseif said.smart_status == "passed" then
    add("good", NAME, where, "passed", "the drive says that it is good")
  end
  if by_sct == "failed" and said.smart_status ~= "failed" then
    add("failing", NAME, "SCT status", "failed", "the drive says that it is failing")
  elseif by_sct == "passed" and not said.smart_status then
    add("good", NAME, "SCT status", "passed", "the drive says that it is good")
  end
  if said.smart_status or by_sct then return end
  if smart and smart.supported == false then
    add("unknown", NAME, "IDENTIFY DEVICE", nil, "the drive has no SMART")
  elseif smart and smart.enabled == false then
    add("unknown", NAME, "IDENTIFY DEVICE", nil, "SMART is disabled: the drive keeps no watch")
  else
    add("unknown", NAME, where, nil, "the drive's own status could not be read")
  end
end

-- Heat is the room's fault before it is the drive's.
local function severity_of_bit(name)
  if name == "temperature" then return "warning" end
  return name == "reserved" and "notice" or "failing"
end

local function nvme(said, add)
  local log, where = said.health_log, "SMART / Health log"
  if not log or log.doubtful or not log.critical_warning then
    add("unknown", NAME, where, nil, "the drive's critical warning could not be read")
    return
  end
  if log.critical_warning == 0 then
    add("good", NAME, where, 0, "the drive warns of nothing")
  end
  local spare_told = false
  for _, w in ipairs(log.critical_warnings) do
    spare_told = spare_told or w.name == "spare"
    add(severity_of_bit(w.name), NAME, where, log.critical_warning,
      "the drive warns: " .. w.message, {warning = w.name})
  end
  local spare, threshold = log.available_spare_percent, log.spare_threshold_percent
  if spare and threshold and spare < threshold and not spare_told then
    add("failing", "spare", where, spare,
      ("spare blocks: %d %% are left, the drive's own threshold is %d %%"):format(spare, threshold))
  end
end

local function scsi(said, add)
  local page, where = said.exceptions, "informational exceptions page"
  local control = said.exceptions_control
  local code = page and page.asc and ("%02Xh/%02Xh"):format(page.asc, page.ascq)
  if page and page.status == "failing" then
    add("failing", NAME, where, code, "the drive predicts its failure: " .. page.text)
  elseif page and page.status == "warning" then
    add("warning", NAME, where, code, "the drive warns: " .. page.text)
  elseif control and control.enabled == false then
    add("unknown", NAME, "mode page 1Ch", false, "the drive's watch for failures is switched off")
  elseif page and page.status == "good" then
    add("good", NAME, where, code, "the drive says that it is good")
  elseif code then
    add("notice", NAME, where, code, "the drive reports: " .. page.text)
  else
    add("unknown", NAME, where, nil, "the drive's own status could not be read")
  end
end

return function(said, add)
  if said.kind == "nvme" then
    nvme(said, add)
  elseif said.kind == "scsi" then
    scsi(said, add)
  else
    ata(said, add)
  end
end
