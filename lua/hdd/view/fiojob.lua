-- SPDX-License-Identifier: GPL-3.0-or-later
--- What a fio job came to, as text.
-- @module hdd.view.fiojob

local text = require "hdd.view.text"
local units = require "hdd.units"

local M = {}

local COLUMNS <const> = {
  "name", "rw", "block_size_bytes", "depth", "numjobs", "iops", "bandwidth_bytes_per_s",
  "bandwidth_bytes_per_s:MiB", "latency_mean_us", "latency_p50_us", "latency_p99_us", "latency_max_us",
  "ios", "errors",
}
local DROP <const> = {
  "ios", "bandwidth_bytes_per_s:MiB", "numjobs", "latency_p50_us", "rw", "block_size_bytes", "depth",
}

--- Which job file, in a sentence.
function M.how(document)
  local p = document.parameters
  return string.format("%s: %d job%s", p.name or "a job file", #document.jobs, #document.jobs == 1 and "" or "s")
end

--- The jobs.
function M.show(page, document, options)
  page:add(text.table(document.jobs, COLUMNS, { width = options.width, utf8 = options.utf8, drop = DROP }))
  if #(document.notes or {}) > 0 then page:gap() end
  for _, note in ipairs(document.notes or {}) do page:say("  ", note, "Note: ") end
end

--- The result in a few lines.
function M.summarize(page, document)
  local s = document.summary
  page:fact("best", s.best_iops and string.format("%s IOPS, %s", units.fixed(s.best_iops, 1),
    units.rate(s.best_bytes_per_s)))
  page:fact("read", units.bytes(s.read_bytes))
  page:fact("errors", units.fixed(document.errors))
end

return M
