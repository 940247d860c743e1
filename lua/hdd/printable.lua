-- SPDX-License-Identifier: GPL-3.0-or-later
--- Text from outside (a drive's model, a path, a file's contents) made fit for where it goes.
-- Drives hand out padding, quotes, control bytes and bytes of no encoding; none of it may move a
-- terminal's cursor or make a JSON file invalid. A byte that has no place is written as `\xE9`.
-- @module hdd.printable

local M = {}

local function escape(byte)
  return string.format("\\x%02X", byte)
end

-- Code points that a terminal obeys instead of showing, or that reorder or hide what stands near
-- them: controls, zero width, line and paragraph separators, bidirectional overrides.
local function is_hidden(code)
  return code < 0x20 or code >= 0x7F and code < 0xA0 or code >= 0x200B and code <= 0x200F
    or code >= 0x2028 and code <= 0x202E or code >= 0x2060 and code <= 0x206F or code == 0xFEFF
    or code == 0x00AD or code == 0x061C or code >= 0xFFF0 and code <= 0xFFFB
end

-- Each character of `s` goes through `show(code)`, which returns its text or nil to keep it; bytes
-- that are no UTF-8 are escaped.
local function map(s, show)
  local pieces, position = {}, 1
  while position <= #s do
    local ends, wrong = utf8.len(s, position)
    local last = ends and #s or wrong - 1
    for _, code in utf8.codes(s:sub(position, last)) do
      pieces[#pieces + 1] = show(code) or utf8.char(code)
    end
    if wrong then pieces[#pieces + 1] = escape(s:byte(wrong)) end
    position = (wrong or #s) + 1
  end
  return table.concat(pieces)
end

local function keep() end

--- Without the padding (spaces and NUL bytes) that drives put around model and serial.
-- @tparam string s
-- @treturn string
-- @usage printable.trim("  WDC WD6000HLHX-01JJPV0 \0\0") --> "WDC WD6000HLHX-01JJPV0"
function M.trim(s)
  return s:match("^[%s%z]*(.-)[%s%z]*$")
end

--- Valid UTF-8: all that is some stays, control characters too; other bytes become `\xE9`.
-- @tparam string s
-- @treturn string
function M.utf8(s)
  return utf8.len(s) and s or map(s, keep)
end

--- One line that a terminal shows and does not obey.
-- @tparam string s
-- @tparam[opt] boolean ascii  true where UTF-8 is not wanted: everything else is escaped too
-- @treturn string
-- @usage printable.line("\27[31m") --> "\\x1B[31m"
function M.line(s, ascii)
  if not s:find("[^\x20-\x7E]") then return s end
  return map(s, function(code)
    if code < 0x80 and is_hidden(code) then return escape(code) end
    if ascii and code >= 0x80 or is_hidden(code) then return string.format("\\u{%X}", code) end
  end)
end

--- A part of a file name: letters, digits and `. _ -` stay, runs of others become one `-`.
-- @tparam string s
-- @treturn string  never empty, never beginning with a dot or dash
-- @usage printable.file_name("WDC WD6000/HLHX") --> "WDC-WD6000-HLHX"
function M.file_name(s)
  s = s:gsub("[^0-9A-Za-z._]+", "-"):gsub("^[.-]+", ""):gsub("[.-]+$", "")
  return s == "" and "unnamed" or s:sub(1, 80)
end

--- Columns that a line takes on a terminal: its characters.
-- @tparam string s  valid UTF-8, as `line` returns it
-- @treturn integer
function M.width(s)
  return utf8.len(s) or #s
end

--- The first `columns` columns of a line; where something is lost the last one is "~".
-- @tparam string s
-- @tparam integer columns
-- @treturn string
function M.clip(s, columns)
  if M.width(s) <= columns then return s end
  if columns < 1 then return "" end
  return s:sub(1, utf8.offset(s, columns) - 1) .. "~"
end

--- A line made `columns` wide by blanks; a longer one stays as it is.
-- @tparam string s
-- @tparam integer columns
-- @tparam[opt] boolean right  true: it stands at the right
-- @treturn string
-- @usage printable.pad("12", 4, true) --> "  12"
function M.pad(s, columns, right)
  local blanks = (" "):rep(columns - M.width(s))
  return right and blanks .. s or s .. blanks
end

return M
