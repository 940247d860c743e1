--- Who a drive is: all drives in one table, or everything that one of them tells of its abilities.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.identify
local head = require "hdd.view.health.identity"
local inventory = require "hdd.procedure.inventory"
local pages = require "hdd.view.health.page"
local units = require "hdd.units"

local M = {}

local STATUS = {good = "good", warning = "look closer", failing = "FAILING", unknown = "unknown"}

local function rotation(id)
  if id.rotation_rpm then return tostring(id.rotation_rpm) end
  return id.solid_state and "flash" or "?"
end

local function row_of(entry)
  local id = inventory.identity(entry)
  local t = entry.said and entry.said.temperature
  local use = table.concat(entry.uses, ", ")
  local kind = entry.said and entry.said.source.kind
  return {
    (entry.path:gsub(kind and kind ~= "drive" and "^.*/" or "^/dev/", "")),
    id.model or "?", id.serial or "?",
    id.size_bytes and units.decimal_bytes(id.size_bytes) or "?", rotation(id),
    id.transport or "?", t and t.temperature_c and units.fixed(t.temperature_c, 0) or "?",
    entry.said and STATUS[entry.said.verdict.status] or entry.why.reason,
    use == "" and "-" or use,
  }
end

--- A table of drives: model, serial number, size, rotation, transport, temperature, health, use.
-- @tparam {table,...} entries  of `hdd.procedure.inventory.look`
-- @tparam[opt] table options   `width`, `utf8`
-- @treturn string
-- @usage io.write(view.table(entries, {width = 80, utf8 = true}))
function M.table(entries, options)
  local page = pages.new(options)
  if #entries == 0 then
    page:line("There is no drive.")
    return page:text()
  end
  local rows = {}
  for i, entry in ipairs(entries) do rows[i] = row_of(entry) end
  page:table({
    {title = "drive", left = true},
    {title = "model", left = true, wrap = true, first = 16, gap = 1},
    {title = "serial", left = true, wrap = true, first = 12, gap = 1}, {title = "size", gap = 1},
    {title = "rpm", rank = 2, gap = 1}, {title = "bus", left = true, rank = 3, gap = 1},
    {title = "°C", rank = 1, gap = 1}, {title = "health", left = true, gap = 1},
    {title = "used for", left = true, wrap = true},
  }, rows)
  for _, entry in ipairs(entries) do
    if entry.why then
      page:paragraph(entry.why.message, "    ", "  ")
    end
  end
  return page:text()
end

-- "advanced power management on (128)"
local function feature_texts(features)
  local on, off, none, names = {}, {}, {}, {}
  for name in pairs(features) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local f, text = features[name], name:gsub("_", " ")
    if f.level then text = ("%s (%d)"):format(text, f.level) end
    if not f.supported then
      none[#none + 1] = text
    elseif f.enabled == false then
      off[#off + 1] = text
    else
      on[#on + 1] = text
    end
  end
  return on, off, none
end

local function abilities(page, said)
  local id = said.identity
  if id.features then
    local on, off, none = feature_texts(id.features)
    page:section("Features")
    if #on > 0 then page:paragraph(table.concat(on, ", "), "      ", "  on   ") end
    if #off > 0 then page:paragraph(table.concat(off, ", "), "      ", "  off  ") end
    if #none > 0 then page:paragraph(table.concat(none, ", "), "      ", "  not supported: ") end
  end
  local sct = id.sct
  if sct and sct.supported then
    local list = {}
    for key, what in pairs {
      error_recovery_control = "error recovery control", feature_control = "feature control",
      data_tables = "data tables", write_same = "write same",
    } do
      if sct[key] then list[#list + 1] = what end
    end
    table.sort(list)
    page:section("SCT", table.concat(list, ", "))
  end
  if id.security and id.security.supported then
    local s = id.security
    local list = {s.enabled and "password set" or "no password", s.locked and "LOCKED" or nil}
    if s.frozen then list[#list + 1] = "frozen" end
    if s.erase_minutes then list[#list + 1] = ("erase takes %d min"):format(s.erase_minutes) end
    page:section("Security", table.concat(list, ", "))
  end
end

local function directory(page, said)
  local logs = said.log_directory and said.log_directory.logs or
    said.smart_log_directory and said.smart_log_directory.logs
  if not logs or #logs == 0 then return end
  page:section("Logs")
  local rows, own = {}, 0
  for _, log in ipairs(logs) do
    if log.name == "host's own" or log.name == "maker's own" then
      own = own + 1
    else
      rows[#rows + 1] = {("%02Xh"):format(log.address), log.pages, log.name}
    end
  end
  page:table({{left = true}, {title = "pages"}, {title = "log", left = true, wrap = true}}, rows,
    "  ")
  if own > 0 then page:line(("  and %d of the host's or the maker's own"):format(own)) end
end

local function kernel_lines(page, entry)
  local k = entry.kernel
  if not k then return end
  local items = {}
  local function put(text, value)
    if value ~= nil then items[#items + 1] = text:format(value) end
  end
  put("kernel name %s", k.name)
  put("attached by %s", k.transport)
  put("controller %s", k.controller)
  put("link at %s", k.link and k.link.speed)
  put("queue depth %s", k.queue_depth_limit)
  put("scheduler %s", k.scheduler)
  if k.partitions and #k.partitions > 0 then put("%d partitions", #k.partitions) end
  page:section("In this machine")
  if #items > 0 then
    items[1] = "  " .. items[1]
    page:items(items, "  ")
  end
  page:paragraph("used for: " .. (#entry.uses > 0 and table.concat(entry.uses, ", ") or "nothing"),
    "    ", "  ")
end

-- What the kernel knows, of a drive that can't be asked.
local function by_kernel(page, entry)
  local id = inventory.identity(entry)
  local items = {id.model or entry.kernel.name, "serial " .. (id.serial or "unknown")}
  if id.firmware then items[#items + 1] = "firmware " .. id.firmware end
  page:items(items, "  ")
  page:line("  " .. entry.path)
  local more = {}
  if id.size_bytes then more[#more + 1] = units.bytes(id.size_bytes) end
  if id.rotation_rpm then more[#more + 1] = id.rotation_rpm .. " rpm" end
  if id.wwn then more[#more + 1] = "WWN " .. id.wwn end
  if #more > 0 then
    more[1] = "  " .. more[1]
    page:items(more, "  ")
  end
  page:paragraph("the drive itself was not asked: " .. entry.why.message, "    ", "  ")
end

--- Everything about who one drive is and what it can do.
-- @tparam table entry  of `hdd.procedure.inventory.look`
-- @tparam[opt] table options  `width`, `utf8`
-- @treturn string
-- @usage io.write(view.one(entry, {width = 80}))
function M.one(entry, options)
  local page = pages.new(options)
  if not entry.said then
    by_kernel(page, entry)
    kernel_lines(page, entry)
    return page:text()
  end
  page:draw(entry.said, "identity", head.draw)
  kernel_lines(page, entry)
  page:draw(entry.said, "abilities", abilities)
  page:draw(entry.said, "logs", directory)
  return page:text()
end

return M
