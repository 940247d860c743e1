--- Measures drives in turn, A B A B …, so that what drifts on the machine meanwhile (its heat, its
-- load) hits all of them alike: the sides of a comparison, with several runs of each.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.compare
-- @usage local sides = assert(procedure.run({ a, b }, { rounds = 3 }))
-- local result = require "hdd.compare".run(sides)
local qdsweep = require "hdd.procedure.qdsweep"
local zoneprofile = require "hdd.procedure.zoneprofile"

local M = {}

local PROCEDURES <const> = { zoneprofile = zoneprofile, qdsweep = qdsweep }
local KNOWN <const> = { rounds = true, measurements = true, zoneprofile = true, qdsweep = true }
local EINVAL <const> = 22

local function refuse(key, value, why)
  return nil, string.format("%s %s: %s", key, tostring(value), why), EINVAL
end

local function plan(given)
  local p = { rounds = given.rounds or 3, measurements = given.measurements or { "zoneprofile", "qdsweep" } }
  for key, value in pairs(given) do
    if not KNOWN[key] then
      return refuse(key, value, "is no parameter of this: rounds, measurements, zoneprofile, qdsweep")
    end
  end
  if math.type(p.rounds) ~= "integer" or p.rounds < 1 then
    return refuse("rounds", p.rounds, "must be a whole number of at least 1")
  end
  for _, name in ipairs(p.measurements) do
    if not PROCEDURES[name] then return refuse("measurements", name, "must be of zoneprofile, qdsweep") end
    p[name] = given[name] or { quick = true }
  end
  return p
end

-- What the observer of all is told of one of the runs.
local function observer_of(observer, stage, done, total)
  return {
    progress = observer.progress and function(state)
      local told = {}
      for key, value in pairs(state) do told[key] = value end
      told.stage = stage .. ": " .. (state.stage or "")
      told.share, told.left_s = (done + (state.share or 0)) / total, nil
      observer.progress(told)
    end,
    save = observer.save,
  }
end

-- Runs once on one drive; false when it did not come to its end.
local function run_once(drive, name, parameters, observer)
  local copy = {}
  for key, value in pairs(parameters) do copy[key] = value end
  local d, message, code = PROCEDURES[name].run(drive, copy, observer)
  if not d then return nil, string.format("%s: %s", drive.path, message), code end
  return d, d.status == "complete"
end

--- Measures.
-- @tparam {Drive,...} drives  open; a single one is measured to be held against documents
-- @tparam[opt] table given    `rounds` (3: so often each measurement, all drives once a round),
--   `measurements` ({"zoneprofile", "qdsweep"}), `zoneprofile` and `qdsweep` (parameters of each;
--   {quick = true})
-- @tparam[opt] table observer  `progress`, `save`: see hdd.procedure.measurement; `save` is called
--   with the document under way
-- @treturn {table,...}  sides for `hdd.compare.run`: `name`, `documents`; `over` is "interrupted" or
--   "failed" when not all was measured
-- @return or nil, message, code when it could not be begun
function M.run(drives, given, observer)
  local p, message, code = plan(given or {})
  if not p then return nil, message, code end
  local sides, done, total = {}, 0, p.rounds * #p.measurements * #drives
  for i, drive in ipairs(drives) do
    sides[i] = { name = drive.name or drive.path, documents = {} }
  end
  for _, name in ipairs(p.measurements) do
    for round = 1, p.rounds do
      for i, drive in ipairs(drives) do
        local stage = string.format("%s, %s %d of %d", sides[i].name, name, round, p.rounds)
        local d, complete
        d, complete, code = run_once(drive, name, p[name], observer_of(observer or {}, stage, done, total))
        if not d then return nil, complete, code end
        table.insert(sides[i].documents, d)
        done = done + 1
        if not complete then
          sides.over = d.status
          return sides
        end
      end
    end
  end
  return sides
end

return M
