--- The state of a scan as a document's lists, and back: a scan that was interrupted goes on from its
-- document. Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.results
local cover = require "hdd.procedure.surface.cover"
local grade = require "hdd.procedure.surface.grade"

local M = {}

local WORDS <const> = {
  ["?"] = "untried", ["*"] = "failed", ["/"] = "failed", ["-"] = "unreadable", ["+"] = "read",
}
local STATES <const> = { untried = "?", failed = "*", unreadable = "-", read = "+" }

local function us(ns)
  return ns and ns / 1000
end

-- Runs that touch one another are one range.
local function joined(list, join)
  local result = {}
  for _, run in ipairs(list) do
    local last = result[#result]
    if last and run.from <= last.to then
      last.to, last.exact = math.max(last.to, run.to), last.exact and run.exact
      if join then join(last, run) end
    else
      local copy = {}
      for key, value in pairs(run) do copy[key] = value end
      result[#result + 1] = copy
    end
  end
  return result
end

local function slower(a, b)
  if (b.turns or 0) > (a.turns or 0) then a.turns = b.turns end
  a.latency_ns = math.max(a.latency_ns or 0, b.latency_ns or 0)
end

local function by_offset(list)
  table.sort(list, function(a, b) return a.from < b.from end)
  return list
end

--- The unreadable ranges.
function M.unreadable(list)
  local rows = {}
  for i, run in ipairs(joined(by_offset(list))) do
    rows[i] = {
      offset_bytes = run.from, length_bytes = run.to - run.from, exact = run.exact,
      error = run.error, tries = run.tries,
    }
  end
  return rows
end

--- The slow ranges.
function M.slow(list)
  local rows = {}
  for i, run in ipairs(joined(by_offset(list), slower)) do
    rows[i] = {
      offset_bytes = run.from, length_bytes = run.to - run.from, exact = run.exact,
      latency_us = us(run.latency_ns), revolutions = run.turns,
    }
  end
  return rows
end

--- The ranges that were read at a later try.
function M.recovered(list)
  local rows = {}
  for i, run in ipairs(joined(by_offset(list))) do
    rows[i] = {
      offset_bytes = run.from, length_bytes = run.to - run.from, error = run.error,
      tries = run.tries,
    }
  end
  return rows
end

local function runs_of(rows)
  local list = {}
  for i, row in ipairs(rows or {}) do
    list[i] = {
      from = row.offset_bytes, to = row.offset_bytes + row.length_bytes, exact = row.exact,
      error = row.error, tries = row.tries, turns = row.revolutions,
      latency_ns = row.latency_us and row.latency_us * 1000,
    }
  end
  return list
end

--- What has become of each part of the range, but for what was not to be read.
function M.coverage(c)
  local rows = {}
  for i, part in ipairs(c:ranges("?*/-+")) do
    rows[i] = {
      offset_bytes = part.from, length_bytes = part.to - part.from, status = WORDS[part.state],
    }
  end
  return rows
end

--- The classes, with their limits.
function M.classes(counts)
  local rows = {}
  for i, blocks in ipairs(counts) do
    rows[i] = {
      from_us = us(grade.CLASSES_NS[i - 1] or 0), below_us = us(grade.CLASSES_NS[i]), blocks = blocks,
    }
  end
  return rows
end

--- The blocks by the extra turns that they cost.
function M.turns(counts)
  local rows = {}
  for turns = 0, grade.MOST_TURNS do
    rows[turns + 1] = { revolutions = turns, blocks = counts[turns] }
  end
  return rows
end

--- The suspects that are waiting to be re-read.
function M.suspects(list)
  local rows = {}
  for i, suspect in ipairs(list) do
    rows[i] = {
      offset_bytes = suspect.offset, length_bytes = suspect.length,
      latency_us = us(suspect.own_ns), extra_us = us(suspect.extra_ns),
      expected_us = us(suspect.pace * suspect.length),
    }
  end
  table.sort(rows, function(a, b) return a.offset_bytes < b.offset_bytes end)
  return rows
end

local function suspects_of(rows)
  local list = {}
  for i, row in ipairs(rows or {}) do
    list[i] = {
      offset = row.offset_bytes, length = row.length_bytes, own_ns = row.latency_us * 1000,
      extra_ns = row.extra_us * 1000, pace = row.expected_us * 1000 / row.length_bytes,
    }
  end
  return list
end

local function overlap(row, from, to)
  return math.max(0, math.min(row.to, to) - math.max(row.from, from))
end

-- Bytes of some ascending runs that lie in each cell of the map.
local function count_in_cells(cells, runs, key)
  local first = 1
  for _, cell in ipairs(cells) do
    cell[key] = 0
    while runs[first] and runs[first].to <= cell.from do first = first + 1 end
    local i = first
    while runs[i] and runs[i].from < cell.to do
      cell[key] = cell[key] + overlap(runs[i], cell.from, cell.to)
      i = i + 1
    end
  end
end

--- The map: equal parts of the range, each with its worst.
-- @tparam {table,...} cells  as the grader fills them
-- @tparam Cover c
-- @tparam {table,...} slow   runs
function M.map(cells, c, slow)
  count_in_cells(cells, c:ranges("*/-"), "bad")
  count_in_cells(cells, c:ranges("?"), "untried")
  count_in_cells(cells, joined(by_offset(slow)), "slow")
  local rows = {}
  for i, cell in ipairs(cells) do
    rows[i] = {
      offset_bytes = cell.from, length_bytes = cell.to - cell.from, blocks = cell.blocks or 0,
      failed_blocks = cell.failed or 0, read_bytes = cell.bytes or 0, busy_s = (cell.busy_ns or 0) / 1e9,
      bandwidth_bytes_per_s = (cell.busy_ns or 0) > 0 and cell.bytes / cell.busy_ns * 1e9 or nil,
      latency_max_us = us(cell.most_ns), slow_bytes = cell.slow, unreadable_bytes = cell.bad,
      untried_bytes = cell.untried,
    }
  end
  return rows
end

--- Equal parts of a range, each of whole blocks, as cells of a map.
-- @tparam integer from
-- @tparam integer to
-- @tparam integer block
-- @tparam integer most  cells
-- @treturn {table,...}
function M.cells(from, to, block, most)
  local blocks = (to - from + block - 1) // block
  local length = (blocks + most - 1) // most * block
  local cells = {}
  for start = from, to - 1, length do
    cells[#cells + 1] = { from = start, to = math.min(to, start + length) }
  end
  return cells
end

--- The state that a document of an earlier part holds.
-- @tparam table d  document
-- @treturn table  `cover`, `classes`, `turns`, `cells`, `suspects`, `unreadable`, `slow`, `recovered`
function M.restore(d)
  local p = d.parameters
  local c = cover.new(p.from, p.to, "x")
  for _, row in ipairs(d.coverage or {}) do
    c:set(row.offset_bytes, row.offset_bytes + row.length_bytes, STATES[row.status] or "?")
  end
  local classes, turns, cells = {}, {}, {}
  for i = 1, #grade.CLASSES_NS + 1 do
    classes[i] = d.classes and d.classes[i] and d.classes[i].blocks or 0
  end
  for i = 0, grade.MOST_TURNS do
    turns[i] = d.turns and d.turns[i + 1] and d.turns[i + 1].blocks or 0
  end
  for i, row in ipairs(d.map or {}) do
    cells[i] = {
      from = row.offset_bytes, to = row.offset_bytes + row.length_bytes, blocks = row.blocks,
      failed = row.failed_blocks, bytes = row.read_bytes, busy_ns = math.floor((row.busy_s or 0) * 1e9),
      most_ns = row.latency_max_us and math.floor(row.latency_max_us * 1000),
    }
  end
  return {
    cover = c, classes = classes, turns = turns, cells = cells,
    suspects = suspects_of(d.suspects), unreadable = runs_of(d.unreadable), slow = runs_of(d.slow),
    recovered = runs_of(d.recovered),
  }
end

return M
