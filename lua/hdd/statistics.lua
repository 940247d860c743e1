-- SPDX-License-Identifier: GPL-3.0-or-later
--- Statistics of samples: plain lists of numbers in, numbers out.
-- Methods are stated at each function. Of an empty sample there is nothing: nil, never 0 or NaN.
-- Values that are not finite are left out, as if they had not been measured.
-- @module hdd.statistics

local M = {}

-- The finite values, sorted, in a list of their own.
local function sorted(values)
  local list = {}
  for _, value in ipairs(values) do
    if value == value and value ~= math.huge and value ~= -math.huge then list[#list + 1] = value end
  end
  table.sort(list)
  return list
end

local function middle_of(list)
  local n = #list
  if n == 0 then return nil end
  if n % 2 == 1 then return list[n // 2 + 1] end
  return (list[n // 2] + list[n // 2 + 1]) / 2
end

local function rank_of(list, p)
  if #list == 0 then return nil end
  -- Less a rounding error: 16.1 * 1000 / 100 comes out above 161, which would be rank 162.
  return list[math.max(1, math.ceil(p * #list / 100 * (1 - 2 ^ -51)))]
end

--- The p-th percentile by nearest rank: the smallest value that at least p % of the sample do not
-- exceed. It is always a value of the sample; p100 is the maximum, p0 the minimum.
-- @tparam {number,...} values
-- @tparam number p  0 to 100
-- @treturn ?number  nil for an empty sample
-- @usage statistics.percentile(latencies, 99.9)
function M.percentile(values, p)
  if not (p >= 0 and p <= 100) then
    error(string.format("a percentile lies between 0 and 100, not at %s", tostring(p)), 2)
  end
  return rank_of(sorted(values), p)
end

--- The median: of an even number of values the mean of the two in the middle.
-- @tparam {number,...} values
-- @treturn ?number  nil for an empty sample
function M.median(values)
  return middle_of(sorted(values))
end

--- The arithmetic mean.
-- @tparam {number,...} values
-- @treturn ?number  a float; nil for an empty sample
function M.mean(values)
  local list, mean = sorted(values), 0.0
  for i, value in ipairs(list) do mean = mean + (value - mean) / i end
  return #list > 0 and mean or nil
end

--- The standard deviation of the population that the sample was drawn from (n - 1).
-- @tparam {number,...} values
-- @treturn ?number  nil for fewer than two values
function M.deviation(values)
  local list, mean, squares = sorted(values), 0.0, 0.0
  for i, value in ipairs(list) do -- Welford's way: no difference of large squares
    local delta = value - mean
    mean = mean + delta / i
    squares = squares + delta * (value - mean)
  end
  return #list > 1 and math.sqrt(squares / (#list - 1)) or nil
end

--- The median absolute deviation from the median: a spread that outliers do not move. Times 1.4826
-- it estimates the standard deviation of a normal distribution.
-- @tparam {number,...} values
-- @treturn ?number  nil for an empty sample
function M.mad(values)
  local list = sorted(values)
  local median = middle_of(list)
  for i, value in ipairs(list) do list[i] = math.abs(value - median) end
  table.sort(list)
  return middle_of(list)
end

--- The interquartile range: 75th less 25th percentile, by nearest rank.
-- @tparam {number,...} values
-- @treturn ?number  nil for an empty sample
function M.iqr(values)
  local list = sorted(values)
  if #list == 0 then return nil end
  return rank_of(list, 75) - rank_of(list, 25)
end

return M
