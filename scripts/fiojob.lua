#!/usr/bin/env hddlua
-- fiojob: runs a job file of fio's, as far as it reads.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local file = require "hdd.file"
local fiojob = require "hdd.procedure.fiojob"
local fiologs = require "hdd.cli.fiologs"
local jobfile = require "hdd.fio.jobfile"
local plans = require "hdd.fio.plan"
local units = require "hdd.units"

local LARGEST <const> = 1 << 20

cli.main(function()
  local parser = cli.parser("fiojob", "Runs a job file of fio's that reads; one that writes is refused.",
    "DRIVE=/dev/sdX BS=4k IODEPTH=8 hddlua fiojob rate.fio --output rate.json",
    { "jobfile", "fio's job file" })
  cli.option(parser, "--filename", "DRIVE", "what is read, whatever the job file says")
  cli.option(parser, "--output", "FILE", "save the result in the layout of fio's JSON (-: standard output)")
  parser:option("--output-format", "of --output (default: json)"):argname("FORMAT")
    :choices { "json", "json+" }
  cli.option(parser, "--max-errors", "N", "failed reads after which it ends (default: 1000)",
    units.integer)
  local parameters, options = cli.parse(parser)
  local text, message = file.read(parameters.jobfile, LARGEST)
  if not text then cli.refuse(message) end
  local parsed, plan, logs
  parsed, message = jobfile.parse(text, { name = parameters.jobfile })
  if not parsed then cli.refuse(message) end
  plan, message = plans.new(parsed, parameters.filename)
  if not plan then cli.refuse(message) end
  logs, message = fiologs.new(plan.jobs, plan.filename, options.force)
  if not logs then cli.refuse(message) end
  options.drive, options.buffered = plan.filename, options.buffered or not plan.direct
  options.fio_json, options.fio_bins = parameters.output, parameters.output_format == "json+"
  local saved = true
  local logging = {}
  function logging.run(drive, given, observer)
    observer.records = function(job) return logs:records(job) end
    local document, why, code = fiojob.run(drive, given, observer)
    local names, problem = logs:finish()
    if not document then return nil, why, code end
    if not names then
      io.stderr:write("fiojob: ", problem, "\n")
      saved = false
    end
    return document
  end
  local status = cli.measure(logging, {
    text = parsed.text, name = parameters.jobfile, max_errors = parameters.max_errors,
  }, options)
  return saved and status or 3
end)
