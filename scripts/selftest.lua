#!/usr/bin/env hddlua
-- selftest: has a drive test itself, and says what came of it.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local core = require "hdd.core"
local document = require "hdd.document"
local frame = require "hdd.cli.health"
local progress = require "hdd.cli.progress"
local selftest = require "hdd.procedure.selftest"
local units = require "hdd.units"
local view = require "hdd.view.selftest"

-- "0-999999" -> {first_lba = 0, last_lba = 999999}
local function span(text)
  local first, last = text:match("^(%d+)%-(%d+)$")
  first, last = math.tointeger(tonumber(first)), math.tointeger(tonumber(last))
  if first and last and first <= last then return {first_lba = first, last_lba = last} end
  return nil, ("--span: %q: two LBAs are wanted, such as 0-999999"):format(text)
end

local function parse()
  local parser = frame.parser("selftest",
    "Has a drive test itself, and waits for what comes of it; the drive stays usable. The test "
    .. "reads, and nothing is written to the drive.", "hddlua selftest /dev/sdX --type extended")
  parser:argument("drives", "drives: all are tested at once"):args("+")
  cli.option(parser, "--type", "TYPE",
    "short (default), extended, conveyance, selective; running: wait for the one that runs")
    :choices {"short", "extended", "conveyance", "selective", "running"}
  parser:option("--span", "of a selective test: first and last LBA of a range, up to five times")
    :argname("FIRST-LAST"):count("0-5"):convert(span)
  parser:flag("--wait", "wait for its end (the default)")
  parser:flag("--no-wait", "only start it")
  parser:flag("--abort", "end the test that runs")
  cli.option(parser, "--poll", "TIME",
    "between two looks at it (default: a hundredth of its estimate)", units.duration)
  cli.option(parser, "--limit", "TIME", "wait at most so long (default: three times its estimate)",
    units.duration)
  parser:flag("--keep-awake", "read a block at each look: some drives fall asleep over their test")
  cli.option(parser, "--json", "FILE", "save the document there (-: standard output)")
  local options = cli.read(frame.common(parser))
  if (options.type == "selective") ~= (#options.span > 0) then
    cli.refuse("--type selective and --span FIRST-LAST go together")
  end
  if options.json and #options.drives > 1 and options.json == "-" then
    cli.refuse("--json -: of several drives the results go into a folder")
  end
  frame.probe(options.json, options.drives, "--json", options)
  return options
end

local STATUS = {passed = 0, failed = 1, running = 0}

local function test(path, options, line)
  if options.abort then
    local what, message, code = selftest.abort(path, options)
    if not what then return nil, message, code end
    local told = what == "none" and "no self-test is running" or "the self-test was ended"
    return {text = ("%s: %s\n"):format(path, told), status = 0}
  end
  local d, message, code = selftest.run(path, {
    type = options.type, wait = not options.no_wait, poll = options.poll, limit = options.limit,
    spans = options.type == "selective" and options.span or nil, keep_awake = options.keep_awake,
    wake = options.wake, as = options.as,
  }, {progress = line and function(state) line:show(state) end})
  if not d then return nil, message, code end
  local status = STATUS[d.summary.verdict] or 2
  if options.json then
    local text = document.encode(d)
    local place = frame.place(options.json, document.file_name(d))
    status = frame.worse(status, frame.write(place, text, options))
  end
  return {text = view.text(d, frame.look(options)), document = d, status = status}
end

cli.main(function()
  local options = parse()
  local line = #options.drives == 1 and not options.no_wait and progress.new() or nil
  local status, interrupted = 0, false
  local results = frame.each(options.drives,
    function(path) return test(path, options, line) end, 64)
  if line then line:clear() end
  for _, r in ipairs(results) do
    if r.result then
      status = frame.worse(status, r.result.status)
      interrupted = interrupted or r.result.document and r.result.document.status == "interrupted"
      if options.json ~= "-" then io.write(r.result.text) end
    else
      status = frame.worse(status, frame.explain(r))
    end
  end
  if interrupted then return 128 + (core.interrupt_pending() or 2) end
  frame.check()
  return status
end)
