--- Two drives, or two readings of one, laid against one another.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.capdiff
local identity = require "hdd.view.health.identity"
local pages = require "hdd.view.health.page"
local units = require "hdd.units"
local words = require "hdd.view.health.words"

local M = {}

local TITLES = {
  identity = "Identity", capabilities = "What they can do", settings = "How they are set",
  states = "Their numbers", counters = "What went wrong since", lifetime = "Use since",
  gauges = "What goes up and down",
}

local function value_text(d, side)
  local value = d[side]
  if value == nil then return d.only and "-" or "n/a" end
  if value == true then return "yes" end
  if value == false then return "no" end
  if d.name == "size_bytes" then return units.decimal_bytes(value) end
  if math.type(value) == "float" then return units.fixed(value, value % 1 == 0 and 0 or 2) end
  return tostring(value)
end

local function change_text(d)
  if not d.change then return "" end
  local n = d.growth and words.grouped(d.growth)
  if d.change == "reset" then return "reset" .. (n and ", since then " .. n or "") end
  if d.change == "wrapped" then return ("+%s (wrapped)"):format(n or "?") end
  if d.change == "saturated" then return n and ("full, +%s at least"):format(n) or "full" end
  return n and (type(d.growth) == "number" and d.growth < 0 and n or "+" .. n) or "grew"
end

-- Normalized values say again, coarsely, what the raw ones say.
local function shown(list, all)
  local rows = {}
  for _, d in ipairs(list) do
    if all or not d.name:find("^attribute%.%d+%.value$") then rows[#rows + 1] = d end
  end
  return rows, #list - #rows
end

local function section(page, name, list, options)
  local kept, hidden = shown(list, options.all)
  if #kept == 0 then return end
  local rows, changes = {}, false
  for i, d in ipairs(kept) do
    local change = change_text(d)
    changes = changes or change ~= ""
    rows[i] = {d.what, value_text(d, "a"), value_text(d, "b"), change}
  end
  page:section(TITLES[name])
  local columns = {
    {left = true, wrap = true}, {title = "A", left = true, wrap = true, first = 14},
    {title = "B", left = true, wrap = true, first = 14},
  }
  if changes then columns[4] = {title = "change", left = true, wrap = true} end
  page:table(columns, rows, "  ")
  if hidden > 0 then page:line(("  and %d normalized values (--all)"):format(hidden)) end
end

local function side(page, letter, said)
  local id, s = said.identity or {}, said.source or {}
  local text = ("%s, serial %s"):format(identity.title(said), id.serial or "unknown")
  local where = s.kind == "drive" and s.path
    or ("%s %s%s"):format(s.kind, s.path, s.read_at and ", read " .. s.read_at:sub(1, 10) or "")
  page:paragraph(("%s (%s)"):format(text, where), "    ", letter .. "   ")
end

local function heading(page, result)
  if not result.same_drive then
    page:paragraph("Two drives: their numbers differ because they are two; nothing here is growth.",
      "  ")
    return
  end
  local parts = {}
  if result.elapsed_power_on_hours then
    parts[1] = words.hours(result.elapsed_power_on_hours) .. " of powered-on time"
  end
  if result.elapsed_s then parts[#parts + 1] = units.duration_text(result.elapsed_s) end
  local apart = #parts > 0 and (", %s apart"):format(table.concat(parts, ", ")) or ""
  local order = result.reversed and " (B is the earlier reading: growth is counted from it)" or ""
  page:paragraph(("One drive at two times%s%s."):format(apart, order), "  ")
end

--- Draws all of it.
-- @tparam Page page     of hdd.view.health.page, or what has its methods
-- @tparam table a       what `hdd.health.load` gave
-- @tparam table b       the other
-- @tparam table result  of `hdd.drive.capdiff.compare(a, b)`
-- @tparam table options  `all`
function M.draw(page, a, b, result, options)
  side(page, "A", a)
  side(page, "B", b)
  page:line()
  heading(page, result)
  local any = false
  local order = {"identity", "capabilities", "settings", "counters", "lifetime", "gauges", "states"}
  for _, name in ipairs(order) do
    any = any or #result[name] > 0
    section(page, name, result[name], options)
  end
  if not any then page:line("  Nothing differs.") end
  if #result.steady > 0 then
    local items = {}
    for i, s in ipairs(result.steady) do
      items[i] = ("%s%s %s"):format(i == 1 and "  " or "", s.what, words.grouped(s.value))
    end
    page:section("Not 0, and as before")
    page:items(items, "  ")
  end
  if #result.not_compared > 0 then
    local items = {}
    for i, n in ipairs(result.not_compared) do
      items[i] = ("%s%s (only %s)"):format(i == 1 and "  " or "", n.where, n.only:upper())
    end
    page:section("Not compared", "read of one alone")
    page:items(items, "  ")
  end
  for _, w in ipairs(result.warnings) do
    page:line()
    page:paragraph(w.message or tostring(w), "  ")
  end
end

--- The text.
-- @tparam table a       what `hdd.health.load` gave
-- @tparam table b       the other
-- @tparam table result  of `hdd.drive.capdiff.compare(a, b)`
-- @tparam[opt] table options  `width`, `utf8`, `all` (true: normalized values as well)
-- @treturn string
-- @usage io.write(view.text(a, b, capdiff.compare(a, b), {width = 80}))
function M.text(a, b, result, options)
  options = options or {}
  local page = pages.new(options)
  M.draw(page, a, b, result, options)
  return page:text()
end

return M
