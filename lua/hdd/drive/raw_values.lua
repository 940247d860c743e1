--- What the six raw bytes of a SMART attribute mean, by named rules.
-- Each rule takes one attribute's raw bytes and gives a table with units in its keys, or nil when
-- the bytes hold nothing that can be trusted, and a short text for people. Which rule fits is said
-- by hdd.drive.attribute_names (habit) and hdd.drive.families (knowledge of one maker's drives).
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.raw_values

local M = {}

-- No drive has run for longer; a count beyond it is in another unit or carries something else.
local MAX_HOURS = 30 * 8766

local function signed(b) return b > 127 and b - 256 or b end

local function word(r, i) return r[i] | r[i + 1] << 8 end

local function low24(r) return r.raw & 0xffffff end

local function low32(r) return r.raw & 0xffffffff end

-- Whole hours stay integers.
local function exact(n, per_hour)
  if n % per_hour == 0 then return n // per_hour end
  return n / per_hour
end

local function hours_and_minutes(minutes)
  return ("%d h %02d min"):format(minutes // 60, minutes % 60)
end

local function power_on(n, per_hour)
  local hours = exact(n, per_hour)
  if hours > MAX_HOURS then return nil end
  return {power_on_hours = hours},
    per_hour == 1 and ("%d h"):format(n) or hours_and_minutes(n * 60 // per_hour)
end

-- The hours, where the upper bytes may hold something else: the largest part that makes sense.
local function plain_hours(r)
  for _, n in ipairs {r.raw, low32(r), low24(r)} do
    if n <= MAX_HOURS then return n end
  end
end

local function milliseconds(r) return r[4] | r[5] << 8 | r[6] << 16 end

function M.hours(r)
  local hours = plain_hours(r)
  if hours then return {power_on_hours = hours}, ("%d h"):format(hours) end
end

function M.minutes(r) return power_on(low32(r), 60) end

function M.half_minutes(r) return power_on(low32(r), 120) end

function M.seconds(r) return power_on(low32(r), 3600) end

-- Hours in 32 bits, milliseconds of the hour in the 24 that follow (the seventh byte too).
function M.hours_and_ms(r)
  local hours, ms = low32(r), milliseconds(r)
  if hours > MAX_HOURS then return nil end
  if ms >= 3600000 then return {power_on_hours = hours}, ("%d h"):format(hours) end
  return {power_on_hours = exact(hours * 3600000 + ms, 3600000)},
    ("%d h %02d min %06.3f s"):format(hours, ms // 60000, ms % 60000 / 1000)
end

function M.head_hours(r)
  local hours = plain_hours(r)
  if hours then return {head_flying_hours = hours}, ("%d h"):format(hours) end
end

function M.head_hours_and_ms(r)
  local hours, ms = low32(r), milliseconds(r)
  if hours > MAX_HOURS then return nil end
  if ms >= 3600000 then return {head_flying_hours = hours}, ("%d h"):format(hours) end
  return {head_flying_hours = hours, head_flying_ms = ms},
    ("%d h %02d min %06.3f s"):format(hours, ms // 60000, ms % 60000 / 1000)
end

-- Where the lowest and highest temperatures may stand beside the current one in byte 0, and the
-- bytes that must be zero then. First that gives lowest <= current <= highest is taken.
local PACKINGS = {
  {low = 2, high = 4, zero = {1, 3, 5}}, {low = 4, high = 2, zero = {1, 3, 5}},
  {low = 2, high = 3, zero = {1, 4, 5}}, {low = 1, high = 2, zero = {3, 4, 5}},
  {low = 2, high = 3, zero = {1}, count = 4},
}

local function fits(r, packing, current)
  for _, i in ipairs(packing.zero) do
    -- A negative temperature in 16 bits fills the byte above it.
    if r[i] ~= 0 and not (r[i] == 255 and r[i - 1] > 127) then return false end
  end
  local low, high = signed(r[packing.low]), signed(r[packing.high])
  return low <= current and current <= high and low > -60, low, high
end

local function celsius(current, low, high)
  if not low then return ("%d °C"):format(current) end
  if not high then return ("%d °C (lowest %d)"):format(current, low) end
  return ("%d °C (lowest %d, highest %d)"):format(current, low, high)
end

function M.temperature(r)
  local current = signed(r[0])
  if current < -60 or current > 125 then return nil end  -- 80h is "unknown"
  if r.raw < 256 or r.raw >> 8 == 0xff then return {temperature_c = current}, celsius(current) end
  for _, packing in ipairs(PACKINGS) do
    local ok, low, high = fits(r, packing, current)
    if ok then
      local meaning = {temperature_c = current, lowest_c = low, highest_c = high}
      if packing.count then meaning.limit_count = word(r, packing.count) end
      return meaning, celsius(current, low, high)
    end
  end
  return {temperature_c = current}, celsius(current)
end

-- Seagate's 194: the lowest of the drive's life stands in byte 4.
function M.temperature_and_lowest(r)
  local current = signed(r[0])
  if current < -60 or current > 125 then return nil end
  local low = signed(r[4])
  if r[2] ~= 0 or r[3] ~= 0 or r[5] ~= 0 or low == 0 or low > current or low < -60 then
    return M.temperature(r)
  end
  return {temperature_c = current, lowest_c = low}, celsius(current, low)
end

function M.temperature_tenths(r)
  local tenths = word(r, 0)
  if tenths > 1250 then return nil end
  return {temperature_c = exact(tenths, 10)}, ("%.1f °C"):format(tenths / 10)
end

function M.count(r)
  if r.raw <= 0xffffffff then return {count = r.raw}, ("%d"):format(r.raw) end
end

-- Where something stands above the lowest word, that word is not known to be the count.
function M.small_count(r)
  if r.raw <= 0xffff then return {count = r.raw}, ("%d"):format(r.raw) end
end

function M.sectors(r)
  if r.raw <= 0xffffffff then return {sectors = r.raw}, ("%d"):format(r.raw) end
end

-- The newest Seagate drives keep the count in the highest word.
function M.sectors_maybe_high(r)
  if low32(r) ~= 0 then return M.sectors(r) end
  return {sectors = word(r, 4)}, ("%d"):format(word(r, 4))
end

-- Fujitsu keeps the size of the spare pool above the count.
function M.sectors_low32(r) return {sectors = low32(r)}, ("%d"):format(low32(r)) end

function M.blocks(r)
  if r.raw <= 0xffffffff then return {blocks = r.raw}, ("%d"):format(r.raw) end
end

function M.spin_up(r)
  local average = word(r, 2)
  if average == 0 then return {spin_up_ms = word(r, 0)}, ("%d ms"):format(word(r, 0)) end
  return {spin_up_ms = word(r, 0), average_ms = average},
    ("%d ms (average %d)"):format(word(r, 0), average)
end

-- A rate whose packing is not known for this model: a small number is a number, a large one holds
-- several, and calling it a count of errors would be an invention.
function M.rate(r)
  if r.raw <= 0xffff then return nil, ("%d"):format(r.raw) end
  return nil, ("0x%012x"):format(r.raw)
end

function M.timeouts(r)
  if r.raw <= 0xffff then return {count = r.raw}, ("%d"):format(r.raw) end
  return nil, ("0x%012x"):format(r.raw)
end

-- Seagate's 188: all time-outs, those over 5 s, those over 7.5 s.
function M.three_timeouts(r)
  local all, over_5, over_7 = word(r, 0), word(r, 2), word(r, 4)
  return {count = all, over_5_s = over_5, over_7_5_s = over_7},
    ("%d (over 5 s: %d, over 7.5 s: %d)"):format(all, over_5, over_7)
end

-- Seagate's 1, 7 and 195: errors in the upper 16 bits, operations in the lower 32.
function M.errors_of_operations(r)
  local errors, operations = word(r, 4), low32(r)
  return {errors = errors, operations = operations}, ("%d errors in %d"):format(errors, operations)
end

-- SandForce's: errors in the upper 24 bits, with the seventh byte.
function M.errors24_of_sectors(r)
  local errors = milliseconds(r)
  return {errors = errors, operations = low32(r)}, ("%d errors in %d"):format(errors, low32(r))
end

function M.percent(r)
  if r[0] <= 100 and r.raw < 256 then return {percent = r[0]}, ("%d %%"):format(r[0]) end
end

local function amount(unit)
  return function(r)
    local size = unit or r.sector_size or 512
    if r.raw > math.maxinteger // size then return nil end
    return {data_bytes = r.raw * size}, ("%.3f TB"):format(r.raw * size / 1e12)
  end
end

M.logical_sectors = amount(nil)
M.units_32_mib = amount(32 << 20)
M.units_gib = amount(1 << 30)

-- The normalized value counts the life left down from 100.
function M.life_left_by_value(r)
  if r.value <= 100 then return {life_left_percent = r.value}, ("%d %% left"):format(r.value) end
end

-- The raw value counts the life left down from 100.
function M.life_left_by_raw(r)
  if r.raw <= 100 then return {life_left_percent = r.raw}, ("%d %% left"):format(r.raw) end
end

-- The raw value counts the life used up from 0; it may exceed 100.
function M.life_used_by_raw(r)
  if r.raw <= 255 then return {life_used_percent = r.raw}, ("%d %% used"):format(r.raw) end
end

function M.erase_cycles(r)
  if r.raw <= 0xffffff then return {erase_cycles = r.raw}, ("%d cycles"):format(r.raw) end
end

-- Samsung's 177: the mean count of erases in the raw value, the life left in the normalized one (it
-- agrees with the standard's "percentage used" where a drive has both).
function M.erase_cycles_and_life(r)
  local meaning = M.erase_cycles(r)
  if not meaning or r.value > 100 then return M.erase_cycles(r) end
  meaning.life_left_percent = r.value
  return meaning, ("%d cycles, %d %% left"):format(r.raw, r.value)
end

-- The normalized value counts the spare blocks left down from 100.
function M.reserve_by_value(r)
  if r.value <= 100 then return {reserve_left_percent = r.value}, ("%d %% left"):format(r.value) end
end

-- Intel's timed workload: FFFFh means that the timer has not run for an hour yet.
local function timed(rule)
  return function(r)
    if r.raw == 0xffff then return nil, "not started" end
    return rule(r)
  end
end

M.timed_wear = timed(function(r)
  -- In 1024ths of a per cent; ten lives would be 1024000.
  if r.raw > 1024000 then return nil end
  return {wear_percent = exact(r.raw, 1024)}, ("%.3f %%"):format(r.raw / 1024)
end)

M.timed_reads = timed(function(r)
  if r.raw <= 100 then return {reads_percent = r.raw}, ("%d %% reads"):format(r.raw) end
end)

M.timed_minutes = timed(function(r)
  if r.raw <= 0xffffffff then return {minutes = r.raw}, hours_and_minutes(r.raw) end
end)

-- Intel's test of the capacitor that lets the drive finish its writes: result, age, count.
function M.capacitor_test(r)
  return {result = word(r, 0), minutes_since_test = word(r, 2), tests = word(r, 4)},
    ("%d (%d min ago, %d tests)"):format(word(r, 0), word(r, 2), word(r, 4))
end

function M.three_words(r)
  return {words = {word(r, 4), word(r, 2), word(r, 0)}},
    ("%d %d %d"):format(word(r, 4), word(r, 2), word(r, 0))
end

-- Known to hold no number of use.
function M.nothing(r) return nil, ("0x%012x"):format(r.raw) end

return M
