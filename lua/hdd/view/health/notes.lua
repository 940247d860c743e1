-- What could not be read, and what of the read is doubtful.
-- SPDX-License-Identifier: GPL-3.0-or-later
local M = {}

-- All warnings of the decoders, in the order of their sections, each once.
local function doubts_of(said)
  local list, seen, names = {}, {}, {}
  for name in pairs(said) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  local function look(section, depth)
    if type(section) ~= "table" then return end
    for _, w in ipairs(type(section.warnings) == "table" and section.warnings or {}) do
      local message = type(w) == "table" and w.message or w
      if message and not seen[message] then
        seen[message] = true
        list[#list + 1] = message
      end
    end
    if depth == 0 then return end
    local keys = {}
    for key, value in pairs(section) do
      if type(key) == "string" and type(value) == "table" and key ~= "warnings" then
        keys[#keys + 1] = key
      end
    end
    table.sort(keys)
    for _, key in ipairs(keys) do look(section[key], depth - 1) end
  end
  for _, name in ipairs(names) do
    if name ~= "libatasmart" and name ~= "verdict" then look(said[name], 2) end
  end
  return list
end

-- "not supported: NCQ command error, SCT feature, write cache"
local function missing(page, said)
  local by_reason, order = {}, {}
  for _, f in ipairs(said.failures or {}) do
    if not by_reason[f.reason] then
      by_reason[f.reason] = {}
      order[#order + 1] = f.reason
    end
    table.insert(by_reason[f.reason], f.what)
  end
  for _, reason in ipairs(order) do
    page:paragraph(table.concat(by_reason[reason], "; "), "    ", ("  %s:"):format(reason) .. " ")
  end
end

--- The section.
function M.draw(page, said, options)
  local doubts = doubts_of(said)
  if #(said.failures or {}) > 0 then
    page:section("Not read")
    missing(page, said)
    if options.all then
      for _, f in ipairs(said.failures) do page:paragraph(f.message, "      ", "    ") end
    end
  end
  if #doubts > 0 then
    page:section("Doubtful")
    for _, message in ipairs(doubts) do page:paragraph(message, "    ", "  ") end
  end
end

return M
