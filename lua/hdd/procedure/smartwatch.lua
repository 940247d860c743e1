--- Watching drives: each is read now and then, and every change is told. Each has a task of its
-- own, so that one that is slow or gone keeps none of the others; one that sleeps is left asleep.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.smartwatch
local capdiff = require "hdd.drive.capdiff"
local core = require "hdd.core"
local health = require "hdd.health"
local task = require "hdd.task"

local M = {}

local EAGAIN <const> = 11
local FAILED_LOOKS <const> = 5 -- in a row, after which a drive is left alone

-- Other words for the temperature, which is told once.
local TEMPERATURES = {
  ["sct.temperature_c"] = true, ["attribute.190"] = true, ["attribute.194"] = true,
  ["statistics.temperature_c"] = true, ["health.temperature_c"] = true, ["temperature_c"] = true,
}

local LISTS = {"identity", "capabilities", "settings", "counters", "gauges"}

local function is_told(d, name, all)
  if TEMPERATURES[d.name] then return false end
  if all then return true end
  -- A normalized value says again, coarsely, what the raw one does; averages of the temperature
  -- move with it.
  return not (name == "gauges" and (d.name:find("%.value$") or d.name:find("^statistics%..*_c$")))
end

--- What has changed between two readings of a drive.
-- @tparam table before  what `hdd.health.read` gave
-- @tparam table now
-- @tparam[opt] table options  `all` (true: totals of use and normalized values as well)
-- @treturn {table,...}  `{name what where from to change growth}`, most important first
-- @usage for _, c in ipairs(smartwatch.changes(before, now)) do print(c.what, c.from, c.to) end
function M.changes(before, now, options)
  local all = options and options.all
  local list = {}
  local function put(c) list[#list + 1] = c end
  local was, is = before.verdict.status, now.verdict.status
  if was ~= is then
    put {name = "verdict", what = "verdict", from = was, to = is, where = now.verdict.reasons[1]
      and now.verdict.reasons[1].what}
  end
  local d = capdiff.compare(before, now)
  if d.same_drive == false then
    put {name = "drive", what = "another drive", from = before.identity.serial,
      to = now.identity.serial}
    return list
  end
  local t0, t1 = before.temperature.temperature_c, now.temperature.temperature_c
  if t0 ~= t1 then
    put {name = "temperature", what = "temperature", where = now.temperature.source, from = t0,
      to = t1, unit = "°C"}
  end
  for _, name in ipairs(LISTS) do
    for _, c in ipairs(d[name]) do
      if is_told(c, name, all) then
        put {name = c.name, what = c.what, where = c.where, from = c.a, to = c.b, change = c.change,
          growth = c.growth, at_least = c.at_least}
      end
    end
  end
  for _, c in ipairs(all and d.lifetime or {}) do
    put {name = c.name, what = c.what, where = c.where, from = c.a, to = c.b, change = c.change,
      growth = c.growth}
  end
  return list
end

-- One look at a drive. False when it is to be left alone from now on.
local function look(state, p, observer)
  local said, message, code = health.read(state.path, {wake = p.wake, as = p.as})
  local event = observer.event or function() end
  state.asleep, state.message, state.code = false, nil, nil
  if said and said.incomplete then said, message = nil, said.incomplete end
  if said then
    if state.failed > 0 then event(state, {name = "answer", what = "answers again"}) end
    state.failed, state.refused = 0, nil
    if state.slept then event(state, {name = "standby", what = "awake"}) end
    state.slept = false
    local before = state.said
    state.said, state.read_at = said, os.time()
    if not before then
      event(state, {name = "first", what = "first reading"})
    else
      for _, change in ipairs(M.changes(before, said, p)) do event(state, change) end
    end
  elseif code == EAGAIN then
    state.asleep = true
    if not state.slept then event(state, {name = "standby", what = "asleep, and left so"}) end
    state.slept = true
  else
    state.failed, state.message, state.code = state.failed + 1, message, code
    if state.refused ~= message then
      event(state, {name = "failure", what = message, code = code})
    end
    state.refused = message
    if state.failed >= FAILED_LOOKS then
      event(state, {name = "given up",
        what = ("not read %d times in a row: it is left alone from now on"):format(state.failed)})
      return false
    end
  end
  return true
end

--- Watch drives, until interrupted or as often as asked.
-- @tparam {string,...} paths
-- @tparam[opt] table parameters  `every` (60 s), `count` (readings of each; nil: for ever), `all`
--   (true: totals of use and normalized values as well), `wake`, `as`
-- @tparam[opt] table observer  `event` = function(state, change): a change as of `changes`, or with
--   `name` "first", "failure", "answer", "standby", "given up" what happened; `read` =
--   function(states) after each reading. A state is `{path said asleep message code read_at
--   readings}`
-- @treturn {table,...}  states, in the order of the paths
-- @usage smartwatch.run({"/dev/sda", "/dev/sdb"}, {every = 60}, {event = function(state, c)
--   print(state.path, c.what, c.from, c.to) end})
function M.run(paths, parameters, observer)
  local p, states = parameters or {}, {}
  local every = p.every or 60
  observer = observer or {}
  for i, path in ipairs(paths) do states[i] = {path = path, failed = 0, readings = 0} end
  local interrupted = false
  local results = task.each(states, function(state)
    local due_ns = core.now()
    while true do
      local goes_on = look(state, p, observer)
      state.readings = state.readings + 1
      if observer.read then observer.read(states) end
      if not goes_on or p.count and state.readings >= p.count then return true end
      -- Readings that took longer than the pause are left out, not made up for.
      due_ns = math.max(due_ns + math.floor(every * 1e9), core.now())
      task.sleep((due_ns - core.now()) / 1e9)
    end
  end)
  for _, r in ipairs(results) do
    if r.traceback then error(r.message .. "\n" .. r.traceback, 0) end
    interrupted = interrupted or r.message == "interrupted"
  end
  states.interrupted = interrupted
  return states
end

return M
