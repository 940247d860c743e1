--- The recorded NVMe and SCSI drives of spec/fixtures/smart: their pages, decoded.
-- SPDX-License-Identifier: GPL-3.0-or-later
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

-- Where a page stands in what `hdd.pages.read` gives, and the file that holds it.
local FILES = {
  nvme = {
    {"identify", nil, "nvme_id_ctrl"}, {"namespace", nil, "nvme_id_ns"},
    {"logs", 0x01, "nvme_log_01"},
    {"logs", 0x02, "nvme_log_02"}, {"logs", 0x06, "nvme_log_06"},
  },
  scsi = {{"inquiry", nil, "inquiry"}, {"capacity", nil, "readcap16"},
    {"defects", nil, "defects_b7"}},
}
for _, page in ipairs {0x00, 0x80, 0x83, 0xb1} do
  table.insert(FILES.scsi, {"vpd", page, ("vpd_%02x"):format(page)})
end
for _, page in ipairs {0x00, 0x02, 0x03, 0x05, 0x06, 0x0d, 0x0e, 0x10, 0x11, 0x15, 0x18, 0x2f} do
  table.insert(FILES.scsi, {"logs", page, ("log_%02x"):format(page)})
end
table.insert(FILES.scsi, {"modes", 0x1c, "mode_1c"})

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

--- The pages of a drive, as `hdd.pages.read` gives them.
-- @tparam string kind
-- @tparam string folder_or_name  a folder, or the name of a drive in spec/fixtures
-- @treturn table
function M.pages(kind, folder_or_name)
  local folder = folder_or_name:find "/" and folder_or_name or FOLDERS[kind][1] .. "/"
    .. folder_or_name
  local pages = {kind = kind}
  for _, f in ipairs(FILES[kind]) do
    local data = read(("%s/%s.bin"):format(folder, f[3]))
    if f[2] then
      pages[f[1]] = pages[f[1]] or {}
      pages[f[1]][f[2]] = data
    else
      pages[f[1]] = data
    end
  end
  return pages
end

--- A drive decoded.
-- @tparam string kind
-- @tparam string folder_or_name
-- @tparam[opt] function change  gets the pages before they are decoded
-- @treturn table
function M.decode(kind, folder_or_name, change)
  local pages = M.pages(kind, folder_or_name)
  if change then change(pages) end
  return DECODE[kind](pages)
end

return M
