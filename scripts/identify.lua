#!/usr/bin/env hddlua
-- identify: which drives there are, or who one of them is and what it can do.
-- SPDX-License-Identifier: GPL-3.0-or-later
local cli = require "hdd.cli"
local consent = require "hdd.consent"
local frame = require "hdd.cli.health"
local inventory = require "hdd.procedure.inventory"
local json = require "hdd.json"
local printable = require "hdd.printable"
local snapshot = require "hdd.procedure.snapshot"
local view = require "hdd.view.identify"

local function parse()
  local parser = frame.parser("identify",
    "Shows who a drive is and what it can do; without a drive, all of them in a table. "
    .. "Nothing is written to a drive, and none is woken.", "hddlua identify")
  parser:argument("drives", "drives, recordings or snapshots (default: a table of all drives)")
    :args("*")
  parser:flag("--serial", "only the serial number (without one: the kernel's name, or the path)")
  parser:flag("--table", "a table of the drives that are named")
  cli.option(parser, "--json", "FILE", "save what was found there (-: standard output)")
  return cli.read(frame.common(parser))
end

local function documents_of(entries)
  local list = json.list {}
  for i, entry in ipairs(entries) do
    local id = inventory.identity(entry)
    list[i] = {
      path = entry.path, name = entry.kernel and entry.kernel.name, uses = json.list(entry.uses),
      status = entry.said and entry.said.verdict.status, why = entry.why,
      temperature_c = entry.said and entry.said.temperature.temperature_c,
    }
    for key, value in pairs(id) do list[i][key] = value end
    if entry.said then list[i].identity = snapshot.document(entry.said).health.identity end
  end
  return list
end

local function serial_of(entry)
  local id, kernel = inventory.identity(entry), entry.kernel
  if kernel and kernel.identity_of then return consent.name(kernel) end -- the kernel tells of the disk beneath
  return id.serial or kernel and kernel.name or entry.path
end

cli.main(function()
  local options = parse()
  if options.json then frame.probe(options.json, {options.drives[1]}, "--json", options) end
  local all = #options.drives == 0
  local paths = all and inventory.paths() or options.drives
  local entries, status, look = {}, 0, frame.look(options)
  for _, r in ipairs(frame.each(paths, function(path)
    return inventory.look(path, {wake = options.wake, as = options.as})
  end)) do
    if r.result then
      entries[#entries + 1] = r.result
    else
      status = frame.worse(status, frame.explain(r))
    end
  end
  frame.check()
  if options.json then
    local text = json.encode(documents_of(entries))
    status = frame.worse(status, frame.write(options.json, text, options))
    if options.json == "-" then return status end
  end
  if options.serial then
    for _, entry in ipairs(entries) do
      io.write(printable.line(serial_of(entry), not look.utf8), "\n")
    end
  elseif all or options.table then
    io.write(view.table(entries, look))
  else
    for i, entry in ipairs(entries) do io.write(i > 1 and "\n" or "", view.one(entry, look)) end
  end
  return status
end)
