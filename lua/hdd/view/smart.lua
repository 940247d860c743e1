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

--- The text.
-- @tparam table said  what `hdd.health.read` gave
-- @tparam[opt] table options  `width` (columns; nil: as wide as it takes), `utf8`, `all` (true:
--   everything, logs to their ends), `before` (an earlier reading, for the changes)
-- @treturn string  lines
-- @usage io.write(view.text(assert(drive:smart()), {width = 80, utf8 = true}))
function M.text(said, options)
  options = options or {}
  local page = pages.new(options)
  identity.draw(page, said)
  local vitals = identity.vitals(said)
  vitals[1] = "  " .. vitals[1]
  page:items(vitals, "  ")
  verdict.draw(page, said)
  attributes.draw(page, said, options)
  nvme.draw(page, said, options)
  scsi.draw(page, said, options)
  temperature.draw(page, said)
  logs.phy(page, said, options)
  logs.self_tests(page, said, options)
  logs.errors(page, said, options)
  logs.pending(page, said, options)
  logs.statistics(page, said, options)
  logs.farm(page, said)
  attributes.opinions(page, said)
  notes.draw(page, said, options)
  return page:text()
end

return M
