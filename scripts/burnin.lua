#!/usr/bin/env hddlua
-- burnin: everything that can be asked of drives before they are trusted with data, to a verdict.
-- SPDX-License-Identifier: GPL-3.0-or-later
local again = require "hdd.cli.burnin.again"
local agreement = require "hdd.cli.burnin.agreement"
local cli = require "hdd.cli"
local criteria = require "hdd.procedure.burnin.criteria"
local frame = require "hdd.cli.health"
local results = require "hdd.cli.burnin.results"
local session = require "hdd.cli.burnin"
local units = require "hdd.units"

-- What is no parameter of the procedure.
local OPTIONS <const> = {
  "drives", "json", "force", "charset", "buffered", "state", "resume", "max_parallel", "plan", "confirm",
  "on_finish", "unit", "contention",
}

local function hours(text)
  local seconds, message = units.duration(text:match("^[%d.]+$") and text .. "h" or text)
  return seconds and seconds / 3600, message
end

local function words(text)
  local list = {}
  for word in text:gmatch("[^,]+") do list[#list + 1] = word end
  return list
end

local function parse()
  local parser = frame.parser("burnin", "Burns drives in: SMART, self-tests, everything read, seek "
    .. "stress, rates before and after; with --write everything written and verified; to PASS, WARN or "
    .. "FAIL, with reasons. Without --write nothing is written.", "")
  parser:epilog("Example: hddlua burnin /dev/sdb /dev/sdc --loops 2 --json results/\n"
    .. "         hddlua burnin /dev/sdb --write --confirm WD-WXL0E12345\n\n"
    .. "Exit status: 0 passed (also with warnings); 1 a drive failed; 2 a drive could not be tested;\n"
    .. "3 a result could not be saved; 130 interrupted, and --resume goes on.")
  parser:argument("drives", "drives (with --resume: default all that were begun)"):args("*")
  parser:flag("--write", "overwrite ALL DATA with stamps, and verify them")
  cli.option(parser, "--confirm", "SERIAL", "agree to that, for each drive (else it is asked for)"):count("*")
  parser:flag("--overwrite-data", "also where a file system or partition table is recognised")
  cli.option(parser, "--pattern", "LIST", "of stamp, aa, 55, ff, 00, random (default: stamp)", words)
  cli.option(parser, "--loops", "N", "read, stress and write so often (default: 1)", units.integer)
  cli.option(parser, "--hours", "H", "or until so many hours have passed", hours)
  cli.option(parser, "--stress", "TIME", "of each kind of seek stress (default: 5 min)", units.duration)
  parser:flag("--no-surface", "do not read everything")
  parser:flag("--no-self-tests", "do not run the drive's own self-tests")
  parser:flag("--no-baseline", "do not measure rate and IOPS before and after")
  cli.option(parser, "--max-temperature", "CELSIUS", "pause from there on (default: the drive's own limit)",
    units.integer)
  cli.option(parser, "--criteria", "FILE", "Lua table of what fails and what warns")
  cli.option(parser, "--seed", "N", "of random places (default: another one each time)", units.seed)
  cli.option(parser, "--zone-count", "N", "zones of the baseline (default: 20)", units.integer)
  cli.option(parser, "--zone-size", "SIZE", "bytes of each (default: 64m)", units.positive_size)
  cli.option(parser, "--sweep-runtime", "TIME", "of each of its depths (default: 5 s)", units.duration)
  cli.option(parser, "--rpm", "RPM", "turns a minute, if the drive does not tell; 0: none", cli.count)
  parser:flag("--no-contention", "do not look whether drives that run together slow one another")
  parser:flag("--capacity", "with --write: is it as large as it says?")
  cli.option(parser, "--max-parallel", "N", "drives at a time (default: all)", units.integer)
  parser:flag("--plan", "show the plan and end")
  parser:flag("--unit", "print the systemd unit that goes on at each boot")
  parser:flag("--resume", "go on with what was interrupted")
  cli.option(parser, "--state", "PATH", "file or folder for what to go on from")
  cli.option(parser, "--on-finish", "COMMAND",
    "run it at the end, with HDDLUA_VERDICT and HDDLUA_DOCUMENT set")
  cli.option(parser, "--json", "PATH", "save the documents there: file or folder (default: here)")
  parser:flag("--force", "overwrite files, and begin anew where a burn-in has been begun")
  parser:option("--charset", "characters of tables (default: by the locale)"):choices { "utf8", "ascii" }
  parser:flag("--buffered", "read through the page cache, where direct reads are refused")
  parser:add_complete()
  return cli.read(parser)
end

-- The command line as parameters of the procedure, and the rest.
local function split(parsed)
  local options = {}
  for _, key in ipairs { "surface", "self_tests", "baseline", "contention" } do
    if parsed["no_" .. key] then parsed[key] = false end
    parsed["no_" .. key] = nil
  end
  for _, key in ipairs(OPTIONS) do options[key], parsed[key] = parsed[key], nil end
  if parsed.criteria then
    local given, message = criteria.load(parsed.criteria)
    if not given then cli.refuse(message) end
    parsed.criteria_path, parsed.criteria = parsed.criteria, given
  end
  parsed.patterns, parsed.pattern = parsed.pattern, nil
  parsed.completion = nil
  return parsed, options
end

cli.main(function()
  local parameters, options = split(parse())
  if #options.drives == 0 and not options.resume then cli.refuse("which drives?") end
  if not parameters.write and not options.resume then
    -- Who gives one of these believes that the drive will be written.
    for name, given in pairs { ["--confirm"] = #(options.confirm or {}) > 0, ["--pattern"] = parameters.patterns,
      ["--overwrite-data"] = parameters.overwrite_data, ["--capacity"] = parameters.capacity } do
      if given then cli.refuse(name .. ": belongs to --write, without which nothing is written") end
    end
  end
  frame.probe(options.json, options.drives, "--json", { force = options.force or options.resume })
  local look = frame.look(options)
  local entries = session.open(options.drives, parameters, options)
  local plan = session.plan(entries, look)
  if options.json ~= "-" then io.write(plan, "\n") end
  if options.plan then return 0 end
  local shared = session.contention(entries, options)
  if shared then frame.say(shared) end
  agreement.confirm(entries, options)
  again.tell_resume(entries, options)
  local all = session.run(entries, options)
  local status = results.finish(all, options, look)
  if options.on_finish then results.on_finish(all, options.on_finish) end
  return status
end)
