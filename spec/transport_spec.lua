-- Commands to a drive: bridges, sleep, faults, late answers, and what is told of each.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local sgreplay = require "spec.support.sgreplay"
local shell = require "spec.support.shell"
local transport = require "hdd.transport"

local DRIVE <const> = "ata/WD6000HLHX-01JJPV0-a"
local BLOB <const> = "spec/fixtures/smart/" .. DRIVE .. "/libatasmart.blob"

-- What a chunk prints, run behind the ioctl with this environment.
local function printed(chunk, env, options)
  options = options or {}
  local r = sgreplay.lua(options.drive or DRIVE, [[
    local hdd, transport, ata = require "hdd", require "hdd.transport", require "hdd.transport.ata"
    local path, kind = ...
    local function open(options)
      options = options or {}
      options.as = options.as or kind
      return transport.open(path, options)
    end
  ]] .. chunk, {env = env, timeout = 60})
  assert.equal("", r.stderr)
  return r.stdout, r
end

describe("a drive behind a bridge", function()
  it("that knows the 12 byte form alone is asked in it", function()
    assert.equal("12\t512\ttrue\n", printed([[
      local t <close> = assert(open())
      print(t.form, #assert(ata.smart_data(t)), ata.smart_status(t))
    ]], {SGREPLAY_ONLY12 = "1"}))
  end)

  it("that knows the 12 byte form alone has no 48 bit commands, and it says why", function()
    assert.matches("page 0: this bridge hands no 48 bit commands on\tno pass%-through\n", printed([[
      local t <close> = assert(open())
      local _, message, code = ata.log(t, 0x11)
      print(message, transport.reason(code))
    ]], {SGREPLAY_ONLY12 = "1"}))
  end)

  it("that hands nothing on is a SCSI drive, with the reason kept", function()
    assert.matches("scsi\t.*IDENTIFY DEVICE: not passed on to the drive", printed([[
      local t <close> = assert(open {as = "scsi"})
      print(t.kind, t.no_ata)
    ]], nil, {drive = "scsi/SEAGATE_ST373453LC"}))
  end)

  it("that returns no registers has an unknown status, which is not a bad one", function()
    assert.matches("^nil\t.*SMART RETURN STATUS: no registers came back\tno registers\t512\n", printed([[
      local t <close> = assert(open())
      local good, message, code = ata.smart_status(t)
      print(good, message, transport.reason(code), #assert(ata.smart_data(t)))
    ]], {SGREPLAY_NOREGS = "1"}))
  end)

  it("that answers in fixed format is understood as well", function()
    assert.equal("true\t70\n", printed([[
      local t <close> = assert(open())
      print(ata.smart_status(t), ata.sct_erc(t, "read"))
    ]], {SGREPLAY_SENSE = "fixed"}))
  end)
end)

describe("a drive that sleeps", function()
  local SLEEPING <const> = {SGREPLAY_POWER = "00", SGREPLAY_TRACE = "1"}

  it("is sent nothing but the question whether it does", function()
    local r = sgreplay.lua(DRIVE, [[
      local transport = require "hdd.transport"
      local path, kind = ...
      local t, message, code = transport.open(path, {as = kind})
      print(t, message, transport.reason(code))
    ]], {env = SLEEPING})
    assert.matches("^nil\t.*the drive is asleep %(standby%), and it was not woken\tasleep\n", r.stdout)
    for command in r.stderr:gmatch("cmd=(%x%x)") do assert.equal("e5", command) end
  end)

  it("is woken when asked to be", function()
    local r = sgreplay.lua(DRIVE, [[
      local path, kind = ...
      local t <close> = assert(require("hdd.transport").open(path, {as = kind, wake = true}))
      print(t:standby(), #t.identify)
    ]], {env = SLEEPING})
    assert.equal("true\t512\n", r.stdout)
  end)

  it("later on is left to sleep, once it has not been asked for a while", function()
    assert.matches("^512\n512\nnil\t.*the drive is asleep", printed([[
      local t <close> = assert(open())
      print(#assert(ata.smart_data(t)))
      print(#assert(ata.smart_data(t)))
      hdd.sleep(1.1)
      local page, message = ata.smart_data(t)
      print(page, message)
    ]], {SGREPLAY_POWER = "ff,00"}))
  end)
end)

describe("a command that fails", function()
  local function failure(kind)
    return printed([[
      local t <close> = assert(open())
      local page, message, code = ata.log(t, 0x11)
      print(page, message:match("page 0: (.*)"), transport.reason(code))
      print(#assert(ata.smart_data(t)))
    ]], {SGREPLAY_FAIL = "2f/11=" .. kind})
  end

  for kind, told in pairs {
    abrt = "the drive aborts the command (error 04h)\tnot supported",
    refuse = "not passed on to the drive (sense 5/20/00)\tno pass-through",
    timeout = "no answer in time (host status 03h)\ttimed out",
    short = "256 of 512 bytes came\tfailed",
    medium = "the drive reports an error (sense 3/11/00)\tfailed",
    enotty = "its driver takes no such commands (ENOTTY)\tno such drive",
    gone = "the drive is gone (ENODEV)\tgone",
  } do
    it("with " .. kind .. " says so, and the others go on", function()
      assert.equal("nil\t" .. told .. "\n512\n", failure(kind))
    end)
  end

  it("for want of rights names the one that is missing", function()
    assert.matches("it may be read, but not sent commands: the kernel asks for CAP_SYS_RAWIO.*permission\n",
      printed([[
        local t, message, code = open()
        print(t, message, transport.reason(code))
      ]], {SGREPLAY_FAIL = "e5=eperm,ec=eperm"}))
  end)

  it("is refused by the table unless the drive was opened with consent", function()
    assert.equal("nil\trefused\ntrue\ttrue\nnil\trefused\ttrue\n", printed([[
      local ENABLE = {command = 0xb0, features = 0xd8, lba = 0xc24f00}
      local t = assert(open())
      local reply, _, code = t:ata(ENABLE)
      print(reply, transport.reason(code))
      t = assert(open {consent = "self-tests"})
      print(ata.self_test(t, "short"), ata.self_test(t, "abort"))
      local u, message, why = open {consent = "WD-OF-ANOTHER"}
      t = assert(open {consent = "FX7959969306"})
      print(u, transport.reason(why), t:ata(ENABLE) ~= nil)
    ]]))
  end)
end)

describe("a drive that answers late", function()
  local LATE <const> = {SGREPLAY_DELAY_MS = "400"}

  it("is waited for in vain, and its answer taken when it comes", function()
    assert.equal("no answer yet\nno answer yet\t512\n512\n", printed([[
      local t <close> = assert(open {wait = 5})
      t.wait_s = 0.05
      local reply, _, code, late = t:ata {command = 0xec, protocol = "pio-in", count = 1}
      print(transport.reason(code))
      -- Nothing is queued behind it: the next one fails at once, with the same to wait for.
      local _, _, again, same = t:ata {command = 0xec, protocol = "pio-in", count = 1}
      assert(same == late)
      print(transport.reason(again), #assert(late:wait(5)).data)
      t.wait_s = 5
      print(#assert(ata.smart_data(t)))
    ]], LATE))
  end)

  it("does not hold up other tasks", function()
    local out = printed([[
      local t <close> = assert(open())
      local ticks = 0
      local ticking = hdd.task(function() for _ = 1, 100 do hdd.sleep(0.02); ticks = ticks + 1 end end)
      local asking = hdd.task(function() return #assert(ata.smart_data(t)) end)
      print(asking:wait(), ticks > 3)
      ticking:cancel()
    ]], LATE)
    assert.equal("512\ttrue\n", out)
  end)

  it("is asked one thing at a time by two tasks, and by two ways to it", function()
    assert.equal("512\t512\ttrue\n", printed([[
      local a, b = assert(open()), assert(open())
      local from = hdd.now()
      local first = hdd.task(function() return #assert(ata.smart_data(a)) end)
      local second = hdd.task(function() return #assert(ata.smart_data(a)) end)
      print(first:wait(), second:wait(), hdd.now() - from > 0.75e9)
      a:close() b:close()
    ]], LATE))
  end)

  it("does not keep a script from ending, nor its answer from being taken", function()
    local out, r = printed([[
      local t = assert(open())
      t.wait_s = 0.05
      t:ata {command = 0xec, protocol = "pio-in", count = 1}
      t:close()
      t = nil
      collectgarbage()
      print "end"
    ]], LATE)
    assert.equal("end\n", out)
    assert.equal(0, r.status)
  end)

  it("is given up at Ctrl-C", function()
    local r = sgreplay.lua(DRIVE, [[
      local path, kind = ...
      local transport = require "hdd.transport"
      local t = assert(transport.open(path, {as = kind, wait = 60}))
      print "open"
      io.stdout:flush()
      local reply, message, code = t:ata {command = 0xec, protocol = "pio-in", count = 1}
      print(reply, transport.reason(code))
      print(pcall(t.ata, t, {command = 0xec, protocol = "pio-in", count = 1}))
    ]], {
      env = {SGREPLAY_DELAY_MS = "1500"}, events = {{when = "open", after = 0.2, signal = "INT"}},
    })
    assert.matches("open\nnil\tinterrupted\nfalse\tinterrupted\n", r.stdout)
    assert.is_true(r.elapsed_s < 40) -- of the 60 that it would have waited
  end)
end)

describe("what is no drive", function()
  local function refuses(path, why, code)
    local t, message, number = transport.open(path)
    assert.is_nil(t)
    assert.matches(why, message, 1, true)
    assert.equal(code, number)
  end

  it("is refused by what it is", function()
    refuses("/no/such/drive", "No such file or directory", 2)
    refuses("/dev/null", "is a character device, and no drive", 25)
    refuses("/", "is a directory", 22)
    refuses(scratch.file(4096), "is neither a recording nor a libatasmart blob", 74)
  end)

  it("is refused as a loop device, whatever lies beneath", function()
    local needs = require "spec.support.needs"
    needs.loop()
    local loop <close> = require("spec.support.loop").attach(scratch.file(1 << 20))
    refuses(loop.path, "is a loop device: a file, which has no drive to ask", 25)
  end)
end)

describe("a recording or a blob", function()
  it("is opened like a drive", function()
    local t <close> = assert(transport.open(BLOB))
    assert.equal("ata", t.kind)
    assert.equal(512, #t.identify)
    assert.matches("^transport .*%(ata%)$", tostring(t))
  end)

  it("is closed for good", function()
    local t = assert(transport.open(BLOB))
    t:close()
    t:close()
    local reply, message, code = t:ata {command = 0xec, protocol = "pio-in", count = 1}
    assert.is_nil(reply)
    assert.matches("closed$", message)
    assert.equal("closed", transport.reason(code))
  end)

  it("leaves no descriptor behind", function()
    local r = process.lua([[
      local transport, blob = require "hdd.transport", ...
      local function count()
        local n = 0
        for _ in require("lfs").dir("/proc/self/fd") do n = n + 1 end
        return n
      end
      assert(transport.open(blob)):close()
      collectgarbage()
      local before = count()
      for _ = 1, 10 do assert(transport.open(blob)):close() end
      for _ = 1, 10 do assert(transport.open(blob)) end
      collectgarbage() collectgarbage()
      local deadline = require("hdd.core").now() + 5e9
      while count() > before and require("hdd.core").now() < deadline do end
      print(count() - before)
    ]], {arguments = {BLOB}})
    assert.equal("0\n", r.stdout .. r.stderr)
  end)
end)

describe("a drive of hdd.open", function()
  it("takes commands itself", function()
    local r = sgreplay.lua(DRIVE, [[
      local hdd = require "hdd"
      local drive <close> = assert(hdd.open((...)))
      print(#drive:commands({as = "ata"}).identify)
      print(#assert(drive:ata {command = 0xec, protocol = "pio-in", count = 1}).data)
      print(select(2, drive:nvme {opcode = 6}))
    ]])
    assert.equal("", r.stderr)
    assert.matches("^512\n512\n.*is no NVMe drive: it takes no NVMe commands\t25\n$", r.stdout)
  end)

  it("is opened for reading alone", function()
    local needs = require "spec.support.needs"
    needs.strace()
    local r = sgreplay.lua(DRIVE, [[
      local t <close> = assert(require("hdd.transport").open((...), {as = "ata"}))
    ]], {trace = "openat,open"})
    local opened = 0
    for line in r.trace:gmatch("[^\n]*scratch[^\n]*") do
      assert.matches("O_RDONLY", line)
      opened = opened + 1
    end
    assert.is_true(opened >= 1, shell.quote(r.trace:sub(-500)))
  end)
end)
