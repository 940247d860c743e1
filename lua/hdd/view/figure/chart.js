// The charts of hddlua's pages, on top of Chart.js 3: what of a chart cannot be plain data.
// A configuration is hdd.view.figure.chart's; all text in it is drawn on a canvas, never parsed.
// SPDX-License-Identifier: GPL-3.0-or-later
(function (global) {
  "use strict";

  const THEMES = HDDLUA_THEMES;
  const NEAR = 24;              // px from the pointer
  const MARKED = 30;            // from so many points on a line has markers only here and there
  const FONT = 'system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif';

  function withAlpha(colour, alpha) {
    const n = parseInt(colour.slice(1), 16);
    return "rgba(" + (n >> 16) + "," + ((n >> 8) & 255) + "," + (n & 255) + "," + alpha + ")";
  }

  // No more digits than a value has.
  function number(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e7 || size < 1e-4) return Number(value.toPrecision(4)).toExponential();
    return String(size >= 10000 ? Math.round(value) : Number(value.toPrecision(4)));
  }

  function withUnit(value, axis) {
    if (value === null || value === undefined || Number.isNaN(value)) return "n/a";
    if (axis.scale === "category") return String((axis.names || [])[Math.round(value) - 1] || "n/a");
    if (axis.scale === "time") {
      return new Date(value * 1000).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
    }
    return number(value) + (axis.unit ? " " + axis.unit : "");
  }

  // A colour of the heat scale, at a share from 0 to 1.
  function heatColour(theme, share) {
    const steps = theme.heat, at = share * (steps.length - 1);
    const low = Math.min(steps.length - 2, Math.floor(at)), part = at - low;
    const a = parseInt(steps[low].slice(1), 16), b = parseInt(steps[low + 1].slice(1), 16);
    const mix = (shift) => Math.round(((a >> shift) & 255) * (1 - part) + ((b >> shift) & 255) * part);
    return "rgb(" + mix(16) + "," + mix(8) + "," + mix(0) + ")";
  }

  function paintDataset(dataset, theme) {
    const own = dataset.hddlua, count = dataset.data.length;
    const colour = theme.series[(own.colour - 1) % theme.series.length];
    const every = count > MARKED ? Math.ceil(count / 7) : 1;
    const plain = own.role === "fit" || own.role === "limit" || own.kind === "step";
    dataset.borderColor = own.faint ? withAlpha(colour, 0.65) : colour;
    dataset.backgroundColor = own.faint && own.kind === "points" ? withAlpha(colour, 0.5) : colour;
    dataset.borderDash = own.dash;
    dataset.borderWidth = own.role === "fit" ? 1.6 : own.faint ? 1.2 : 2.4;
    dataset.pointStyle = own.marker;
    dataset.pointBorderColor = dataset.borderColor;
    dataset.pointBackgroundColor = dataset.backgroundColor;
    dataset.pointHitRadius = 12;
    dataset.pointHoverRadius = plain ? 0 : 6;
    dataset.clip = 8;
    if (own.kind === "band") {
      dataset.borderWidth = 0;
      dataset.pointRadius = dataset.pointHoverRadius = dataset.pointHitRadius = 0;
      dataset.backgroundColor = withAlpha(colour, 0.2);
    } else if (own.kind === "heat") {
      dataset.pointRadius = dataset.pointHoverRadius = 0;
      dataset.borderWidth = 0;
    } else if (own.kind === "bars") {
      dataset.borderWidth = 1;
      dataset.backgroundColor = withAlpha(colour, 0.8);
    } else if (own.kind === "points") {
      dataset.pointRadius = own.role === "flagged" ? 7 : own.faint ? 1.8 : 4;
      dataset.borderWidth = dataset.pointBorderWidth = own.role === "flagged" ? 2.8 : 1;
      if (own.role === "flagged") dataset.pointHoverRadius = 9;
    } else {
      const radius = own.faint ? 2.5 : 4.5;
      dataset.pointRadius = plain ? 0
        : (context) => (context.dataIndex % every === 0 ? radius : 0);
    }
  }

  // One entry a drive, then what is of no drive, and flagged points.
  function legendLabels(chart) {
    const entries = [], seen = new Set();
    const alone = chart.hddlua.drives.length <= 1;
    chart.data.datasets.forEach((dataset, index) => {
      const own = dataset.hddlua;
      if (!own.legend || own.kind === "heat") return;
      const switches = own.drive && own.role !== "flagged";
      if (alone && own.role === "value") return;
      if (switches && seen.has(own.drive)) return;
      if (switches) seen.add(own.drive);
      entries.push({
        text: switches ? chart.hddlua.drives[own.drive - 1] : alone && own.role === "flagged"
          ? own.what || "flagged" : dataset.label,
        datasetIndex: index, drive: switches ? own.drive : null,
        hidden: !chart.isDatasetVisible(index), fontColor: chart.hddluaTheme.ink,
        strokeStyle: dataset.borderColor, fillStyle: dataset.backgroundColor,
        lineWidth: 2, lineDash: [], pointStyle: own.kind === "bars" ? "rect" : own.marker,
      });
    });
    return entries;
  }

  // Shows or hides all series of a drive (counted from 1); says whether they are shown now.
  function toggle(chart, drive, show) {
    const indexes = [];
    chart.data.datasets.forEach((d, index) => { if (d.hddlua.drive === drive) indexes.push(index); });
    const visible = show === undefined ? !indexes.some((i) => chart.isDatasetVisible(i)) : show;
    indexes.forEach((i) => chart.setDatasetVisibility(i, visible));
    chart.update();
    return visible;
  }

  function onLegend(event, item, legend) {
    const chart = legend.chart;
    if (item.drive) {
      toggle(chart, item.drive);
    } else {
      chart.setDatasetVisibility(item.datasetIndex, !chart.isDatasetVisible(item.datasetIndex));
      chart.update();
    }
  }

  // What is near the pointer, of each series the nearest point; bands and fits say nothing of their own.
  function speaks(item) {
    const own = item.dataset.hddlua;
    return own.kind !== "band" && own.role !== "single" && own.role !== "fit";
  }

  // Of each series that is shown and speaks, the point nearest in x, where one is near; nearest first.
  function byPlace(chart, event) {
    const found = [];
    chart.getSortedVisibleDatasetMetas().forEach((meta) => {
      const points = meta.data.filter((point) => !point.skip && Number.isFinite(point.x + point.y));
      const own = chart.data.datasets[meta.index].hddlua;
      if (points.length === 0 || !speaks({ dataset: chart.data.datasets[meta.index] })) return;
      const apart = Math.abs(points[points.length - 1].x - points[0].x) / Math.max(1, points.length - 1);
      const reach = own.kind === "points" ? NEAR : Math.max(NEAR, apart);
      let best = null, distance = reach;
      points.forEach((point) => {
        const away = own.kind === "points" ? Math.hypot(point.x - event.x, point.y - event.y)
          : Math.abs(point.x - event.x);
        if (away <= distance) [best, distance] = [point, away];
      });
      if (best) {
        found.push({ element: best, datasetIndex: meta.index, index: meta.data.indexOf(best), away: distance });
      }
    });
    return found.sort((a, b) => a.away - b.away);
  }

  function nearPointer(chart, event, options, final) {
    if (!chart.hddlua || chart.hddlua.heat) {
      return global.Chart.Interaction.modes.nearest(chart, event, options, final);
    }
    return byPlace(chart, event);
  }

  function tooltip() {
    const seen = new Set();
    return {
      mode: "hddlua", intersect: false, displayColors: true, usePointStyle: true,
      filter: function (item, index, items) {
        if (index === 0) seen.clear();
        if (!speaks(item) || seen.has(item.datasetIndex)) return false;
        seen.add(item.datasetIndex);
        return items.length > 0;
      },
      callbacks: {
        title: function (items) {
          const first = items[0];
          if (!first) return "";
          const chart = first.chart.hddlua;
          if (first.dataset.hddlua.kind === "heat") return "";
          return chart.axes.x.label + " " + withUnit(first.parsed.x, chart.axes.x);
        },
        label: function (item) {
          const chart = item.chart.hddlua, own = item.dataset.hddlua;
          if (own.kind === "heat") {
            const cell = chart.heat[item.dataIndex], axes = chart.axes;
            return [
              axes.x.label + " " + withUnit(cell[0], axes.x) + " – " + withUnit(cell[1], axes.x),
              axes.y.label + " " + withUnit(cell[2], axes.y) + " – " + withUnit(cell[3], axes.y),
              axes.z.label + " " + withUnit(cell[4], axes.z),
            ];
          }
          const axis = chart.axes[item.dataset.yAxisID];
          let text = item.dataset.label + ": " + withUnit(item.parsed.y, axis);
          const low = own.low && own.low[item.dataIndex], high = own.high && own.high[item.dataIndex];
          if (low && high && low.y !== undefined && high.y !== undefined) {
            text += " (" + number(low.y) + " – " + withUnit(high.y, axis) + ")";
          }
          const words = own.labels && own.labels[item.dataIndex];
          return words ? text + ", " + words : text;
        },
      },
    };
  }

  // Heat cells and error bars behind the points, remarks and the scale of colours in front.
  const drawing = {
    id: "hddlua",
    beforeDraw: function (chart) {
      chart.ctx.save();
      chart.ctx.fillStyle = chart.hddluaTheme.ground;
      chart.ctx.fillRect(0, 0, chart.width, chart.height);
      chart.ctx.restore();
    },
    beforeDatasetsDraw: function (chart) {
      const ctx = chart.ctx, area = chart.chartArea, x = chart.scales.x, theme = chart.hddluaTheme;
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
      ctx.clip();
      if (chart.hddlua.heat) {
        const y = chart.scales.y;
        for (const cell of chart.hddlua.heat) {
          const left = x.getPixelForValue(cell[0]), top = y.getPixelForValue(cell[3]);
          ctx.fillStyle = heatColour(theme, cell[5]);
          ctx.fillRect(left, top, Math.max(1, x.getPixelForValue(cell[1]) - left + 0.5),
            Math.max(1, y.getPixelForValue(cell[2]) - top + 0.5));
        }
      }
      chart.data.datasets.forEach((dataset, index) => {
        const own = dataset.hddlua, y = chart.scales[dataset.yAxisID];
        if (!own.low || !chart.isDatasetVisible(index)) return;
        ctx.strokeStyle = dataset.borderColor;
        ctx.lineWidth = 1;
        own.low.forEach((low, i) => {
          const high = own.high[i];
          if (low.y === undefined || !high || high.y === undefined) return;
          const at = x.getPixelForValue(low.x);
          ctx.beginPath();
          ctx.moveTo(at, y.getPixelForValue(low.y));
          ctx.lineTo(at, y.getPixelForValue(high.y));
          ctx.stroke();
        });
      });
      ctx.restore();
    },
    afterDatasetsDraw: function (chart) {
      const ctx = chart.ctx, theme = chart.hddluaTheme, area = chart.chartArea;
      ctx.save();
      ctx.font = "12px " + FONT;
      for (const mark of chart.hddlua.annotations || []) {
        const x = chart.scales.x.getPixelForValue(mark.x);
        const y = chart.scales[mark.axis].getPixelForValue(mark.y);
        if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
        const right = x > area.left + (area.right - area.left) * 0.7;
        ctx.strokeStyle = ctx.fillStyle = mark.drive
          ? theme.series[(mark.drive - 1) % theme.series.length] : theme.ink;
        ctx.beginPath();
        ctx.arc(x, y, 4, 0, 2 * Math.PI);
        ctx.stroke();
        ctx.textAlign = right ? "right" : "left";
        ctx.textBaseline = "bottom";
        ctx.fillText(String(mark.text), x + (right ? -7 : 7), y - 4);
      }
      if (chart.hddlua.heat) drawHeatScale(chart, ctx, theme, area);
      ctx.restore();
    },
  };

  function drawHeatScale(chart, ctx, theme, area) {
    const axis = chart.hddlua.axes.z, left = area.right + 12, steps = 64;
    const height = area.bottom - area.top;
    for (let i = 0; i < steps; i++) {
      ctx.fillStyle = heatColour(theme, (i + 0.5) / steps);
      ctx.fillRect(left, area.bottom - (i + 1) * height / steps, 12, height / steps + 0.5);
    }
    ctx.fillStyle = theme.faint;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    for (const tick of axis.ticks) {
      const share = axis.scale === "log" ? Math.log(tick.value / axis.low) / Math.log(axis.high / axis.low)
        : (tick.value - axis.low) / (axis.high - axis.low);
      ctx.fillText(tick.label, left + 16, area.bottom - share * height);
    }
    ctx.save();
    ctx.translate(chart.width - 8, (area.top + area.bottom) / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.textAlign = "center";
    ctx.fillStyle = theme.ink;
    ctx.fillText(axis.label + (axis.unit ? " (" + axis.unit + ")" : ""), 0, 0);
    ctx.restore();
  }

  function setTicks(scale, axis) {
    scale.afterBuildTicks = function (built) {
      built.ticks = axis.ticks.map((tick) => ({ value: tick.value }));
    };
    scale.ticks = scale.ticks || {};
    scale.ticks.autoSkip = true;
    scale.ticks.autoSkipPadding = 10;
    scale.ticks.maxRotation = 0;
    scale.ticks.callback = function (value) {
      const found = axis.ticks.find((tick) => tick.value === value);
      return found ? found.label : number(value);
    };
  }

  function paint(chart, name) {
    const theme = THEMES[name] || THEMES.light;
    chart.hddluaTheme = theme;
    chart.data.datasets.forEach((dataset) => paintDataset(dataset, theme));
    Object.values(chart.options.scales).forEach((scale) => {
      scale.grid = { color: theme.grid, borderColor: theme.faint, drawTicks: false };
      scale.ticks.color = theme.faint;
      scale.ticks.padding = 6;
      scale.ticks.font = { family: FONT, size: 12 };
      scale.title.color = theme.ink;
      scale.title.font = { family: FONT, size: 13 };
    });
    const tip = chart.options.plugins.tooltip;
    tip.backgroundColor = theme.ink;
    tip.titleColor = tip.bodyColor = theme.ground;
  }

  global.hddluaChart = function (canvas, configuration, themeName) {
    const axes = configuration.hddlua.axes, scales = configuration.options.scales;
    const used = {
      type: configuration.type, data: configuration.data, options: configuration.options,
      plugins: [Object.assign({
        // Before anything is laid out: what the drawing needs.
        beforeInit: function (chart) {
          chart.hddlua = configuration.hddlua;
          paint(chart, themeName);
        },
      }, drawing)],
    };
    Object.keys(scales).forEach((key) => setTicks(scales[key], axes[key]));
    used.options.layout = { padding: { right: configuration.hddlua.heat ? 74 : 12, top: 4 } };
    used.options.plugins = {
      legend: {
        align: "start", onClick: onLegend,
        labels: { generateLabels: legendLabels, usePointStyle: true, boxHeight: 7, padding: 14,
          font: { family: FONT, size: 13 } },
      },
      tooltip: tooltip(),
    };
    global.Chart.Interaction.modes.hddlua = nearPointer;
    return new global.Chart(canvas, used);
  };

  global.hddluaTheme = function (chart, themeName) {
    paint(chart, themeName);
    chart.update();
  };

  global.hddluaToggle = toggle;
})(typeof window === "undefined" ? globalThis : window);
