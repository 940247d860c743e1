-- The lines of the live screen: what they say, and what is left out where there is little room.
-- Runs beside others: nothing here depends on the time it takes.
-- SPDX-License-Identifier: GPL-3.0-or-later
local lines = require "hdd.cli.live.lines"
local printable = require "hdd.printable"

local function drive(name, changes)
  local state = {
    stage = "2/7 surface read", share = 0.432, bandwidth_bytes_per_s = 154.8e6, temperature_c = 38,
    errors = 0, left_s = 11040,
  }
  for key, value in pairs(changes or {}) do state[key] = value end
  return { name = name, state = state }
end

-- 60 drives, of which the 50th has errors and the 55th is silent.
local function rack()
  local drives = {}
  for i = 1, 60 do drives[i] = drive(("sd%02d"):format(i)) end
  drives[50].state.errors, drives[55].state.idle_s = 3, 12
  return drives
end

describe("the live screen's lines", function()
  it("have a row for each drive, and one for all", function()
    local drives = { drive "sdb", drive("sdc", { errors = 2 }), { name = "sdd" } }
    assert.same({
      "drive       phase                  done        rate   temp  errors         left",
      "sdb         2/7 surface read     43.2 %  154.8 MB/s   38 C       0   3 h 04 min",
      "sdc         2/7 surface read     43.2 %  154.8 MB/s   38 C       2   3 h 04 min",
      "sdd         waiting",
      "3 drives: 3 running  309.6 MB/s  2 errors  3 h 04 min left",
    }, (function()
      for _, d in ipairs(drives) do d.name = (d.name .. (" "):rep(10)):sub(1, 10) end
      return lines.of(drives, 79, 24)
    end)())
  end)

  it("say why a drive waits, what it did not answer, and how it ended", function()
    local function what(changes) return (lines.activity(drive("sdb", changes).state)) end
    assert.equal("paused: cooling to 50 C", what { mode = "paused", note = "cooling to 50 C" })
    assert.equal("silent 12 s at offset 4096", what { idle_s = 12.4, oldest_offset_bytes = 4096 })
    assert.equal("2/7 surface read", what { idle_s = 1.5 })
    assert.equal("PASS", what { verdict = "PASS" })
    local long = drive("sdb", { verdict = "FAIL", note = "3 unreadable sectors, first at LBA 123456" })
    assert.equal("sdb    FAIL: 3 unreadable sectors, first at LBA 123456", lines.of({ long }, 79, 24)[2])
  end)

  it("fit any terminal", function()
    local drives = rack()
    drives[3].state.verdict, drives[3].state.note = "FAIL", ("long "):rep(60)
    drives[4].name = ("é"):rep(300)
    for columns = 0, 130 do
      for _, rows in ipairs { 0, 1, 2, 3, 5, 24, 100 } do
        local list = lines.of(drives, columns, rows, { utf8 = columns % 2 == 0 })
        assert.is_true(#list <= rows)
        for _, line in ipairs(list) do
          if printable.width(line) > columns then error(columns .. " columns: " .. line) end
        end
      end
    end
    assert.same({}, lines.of({}, 0, 0))
    assert.equal(1, #lines.of({}, 80, 24)) -- the header
  end)

  it("keep what matters most in a narrow terminal", function()
    local list = lines.of({ drive("sdb WD-WXL0E12345", { errors = 2 }) }, 40, 24)
    assert.matches("^drive +phase +done +errors$", list[1])
    assert.matches("^sdb WD%-WX~ .*43.2 %%       2$", list[2])
    assert.not_matches("MB/s", table.concat(lines.of({ drive "sdb" }, 60, 24)))
    assert.matches("MB/s", table.concat(lines.of({ drive "sdb" }, 79, 24)))
  end)

  it("use a wide terminal for the names", function()
    local list = lines.of({ drive "sdb WD-WXL0E12345" }, 110, 24)
    assert.matches("^sdb WD%-WXL0E12345  2/7 surface read ", list[2])
  end)

  it("show what needs attention where there are more drives than rows, and the others in turn", function()
    local drives, seen = rack(), {}
    for page = 0, 9 do
      local list = lines.of(drives, 79, 12, { page = page })
      assert.equal(12, #list)
      assert.matches("^60 drives %(10 shown%): 60 running  9.* MB/s  3 errors  3 h 04 min left$", list[12])
      local text = table.concat(list, "\n")
      assert.matches("\nsd50 ", text)
      assert.matches("\nsd55   silent 12 s", text)
      for name in text:gmatch("\n(sd%d%d)") do seen[name] = true end
    end
    for i = 1, 60 do assert.is_true(seen[("sd%02d"):format(i)]) end
  end)

  it("are of all drives where all that matters is a line", function()
    assert.same({ "60 drives (1 shown): 60 running" }, (function()
      local list = lines.of(rack(), 79, 2)
      return { list[2]:match("^60 drives %(1 shown%): 60 running") }
    end)())
  end)

  it("have colours only if asked, which take no room", function()
    local drives = { drive("sdb", { errors = 2 }), drive("sdc", { verdict = "PASS" }),
      drive("sdd", { mode = "paused" }) }
    local plain = table.concat(lines.of(drives, 79, 24), "\n")
    local coloured = table.concat(lines.of(drives, 79, 24, { colour = true }), "\n")
    assert.not_matches("\27", plain)
    assert.matches("\27%[31m +2\27%[0m", coloured)
    assert.matches("\27%[32mPASS\27%[0m", coloured)
    assert.matches("\27%[33mpaused: 2/7", coloured)
    local function bare(text) return (text:gsub("\27%[%d*m", ""):gsub(" +\n", "\n"):gsub(" +$", "")) end
    assert.equal(bare(plain), bare(coloured))
  end)

  it("obey no control character, and are ASCII unless it is UTF-8", function()
    local d = drive("s\27[2Jé", { stage = "é\n" })
    assert.not_matches("[^ -~]", table.concat(lines.of({ d }, 79, 24)))
    assert.matches("38 °C", table.concat(lines.of({ d }, 79, 24, { utf8 = true })))
    assert.equal("sdb: 2/7 surface read, 43.2 %, 154.8 MB/s, 38 C, 0 errors, 3 h 04 min left",
      lines.plain(drive "sdb"))
    assert.equal("sdb: WARN: slower", lines.plain(drive("sdb", { verdict = "WARN", note = "slower" })))
  end)
end)
