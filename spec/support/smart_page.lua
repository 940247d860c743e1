--- SMART data and threshold pages made of a few attributes, for specs.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

local function sealed(page)
  page = page .. ("\0"):rep(511 - #page)
  local sum = 0
  for i = 1, 511 do sum = sum + page:byte(i) end
  return page .. string.char(-sum & 255)
end

--- A page with its checksum: 511 bytes padded with zeroes and the sum.
-- @tparam string page  up to 511 bytes
-- @treturn string  512 bytes
M.sealed = sealed

--- A SMART data page.
-- @tparam {table,...} attributes  {id=, raw= (48 bits), value= (100), worst= (value), flags=
--   (0x32), seventh= (0)}
-- @treturn string  512 bytes
function M.data(attributes)
  local parts = {string.pack("<I2", 16)}
  for _, a in ipairs(attributes) do
    local value = a.value or 100
    parts[#parts + 1] = string.pack("<BI2BBI6B", a.id, a.flags or 0x32, value, a.worst or value,
      a.raw or 0, a.seventh or 0)
  end
  return sealed(table.concat(parts))
end

--- A thresholds page.
-- @tparam {{integer,integer},...} thresholds  {id, threshold}, in slot order
-- @treturn string  512 bytes
function M.thresholds(thresholds)
  local parts = {string.pack("<I2", 16)}
  for _, t in ipairs(thresholds) do
    parts[#parts + 1] = string.pack("<BB", t[1], t[2]) .. ("\0"):rep(10)
  end
  return sealed(table.concat(parts))
end

return M
