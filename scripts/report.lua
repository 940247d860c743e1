#!/usr/bin/env hddlua
-- report: documents as one page of HTML, for one drive or several beside one another.
-- SPDX-License-Identifier: GPL-3.0-or-later
local argparse = require "argparse"
local cli = require "hdd.cli"
local destination = require "hdd.cli.destination"
local documents = require "hdd.cli.documents"
local html = require "hdd.view.html"

local function parse()
  local parser = argparse("report", "Makes one page of HTML of what was saved with --json or --save: cards of "
    .. "the drives, charts, tables. The page asks the network for nothing.")
  parser:epilog("Example: hddlua report old-*.json new-*.json --output report.html\n\n"
    .. "Exit status: 0 done; 2 no document could be read; 3 not saved.")
  parser:help_max_width(100):help_description_margin(28):usage_max_width(100)
  parser:argument("documents", "documents and snapshots of hddlua, fio's JSON and bandwidth logs"):args("+")
  cli.option(parser, "--output", "FILE", "the page (-: standard output)"):count(1)
  cli.option(parser, "--title", "TEXT", "of the page (default: the drives' names)")
  parser:flag("--no-pictures", "without pictures of the charts for readers without scripts")
  parser:flag("--force", "overwrite the file")
  parser:add_complete()
  local ok, parsed = parser:pparse(arg)
  if not ok then cli.refuse(parsed .. "\n(report --help lists the options)") end
  return parsed
end

cli.main(function()
  cli.called("report")
  local options = parse()
  local ok, message = destination.probe(options.output, options.documents, options.force)
  if not ok then cli.refuse(message) end
  local list, notes = {}, {}
  for _, path in ipairs(options.documents) do
    local found, told = documents.load(path)
    if not found then cli.refuse(told) end
    table.move(found, 1, #found, #list + 1, list)
    table.move(told, 1, #told, #notes + 1, notes)
  end
  local bytes = html.page(list, { title = options.title, pictures = not options.no_pictures, notes = notes })
  ok, message = destination.write(options.output, bytes, options.force)
  if not ok then
    io.stderr:write("report: ", message, "\n")
    return 3
  end
  return 0
end)
