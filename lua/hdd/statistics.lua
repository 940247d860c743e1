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

-- Two-sided 95 % points of Student's t, by degrees of freedom.
local T95 = {
  12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
  2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
}

--- The two-sided 95 % point of Student's t distribution.
-- @tparam integer freedom  degrees of freedom, at least 1
-- @treturn number
function M.t95(freedom)
  if T95[freedom] then return T95[freedom] end
  -- Cornish and Fisher's series about the normal point; from 21 on right to 4 decimals.
  local z, n = 1.959964, freedom
  return z + (z ^ 3 + z) / (4 * n) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * n ^ 2)
    + (3 * z ^ 7 + 19 * z ^ 5 + 17 * z ^ 3 - 15 * z) / (384 * n ^ 3)
end

-- Mean and half width of independent values.
local function interval(values)
  local mean, deviation = M.mean(values), M.deviation(values)
  return mean, deviation and M.t95(#values - 1) * deviation / math.sqrt(#values)
end

--- The 95 % confidence interval of a mean by batch means. Neighbouring values of a drive depend on one
-- another, which a plain interval would ignore; the means of long batches hardly do. The values are
-- cut in order into batches of equal length (the first, incomplete one is left out); Student's t.
-- @tparam {number,...} values  in the order in which they were measured, finite
-- @tparam[opt=20] integer batches  at most; fewer when there are not 2 values for each
-- @treturn ?number mean        of the batches used; nil for an empty sample
-- @treturn ?number half_width  nil for fewer than 4 values
function M.batch_means(values, batches)
  local count = math.min(batches or 20, #values // 2)
  if count < 2 then return M.mean(values), nil end
  local length, means = #values // count, {}
  local skipped = #values - length * count
  for i = 1, count do
    local first = skipped + (i - 1) * length
    means[i] = M.mean(table.move(values, first + 1, first + length, 1, {}))
  end
  return interval(means)
end

--- The 95 % confidence interval of a rate by batch means, from intervals of any length: the rate of
-- a batch is its count over its own seconds. An incomplete last interval counts as what it is.
-- @tparam {number,...} counts   what was done in each interval
-- @tparam {number,...} seconds  how long each was
-- @tparam[opt=20] integer batches  at most
-- @treturn ?number rate        all counts over all seconds; nil when no time went by
-- @treturn ?number half_width  nil for fewer than 4 intervals
-- @usage local iops, half = statistics.rate_interval(ios, elapsed)
function M.rate_interval(counts, seconds, batches)
  local total, time = 0, 0
  for i, count in ipairs(counts) do total, time = total + count, time + seconds[i] end
  if time <= 0 then return nil end
  local number = math.min(batches or 20, #counts // 2)
  if number < 2 then return total / time, nil end
  -- Batches of equal time: each interval belongs to the batch that its middle lies in.
  local done, spent, position = {}, {}, 0
  for i, count in ipairs(counts) do
    local batch = math.min(number, math.floor((position + seconds[i] / 2) / time * number) + 1)
    done[batch], spent[batch] = (done[batch] or 0) + count, (spent[batch] or 0) + seconds[i]
    position = position + seconds[i]
  end
  local rates = {}
  for batch = 1, number do
    if (spent[batch] or 0) > 0 then rates[#rates + 1] = done[batch] / spent[batch] end
  end
  local _, half_width = interval(rates)
  return total / time, half_width
end

return M
