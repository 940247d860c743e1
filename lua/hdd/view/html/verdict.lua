-- SPDX-License-Identifier: GPL-3.0-or-later
--- What speaks for a drive and what against it: a line for each document that judges, with its reasons.
-- @module hdd.view.html.verdict
local drives = require "hdd.view.html.drives"
local markup = require "hdd.view.html.markup"
local values = require "hdd.view.html.values"
local words = require "hdd.view.health.words"

local M = {}

local el = markup.el

local MOST <const> = 12 -- reasons of a verdict on its card

-- Of each kind: where the verdict stands, and what its words mean; tone, sentence.
local HEALTH <const> = {
  good = { "good", "Good: the drive says so, and nothing that was read speaks against it" },
  warning = { "warn", "Look closer: something speaks against this drive" },
  failing = { "bad", "Failing: save the data, replace the drive" },
  unknown = { "quiet", "Unknown: nobody has spoken for this drive, and nothing against it" },
}
local SURFACE <const> = {
  clean = { "good", "Clean: every block was read, none is slow each time" },
  slow = { "warn", "Slow: every block could be read, but not all at once" },
  unreadable = { "bad", "Unreadable: there are sectors that cannot be read" },
  incomplete = { "quiet", "Incomplete: nothing bad found in what was read" },
}
local BURNIN <const> = {
  PASS = { "good", "Pass" }, WARN = { "warn", "Warn" }, FAIL = { "bad", "Fail" },
}
local SELFTEST <const> = {
  passed = { "good", "Passed" }, failed = { "bad", "Failed" }, aborted = { "warn", "Aborted" },
  interrupted = { "warn", "Interrupted" }, running = { "quiet", "Still running" },
  unknown = { "quiet", "Unknown" },
}

local function list(value)
  return type(value) == "table" and value or {}
end

-- Reasons as texts; a drive's "good" below others is none.
local function reasons_of(reasons, key)
  local texts = {}
  for _, r in ipairs(list(reasons)) do
    if type(r) == "table" and r.what and r[key] ~= "good" then texts[#texts + 1] = values.text("", r.what) end
  end
  return texts
end

local function surface_reasons(d)
  local s, texts = list(d.summary), {}
  if type(s.covered_percent) == "number" and s.covered_percent < 100 then
    texts[1] = values.text("covered_percent", s.covered_percent) .. " of the surface was read"
  end
  for _, kind in ipairs { "unreadable", "slow" } do
    local ranges = s[kind .. "_ranges"]
    if math.type(ranges) == "integer" and ranges > 0 then
      texts[#texts + 1] = string.format("%s: %s %s, %s", kind, words.grouped(ranges),
        ranges == 1 and "range" or "ranges", values.text("_bytes", s[kind .. "_bytes"]))
    end
  end
  return texts
end

local KINDS <const> = {
  smart = { "Health", HEALTH, function(d) return list(d.verdict).status end,
    function(d) return reasons_of(list(d.verdict).reasons, "severity") end },
  burnin = { "Burn-in", BURNIN, function(d) return list(d.verdict).status end,
    function(d) return reasons_of(list(d.verdict).reasons, "status") end },
  surface = { "Surface", SURFACE, function(d) return list(d.summary).verdict end, surface_reasons },
  selftest = { "Self-test", SELFTEST, function(d) return list(d.summary).verdict end,
    function(d) return { values.text("", list(d.summary).result) } end },
}

local ENDS <const> = {
  interrupted = "was interrupted: it holds what was measured until then",
  failed = "failed: it holds what was measured until then",
  running = "is not finished: it holds what was measured so far",
}

--- The verdicts in a drive's documents: of each kind the newest.
-- @tparam {table,...} documents  of one drive
-- @treturn {table,...}  each `title`, `tone` ("good", "warn", "bad", "quiet"), `sentence`, `reasons`
-- @usage verdict.of(documents)[1].sentence --> "Good: the drive says so, …"
function M.of(documents)
  local newest, order, found = {}, {}, {}
  for _, d in ipairs(documents) do
    local kind = drives.kind(d)
    local before = newest[kind]
    if KINDS[kind] and not before then order[#order + 1] = kind end
    if not before or tostring(d.started_at) >= tostring(before.started_at) then newest[kind] = d end
  end
  for _, kind in ipairs(order) do
    local title, meanings, status, reasons = table.unpack(KINDS[kind])
    local d = newest[kind]
    local said = status(d)
    local meaning = meanings[said] or { "quiet", said and values.text("", said) or "No verdict" }
    found[#found + 1] = { title = title, tone = meaning[1], sentence = meaning[2], reasons = reasons(d),
      kind = kind }
  end
  return found
end

--- What must be known of single documents before their numbers are believed.
-- @tparam table d  document
-- @treturn {string,...}
function M.doubts(d)
  local texts = {}
  if ENDS[d.status] then texts[1] = "This run " .. ENDS[d.status] .. "." end
  if math.type(d.errors) == "integer" and d.errors > 0 then
    texts[#texts + 1] = string.format("%s failed %s.", words.grouped(d.errors),
      d.errors == 1 and "read" or "reads")
  end
  for _, warning in ipairs(list(d.warnings)) do texts[#texts + 1] = values.text("", warning) end
  return texts
end

--- The verdicts as markup.
-- @tparam {table,...} verdicts  of `of`
-- @treturn ?Markup
function M.draw(verdicts)
  local blocks = {}
  for i, v in ipairs(verdicts) do
    local items = {}
    for r = 1, math.min(#v.reasons, MOST) do items[r] = el("li", nil, v.reasons[r]) end
    if #v.reasons > MOST then items[#items + 1] = el("li", nil, ("and %d more"):format(#v.reasons - MOST)) end
    blocks[i] = el("div", { class = "verdict " .. v.tone },
      el("p", nil, el("strong", nil, v.title), el("span", { class = "said" }, v.sentence)),
      #items > 0 and el("ul", nil, items) or nil)
  end
  return #blocks > 0 and blocks or nil
end

return M
