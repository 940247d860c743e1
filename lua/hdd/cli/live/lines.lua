--- The lines of the live screen: a table with a row for each drive, fitted to a width and a height.
-- Pure: drives in, lines out.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.live.lines
local printable = require "hdd.printable"
local progress = require "hdd.cli.progress"
local units = require "hdd.units"

local M = {}

local COLOURS <const> = { red = "\27[31m", yellow = "\27[33m", green = "\27[32m", bold = "\27[1m" }
local VERDICTS <const> = { PASS = "green", WARN = "yellow", FAIL = "red" }
local NAME <const>, STAGE <const> = 10, 18 -- what they get at least, where there is room
local WIDEST_NAME <const> = 30
local LEAST <const> = 20 -- for both together, before other columns are left out
local BIG_RATE <const> = 999950000

local function rate_of(state)
  if state.iops then return units.fixed(state.iops, state.iops < 1000 and 1 or 0) .. " IOPS" end
  local rate = state.bandwidth_bytes_per_s
  return rate and units.fixed(rate / 1e6, rate < BIG_RATE and 1 or 0) .. " MB/s"
end

-- In two units at most, the smaller one left out where it says little: "3 h 04 min", "26 min".
local function left_of(state)
  if not state.left_s then return nil end
  local text = progress.seconds(state.left_s):gsub(" min %d+ s$", " min")
  return (state.at_most and "<" or "") .. text
end

local function temperature_of(state, utf8)
  return state.temperature_c
    and units.fixed(state.temperature_c, 0) .. (utf8 and " °C" or " C")
end

local function errors_of(state)
  return state.errors and string.format("%d", state.errors)
end

local function share_of(state)
  return state.share and units.fixed(math.min(state.share, 1) * 100, 1) .. " %"
end

-- The columns behind name and stage, each with its width and its rank: in a narrow terminal the
-- highest ranks are left out first.
local COLUMNS <const> = {
  { title = "done", width = 7, rank = 1, text = share_of },
  { title = "rate", width = 10, rank = 5, text = rate_of },
  { title = "temp", width = 5, rank = 4, text = temperature_of },
  { title = "errors", width = 6, rank = 2, text = errors_of },
  { title = "left", width = 11, rank = 3, text = left_of },
}

--- What a drive is at, in words, and the colour of it.
-- @tparam table state  as of `hdd.cli.live.Live:show`
-- @treturn string
-- @treturn ?string  "red", "yellow", "green"; nil: none
function M.activity(state)
  if state.verdict then
    return state.verdict .. (state.note and ": " .. state.note or ""), VERDICTS[state.verdict]
  end
  if progress.silence(state) then -- in fewer words than where there is a line for it
    local at = state.oldest_offset_bytes
    return "silent " .. progress.seconds(math.floor(state.idle_s))
      .. (at and string.format(" at offset %d", at) or ""), "red"
  end
  local what = state.note or state.stage or "waiting"
  if state.mode == "paused" then return "paused: " .. what, "yellow" end
  return what
end

-- The columns that fit, and the widths of name and stage.
local function layout(drives, columns)
  local taken, room, longest = {}, columns, #"drive"
  for i, column in ipairs(COLUMNS) do
    taken[i] = column
    room = room - column.width - 2
  end
  while #taken > 0 and room < (columns >= 79 and NAME + STAGE or LEAST) do
    local worst = 1
    for i, column in ipairs(taken) do
      if column.rank > taken[worst].rank then worst = i end
    end
    room = room + table.remove(taken, worst).width + 2
  end
  for _, drive in ipairs(drives) do longest = math.max(longest, printable.width(drive.name)) end
  local name = math.max(NAME, room - 2 - STAGE - 8) -- the stage grows, too
  name = math.max(1, math.min(longest, name, WIDEST_NAME, room))
  return taken, name, math.max(0, room - name - 2)
end

local function cell(text, width, right, colour, look)
  text = printable.pad(printable.clip(printable.line(text or "", not look.utf8), width), width, right)
  return colour and look.colour and COLOURS[colour] .. text .. "\27[0m" or text
end

local function row(drive, taken, name, stage, look)
  local state = drive.state or {}
  local what, colour = M.activity(state)
  local cells = { cell(drive.name, name, false, nil, look) }
  if state.verdict then -- there are no figures any more: the reason has the whole line
    for _, column in ipairs(taken) do stage = stage + column.width + 2 end
    taken = {}
  end
  if stage > 0 then cells[2] = cell(what, stage, false, colour, look) end
  for _, column in ipairs(taken) do
    local alarm = column.title == "errors" and (state.errors or 0) > 0 and "red" or nil
    cells[#cells + 1] = cell(column.text(state, look.utf8), column.width, true, alarm, look)
  end
  return (table.concat(cells, "  "):gsub(" +$", ""):gsub(" +(\27%[0m)$", "%1"))
end

local function header(taken, name, stage, look)
  local cells = { cell("drive", name, false, nil, look) }
  if stage > 0 then cells[2] = cell("phase", stage, false, nil, look) end
  for _, column in ipairs(taken) do cells[#cells + 1] = cell(column.title, column.width, true, nil, look) end
  local text = table.concat(cells, "  ")
  return look.colour and COLOURS.bold .. text .. "\27[0m" or text
end

local function needs_attention(state)
  return state.mode == "paused" or (state.errors or 0) > 0 or progress.silence(state) ~= nil
    or state.verdict == "FAIL" or state.verdict == "WARN"
end

-- The drives that are shown, in their order: those that need attention, then the others by the page.
local function chosen(drives, count, page)
  if #drives <= count then return drives end
  local rest, is_shown, left = {}, {}, count
  for i, drive in ipairs(drives) do
    if left > 0 and needs_attention(drive.state or {}) then
      is_shown[i], left = true, left - 1
    else
      rest[#rest + 1] = i
    end
  end
  local pages = left > 0 and -(-#rest // left) or 1
  local before = math.min(page % pages * left, #rest - left) -- the last page is a full one, too
  for i = 1, left do is_shown[rest[before + i]] = true end
  local list = {}
  for i, drive in ipairs(drives) do
    if is_shown[i] then list[#list + 1] = drive end
  end
  return list
end

--- All drives in one line.
-- @tparam {table,...} drives  `name`, `state`
-- @tparam[opt] integer shown  how many of them have a row
-- @treturn string  "60 drives: 57 running, 1 paused, 2 done  9120.4 MB/s  3 errors  5 h 10 min left"
function M.summary(drives, shown)
  local running, paused, done, rate, errors, left = 0, 0, 0, 0.0, 0, nil
  for _, drive in ipairs(drives) do
    local state = drive.state or {}
    if state.verdict or state.mode == "done" then
      done = done + 1
    else
      if state.mode == "paused" then paused = paused + 1 else running = running + 1 end
      rate = rate + (state.bandwidth_bytes_per_s or 0)
      left = math.max(left or 0, state.left_s or 0)
    end
    errors = errors + (state.errors or 0)
  end
  local counts = {}
  for _, count in ipairs { { running, "running" }, { paused, "paused" }, { done, "done" } } do
    if count[1] > 0 then counts[#counts + 1] = string.format("%d %s", count[1], count[2]) end
  end
  local parts = { string.format("%d drives%s: %s", #drives,
    shown and shown < #drives and string.format(" (%d shown)", shown) or "",
    table.concat(counts, ", ")) }
  if rate > 0 then parts[#parts + 1] = rate_of { bandwidth_bytes_per_s = rate } end
  if errors > 0 then parts[#parts + 1] = string.format("%d errors", errors) end
  if left and left > 0 then parts[#parts + 1] = left_of { left_s = left } .. " left" end
  return table.concat(parts, "  ")
end

--- The lines.
-- @tparam {table,...} drives  each with `name`, and `state` once it has told one
-- @tparam integer columns     of a line
-- @tparam integer rows        at most so many lines
-- @tparam[opt] table look     `utf8`, `colour` (booleans); `page` (integer: where there are more drives
--   than rows, another part of them at each)
-- @treturn {string,...}
-- @usage for _, line in ipairs(lines.of({ { name = "sdb", state = { stage = "read" } } }, 79, 23)) do
--   print(line)
-- end
function M.of(drives, columns, rows, look)
  look = look or {}
  if columns < 1 or rows < 1 then return {} end
  local with_header, with_summary = rows >= 3, #drives > 1 and rows >= 2
  local count = rows - (with_header and 1 or 0) - (with_summary and 1 or 0)
  local shown = chosen(drives, count, look.page or 0)
  local taken, name, stage = layout(drives, columns)
  local list = {}
  if with_header then list[1] = header(taken, name, stage, look) end
  for _, drive in ipairs(shown) do list[#list + 1] = row(drive, taken, name, stage, look) end
  if with_summary then
    list[#list + 1] = printable.clip(M.summary(drives, #shown), columns)
  end
  return list
end

--- A line for a drive where nothing is drawn anew, such as in a log.
-- @tparam table drive  `name`, `state`
-- @tparam[opt] table look  `utf8`
-- @treturn string  "sdb: 2/7 surface read, 43.2 %, 154.8 MB/s, 38 C, 0 errors, 3 h 04 min left"
function M.plain(drive, look)
  local state, utf8 = drive.state or {}, look and look.utf8
  local parts = { drive.name .. ": " .. M.activity(state) }
  for _, column in ipairs(COLUMNS) do
    local text = not state.verdict and column.text(state, utf8)
    if text then
      parts[#parts + 1] = text
        .. (column.title == "errors" and " errors" or column.title == "left" and " left" or "")
    end
  end
  return printable.line(table.concat(parts, ", "), not utf8)
end

return M
