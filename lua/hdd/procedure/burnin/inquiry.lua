--- What became of blocks that do not hold what was written: are they read the same each time, does
-- another write reach them, and where did the lost ones go?
--
-- A block that never had a stamp tells nothing when a write to it was lost. So it is written once more, in
-- a pass of its own: what then still holds the old bytes takes no writes. And where those writes went
-- shows when the drive is read once more: at another place, in the name of this one.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.burnin.inquiry
local M = {}

local REREADS <const>, REWRITES <const> = 64, 64
local PASS <const> = 1 << 31    -- passes from here on are an inquiry's
local SEARCH_S <const> = 3600   -- that may go into looking for where writes went
local LONGEST <const> = 64 << 20

-- Verifies a range outside of any slice. Its results, or nil.
local function verify(run, stamp, m, options)
  local job = {
    operation = "verify", stamp = stamp, offset = m.offset_bytes, length = m.length_bytes,
    block_size = math.min(1 << 20, m.length_bytes), intervals = 2, slowest = 0,
  }
  for key, value in pairs(options or {}) do job[key] = value end
  return run:job(job, function(progress)
    return { stage = "looking into mismatches", share = 1, position_bytes = progress.position_bytes }
  end)
end

local function same_bytes(a, b)
  return a and b and a.offset_bytes == b.offset_bytes and a.found == b.found
end

local function reread(run, stamp, m)
  local result = verify(run, stamp, m)
  if not result then return nil end
  local again = result.mismatches[1]
  if result.errors > 0 then return "unreadable" end
  if not again then return "good" end
  return again.kind == m.kind and same_bytes(again.first, m.first) and "same" or "different"
end

-- Writes a run again in the name of another pass. "held", "kept" (its old bytes), "else", or nil.
local function rewrite(run, stamp, m)
  local wrote = run:write_job({
    operation = "write", stamp = stamp, offset = m.offset_bytes, length = m.length_bytes,
    block_size = math.min(1 << 20, m.length_bytes), intervals = 2, slowest = 0,
  }, function() return { stage = "writing mismatches once more", share = 1 } end)
  if not wrote or wrote.errors > 0 or wrote.flush_error then return nil end
  local result = verify(run, stamp, m)
  if not result or result.errors > 0 then return nil end
  local again = result.mismatches[1]
  if not again then return "held" end
  return again.kind == m.kind and m.first and again.first and again.first.found == m.first.found
    and "kept" or "else"
end

local function mine(run)
  local list = {}
  for _, m in ipairs(run.document.mismatches) do
    if m.phase == run.index then list[#list + 1] = m end
  end
  return list
end

-- A write that was found at another place is no lost one.
local function link(list, by_offset)
  for _, m in ipairs(list) do
    local home = m.kind == "misdirected write" and m.found and m.found.offset_bytes
    if home then by_offset[home] = by_offset[home] or m.offset_bytes end
  end
  for _, m in ipairs(list) do
    if m.kind == "unknown" or m.kind == "lost write" or m.kind == "zeroes" then
      local landed = by_offset[m.offset_bytes]
      if landed then m.kind, m.landed_offset_bytes = "misdirected write", landed end
    end
  end
end

-- Reads the drive for blocks that hold what was written in the inquiry, somewhere else.
local function search(run, stamp, pass, lost)
  local homes, found = {}, {}
  for _, m in ipairs(lost) do homes[m.offset_bytes] = m end
  local result = verify(run, stamp, { offset_bytes = 0, length_bytes = run.usable_bytes },
    { runtime = SEARCH_S, depth = 4, block_size = math.min(1 << 20, run.usable_bytes),
      max_failures = 4096 })
  if not result then return end
  for _, m in ipairs(result.mismatches) do
    local home = m.found and m.found.pass == pass and m.found.offset_bytes
    if home and homes[home] and m.offset_bytes ~= home then found[home] = m.offset_bytes end
  end
  for home, m in pairs(homes) do
    if found[home] then m.kind, m.landed_offset_bytes = "misdirected write", found[home] end
  end
  local to = result.done_to_bytes or run.usable_bytes
  if to < run.usable_bytes and not run:over() then
    run:warn(string.format("where lost writes went was looked for up to byte %d only", to))
  end
end

local TELLS_NOTHING <const> = { unknown = true, zeroes = true }

local function rewrite_all(run, stamp, list)
  local lost, done = {}, 0
  for _, m in ipairs(list) do
    if run:over() or done >= REWRITES then break end
    if TELLS_NOTHING[m.kind] and m.length_bytes <= LONGEST and not m.rewrite then
      done = done + 1
      m.rewrite = rewrite(run, stamp, m)
      if m.rewrite == "kept" then
        m.kind = "lost write"
        lost[#lost + 1] = m
      end
    end
  end
  return lost
end

--- Looks into the mismatches that a verify has found.
-- @tparam Run run
-- @tparam table entry  the verify, of the document's `phases`
-- @tparam table stamp  of what was written
-- @treturn boolean  true
function M.run(run, entry, stamp)
  local list = mine(run)
  if #list == 0 then return true end
  entry.result = "mismatches"
  -- What is written again below must not be verified again as if it had not been.
  run:checkpoint(nil, true)
  for i = 1, math.min(#list, REREADS) do
    if run:over() then return true end
    if list[i].length_bytes <= LONGEST and not list[i].reread then list[i].reread = reread(run, stamp, list[i]) end
  end
  link(list, {})
  if stamp.pattern ~= "stamp" or run:over() then return true end
  local again = { pattern = "stamp", pass = PASS + stamp.pass, seed = stamp.seed, serial = stamp.serial }
  local lost = rewrite_all(run, again, list)
  if #lost > 0 and not run:over() then search(run, stamp, again.pass, lost) end
  return true
end

return M
