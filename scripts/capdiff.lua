#!/usr/bin/env hddlua
-- capdiff: what two drives can do, or what has become of one drive since an earlier day.
-- SPDX-License-Identifier: GPL-3.0-or-later
local capdiff = require "hdd.drive.capdiff"
local cli = require "hdd.cli"
local document = require "hdd.document"
local frame = require "hdd.cli.health"
local health = require "hdd.health"
local view = require "hdd.view.capdiff"

local function parse()
  local parser = frame.parser("capdiff",
    "Compares any two of drive, snapshot (smart --save) and recording (smart --record): what "
    .. "differs in abilities, settings and counters. Nothing is written to a drive, none is woken.",
    "hddlua capdiff sdX-2025.json /dev/sdX")
  parser:argument("a", "drive, snapshot, recording or libatasmart blob")
  parser:argument("b", "the other")
  parser:flag("--all", "normalized values of attributes as well")
  cli.option(parser, "--json", "FILE", "save the differences there (-: standard output)")
  return cli.read(frame.common(parser))
end

local function side_of(said)
  local id = said.identity or {}
  return {path = said.source.path, kind = said.source.kind, read_at = said.source.read_at,
    model = id.model, serial = id.serial}
end

cli.main(function()
  local options = parse()
  if options.json then frame.probe(options.json, {options.a}, "--json", options) end
  local sides, status = {}, 0
  for i, r in ipairs(frame.each({options.a, options.b}, function(path)
    return health.load(path, {wake = options.wake, as = options.as, all = options.all})
  end)) do
    sides[i] = r.result
    if not r.result then status = frame.worse(status, math.max(2, frame.explain(r))) end
  end
  frame.check()
  if status > 0 then return status end
  local a, b = sides[1], sides[2]
  local result = capdiff.compare(a, b)
  if options.json then
    result.schema, result.a, result.b = "hddlua.capdiff/1", side_of(a), side_of(b)
    status = frame.write(options.json, document.encode(result), options)
    if options.json == "-" then return status end
  end
  local look = frame.look(options)
  look.all = options.all
  io.write(view.text(a, b, result, look))
  return status
end)
