#!/usr/bin/env hddlua
-- report: documents as one page of HTML, for one drive or several beside one another.
-- SPDX-License-Identifier: GPL-3.0-or-later
local argparse = require "argparse"
local cli = require "hdd.cli"
local destination = require "hdd.cli.destination"
local document = require "hdd.document"
local html = require "hdd.view.html"

local function parse()
  local parser = argparse("report", "Makes one page of HTML of what was saved with --json or --save: cards of "
    .. "the drives, charts, tables. The page asks the network for nothing.")
  parser:epilog("Example: hddlua report old-*.json new-*.json --output report.html\n\n"
    .. "Exit status: 0 done; 2 no document could be read; 3 not saved.")
  parser:help_max_width(100):help_description_margin(28):usage_max_width(100)
  parser:argument("documents", "documents of hddlua"):args("+")
  cli.option(parser, "--output", "FILE", "the page (-: standard output)", nil):count(1)
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
  local documents, notes = {}, {}
  for _, path in ipairs(options.documents) do
    local d, complaints = document.load(path)
    if not d then cli.refuse(complaints) end
    documents[#documents + 1] = d
    for i = 1, math.min(#complaints, 5) do notes[#notes + 1] = path .. ": " .. complaints[i] end
    if #complaints > 5 then notes[#notes + 1] = ("%s: and %d more"):format(path, #complaints - 5) end
  end
  local bytes = html.page(documents,
    { title = options.title, pictures = not options.no_pictures, notes = notes })
  ok, message = destination.write(options.output, bytes, options.force)
  if not ok then
    io.stderr:write("report: ", message, "\n")
    return 3
  end
  return 0
end)
