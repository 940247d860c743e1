#!/usr/bin/env hddlua
-- smartwatch: reads drives now and then, and tells each change in a line.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local core = require "hdd.core"
local file = require "hdd.file"
local frame = require "hdd.cli.health"
local inventory = require "hdd.procedure.inventory"
local openmetrics = require "hdd.view.openmetrics"
local smartwatch = require "hdd.procedure.smartwatch"
local task = require "hdd.task"
local units = require "hdd.units"
local view = require "hdd.view.smartwatch"

local function parse()
  local parser = frame.parser("smartwatch",
    "Reads drives now and then and tells every change of temperature, attributes, Phy counters and "
    .. "settings in a line. Nothing is written to a drive, and none is woken.",
    "hddlua smartwatch /dev/sda /dev/sdb --every 10m --openmetrics /var/lib/drives.prom")
  parser:argument("drives", "drives (default: all)"):args("*")
  cli.option(parser, "--every", "TIME", "between two readings (default: 60s)", units.duration)
  cli.option(parser, "--count", "N", "readings of each drive (default: until Ctrl-C)",
    units.integer)
  parser:flag("--all", "also totals of use and normalized values, which change all the time")
  cli.option(parser, "--json", "FILE", "JSON lines instead (-: standard output), added to the file")
  cli.option(parser, "--openmetrics", "FILE",
    "keep metrics for node_exporter's textfile collector there")
  return cli.read(frame.common(parser))
end

-- Where the lines go.
local function printer(options)
  local look = frame.look(options)
  if not options.json then
    return function(state, change) io.write(view.line(state, change, {utf8 = look.utf8}), "\n") end
  end
  local stream, message = io.stdout, nil
  if options.json ~= "-" then stream, message = io.open(options.json, "a") end
  if not stream then cli.refuse("cannot write " .. message) end
  stream:setvbuf("line")
  return function(state, change)
    local ok, why = stream:write(view.json(state, change))
    if not ok then frame.say("cannot write: " .. why) end
  end
end

-- Writes the metrics a second after something was read: many drives, one writing.
local function keep_metrics(path)
  local dirty, told, stopped
  local function write(states)
    local ok, message = file.write(path, openmetrics.text(states), {force = true})
    if not ok and told ~= message then frame.say(message) end
    told = not ok and message or nil
    return ok
  end
  local writer
  return {
    read = function(states)
      dirty = states
      writer = writer or task.spawn(function()
        while not stopped do
          task.sleep(1)
          if dirty then
            write(dirty)
            dirty = nil
          end
        end
      end)
    end,
    finish = function(states)
      stopped = true
      if writer then
        writer:cancel()
        pcall(writer.wait, writer)
      end
      return write(states) and 0 or 3
    end,
  }
end

cli.main(function()
  local options = parse()
  local paths = #options.drives > 0 and options.drives or inventory.paths()
  if #paths == 0 then cli.refuse("there is no drive") end
  local print_change = printer(options)
  local metrics = options.openmetrics and keep_metrics(options.openmetrics)
  io.stdout:setvbuf("line")
  local states = smartwatch.run(paths, {
    every = options.every, count = options.count, all = options.all, wake = options.wake,
    as = options.as,
  }, {event = print_change, read = metrics and metrics.read})
  local signal = core.interrupt_pending()
  if signal then core.clear_interrupt() end
  local status = metrics and metrics.finish(states) or 0
  for _, state in ipairs(states) do
    if not state.said and not state.asleep then status = frame.worse(status, 2) end
    if state.said and state.said.verdict.status == "failing" then
      status = frame.worse(status, 1)
    end
  end
  if signal then return 128 + signal end
  return status
end)
