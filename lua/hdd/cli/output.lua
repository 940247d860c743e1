--- Where the results of a procedure go: a table on standard output, files as asked for. All are
-- tried before the measuring begins. A file that is made as the run goes on and can't be written
-- any more is told once; the measuring goes on.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.output
local core = require "hdd.core"
local csv = require "hdd.view.csv"
local destination = require "hdd.cli.destination"
local document = require "hdd.document"
local file = require "hdd.file"
local fiolog = require "hdd.view.fiolog"
local lfs = require "lfs"
local plot = require "hdd.cli.plot"
local progress = require "hdd.cli.progress"
local report = require "hdd.view.report"
local terminal = require "hdd.cli.terminal"

local M = {}
local Output = {}
Output.__index = Output

-- Saving as it goes: not more often, and not more of the time.
local SAVE_S <const>, SAVE_SHARE <const> = 10, 0.01

local EBADMSG <const> = 74

local STDOUT <const> = {
  ["-"] = true, ["/dev/stdout"] = true, ["/dev/fd/1"] = true, ["/proc/self/fd/1"] = true,
}

-- What two names of one file have in common, be it there already or not; nil of what is no file.
local function place_of(path)
  local found = lfs.attributes(path)
  if found then return found.mode == "file" and found.dev .. ":" .. found.ino or nil end
  local folder = lfs.attributes(path:match("^(.*/)") or ".")
  return folder and string.format("%d:%d/%s", folder.dev, folder.ino, path:match("[^/]*$"))
end

--- Prepares the outputs that were asked for.
-- @tparam table options  as parsed: `json`, `csv`, `fio_log`, `fio_json` (and `fio_bins`: with its
--   histogram), `plot`, `save`, `force`, `charset` ("utf8", "ascii", or nil: by the locale)
-- @tparam Drive drive
-- @tparam string name    of the script, for messages
-- @treturn Output
-- @return or nil, message when one of them cannot be written
function M.new(options, drive, name)
  local self = setmetatable({
    name = name, force = options.force, progress = progress.new(), files = {},
  }, Output)
  self.utf8 = options.charset == "utf8" or not options.charset and terminal.is_utf8()
  local on_stdout, taken = 0, {}
  local function add(kind, path)
    if not path then return true end
    self.files[kind] = path
    if STDOUT[path] then
      self.files[kind], on_stdout = "-", on_stdout + 1
      return true
    end
    local place = place_of(path)
    if place and taken[place] then
      return nil, string.format("cannot write %s: it is to take another result, too", path)
    elseif place then
      taken[place] = true
    end
    return destination.probe(path, { drive.path }, self.force)
  end
  local log = options.fio_log
  if options.plot then
    local drawable, why = plot.probe(options.plot)
    if not drawable then return nil, why end
  end
  for _, wanted in ipairs { { "json", options.json }, { "csv", options.csv }, { "plot", options.plot },
    { "fio_json", options.fio_json },
    { "fio_log", log and (STDOUT[log] and log or fiolog.file_name(log)) } } do
    local ok, message = add(wanted[1], wanted[2])
    if not ok then return nil, message end
  end
  if on_stdout > 1 then return nil, "standard output can take only one of the results" end
  self.fio_bins = options.fio_bins
  self.save_path = options.save and true or nil
  self.quiet = on_stdout > 0
  return self
end

--- A message for the person, on standard error.
-- @tparam string text
function Output:say(text)
  self.progress:clear()
  io.stderr:write(self.name, ": ", text, "\n")
end

-- Saves the document; what went wrong is told when it is new. One that its own schema does not
-- allow is a fault of ours, but no reason to lose what was measured.
local function save(self, d, path)
  local ok, message, code = document.save(d, path, { force = self.force })
  if code == EBADMSG then file.write(path, document.encode(d), { force = true }) end
  if not ok and message ~= self.told then self:say(message) end
  self.told = message
  return ok
end

-- A name for the document that no file has yet: two runs may begin in the same second.
local function free_name(d)
  local name = document.file_name(d)
  local base, n = name:gsub("%.json$", ""), 1
  while lfs.symlinkattributes(name) do
    n = n + 1
    name = string.format("%s-%d.json", base, n)
  end
  return name
end

-- The file that the document goes to, if any; with --save it gets a name of its own at the first
-- saving.
local function json_path(self, d)
  local path = self.files.json
  if path and path ~= "-" then return path end
  if self.save_path == true then self.save_path = free_name(d) end
  return self.save_path
end

--- What a procedure is given to tell how far it is, and to have its document saved as it goes.
-- @treturn table  `progress`, `save`
function Output:observer()
  local next_ns = core.now() + math.floor(SAVE_S * 1e9)
  return {
    progress = function(state) self.progress:show(state) end,
    save = function(d)
      self.document = d
      local begun_ns, path = core.now(), json_path(self, d)
      if not path or begun_ns < next_ns then return end
      save(self, d, path)
      local took_ns = core.now() - begun_ns
      next_ns = core.now() + math.max(math.floor(SAVE_S * 1e9), math.floor(took_ns / SAVE_SHARE))
    end,
  }
end

-- Writes text to a file or to standard output; false when that failed, which is told.
local function write(self, path, text)
  local ok, message = destination.write(path, text, self.force)
  if not ok then self:say(message) end
  return ok
end

local function write_all(self, d)
  local all = true
  local path = json_path(self, d)
  if path then all = save(self, d, path) and all end
  if self.files.json == "-" then all = write(self, "-", document.encode(d)) and all end
  if self.files.csv then all = write(self, self.files.csv, csv.document(d)) and all end
  if self.files.plot then
    local drawn, message = plot.draw({ d }, self.files.plot)
    if not drawn then self:say("no figure: " .. message) end
    all = drawn and write(self, self.files.plot, drawn) and all
  end
  if self.files.fio_log then all = write(self, self.files.fio_log, fiolog.bandwidth(d)) and all end
  if self.files.fio_json then
    local text = require("hdd.view.fiojson").document(d, { bins = self.fio_bins })
    all = write(self, self.files.fio_json, text) and all
  end
  return all
end

local function exit_status(d, saved, signal)
  if not saved then return 3 end
  if d.status == "interrupted" then return 128 + (signal or 2) end
  return (d.status == "failed" or d.errors > 0) and 1 or 0
end

--- Writes a finished document wherever it was asked for, and the table unless standard output has a
-- result.
-- @tparam table d  the document
-- @treturn integer  exit status: 0 done, 1 the drive failed or reads failed, 3 not all could be
--   saved, 128 + signal after an interruption
function Output:finish(d)
  local signal = core.interrupt_pending()
  core.clear_interrupt() -- saving takes as long as it takes; another Ctrl-C counts anew
  self.progress:clear()
  local saved = write_all(self, d)
  if not self.quiet then
    local width = terminal.columns(io.stdout) or false
    local text = assert(report.text(d, { width = width, utf8 = self.utf8 }))
    local colour = width and terminal.has_colour()
    text = text .. plot.curve(d, { width = width, utf8 = self.utf8, colour = colour })
    saved = write(self, "-", text) and saved
  end
  if type(self.save_path) == "string" and saved then self:say("saved as " .. self.save_path) end
  if self.quiet and d.status ~= "complete" then
    local was = d.status == "failed" and "failed" or "was " .. d.status
    self:say(("the measurement %s: %s"):format(was, d.warnings[1] or "what was measured is saved"))
  end
  return exit_status(d, saved, signal)
end

--- Saves what there is of a document when the program ends by an error.
-- @tparam string status  "interrupted" or "failed"
function Output:rescue(status)
  local d = self.document
  core.clear_interrupt()
  self.progress:clear()
  if not d then return end
  if d.status == "running" then document.finish(d, status) end
  if json_path(self, d) then save(self, d, json_path(self, d)) end
end

return M
