-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- Tables of rows as text.
local printable = require "hdd.printable"
local text = require "hdd.view.text"

local ROWS = {
  {depth = 1, iops = 131.09, iops_ci95 = 0.79, latency_p50_us = 7552.3, latency_max_us = 17545.8, errors = 0},
  {depth = 24, iops = 219.82, latency_p50_us = 87344.6, latency_max_us = 611412.1, errors = 12},
}
local KEYS = {"depth", "iops", "iops_ci95", "latency_p50_us", "latency_max_us", "errors"}

local function lines_of(s)
  local lines = {}
  for line in s:gmatch("(.-)\n") do lines[#lines + 1] = line end
  return lines
end

describe("a table", function()
  it("has headings with units and numbers to the right", function()
    assert.equal(table.concat({
      "depth   IOPS  95% +-    p50    max  errors",
      "                         ms     ms",
      "    1  131.1   0.790   7.55   17.5       0",
      "   24  219.8     n/a  87.34  611.4      12",
      "",
    }, "\n"), text.table(ROWS, KEYS))
  end)

  it("has all latencies in one unit, that of the smallest", function()
    local fast = {{latency_p50_us = 12.25, latency_max_us = 8000.0}}
    local keys = {"latency_p50_us", "latency_max_us"}
    assert.equal(" p50   max\n  us    us\n12.2  8000\n", text.table(fast, keys))
    local slow = {{latency_p50_us = 2.5e6, latency_max_us = 3e7}}
    assert.equal(" p50   max\n   s     s\n2.50  30.0\n", text.table(slow, keys))
  end)

  it("has rates in decimal and in binary units, each said", function()
    local lines = lines_of(text.table({{bandwidth_bytes_per_s = 154.8e6}},
      {"bandwidth_bytes_per_s", "bandwidth_bytes_per_s:MiB"}))
    assert.equal(" MB/s  MiB/s", lines[2])
    assert.equal("154.8  147.6", lines[3])
  end)

  it("shows n/a for what is unknown or not finite", function()
    local rows = {{iops = 0 / 0, depth = 1 / 0},
                  {iops = 1.0, depth = 1, latency_p50_us = 1.0, offset_bytes = 5}}
    local lines = lines_of(text.table(rows,
      {"iops", "depth", "latency_p50_us", "offset_bytes", "unheard_of"}))
    assert.truthy(lines[3]:find("^ *n/a +n/a +n/a +n/a +n/a$"), lines[3])
  end)

  it("leaves out columns on a narrow terminal, those named first, and never the first", function()
    for width = 0, 60 do
      for _, line in ipairs(lines_of(text.table(ROWS, KEYS, {width = width, drop = {"iops_ci95"}}))) do
        assert.is_true(printable.width(line) <= width, line)
      end
    end
    local lines = lines_of(text.table(ROWS, KEYS, {width = 36, drop = {"iops_ci95"}}))
    assert.is_nil(lines[1]:find("95%", 1, true))
    assert.truthy(lines[1]:find("errors", 1, true))
    assert.equal("dep", lines_of(text.table(ROWS, KEYS, {width = 4}))[1]:sub(1, 3))
  end)

  it("lets nothing from outside through to the terminal", function()
    local rows = {{flagged = true, reason = "\27[2J\rslow\n\u{202E}\xE9"}}
    local s = text.table(rows, {"flag"})
    assert.is_nil(s:gsub("\n", ""):find("[^\32-\126]"))
    assert.truthy(s:find("\\x1B[2J\\x0Dslow\\x0A\\u{202E}\\xE9", 1, true))
  end)

  it("is plain ASCII unless UTF-8 is wanted", function()
    assert.is_nil(text.table(ROWS, KEYS):find("[\128-\255]"))
    assert.truthy(text.table(ROWS, KEYS, {utf8 = true}):find("95% ±", 1, true))
  end)

  it("of no rows is a sentence", function()
    assert.equal("Nothing was measured.\n", text.table({}, KEYS))
    assert.is_string(text.table({}, KEYS, {width = 1}))
  end)

  it("of one row, of equal, zero and huge values is drawn all the same", function()
    for _, value in ipairs {0, 0.0, 1e-9, 1e12, math.maxinteger, -5} do
      local keys, row = {"iops", "latency_p50_us", "bandwidth_bytes_per_s", "offset_bytes", "length_bytes",
                         "elapsed_s", "x"}, {}
      for _, key in ipairs(keys) do row[key] = value end
      assert.equal(3, #lines_of(text.table({row}, keys)))
    end
  end)

  it("takes rows of a script's own", function()
    assert.equal("name  count\na         1\nbb       20\n",
      text.table({{name = "a", count = 1}, {name = "bb", count = 20}}, {"name", "count"}))
  end)
end)

describe("a paragraph", function()
  it("is broken at spaces to the width", function()
    assert.equal("one two\n  three\n  four\n", text.wrap("one two three four", 7, "  "))
    assert.equal("start: a\n  b\n", text.wrap("a b", 8, "  ", "start: "))
    assert.equal("one two three four\n", text.wrap("one two three four"))
  end)

  it("is cut where a word is wider, at any width", function()
    for width = 0, 12 do
      local wrapped = text.wrap("incomprehensibilities are Größenordnungen", width, "    ")
      for _, line in ipairs(lines_of(wrapped)) do
        assert.is_true(printable.width(line) <= math.max(width, 1), line)
      end
    end
  end)
end)
