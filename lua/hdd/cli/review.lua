--- A review's folder: a folder for each drive with a document for each part, the comparison, the page.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.cli.review
local compare = require "hdd.compare"
local document = require "hdd.document"
local file = require "hdd.file"
local health = require "hdd.health"
local html = require "hdd.view.html"
local lfs = require "lfs"
local printable = require "hdd.printable"
local review = require "hdd.procedure.review"
local view = require "hdd.view.compare"

local M = {}

local function folder_of(base, drive)
  local identity = drive:identity()
  local name = printable.file_name(identity.model or identity.name or "drive")
  if identity.serial then name = name .. "-" .. printable.file_name(identity.serial) end
  return base .. "/" .. name
end

local function make(path)
  if lfs.attributes(path, "mode") == "directory" then return true end
  local ok, message = lfs.mkdir(path)
  if ok then return true end
  return nil, string.format("cannot make the folder %s: %s", path, message)
end

-- Was a part measured as it is to be now? What was set by the drive's own size is no difference.
local function same_setting(d, part, given)
  for key, value in pairs(review.parameters(part, given)) do
    local was = (d.parameters or {})[key]
    if type(value) ~= "table" and was ~= nil and was ~= value then
      return nil, string.format("it was measured with %s %s, and now it is %s", key, tostring(was), tostring(value))
    end
  end
  if not given.quick and d.parameters and d.parameters.quick then
    return nil, "it is the short form (--quick), and now the long one is asked for"
  end
  return true
end

-- An earlier part, if it is good; nil when there is none; nil, message when it is another drive's.
local function earlier(path, drive, part, given)
  if lfs.attributes(path, "mode") ~= "file" then return nil end
  local d, complaints = document.load(path)
  if not d then return nil, complaints .. ": move it away to measure the part anew" end
  local ok, why = review.is_of(d, drive)
  if ok then ok, why = same_setting(d, part, given) end
  if not ok then return nil, string.format("%s: %s: name another folder (--folder)", path, why) end
  return d.status == "complete" and d or nil
end

--- Prepares the folders of drives, and finds what is there already.
-- @tparam string base         folder
-- @tparam {Drive,...} drives
-- @tparam table given         parameters of the review
-- @treturn table  {[drive] = folder}
-- @treturn table  {[drive] = {[part] = document}}
-- @return or nil, message
function M.open(base, drives, given)
  local folders, have, taken = {}, {}, {}
  local ok, message = make(base)
  if not ok then return nil, message end
  for _, drive in ipairs(drives) do
    local folder = folder_of(base, drive)
    if taken[folder] then
      return nil, string.format("%s and %s have one name: %s", taken[folder], drive.path, folder)
    end
    taken[folder] = drive.path
    ok, message = make(folder)
    if not ok then return nil, message end
    folders[drive], have[drive] = folder, {}
    for _, part in ipairs(review.parts(given)) do
      local d, why = earlier(string.format("%s/%s.json", folder, part), drive, part, given)
      if why then return nil, why end
      have[drive][part] = d
    end
  end
  return folders, have
end

--- Saves a part; one that is not complete beside it, so that it is measured again the next time.
-- @treturn boolean true
-- @return or nil, message
function M.save(folder, part, d)
  local name = d.status == "complete" and part or part .. "-incomplete"
  local ok, message = document.save(d, string.format("%s/%s.json", folder, name), { force = true })
  if ok and name == part then os.remove(string.format("%s/%s-incomplete.json", folder, part)) end
  return ok, message
end

local function side_of(entry)
  local side = { name = entry.drive.name or entry.drive.path, documents = {} }
  for part, d in pairs(entry.parts) do
    if part == "smart" then side.health = health.of(d, side.name) else table.insert(side.documents, d) end
  end
  table.sort(side.documents, function(x, y) return x.schema < y.schema end)
  return side
end

--- Compares what was reviewed, and what it is held against; makes the page.
-- @tparam string base            folder
-- @tparam {table,...} entries    of the review
-- @tparam {table,...} against    sides of hdd.compare.load, held against first
-- @tparam table look             `width`, `utf8`
-- @treturn ?string  the comparison's text; nil when there is but one drive
-- @treturn ?string  what went wrong in saving
function M.conclude(base, entries, against, look)
  local sides, documents, notes = table.move(against, 1, #against, 1, {}), {}, {}
  for _, side in ipairs(against) do
    table.move(side.documents, 1, #side.documents, #documents + 1, documents)
    documents[#documents + 1] = side.snapshot
  end
  for _, entry in ipairs(entries) do
    sides[#sides + 1] = side_of(entry)
    for _, part in ipairs { "smart", "qdsweep", "zoneprofile", "seekprofile" } do
      documents[#documents + 1] = entry.parts[part]
    end
    for _, note in ipairs(entry.notes) do notes[#notes + 1] = note end
  end
  local text, problem
  local function keep(name, bytes)
    local ok, message = file.write(base .. "/" .. name, bytes, { force = true })
    if not ok then problem = message end
  end
  if #sides > 1 then
    local result = compare.run(sides)
    text = view.text(result, look)
    keep("comparison.json", document.encode(result))
    keep("comparison.txt", text)
    for i, comparison in ipairs(result.comparisons) do
      table.insert(notes, i, comparison.sentence or comparison.refused)
    end
  end
  keep("report.html", html.page(documents, { notes = notes }))
  return text, problem
end

return M
