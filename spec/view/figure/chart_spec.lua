-- Interactive charts: their configuration, and what the page's JavaScript makes of it in a browser.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local chart = require "hdd.view.figure.chart"
local dkjson = require "dkjson"
local document = require "hdd.document"
local figures = require "hdd.view.figures"
local json = require "hdd.json"
local place = require "spec.support.place"
local shell = require "spec.support.shell"

local HOSTILE = "<img src=x onerror=document.title='pwned'></script>"

local function load(name)
  return (assert(document.load("spec/fixtures/documents/" .. name .. ".json")))
end

local function two_drives()
  local a, b, c, d = load "zoneprofile", load "zoneprofile", load "qdsweep", load "qdsweep"
  b.drive.model, b.drive.serial = HOSTILE, "B"
  d.drive.model, d.drive.serial = HOSTILE, "B"
  a.zones[3].flagged, a.zones[3].reason = true, "slow"
  a.zones[5].bandwidth_bytes_per_s = 0 / 0
  return figures.of { a, b, c, d }
end

local HEAT <const> = {
  id = "heat", title = "heat", description = "", drives = {}, annotations = {}, notes = {},
  x = { label = "time", unit = "s", scale = "linear" }, y = { label = "latency", unit = "ms", scale = "log" },
  z = { label = "reads", scale = "log" },
  series = { { name = "reads", role = "value", kind = "heat", colour = 1,
    cells = { { 0, 1, 1, 2, 5 }, { 1, 2, 2, 4, 500 } } } },
}

local function has(program)
  return select(2, shell.run("command -v " .. program)) == 0
end

-- Runs JavaScript on a page with a chart for each figure in `charts`; returns what it returns.
local function in_browser(list, body)
  local page = { "<!doctype html><meta charset=utf-8><body><script>window.faults = [];",
    "window.onerror = (message) => faults.push(message); window.charts = {};</script><script>",
    assert(chart.library()), "</script><script>", chart.script(), "</script>" }
  for _, f in ipairs(list) do
    page[#page + 1] = string.format([[<div style="width:600px;height:300px"><canvas id="%s"></canvas></div>
      <script>charts["%s"] = hddluaChart(document.getElementById("%s"), %s, "light")</script>]], f.id, f.id,
      f.id, (json.encode(chart.configuration(f)):gsub("<", "\\u003c")))
  end
  page[#page + 1] = "<pre id=result></pre><script>const result = (() => {" .. body .. "})();"
    .. "document.getElementById('result').textContent = JSON.stringify({result, faults})</script>"
  local home <close> = place.new()
  local path = home:path("page") .. ".html"
  local stream <close> = assert(io.open(path, "wb"))
  assert(stream:write(table.concat(page)))
  stream:flush()
  local dom = shell.must(("HOME=%s chromium --headless --no-sandbox --disable-gpu --dump-dom file://%s 2>%s")
    :format(home.folder, path, home:path("errors")))
  local text = dom:match('<pre id="result">(.-)</pre>'):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")
  local answer = assert(dkjson.decode(text))
  assert.same({}, answer.faults)
  assert.is_nil(dom:find("pwned</title>", 1, true))
  return answer.result
end

describe("the configuration of a chart", function()
  it("is plain: JSON as it stands, with the figure's numbers, axes and gaps", function()
    for _, f in ipairs(two_drives()) do
      local c = assert(dkjson.decode(json.encode(chart.configuration(f))))
      assert.equal(f.id, c.hddlua.id)
      assert.equal(2, #c.hddlua.drives)
      assert.truthy(c.options.scales.y.title.text:find("(", 1, true))
      for _, dataset in ipairs(c.data.datasets) do assert.is_true(#dataset.data > 0) end
    end
    local profile = chart.configuration(two_drives()[1])
    for _, dataset in ipairs(profile.data.datasets) do
      if dataset.hddlua.role == "value" and dataset.hddlua.drive == 1 then
        assert.is_nil(dataset.data[5].y)
        assert.is_number(dataset.data[4].y)
      end
    end
  end)

  it("draws bands as two lines with what lies between them", function()
    local d = load "zoneprofile"
    d.parameters.passes = 3
    for _, zone in ipairs(d.zones) do
      zone.bandwidth_min_bytes_per_s = zone.bandwidth_bytes_per_s * 0.9
      zone.bandwidth_max_bytes_per_s = zone.bandwidth_bytes_per_s * 1.1
    end
    local datasets = chart.configuration(figures.of({ d })[1]).data.datasets
    assert.same({ "low", "high" }, { datasets[1].hddlua.part, datasets[2].hddlua.part })
    assert.same({ false, "-1" }, { datasets[1].fill, datasets[2].fill })
  end)
end)

describe("the JavaScript of a page", function()
  it("holds nothing that ends a script or asks the network", function()
    for _, text in ipairs { assert(chart.library()), chart.script() } do
      assert.is_nil(text:lower():find("</script", 1, true))
      assert.is_nil(text:find("sourceMappingURL", 1, true))
    end
    assert.is_nil(chart.script():find("HDDLUA_", 1, true))
  end)

  it("draws every figure in a browser, without a fault", function()
    if not has "chromium" then pending "there is no chromium" end
    local list = two_drives()
    list[#list + 1] = HEAT
    local result = in_browser(list, [[
      const profile = charts.zoneprofile, answer = {};
      const at = (chart) => {
        const line = chart.data.datasets.findIndex((d) => d.hddlua.role === "value");
        const point = chart.getDatasetMeta(line).data[3];
        chart.tooltip.setActiveElements([{datasetIndex: line, index: 3}], {x: point.x, y: point.y});
        chart.update();
        return chart.tooltip.title.concat(chart.tooltip.body.flatMap((b) => b.lines));
      };
      answer.drawn = Object.values(charts).every((c) => c.chartArea.right - c.chartArea.left > 200);
      answer.tip = at(profile);
      answer.legend = profile.legend.legendItems.map((item) => item.text);
      profile.options.plugins.legend.onClick(null, profile.legend.legendItems[0], profile.legend);
      answer.shown = profile.data.datasets.map((d, i) => [d.hddlua.drive, profile.isDatasetVisible(i)]);
      answer.again = hddluaToggle(profile, 1);
      Object.values(charts).forEach((c) => hddluaTheme(c, "dark"));
      answer.colour = profile.data.datasets.find((d) => d.hddlua.role === "value").borderColor;
      const heat = charts.heat;
      heat.tooltip.setActiveElements([{datasetIndex: 0, index: 1}], {x: 0, y: 0});
      heat.update();
      answer.heat = heat.tooltip.body.flatMap((b) => b.lines);
      return answer;
    ]])
    assert.is_true(result.drawn)
    assert.truthy(result.tip[1]:find("^position [%d.]+ GB$"))
    assert.truthy(result.tip[2]:find(": [%d.]+ MB/s$"))
    assert.equal(HOSTILE, result.legend[2])
    for _, series in ipairs(result.shown) do assert.equal(series[1] ~= 1, series[2]) end
    assert.is_true(result.again)
    assert.equal("#56b4e9", result.colour)
    assert.same({ "time 1 s – 2 s", "latency 2 ms – 4 ms", "reads 500" }, result.heat)
  end)
end)
