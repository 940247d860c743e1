-- The live screen on real terminals, and where there is none.
-- SPDX-License-Identifier: GPL-3.0-or-later
local lines = require "hdd.cli.live.lines"
local live = require "hdd.cli.live"
local process = require "spec.support.process"

-- Three drives for ten states each; then it ends as it is told to.
local CHUNK <const> = [[
local core, hdd, live = require "hdd.core", require "hdd", require "hdd.cli.live"
local how, charset = ...
local screen <close> = live.new({ "sdb", "sdc", "sdé" }, { charset = charset })
for step = 1, how == "wait" and 100 or 8 do
  for i = 1, 3 do
    screen:show(i, { stage = "surface read", share = step % 10 / 10, errors = i - 1, temperature_c = 40 })
  end
  if step == 4 then screen:say "the state cannot be saved" end
  hdd.sleep(0.05)
end
for i = 1, 3 do screen:show(i, { verdict = i == 1 and "PASS" or "FAIL", note = "bad sectors" }) end
if how == "error" then error "something is wrong" end
screen:close()
print "the summary"
]]

local function run(how, options)
  options.arguments, options.timeout = { how, options.charset }, 30
  options.env = options.env or { TERM = "xterm", NO_COLOR = false, LC_ALL = "C.UTF-8" }
  return process.lua(CHUNK, options)
end

-- What a terminal shows in the end, and the screen's escape sequences: carriage return, line feed,
-- up, erase to the end of line and screen, colours. Anything else is not known, and an error.
local function shown(text, columns)
  local rows, row, column = { {} }, 1, 1
  local position = 1
  while position <= #text do
    local c = text:sub(position, position)
    local parameter, final = text:match("^\27%[(%d*)(%a)", position)
    if final then
      position = text:find(final, position, true)
      if final == "A" then
        row = math.max(1, row - tonumber(parameter))
      elseif final == "K" or final == "J" then
        for x = column, columns do rows[row][x] = nil end
        if final == "J" then
          for y = row + 1, #rows do rows[y] = nil end
        end
      elseif final ~= "m" then
        error("what is " .. final)
      end
    elseif c == "\r" then
      column = 1
    elseif c == "\t" then
      column = (column + 7) // 8 * 8 + 1
    elseif c == "\n" then
      row = row + 1
      rows[row] = rows[row] or {}
    elseif c:byte() >= 0x20 and (c:byte() < 0x80 or c:byte() >= 0xC0) then
      if column > columns then error "a line is wider than the terminal" end
      rows[row][column] = c:byte() < 0x80 and c or "?"
      column = column + 1
    elseif c:byte() < 0x20 then
      error(("what is byte %d"):format(c:byte()))
    end
    position = position + 1
  end
  local out = {}
  for y, cells in ipairs(rows) do
    local line = {}
    for x = 1, columns do line[x] = cells[x] or " " end
    out[y] = table.concat(line):gsub(" +$", "")
  end
  return (table.concat(out, "\n"):gsub("\n+$", ""))
end

local function terminal(columns, rows, streams)
  return { columns = columns, rows = rows, streams = streams or { "stdin", "stdout", "stderr" } }
end

describe("the live screen", function()
  it("leaves its messages and what is printed after it on the terminal, and nothing of itself", function()
    for _, columns in ipairs { 80, 60, 132 } do
      local r = run("end", { terminal = terminal(columns, 24) })
      assert.equal(0, r.status, r.stdout)
      assert.equal("the state cannot be saved\nthe summary", shown(r.stdout, columns))
    end
  end)

  it("is drawn at most a few times a second", function()
    local r = run("end", { terminal = terminal(80, 24) })
    local drawn = select(2, r.stdout:gsub("drive  ", ""))
    assert.is_true(drawn >= 2 and drawn <= 4 * r.elapsed_s + 5) -- 3 at their end, 2 about the message
  end)

  it("leaves the terminal clean after Ctrl-C and after an error", function()
    local r = run("wait", { terminal = terminal(80, 24), events = { { when = "sdc", input = "\3" } } })
    assert.equal(130, r.status, r.stdout)
    assert.matches("interrupted$", (shown(r.stdout, 80)))
    assert.not_matches("surface read", shown(r.stdout, 80))
    r = run("error", { terminal = terminal(80, 24) })
    local left = shown(r.stdout, 80)
    assert.matches("something is wrong", left)
    assert.not_matches("bad sectors", left)
  end)

  it("survives any size, and being resized", function()
    for _, size in ipairs { { 0, 0 }, { 1, 1 }, { 5, 20 }, { 20, 5 }, { 300, 2 } } do
      local r = run("end", { terminal = terminal(size[1], size[2]) })
      assert.equal(0, r.status, r.stdout)
      assert.matches("the summary", r.stdout)
    end
    local r = run("end", { terminal = terminal(80, 24), events = {
      { when = "20.0 %", window = { 40, 10 } }, { when = "40.0 %", window = { 1, 1 } },
      { when = "cannot be", window = { 100, 30 } },
    } })
    assert.equal(0, r.status, r.stdout)
    assert.matches("\27%[H\27%[2J", r.stdout) -- begun anew, as the lines may be anywhere
  end)

  it("has colours and movement only where the environment allows", function()
    local function escapes(env)
      env.LC_ALL = "C.UTF-8"
      local r = run("end", { terminal = terminal(80, 24), env = env })
      return r.stdout:match("\27%[%d+m") ~= nil, r.stdout:match("\27") ~= nil, r.stdout
    end
    local colours, movement = escapes { TERM = "xterm", NO_COLOR = false }
    assert.is_true(colours)
    assert.is_true(movement)
    colours, movement = escapes { TERM = "xterm", NO_COLOR = "1" }
    assert.is_false(colours)
    assert.is_true(movement)
    for _, term in ipairs { "dumb", "", "no-such-terminal" } do
      local text
      colours, movement, text = escapes { TERM = term, NO_COLOR = false }
      assert.is_false(colours or movement)
      assert.matches("sdb: surface read, 10.0 %%, 40 °C, 0 errors", text)
      assert.not_matches("\r[^\n]", text)
    end
  end)

  it("is ASCII where the locale is not UTF-8, or as asked", function()
    local r = run("end", { terminal = terminal(80, 24), env = { TERM = "xterm", LC_ALL = "C" } })
    assert.matches("40 C", r.stdout)
    assert.not_matches("[\128-\255]", r.stdout)
    r = run("end", { terminal = terminal(80, 24), charset = "ascii" })
    assert.not_matches("[\128-\255]", r.stdout)
  end)
end)

describe("the live screen of what is no terminal", function()
  it("is a timed line at each change of phase and at the end, and messages", function()
    local r = run("end", {})
    local log = r.stderr
    assert.equal("the summary\n", r.stdout)
    assert.not_matches("[\27\r]", log)
    local count = 0
    for line in log:gmatch("[^\n]+") do
      count = count + 1
      assert.matches("^20%d%d%-%d%d%-%d%d %d%d:%d%d:%d%d ", line)
    end
    assert.equal(3 + 1 + 3, count)
    assert.matches("sdb: surface read, 10.0 %%, 40 °C, 0 errors\n", log)
    assert.matches("the state cannot be saved\n", log)
    assert.matches("sdc: FAIL: bad sectors\n$", (log:gsub("[^\n]*sdé[^\n]*\n", "")))
  end)

  it("tells now and then how far a long phase is", function()
    local file = assert(io.tmpfile())
    local screen = live.new({ "sdb" }, { stream = file, plain_s = 0, charset = "ascii" })
    for i = 1, 3 do screen:show(1, { stage = "read", share = i / 10 }) end
    screen:tick()
    screen:close()
    screen:show(1, { stage = "read", share = 1 })
    file:seek("set")
    local log = file:read("a")
    file:close()
    assert.equal(3, select(2, log:gsub("\n", "")))
    assert.matches("sdb: read, 30.0 %%\n$", log)
    assert.equal("1 drives: 1 running", (lines.summary { { name = "sdb" } }))
  end)
end)
