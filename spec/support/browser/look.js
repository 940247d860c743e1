// look.js PAGE...: opens pages in Chromium as a reader would, and prints as JSON what was seen of each:
// errors, requests, axe-core's findings, what the legend, the pointer, the keyboard and the tables do.
// LOOKS says at which widths and in which schemes each page is looked at ("1280 light,390 dark open";
// open: with everything unfolded), one list for each page, ";" between.  SHOTS names a folder for
// screenshots and a printout of the first page.  Modules are found by NODE_PATH.
// SPDX-License-Identifier: GPL-3.0-or-later
"use strict";
const path = require("path");
const url = require("url");
const { chromium } = require("playwright-core");
const axe = require.resolve("axe-core/axe.min.js");

const PATIENCE = 100000;  // ms: the machine may be busy with other specs
const ALL = "1280 light open,1280 dark,390 light,390 dark open";
const LOOKS = (process.env.LOOKS || "").split(";");
let folder = process.env.SHOTS;
let page_url, seen;

function listen(page) {
  page.on("console", (message) => {
    if (message.type() !== "log") seen.console.push(message.type() + ": " + message.text());
  });
  page.on("pageerror", (error) => seen.console.push("error: " + String(error)));
  page.on("dialog", (dialog) => { seen.dialogs.push(dialog.message()); dialog.dismiss(); });
  page.on("request", (request) => {
    if (request.url() !== page_url && !request.url().startsWith("data:")) seen.requests.push(request.url());
  });
}

// Wider than the window, or text cut off: nothing but tables in frames of their own may scroll sideways.
const overflow = () => document.documentElement.scrollWidth - window.innerWidth;

// One page at all widths and in all schemes: it follows without being loaded again.
async function look(browser, looks) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce",
    bypassCSP: true });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  listen(page);
  await page.goto(page_url);
  for (const wanted of looks.split(",")) {
    const [width, scheme, open] = wanted.split(" ");
    await page.setViewportSize({ width: Number(width), height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const result = { overflow: await page.evaluate(overflow) };
    if (folder) await page.screenshot({ path: path.join(folder, width + "-" + scheme + ".png"), fullPage: true });
    await page.evaluate((all) => document.querySelectorAll("details").forEach((d) => { d.open = all; }), !!open);
    result.overflow_open = await page.evaluate(overflow);
    if (!await page.evaluate(() => window.axe !== undefined)) await page.addScriptTag({ path: axe });
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    result.violations = found.violations.map((v) => ({ id: v.id, impact: v.impact, help: v.help,
      nodes: v.nodes.slice(0, 5).map((n) => n.html.slice(0, 200) + " " + n.failureSummary) }));
    result.rules = found.passes ? found.passes.length : 0;
    seen.looks[width + " " + scheme] = result;
    await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = false; }));
  }
  await context.close();
}

// How many series of each drive a chart shows.
const shown = () => window.hddluaCharts.map((chart) => {
  const counts = {};
  chart.data.datasets.forEach((d, i) => {
    if (d.hddlua.drive) {
      counts[d.hddlua.drive] = (counts[d.hddlua.drive] || 0) + (chart.isDatasetVisible(i) ? 1 : 0);
    }
  });
  return counts;
});

const tooltip = () => {
  const tip = window.hddluaCharts[0].tooltip;
  return { opacity: tip.opacity, title: tip.title, lines: (tip.body || []).map((b) => b.lines).flat() };
};

async function use(browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  listen(page);
  await page.goto(page_url);
  seen.title = await page.title();
  seen.markup = await page.evaluate(() => ({
    scripts: document.scripts.length, ran: document.querySelectorAll("script:not([type])").length,
    handlers: Array.from(document.querySelectorAll("*")).filter((e) =>
      Array.from(e.attributes).some((a) => /^on/i.test(a.name))).length,
    outside: Array.from(document.querySelectorAll("[src],[href]")).map((e) =>
      e.getAttribute("src") || e.getAttribute("href")).filter((u) => !/^(#|data:)/.test(u)),
    hacked: window.hacked === undefined ? null : String(window.hacked),
  }));
  seen.charts = await page.evaluate(() => (window.hddluaCharts || []).length);
  seen.headings = await page.evaluate(() => Array.from(document.querySelectorAll("h1,h2,h3")).map((h) =>
    h.tagName + " " + h.innerText));
  seen.tables = await page.evaluate(() => Array.from(document.querySelectorAll("details")).map((d) => ({
    title: d.querySelector("summary").innerText, open: d.open, rows: d.querySelectorAll("tbody tr").length })));
  if (seen.charts > 0) {
    seen.shown = await page.evaluate(shown);
    const legend = page.locator("figure .legend").first();
    seen.legend = await legend.locator("button").allInnerTexts();
    if (seen.legend.length > 0) {
      await legend.locator("button").first().click();
      seen.pressed = await legend.locator("button").first().getAttribute("aria-pressed");
      seen.shown_without = await page.evaluate(shown);
      await legend.locator("button").first().focus();
      await page.keyboard.press("Enter");
      seen.shown_again = await page.evaluate(shown);
    }
    const canvas = page.locator("figure canvas").first();
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForFunction(() => window.hddluaCharts[0].tooltip.opacity > 0, null, { timeout: PATIENCE })
      .catch(() => {});
    seen.hover = await page.evaluate(tooltip);
    await page.mouse.move(2, 2);
    await canvas.focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
    seen.keyboard = await page.locator("figure [role=status]").first().textContent();
  }
  const details = page.locator("figure details, .document details").first();
  if (await details.count() > 0) {
    await details.locator("summary").click();
    seen.opened = await details.evaluate((d) => ({ open: d.open, height: d.querySelector("table")
      ? d.querySelector("table").getBoundingClientRect().height : 0 }));
  }
  seen.network = await page.evaluate(async () => {
    try {
      await fetch("http://127.0.0.1:9/");
      return "allowed";
    } catch (error) {
      return "refused";
    }
  });
  // That trial leaves a message of its own.
  seen.console = seen.console.filter((text) => !text.includes("127.0.0.1:9"));
  seen.requests = seen.requests.filter((text) => !text.includes("127.0.0.1:9"));
  if (folder) await page.pdf({ path: path.join(folder, "print.pdf"), format: "A4", printBackground: true });
  await context.close();
}

async function withoutScripts(browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(page_url);
  if (folder) await page.screenshot({ path: path.join(folder, "noscript.png"), fullPage: true });
  seen.pictures = await page.locator("figure img").count();
  seen.empty_charts = await page.locator("figure .chart:visible").count();
  await context.close();
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    timeout: PATIENCE, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
  const all = [];
  try {
    for (const [i, file] of process.argv.slice(2).entries()) {
      page_url = url.pathToFileURL(path.resolve(file)).href;
      seen = { browser: browser.version(), console: [], requests: [], dialogs: [], looks: {} };
      await use(browser);
      if (i === 0) await withoutScripts(browser);
      await look(browser, LOOKS[i] || ALL);
      all.push(seen);
      folder = undefined;
    }
  } finally {
    await browser.close();
  }
  process.stdout.write(JSON.stringify(all, null, 1) + "\n");
})().catch((error) => {
  process.stderr.write(String(error && error.stack || error) + "\n");
  process.exit(1);
});
