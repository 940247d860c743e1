--- What differs between two drives, or in one drive between two days.
--
-- Who a drive is, what it can do and how it is set are told apart from its numbers; and numbers are
-- growth where it is the same drive, and merely two states where it is not. What was not read of
-- both is never called a difference.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.capdiff

local bytes = require "hdd.drive.bytes"
local calendar = require "hdd.calendar"
local counters = require "hdd.drive.capdiff.counters"
local growth = require "hdd.drive.capdiff.growth"
local traits = require "hdd.drive.capdiff.traits"

local M = {}

-- A section may be left out for its traits and for its numbers: it is listed once.
local function leave_out(list, where, only)
  for _, entry in ipairs(list) do
    if entry.where == where then return end
  end
  table.insert(list, {where = where, only = only})
end

-- All facts of the sections that both have: a's in their order, then what b alone has of the section.
local function collect(sections, a, b, not_compared)
  local order, facts = {}, {}
  local function put_for(side, where)
    return function(group, name, what, value, more)
      if value == nil then return end
      local fact = facts[name]
      if not fact then
        fact = {group = group, name = name, what = what, where = where, traits_of = {}}
        facts[name], order[#order + 1] = fact, fact
      end
      fact[side], fact.traits_of[side] = value, more or {}
    end
  end
  for _, section in ipairs(sections) do
    local where, read, facts_of = section[1], section[2], section[3]
    local in_a, in_b = read(a), read(b)
    if in_a and in_b then
      facts_of(a, put_for("a", where))
      facts_of(b, put_for("b", where))
    elseif in_a or in_b then
      leave_out(not_compared, where, in_a and "a" or "b")
    end
  end
  return order
end

-- What belongs to something that only one has (a feature's state) is not told once more.
local function is_told(name, one_sided)
  if one_sided[name] then return true end
  local parent = name:match "^(.*)%.[^.]*$"
  return parent ~= nil and one_sided[parent] ~= nil
end

local function difference(fact)
  local only
  if fact.b == nil then only = "a" elseif fact.a == nil then only = "b" end
  return {name = fact.name, what = fact.what, where = fact.where, a = fact.a, b = fact.b,
    only = only}
end

-- Whether they are one drive: nil when that can't be told.
local function same_drive(a, b)
  local x, y = a.identity or {}, b.identity or {}
  if x.serial and y.serial then return x.serial == y.serial and x.model == y.model end
  if x.wwn and y.wwn then return x.wwn == y.wwn end
end

-- When a drive was read, s since 1970; nil when that isn't known.
local function read_at_s(said)
  return said.source and calendar.seconds(said.source.read_at)
end

-- Whether b was read before a. Without times: when at least two totals went down and none went up,
-- for a drive's totals do not all shrink by chance.
local function is_reversed(facts, later_s)
  if later_s then return later_s < 0, true end
  local down, up = 0, 0
  for _, f in ipairs(facts) do
    if f.group == "lifetime" and type(f.a) == "number" and type(f.b) == "number" then
      if f.b < f.a then down = down + 1 elseif f.b > f.a then up = up + 1 end
    end
  end
  return down >= 2 and up == 0, false
end

-- One drive's numbers: growth from the earlier to the later reading.
local function ageing(facts, reversed, result)
  local early, late = reversed and "b" or "a", reversed and "a" or "b"
  for _, fact in ipairs(facts) do
    local d = difference(fact)
    local list = fact.group == "lifetime" and result.lifetime or fact.group == "counters"
      and result.counters
      or result.gauges
    if d.only or fact.group == "gauges" then
      if d.a ~= d.b then table.insert(list, d) end
    else
      local g = growth.of(fact[early], fact[late], fact.traits_of[late])
      if g then
        d.change, d.growth, d.at_least = g.change, g.growth, g.at_least
        table.insert(list, d)
      elseif fact.group == "counters" and fact.a ~= 0 then
        table.insert(result.steady, {name = fact.name, what = fact.what, where = fact.where,
          value = fact.a})
      end
    end
  end
end

local function elapsed(a, b, later_s, result)
  local x, y = a.power_on and a.power_on.power_on_hours, b.power_on and b.power_on.power_on_hours
  if later_s then result.elapsed_s = math.abs(later_s) end
  if not x or not y then return end
  local from, to = x, y
  if result.reversed then from, to = y, x end
  local g = growth.of(from, to, {})
  if not g then
    result.elapsed_power_on_hours = 0
  elseif g.change ~= "reset" then
    result.elapsed_power_on_hours = g.growth
  end
end

local function compare_traits(a, b, result)
  local one_sided = {}
  for _, fact in ipairs(collect(traits, a, b, result.not_compared)) do
    local d = difference(fact)
    if d.a ~= d.b and not (d.only and is_told(d.name, one_sided)) then
      table.insert(result[fact.group], d)
      if d.only then one_sided[d.name] = true end
    end
  end
  return one_sided
end

local function compare_numbers(a, b, one_sided, result)
  local facts = collect(counters, a, b, result.not_compared)
  if not result.same_drive then
    for _, fact in ipairs(facts) do
      local d = difference(fact)
      if d.a ~= d.b and not (d.only and is_told(d.name, one_sided)) then
        table.insert(result.states, d)
      end
    end
    return
  end
  local a_s, b_s = read_at_s(a), read_at_s(b)
  local later_s = a_s and b_s and b_s - a_s
  local reversed, known = is_reversed(facts, later_s)
  result.reversed = reversed
  if reversed and not known then
    bytes.warn(result, "reversed",
      "the totals of the second are lower: it seems to be the earlier one, "
      .. "and growth is counted from it (or the drive's counters were cleared in between)")
  end
  elapsed(a, b, later_s, result)
  ageing(facts, result.reversed, result)
end

--- Compare two drives, or one drive at two times.
-- @tparam table a  what `hdd.drive.ata.decode`, `hdd.drive.nvme.decode` or `hdd.drive.scsi.decode`
--   gave; its `source.read_at` ("2026-11-30T19:40:00Z"), if known of both, says which is the earlier
-- @tparam table b  the same of the other
-- @tparam[opt] table options  `expect_same`: warn when they are two drives
-- @treturn table  `same_drive` (absent when neither serial number nor name is known: then they are
--   taken for two), `reversed` (of one drive: b is the earlier), `elapsed_s` and
--   `elapsed_power_on_hours` between the two, and lists of differences `{name what where a b only}`
--   (`only`: "a" or "b", which of them has it): `identity`, `capabilities`, `settings`; of one
--   drive `counters` (what went wrong) and `lifetime` (totals of use), whose entries have `change`
--   ("grew", "reset", "wrapped", "saturated"), `growth` and `at_least` (it may have been more),
--   `gauges` (numbers that go up and down), and `steady[] {name what where value}` (counters that
--   did not move, and are not 0); of two drives `states` (all their numbers that differ);
--   `not_compared[] {where only}` (sections that were read of one alone), `warnings`
-- @usage local d = capdiff.compare(old, new)
--   for _, c in ipairs(d.capabilities) do print(c.what, c.a, c.b) end
function M.compare(a, b, options)
  options = options or {}
  local result = {warnings = bytes.list(), same_drive = same_drive(a, b),
    not_compared = bytes.list()}
  for _, name in ipairs {
    "identity", "capabilities", "settings", "counters", "lifetime", "gauges", "steady", "states",
  } do
    result[name] = bytes.list()
  end
  if result.same_drive == nil then
    bytes.warn(result, "unknown_drive", "a serial number is missing: they are taken for two drives")
  elseif not result.same_drive and options.expect_same then
    bytes.warn(result, "two_drives", "these are two drives (%s and %s): nothing here is growth",
      a.identity.serial or a.identity.wwn, b.identity.serial or b.identity.wwn)
  end
  local one_sided = compare_traits(a, b, result)
  compare_numbers(a, b, one_sided, result)
  return result
end

return M
