-- A heat map of every read.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local figure = require "hdd.view.figure"
local latency_map = require "hdd.view.latency_map"

describe("a map of latencies", function()
  it("counts the reads of each span of time and latency, each read once", function()
    local times, latencies = {}, {}
    for i = 1, 600 do times[i], latencies[i] = i * 100000000, i == 300 and 500000000 or 2000000 end
    local f = latency_map.of(times, latencies, "a drive")
    local reads, slow = 0, {}
    for _, cell in ipairs(f.series[1].cells) do
      reads = reads + cell[5]
      if cell[3] > 100 then slow[#slow + 1] = cell end
    end
    assert.equal(600, reads)
    assert.equal(1, #slow)
    assert.is_true(slow[1][1] <= 30 and 30 < slow[1][2])
    assert.is_true(slow[1][3] <= 500 and 500 < slow[1][4])
    assert.equal("600 reads in 1 min 00 s.", f.description)
  end)

  it("is drawn by every renderer", function()
    local f = latency_map.of({ 1000, 2000000 }, { 100000, 9000000 }, "a drive")
    assert.truthy(assert(figure.svg(f)):find("<svg", 1, true))
    assert.truthy(figure.text(f, { width = 80, height = 12 }):find("time of a read", 1, true))
    assert.truthy(require("hdd.view.figure.chart").configuration(f))
  end)

  it("of no reads is empty", function()
    assert.same({}, latency_map.of({}, {}).series[1].cells)
  end)
end)
