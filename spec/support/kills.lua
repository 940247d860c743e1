--- Burn-ins of simulated drives that are killed at random moments and resumed; and what must be true
-- of them in the end.
-- SPDX-License-Identifier: GPL-3.0-or-later
local corruptions = require "spec.support.corruptions"
local document = require "hdd.document"
local hddsim = require "spec.support.hddsim"
local lfs = require "lfs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local M = {}

--- A drive that writes 64 MiB in about two seconds, and reads them in as long.
M.DRIVE = "speed=1,outer=50,inner=45"

local MOST_TURNS <const> = 40

-- Sectors that were written and not read after that, by the simulator's log of what it was asked, in the
-- order in which it answered.
local function unverified(log)
  local written, count, sectors = {}, 0, 0
  for line in io.lines(log) do
    local op, lba, length, failed = line:match("^[%d.]+,(%a+),(%d+),(%d+),[^,]*,%d+,[%d.]+,[%d.]+,(%d+)")
    if op then
      lba, length = math.tointeger(tonumber(lba)), math.tointeger(tonumber(length))
      for i = lba, lba + length - 1 do
        if op == "write" then
          if not written[i] then count = count + 1 end
          written[i] = true
        elseif op == "read" and failed == "0" and written[i] then
          written[i], count = nil, count - 1
        end
      end
      if op == "write" then sectors = sectors + length end
    end
  end
  return count, sectors
end

-- The drive's states in a folder; the first part may have been killed before there was one.
local function has_state(folder)
  return lfs.attributes(folder, "mode") == "directory"
    and shell.run("ls " .. folder .. "/*.json 2>/dev/null") ~= ""
end

local function saved_phase(folder)
  local text = has_state(folder) and shell.run("cat " .. folder .. "/*.json") or ""
  return math.tointeger(tonumber(text:match('"phase": (%d+)') or 0))
end

--- Burns in a drive with the faults of a seed, killed by kill -9 at moments of its own time.
-- @tparam integer seed
-- @tparam {number,...} moments  seconds of running, from the start of each part: the first part is
--   killed after the first, and so on; then it may end
-- @tparam[opt] string speed  settings of the drive instead of M.DRIVE
-- @tparam[opt] number timeout  of a part, s (120)
-- @treturn table  `said`, `expected` (of `corruptions`), `document`, `killed` (how many parts were), `unverified`
--   (sectors), `written` (sectors), `status` of the last part, `stderr`, `phases` (number of the phase from
--   which each part that was killed would go on; 0: from the beginning), `left` (what is left in the folder of states)
function M.burn_in(seed, moments, speed, timeout)
  local faults, expected = corruptions.draw(seed)
  local log = scratch.path("log")
  faults = faults:gsub("speed=%d+", speed or M.DRIVE) .. ",log=" .. log
  local states, json = scratch.path("states"), scratch.path("document")
  local result = { expected = expected, killed = 0, phases = {} }
  do
    local drive <close> = hddsim.start(faults)
    local name = drive.path:match("[^/]+$")
    for turn = 1, MOST_TURNS do
      local words = has_state(states) and { "burnin", drive.path, "--resume" }
        or { "burnin", drive.path, "--write", "--stress", "0", "--no-surface", "--no-baseline",
          "--no-self-tests", "--rpm", "0", "--seed", tostring(seed) }
      for _, word in ipairs { "--confirm", name, "--state", states .. "/", "--json", json, "--force" } do
        if word ~= "--force" or words[3] ~= "--resume" then words[#words + 1] = word end
      end
      local moment = moments[turn]
      local run = process.hddlua(words, {
        timeout = timeout or 120, events = moment and { { after = moment, signal = "KILL" } } or nil,
      })
      result.status, result.stderr = run.status, run.stderr
      if run.signal ~= 9 then break end
      result.killed = result.killed + 1
      result.phases[#result.phases + 1] = saved_phase(states)
    end
  end
  result.unverified, result.written = unverified(log)
  os.remove(log)
  result.left = lfs.attributes(states) and shell.run("ls -A " .. states) or ""
  result.document = document.load(json)
  result.said = result.document and corruptions.said_of(result.document) or {}
  return result
end

return M
