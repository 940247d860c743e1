--- Which ATA and Serial ATA standards a drive claims: words 80, 81 and 222 of IDENTIFY DEVICE.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.ata_versions

local M = {}

-- Bit of word 80.
local MAJOR = {
  [1] = "ATA-1", [2] = "ATA-2", [3] = "ATA-3", [4] = "ATA/ATAPI-4", [5] = "ATA/ATAPI-5",
  [6] = "ATA/ATAPI-6", [7] = "ATA/ATAPI-7", [8] = "ATA8-ACS", [9] = "ACS-2", [10] = "ACS-3",
  [11] = "ACS-4", [12] = "ACS-5", [13] = "ACS-6",
}

-- The committee's number of each standard's project.
local PROJECT = {
  ["ATA/ATAPI-5"] = "T13/1321D", ["ATA/ATAPI-6"] = "T13/1410D", ["ATA/ATAPI-7"] = "T13/1532D",
  ["ATA8-ACS"] = "T13/1699-D", ["ACS-2"] = "T13/2015-D", ["ACS-3"] = "T13/2161-D",
  ["ACS-4"] = "T13/BSR INCITS 529",
}

-- Word 81: the standard, and the revision of its draft, or the number under which it was published.
local MINOR = {
  [0x0001] = {"ATA-1", "X3T9.2/781D before revision 4"},
  [0x0002] = {"ATA-1", "published as ANSI X3.221-1994"},
  [0x0003] = {"ATA-1", "X3T9.2/781D revision 4"},
  [0x0004] = {"ATA-2", "published as ANSI X3.279-1996"},
  [0x0005] = {"ATA-2", "X3T10/948D before revision 2k"},
  [0x0006] = {"ATA-3", "X3T10/2008D revision 1"}, [0x0007] = {"ATA-2", "X3T10/948D revision 2k"},
  [0x0008] = {"ATA-3", "X3T10/2008D revision 0"}, [0x0009] = {"ATA-2", "X3T10/948D revision 3"},
  [0x000a] = {"ATA-3", "published as ANSI X3.298-1997"},
  [0x000b] = {"ATA-3", "X3T10/2008D revision 6"}, [0x000c] = {"ATA-3", "X3T13/2008D revision 7"},
  [0x000d] = {"ATA/ATAPI-4", "X3T13/1153D revision 6"},
  [0x000e] = {"ATA/ATAPI-4", "T13/1153D revision 13"},
  [0x000f] = {"ATA/ATAPI-4", "X3T13/1153D revision 7"},
  [0x0010] = {"ATA/ATAPI-4", "T13/1153D revision 18"},
  [0x0011] = {"ATA/ATAPI-4", "T13/1153D revision 15"},
  [0x0012] = {"ATA/ATAPI-4", "published as INCITS 317-1998"}, [0x0013] = {"ATA/ATAPI-5", 3},
  [0x0014] = {"ATA/ATAPI-4", "T13/1153D revision 14"}, [0x0015] = {"ATA/ATAPI-5", 1},
  [0x0016] = {"ATA/ATAPI-5", "published as INCITS 340-2000"},
  [0x0017] = {"ATA/ATAPI-4", "T13/1153D revision 17"}, [0x0018] = {"ATA/ATAPI-6", 0},
  [0x0019] = {"ATA/ATAPI-6", "3a"}, [0x001a] = {"ATA/ATAPI-7", 1}, [0x001b] = {"ATA/ATAPI-6", 2},
  [0x001c] = {"ATA/ATAPI-6", 1}, [0x001d] = {"ATA/ATAPI-7", "published as INCITS 397-2005"},
  [0x001e] = {"ATA/ATAPI-7", 0}, [0x001f] = {"ACS-3", "3b"}, [0x0021] = {"ATA/ATAPI-7", "4a"},
  [0x0022] = {"ATA/ATAPI-6", "published as INCITS 361-2002"}, [0x0027] = {"ATA8-ACS", "3c"},
  [0x0028] = {"ATA8-ACS", 6}, [0x0029] = {"ATA8-ACS", 4}, [0x0031] = {"ACS-2", 2},
  [0x0033] = {"ATA8-ACS", "3e"}, [0x0039] = {"ATA8-ACS", "4c"}, [0x0042] = {"ATA8-ACS", "3f"},
  [0x0052] = {"ATA8-ACS", "3b"}, [0x005e] = {"ACS-4", 5}, [0x006d] = {"ACS-3", 5},
  [0x0082] = {"ACS-2", "published as INCITS 482-2012"},
  [0x009c] = {"ACS-4", "published as INCITS 529-2018"}, [0x0107] = {"ATA8-ACS", "2d"},
  [0x010a] = {"ACS-3", "published as INCITS 522-2014"}, [0x0110] = {"ACS-2", 3},
  [0x011b] = {"ACS-3", 4},
}

-- Bit of word 222, transport type serial.
local SATA = {
  [0] = "ATA8-AST", [1] = "SATA 1.0a", [2] = "SATA II Ext", [3] = "SATA 2.5", [4] = "SATA 2.6",
  [5] = "SATA 3.0", [6] = "SATA 3.1", [7] = "SATA 3.2", [8] = "SATA 3.3", [9] = "SATA 3.4",
  [10] = "SATA 3.5",
}

local function highest(names, mask)
  for bit = 15, 0, -1 do
    if mask >> bit & 1 == 1 and names[bit] then return names[bit] end
  end
end

--- The ATA standard, in words.
-- @tparam integer major  word 80
-- @tparam integer minor  word 81
-- @treturn ?string  "ACS-3 T13/2161-D revision 5"; when the two words name different standards,
--   "ACS-2, ATA8-ACS T13/1699-D revision 4"; nil when the drive claims none
-- @treturn ?string  the standard's short name, "ACS-3"
-- @usage local text, short = versions.ata(0x7e0, 0x6d)
function M.ata(major, minor)
  if major == 0 or major == 0xffff then return nil end
  local standard = highest(MAJOR, major)
  if not standard then return nil end
  local draft = MINOR[minor]
  if minor == 0 or minor == 0xffff then
    return standard .. " (minor revision not indicated)", standard
  elseif not draft then
    return ("%s (minor revision code %04Xh)"):format(standard, minor), standard
  end
  local revision = draft[2]
  if PROJECT[draft[1]] and not tostring(revision):find("^published") then
    revision = PROJECT[draft[1]] .. " revision " .. revision
  end
  local text = draft[1] .. " " .. revision
  return draft[1] == standard and text or standard .. ", " .. text, standard
end

--- The Serial ATA version.
-- @tparam integer transport  word 222
-- @treturn ?string  "SATA 3.2"; nil when not serial or not told
-- @usage local version = versions.sata(0x10fe)
function M.sata(transport)
  if transport == 0xffff or transport >> 12 ~= 1 then return nil end
  return highest(SATA, transport & 0xfff)
end

return M
