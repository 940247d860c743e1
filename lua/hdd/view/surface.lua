-- SPDX-License-Identifier: GPL-3.0-or-later
--- A surface scan as text: a map of the surface, blocks by class, the ranges that are slow or cannot
-- be read; and what has changed from one scan to another.
-- @module hdd.view.surface

local text = require "hdd.view.text"
local units = require "hdd.units"

local M = {}

-- What a cell of the map shows: the worst that lies in it. By time: the own time of its slowest block.
local TIMES_US <const> = { 10000, 50000, 150000, 500000 }
local ASCII <const> = { ".", ":", "o", "O", "@" }
local UTF8 <const> = { "·", "░", "▒", "▓", "█" }
local NAMES <const> = { "below 10 ms", "50 ms", "150 ms", "500 ms", "more" }

local LISTED <const> = 20 -- ranges of a kind

local function worse(a, b)
  return math.max(a or 0, b or 0)
end

-- Neighbouring cells of the map as one.
local function merged(map, first, last)
  local cell = { offset_bytes = map[first].offset_bytes, slow = 0, bad = 0, untried = 0, bytes = 0,
    failed = 0 }
  for i = first, last do
    local row = map[i]
    cell.most = worse(cell.most, row.latency_max_us)
    cell.slow, cell.bad = cell.slow + (row.slow_bytes or 0), cell.bad + (row.unreadable_bytes or 0)
    cell.failed = cell.failed + (row.failed_blocks or 0)
    cell.untried = cell.untried + (row.untried_bytes or 0)
    cell.bytes = cell.bytes + (row.read_bytes or 0)
  end
  return cell
end

local function mark_of(cell, glyphs)
  if cell.bad > 0 then return "X" end
  if cell.slow > 0 then return "S" end
  if cell.failed > 0 then return "R" end
  if cell.bytes == 0 then return cell.untried > 0 and "?" or " " end
  for i, limit in ipairs(TIMES_US) do
    if cell.most < limit then return glyphs[i] end
  end
  return glyphs[#glyphs]
end

--- The map: each line a part of the surface, from where it begins.
-- @tparam {table,...} map      of a scan's document
-- @tparam[opt] table options  `width` (80), `lines` (16), `utf8` (false)
-- @treturn string  lines; a sentence when there is nothing to draw
-- @usage io.write(surface.map(document.map, { width = 80, utf8 = true }))
function M.map(map, options)
  options = options or {}
  if #map == 0 then return "There is nothing to draw.\n" end
  local glyphs = options.utf8 and UTF8 or ASCII
  local room = math.max(1, (options.width or 80) - 12)
  local columns = math.min(room, 64)
  local lines = math.max(1, math.min(options.lines or 16, -(-#map // columns)))
  local count = math.min(#map, lines * columns)
  local out = {}
  for line = 0, lines - 1 do
    local marks, offset = {}, nil
    for column = 0, columns - 1 do
      local i = line * columns + column
      if i < count then
        local cell = merged(map, i * #map // count + 1, (i + 1) * #map // count)
        offset = offset or cell.offset_bytes
        marks[#marks + 1] = mark_of(cell, glyphs)
      end
    end
    if offset then
      out[#out + 1] = string.format("%9s  %s", units.decimal_bytes(offset), table.concat(marks))
    end
  end
  local key = { glyphs[1] .. " " .. NAMES[1] }
  for i = 2, #glyphs do key[i] = glyphs[i] .. " " .. NAMES[i] end
  out[#out + 1] = text.wrap(table.concat(key, "  ") .. "  S slow  X unreadable  R read later  ? not read",
    options.width, "           ", "           "):gsub("\n$", "")
  return table.concat(out, "\n") .. "\n"
end

local function class_name(class)
  local from, below = class.from_us / 1000, class.below_us and class.below_us / 1000
  if not below then return string.format("%s ms and more", units.fixed(from, 0)) end
  return string.format("below %s ms", units.fixed(below, 0))
end

local function show_classes(page, document, options)
  local rows, all = {}, 0
  for _, class in ipairs(document.classes) do all = all + class.blocks end
  for i, class in ipairs(document.classes) do
    rows[i] = {
      class = class_name(class), blocks = class.blocks,
      percent = all > 0 and class.blocks * 100 / all or nil,
    }
  end
  page:add(text.table(rows, { "class", "blocks", "percent" }, options))
  local extra = {}
  for _, row in ipairs(document.turns or {}) do
    if row.blocks > 0 then extra[#extra + 1] = string.format("%d: %d", row.revolutions, row.blocks) end
  end
  if #extra > 0 and document.rotation then
    page:say("  ", string.format("Blocks by extra revolutions of %s ms (%s): %s",
      units.fixed(document.rotation.revolution_us / 1000, 2), document.rotation.source,
      table.concat(extra, ", ")))
  end
end

local function place_of(range, document)
  local block = document.drive and document.drive.logical_block_size_bytes or 512
  local first = range.offset_bytes // block
  local last = (range.offset_bytes + range.length_bytes - 1) // block
  return string.format("LBA %d%s, offset %d, %d bytes", first,
    last > first and string.format(" to %d", last) or "", range.offset_bytes, range.length_bytes)
end

local function cost_of(range)
  local parts = {}
  if range.revolutions then
    parts[1] = string.format("%d extra revolution%s", range.revolutions,
      range.revolutions == 1 and "" or "s")
  end
  if range.latency_us then parts[#parts + 1] = units.latency(range.latency_us * 1000) end
  return table.concat(parts, ", ")
end

local function show_ranges(page, document, list, title, describe)
  if #list == 0 then return end
  page:gap()
  page:say("", title)
  for i = 1, math.min(#list, LISTED) do
    local range = list[i]
    page:say("    ", place_of(range, document) .. describe(range)
      .. (range.exact == false and ", not exact" or ""), "  ")
  end
  if #list > LISTED then page:say("", string.format("and %d more", #list - LISTED), "  ") end
end

-- Offsets count from where what was scanned begins, which is not always the drive.
local function show_base(page, document)
  local drive = document.drive
  if drive.kind ~= "partition" and not drive.start_bytes then return end
  page:gap()
  page:say("", string.format("Offsets and LBAs count from the beginning of %s, which is byte %s of %s.",
    drive.name or drive.path or "the partition", tostring(drive.start_bytes or "?"),
    drive.disk or "its drive"))
end

local VERDICTS <const> = {
  clean = "clean: every block was read, none is slow each time",
  slow = "slow: every block could be read, but not all at once",
  unreadable = "unreadable: there are sectors that cannot be read",
  incomplete = "incomplete: nothing bad found in what was read",
}

--- How a scan was made, in a sentence.
function M.how(document)
  local p = document.parameters
  local parts = {
    string.format("every block read once, %s at a time at depth %d", units.block(p.block_size), p.depth),
  }
  if p.domain then
    parts[2] = string.format("%d parts of it", #p.domain)
  elseif p.from > 0 or p.to ~= document.drive.size_bytes then
    parts[2] = string.format("%s to %s", units.decimal_bytes(p.from), units.decimal_bytes(p.to))
  end
  if #(document.interruptions or {}) > 0 then
    parts[#parts + 1] = string.format("in %d parts", #document.interruptions + 1)
  end
  return table.concat(parts, ", ")
end

--- The map, the classes and the ranges.
function M.show(page, document, options)
  page:add(M.map(document.map or {}, options))
  page:gap()
  show_classes(page, document, { width = options.width, utf8 = options.utf8 })
  show_ranges(page, document, document.unreadable, "Unreadable:", function(range)
    return range.error and ", " .. range.error or ""
  end)
  show_ranges(page, document, document.slow, "Slow each time:", function(range)
    local cost = cost_of(range)
    return cost ~= "" and ", " .. cost or ""
  end)
  show_ranges(page, document, document.recovered, "Read at a later try:", function(range)
    return range.tries and string.format(", failed %s", range.tries == 1 and "once"
      or string.format("%d times", range.tries)) or ""
  end)
  show_base(page, document)
  if #(document.kernel_messages or {}) > 0 then
    page:gap()
    page:say("", "The kernel said of it:")
    for _, message in ipairs(document.kernel_messages) do page:say("    ", message.text, "  ") end
  end
end

local function ranges_fact(count, bytes)
  if not count then return nil end
  if count == 0 then return "none" end
  return string.format("%d range%s, %s", count, count == 1 and "" or "s", units.bytes(bytes or 0))
end

--- The result in a few lines.
function M.summarize(page, document)
  local s = document.summary
  page:fact("verdict", VERDICTS[s.verdict] or s.verdict)
  page:fact("covered", s.covered_percent and string.format("%s %% of %s",
    units.fixed(math.floor(s.covered_percent * 100) / 100, 2), units.bytes(s.span_bytes)))
  page:fact("rate", units.rate(s.bandwidth_bytes_per_s))
  page:fact("unreadable", ranges_fact(s.unreadable_ranges, s.unreadable_bytes))
  page:fact("slow", ranges_fact(s.slow_ranges, s.slow_bytes))
  page:fact("recovered", s.recovered_ranges and s.recovered_ranges > 0
    and string.format("%d", s.recovered_ranges))
  page:fact("cleared", s.cleared_blocks and s.suspected_blocks and s.suspected_blocks > 0
    and string.format("%d of %d blocks that were slow once were fast when read again",
      s.cleared_blocks, s.suspected_blocks))
  page:fact("errors", units.fixed(document.errors))
end

local CHANGES <const> = {
  { "new", "New:" }, { "grown", "Grown:" }, { "slower", "Slower:" }, { "gone", "Gone:" },
  { "untried", "Found where the earlier scan had not read:" },
}

local function before_of(change)
  if change.was_revolutions and change.was_revolutions ~= change.revolutions then
    return string.format(" (was %d)", change.was_revolutions)
  elseif change.was_length_bytes and change.was_length_bytes ~= change.length_bytes then
    return string.format(" (was %d bytes)", change.was_length_bytes)
  end
  return ""
end

--- What has changed between two scans, as text.
-- @tparam table changes        of hdd.procedure.surface.compare
-- @tparam table document       the newer scan
-- @tparam[opt] integer width
-- @treturn string
function M.changes(changes, document, width)
  local out = {}
  for _, kind in ipairs(CHANGES) do
    local list = changes[kind[1]]
    if #list > 0 then out[#out + 1] = kind[2] .. "\n" end
    for _, change in ipairs(list) do
      local cost = cost_of(change)
      out[#out + 1] = text.wrap(string.format("%s, %s%s%s", change.kind, place_of(change, document),
        cost ~= "" and ", " .. cost or "", before_of(change)), width, "    ", "  ")
    end
  end
  out[#out + 1] = text.wrap(string.format("%s: %d new, %d grown, %d slower, %d gone, %d as before",
    changes.worse and "It is getting worse" or "It is not getting worse", #changes.new,
    #changes.grown, #changes.slower, #changes.gone, #changes.same), width)
  return table.concat(out)
end

return M
