--- Time × latency: a figure of every I/O, of a job's records. Where a histogram says that some reads
-- were slow, this says when: at once, every few seconds, or from some moment on.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.latency_map
local units = require "hdd.units"

local M = {}

local COLUMNS <const> = 60
local PER_DECADE <const> = 8 -- rows between a latency and ten times that
local NS_PER_S <const>, NS_PER_MS <const> = 1e9, 1e6

--- The figure of a job's reads, as a heat map: how many there were in each cell.
-- @tparam {integer,...} times_ns      when each was done, from the start of the counted part
-- @tparam {integer,...} latencies_ns  how long it took
-- @tparam[opt] string name            of the drive
-- @treturn table  a figure, see hdd.view.figure
-- @usage local times, latencies = {}, {}
-- drive:run { pattern = "random", runtime = 10, records = function(batch)
--   table.move(batch.time_ns, 1, batch.n, #times + 1, times)
--   table.move(batch.latency_ns, 1, batch.n, #latencies + 1, latencies)
-- end }
-- io.write(figure.text(latency_map.of(times, latencies), { width = 80 }))
function M.of(times_ns, latencies_ns, name)
  local last, counts, cells = 1, {}, {}
  for i = 1, #times_ns do last = math.max(last, times_ns[i]) end
  local width = (last + 1) / COLUMNS
  for i = 1, #times_ns do
    local column = math.max(0, times_ns[i]) // width
    local row = math.floor(math.log(math.max(1, latencies_ns[i]), 10) * PER_DECADE)
    counts[row] = counts[row] or {}
    counts[row][column] = (counts[row][column] or 0) + 1
  end
  for row, columns in pairs(counts) do
    local low, high = 10 ^ (row / PER_DECADE) / NS_PER_MS, 10 ^ ((row + 1) / PER_DECADE) / NS_PER_MS
    for column, count in pairs(columns) do
      cells[#cells + 1] = {
        column * width / NS_PER_S, (column + 1) * width / NS_PER_S, low, high, count,
      }
    end
  end
  table.sort(cells, function(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[3] < b[3]
  end)
  return {
    id = "latency-map", title = "Time of each read while it went on", subtitle = name,
    description = string.format("%s reads in %s.", units.fixed(#times_ns),
      units.duration_text(last / NS_PER_S)),
    x = { label = "time", unit = "s", scale = "linear", min = 0, tight = true },
    y = { label = "time of a read", unit = "ms", scale = "log" },
    z = { label = "reads", scale = "log" },
    drives = { { name = name or "the drive", document = 1 } },
    series = { {
      name = name or "the drive", role = "value", drive = 1, legend = false, kind = "heat",
      cells = cells, colour = 1, dash = 1, marker = 1,
    } },
    annotations = {}, notes = {},
  }
end

return M
