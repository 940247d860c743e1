--- Random reads by queue depth, row against row. Pure.
--
-- Of a single run a row's error is that of its own batches (`iops_ci95`); of rows without one (fio's)
-- the rows' scatter about their common change is all that there is.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.compare.rows
local judge = require "hdd.compare.judge"
local statistics = require "hdd.statistics"

local M = {}

-- The batches of a row are 20 to 39 (hdd.core): the fewest give the degrees of freedom, the most the
-- factor that its half width was made with. Both err towards a wider interval.
local FEWEST_DF <const>, MOST_DF <const> = 19, 38
local HALF_WIDTH <const> = statistics.student_quantile(0.975, MOST_DF)
local FEWEST_ROWS <const> = 4

local LATENCIES <const> = { "latency_p50_us", "latency_p99_us", "latency_p999_us" }

local function key_of(row)
  return string.format("%d:%d", row.block_size_bytes, row.depth)
end

-- A side's rows by block size and depth: the runs' values of each.
local function table_of(documents)
  local rows, order = {}, {}
  for _, d in ipairs(documents) do
    for _, row in ipairs(d.rows) do
      if row.block_size_bytes and row.depth and row.iops and row.iops > 0 then
        local key = key_of(row)
        if not rows[key] then
          rows[key] = {}
          order[#order + 1] = key
        end
        table.insert(rows[key], row)
      end
    end
  end
  return rows, order
end

local function values_of(rows, name)
  local list = {}
  for _, row in ipairs(rows) do
    if row[name] and row[name] > 0 then list[#list + 1] = row[name] end
  end
  return list
end

-- The standard error of the logarithm of a side's IOPS, from its rows' own intervals.
local function error_of(rows)
  local squares = 0.0
  for _, row in ipairs(rows) do
    if not row.iops_ci95 or row.iops_ci95 <= 0 then return nil end
    squares = squares + (row.iops_ci95 / HALF_WIDTH / row.iops) ^ 2
  end
  return math.sqrt(squares) / #rows
end

local function of_batches(a, b)
  local x, y = error_of(a), error_of(b)
  if not x or not y then return nil end
  local u, v = x ^ 2, y ^ 2
  return {
    log_change = math.log(statistics.mean(values_of(b, "iops")) / statistics.mean(values_of(a, "iops"))),
    error = math.sqrt(u + v), df = (u + v) ^ 2 / (u ^ 2 / FEWEST_DF + v ^ 2 / FEWEST_DF),
    n = FEWEST_DF + 1, unit = "batches",
  }
end

--- The rows that both sides have.
-- @tparam {table,...} a  documents of one drive
-- @tparam {table,...} b
-- @treturn {table,...}  `a`, `b` (lists of rows, one of each run), in the first one's order
-- @treturn integer      rows that only one side has
function M.pair(a, b)
  local left, order = table_of(a)
  local right, others = table_of(b)
  local paired = {}
  for _, key in ipairs(order) do
    if right[key] then paired[#paired + 1] = { key = key, a = left[key], b = right[key] } end
  end
  return paired, #order + #others - 2 * #paired
end

-- Over all rows: the runs' geometric means, else the batches' errors together, else the rows' scatter.
local function overall(paired, estimates)
  local logs, squares, spread, complete = {}, 0.0, 0.0, true
  for i, p in ipairs(paired) do
    logs[i] = math.log(statistics.mean(values_of(p.b, "iops")) / statistics.mean(values_of(p.a, "iops")))
    local e = estimates[i]
    complete = complete and e ~= nil
    if e then
      squares = squares + e.error ^ 2
      spread = spread + e.error ^ 4 / e.df
    end
  end
  local n = #paired
  local estimate = { log_change = statistics.mean(logs), n = n, unit = "rows" }
  if complete then
    estimate.error, estimate.unit = math.sqrt(squares) / n, "batches"
    estimate.df = spread > 0 and squares ^ 2 / spread or FEWEST_DF
    return estimate
  elseif n < FEWEST_ROWS then
    return nil, estimate.log_change
  end
  estimate.error, estimate.df = statistics.deviation(logs) / math.sqrt(n), n - 1
  return estimate
end

local function geometric_means(paired, side)
  local runs = math.huge
  for _, p in ipairs(paired) do runs = math.min(runs, #p[side]) end
  local list = {}
  for r = 1, runs do
    local sum = 0.0
    for _, p in ipairs(paired) do sum = sum + math.log(p[side][r].iops) end
    list[r] = math.exp(sum / #paired)
  end
  return list
end

local function is_repeated(paired)
  for _, p in ipairs(paired) do
    if #p.a < 2 or #p.b < 2 then return false end
  end
  return true
end

local function row_metric(p, name)
  return {
    scope = "row", name = name, primary = false, block_size_bytes = p.a[1].block_size_bytes,
    depth = p.a[1].depth, a = statistics.mean(values_of(p.a, name)), b = statistics.mean(values_of(p.b, name)),
  }
end

--- The metrics of the rows that both have.
-- @tparam {table,...} paired  of `pair`, at least one
-- @tparam table how           `level`
-- @treturn {table,...}        metrics, without `side` and `kind`
function M.metrics(paired, how)
  local repeated, estimates = is_repeated(paired), {}
  for i, p in ipairs(paired) do
    estimates[i] = repeated and judge.of_runs(values_of(p.a, "iops"), values_of(p.b, "iops"))
      or not repeated and of_batches(p.a, p.b) or nil
  end
  local a, b = geometric_means(paired, "a"), geometric_means(paired, "b")
  local estimate
  if repeated then estimate = judge.of_runs(a, b) else estimate = overall(paired, estimates) end
  local list = { judge.add({ scope = "whole", name = "iops_geometric_mean", primary = true,
    a = statistics.mean(a), b = statistics.mean(b) }, estimate, how) }
  local together = { level = how.level, family = #paired }
  for i, p in ipairs(paired) do
    list[#list + 1] = judge.add(row_metric(p, "iops"), estimates[i], together)
    for _, name in ipairs(LATENCIES) do
      local metric = row_metric(p, name)
      local runs = repeated and judge.of_runs(values_of(p.a, name), values_of(p.b, name)) or nil
      if metric.a and metric.b then
        list[#list + 1] = judge.add(metric, runs, { level = how.level, family = #paired, less = true })
      end
    end
  end
  return list
end

return M
