--- What came of a burn-in session: documents saved, states settled, pages printed, the exit status.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.burnin.results
local batch = require "hdd.procedure.burnin.batch"
local burnin = require "hdd.procedure.burnin"
local core = require "hdd.core"
local criteria = require "hdd.procedure.burnin.criteria"
local document = require "hdd.document"
local frame = require "hdd.cli.health"
local on_finish = require "hdd.cli.on_finish"
local report = require "hdd.view.report"
local view = require "hdd.view.burnin"

local M = {}

local EBADMSG <const> = 74

-- The documents are laid beside one another and judged anew.
local function judge_batch(results)
  local documents, rules = {}, {}
  for _, r in ipairs(results) do
    if r.document then
      documents[#documents + 1] = r.document
      rules[r.document] = assert(criteria.merge(r.entry.parameters.criteria))
    end
  end
  batch.compare(documents)
  for _, d in ipairs(documents) do
    if d.batch then burnin.judge(d, rules[d]) end
  end
  local odd, index = batch.odd(documents), {}
  for i, r in ipairs(results) do
    if r.document then index[r.document] = i end
  end
  for _, entry in ipairs(odd) do entry.index = index[documents[entry.index]] end
  return odd
end

-- After an interruption a part of this same run was saved there: the whole takes its place.
local function is_earlier_part(d, path)
  local old = document.load(path)
  return old ~= nil and old.schema == d.schema and old.started_at == d.started_at
    and old.drive.serial == d.drive.serial and old.drive.size_bytes == d.drive.size_bytes
end

-- Saves a document under a name of its own or the one that was asked for. A state is removed only once
-- its document is saved.
local function save(r, options)
  local d = r.document
  local path = frame.place(options.json or ".", document.file_name(d))
  if path == "-" then return frame.write("-", document.encode(d), options) end
  local force = options.force or r.entry.saved ~= nil and is_earlier_part(d, path)
  local ok, message, code = document.save(d, path, { force = force })
  if code == EBADMSG then -- a fault of ours, but no reason to lose what was measured
    frame.write(path, document.encode(d), { force = true })
  end
  if not ok then frame.say(message) else r.path = path end
  return ok and 0 or 3
end

-- The state goes when the document is there; after an interruption it is what to go on from.
local function settle(r, saved)
  local kept, d = r.entry.state, r.document
  if not kept then return end
  if d and d.status ~= "interrupted" and saved then
    kept:finish()
  else
    if d and d.status == "interrupted" and r.entry.make then kept:save(r.entry.make(), true) end
    kept:close()
  end
end

local function status_of(r)
  if not r.document then return r.traceback and 3 or r.code == 4 and 0 or 2 end
  return r.document.verdict.status == "FAIL" and 1 or 0
end

--- Saves and prints the results.
-- @tparam {table,...} results  of `run`
-- @tparam table options  `json`, `force`, `charset`
-- @tparam table look     `width`, `utf8`
-- @treturn integer  exit status
function M.finish(results, options, look)
  local signal = core.interrupt_pending()
  core.clear_interrupt()
  local odd = judge_batch(results)
  local status, unsaved, interrupted = 0, false, false
  for _, r in ipairs(results) do
    local saved = r.document and save(r, options) or 0
    unsaved = unsaved or saved ~= 0
    settle(r, saved == 0)
    status = frame.worse(status, status_of(r))
    interrupted = interrupted or r.document ~= nil and r.document.status == "interrupted"
    if r.traceback then frame.say(r.message .. "\n" .. r.traceback) end
  end
  if options.json ~= "-" then
    for _, r in ipairs(results) do
      if r.document then io.write(assert(report.text(r.document, look)), "\n") end
    end
    if #results > 1 then io.write(view.batch(results, odd, look)) end
  end
  for _, r in ipairs(results) do
    if r.path then frame.say("saved as " .. r.path) end
    if not r.document and not r.entry.problem then frame.say(r.name .. ": " .. r.message) end
    if r.document and r.document.status == "interrupted" then
      frame.say(string.format("%s: interrupted: `hddlua burnin --resume %s` goes on", r.name, r.entry.path))
    end
  end
  if unsaved then return 3 end
  if interrupted or signal then return 128 + (signal or 2) end
  return status
end

--- Runs the command that was asked for when all has ended. What becomes of it changes no result.
-- @tparam {table,...} results  of `run`, saved
-- @tparam string command
function M.on_finish(results, command)
  local worst, paths = "PASS", {}
  for _, r in ipairs(results) do
    local status = r.document and r.document.verdict.status or "FAIL"
    if status == "FAIL" or worst == "PASS" then worst = status end
    paths[#paths + 1] = r.path
  end
  local ok, message = on_finish.run(command, {
    HDDLUA_VERDICT = worst, HDDLUA_DOCUMENT = paths[1] or "", HDDLUA_DOCUMENTS = table.concat(paths, "\n"),
  })
  if not ok then frame.say(message) end
end

return M
