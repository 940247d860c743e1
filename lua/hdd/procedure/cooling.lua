--- The temperature guard of a long load: it looks at the drive's temperature now and then, says when
-- the load must pause, and when the drive has cooled enough to go on.
--
-- A command that asks for the temperature stalls the queue of many drives: it is asked for at most
-- once a minute, never where a figure is measured, and intervals with a sample can be marked.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.cooling
-- @usage local guard = cooling.new(drive, { limit_c = 55 })
-- while work_left() do
--   work()
--   if guard:look() == "hot" then guard:wait() end
-- end
local core = require "hdd.core"
local task = require "hdd.task"
local temperature_limit = require "hdd.drive.temperature_limit"

local M = {}
local Guard = {}
Guard.__index = Guard

local EVERY_S <const>, HYSTERESIS_C <const> = 60, 5
local STEP_S <const> = 1      -- between two reports of a pause
local BLIND <const> = 5       -- readings in vain after which a pause ends: nothing says that it is hot
local ENTRIES <const> = 4096

local function read_limit(drive, said)
  said = said or drive:smart()
  if not said then return nil end
  return temperature_limit.of(said)
end

--- A guard.
-- @tparam Drive drive
-- @tparam ?table parameters  `limit_c` (the drive's own), `hysteresis_c` (5: it goes on so much below
--   the limit), `every` (60: seconds between two readings), `said` (what `drive:smart()` gave, if it is
--   known already)
-- @tparam ?table options  `event` = function(entry), for the time line; `time_s` = function, the time
--   of entries (since now); and what stands for the machine in specs: `now` = function (ns), `sleep` =
--   function(s), `temperature` = function(drive), as of `Drive:temperature`
-- @treturn Guard  `limit_c` and `limit_source` (nil: none is known, and nothing is ever hot);
--   `temperature_c`, of the last reading; `entries` of {`time_s`, `event` = "sample", "hot", "cool" or
--   "no temperature", `temperature_c`, `limit_c`, `paused_s`, `what` (why there is none)}, the first 4096;
--   `pauses`, how many; `paused_s`, all together
function M.new(drive, parameters, options)
  parameters, options = parameters or {}, options or {}
  local self = setmetatable({
    drive = drive, event = options.event, now = options.now or core.now,
    sleep = options.sleep or task.sleep, temperature = options.temperature or drive.temperature,
    hysteresis_c = parameters.hysteresis_c or HYSTERESIS_C,
    every_ns = math.floor((parameters.every or EVERY_S) * 1e9),
    entries = {}, sampled = {}, pauses = 0, paused_s = 0.0, state = "go",
  }, Guard)
  local began_ns = self.now()
  self.time_s = options.time_s or function() return (self.now() - began_ns) / 1e9 end
  if parameters.limit_c then
    self.limit_c, self.limit_source = parameters.limit_c, "given"
  else
    self.limit_c, self.limit_source = read_limit(drive, parameters.said)
  end
  return self
end

local function note(self, event, more)
  local entry = more or {}
  entry.time_s, entry.event = self.time_s(), event
  if #self.entries < ENTRIES then self.entries[#self.entries + 1] = entry end
  if self.event then self.event(entry) end
end

-- Reads the temperature. The time that it took is kept, for `mark`.
local function sample(self)
  local began_ns = self.now()
  local celsius, why = self.temperature(self.drive)
  self.read_ns, self.temperature_c = self.now(), celsius
  if #self.sampled < ENTRIES then
    self.sampled[#self.sampled + 1] = { from = began_ns, to = self.read_ns }
  end
  if celsius then
    self.told = nil
    note(self, "sample", { temperature_c = celsius })
  elseif self.told ~= why then
    self.told = why
    note(self, "no temperature", { what = why })
  end
  return celsius
end

--- Looks at the temperature, if it is time.
-- @tparam[opt] boolean now  true: in any case, as at the end of a phase
-- @treturn string  "hot": the load must pause, see `wait`; else "go"
-- @treturn ?number  °C at the last reading; nil when there is none to be had
function Guard:look(now)
  if now or not self.read_ns or self.now() - self.read_ns >= self.every_ns then
    local celsius = sample(self)
    if celsius and self.limit_c and celsius >= self.limit_c and self.state == "go" then
      self.state, self.hot_ns = "hot", self.now()
      self.pauses = self.pauses + 1
      note(self, "hot", { temperature_c = celsius, limit_c = self.limit_c })
    end
  end
  return self.state, self.temperature_c
end

--- Waits until the drive has cooled: the hysteresis below its limit, by readings as seldom as ever.
-- The load has been stopped by its caller. One whose temperature can't be read any more is not waited
-- for without end. Raises hdd.interrupted on Ctrl-C, as every wait.
-- @tparam ?function report  called each second with {`mode` = "paused", `note`, `temperature_c`}
-- @treturn number  seconds
function Guard:wait(report)
  local began_ns, blind = self.now(), 0
  local goal_c = self.limit_c and self.limit_c - self.hysteresis_c
  while self.state == "hot" do
    if report then
      report {
        mode = "paused", temperature_c = self.temperature_c,
        note = string.format("%s °C, cooling to %.0f °C",
          self.temperature_c and string.format("%.0f", self.temperature_c) or "?", goal_c),
      }
    end
    self.sleep(STEP_S)
    if self.now() - self.read_ns >= self.every_ns then
      local celsius = sample(self)
      blind = celsius and 0 or blind + 1
      if celsius and celsius <= goal_c or blind >= BLIND then self.state = "go" end
    end
  end
  if not self.hot_ns then return 0.0 end
  local paused_s = (self.now() - began_ns) / 1e9
  self.paused_s, self.hot_ns = self.paused_s + paused_s, nil
  note(self, "cool", {
    temperature_c = self.temperature_c, limit_c = self.limit_c, paused_s = paused_s,
  })
  return paused_s
end

--- Marks the intervals of a job's time series in which the temperature was read: what was measured
-- there has that in it.
-- @tparam {table,...} series  of a job, each with `time_s` and `elapsed_s`; `sampled` = true is set
-- @tparam integer started_ns  when the job's counted part began, as of `hdd.now`
-- @treturn integer  how many
function Guard:mark(series, started_ns)
  local count = 0
  for _, interval in ipairs(series) do
    local from = started_ns + math.floor(interval.time_s * 1e9)
    local to = from + math.floor((interval.elapsed_s or 0) * 1e9)
    for _, s in ipairs(self.sampled) do
      if s.from <= to and s.to >= from and not interval.sampled then
        interval.sampled, count = true, count + 1
      end
    end
  end
  return count
end

return M
