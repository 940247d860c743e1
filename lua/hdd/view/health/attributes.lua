-- The SMART attributes of an ATA drive as a table.
-- SPDX-License-Identifier: GPL-3.0-or-later

local M = {}

local STATES = {failing_now = "FAILING NOW", failed_past = "failed in the past"}

-- What the raw value means, short; with the raw bytes where they are wanted.
local function raw_text(a, all)
  local text = a.text:gsub("%(lowest (%-?%d+), highest (%-?%d+)%)", "(%1 to %2)")
    :gsub("%(lowest (%-?%d+)%)", "(lowest %1)")
  if all and not text:find("^%d+$") and text ~= a.raw_hex then
    text = text .. " = " .. a.raw_hex
  end
  return text
end

local function change(a, before)
  local old = before and before:attribute(a.id)
  if not old or old.raw == a.raw then return "" end
  local m, o = a.meaning, old.meaning
  if m and o then -- a packed value grows by what it means
    for key, now in pairs(m) do
      if type(now) == "number" and type(o[key]) == "number" and next(m, next(m)) == nil
        and now ~= o[key] and key ~= "temperature_c" then
        return math.type(now) == "integer" and math.type(o[key]) == "integer"
          and ("%+d"):format(now - o[key]) or ("%+.1f"):format(now - o[key])
      end
    end
  end
  if a.raw > 0xffffffff or old.raw > 0xffffffff or m and m.temperature_c then return "" end
  return ("%+d"):format(a.raw - old.raw)
end

local function threshold(a)
  if not a.threshold or a.threshold == 0 then return "none" end
  return tostring(a.threshold)
end

-- Short where the lines are.
local TYPES = {[true] = {"pre-fail", "old-age"}, [false] = {"pre", "old"}}

local function row_of(a, all, before, long)
  local state = STATES[a.state]
  local raw = raw_text(a, all)
  if state then raw = raw .. "  " .. state end
  local row = {
    a.id, a.name .. (a.verified and "" or " ?"), TYPES[long][a.pre_fail and 1 or 2],
    a.value, a.worst, threshold(a), raw,
  }
  if before then table.insert(row, 7, change(a, before)) end
  return row
end

--- The section; nothing where there are no attributes.
-- @tparam Page page
-- @tparam table said
-- @tparam table options  `all`, `before` (an earlier reading)
function M.draw(page, said, options)
  local list = said.smart and said.smart.attributes
  if not list or #list == 0 then return end
  local before = options.before
  if before and (before.identity or {}).serial ~= (said.identity or {}).serial then before = nil end
  local rows, doubtful = {}, false
  local long = not page.width or page.width >= 100
  for i, a in ipairs(list) do
    rows[i] = row_of(a, options.all, before, long)
    doubtful = doubtful or not a.verified
  end
  page:section("Attributes", doubtful and "? marks a name that is a guess for this model" or nil)
  local columns = {
    {title = "id"}, {title = "name", left = true, most = 34, gap = 1},
    {title = "type", left = true, rank = 1, gap = 1}, {title = "now", rank = 2, gap = 1},
    {title = "worst", rank = 4, gap = 1}, {title = "limit", rank = 3, gap = 1},
    {title = "raw", left = true, wrap = true},
  }
  if before then table.insert(columns, 7, {title = "change"}) end
  page:table(columns, rows)
end

--- Where libatasmart reads something else, and why ours is shown.
function M.opinions(page, said)
  local by_why, order = {}, {}
  for _, o in ipairs(said.opinions or {}) do
    if not by_why[o.why] then
      by_why[o.why] = {}
      order[#order + 1] = o.why
    end
    table.insert(by_why[o.why], ("%s (shown %s, libatasmart %s)"):format(o.what, o.shown,
      o.libatasmart))
  end
  if #order == 0 then return end
  page:section("libatasmart reads otherwise")
  for _, why in ipairs(order) do
    page:paragraph(table.concat(by_why[why], ", ") .. ": " .. why, "    ", "  ")
  end
end

return M
