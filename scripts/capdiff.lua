#!/usr/bin/env hddlua
-- capdiff: what two drives can do, or what has become of one drive since an earlier day.
-- SPDX-License-Identifier: GPL-3.0-or-later
local capdiff = require "hdd.drive.capdiff"
local cli = require "hdd.cli"
local frame = require "hdd.cli.health"
local health = require "hdd.health"
local json = require "hdd.json"
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
  return frame.parse(frame.common(parser))
end

-- When it was read, s since 1970.
local function seconds(said)
  local at = said.source and said.source.read_at
  local y, mo, d, h, mi, s = (at or ""):match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)")
  if not y then return said.source and said.source.kind == "drive" and os.time() or nil end
  local local_time = os.time {
    year = y, month = mo, day = d, hour = h, min = mi, sec = s, isdst = false,
  }
  local offset = os.time(os.date("*t", local_time)) - os.time(os.date("!*t", local_time))
  return local_time + offset
end

local function side_of(said)
  local id = said.identity or {}
  return {path = said.source.path, kind = said.source.kind, read_at = said.source.read_at,
    model = id.model, serial = id.serial}
end

local function marked(result)
  for _, list in pairs(result) do
    if type(list) == "table" and next(list) == nil then json.list(list) end
  end
  return result
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
  local result = capdiff.compare(a, b, {taken_s = {a = seconds(a), b = seconds(b)}})
  if options.json then
    local d = marked(result)
    d.a, d.b = side_of(a), side_of(b)
    status = frame.write(options.json, json.encode(d), options)
    if options.json == "-" then return status end
  end
  local look = frame.look(options)
  look.all = options.all
  io.write(view.text(a, b, result, look))
  return status
end)
