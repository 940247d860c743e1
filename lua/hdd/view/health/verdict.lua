-- The verdict with its reasons, each with the place where its number stands.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

local HEADS = {
  failing = "FAILING: save the data, replace the drive.",
  warning = "LOOK CLOSER: something speaks against this drive.",
  good = "GOOD: the drive says so, and nothing that was read speaks against it.",
  unknown = "UNKNOWN: nobody has spoken for this drive, and nothing against it.",
}

local MARKS = {failing = "!!", warning = "!", unknown = "?", notice = "-", good = "+"}

-- A drive's "good" beside worse reasons must not look like the verdict.
local function head_of(v, incomplete)
  if incomplete and v.status == "good" then
    return "NOT ALL READ: what was read speaks for the drive."
  end
  if v.status ~= "warning" then return HEADS[v.status] end
  for _, r in ipairs(v.reasons) do
    if r.name == "own_status" and r.severity == "good" then
      return "LOOK CLOSER: the drive's own status is good, but something speaks against it."
    end
  end
  return HEADS.warning
end

local function growth(r)
  if not r.growth then return "" end
  if r.growth == 0 then return ", as before" end
  return (", %d more than before"):format(r.growth)
end

local function where(r)
  if not r.where then return "" end
  local text = r.where
  if r.sources then
    for _, s in ipairs(r.sources) do
      if s.where and s.where ~= r.where then
        text = text .. ("; %s: %s"):format(s.where, s.value)
      end
    end
  end
  return (" [%s]"):format(text)
end

--- The section.
function M.draw(page, said)
  local v = said.verdict
  page:line()
  page:paragraph(head_of(v, said.incomplete), "  ")
  for _, r in ipairs(v.reasons) do
    local mark = page:plain(MARKS[r.severity])
    page:paragraph(r.what .. growth(r) .. where(r), "     ", ("  %s%s"):format(mark,
      #mark < 2 and "  " or " "))
  end
  if said.incomplete then
    page:paragraph("Not all could be read: " .. said.incomplete, "     ", "  ?  ")
  end
end

return M
