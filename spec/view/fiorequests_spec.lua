-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Records of reads as fio's logs.
local fiorequests = require "hdd.view.fiorequests"

local MS <const> = 1000000

-- The lines of a log of these reads, each {time_ms, offset, length, latency_ns}.
local function log_of(kind, options, reads)
  local add, lines = fiorequests.log(kind, options), {}
  for _, read in ipairs(reads) do lines[#lines + 1] = add(read[1] * MS, read[2], read[3], read[4]) end
  lines[#lines + 1] = add()
  return table.concat(lines)
end

local READS <const> = { { 3, 0, 65536, 2000000 }, { 7, 65536, 65536, 500000 }, { 112, 131072, 65536, 1500000 } }

describe("a log without log_avg_msec", function()
  it("has a line for each read, and for its bandwidth what fio makes it", function()
    assert.equal("3, 32768, 0, 65536, 0\n7, 131072, 0, 65536, 0\n112, 43690, 0, 65536, 0\n", log_of("bw", {}, READS))
    assert.equal("3, 1, 0, 65536, 0\n7, 1, 0, 65536, 0\n112, 1, 0, 65536, 0\n", log_of("iops", { avg_ms = 0 }, READS))
    assert.equal("3, 2000000, 0, 65536, 0\n7, 500000, 0, 65536, 0\n112, 1500000, 0, 65536, 0\n",
      log_of("lat", {}, READS))
  end)

  it("has offsets when they are asked for", function()
    assert.equal("7, 500000, 0, 65536, 65536, 0\n", log_of("lat", { offset = true }, { READS[2] }))
  end)

  it("has no line of no read, and stands a latency of 0", function()
    assert.equal("", log_of("bw", {}, {}))
    assert.equal("0, 4096000000, 0, 4096, 0\n", log_of("bw", {}, { { 0, 0, 4096, 0 } }))
  end)
end)

describe("a log with log_avg_msec", function()
  it("has a line for each span: rate, IOPS, mean latency; what is not whole has no rate", function()
    -- Two reads of 64 KiB in 50 ms: 2560 KiB/s, 40 IOPS.
    assert.equal("50, 2560, 0, 0, 0\n100, 0, 0, 0, 0\n", log_of("bw", { avg_ms = 50 }, READS))
    assert.equal("50, 40, 0, 0, 0\n100, 0, 0, 0, 0\n", log_of("iops", { avg_ms = 50 }, READS))
    assert.equal("50, 1250000, 0, 0, 0\n150, 1500000, 0, 0, 0\n", log_of("lat", { avg_ms = 50 }, READS))
  end)

  it("has a column of offsets, all 0, when they are asked for", function()
    assert.equal("100, 1280, 0, 0, 0, 0\n", log_of("bw", { avg_ms = 100, offset = true }, READS))
  end)
end)
