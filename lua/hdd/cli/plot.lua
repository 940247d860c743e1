--- Figures that are asked for on the command line: `--plot FILE.svg` or `.png`, and the curve below a
-- table in the terminal.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.plot
local M = {}

-- Their text has a drawing of its own.
local DRAWN <const> = { ["hddlua.zoneprofile"] = true, ["hddlua.surface"] = true }
local CURVE_ROWS <const> = 18

--- The form that a file's name asks for.
-- @tparam string path
-- @treturn string  "svg" or "png"
-- @return or nil, message
-- @usage plot.form "rate.svg" --> "svg"
function M.form(path)
  local form = path:lower():match("%.(%a+)$")
  if form == "svg" or form == "png" then return form end
  return nil, string.format("--plot %s: the name says the form: FILE.svg or FILE.png", path)
end

--- Can it be drawn? Asked before hours of measuring.
-- @tparam string path
-- @treturn boolean  true
-- @return or nil, message
function M.probe(path)
  local form, message = M.form(path)
  if not form then return nil, message end
  local found
  found, message = require("hdd.view.figure").can_draw()
  if not found then return nil, "--plot " .. path .. ": " .. message end
  return true
end

--- Draws a figure of documents.
-- @tparam {table,...} documents
-- @tparam string path          says the form by its end
-- @tparam[opt] string name     of the figure; nil: the main one
-- @tparam[opt] table options   `width`, `height`, `theme`
-- @treturn string  the file's bytes
-- @return or nil, message
-- @usage local svg = assert(plot.draw({ document }, "rate.svg"))
function M.draw(documents, path, name, options)
  local form, message = M.form(path)
  if not form then return nil, message end
  local list, notes = require("hdd.view.figures").of(documents)
  local names = {}
  for _, f in ipairs(list) do
    if not name or f.id == name then return require("hdd.view.figure")[form](f, options) end
    names[#names + 1] = f.id
  end
  if name and #names > 0 then
    return nil, string.format("there is no figure %s of it: there are %s", name, table.concat(names, ", "))
  end
  return nil, notes[1] or "there is no figure of such a document"
end

--- The curve of a document as text, unless its text has a drawing already.
-- @tparam table document
-- @tparam table options  `width` (of the terminal; false: 80), `utf8`, `colour`
-- @treturn string  lines; "" where there is none
-- @usage io.write(plot.curve(document, { width = 80, utf8 = true }))
function M.curve(document, options)
  if DRAWN[tostring(document.schema):match("^[^/]*")] then return "" end
  local f = require("hdd.view.figures").of({ document })[1]
  if not f then return "" end
  return "\n" .. require("hdd.view.figure").text(f, {
    width = math.min(options.width or 80, 100), height = CURVE_ROWS, utf8 = options.utf8,
    colour = options.colour,
  })
end

return M
