-- Self-tests: the newest failed one, and whether a later one of its kind or wider has passed since.
-- SPDX-License-Identifier: GPL-3.0-or-later

-- An extended test covers what a short one does; the others cover themselves alone.
local WIDTH = {short = 1, ["short captive"] = 1, extended = 2, ["extended captive"] = 2}

local function covers(passed, failed)
  local a, b = WIDTH[passed.type], WIDTH[failed.type]
  if a and b then return a >= b end
  return passed.type == failed.type or a == 2
end

local function describe(e)
  local parts = {("the %s self-test %s"):format(e.type,
    e.result:find "^failed" and e.result or "ended: " .. e.result)}
  if e.lba then parts[#parts + 1] = ("at LBA %s"):format(e.lba) end
  local hours = e.power_on_hours or e.hours_16_bit
  if e.age_hours then
    parts[#parts + 1] = ("%d power-on hours ago"):format(e.age_hours)
  elseif hours then
    parts[#parts + 1] = ("at power-on hour %s"):format(hours)
  end
  return table.concat(parts, ", ")
end

return function(said, add)
  local log = said.self_test_log
  local passed, count, failed = {}, 0, nil
  for _, e in ipairs(log and log.entries or {}) do  -- newest first
    if e.failed then
      count = count + 1
      failed = failed or e
    elseif e.code == 0 and not failed then
      passed[#passed + 1] = e
    end
  end
  if not failed then
    -- Without a log, the state byte still has the last result.
    local state = said.smart and said.smart.self_test
    if not log and state and state.failed then
      add("warning", "self_test", "SMART data", state.status, "the last self-test " .. state.result)
    end
    return
  end
  local mended = false
  for _, e in ipairs(passed) do mended = mended or covers(e, failed) end
  local what = describe(failed)
  if mended then what = what .. "; a later one has passed" end
  add(mended and "notice" or "warning", "self_test", "self-test log", failed.code, what,
    {lba = failed.lba, failed_tests = count})
end
