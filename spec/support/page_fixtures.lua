--- The recorded NVMe and SCSI drives of spec/fixtures/smart: their pages, decoded.
-- SPDX-License-Identifier: GPL-3.0-or-later
local json = require "dkjson"
local nvme = require "hdd.drive.nvme"
local scsi = require "hdd.drive.scsi"

local M = {}

local HERE = debug.getinfo(1, "S").source:match("^@(.*)spec/support/") or ""

-- Folders with such recordings. HDDLUA_NVME_RECORDINGS names one more, for drives whose bytes
-- can't be here.
local FOLDERS = {
  nvme = {HERE .. "spec/fixtures/smart/nvme", os.getenv "HDDLUA_NVME_RECORDINGS"},
  scsi = {HERE .. "spec/fixtures/smart/scsi"},
}

-- The decoders' names of the pages, and the files that hold them.
M.FILES = {
  nvme = {
    controller = "nvme_id_ctrl", namespace = "nvme_id_ns", health = "nvme_log_02",
    errors = "nvme_log_01",
    self_tests = "nvme_log_06",
  },
  scsi = {
    inquiry = "inquiry", vpd_00 = "vpd_00", vpd_80 = "vpd_80", vpd_83 = "vpd_83", vpd_b1 = "vpd_b1",
    capacity = "readcap16", log_00 = "log_00", log_02 = "log_02", log_03 = "log_03",
    log_05 = "log_05",
    log_06 = "log_06", log_0d = "log_0d", log_0e = "log_0e", log_10 = "log_10", log_11 = "log_11",
    log_15 = "log_15", log_18 = "log_18", log_2f = "log_2f", mode_1c = "mode_1c",
    grown_defects = "defects_b7",
  },
}

local DECODE = {nvme = nvme.decode, scsi = scsi.decode}

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local data = file:read "a"
  file:close()
  return data
end

--- The recorded drives of a kind, each `{name, folder}`, in order; a drive in two folders once.
-- @tparam string kind  "nvme" or "scsi"
-- @treturn {table,...}
function M.drives(kind)
  local list, seen = {}, {}
  for _, folder in ipairs(FOLDERS[kind]) do
    local names = assert(io.popen("ls '" .. folder .. "'"))
    for name in names:lines() do
      if not seen[name] then list[#list + 1] = {name = name, folder = folder .. "/" .. name} end
      seen[name] = true
    end
    names:close()
  end
  return list
end

--- The pages of a drive by their decoders' names.
-- @tparam string kind
-- @tparam string folder
-- @treturn table
function M.pages(kind, folder)
  local pages = {}
  for page, file in pairs(M.FILES[kind]) do pages[page] = read(("%s/%s.bin"):format(folder,
    file)) end
  return pages
end

--- A drive decoded.
-- @tparam string kind
-- @tparam string folder_or_name  a folder, or the name of a drive in spec/fixtures
-- @treturn table
function M.decode(kind, folder_or_name)
  local folder = folder_or_name:find "/" and folder_or_name or FOLDERS[kind][1] .. "/"
    .. folder_or_name
  return DECODE[kind](M.pages(kind, folder))
end

--- A drive's expected.json; null is json.null.
-- @tparam string folder
-- @treturn table
function M.expected(folder)
  return assert(json.decode(assert(read(folder .. "/expected.json"), folder), 1, json.null))
end

-- Not values of a drive: how the fixture was made.
local ABOUT_THE_FIXTURE = {name = true, source = true, real_dump = true, note = true,
  synthetic = true}

--- Compare all expected values with ours, type of number included.
-- @tparam string path     what is compared, for messages
-- @tparam any expected
-- @tparam any ours        in the same shape
-- @tparam table count     `{right, all, wrong[]}`, added to
function M.compare(path, expected, ours, count)
  if type(expected) == "table" then
    for key, value in pairs(expected) do
      if not ABOUT_THE_FIXTURE[key] then
        local mine
        if type(ours) == "table" then mine = ours[key] end
        M.compare(path .. "." .. tostring(key), value, mine, count)
      end
    end
    if type(ours) == "table" and #expected > 0 and #ours ~= #expected then
      table.insert(count.wrong, ("%s: %d entries, %d expected"):format(path, #ours, #expected))
    end
    return
  end
  count.all = count.all + 1
  local good = expected == ours and math.type(expected) == math.type(ours)
  if expected == json.null then good = ours == nil or ours == json.null end
  if good then
    count.right = count.right + 1
  else
    table.insert(count.wrong, ("%s: %s, expected %s"):format(path, tostring(ours),
      tostring(expected)))
  end
end

return M
