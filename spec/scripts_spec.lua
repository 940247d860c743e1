-- The shipped scripts, run the way a person runs them.
-- SPDX-License-Identifier: GPL-3.0-or-later
local document = require "hdd.document"
local faultfs = require "spec.support.faultfs"
local json = require "dkjson"
local loop = require "spec.support.loop"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local MiB <const> = 1 << 20

local SCRIPTS <const> = {
  zoneprofile = { "--count", "4", "--zone-size", "1m" },
  qdsweep = {
    "--depths", "1,2", "--block-sizes", "4k", "--ramp", "0", "--runtime", "0.2", "--rpm", "0",
  },
}

-- Runs a script on a drive with its few options above and more.
local function run(script, drive, more, options)
  local arguments = { script, drive }
  for _, list in ipairs { SCRIPTS[script], more or {} } do
    table.move(list, 1, #list, #arguments + 1, arguments)
  end
  return process.hddlua(arguments, options)
end

local function load_document(path)
  local d, complaints = assert(document.load(path))
  assert.same({}, complaints)
  return d
end

local drive = scratch.file(16 * MiB)

for script in pairs(SCRIPTS) do
  describe(script, function()
    it("explains itself, with defaults and an example", function()
      local r = process.hddlua { script, "--help" }
      assert.equal(0, r.status)
      assert.matches("default: ", r.stdout)
      assert.matches("Example: hddlua " .. script .. " /dev/sdX", r.stdout)
      assert.matches("Nothing is written to the drive", r.stdout)
      assert.equal("", r.stderr)
    end)

    it("prints a table, and nothing that is not for a file or a pipe", function()
      local r = run(script, drive)
      assert.equal(0, r.status)
      assert.equal("", r.stderr)
      assert.matches("16.8 MB %(16.0 MiB%)", r.stdout)
      assert.matches("MB/s", r.stdout)
      assert.not_matches("[\r\27]", r.stdout)
    end)

    it("writes JSON to standard output, and nothing else there", function()
      needs.fuse()
      local disk <close> = faultfs.mount { "at=1M,length=4k,error=EIO", size = 4 * MiB }
      local r = run(script, disk.path, { "--json", "-", "--from", "0", "--max-errors", "1" })
      assert.equal(1, r.status)
      local d = assert(json.decode(r.stdout, 1, nil))
      assert.equal("hddlua." .. script .. "/1", d.schema)
      assert.matches("the measurement failed: ", r.stderr)
    end)

    it("writes files, which it does not overwrite unless asked to", function()
      local saved, rows = scratch.path("json"), scratch.path("csv")
      local more = { "--json", saved, "--csv", rows }
      assert.equal(0, run(script, drive, more).status)
      local d = load_document(saved)
      assert.equal("complete", d.status)
      assert.equal("hddlua." .. script .. "/1", d.schema)
      local header, first = shell.read(rows):match("^(.-)\r\n(.-)\r\n")
      assert.equal(select(2, header:gsub(",", "")), select(2, first:gsub(",", "")))
      local before = shell.read(saved)
      local r = run(script, drive, more)
      assert.equal(2, r.status)
      assert.equal("", r.stdout)
      assert.matches("cannot write .*: it exists already", r.stderr)
      assert.is_true(r.elapsed_s < 5)
      assert.equal(before, shell.read(saved))
      table.insert(more, "--force")
      assert.equal(0, run(script, drive, more).status)
      assert.not_equal(before, shell.read(saved))
    end)

    it("saves under a name of its own", function()
      local folder = scratch.path("folder")
      shell.must("mkdir " .. folder)
      local argv = { shell.must("realpath " .. process.interpreter), script, drive, "--save" }
      table.move(SCRIPTS[script], 1, #SCRIPTS[script], #argv + 1, argv)
      -- The specs' own paths are relative to where they run.
      local r = process.run(argv, { cwd = folder, env = { LUA_PATH = false, LUA_CPATH = false } })
      assert.equal(0, r.status)
      local name = r.stderr:match("saved as (%S+)\n")
      assert.matches("^" .. script .. "%-.*%-%d+T%d+Z%.json$", name)
      assert.equal("complete", load_document(folder .. "/" .. name).status)
    end)

    it("saves under another name when that is taken", function()
      local saved, folder = scratch.path("json"), scratch.path("folder")
      shell.must("mkdir " .. folder)
      run(script, drive, { "--json", saved })
      local code = string.format([[
        local d = assert(require("hdd.document").load(%q))
        for _ = 1, 3 do
          local output = assert(require("hdd.cli.output").new({ save = true }, { path = "/" }, "x"))
          assert(output:finish(d) == 0)
        end
      ]], saved)
      local argv = { shell.must("realpath " .. process.interpreter), "-e", code }
      local r = process.run(argv, { cwd = folder, env = { LUA_PATH = false, LUA_CPATH = false } })
      assert.equal(0, r.status)
      assert.matches("saved as .*Z%.json\n.*Z%-2%.json\n.*Z%-3%.json\n", r.stderr)
      assert.equal("3", shell.must("ls " .. folder .. " | wc -l"))
    end)

    it("refuses what makes no sense, naming it, with status 2", function()
      for _, wrong in ipairs {
        { {}, "missing argument 'drive'" },
        { { drive, "--nonsense" }, "unknown option '%-%-nonsense'" },
        { { drive, "--from", "x" }, "%-%-from: \"x\"" },
        { { drive, "--from", "50%", "--to", "40%" }, "nothing lies between" },
        { { "/no/such/drive" }, "/no/such/drive: No such file or directory" },
        { { "/tmp" }, "is a directory" },
        { { "/dev/zero" }, "is a character device: .* give one" },
        { { drive, "--json", "/no/such/folder/x" }, "cannot write /no/such/folder/x" },
        { { drive, "--json", "/tmp" }, "is a directory" },
        { { drive, "--json", drive, "--force" }, "is what is being measured" },
        { { drive, "--json", "-", "--csv", "-" }, "only one of the results" },
        { { drive, "--json", "/tmp/hddlua-x", "--csv", "/tmp/./hddlua-x" },
          "cannot write /tmp/./hddlua%-x: it is to take another result, too" },
        { { drive, "--rpm", "-1" }, "unknown option '%-1': a value that begins with %- is written" },
      } do
        local r = process.hddlua(table.move(wrong[1], 1, #wrong[1], 2, { script }))
        assert.equal(2, r.status)
        assert.equal("", r.stdout)
        assert.matches("^" .. script .. ": .*" .. wrong[2], r.stderr)
      end
    end)

    it("refuses a result on a drive", function()
      needs.loop()
      local disk <close> = loop.attach(scratch.file(4 * MiB))
      local r = run(script, disk.path, { "--json", disk.path, "--force" })
      assert.equal(2, r.status)
      assert.matches("cannot write /dev/loop%d+: it is what is being measured", r.stderr)
      r = run(script, drive, { "--json", disk.path, "--force" })
      assert.equal(2, r.status)
      assert.matches("it is a drive, and results go into files", r.stderr)
    end)

    it("ends with 3 when a result cannot be saved in the end, and saves the others", function()
      local saved = scratch.path("json")
      local r = run(script, drive, { "--json", saved, "--csv", "/dev/full" })
      assert.equal(3, r.status)
      assert.matches("cannot write /dev/full: No space left on device", r.stderr)
      assert.matches("MB/s", r.stdout)
      assert.equal("complete", load_document(saved).status)
    end)

    it("ends with 1 when reads failed", function()
      needs.fuse()
      local disk <close> = faultfs.mount { "at=1M,length=512k,error=EIO", size = 4 * MiB }
      local r = run(script, disk.path, { "--max-errors", "100000000" })
      assert.equal(1, r.status)
      assert.matches("EIO at", r.stdout)
    end)

    it("ends with 3 and a traceback when it is at fault itself, and saves what there is", function()
      local saved = scratch.path("json")
      local chunk = ([[package.preload["hdd.procedure.%s"] = function()
        local document = require "hdd.document"
        return { run = function(drive, parameters, observer)
          observer.save(document.new("hddlua.%s/1", drive:identity(), {}))
          error("oops")
        end }
      end]]):format(script, script)
      local r = run(script, drive, { "--json", saved }, { env = { LUA_INIT = chunk } })
      assert.equal(3, r.status)
      assert.matches("internal error: .*oops\nstack traceback", r.stderr)
      local d = assert(document.load(saved) or json.decode(shell.read(saved)))
      assert.equal("failed", d.status)
    end)

    it("does not mind a reader that has seen enough", function()
      local r = process.run { "sh", "-c",
        ("%s %s %s %s | head -n 1"):format(process.interpreter, script,
        drive, table.concat(SCRIPTS[script], " ")) }
      assert.equal("", r.stderr)
      assert.matches("^[^\n]+\n$", r.stdout)
    end)

    it("reads through the page cache only on request, and says so", function()
      needs.fuse()
      local disk <close> = faultfs.mount { size = 4 * MiB, no_direct = true }
      local r = run(script, disk.path)
      assert.equal(2, r.status)
      assert.matches("direct I/O is refused .*%-%-buffered", r.stderr)
      r = run(script, disk.path, { "--buffered" })
      assert.equal(0, r.status)
      assert.matches("read through the page cache", r.stdout)
      assert.matches("Warning: reads went through the page cache", r.stdout)
    end)

    it("says why when the kernel refuses io_uring", function()
      needs.strace()
      for _, name in ipairs { "EPERM", "ENOSYS" } do
        local r = run(script, drive, {}, { inject = { "io_uring_setup:error=" .. name } })
        assert.equal(2, r.status)
        assert.matches("io_uring", r.stderr)
        assert.equal("", r.stdout)
      end
    end)
  end)
end

describe("Ctrl-C", function()
  local disk

  local LONG <const> = {
    zoneprofile = { "--count", "8", "--zone-size", "256k", "--passes", "1000" },
    qdsweep = { "--depths", "1,2,4", "--block-sizes", "512,4k", "--ramp", "0", "--runtime", "1" },
  }

  -- 2 ms a read: what takes long takes long.
  before_each(function()
    if not needs.why("fuse") then disk = faultfs.mount { "delay=2", size = 8 * MiB } end
  end)
  after_each(function()
    if disk then disk:unmount() end
    disk = nil
  end)

  local function interrupt(script, events, more)
    local saved = scratch.path("json")
    local arguments = { script, disk.path, "--json", saved }
    for _, list in ipairs { LONG[script], more or {} } do
      table.move(list, 1, #list, #arguments + 1, arguments)
    end
    local r = process.hddlua(arguments, { events = events, timeout = 30 })
    return r, saved
  end

  for script in pairs(LONG) do
    it("ends " .. script .. " at any moment with 130, and what was measured is saved", function()
      needs.fuse()
      for _, after in ipairs { 0.15, 0.6, 1.7 } do
        local r, saved = interrupt(script, { { after = after, signal = "INT" } })
        assert.equal(130, r.status)
        assert.is_true(r.elapsed_s < after + 2)
        if shell.read(saved) then
          local d = load_document(saved)
          assert.equal("interrupted", d.status)
          assert.is_truthy(d.finished_at)
          assert.matches("Interrupted: what was measured until then", r.stdout)
          if after > 1.5 then assert.is_true(#(d.zones or d.rows) > 0) end
        else -- before there was anything to save
          assert.is_true(after < 0.5)
          assert.matches("interrupted", r.stderr)
        end
      end
    end)
  end

  it("is like SIGTERM and SIGHUP, but for the status", function()
    needs.fuse()
    for name, status in pairs { TERM = 143, HUP = 129 } do
      local r, saved = interrupt("zoneprofile", { { after = 1, signal = name } })
      assert.equal(status, r.status)
      assert.equal("interrupted", load_document(saved).status)
    end
  end)

  it("ends a run on a drive that does not answer", function()
    needs.fuse()
    disk:unmount()
    disk = faultfs.mount { "after=50,hang", size = 8 * MiB }
    local r, saved = interrupt("qdsweep", { { after = 1, signal = "INT" } }, { "--runtime", "20" })
    assert.equal(130, r.status)
    assert.is_true(r.elapsed_s < 6)
    local d = load_document(saved)
    assert.equal("interrupted", d.status)
    assert.matches("not answered", table.concat(d.warnings, "\n"))
  end)

  it("restores the I/O scheduler, also when pressed twice", function()
    needs.fuse()
    needs.loop()
    local loop_disk <close> = loop.attach(disk.file)
    local file = ("/sys/block/%s/queue/scheduler"):format(loop_disk.name)
    shell.run("echo mq-deadline > " .. file)
    local before = shell.read(file)
    if not before:find("[mq-deadline]", 1, true) then
      return pending("this kernel has no mq-deadline")
    end
    local arguments = { "qdsweep", loop_disk.path, "--depths", "1", "--ramp", "0" }
    local once, again = { after = 1, signal = "INT" }, { after = 1.2, signal = "INT" }
    for _, events in ipairs { { once }, { once, again } } do
      local r = process.hddlua(arguments, { events = events, timeout = 20 })
      assert.equal(130, r.status)
      assert.is_true(r.elapsed_s < 5)
      assert.equal(before, shell.read(file))
    end
  end)
end)

describe("results that are saved as the run goes on", function()
  it("are told once when there is no room, and the measuring goes on", function()
    needs.root()
    needs.fuse()
    local folder = scratch.path("small")
    shell.must(("mkdir %s && mount -t tmpfs -o size=8k none %s"):format(folder, folder))
    local disk <close> = faultfs.mount { "delay=2", size = 2 * MiB }
    local r = process.hddlua({ "zoneprofile", disk.path, "--count", "16", "--zone-size", "64k",
      "--block-size", "4k", "--passes", "36", "--json", folder .. "/x.json" }, { timeout = 60 })
    shell.must("umount " .. folder)
    assert.equal(3, r.status)
    assert.equal(1, select(2, r.stderr:gsub("No space left on device", "")))
    assert.matches("took %d%d s", r.stdout)
  end)
end)

describe("the progress", function()
  local disk

  before_each(function()
    if not needs.why("fuse") then disk = faultfs.mount { "delay=2", size = 8 * MiB } end
  end)
  after_each(function()
    if disk then disk:unmount() end
    disk = nil
  end)

  local SECONDS <const> = { "--count", "2", "--zone-size", "1536k", "--block-size", "4k" }

  local function profile(options, more)
    local arguments = { "zoneprofile", disk.path }
    for _, list in ipairs { SECONDS, more or {} } do
      table.move(list, 1, #list, #arguments + 1, arguments)
    end
    options.env = options.env or { TERM = "xterm", LC_ALL = "C.UTF-8" }
    return process.hddlua(arguments, options)
  end

  it("is a line on standard error that is drawn anew, and gone in the end", function()
    needs.fuse()
    local r = profile { terminal = { streams = { "stderr" } } }
    assert.equal(0, r.status)
    assert.matches("\r%d+ %%  zone %d of 2  [%d.]+ MB/s %([%d.]+ MiB/s%)  at [%d.]+ MB  %d+ s left",
      r.stderr)
    assert.matches("\r\27%[K$", r.stderr)
    assert.not_matches("[\r\27]", r.stdout)
  end)

  it("is on no other stream, and not where standard error is a file", function()
    needs.fuse()
    local r = profile { terminal = { streams = { "stdin", "stdout" } } }
    assert.equal("", r.stderr)
    assert.not_matches("\27", r.stdout)
    assert.not_matches("zone %d of 2", r.stdout)
  end)

  it("has no escape sequence on a terminal that is dumb, unknown or not said", function()
    needs.fuse()
    for _, name in ipairs { "dumb", "no-such-terminal", false } do
      local r = profile { terminal = { streams = { "stderr" } }, env = { TERM = name } }
      assert.equal(0, r.status)
      assert.not_matches("\27", r.stderr)
      assert.not_matches("\r", (r.stderr:gsub("\r\n", "\n"))) -- the terminal's own
      assert.matches("zone %d of 2", r.stderr)
    end
  end)

  it("fits a terminal of any size, which may change", function()
    needs.fuse()
    for _, size in ipairs { { 1, 1 }, { 20, 5 }, { 0, 0 } } do
      local r = profile {
        terminal = { columns = size[1], rows = size[2] },
        events = { { after = 0.4, window = { 1, 1 } }, { after = 0.6, window = { 40, 10 } },
          { after = 0.8, signal = "WINCH" } },
      }
      assert.equal(0, r.status)
    end
    local r = profile { terminal = { columns = 20, rows = 5 } }
    for line in r.stdout:gsub("\27%[K", ""):gmatch("[^\r\n]+") do
      assert.is_true(utf8.len(line) <= 20)
    end
  end)

  it("has a table in the characters of the session, or those asked for", function()
    needs.fuse()
    local quick = { "--count", "2", "--zone-size", "64k" }
    assert.matches("█", profile({}, quick).stdout)
    for _, locale in ipairs { "C", "POSIX", "de_DE.ISO-8859-1" } do
      local r = profile({ env = { LC_ALL = locale } }, quick)
      assert.not_matches("[\x80-\xFF]", r.stdout)
      assert.matches("##", r.stdout)
    end
    assert.matches("█",
      profile({ env = { LC_ALL = "C" } }, { "--charset", "utf8", table.unpack(quick) }).stdout)
    assert.not_matches("[\x80-\xFF]",
      profile({}, { "--charset", "ascii", table.unpack(quick) }).stdout)
  end)
end)

describe("a fio log", function()
  it("has a line for each zone, with its true rate", function()
    local prefix, saved = scratch.path("log"), scratch.path("json")
    assert.equal(0, run("zoneprofile", drive, { "--fio-log", prefix, "--json", saved }).status)
    local d, n = load_document(saved), 0
    for line in io.lines(prefix .. "_bw.1.log") do
      n = n + 1
      local rate, offset = line:match("^%d+, (%d+), 0, 65536, (%d+), 0$")
      assert.equal(d.zones[n].offset_bytes, math.tointeger(tonumber(offset)))
      assert.is_true(math.abs(tonumber(rate) * 1024 / d.zones[n].bandwidth_bytes_per_s - 1) < 0.001)
    end
    assert.equal(4, n)
  end)
end)
