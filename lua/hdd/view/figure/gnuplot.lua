--- Draws figures by gnuplot, as SVG or PNG.
--
-- gnuplot is found on PATH and started without its user's settings. The script that it reads is made
-- by hdd.view.figure.gnuplot.script; nothing from outside is ever part of a command.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.figure.gnuplot
local file = require "hdd.file"
local lfs = require "lfs"
local printable = require "hdd.printable"
local script = require "hdd.view.figure.gnuplot.script"

local M = {}

local FONTS <const> = "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\""
local MISSING <const> = "gnuplot is not installed: figures as SVG and PNG need the package gnuplot-nox "
  .. "(apt-get install gnuplot-nox)"

--- Is there a gnuplot?
-- @treturn boolean  true
-- @return or nil, message that names the package
-- @usage assert(gnuplot.find())
function M.find()
  for folder in (os.getenv("PATH") or ""):gmatch("[^:]+") do
    local found = lfs.attributes(folder .. "/gnuplot")
    if found and found.mode == "file" and found.permissions:find("x", 1, true) then return true end
  end
  return nil, MISSING
end

local function xml(text)
  return (text:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end

-- What a screen reader says, and fonts that other machines have, too.
local function accessible(svg, f)
  local words = table.concat({ f.description, table.unpack(f.notes) }, " ")
  svg = svg:gsub("<title>.-</title>", function()
    return "<title>" .. xml(printable.line(f.title)) .. "</title>"
  end, 1)
  svg = svg:gsub("<desc>.-</desc>", function()
    return "<desc>" .. xml(printable.line(words)) .. "</desc>"
  end, 1)
  svg = svg:gsub("<svg ", '<svg role="img" ', 1)
  -- A weight without a family is a family of that name to gnuplot's SVG.
  svg = svg:gsub('font%-family=":Bold"', FONTS .. ' font-weight="bold"')
  return (svg:gsub('font%-family="Arial"', FONTS))
end

-- Runs a script; returns what it drew, or nil and what gnuplot said.
local function run(text)
  local path, errors = os.tmpname(), os.tmpname()
  local function finish(...)
    os.remove(path)
    os.remove(errors)
    return ...
  end
  local source, message = io.open(path, "wb")
  if not source then return finish(nil, "cannot write gnuplot's script: " .. message) end
  local written
  written, message = source:write(text)
  local closed, why = source:close()
  if not (written and closed) then
    return finish(nil, "cannot write gnuplot's script: " .. (message or why))
  end
  -- Both names are of this program's own making.
  local pipe = assert(io.popen("LC_ALL=C exec gnuplot -d '" .. path .. "' 2>'" .. errors .. "'", "r"))
  local drawn = pipe:read("a")
  local done, how, code = pipe:close()
  if done and #drawn > 0 then return finish(drawn) end
  local said = file.read(errors, 4096) or ""
  return finish(nil, string.format("gnuplot could not draw the figure: %s",
    printable.line(said:match("line %d+: ([^\n]+)") or said:match("%S[^\n]*") or how .. " " .. code)))
end

--- Draws a figure.
-- @tparam table f
-- @tparam string form    "svg" or "png"
-- @tparam[opt] table options  `width` (960), `height` (540; px), `theme` ("light", "dark")
-- @treturn string  the file's bytes
-- @return or nil, message
function M.draw(f, form, options)
  local found, message = M.find()
  if not found then return nil, message end
  local drawn
  drawn, message = run(script.of(f, form, options or {}))
  if not drawn then return nil, message end
  return form == "svg" and accessible(drawn, f) or drawn
end

return M
