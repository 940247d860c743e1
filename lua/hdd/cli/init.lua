--- What the scripts that come with hddlua have in common: options, messages, exit status.
--
-- Exit status: 0 done; 1 done, but the drive failed or reads failed; 2 could not be run (usage,
-- permission, no such device); 3 internal error, or the result could not be saved; 128 + signal
-- interrupted (130 after Ctrl-C), and what was measured is saved.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli
-- @usage cli.main(function()
--   local parser = cli.parser("qdsweep", "Random reads.", "hddlua qdsweep /dev/sdX --quick")
--   local parameters, options = cli.parse(parser)
--   return cli.measure(qdsweep, parameters, options)
-- end)
local argparse = require "argparse"
local core = require "hdd.core"
local hdd = require "hdd"
local output = require "hdd.cli.output"
local units = require "hdd.units"

local M = {}

local name = "hddlua" -- of the script, for messages
local current         -- the output whose document an error must not lose

-- Options of every procedure's script: they are not the procedure's parameters.
local OUTPUTS <const> = {
  "json", "csv", "fio_log", "fio_json", "fio_bins", "plot", "save", "force", "charset", "buffered", "size", "drive",
}

--- Ends the script because it could not be run: a message on standard error, exit status 2.
-- @tparam string message
-- @usage if not drive then cli.refuse(problem) end
function M.refuse(message)
  io.stderr:write(name, ": ", tostring(message), "\n")
  os.exit(2, true)
end

--- Names the script, for messages, where its parser is made elsewhere.
-- @tparam string script
-- @usage cli.called("smart")
function M.called(script)
  name = script
end

--- A parser of options with what every procedure's script has: the drive, where results go, help.
-- @tparam string script       name of the script
-- @tparam string description
-- @tparam string example      a command
-- @tparam[opt] {string,string} argument  what it is given in place of a drive: name, description
-- @treturn Parser  of argparse: add options, hand it to `parse`
-- @usage local parser = cli.parser("qdsweep", "Random reads.", "hddlua qdsweep /dev/sdX --quick")
-- cli.option(parser, "--depths", "LIST", "queue depths (default: 1,2,4,8,16,24)", units.integers)
function M.parser(script, description, example, argument)
  M.called(script)
  local parser = argparse(script, description .. " Nothing is written to the drive.")
  parser:epilog("Example: " .. example .. "\n\n"
    .. "Sizes: 4096; 64k, 256m, 2g or KiB, MiB, GiB (binary); kB, MB, GB (decimal).\n"
    .. "Exit status: 0 done; 1 reads failed, or the drive did; 2 could not be run; 3 not saved;\n"
    .. "130 interrupted, and what was measured is saved.")
  parser:help_max_width(100):help_description_margin(28):usage_max_width(100)
  argument = argument or { "drive", "drive, partition, loop device or file" }
  parser:argument(argument[1], argument[2])
  return parser
end

--- Reads a whole number from 0 on, in argparse's way.
-- @tparam string text
-- @treturn integer
-- @return or nil, message
function M.count(text)
  local value = text:match("^%d+$") and math.tointeger(tonumber(text))
  if value then return value end
  return nil, string.format("%q is no whole number: allowed are 0, 1, 2 ...", text)
end

--- Adds an option with an argument, whose complaints name the option.
-- @tparam Parser parser
-- @tparam string flag          "--depth"
-- @tparam string argument      what its argument is called, "N"
-- @tparam string description
-- @tparam[opt] function convert  of the argument: text -> value, or nil and a message
-- @treturn Option  of argparse
-- @usage cli.option(parser, "--depth", "N", "reads in flight (default: 2)", units.integer)
function M.option(parser, flag, argument, description, convert)
  local option = parser:option(flag, description):argname(argument)
  if not convert then return option end
  return option:convert(function(text)
    local value, message = convert(text)
    if value == nil then return nil, flag .. ": " .. message end
    return value
  end)
end

local function add_outputs(parser)
  M.option(parser, "--json", "FILE", "save the document there (-: standard output)")
  M.option(parser, "--csv", "FILE", "save the rows there")
  M.option(parser, "--plot", "FILE", "save a figure there: FILE.svg or FILE.png (gnuplot draws it)")
  parser:flag("--save", "save the document under a name of its own: procedure, drive and time")
  parser:flag("--force", "overwrite files")
  parser:option("--charset", "characters of table and bars (default: by the locale)")
    :choices { "utf8", "ascii" }
  parser:flag("--buffered", "read through the page cache, where direct reads are refused")
  M.option(parser, "--size", "BYTES", "size of a character device", units.positive_size)
  parser:add_complete()
end

--- Reads the command line; refuses one that cannot be read.
-- @tparam Parser parser
-- @tparam[opt=arg] {string,...} arguments
-- @treturn table  as argparse gives it
-- @usage local parsed = cli.read(parser)
function M.read(parser, arguments)
  local ok, parsed = parser:pparse(arguments or arg)
  if ok then return parsed end
  -- To argparse a negative number is an option, and much like -h.
  parsed = parsed:gsub("^(unknown option '%-[%d.].*')\n.*",
    "%1: a value that begins with - is written behind = (--option=-1)")
  M.refuse(parsed .. string.format("\n(%s --help lists the options)", name))
end

--- Reads the command line. A usage error ends the script with status 2.
-- @tparam Parser parser
-- @tparam[opt=arg] {string,...} arguments
-- @treturn table  parameters for the procedure
-- @treturn table  options for `measure`
function M.parse(parser, arguments)
  add_outputs(parser)
  local parsed = M.read(parser, arguments)
  local options = {}
  for _, key in ipairs(OUTPUTS) do options[key], parsed[key] = parsed[key], nil end
  parsed.completion = nil
  return parsed, options
end

--- Opens the drive that was named, runs a procedure on it and hands its document out.
-- @tparam table procedure   with `run`
-- @tparam table parameters  for it
-- @tparam table options     of `parse`
-- @treturn integer  exit status
function M.measure(procedure, parameters, options)
  local drive <close>, message = hdd.open(options.drive,
    { buffered = options.buffered, size = options.size })
  if not drive then M.refuse(message) end
  local out, document
  out, message = output.new(options, drive, name)
  if not out then M.refuse(message) end
  current = out
  document, message = procedure.run(drive, parameters, out:observer())
  out.progress:clear()
  if not document then M.refuse(message) end
  return out:finish(document)
end

-- The message handler: interrupted stays what it is, all else gets a traceback, unless it has that of
-- a task already, which tells more.
local function with_traceback(failure)
  if failure == core.interrupted then return failure end
  if type(failure) == "string" and failure:find("\nstack traceback:\n", 1, true) then
    return failure
  end
  return debug.traceback(tostring(failure), 2)
end

--- Runs the body of a script and ends the program: with the status that it returns, 128 + signal
-- when it was interrupted, 3 and a traceback when it raised anything else.
-- @tparam function body
function M.main(body)
  local ok, result = xpcall(body, with_traceback)
  if ok then os.exit(result or 0, true) end
  local signal = core.interrupt_pending()
  if current then current:rescue(result == core.interrupted and "interrupted" or "failed") end
  if result == core.interrupted then
    io.stderr:write(name, ": interrupted\n")
    os.exit(128 + (signal or 2), true)
  end
  io.stderr:write(name, ": internal error: ", result, "\n")
  os.exit(3, true)
end

return M
