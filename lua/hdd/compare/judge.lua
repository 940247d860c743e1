--- From an estimated change to a verdict: intervals of a ratio, by its logarithm. Pure.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.compare.judge
local statistics = require "hdd.statistics"

local M = {}

local function logs_of(values)
  local logs = {}
  for i, value in ipairs(values) do logs[i] = math.log(value) end
  return logs
end

--- The change from some runs to others: Welch's t of the logarithms, which takes no equal spread.
-- @tparam {number,...} a  a value of each run, above 0
-- @tparam {number,...} b
-- @treturn ?table  `log_change`, `error` (its standard error), `df`, `n`, `unit`; nil where one side
--   has fewer than two runs
function M.of_runs(a, b)
  local x, y = logs_of(a), logs_of(b)
  if #x < 2 or #y < 2 then return nil end
  local u, v = statistics.deviation(x) ^ 2 / #x, statistics.deviation(y) ^ 2 / #y
  local spread = u ^ 2 / (#x - 1) + v ^ 2 / (#y - 1)
  return {
    log_change = statistics.mean(y) - statistics.mean(x), error = math.sqrt(u + v),
    df = spread > 0 and (u + v) ^ 2 / spread or math.min(#x, #y) - 1,
    n = math.min(#x, #y), unit = "runs",
  }
end

local function percent(log_change)
  return (math.exp(math.min(log_change, 700)) - 1) * 100
end

--- Adds change, interval and verdict to a metric.
-- @tparam table metric     `a`, `b` and what it is called; changed
-- @tparam ?table estimate  as `of_runs` gives it; nil: not judged
-- @tparam table how        `level` (0.95), `family` (how many are judged together, 1: Bonferroni),
--   `less` (true: less of it is better, as of a time)
-- @treturn table  the metric
function M.add(metric, estimate, how)
  if metric.a and metric.b and metric.a > 0 then
    metric.change_percent = (metric.b / metric.a - 1) * 100
  end
  metric.verdict = "not judged"
  if not estimate then return metric end
  local t = statistics.student_quantile(1 - (1 - how.level) / 2 / (how.family or 1), estimate.df)
  local change, half = estimate.log_change, t * estimate.error
  metric.change_percent = percent(change)
  metric.low_percent, metric.high_percent = percent(change - half), percent(change + half)
  metric.unit, metric.n = estimate.unit, estimate.n
  if change - half > 0 then
    metric.verdict = how.less and "slower" or "faster"
  elseif change + half < 0 then
    metric.verdict = how.less and "faster" or "slower"
  else
    metric.verdict = "no difference shown"
  end
  return metric
end

return M
