--- What the scripts about a drive's health have in common: options, several drives at once,
-- messages and exit status.
--
-- Exit status: 0 read (and nothing is failing); 1 a drive is failing; 2 a drive could not be read;
-- 3 internal error, or a result could not be saved. A drive that sleeps is skipped, which is no
-- error. SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.health
local argparse = require "argparse"
local cli = require "hdd.cli"
local core = require "hdd.core"
local destination = require "hdd.cli.destination"
local lfs = require "lfs"
local printable = require "hdd.printable"
local task = require "hdd.task"
local terminal = require "hdd.cli.terminal"

local M = {}

local EAGAIN <const> = 11
local PIPED_COLUMNS <const> = 100 -- where there is no terminal: of a file, a mail, a report

local name = "hddlua"

--- A parser with what these scripts share.
-- @tparam string script
-- @tparam string description
-- @tparam string example  a command
-- @treturn Parser  of argparse
-- @usage local parser = health.parser("smart", "Shows what a drive says of itself.", "hddlua smart
--   /dev/sdX")
function M.parser(script, description, example)
  name = script
  cli.called(script)
  local parser = argparse(script, description)
  parser:epilog("Example: " .. example .. "\n\n"
    .. "Exit status: 0 done; 1 a drive is failing, or its test failed; 2 a drive could not be\n"
    .. "read; 3 a result could not be saved; 130 interrupted.")
  parser:help_max_width(100):help_description_margin(28):usage_max_width(100)
  return parser
end

--- Adds how a drive is reached, and how text looks.
-- @tparam Parser parser
-- @treturn Parser  the same
-- @usage local parser = frame.common(frame.parser("smart", "...", "hddlua smart /dev/sdX"))
function M.common(parser)
  parser:flag("--wake", "wake a drive that is in standby (otherwise it is skipped)")
  cli.option(parser, "--as", "KIND", "take each path as such a drive: ata, nvme, scsi")
    :choices {"ata", "nvme", "scsi"}
  parser:option("--charset", "characters of text and figures (default: by the locale)")
    :choices {"utf8", "ascii"}
  parser:flag("--force", "overwrite files")
  parser:add_complete()
  return parser
end

--- A message on standard error.
-- @tparam string message
-- @usage frame.say("/dev/sdb: skipped")
function M.say(message)
  io.stderr:write(name, ": ", printable.line(tostring(message), not terminal.is_utf8()), "\n")
end

--- How text is to look.
-- @tparam table options  of `parse`
-- @treturn table  `width`, `utf8`
-- @usage io.write(view.text(said, frame.look(options)))
function M.look(options)
  return {
    width = terminal.columns(io.stdout) or PIPED_COLUMNS,
    utf8 = options.charset == "utf8" or not options.charset and terminal.is_utf8(),
  }
end

--- Calls a function for each of several drives at once, one result each: one that fails or hangs
-- does not keep the others.
-- @tparam {string,...} paths
-- @tparam function f  gets a path
-- @tparam[opt] integer max_parallel  (16)
-- @treturn {table,...}  `{path, result}` or `{path, message, code, traceback}` in the order of the
--   paths
-- @usage for _, r in ipairs(health.each(paths, function(path) return health.read(path) end)) do ...
--   end
function M.each(paths, f, max_parallel)
  local drives = {}
  -- As drives that are open already, so that none is opened for reading: that could wake it.
  for i, path in ipairs(paths) do drives[i] = {path = path} end
  local results = task.each(drives, function(drive) return f(drive.path) end,
    {max_parallel = max_parallel or 16})
  for _, r in ipairs(results) do r.path = r.drive.path end
  return results
end

--- Tells why a drive gave no result.
-- @tparam table entry  of `each`
-- @treturn integer  its exit status: 0 for one that sleeps, 2, or 3 for an error of ours
-- @usage status = frame.worse(status, frame.explain(entry))
function M.explain(entry)
  if entry.code == EAGAIN then
    M.say(("%s: skipped: standby (--wake wakes it)"):format(entry.path))
    return 0
  end
  M.say(entry.message)
  if entry.traceback then
    io.stderr:write(entry.traceback, "\n")
    return 3
  end
  return 2
end

--- The exit status of several: failing before unreadable before well.
-- @tparam integer a
-- @tparam integer b
-- @treturn integer
-- @usage status = frame.worse(status, 2)
function M.worse(a, b)
  local order = {[0] = 0, [2] = 1, [1] = 2, [3] = 3}
  return order[b] > order[a] and b or a
end

--- Where a result of a drive goes: the path as given; in a folder, a name of its own.
-- @tparam string path
-- @tparam string own      the name that it gets in a folder
-- @treturn string
-- @usage local path = frame.place(options.save, document.file_name(d))
function M.place(path, own)
  if path ~= "-" and lfs.attributes(path, "mode") == "directory" then
    return (path:gsub("/$", "")) .. "/" .. own
  end
  return path
end

--- Can results go there? Ends the script with status 2 when not.
-- @tparam ?string path
-- @tparam {string,...} drives  the drives that are read
-- @tparam string flag
-- @tparam table options  `force`
-- @usage frame.probe(options.json, options.drives, "--json", options)
function M.probe(path, drives, flag, options)
  if not path or path == "-" then return end
  if lfs.attributes(path, "mode") == "directory" then return end
  if #drives > 1 then
    cli.refuse(("%s %s: of several drives the results go into a folder, which has to be there")
      :format(flag, path))
  end
  local ok, message = destination.probe(path, drives, options.force)
  if not ok then cli.refuse(message) end
end

--- Writes to a file, or with "-" to standard output.
-- @tparam string path
-- @tparam string text
-- @tparam table options  `force`
-- @treturn integer  exit status: 0, or 3 when that failed, which is told
-- @usage status = frame.worse(status, frame.write(options.json, document.encode(d), options))
function M.write(path, text, options)
  local ok, message = destination.write(path, text, options.force)
  if ok then return 0 end
  M.say(message)
  return 3
end

--- After an interruption: ends with 128 + signal.
-- @usage frame.check()
function M.check()
  if core.interrupt_pending() then error(core.interrupted, 0) end
end

return M
