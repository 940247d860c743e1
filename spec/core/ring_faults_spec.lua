-- The kernel's refusals, by strace's injection of errors into the ring's calls, and by real limits.
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local needs = require "spec.support.needs"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"

local path = scratch.file(1 << 20)

-- What a job with these options came to, as the fields of its result that are asked for, when these
-- errors are injected.  Each field is a line of the output; warnings come last.
local function run(options, inject, more)
  needs.strace()
  local settings = {inject = inject}
  for key, value in pairs(more or {}) do settings[key] = value end
  local chunk = ([[
    local hdd = require "hdd"
    local drive = assert(hdd.open(%q))
    local r, message, code = drive:run(%s)
    if not r then print("refused", message, code) os.exit(0) end
    local recorded = 0
    for _, i in ipairs(r.series) do recorded = recorded + i.ios end
    print(r.stopped_by, r.ios, r.errors, r.retries, recorded, r.latency:count(), r.bytes, r.abandoned[1])
    for _, w in ipairs(r.warnings) do print(w) end
  ]]):format(path, options)
  local ended = process.hddlua({"-e", chunk}, settings)
  assert.equal("", ended.stderr)
  assert.equal(0, ended.status)
  return ended.stdout, ended
end

describe("io_uring that is refused", function()
  it("with EPERM: a filter is named", function()
    assert.equal("refused\t" .. path .. ": io_uring_setup: Operation not permitted: a filter forbids io_uring " ..
      "here, as containers' seccomp profiles do: run outside of the container or with a profile that allows " ..
      "the io_uring calls\t1\n", (run("{ios = 1}", {"io_uring_setup:error=EPERM"})))
  end)

  it("with ENOSYS: the kernel's age is named", function()
    assert.equal("refused\t" .. path .. ": io_uring_setup: Function not implemented: this kernel has no io_uring " ..
      "or an old one (before Linux 5.11), or a container's filter hides it\t38\n",
      (run("{ios = 1}", {"io_uring_setup:error=ENOSYS"})))
  end)

  it("with ENOMEM: what to lower, and the limit, are named", function()
    assert.matches("^refused\t.*: io_uring_setup: Cannot allocate memory: lower depth or block_size, or raise " ..
      "the limit on locked memory %(ulimit %-l; now %d+ KiB%)\t12\n$",
      (run("{ios = 1}", {"io_uring_setup:error=ENOMEM"})))
  end)

  it("leaves nothing behind: neither thread nor file", function()
    needs.strace()
    local file = scratch.path("records")
    local ended = process.hddlua({"-e", ([[
      local hdd = require "hdd"
      local drive = assert(hdd.open(%q))
      local function threads()
        hdd.sleep(0.05) -- one that has been joined is still there for some microseconds
        return (io.open("/proc/self/status"):read("a"):match("Threads:%%s+(%%d+)"))
      end
      assert(not drive:run {ios = 1, records = %q})
      local before = threads() -- ThreadSanitizer has a thread of its own after the first
      for _ = 1, 10 do assert(not drive:run {ios = 1, records = %q}) end
      assert(not drive:queue {})
      print(io.open(%q))
      collectgarbage() collectgarbage()
      print(before == threads())
    ]]):format(path, file, file, file)}, {inject = {"io_uring_setup:error=EPERM"}})
    assert.equal("nil\t" .. file .. ": No such file or directory\t2\ntrue\n", ended.stdout)
  end)
end)

describe("a flag that the kernel does not know", function()
  it("is left out, and that is a warning", function()
    assert.equal("ios\t50\t0\t0\t50\t50\t204800\tnil\n" ..
      "io_uring without SINGLE_ISSUER: this kernel (before Linux 6.0) does not know it\n",
      (run("{ios = 50, depth = 4}", {"io_uring_setup:error=EINVAL:when=1"})))
    assert.equal("ios\t50\t0\t0\t50\t50\t204800\tnil\n" ..
      "io_uring without SINGLE_ISSUER: this kernel (before Linux 6.0) does not know it\n" ..
      "io_uring without the task-run mode asked for: this kernel does not know it; reads cost more CPU\n",
      (run("{ios = 50, depth = 4, taskrun = 'defer'}", {"io_uring_setup:error=EINVAL:when=1"})))
    assert.matches("^ios\t50.*\nio_uring without the task%-run mode asked for.*\n$",
      (run("{ios = 50, depth = 4}", {"io_uring_setup:error=EINVAL:when=1..2"})))
  end)

  it("is refused when nothing is left to leave out", function()
    assert.equal("refused\t" .. path .. ": io_uring_setup: Invalid argument\t22\n",
      (run("{ios = 1}", {"io_uring_setup:error=EINVAL"})))
  end)
end)

describe("registering that is refused", function()
  it("costs CPU and is a warning, but the job runs", function()
    assert.equal("ios\t100\t0\t0\t100\t100\t409600\tnil\n" ..
      "read buffers (16384 bytes) are not registered: Cannot allocate memory: a higher limit on locked memory " ..
      "(ulimit -l) would allow it; reads cost more CPU\n" ..
      "the device is not registered with io_uring: reads cost more CPU\n",
      (run("{ios = 100, depth = 4}", {"io_uring_register:error=ENOMEM"})))
  end)

  it("is what an ordinary user's limit does, and the bytes are named", function()
    needs.nobody()
    local ended = process.hddlua({"-e", [[
      local drive = assert(require "hdd".open("/dev/zero", {size = 1 << 30}))
      local r = assert(drive:run {depth = 64, block_size = 1 << 20, ios = 100})
      print(r.ios, r.errors)
      for _, w in ipairs(r.warnings) do print(w) end
    ]]}, {user = "nobody", limits = {memlock = 65536}})
    assert.equal("100\t0\nread buffers (67108864 bytes) are not registered: Cannot allocate memory: a higher " ..
      "limit on locked memory (ulimit -l) would allow it; reads cost more CPU\n", ended.stdout .. ended.stderr)
  end)

  it("is not asked for with registered = false, and that is no warning", function()
    local out, ended = run("{ios = 20, registered = false}", {"io_uring_register:error=EPERM:when=100"})
    assert.equal("ios\t20\t0\t0\t20\t20\t81920\tnil\n", out)
    assert.is_falsy(ended.trace:find("IORING_REGISTER_BUFFERS"))
  end)

  it("is a warning of a queue, too", function()
    needs.strace()
    local ended = process.hddlua({"-e", ([[
      local q = require "hdd".open(%q):queue {depth = 2}
      local r = q:each(function(slot) for _ = 1, 5 do assert(slot:read(0)) end end)
      print(r.ios, r.warnings[1], r.warnings[2])
    ]]):format(path)}, {inject = {"io_uring_register:error=ENOMEM"}})
    assert.matches("^10\tread buffers %(8192 bytes%) are not registered: .*\tthe device is not registered",
      ended.stdout)
  end)
end)

describe("a call that is interrupted", function()
  for name, when in pairs {["now and then"] = "3+5", ["every other time"] = "2+2"} do
    it("loses and counts nothing twice, " .. name, function()
      for _, depth in ipairs {1, 8} do
        local out, ended = run(("{pattern = 'random', ios = 300, depth = %d}"):format(depth),
          {"io_uring_enter:error=EINTR:when=" .. when})
        assert.equal("ios\t300\t0\t0\t300\t300\t1228800\tnil\n", out)
        assert.is_truthy(ended.trace:find("EINTR %(Interrupted system call%) %(INJECTED%)"))
      end
    end)
  end

  it("loses nothing of a queue's reads", function()
    needs.strace()
    for _, error in ipairs {"EINTR:when=2+3", "EAGAIN:when=2+3", "EBUSY:when=3+4"} do
      local ended = process.hddlua({"-e", ([[
        local q = require "hdd".open(%q):queue {depth = 3}
        local r = q:each(function(slot) for i = 1, 40 do assert(slot:read(i * 512)) end end)
        print(r.ios, r.errors, r.issued_bytes)
      ]]):format(path)}, {inject = {"io_uring_enter:error=" .. error}})
      assert.equal("120\t0\t491520\n", ended.stdout .. ended.stderr)
    end
  end)

  it("by signals of a terminal, a hundred times a second, changes nothing", function()
    local events = {}
    for i = 1, 40 do events[i] = {when = "running", after = i * 0.01, signal = i % 2 == 0 and "WINCH" or "CONT"} end
    local ended = process.hddlua({"-e", ([[
      local hdd = require "hdd"
      local drive = assert(hdd.open(%q))
      io.write("running\n") io.flush()
      local r = drive:run {pattern = "random", runtime = 0.6, depth = 4}
      print(r.stopped_by, r.errors, r.retries, r.interrupted, r.bytes == r.ios * 4096, r.issued_bytes == r.bytes,
        r.elapsed_s >= 0.6, #r.abandoned)
    ]]):format(path)}, {events = events})
    assert.equal("running\nruntime\t0\t0\tfalse\ttrue\ttrue\ttrue\t0\n", ended.stdout .. ended.stderr)
  end)
end)

describe("a kernel short of resources", function()
  it("is asked again, and that is a warning", function()
    for _, error in ipairs {"EBUSY:when=5", "EAGAIN:when=2+7"} do
      local out = run("{pattern = 'random', ios = 200, depth = 4}", {"io_uring_enter:error=" .. error})
      local retries = out:match("^ios\t200\t0\t(%d+)\t200\t200\t819200\tnil\n")
      assert.is_truthy(retries, out)
      assert.is_true(tonumber(retries) >= 1)
      assert.is_truthy(out:find("the kernel was short of resources " .. retries ..
        " times (EAGAIN, EBUSY); tried again\n", 1, true))
    end
  end)

  it("that stays so ends the job within a few seconds, and the drive is not to blame", function()
    local out, ended = run("{pattern = 'random', runtime = 60, depth = 4}", {"io_uring_enter:error=EAGAIN"})
    assert.matches("^kernel\t0\t0\t499\t0\t0\t0\tnil\n", out)
    assert.is_truthy(out:find("io_uring_enter: Resource temporarily unavailable: stopped for want of the " ..
      "kernel's resources; this is no fault of the drive\n", 1, true), out)
    assert.is_true(ended.elapsed_s < 10)
    local _, calls = ended.trace:gsub("io_uring_enter%(", "")
    assert.is_true(calls < 520, calls .. " calls")
  end)

  it("is not what is told where it refused the call", function()
    local out = run("{pattern = 'random', runtime = 60, depth = 4}", {"io_uring_enter:error=EINVAL"})
    assert.is_truthy(out:find("io_uring_enter: Invalid argument: stopped as the kernel refused the call; " ..
      "this is no fault of the drive\n", 1, true), out)
  end)

  it("that begins midway keeps what was measured", function()
    local out = run("{pattern = 'random', runtime = 60}", {"io_uring_enter:error=EBUSY:when=50+1"})
    local ios = tonumber(out:match("^kernel\t(%d+)\t0\t499\t"))
    assert.is_true(ios and ios >= 20 and ios < 50, out)
  end)

  it("makes a queue's read fail, again and again, without harm", function()
    needs.strace()
    local ended = process.hddlua({"-e", ([[
      local q = require "hdd".open(%q):queue {depth = 2}
      local said
      local r = q:each(function(slot)
        assert(slot:read(0))
        for _ = 1, 3 do
          local ns, message, code = slot:read(4096)
          said = ns or message .. " " .. code
        end
      end)
      print(r.ios, r.bytes == r.issued_bytes, said)
    ]]):format(path)}, {inject = {"io_uring_enter:error=EAGAIN:when=6+1"}, timeout = 60})
    assert.matches("\ttrue\tio_uring_enter: the kernel is short of resources: Resource temporarily unavailable 11\n$",
      ended.stdout)
    assert.equal("", ended.stderr)
  end)
end)

describe("the deepest queue of the largest blocks", function()
  it("that fits is set up and read from", function()
    local drive <close> = assert(hdd.open("/dev/zero", {size = 1 << 40}))
    local deep = assert(drive:run {pattern = "random", depth = 4096, block_size = 512, ios = 10000})
    assert.equal(10000, deep.ios)
    assert.same({}, deep.warnings)
    local large = assert(drive:run {block_size = 256 << 20, ios = 2})
    assert.equal(512 << 20, large.bytes)
  end)
end)
