-- SPDX-License-Identifier: GPL-3.0-or-later
--- A zone profile as bars in the terminal: a line for each run of zones, outermost first.
-- @module hdd.view.bars

local printable = require "hdd.printable"
local statistics = require "hdd.statistics"
local units = require "hdd.units"

local M = {}

local EIGHTHS = { "▏", "▎", "▍", "▌", "▋", "▊", "▉" }

--- A bar.
-- @tparam ?number share   of the whole width; nil, NaN: none; more than 1 counts as 1
-- @tparam integer width   columns
-- @tparam[opt] boolean utf8  block characters, an eighth of a column fine, in place of "#"
-- @treturn string
-- @usage print(bars.bar(0.25, 40, true))
function M.bar(share, width, utf8)
  if not share or share ~= share or width < 1 then return "" end
  share = math.max(0, math.min(share, 1))
  if not utf8 then return string.rep("#", math.floor(share * width + 0.5)) end
  local eighths = math.floor(share * width * 8 + 0.5)
  return string.rep("█", eighths // 8) .. (EIGHTHS[eighths % 8] or "")
end

-- The zones in at most `lines` runs of equal length (the last may be shorter): where each begins, its
-- median rate, its flags.
local function runs_of(zones, lines)
  local runs, length = {}, math.max(1, -(-#zones // lines))
  for first = 1, #zones, length do
    local rates, flagged, reason = {}, 0, nil
    local last = math.min(first + length - 1, #zones)
    for z = first, last do
      local zone = zones[z]
      rates[#rates + 1] = zone.bandwidth_bytes_per_s
      if zone.flagged then flagged, reason = flagged + 1, reason or zone.reason end
    end
    runs[#runs + 1] = { offset = zones[first].offset_bytes, rate = statistics.median(rates),
      zones = last - first + 1, flagged = flagged, reason = reason }
  end
  return runs
end

local function mark_of(run, ascii)
  if run.flagged == 0 then return "" end
  if run.zones > 1 then return string.format("%d of %d flagged", run.flagged, run.zones) end
  return printable.line(run.reason or "flagged", ascii)
end

-- Texts padded on the left to the width of the widest.
local function aligned(cells)
  local width = 0
  for _, cell in ipairs(cells) do width = math.max(width, #cell) end
  for i, cell in ipairs(cells) do cells[i] = string.rep(" ", width - #cell) .. cell end
  return cells
end

-- Where each run begins and its rate, as text of equal width.
local function labels_of(runs)
  local offsets, decimal, binary = {}, {}, {}
  for i, run in ipairs(runs) do
    offsets[i] = run.offset and units.decimal_bytes(run.offset) or "n/a"
    local rate = units.rate(run.rate)
    decimal[i], binary[i] = rate:match("^(.*) (%(.*)$")
    if not binary[i] then decimal[i], binary[i] = rate, "" end
  end
  aligned(offsets)
  aligned(decimal)
  aligned(binary)
  for i in ipairs(runs) do offsets[i] = offsets[i] .. "  " .. decimal[i] .. " " .. binary[i] end
  return offsets
end

--- The zones of a profile as bars from 0 to the fastest zone. Flagged zones are marked with why, in
-- a run of several zones with how many; the rate of a run is the median of its zones'.
-- @tparam {table,...} zones   `zones` of a zone profile
-- @tparam[opt] table options  `width` (80), `lines` (25), `utf8` (false)
-- @treturn string  lines; a sentence when there is nothing to draw
-- @usage io.write(bars.profile(document.zones, { width = 80, utf8 = true }))
function M.profile(zones, options)
  options = options or {}
  local width, ascii = options.width or 80, not options.utf8
  local runs = runs_of(zones, math.max(1, options.lines or 25))
  local most, marks, widest_mark = 0, {}, 0
  for i, run in ipairs(runs) do
    most = math.max(most, run.rate or 0)
    marks[i] = printable.clip(mark_of(run, ascii), 20)
    widest_mark = math.max(widest_mark, printable.width(marks[i]))
  end
  if most == 0 then return "No zone has a rate: there is nothing to draw.\n" end
  local labels = labels_of(runs)
  local room = width - #labels[1] - 2 - (widest_mark > 0 and widest_mark + 2 or 0)
  local lines = {}
  for i, run in ipairs(runs) do
    local bar = M.bar(run.rate and run.rate / most, room, options.utf8)
    local line = labels[i]
    if room >= 4 then
      line = line .. "  " .. bar .. string.rep(" ", room - printable.width(bar))
    end
    if marks[i] ~= "" then line = line .. "  " .. marks[i] end
    lines[i] = printable.clip((line:gsub(" +$", "")), width)
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
