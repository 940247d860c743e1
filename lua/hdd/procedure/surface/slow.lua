--- From blocks that were slow in the scan to the sectors that are slow each time: re-read once or
-- twice at a quiet moment, and narrowed down, within a budget of reads.
--
-- Whatever else holds a read up makes it slower, never faster: one fast read clears. A read of a
-- sector that costs n turns takes n turns at least, one that costs none takes less than a turn, as
-- the platter may have to come round. What the drive then has in its buffer tells nothing, so between
-- the first re-read and the second its buffer is filled with something else.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.procedure.surface.slow
local narrow = require "hdd.procedure.surface.narrow"
local statistics = require "hdd.statistics"

local M = {}

local PIECE <const>, LEAD <const> = 128 << 10, 64 << 10
local STAGE <const> = "confirming slow blocks"
local OTHER_READS <const> = 48 -- that fill the drive's buffer
local MEASURE <const> = 4      -- reads of one place that tell its turns
local OVER <const> = {}

-- From how much beyond the median a read counts as slow, ns.
local function limit_of(s)
  if s.turn_ns then return (s.p.revolutions - 0.25) * s.turn_ns end
  return 0.8 * s.p.slow * 1e9
end

-- A read right before a place, or else right behind it, brings the head there, so that no seek is in
-- its time; nothing that is bad is read for that. Returns how many reads these are.
local function lead_in(s, reads, from, to)
  for _, place in ipairs { { from - LEAD, from }, { to, to + LEAD } } do
    local parts = s.cover:ranges("+", place[1], place[2])
    local part = parts[#parts]
    if part and (part.to == from or part.from == to) then
      reads[#reads + 1] = { part.from, part.to - part.from }
      return 1
    end
  end
  return 0
end

local function pieces_of(s, suspect)
  local pieces = {}
  for _, part in ipairs(s.cover:ranges("+", suspect.offset, suspect.offset + suspect.length)) do
    local from = part.from
    while from < part.to do
      local to = math.min(part.to, from + PIECE)
      pieces[#pieces + 1] = { from = from, to = to, suspect = suspect }
      from = to
    end
  end
  return pieces
end

-- The time of a read beyond what its length takes.
local function extra_of(answer, from, to, suspect)
  return answer.ns - (to - from) * suspect.pace
end

-- Re-reads a suspect piece by piece, one right after the other: those that are slow again.
local function reread(s, suspect)
  local reads, hot, spent_ns = {}, {}, 0
  local pieces = pieces_of(s, suspect)
  suspect.settled = #pieces == 0
  if #pieces == 0 then return hot end
  local first = lead_in(s, reads, pieces[1].from, pieces[#pieces].to)
  for _, piece in ipairs(pieces) do reads[#reads + 1] = { piece.from, piece.to - piece.from } end
  local answers = s.probe:sequence(reads, STAGE)
  if s.m.over then error(OVER, 0) end
  for i, piece in ipairs(pieces) do
    local answer = answers[first + i]
    if not answer.ns then
      s.note_failed(piece.from, piece.to - piece.from, answer.error)
    else
      spent_ns = spent_ns + answer.ns
      if extra_of(answer, piece.from, piece.to, suspect) >= limit_of(s) then
        hot[#hot + 1] = piece
      end
    end
  end
  if #hot == 0 then
    suspect.settled = true
    s.clear(suspect, spent_ns)
  end
  return hot
end

-- Reads at random places: what the drive keeps of the suspects goes out of its buffer.
local function fill_buffer(s)
  local reads, parts = {}, s.cover:ranges("+")
  if #parts == 0 then return end
  for i = 1, OTHER_READS do
    local part = parts[math.random(#parts)]
    local blocks = (part.to - part.from) // s.drive.logical_block_size
    local at = part.from + math.random(0, blocks - 1) * s.drive.logical_block_size
    reads[i] = { at, math.min(4096, part.to - at) }
  end
  s.probe:sequence(reads, STAGE, true)
  if s.m.over then error(OVER, 0) end
end

-- Is a piece slow once more? Its time beyond the median, if so.
local function again(s, piece)
  local reads = {}
  lead_in(s, reads, piece.from, piece.to)
  reads[#reads + 1] = { piece.from, piece.to - piece.from }
  local answers = s.probe:sequence(reads, STAGE)
  if s.m.over then error(OVER, 0) end
  local answer = answers[#reads]
  if not answer.ns then
    s.note_failed(piece.from, piece.to - piece.from, answer.error)
    return nil
  end
  local extra = extra_of(answer, piece.from, piece.to, piece.suspect)
  piece.ns = answer.ns
  return extra >= limit_of(s) and extra or nil
end

-- The whole turns that a slow place costs, and its latency. Read again and again at once, what no
-- buffer may give comes round once and is held up each time: n + 1 turns from one completion to the
-- next, of all reads together so many times more, which hides a late look at one of them. nil when the
-- drive's buffer gives it.
local function measure_once(s, offset, length)
  local reads = {}
  for i = 1, MEASURE do reads[i] = { offset, length } end
  local answers = s.probe:sequence(reads, STAGE)
  if s.m.over then error(OVER, 0) end
  local done, latencies = {}, {}
  for _, answer in ipairs(answers) do
    if answer.ns then
      latencies[#latencies + 1] = answer.ns
      done[#done + 1] = answer.begun_ns + answer.ns
    end
  end
  local latency = statistics.percentile(latencies, 0)
  if not s.turn_ns or #done < MEASURE or latency < s.turn_ns / 2 then return nil, latency end
  local turns = (done[MEASURE] - done[1]) / (MEASURE - 1) / s.turn_ns
  return math.max(0, math.floor(turns + 0.5) - 1), latency
end

-- The same. At the limit, where a turn decides, by a majority of three.
local function measure(s, offset, length)
  local turns, latency = measure_once(s, offset, length)
  if not turns or turns ~= s.p.revolutions and turns ~= s.p.revolutions - 1 then return turns, latency end
  local second = measure_once(s, offset, length)
  if second == turns then return turns, latency end
  local third = measure_once(s, offset, length)
  return statistics.percentile({ turns, second or turns, third or turns }, 50), latency
end

local function add(s, from, to, exact, turns, latency_ns)
  local list = s.slow
  list[#list + 1] = {
    from = from, to = to, exact = exact, turns = turns, latency_ns = latency_ns,
  }
end

-- One read of a part of a piece: when it was done, and its time beyond what it takes; nothing when it
-- failed.
local function timed(s, from, to, suspect)
  local answer = s.probe:read(from, to - from, STAGE)
  if not answer then error(OVER, 0) end
  if answer.ns then
    return answer.begun_ns + answer.ns, extra_of(answer, from, to, suspect), answer.ns
  end
  s.note_failed(from, to - from, answer.error)
  return nil
end

-- Is any block of a part of a piece slow? What costs n turns takes n to n + 1, as the platter has to
-- come round: where that leaves it open the same is read again at once, see `measure`.
local function is_slow(s, from, to, suspect)
  local limit = limit_of(s)
  local first, extra = timed(s, from, to, suspect)
  if not first or extra < limit then return false end
  if extra >= (s.turn_ns and limit + s.turn_ns or limit) then return true end
  for interval = 1, 2 do
    local done
    done, extra = timed(s, from, to, suspect)
    if not done or extra < limit then return false end
    local turns = math.floor((done - first) / interval / s.turn_ns + 0.5) - 1
    if turns >= s.p.revolutions then return true end
  end
  return false
end

-- A late look may have made a run of slow blocks too long by one: its last is read once more.
local function without_late(s, run, suspect)
  local block = s.drive.logical_block_size
  while run.exact and run.to - run.from > block do
    local _, extra = timed(s, run.to - block, run.to, suspect)
    if not extra or extra >= limit_of(s) then return end
    run.to = run.to - block
  end
end

-- What a run of slow blocks costs: turns (nil where nothing turns), ns. Nothing when it is fast after
-- all, or costs less than what counts as slow.
local function cost_of(s, run, suspect, whole_ns)
  local turns, latency = measure(s, run.from, s.drive.logical_block_size)
  if turns then
    if run.exact and turns < s.p.revolutions then return nil end
    return turns, latency
  end
  if not s.turn_ns then return nil, latency and latency >= limit_of(s) and latency or nil end
  -- From the drive's buffer it is fast; is it, without?
  fill_buffer(s)
  local piece = { from = run.from, to = run.to, suspect = suspect }
  if not again(s, piece) then return nil end
  return math.floor(whole_ns / s.turn_ns), piece.ns
end

-- A run that ended where the piece begins may go on in it: block by block, for few reads. Returns where
-- it ends and whether anything behind is slow.
local function go_on(s, piece)
  local last, block, from = s.slow[#s.slow], s.drive.logical_block_size, piece.from
  if not last or not last.exact or last.to ~= from then return from, true end
  while from < piece.to and s.probe:reads_near(from) < s.p.narrow_reads
    and is_slow(s, from, from + block, piece.suspect) do
    from = from + block
  end
  if from == piece.from then return from, true end
  local run = { from = piece.from, to = from, exact = true }
  without_late(s, run, piece.suspect)
  add(s, run.from, run.to, true, last.turns, last.latency_ns)
  return run.to, run.to < piece.to and is_slow(s, run.to, piece.to, piece.suspect)
end

-- Lists what is slow in a piece that was slow three times. False when nothing of it was found to be,
-- although the whole was.
local function locate(s, piece, extra_ns)
  local suspect, found = piece.suspect, false
  local from, more = go_on(s, piece)
  if not more then return true end
  local left = s.p.narrow_reads - 1 - MEASURE - s.probe:reads_near(piece.from)
  local runs, vanished = narrow.find(from, piece.to, s.drive.logical_block_size, left,
    function(first, behind) return is_slow(s, first, behind, suspect) end)
  for _, run in ipairs(runs) do
    without_late(s, run, suspect)
    local turns, latency = cost_of(s, run, suspect, extra_ns)
    if latency then add(s, run.from, run.to, run.exact, turns, latency) end
    found = found or latency ~= nil
  end
  return found or not vanished and #runs > 0
end

-- A piece that was slow in the scan and in the first re-read: what of it is slow.
local function settle_one(s, piece, unlocated)
  local extra = again(s, piece)
  if not extra then return end
  -- It may have cost a turn less, and had to wait for the platter, too.
  local turns
  if s.turn_ns and extra < (s.p.revolutions + 1) * s.turn_ns then
    turns = measure(s, piece.from, piece.to - piece.from)
    if turns and turns < s.p.revolutions then return end
  end
  if not locate(s, piece, turns and turns * s.turn_ns or extra) then
    unlocated[#unlocated + 1] = piece
  end
end

-- The second re-read of what was slow in the first, and the search in what is slow still.
local function settle(s, hot)
  local unlocated = {}
  if #hot == 0 then return end
  fill_buffer(s)
  for i, piece in ipairs(hot) do
    s.tell("narrowing down slow blocks", (i - 1) / #hot, piece.from)
    settle_one(s, piece, unlocated)
    local behind = hot[i + 1]
    piece.suspect.settled = not (behind and behind.suspect == piece.suspect)
    s.save()
  end
  if #unlocated == 0 then return end
  -- Its very place was not found, as from the drive's buffer all is fast. Slow a third time, it is
  -- listed as a whole.
  fill_buffer(s)
  for _, piece in ipairs(unlocated) do
    local extra = again(s, piece)
    local turns = extra and s.turn_ns and measure(s, piece.from, piece.to - piece.from)
    if extra and not (turns and turns < s.p.revolutions) then
      turns = turns or s.turn_ns and math.floor(extra / s.turn_ns) or nil
      add(s, piece.from, piece.to, false, turns, piece.ns)
    end
  end
end

-- The worst suspects for which there are reads, in the order in which they lie; the rest stay
-- suspects.
local function choose(s)
  local list, each = s.suspects(), s.p.block_size // PIECE + 2
  table.sort(list, function(a, b) return a.extra_ns > b.extra_ns end)
  local many = math.max(0, math.min(#list, (s.p.rereads - s.reread) // each))
  local chosen = table.move(list, 1, many, 1, {})
  s.keep_suspects(table.move(list, many + 1, #list, 1, {}))
  table.sort(chosen, function(a, b) return a.offset < b.offset end)
  return chosen
end

--- Confirms the suspects of the scan, the worst first as far as the budget goes.
-- @tparam table s  the state of the procedure
-- @treturn boolean  true, also when the measurement is over
function M.confirm(s)
  local before, chosen, hot = s.probe.reads, choose(s), {}
  local ok, failure = pcall(function()
    for i, suspect in ipairs(chosen) do
      s.tell(STAGE, (i - 1) / #chosen, suspect.offset)
      local pieces = reread(s, suspect)
      table.move(pieces, 1, #pieces, #hot + 1, hot)
    end
    settle(s, hot)
  end)
  s.reread = s.reread + s.probe.reads - before
  table.sort(s.slow, function(a, b) return a.from < b.from end)
  -- After Ctrl-C or a fault of the drive: what was not settled is a suspect still.
  for _, suspect in ipairs(chosen) do
    if not suspect.settled then s.keep_suspects({ suspect }) end
  end
  if not ok and failure ~= OVER then error(failure, 0) end
  return true
end

return M
