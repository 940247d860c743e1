-- SPDX-License-Identifier: GPL-3.0-or-later
--- Documents: what a procedure returns, as a plain table that is JSON as it stands.
-- docs/documents.md describes them key by key.
-- @module hdd.document
-- @usage local document = require "hdd.document"
-- local d = document.new("hddlua.zoneprofile/1", drive:identity(), parameters)
-- … d.zones[1] = { offset_bytes = 0, … }
-- document.finish(d, "complete")
-- assert(document.save(d, document.file_name(d)))

local core = require "hdd.core"
local file = require "hdd.file"
local json = require "hdd.json"
local printable = require "hdd.printable"
local schemas = require "hdd.schema"
local version = require "hdd.version"

local M = {}

--- Stands for null inside a list. In objects unknown values are nil.
M.null = json.null

--- Marks a table that no schema knows as a list (`[]` when empty); see hdd.json.
M.list = json.list

--- Marks a table that no schema knows as an object (`{}` when empty); see hdd.json.
M.object = json.object

local EBADMSG = 74

-- What is read of what others have written is bounded: so many bytes, and so many values, as an empty
-- list takes 2 bytes of a file and a hundred of memory. The longest profile has a tenth of that.
local MOST_BYTES <const>, MOST_VALUES <const> = 64 << 20, 2000000

-- Where each document has been saved by this process: {[document] = {[path] = file as written}}.
local saved = setmetatable({}, { __mode = "k" })

local function now()
  return os.date("!%Y-%m-%dT%H:%M:%SZ")
end

local function first_line(path, pattern)
  local stream <close> = io.open(path, "rb")
  for line in stream and stream:lines() or function() end do
    local found = line:match(pattern)
    if found then return printable.utf8(found) end
  end
end

-- Processors in a list such as "0-3,6".
local function processors(list)
  local count = 0
  for first, last in (list or ""):gmatch("(%d+)%-?(%d*)") do
    count = count + (math.tointeger(last) or math.tointeger(first)) - math.tointeger(first) + 1
  end
  return count > 0 and count or nil
end

local function host()
  return {
    name = first_line("/proc/sys/kernel/hostname", "^%s*(.-)%s*$"),
    kernel = first_line("/proc/sys/kernel/osrelease", "^%s*(.-)%s*$"),
    cpu = first_line("/proc/cpuinfo", "^model name%s*:%s*(.-)%s*$"),
    cpus = processors(first_line("/sys/devices/system/cpu/online", "^[%d,-]+")),
  }
end

local function copy(value)
  if type(value) ~= "table" then return value end
  local new = {}
  for key, member in pairs(value) do new[key] = copy(member) end
  return setmetatable(new, getmetatable(value))
end

local function trimmed(identity)
  identity = copy(identity)
  for key, value in pairs(identity) do
    if type(value) == "string" and key ~= "path" and key ~= "real_path" then
      value = printable.trim(value)
      identity[key] = value ~= "" and value or nil
    end
  end
  return identity
end

--- Begins a document: tool, host, drive, parameters and time are filled in, lists are empty, the
-- status is "running".
-- @tparam string schema_name   "hddlua.zoneprofile/1"
-- @tparam table identity       of the drive, see docs/documents.md; copied, padding removed
-- @tparam table parameters     all of them, defaults filled in; copied
-- @treturn table               the document
-- @usage local d = document.new("hddlua.qdsweep/1", drive:identity(), parameters)
function M.new(schema_name, identity, parameters)
  local schema, problem = schemas.find(schema_name)
  if not schema then error(problem, 2) end
  local document = {}
  for _, field in ipairs(schema.fields) do
    local kind, nullable = schemas.type_of(field)
    if not nullable and (kind == "list" or kind == "object") then document[field[1]] = {} end
  end
  document.schema = schema_name
  document.tool = { name = "hddlua", version = version }
  document.host = host()
  document.drive = trimmed(identity)
  document.parameters = copy(parameters)
  document.started_at = now()
  document.status = "running"
  document.errors = 0
  return document
end

local ENDS = { complete = true, interrupted = true, failed = true }

--- Ends a document: status and time.
-- @tparam table document
-- @tparam string status  "complete", "interrupted" or "failed"
-- @treturn table  the document
function M.finish(document, status)
  if not ENDS[status] then
    error(string.format("a document ends complete, interrupted or failed, not %q", tostring(status)), 2)
  end
  document.status, document.finished_at = status, now()
  return document
end

-- The JSON text of a document that is as its schema wants it; nil, message when it is not. What the
-- schema does not know must at least be possible in JSON.
local function checked_text(document)
  if type(document) ~= "table" then return nil, "a document is a table, not a " .. type(document) end
  local schema, problem = schemas.find(document.schema)
  if not schema then return nil, "schema: " .. problem end
  -- After Ctrl-C a script that runs on is ended; one that saves a long document has time for it.
  core.interrupt_grace()
  local right, message = schemas.check(document, schema)
  if not right then return nil, message end
  core.interrupt_grace()
  local encoded, text = pcall(json.encode, document, schema.fields)
  if not encoded then return nil, text end
  return text
end

--- Does a document have what its schema asks for?
-- @tparam table document
-- @treturn boolean  true
-- @return or nil, message that names the key:
--   "zones[3].offset_bytes: must be an integer, is the string \"12\""
function M.validate(document)
  local text, message = checked_text(document)
  if not text then return nil, message end
  return true
end

--- A document as JSON text: keys in the schema's order, a line for each row.
-- @tparam table document  raises, naming the key, on what JSON has no form for (a function)
-- @treturn string
function M.encode(document)
  local schema = schemas.find(document.schema)
  return json.encode(document, schema and schema.fields)
end

-- What is wrong when the name is not that of a result of ours.
local function unknown_schema(name)
  if name == nil then return "no result of hddlua: it has no \"schema\"" end
  return string.format("no result that this version knows: its schema is %s", json.encode(name):sub(1, -2))
end

--- Reads a document from JSON text as far as it goes: what is wrong or missing is named and left
-- out, what is right stays, keys of other versions are kept.
-- @tparam string text
-- @treturn table          the document
-- @treturn {string,...}   complaints, empty when all is well
-- @return or nil, message when it is no document at all
function M.decode(text)
  if not text:find("%S") then return nil, "it is empty" end
  if #text > MOST_BYTES then
    return nil, string.format("it has %d bytes: no result is longer than %d", #text, MOST_BYTES)
  end
  local values = #text > MOST_VALUES and select(2, text:gsub("[,%[{]", "")) or 0
  if values > MOST_VALUES then
    return nil, string.format("it has %d values: no result has more than %d", values, MOST_VALUES)
  end
  local document, message = json.decode(text)
  if message then return nil, "it is not JSON, or cut off: " .. message end
  if type(document) ~= "table" or document == json.null or document[1] ~= nil then
    return nil, "no result of hddlua: no JSON object"
  end
  local schema, problem, near = schemas.find(document.schema)
  local complaints = {}
  if not schema and near then
    schema, complaints[1] = near, problem
  elseif not schema then
    return nil, unknown_schema(document.schema)
  end
  local repaired = schemas.repair(document, schema)
  return document, table.move(repaired, 1, #repaired, #complaints + 1, complaints)
end

--- Saves a document, whole or not at all. A file that is there already is replaced only with
-- `force`, or if it is the one that this same document was saved to before: so a procedure saves
-- as it goes.
-- @tparam table document
-- @tparam string path
-- @tparam[opt] table options  `force`: overwrite
-- @treturn boolean  true
-- @return or nil, message, code (17: there is a file already; 74: the document is malformed)
-- @usage assert(document.save(d, "before.json"))
function M.save(document, path, options)
  local text, message = checked_text(document)
  if not text then
    return nil, string.format("cannot write %s: malformed document: %s", path, message), EBADMSG
  end
  saved[document] = saved[document] or {}
  local written, code
  written, message, code = file.write(path, text,
    { force = options and options.force, replacing = saved[document][path] })
  if not written then return nil, message, code end
  saved[document][path] = written
  return true
end

--- Can a document be saved there? Asked before hours of measuring; leaves nothing behind.
-- @function probe
-- @tparam string path
-- @tparam[opt] table options  `force`: it may exist
-- @treturn boolean  true
-- @return or nil, message, code
M.probe = file.probe

--- Loads a document as far as it goes, see `decode`.
-- @tparam string path
-- @treturn table          the document
-- @treturn {string,...}   complaints, each naming a key; empty when all is well
-- @return or nil, message with file and reason, code (74: it is no document)
-- @usage local d, complaints = assert(document.load("before.json"))
function M.load(path)
  local text, message, code = file.read(path, MOST_BYTES)
  if not text then return nil, message, code end
  local document, complaints = M.decode(text)
  if not document then
    return nil, string.format("cannot read %s: %s", path, complaints), EBADMSG
  end
  return document, complaints
end

--- A file name of a document's own: procedure, drive and start.
-- @tparam table document
-- @tparam[opt="json"] string extension
-- @treturn string  "zoneprofile-WDC_WD6000HLHX-01JJPV0-WXL0E12345-20261130T194000Z.json"
function M.file_name(document, extension)
  local drive = document.drive or {}
  local parts = {
    (document.schema or "document"):match("([^.]*)/%d+$") or "document",
    drive.model or drive.name or "drive", drive.serial or false,
    ((document.started_at or now()):gsub("[-:]", "")),
  }
  local names = {}
  for _, part in ipairs(parts) do
    if part then names[#names + 1] = printable.file_name(part) end
  end
  return table.concat(names, "-") .. "." .. (extension or "json")
end

-- What must be the same for two runs to be comparable, beside the parameters.
local CONDITIONS = {
  { "schema" }, { "status" }, { "tool", "version" }, { "drive", "size_bytes" },
  { "drive", "logical_block_size_bytes" }, { "drive", "direct" }, { "drive", "scheduler" },
  { "drive", "transport" },
}

local function at(document, keys)
  for _, key in ipairs(keys) do
    document = type(document) == "table" and document[key] or nil
  end
  return document
end

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  return json.encode(a) == json.encode(b)
end

--- The settings in which two runs differ: to be shown beside any comparison of them.
-- @tparam table a  document
-- @tparam table b  document
-- @treturn {table,...}  each with key ("parameters.depth"), a and b (values; nil when unknown), by key
-- @usage for _, d in ipairs(document.differences(old, new)) do print(d.key, d.a, d.b) end
function M.differences(a, b)
  local keys, seen, list = {}, {}, {}
  for _, condition in ipairs(CONDITIONS) do keys[#keys + 1] = condition end
  for _, document in ipairs { a, b } do
    local names = {}
    for name in pairs(document.parameters or {}) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
      if not seen[name] then keys[#keys + 1] = { "parameters", name } end
      seen[name] = true
    end
  end
  for _, path in ipairs(keys) do
    local left, right = at(a, path), at(b, path)
    if not same(left, right) then
      list[#list + 1] = { key = table.concat(path, "."), a = left, b = right }
    end
  end
  return list
end

return M
