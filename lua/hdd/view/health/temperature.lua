-- The temperature: now, its limits and extremes, and the SCT history drawn in the terminal.
-- SPDX-License-Identifier: GPL-3.0-or-later
local units = require "hdd.units"
local words = require "hdd.view.health.words"

local M = {}

local EIGHTHS = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
local ROWS <const> = 5
local LEAST_WIDTH <const> = 24

-- The hottest of each column; nil where no temperature was taken.
local function columns_of(rows, columns)
  local list = {}
  for c = 1, columns do
    local first, last = (c - 1) * #rows // columns + 1, c * #rows // columns
    for i = first, math.max(first, last) do
      local t = rows[i] and rows[i].temperature_c
      if t and (not list[c] or t > list[c]) then list[c] = t end
    end
  end
  return list
end

local function range_of(rows)
  local low, high
  for _, row in ipairs(rows) do
    local t = row.temperature_c
    if t then low, high = math.min(low or t, t), math.max(high or t, t) end
  end
  return low, high
end

local function cell(page, level)
  if level <= 0 then return " " end
  if page.utf8 then return EIGHTHS[math.min(8, math.ceil(level * 8))] end
  return level >= 0.5 and "#" or "."
end

-- How long ago a row was, in words.
local function ago(minutes)
  if minutes < 120 then return ("%d min ago"):format(minutes) end
  if minutes < 2880 then return ("%s h ago"):format(units.fixed(minutes / 60, 1)) end
  return ("%s days ago"):format(units.fixed(minutes / 1440, 1))
end

local function chart(page, history, low, high)
  local width = page.width or 80
  local room = math.min(width - 7, #history.rows)
  if room < LEAST_WIDTH - 7 and #history.rows >= LEAST_WIDTH then return end
  local columns = columns_of(history.rows, room)
  low = math.min(low, high - ROWS + 1) -- a degree is not made a mountain
  local bottom = low - 1 -- so that the lowest is seen, and a gap is none
  local span = math.max(high - bottom, 1)
  for r = ROWS, 1, -1 do
    local cells = {}
    for c = 1, room do
      local t = columns[c]
      cells[c] = t and cell(page, (t - bottom) / span * ROWS - (r - 1)) or " "
    end
    local label = r == ROWS and ("%3d"):format(high) or r == 1 and ("%3d"):format(low) or "   "
    page:line(label .. " | " .. table.concat(cells))
  end
  local first = history.rows[1].minutes_ago
  if not first then return end
  local left, right = ago(first), "now"
  local gap = room - #left - #right
  if gap >= 1 then page:line("      " .. left .. (" "):rep(gap) .. right) end
end

local function limits(said)
  local status = said.sct and said.sct.status or {}
  local history = said.sct and said.sct.temperature_history or {}
  local items = {}
  local function put(text, a, b)
    if a and b then items[#items + 1] = ("%s %d to %d °C"):format(text, a, b)
    elseif a or b then items[#items + 1] = ("%s %d °C"):format(text, a or b) end
  end
  if not status.temperature_doubtful then
    put("this power cycle", status.power_cycle_lowest_c, status.power_cycle_highest_c)
    put("its life", status.lifetime_lowest_c, status.lifetime_highest_c)
  end
  if not history.doubtful then
    put("recommended", history.recommended_lowest_c, history.recommended_highest_c)
    put("limits", history.limit_lowest_c, history.limit_highest_c)
  end
  put("highest operating", status.max_operating_c)
  if (status.over_limit_count or 0) > 0 then
    items[#items + 1] = ("%s times over its limit"):format(words.grouped(status.over_limit_count))
  end
  if (status.under_limit_count or 0) > 0 then
    items[#items + 1] = ("%s times under it"):format(words.grouped(status.under_limit_count))
  end
  return items
end

--- The section: SCT status and the temperature history.
function M.draw(page, said)
  local sct = said.sct
  if not sct then return end
  local status, history = sct.status, sct.temperature_history
  local about = {}
  if status and status.format_version then
    about[#about + 1] = ("status version %d"):format(status.format_version)
  end
  if status and status.device_state then
    about[#about + 1] = "state: " .. status.device_state
  end
  if history and history.size then
    about[#about + 1] = ("history of %d temperatures"):format(history.size)
    if history.interval_minutes then
      about[#about + 1] = ("one every %d min"):format(history.interval_minutes)
    end
  end
  page:section("SCT", table.concat(about, ", "))
  local items = limits(said)
  if #items > 0 then
    items[1] = "  " .. items[1]
    page:items(items, "  ")
  end
  if not history or not history.valid then return end
  local low, high = range_of(history.rows)
  if not low then
    page:line("  The history holds no temperature yet.")
    return
  end
  chart(page, history, low, high)
end

return M
