-- What the log pages of a SCSI or SAS drive say.
-- SPDX-License-Identifier: GPL-3.0-or-later
local words = require "hdd.view.health.words"

local M = {}

local function counters(page, said)
  local rows = {}
  for _, kind in ipairs {"read", "write", "verify"} do
    local c = said[kind .. "_errors"]
    if c then
      local function n(key) return c[key] ~= nil and words.grouped(c[key]) or "n/a" end
      rows[#rows + 1] = {
        kind, n "corrected_without_delay", n "corrected_with_delay", n "corrected_by_repetition",
        n "corrected",
        c.processed_bytes and words.data(c.processed_bytes) or "n/a", n "uncorrected",
      }
    end
  end
  if #rows == 0 then return end
  page:section("Error counters")
  page:table({{left = true}, {title = "at once", rank = 4}, {title = "delayed", rank = 3},
    {title = "retried", rank = 2}, {title = "corrected"}, {title = "of data", rank = 1},
    {title = "uncorrected"}}, rows, "  ")
end

local function lines(said)
  local items = {}
  local function put(text, value)
    if value ~= nil then items[#items + 1] = text:format(words.grouped(value)) end
  end
  put("grown defects %s", said.grown_defects and said.grown_defects.count)
  put("non-medium errors %s", said.non_medium_errors and said.non_medium_errors.count)
  local s = said.start_stop
  if s then
    local rated = s.rated_start_stop_cycles
    put("start-stop cycles %s" .. (rated and " of " .. words.grouped(rated) .. " rated" or ""),
      s.start_stop_cycles)
    put("load cycles %s", s.load_cycles)
    if s.manufactured_year then
      items[#items + 1] = ("made in week %s of %s"):format(s.manufactured_week or "?",
        s.manufactured_year)
    end
  end
  put("planned life used %s %%", said.solid_state and said.solid_state.life_used_percent)
  local scan = said.background_scan
  if scan and scan.status then items[#items + 1] = "background scan: " .. scan.status end
  return items
end

--- The sections.
function M.draw(page, said)
  counters(page, said)
  local items = lines(said)
  if #items > 0 then
    page:section("Counters")
    items[1] = "  " .. items[1]
    page:items(items, "  ")
  end
end

return M
