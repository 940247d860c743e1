-- What a drive has noted: failed commands, self-tests, pending defects, statistics, Phy counters.
-- SPDX-License-Identifier: GPL-3.0-or-later
local words = require "hdd.view.health.words"

local M = {}

local SHOWN <const> = 5 -- entries of a log, unless all are wanted

local function first(list, options)
  local shown = {}
  for i = 1, math.min(#list, options.all and #list or SHOWN) do shown[i] = list[i] end
  return shown, #list - #shown
end

local function more(page, hidden)
  if hidden > 0 then page:line(("  and %d more (--all)"):format(hidden)) end
end

-- --- failed commands ------------------------------------------------------------------------

local function command_of(e)
  local c = e.commands and e.commands[1]
  if not c then return "" end
  return c.command_name or ("command %02Xh"):format(c.command)
end

local function ata_error(e)
  local names = table.concat(e.error_names, " ")
  if names == "" then names = table.concat(e.status_names, " ") end
  local lba = e.lba and ("LBA %d"):format(e.lba)
    or e.lba_doubtful and ("LBA %d ?"):format(e.lba_doubtful) or ""
  local when = e.age_hours and words.age(e.age_hours) or e.power_on_hours ~= 0
    and ("at %d h"):format(e.power_on_hours) or ""
  return {e.number, when, names, lba, command_of(e)}
end

local function nvme_error(e)
  return {e.count, e.status_name, e.lba and ("LBA %s"):format(e.lba) or "",
    e.namespace and ("namespace %d"):format(e.namespace) or ""}
end

function M.errors(page, said, options)
  local log = said.error_log
  if not log then return end
  local nvme = said.kind == "nvme"
  local count = not nvme and log.count or #log.entries
  if count == 0 or not count then
    page:section("Failed commands", "none noted")
    return
  end
  local least = log.count_saturated and "at least " or ""
  page:section("Failed commands", nvme and ("the newest %d"):format(count)
    or ("%s%s in the drive's life"):format(least, words.grouped(count)))
  local shown, hidden = first(log.entries, options)
  local rows = {}
  for i, e in ipairs(shown) do rows[i] = (nvme and nvme_error or ata_error)(e) end
  page:table(nvme and {{}, {left = true}, {left = true}, {left = true, rank = 1}}
    or {{}, {}, {left = true}, {left = true}, {left = true, rank = 1}}, rows, "  ")
  more(page, hidden)
end

-- --- self-tests -----------------------------------------------------------------------------

local function test_row(e)
  local hours = e.power_on_hours or e.hours_16_bit
  local result = e.result
  if e.lba and e.failed then result = ("%s at LBA %s"):format(result, e.lba) end
  if e.remaining_percent and (e.in_progress or e.remaining_percent > 0) and e.code ~= 0 then
    result = ("%s, %d %% left"):format(result, e.remaining_percent)
  end
  return {
    e.type, hours and ("at %s h"):format(hours) or "",
    e.age_hours and words.age(e.age_hours) or "", (e.failed and "! " or "") .. result,
  }
end

local function test_minutes(said)
  local m = said.smart and said.smart.test_minutes or {}
  local items = {}
  for _, kind in ipairs {"short", "extended", "conveyance"} do
    local takes = #items == 0 and " takes" or ""
    if m[kind] then items[#items + 1] = ("%s%s %d min"):format(kind, takes, m[kind]) end
  end
  local extended = said.controller and said.controller.extended_self_test_minutes
  if extended then items[#items + 1] = ("extended takes %d min"):format(extended) end
  return #items > 0 and table.concat(items, ", ") or nil
end

function M.self_tests(page, said, options)
  local log, state = said.self_test_log, said.smart and said.smart.self_test
  if not log and not state then return end
  local entries = log and log.entries or {}
  local told = {}
  if state and state.in_progress then
    told[1] = ("one is running, %d %% left"):format(state.remaining_percent or 0)
  elseif log and log.in_progress and log.current then
    told[1] = ("%s is running, %d %% left"):format(log.current.type,
      log.current.remaining_percent or 0)
  elseif #entries == 0 then
    told[1] = log and "none noted" or "no log; the last one: " .. state.result
  end
  told[#told + 1] = test_minutes(said)
  page:section("Self-tests", #told > 0 and table.concat(told, "; ") or nil)
  local shown, hidden = first(entries, options)
  local rows = {}
  for i, e in ipairs(shown) do rows[i] = test_row(e) end
  page:table({{left = true}, {left = true, rank = 2}, {left = true, rank = 1},
    {left = true, wrap = true}}, rows, "  ")
  more(page, hidden)
end

-- --- sectors that wait ----------------------------------------------------------------------

function M.pending(page, said, options)
  local log = said.pending_defects
  if not log or not log.count or log.count == 0 then return end
  page:section("Pending defects", words.grouped(log.count))
  local items = {}
  for i = 1, math.min(#log.defects, options.all and #log.defects or 12) do
    items[i] = ("%sLBA %s"):format(i == 1 and "  " or "", log.defects[i].lba)
  end
  page:items(items, "  ")
  more(page, #log.defects - #items)
end

-- --- the link -------------------------------------------------------------------------------

function M.phy(page, said, options)
  local phy = said.phy
  if not phy or #phy.counters == 0 then return end
  local rows, zero = {}, {}
  for _, c in ipairs(phy.counters) do
    if c.value ~= 0 or options.all then
      rows[#rows + 1] = {
        ("%04Xh"):format(c.id), c.saturated and ("at least %s"):format(c.value) or c.value,
        c.name .. (c.ordinary and " (ordinary events too)" or ""),
      }
    else
      zero[#zero + 1] = ("%04Xh"):format(c.id)
    end
  end
  page:section("Phy event counters", ("%d of the link, since last reset%s"):format(#phy.counters,
    #rows == 0 and ", all 0" or ""))
  page:table({{left = true}, {}, {left = true, wrap = true}}, rows, "  ")
  if #zero > 0 and #rows > 0 then
    page:paragraph("0: " .. table.concat(zero, " "), "     ", "  ")
  end
end

-- --- statistics -----------------------------------------------------------------------------

function M.statistics(page, said, options)
  local s = said.statistics
  if not s or not s.supported then return end
  local count = 0
  for _, p in ipairs(s.pages) do
    for _, f in ipairs(p.statistics) do if f.value ~= nil then count = count + 1 end end
  end
  if not options.all then
    page:section("Device statistics", ("%d values on %d pages (--all)"):format(count, #s.pages))
    return
  end
  page:section("Device statistics")
  for _, p in ipairs(s.pages) do
    local rows = {}
    for _, f in ipairs(p.statistics) do
      if f.value ~= nil then
        rows[#rows + 1] = {words.grouped(f.value), f.name .. (f.normalized and ", normalized" or "")
          .. (f.condition_met and ", its condition is met" or "")}
      end
    end
    if #rows > 0 then
      page:line(("  %s"):format(p.name))
      page:table({{}, {left = true}}, rows, "    ")
    end
  end
end

local FARM = {
  {"drive", "power_on_hours"}, {"drive", "spindle_hours"}, {"drive", "head_flying_hours"},
  {"drive", "power_cycles"}, {"drive", "assembled_year_week"}, {"drive", "recording"},
  {"errors", "reallocated_sectors"}, {"errors", "unrecoverable_reads"},
  {"errors", "interface_crc_errors"}, {"environment", "highest_c"}, {"environment", "lowest_c"},
}

function M.farm(page, said)
  local farm = said.farm
  if not farm or not farm.supported then return end
  local items = {}
  for _, place in ipairs(FARM) do
    local value = farm[place[1]] and farm[place[1]][place[2]]
    if value ~= nil then
      items[#items + 1] = ("%s %s"):format((place[2]:gsub("_c$", " °C"):gsub("_", " ")),
        words.grouped(value))
    end
  end
  page:section("Seagate FARM", "the maker's own counts, which a reset of SMART leaves alone")
  if #items > 0 then
    items[1] = "  " .. items[1]
    page:items(items, "  ")
  end
end

return M
