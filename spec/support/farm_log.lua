--- A FARM log made field by field: what is not given has no valid flag.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

-- Four characters as the log keeps them: each pair swapped, in the low half of a field.
local function text(s) return string.unpack("<I4", (s:gsub("(.)(.)", "%2%1"))) end

--- A FARM log.
-- @tparam table pages  by page number from 0, {[field number] = value}
-- @treturn string  six pages of 16384 bytes
function M.pages(pages)
  local parts = {}
  for page = 0, 5 do
    local fields, last = pages[page] or {}, 0
    for number in pairs(fields) do last = math.max(last, number) end
    local out = {}
    for number = 0, last do
      out[#out + 1] = fields[number] and string.pack("<I7B", fields[number], 0xc0) or ("\0"):rep(8)
    end
    out = table.concat(out)
    parts[#parts + 1] = out .. ("\0"):rep(16384 - #out)
  end
  return table.concat(parts)
end

--- Fields of a drive that is well, for M.pages; the caller may change them.
-- @treturn table
function M.example()
  return {
    [0] = {[0] = 0x4641524d4552, 4, 17, 6, 98304, 16384, 24, 0, 0},
    [1] = {
      [0] = 1, [2] = text "K3SF", [3] = text "IXT1", [4] = 0xc5005000, [5] = 0xd48ef5d1,
      [6] = 0x53415441, [7] = 31251759104, [8] = 4096, [9] = 512, [10] = 268435456, [11] = 2,
      [12] = 2, [13] = 7200, [14] = text "EN01", [15] = text "    ", [19] = 2344, [20] = 2322,
      [21] = 516, [22] = 4333, [23] = 19, [24] = 74, [25] = 12, [30] = 31885, [31] = 0,
      [32] = text "ST16", [33] = text "000N", [42] = 1, [43] = 0, [44] = 16384, [45] = text "2517",
      [46] = 0,
    },
    [2] = {[0] = 2, [3] = 72695, [8] = 115597072064, [9] = 34761656, [13] = 64398, [20] = 10052699},
    [3] = {[0] = 3, [2] = 0, [4] = 5, [9] = 3, [14] = 1, [17] = 1, [18] = 0, [21] = 0x1234,
      [54] = 99, [62] = 7, [71] = 4, [96] = 8},
    [4] = {[0] = 4, [2] = 35, [3] = 43, [4] = (1 << 56) - 5, [13] = 60, [14] = 5, [20] = 12023,
      [23] = 4814},
    [5] = {[0] = 5, [184] = 44534632, [185] = 76, [650] = 11, [770] = 13433, [771] = 15618,
      [1109] = 2, [697] = 0},
  }
end

return M
