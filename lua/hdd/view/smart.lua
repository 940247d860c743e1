--- What a drive says of itself, as text: identity, verdict with its reasons, attributes, logs, SCT
-- with the history of temperatures, Phy counters, and what could not be read.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.view.smart
local attributes = require "hdd.view.health.attributes"
local identity = require "hdd.view.health.identity"
local logs = require "hdd.view.health.logs"
local notes = require "hdd.view.health.notes"
local nvme = require "hdd.view.health.nvme"
local pages = require "hdd.view.health.page"
local scsi = require "hdd.view.health.scsi"
local temperature = require "hdd.view.health.temperature"
local verdict = require "hdd.view.health.verdict"

local M = {}

local SECTIONS = {
  {"identity", identity.draw}, {"vitals", identity.draw_vitals}, {"verdict", verdict.draw},
  {"attributes", attributes.draw}, {"health log", nvme.draw}, {"counters", scsi.draw},
  {"SCT", temperature.draw}, {"Phy event counters", logs.phy}, {"self-tests", logs.self_tests},
  {"failed commands", logs.errors}, {"pending defects", logs.pending},
  {"device statistics", logs.statistics}, {"FARM", logs.farm},
  {"libatasmart", attributes.opinions}, {"notes", notes.draw},
}

--- Draws all sections.
-- @tparam Page page      of hdd.view.health.page, or what has its methods
-- @tparam table said     what `hdd.health.read` gave
-- @tparam table options  `all`, `before`
function M.draw(page, said, options)
  for _, section in ipairs(SECTIONS) do
    page:draw(said, section[1], section[2], options)
  end
end

--- The text.
-- @tparam table said  what `hdd.health.read` gave
-- @tparam[opt] table options  `width` (columns; nil: as wide as it takes), `utf8`, `all` (true:
--   everything, logs to their ends), `before` (an earlier reading, for the changes)
-- @treturn string  lines
-- @usage io.write(view.text(assert(drive:smart()), {width = 80, utf8 = true}))
function M.text(said, options)
  options = options or {}
  local page = pages.new(options)
  M.draw(page, said, options)
  return page:text()
end

return M
