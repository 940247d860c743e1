// A report's script: makes charts of what stands beside them, their legends, and a way through the
// points by keyboard. Text from outside is put on the page as text alone.
// SPDX-License-Identifier: GPL-3.0-or-later
(function () {
  "use strict";

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const SVG = "http://www.w3.org/2000/svg";
  const charts = [];

  function theme() { return dark.matches ? "dark" : "light"; }

  function svg(name, attributes, parent) {
    const element = document.createElementNS(SVG, name);
    Object.keys(attributes).forEach((key) => element.setAttribute(key, attributes[key]));
    if (parent) parent.appendChild(element);
    return element;
  }

  // The line of a drive as it is drawn: dash and marker, so that colour is not all.
  function swatch(entry, dataset) {
    const picture = svg("svg", { width: 30, height: 14, viewBox: "0 0 30 14", "aria-hidden": "true" });
    const own = dataset.hddlua, stroke = entry.strokeStyle;
    if (own.kind !== "points") {
      svg("line", { x1: 1, y1: 7, x2: 29, y2: 7, stroke: stroke, "stroke-width": 2.4,
        "stroke-dasharray": own.dash.join(" ") || "none" }, picture);
    }
    const shape = { fill: stroke, stroke: stroke };
    if (own.marker === "triangle") {
      svg("path", Object.assign({ d: "M15 2 L20 11 L10 11 Z" }, shape), picture);
    } else if (own.marker === "rect" || own.marker === "rectRounded") {
      svg("rect", Object.assign({ x: 11, y: 3, width: 8, height: 8 }, shape), picture);
    } else if (own.marker === "rectRot") {
      svg("path", Object.assign({ d: "M15 1 L21 7 L15 13 L9 7 Z" }, shape), picture);
    } else if (own.marker === "crossRot" || own.marker === "star") {
      svg("path", { d: "M11 3 L19 11 M19 3 L11 11", stroke: stroke, "stroke-width": 2.4 }, picture);
    } else {
      svg("circle", Object.assign({ cx: 15, cy: 7, r: 4 }, shape), picture);
    }
    return picture;
  }

  function isShown(chart, entry) {
    if (!entry.drive) return chart.isDatasetVisible(entry.datasetIndex);
    return chart.data.datasets.some((d, i) => d.hddlua.drive === entry.drive && chart.isDatasetVisible(i));
  }

  // Buttons in place of the chart's own legend, which the keyboard does not reach.
  function drawLegend(chart, box) {
    const entries = chart.options.plugins.legend.labels.generateLabels(chart);
    box.textContent = "";
    entries.forEach((entry) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", String(isShown(chart, entry)));
      button.appendChild(swatch(entry, chart.data.datasets[entry.datasetIndex]));
      button.appendChild(document.createTextNode(entry.text));
      button.addEventListener("click", () => {
        const show = !isShown(chart, entry);
        if (entry.drive) {
          window.hddluaToggle(chart, entry.drive, show);
        } else {
          chart.setDatasetVisibility(entry.datasetIndex, show);
          chart.update();
        }
        button.setAttribute("aria-pressed", String(show));
        // What belongs to a drive may have gone with it.
        Array.from(box.children).forEach((other, i) => {
          other.setAttribute("aria-pressed", String(isShown(chart, entries[i])));
        });
      });
      box.appendChild(button);
    });
  }

  // Series that the arrow keys go along: those that are shown and say something of their own.
  function stops(chart) {
    return chart.data.datasets.map((d, i) => i).filter((i) => {
      const own = chart.data.datasets[i].hddlua;
      return chart.isDatasetVisible(i) && own.kind !== "band" && own.role !== "single" && own.role !== "fit";
    });
  }

  function select(chart, series, point, status) {
    const elements = [{ datasetIndex: series, index: point }];
    const at = chart.getDatasetMeta(series).data[point];
    if (!at) return;
    chart.setActiveElements(elements);
    chart.tooltip.setActiveElements(elements, { x: at.x, y: at.y });
    chart.update();
    status.textContent = (chart.tooltip.title || []).concat(
      (chart.tooltip.body || []).map((part) => part.lines.join(", "))).join(": ");
  }

  function onKey(chart, status, event) {
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0],
      Home: [0, -Infinity], End: [0, Infinity] };
    if (event.key === "Escape") {
      chart.setActiveElements([]);
      chart.tooltip.setActiveElements([], { x: 0, y: 0 });
      chart.update();
    }
    const move = moves[event.key], along = stops(chart);
    if (!move || along.length === 0) return;
    event.preventDefault();
    const now = chart.reading || { series: 0, point: -1 };
    const series = (now.series + move[0] + along.length) % along.length;
    const length = chart.data.datasets[along[series]].data.length;
    let point = Math.max(0, Math.min(length - 1, now.point + move[1]));
    const step = move[1] < 0 ? -1 : 1;
    const has = (i) => chart.data.datasets[along[series]].data[i].y !== undefined;
    while (point + step >= 0 && point + step < length && !has(point)) point += step;
    chart.reading = { series: series, point: point };
    select(chart, along[series], point, status);
  }

  function draw(figure) {
    const canvas = figure.querySelector("canvas"), status = figure.querySelector("[role=status]");
    const configuration = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const chart = window.hddluaChart(canvas, configuration, theme());
    chart.options.plugins.legend.display = false;
    chart.update();
    drawLegend(chart, figure.querySelector(".legend"));
    canvas.addEventListener("keydown", (event) => onKey(chart, status, event));
    charts.push({ chart: chart, legend: figure.querySelector(".legend") });
  }

  function repaint(name) {
    charts.forEach((entry) => {
      window.hddluaTheme(entry.chart, name);
      drawLegend(entry.chart, entry.legend);
    });
  }

  document.documentElement.classList.add("scripted");
  window.Chart.defaults.animation = false;
  window.Chart.defaults.maintainAspectRatio = false;
  document.querySelectorAll("figure").forEach(draw);
  window.hddluaCharts = charts.map((entry) => entry.chart);
  dark.addEventListener("change", () => repaint(theme()));
  // Paper is white, and nobody points at it.
  window.addEventListener("beforeprint", () => {
    charts.forEach((entry) => {
      entry.chart.setActiveElements([]);
      entry.chart.tooltip.setActiveElements([], { x: 0, y: 0 });
    });
    repaint("light");
    charts.forEach((entry) => entry.chart.resize());
  });
  window.addEventListener("afterprint", () => {
    repaint(theme());
    charts.forEach((entry) => entry.chart.resize());
  });
})();
