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
-- @usage statistics.median {1, 3, 2} --> 2
function M.median(values)
  return middle_of(sorted(values))
end

--- The sum of a field of rows.
-- @tparam {table,...} rows
-- @tparam string key  a row without it counts as 0
-- @treturn number
-- @usage statistics.sum(document.unreadable, "length_bytes")
function M.sum(rows, key)
  local total = 0
  for _, row in ipairs(rows) do total = total + (row[key] or 0) end
  return total
end

--- The arithmetic mean.
-- @tparam {number,...} values
-- @treturn ?number  a float; nil for an empty sample
-- @usage statistics.mean {1, 2, 6} --> 3.0
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

-- ln of the gamma function: Stirling's series, beyond 10 good to the last digits.
local function log_gamma(x)
  local shift = 0.0
  while x < 10 do
    shift, x = shift + math.log(x), x + 1
  end
  local inverse = 1 / (x * x)
  return (x - 0.5) * math.log(x) - x + 0.5 * math.log(2 * math.pi) - shift
    + (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x
end

-- The continued fraction of the incomplete beta function, by Lentz's way.
local function beta_fraction(a, b, x)
  local c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
  local value = d
  for m = 1, 500 do
    local even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    d, c = 1 / (1 + even * d), 1 + even / c
    value = value * c * d
    local odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    d, c = 1 / (1 + odd * d), 1 + odd / c
    value = value * c * d
    if math.abs(c * d - 1) < 1e-14 then break end
  end
  return value
end

-- The regularized incomplete beta function; `log_beta` is ln of the complete one.
local function beta(a, b, x, log_beta)
  if x <= 0 or x >= 1 then return x <= 0 and 0 or 1 end
  local front = math.exp(a * math.log(x) + b * math.log(1 - x) - log_beta)
  if x < (a + 1) / (a + b + 2) then return front * beta_fraction(a, b, x) / a end
  return 1 - front * beta_fraction(b, a, 1 - x) / b
end

--- The quantile of Student's t distribution.
-- @tparam number p   above 0.5, below 1
-- @tparam number df  degrees of freedom, more than 0; need not be whole
-- @treturn number
-- @usage statistics.student_quantile(0.975, 10) --> 2.228
function M.student_quantile(p, df)
  if not (p > 0.5 and p < 1 and df > 0) then
    error("a quantile of t is asked for between 0.5 and 1, with degrees of freedom", 2)
  end
  local log_beta = log_gamma(df / 2) + log_gamma(0.5) - log_gamma(df / 2 + 0.5)
  local function above(t) return 0.5 * beta(df / 2, 0.5, df / (df + t * t), log_beta) end
  local low, high = 0.0, 1.0
  while above(high) > 1 - p and high < 1e9 do low, high = high, 2 * high end
  for _ = 1, 40 do -- to 1e-12 of it
    local t = (low + high) / 2
    if above(t) > 1 - p then low = t else high = t end
  end
  return (low + high) / 2
end

--- The long-run variance of a series whose neighbours may resemble one another, divided by n it is
-- the variance of the series' mean: the equal-weighted cosine estimator, 0.4 n^(2/3) cosines, whose
-- number is also that of the degrees of freedom of Student's t (Lazarus, Lewis, Stock and Watson,
-- "HAR Inference: Recommendations for Practice", J. Business & Economic Statistics 36, 2018). Its
-- mean is taken out; a trend in it makes the variance larger.
-- @tparam {number,...} values  in the order of the series, all finite
-- @treturn ?number   nil for fewer than four values
-- @treturn integer   degrees of freedom
-- @usage local variance, df = statistics.long_run_variance(differences)
function M.long_run_variance(values)
  local n = #values
  if n < 4 then return nil, 0 end
  local df = math.max(2, math.floor(0.4 * n ^ (2 / 3)))
  local sum = 0.0
  for j = 1, df do
    -- cos(j pi (i - 1/2) / n) for i = 1, 2 ... by the recurrence of the cosine.
    local angle = math.pi * j / n
    local twice, previous, now, total = 2 * math.cos(angle), math.cos(angle / 2), math.cos(angle / 2), 0.0
    for i = 1, n do
      total = total + values[i] * now
      previous, now = now, twice * now - previous
    end
    sum = sum + total * total
  end
  return 2 * sum / (n * df), df
end

return M
