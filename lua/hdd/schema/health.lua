-- SPDX-License-Identifier: GPL-3.0-or-later
-- What the documents about a drive's own words have in common: hdd.schema.common's, with a drive
-- whose size need not be known (a recording has no device).

local common = require "hdd.schema.common"

local M = {}

local MAY_BE_UNKNOWN = { size_bytes = true, logical_block_size_bytes = true }

local function relaxed(drive)
  local list = {}
  for i, field in ipairs(drive.of) do
    local kind = MAY_BE_UNKNOWN[field[1]] and "integer?" or field[2]
    list[i] = { field[1], kind, field[3], of = field.of }
  end
  return { "drive", "object", drive[3], of = list }
end

--- As hdd.schema.common's.
function M.document(parameters, own, summary)
  local fields = common.document(parameters, own, summary)
  for i, field in ipairs(fields) do
    if field[1] == "drive" then fields[i] = relaxed(field) end
  end
  return fields
end

return M
