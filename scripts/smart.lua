#!/usr/bin/env hddlua
-- smart: what a drive says of itself, whether it is healthy, and why.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local document = require "hdd.document"
local frame = require "hdd.cli.health"
local health = require "hdd.health"
local json = require "hdd.json"
local recordings = require "hdd.recording"
local snapshot = require "hdd.procedure.snapshot"
local view = require "hdd.view.smart"

-- Reads one drive, and saves what was asked for: its text, document and exit status.
local function read(path, options, look, before)
  local recording = options.record and recordings.new(path:match("[^/]+$"))
  local said, message, code = health.load(path, {
    wake = options.wake, as = options.as, all = options.all or options.record ~= nil,
    record = recording, before = before,
  })
  if not said then return nil, message, code end
  if before and said.source.kind == "snapshot" then health.judge(said, before) end
  local status = said.verdict.status == "failing" and 1 or said.incomplete and 2 or 0
  local d = snapshot.document(said, {all = options.all, wake = options.wake, as = options.as})
  if options.save then
    local place = frame.place(options.save, document.file_name(d))
    local ok, why = document.save(d, place, {force = options.force})
    if not ok then frame.say(why) end
    status = ok and status or 3
  end
  if recording then
    if options.anonymise then recordings.anonymise(recording) end
    local place = frame.place(options.record, document.file_name(d, "hdrec"))
    local ok, why = recordings.save(recording, place, {force = options.force})
    if not ok then frame.say(why) end
    status = ok and status or 3
  end
  local text = view.text(said,
    {width = look.width, utf8 = look.utf8, all = options.all, before = before})
  return {text = text, document = d, status = status}
end

local function parse()
  local parser = frame.parser("smart",
    "Shows what drives say of themselves: identity, a verdict with its reasons, SMART, SCT, logs. "
    .. "Nothing is written to a drive, and none is woken.",
    "hddlua smart /dev/sdX --save sdX-today.json")
  parser:argument("drives", "drives, recordings, libatasmart blobs or snapshots"):args("+")
  parser:flag("--all", "everything: logs to their ends, statistics, raw values, reasons in full")
  cli.option(parser, "--json", "FILE", "save the document there (-: standard output)")
  cli.option(parser, "--save", "FILE",
    "save a snapshot, to be compared later (a folder: names of their own)")
  cli.option(parser, "--before", "FILE", "an earlier snapshot or recording: what has changed since")
  cli.option(parser, "--record", "FILE", "record all that is said to the drive and what it answers")
  parser:flag("--anonymise", "take serial numbers and names out of the recording")
  local options = cli.read(frame.common(parser))
  if options.anonymise and not options.record then
    cli.refuse("--anonymise: of what --record saves")
  end
  for _, flag in ipairs {"save", "record"} do
    frame.probe(options[flag], options.drives, "--" .. flag, options)
  end
  if options.json then frame.probe(options.json, {options.drives[1]}, "--json", options) end
  return options
end

cli.main(function()
  local options = parse()
  local before, message
  if options.before then
    before, message = health.load(options.before)
    if not before then cli.refuse(message) end
  end
  local look, status, documents = frame.look(options), 0, {}
  local results = frame.each(options.drives,
    function(path) return read(path, options, look, before) end)
  for i, r in ipairs(results) do
    if r.result then
      status = frame.worse(status, r.result.status)
      documents[#documents + 1] = r.result.document
      if options.json ~= "-" then
        if i > 1 then io.write("\n") end
        io.write(r.result.text)
      end
    else
      status = frame.worse(status, frame.explain(r))
    end
  end
  frame.check()
  if options.json and #documents > 0 then
    local text = #options.drives == 1 and document.encode(documents[1]) or json.encode(documents)
    status = frame.worse(status, frame.write(options.json, text, options))
  end
  return status
end)
