-- SPDX-License-Identifier: GPL-3.0-or-later
--- Result files: written whole or not at all, and never over a file that was not meant.
-- A file is written beside its place, synced, and only then given its name, so that neither a crash
-- nor a full disk nor Ctrl-C leaves half of one. Pipes and terminals are written as they are.
-- @module hdd.file

local core = require "hdd.core"
local lfs = require "lfs"

local M = {}

local EIO, EEXIST, EISDIR, EINVAL, EFBIG, ENAMETOOLONG, ELOOP = 5, 17, 21, 22, 27, 36, 40

-- "name: why" without the name, as Lua's io functions return it.
local function reason(message, name)
  return message:sub(1, #name + 2) == name .. ": " and message:sub(#name + 3) or message
end

local function refuse(path, why, code)
  return nil, string.format("cannot write %s: %s", path, why), code
end

local function folder_of(path)
  return path:match("^(.*/)[^/]*$") or "./"
end

-- Where a path leads: a new or regular file after all links, or true when it is to be written as it
-- stands (pipe, terminal, /dev/null, what /proc knows as ours). Else nil, message, code.
local function destination(path)
  if path == "" or path:find("\0", 1, true) or path:match("/$") then
    return refuse(string.format("%q", path), "it names no file", EINVAL)
  end
  local mode, message, code = lfs.attributes(path, "mode")
  if code == ENAMETOOLONG then return refuse(path, reason(message, path), code) end
  if mode == "directory" then return refuse(path, "it is a directory: name a file in it", EISDIR) end
  if mode == "block device" then
    return refuse(path, "it is a drive, and results go into files", EINVAL)
  end
  if mode and mode ~= "file" then return true end
  local place = path
  for _ = 1, 40 do
    if place:match("^/proc/") then return true end
    local link = lfs.symlinkattributes(place, "target")
    if not link then return place end
    place = link:match("^/") and link or folder_of(place) .. link
  end
  return refuse(path, "too many links", ELOOP)
end

local function random_name()
  local source <close> = assert(io.open("/dev/urandom", "rb"))
  return (source:read(8):gsub(".", function(c) return string.format("%02x", c:byte()) end))
end

-- Writes to an open file until it is on the disk.
local function put(stream, text, sync)
  local done, message, code = stream:write(text)
  if done then done, message, code = stream:flush() end
  if done and sync then done, message, code = core.fsync(stream) end
  local closed, close_message, close_code = stream:close()
  if not done then return nil, message, code end
  if not closed then return nil, close_message, close_code end
  return true
end

-- A new file beside `place` with this text, synced: its name. Else nil, reason, code.
local function write_beside(place, text)
  local name = place:match("[^/]*$")
  local beside = folder_of(place) .. "." .. name:sub(1, 200) .. "." .. random_name() .. ".tmp"
  local stream, message, code = io.open(beside, "wb")
  if not stream then return nil, reason(message, beside), code end
  local done
  done, message, code = put(stream, text, true)
  if not done then
    os.remove(beside)
    return nil, message, code
  end
  return beside
end

local function stamp_of(place)
  local found = lfs.attributes(place)
  return found and {
    device = found.dev, inode = found.ino, modified = found.modification, size = found.size,
  }
end

local function same_file(a, b)
  -- The size, too: an inode is used anew at once, and times are whole seconds here.
  return a and b and a.device == b.device and a.inode == b.inode and a.modified == b.modified and
    a.size == b.size
end

local EXISTS = "it exists already: name another file, or ask to overwrite it (--force)"

local function write_stream(path, text)
  -- Appending, as the shell's own redirection may have put something there before. A pipe is waited
  -- for as long as nobody reads it, until Ctrl-C.
  local is_pipe = lfs.attributes(path, "mode") == "named pipe"
  local stream, message, code
  if is_pipe then stream, message, code = core.open_pipe(path)
  else stream, message, code = io.open(path, "ab") end
  local done
  if stream then done, message, code = put(stream, text, false) end
  if not done then return refuse(path, reason(message or "failed", path), code or EIO) end
  return {}
end

--- Writes a file whole or not at all.
-- @tparam string path
-- @tparam string text
-- @tparam[opt] table options  `force`: replace what is there; `replacing`: what an earlier `write`
--   returned, replace that file if it is still the one written then
-- @treturn table  the file as written, for `replacing`
-- @return or nil, message, code (17, EEXIST, when there is a file already)
-- @usage local written = assert(file.write("out.csv", csv.document(document)))
function M.write(path, text, options)
  options = options or {}
  local place, message, code = destination(path)
  if not place then return nil, message, code end
  if place == true then return write_stream(path, text) end
  local present = stamp_of(place)
  local replace = options.force or present and same_file(options.replacing, present)
  if present and not replace then return refuse(path, EXISTS, EEXIST) end
  local beside
  beside, message, code = write_beside(place, text)
  if not beside then return refuse(path, message, code) end
  local stamp = stamp_of(beside)
  local renamed
  renamed, message, code = core.rename(beside, place, { exclusive = not replace })
  if not renamed then
    os.remove(beside)
    return refuse(path, code == EEXIST and EXISTS or message, code)
  end
  core.fsync(folder_of(place)) -- some file systems sync no folders: the file is there all the same
  return stamp
end

--- Can this file be written? Asked before hours of measuring; leaves nothing behind.
-- @tparam string path
-- @tparam[opt] table options  `force`: it may exist
-- @treturn boolean  true
-- @return or nil, message, code
-- @usage assert(file.probe(parameters.json, { force = parameters.force }))
function M.probe(path, options)
  local place, message, code = destination(path)
  if not place then return nil, message, code end
  if place == true then
    -- Opening a pipe waits for its reader, and would end what that reads.
    if lfs.attributes(path, "mode") == "named pipe" then return true end
    local stream
    stream, message, code = io.open(path, "ab")
    if not stream then return refuse(path, reason(message, path), code) end
    stream:close()
    return true
  end
  if lfs.attributes(place, "mode") and not (options and options.force) then
    return refuse(path, EXISTS, EEXIST)
  end
  local beside
  beside, message, code = write_beside(place, "hddlua\n")
  if not beside then return refuse(path, message, code) end
  os.remove(beside)
  return true
end

--- Reads a whole file.
-- @tparam string path
-- @tparam[opt=268435456] integer limit  bytes; a larger one is refused
-- @treturn string
-- @return or nil, message, code
function M.read(path, limit)
  limit = limit or 256 << 20
  local stream, message, code = io.open(path, "rb")
  if not stream then return nil, "cannot read " .. message, code end
  local pieces, length = {}, 0
  repeat
    local piece
    piece, message, code = stream:read(65536)
    if piece then
      pieces[#pieces + 1], length = piece, length + #piece
    elseif code then
      stream:close()
      return nil, string.format("cannot read %s: %s", path, message), code
    end
  until not piece or length > limit
  stream:close()
  if length > limit then
    return nil, string.format("cannot read %s: larger than %d bytes", path, limit), EFBIG
  end
  return table.concat(pieces)
end

return M
