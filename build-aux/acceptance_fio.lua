-- acceptance_fio.lua: fio's job files, run by hddlua as they are and by fio in turn.
-- ACCEPTANCE_FIO_S shortens the rate job's runtime (120 s).
-- SPDX-License-Identifier: GPL-3.0-or-later
local hddsim = require "spec.support.hddsim"
local json = require "dkjson"
local place = require "spec.support.place"
local shell = require "spec.support.shell"

local RUNTIME <const> = os.getenv "ACCEPTANCE_FIO_S"
local LIMIT <const> = 0.03

-- The job file for each of the two: hddlua gets it as given, fio what it wants today.
local function job_files(home, name, change)
  local text = assert(shell.read("examples/" .. name .. ".fio"))
  if RUNTIME then text = text:gsub("runtime=120", "runtime=" .. RUNTIME) end
  local ours, theirs = home:path(name) .. ".fio", home:path(name) .. ".fio"
  for path, content in pairs {[ours] = text, [theirs] = change(text)} do
    local file <close> = assert(io.open(path, "w"))
    assert(file:write(content))
  end
  return ours, theirs
end

-- Runs fio, then hddlua, on the device or on the file that it is made of.
local function in_turn(drive, target, ours, theirs, env, home, timeout)
  local a, b = home:path("fio"), home:path("hddlua")
  local script = ("export DRIVE=%s\ncd %s && fio --readonly --output-format=json --output=%s %s && "
    .. "rm -f *.log && exec %s/build/hddlua fiojob %s --output %s"):format(target, home.folder, a, theirs,
    shell.must "pwd", ours, b)
  local run = hddsim.run(drive, {"sh", "-c", script}, {timeout = timeout, env = env})
  assert(run.status == 0, run.stderr)
  local function read_side(path)
    return assert(json.decode(assert(shell.read(path):match("{.*}")))).jobs[1].read
  end
  shell.must(("rm -f %s/*.log"):format(home.folder))
  return read_side(a), read_side(b)
end

return function(sections, with)
  local say, at, verdict = with.say, with.at, with.verdict

  --- Both founding job files on the simulated drives, as a device and as a file.
  function sections.fio()
    say("## fio's job files\n")
    say("examples/rate-iops.fio (4 KiB) and examples/disk-zoning.fio as they are; fio 3.33 in turn, given " ..
      "ioscheduler=none, and zonemode=strided with the bytes of one way over the drive.\n")
    say("| job | on | depth | fio | hddlua | off, %% |")
    say("| --- | --- | ---: | ---: | ---: | ---: |")
    local worst = 0
    local function row(job, on, depth, theirs, ours, unit)
      local off = ours / theirs - 1
      worst = math.max(worst, math.abs(off))
      say("| %s | %s | %d | %.1f %s | %.1f %s | %+.2f |", job, on, depth, theirs, unit, ours, unit, off * 100)
    end
    for _, kind in ipairs {{"a loop device", "$DISK"}, {"a file", "$HDDSIM_DIR/disk"}} do
      local on, target = kind[1], kind[2]
      local home <close> = place.new()
      local ours, theirs = job_files(home, "rate-iops", function(text)
        text = text:gsub("ioscheduler=noop", "ioscheduler=none")
        return on == "a file" and text:gsub("ioscheduler=none\n", "") or text
      end)
      for _, depth in ipairs {1, 8} do
        at("fio: rate-iops at depth %d on %s, some %d s", depth, on, 2 * (tonumber(RUNTIME or 120) + 10))
        local a, b = in_turn("wd6000hlhx", target, ours, theirs, {IODEPTH = tostring(depth), BS = "4k"}, home, 600)
        row("rate-iops", on, depth, a.iops, b.iops, "IOPS")
      end
      ours, theirs = job_files(home, "disk-zoning", function(text)
        return (text:gsub("zoneskip=2g\n", "zoneskip=2g\nzonemode=strided\nio_size=1g\n"))
      end)
      at("fio: disk-zoning on %s, some 20 s", on)
      local a, b = in_turn("tiny", target, ours, theirs, {}, home, 120)
      assert(a.io_bytes == b.io_bytes, "not the same zones")
      row("disk-zoning", on, 2, a.bw_bytes / 1e6, b.bw_bytes / 1e6, "MB/s")
    end
    say("")
    verdict(worst <= LIMIT, "IOPS and bandwidth within %.2f %% of fio's (3 %% asked)", worst * 100)
  end
end
