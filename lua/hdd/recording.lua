--- Recordings of all that was said to a drive and what it answered: how users report what they see,
-- and what `hdd.transport` answers from in the drive's place. The file is a libatasmart blob with
-- more in it, so that `skdump --load` opens it; docs/recording-file.md describes it.
--
--     local recording = recordings.new("sdb")
--     local t <close> = assert(transport.open("/dev/sdb", {record = recording}))
--     ...
--     assert(recordings.save(recordings.anonymise(recording), "sdb.hdrec"))
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.recording
local commands = require "hdd.commands"
local file = require "hdd.file"

local M = {}

local LARGEST_BYTES <const> = 128 << 20

--- An empty recording.
-- @tparam[opt] string name  of the drive: its kind is kept ("sd" of "sdb"), which one it is is not
-- @treturn Recording  `:note(text)` adds a remark, `:describe()` says what is in it, `:exchange(i)`
--   and `:add(exchange)` are for looking closely and for recordings made by hand
-- @usage local recording = recordings.new("sdb")
function M.new(name)
  name = name or ""
  return commands.recording {
    tool = "hddlua " .. require("hdd.version"),
    device_class = name:match("^[hsv]d") or name:match("^%l+") or "",
  }
end

--- Read a recording, or a libatasmart blob (`skdump --save`).
-- @tparam string path
-- @treturn[1] Recording
-- @return[2] nil, message, code
-- @usage local recording = assert(recordings.load("sdb.hdrec"))
-- print(table.concat(recording:describe().warnings, "\n"))
function M.load(path)
  local bytes, message, code = file.read(path, LARGEST_BYTES)
  if not bytes then return nil, message, code end
  local recording, why, kind = commands.decode(bytes)
  if not recording then return nil, ("%s: %s"):format(path, why), kind end
  return recording
end

--- Write a recording, whole or not at all.
-- @tparam Recording recording
-- @tparam string path
-- @tparam[opt] table options  `force`: replace what is there
-- @treturn[1] table  the file as written, as of `hdd.file`
-- @return[2] nil, message, code
-- @usage assert(recordings.save(recording, "sdb.hdrec"))
function M.save(recording, path, options)
  return file.write(path, recording:encode(), options)
end

--- Replace serial numbers and world wide names wherever they are found, and mend the sums of the
-- pages that had them. Each is replaced by as many `X`, or, of names, the maker's part is kept and
-- the rest becomes 0. The recording is changed, and marked.
-- @tparam Recording recording
-- @treturn Recording  the same
-- @usage assert(recordings.save(recordings.anonymise(recording), "public.hdrec"))
function M.anonymise(recording)
  return require("hdd.anonymise").recording(recording)
end

return M
