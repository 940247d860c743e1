--- What makes a drive fail a burn-in, or pass with a warning: the defaults, and a user's own.
-- docs/burnin.md says where each default is from.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.criteria
-- @usage local list = assert(criteria.load("my.lua"))
-- local document = assert(burnin.run(drive, { criteria = list }))

local M = {}

-- Counts warn and fail from a number on, shares below one; false: never.
M.defaults = {
  unreadable_bytes = { warn = false, fail = 1 },
  recovered_ranges = { warn = 1, fail = false },
  slow_bytes = { warn = 1, fail = false },
  read_errors = { warn = false, fail = 1 },
  write_errors = { warn = false, fail = 1 },
  flush_errors = { warn = false, fail = 1 },
  mismatching_blocks = { warn = false, fail = 1 },
  false_capacity = { warn = false, fail = 1 },
  stalls = { warn = 1, fail = false },
  media_growth = { warn = false, fail = 1 },
  cable_growth = { warn = 1, fail = false },
  other_growth = { warn = 1, fail = false },
  log_growth = { warn = false, fail = false },
  self_tests_failed = { warn = false, fail = 1 },
  self_tests_unfinished = { warn = 1, fail = false },
  health_failing = { warn = false, fail = 1 },
  health_warning = { warn = 1, fail = false },
  over_temperature = { warn = 1, fail = false },
  phases_not_run = { warn = 1, fail = false },
  zone_ratio = { warn = 0.92, fail = 0.80 },
  iops_ratio = { warn = 0.90, fail = 0.75 },
  batch_ratio = { warn = 0.92, fail = 0.80 },
  batch_above = { warn = 1.07, fail = false },
}

-- What warns below its level, not from it on.
M.shares = { zone_ratio = true, iops_ratio = true, batch_ratio = true }

local function names()
  local list = {}
  for name in pairs(M.defaults) do list[#list + 1] = name end
  table.sort(list)
  return table.concat(list, ", ")
end

local function level_problem(name, levels)
  if type(levels) ~= "table" then
    return string.format("%s: must be a table such as { warn = 1, fail = 10 }, is %s", name,
      tostring(levels))
  end
  for key, value in pairs(levels) do
    if key ~= "warn" and key ~= "fail" then
      return string.format("%s: has warn and fail, and no %s", name, tostring(key))
    elseif value and (type(value) ~= "number" or value ~= value or value < 0) then
      return string.format("%s.%s: must be a number from 0 on, or false for never, is %s", name, key,
        tostring(value))
    end
  end
end

--- The defaults with what a user gives laid over them.
-- @tparam ?table given  `{ slow_bytes = { warn = 512, fail = 1 << 20 }, judge = function }`: levels by
--   name; of a criterion that is named only what is given changes. `judge` = function(document, add)
--   may add reasons of its own: add("FAIL" or "WARN", name, what, where)
-- @treturn table
-- @return or nil, message
function M.merge(given)
  local merged = {}
  for name, levels in pairs(M.defaults) do
    merged[name] = { warn = levels.warn, fail = levels.fail }
  end
  if given ~= nil and type(given) ~= "table" then
    return nil, "criteria: must be a table, is a " .. type(given)
  end
  for name, levels in pairs(given or {}) do
    if name == "judge" and type(levels) == "function" then
      merged.judge = levels
    elseif not merged[name] then
      return nil, string.format("criteria: there is none of the name %s; there are: judge, %s",
        tostring(name), names())
    else
      local problem = level_problem(name, levels)
      if problem then return nil, "criteria: " .. problem end
      for key, value in pairs(levels) do merged[name][key] = value end
    end
  end
  return merged
end

--- Reads a user's criteria: a Lua file that returns a table.
-- @tparam string path
-- @treturn table  as it is, checked; to be merged
-- @return or nil, message
function M.load(path)
  local chunk, message = loadfile(path, "t")
  if not chunk then return nil, "cannot read the criteria: " .. message end
  local ok, given = pcall(chunk)
  if not ok then return nil, "the criteria raised an error: " .. tostring(given) end
  if type(given) ~= "table" then
    return nil, string.format("%s returns no table of criteria, but %s", path, tostring(given))
  end
  local merged
  merged, message = M.merge(given)
  if not merged then return nil, path .. ": " .. message end
  return given
end

--- What a value comes to.
-- @tparam table criteria  merged
-- @tparam string name
-- @tparam ?number value
-- @treturn ?string  "FAIL", "WARN" or nil
function M.grade(criteria, name, value)
  local levels = criteria[name]
  if not value then return nil end
  local function reached(level)
    if not level then return false end
    if M.shares[name] then return value < level end
    return value >= level
  end
  return reached(levels.fail) and "FAIL" or reached(levels.warn) and "WARN" or nil
end

return M
