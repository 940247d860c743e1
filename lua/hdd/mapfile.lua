-- SPDX-License-Identifier: GPL-3.0-or-later
--- The files in which other programs keep what of a drive could be read: GNU ddrescue's mapfile and
-- the list of badblocks. Pure: text in, ranges out, and back.
--
-- A mapfile of ours has the whole document of the scan in a comment, so that a scan goes on from it
-- with all its results. ddrescue leaves comments out when it writes the file anew, and so does not
-- claim what it does not know.
-- @module hdd.mapfile

local json = require "hdd.json"
local version = require "hdd.version"

local M = {}

local MARK <const> = "# hddlua.surface/1 "
local BLOCK_STATES <const>, FILE_STATES <const> = "^[%?%*/%-%+]$", "^[%?%*/%-FG%+]$"

local function number(text)
  if not text then return nil end
  local hex = text:match("^0[xX](%x+)$")
  if hex and #hex:gsub("^0+", "") <= 16 then
    local value = math.tointeger(tonumber("0x" .. hex))
    return value and value >= 0 and value or nil
  end
  return text:match("^%d+$") and math.tointeger(tonumber(text))
end

local function refuse(line, why)
  return nil, string.format("line %d: %s", line, why)
end

-- A line with position, size and state of a block.
local function block_of(line)
  local position, size, state = line:match("^%s*(%S+)%s+(%S+)%s+(%S+)%s*$")
  position, size = number(position), number(size)
  if not position or not size or size == 0 or not state:find(BLOCK_STATES) then return nil end
  if position > math.maxinteger - size then return nil end
  return { from = position, to = position + size, state = state }
end

-- The document in a comment, if it is ours and still tells what the blocks do.
local function document_of(text, blocks)
  local line = text:match("\n" .. MARK:gsub("%p", "%%%0") .. "([^\n]*)")
  local d = line and json.decode(line)
  if type(d) ~= "table" or type(d.coverage) ~= "table" then return nil end
  local told = M.blocks(d)
  if #told ~= #blocks then return nil end
  for i, block in ipairs(told) do
    local other = blocks[i]
    if block.from ~= other.from or block.to ~= other.to or block.state ~= other.state then return nil end
  end
  return d
end

--- Reads a mapfile.
-- @tparam string text
-- @treturn table  `blocks` (list of `from`, `to` in bytes, `state`: "?" not tried, "*" failed and not
--   trimmed, "/" not scraped, "-" bad, "+" finished), ascending without gaps; `position`, `status`,
--   `pass`; `document` when the file is ours and was not changed
-- @return or nil, message with the line
-- @usage local map = assert(mapfile.parse(text))
function M.parse(text)
  local map, n = { blocks = {} }, 0
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    n = n + 1
    if line:find("^%s*[^%s#]") then
      if not map.status then
        local position, status, pass = line:match("^%s*(%S+)%s+(%S)%s*(%d*)%s*$")
        map.position, map.status, map.pass = number(position), status, tonumber(pass)
        if not map.position or not status:find(FILE_STATES) then
          return refuse(n, "no mapfile: position and status of the whole are expected first")
        end
      else
        local block, last = block_of(line), map.blocks[#map.blocks]
        if not block then return refuse(n, "position, size and one of ? * / - + are expected") end
        if last and block.from ~= last.to then
          return refuse(n, string.format("the block must begin where the last one ends, at 0x%X",
            last.to))
        end
        map.blocks[#map.blocks + 1] = block
      end
    end
  end
  if not map.status then return nil, "no mapfile: it is empty" end
  if #map.blocks == 0 then return nil, "no mapfile: it has no blocks" end
  map.document = document_of("\n" .. text, map.blocks)
  return map
end

local STATES <const> = { read = "+", unreadable = "-", failed = "*", untried = "?" }

-- Sets a part of ascending, touching blocks to a state.
local function overlay(blocks, from, to, state)
  local result = {}
  local function add(a, b, s)
    if a >= b then return end
    local last = result[#result]
    if last and last.to == a and last.state == s then
      last.to = b
    else
      result[#result + 1] = { from = a, to = b, state = s }
    end
  end
  for _, block in ipairs(blocks) do
    add(block.from, math.min(block.to, from), block.state)
    add(math.max(block.from, from), math.min(block.to, to), state)
    add(math.max(block.from, to), block.to, block.state)
  end
  return result
end

--- The blocks of a mapfile for a surface scan: read is "+", unreadable "-", failed and not narrowed
-- down "*"; what is slow, was not read, or was not to be read is "?".
-- @tparam table document
-- @treturn {table,...}
function M.blocks(document)
  local p = document.parameters
  local blocks, at = {}, p.from
  local function add(from, to, state)
    local last = blocks[#blocks]
    if from >= to then return end
    if last and last.state == state then
      last.to = to
    else
      blocks[#blocks + 1] = { from = from, to = to, state = state }
    end
  end
  for _, part in ipairs(document.coverage) do
    add(at, part.offset_bytes, "?")
    at = part.offset_bytes + part.length_bytes
    add(part.offset_bytes, at, STATES[part.status] or "?")
  end
  add(at, p.to, "?")
  for _, list in ipairs { document.slow or {}, document.suspects or {} } do
    for _, range in ipairs(list) do
      blocks = overlay(blocks, range.offset_bytes, range.offset_bytes + range.length_bytes, "?")
    end
  end
  return blocks
end

-- Where the next reading would be, and what for.
local function current_of(blocks)
  for _, state in ipairs { "?", "*", "/", "-" } do
    for _, block in ipairs(blocks) do
      if block.state == state then return block.from, state end
    end
  end
  return blocks[#blocks] and blocks[#blocks].to or 0, "+"
end

--- Writes a mapfile.
-- @tparam {table,...} blocks   `from`, `to`, `state`, ascending without gaps
-- @tparam[opt] table options   `comments` (list of lines), `document` (kept in a comment)
-- @treturn string
-- @usage file.write("sdb.map", mapfile.format(mapfile.blocks(document), { document = document }))
function M.format(blocks, options)
  options = options or {}
  local position, status = current_of(blocks)
  local lines = { "# Mapfile. Created by hddlua version " .. version }
  for _, comment in ipairs(options.comments or {}) do
    lines[#lines + 1] = "# " .. comment:gsub("[%c]", " ")
  end
  if options.document then
    lines[#lines + 1] = MARK .. json.encode(options.document, nil, true):gsub("\n$", "")
  end
  lines[#lines + 1] = "# current_pos  current_status  current_pass"
  lines[#lines + 1] = string.format("0x%08X     %s               1", position, status)
  lines[#lines + 1] = "#      pos        size  status"
  for _, block in ipairs(blocks) do
    lines[#lines + 1] =
      string.format("0x%08X  0x%08X  %s", block.from, block.to - block.from, block.state)
  end
  return table.concat(lines, "\n") .. "\n"
end

--- The parts of a drive that a mapfile names for another look: all that is not finished.
-- @tparam table map  of `parse`
-- @treturn {table,...}  `offset_bytes`, `length_bytes`
function M.domain(map)
  local list = {}
  local function add(from, to)
    local last = list[#list]
    if last and last.offset_bytes + last.length_bytes == from then
      last.length_bytes = last.length_bytes + to - from
    else
      list[#list + 1] = { offset_bytes = from, length_bytes = to - from }
    end
  end
  local inside = map.document and map.document.parameters and map.document.parameters.domain
  for _, block in ipairs(map.blocks) do
    if block.state ~= "+" then
      for _, part in ipairs(inside or { { offset_bytes = block.from,
        length_bytes = block.to - block.from } }) do
        local from = math.max(block.from, part.offset_bytes)
        local to = math.min(block.to, part.offset_bytes + part.length_bytes)
        if from < to then add(from, to) end
      end
    end
  end
  return list
end

--- A list for badblocks, mke2fs and e2fsck: numbers of blocks, one a line, each once.
-- @tparam {table,...} ranges      `offset_bytes`, `length_bytes`, ascending
-- @tparam[opt=1024] integer block  the unit, bytes: a block is listed if any byte of it is
-- @treturn string  the first line is a comment that names the unit
-- @usage file.write("bad.txt", mapfile.badblocks(document.unreadable, 4096))
function M.badblocks(ranges, block)
  block = block or 1024
  local lines, last = { string.format("# unreadable blocks of %d bytes, from 0", block) }, -1
  for _, range in ipairs(ranges) do
    local first = math.max(last + 1, range.offset_bytes // block)
    last = math.max(last, (range.offset_bytes + range.length_bytes - 1) // block)
    for number_of = first, last do lines[#lines + 1] = string.format("%d", number_of) end
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Reads such a list.
-- @tparam string text
-- @tparam[opt=1024] integer block  the unit, bytes
-- @treturn {table,...}  `offset_bytes`, `length_bytes`, ascending; neighbours are one
-- @return or nil, message with the line
function M.parse_badblocks(text, block)
  block = block or 1024
  local numbers, n, ranges = {}, 0, {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    n = n + 1
    if line:find("^%s*[^%s#]") then
      local value = number(line:match("^%s*(%S+)%s*$"))
      if not value or value > math.maxinteger // block - 1 then
        return refuse(n, "the number of a block is expected")
      end
      numbers[#numbers + 1] = value
    end
  end
  table.sort(numbers)
  for _, value in ipairs(numbers) do
    local last = ranges[#ranges]
    local stop = last and last.offset_bytes + last.length_bytes or -1
    if stop == value * block then
      last.length_bytes = last.length_bytes + block
    elseif value * block > stop then
      ranges[#ranges + 1] = { offset_bytes = value * block, length_bytes = block }
    end
  end
  return ranges
end

return M
