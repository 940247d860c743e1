-- Keeping the machine awake: with a real logind, and without any.
-- SPDX-License-Identifier: GPL-3.0-or-later
local logind = require "spec.support.logind"
local process = require "spec.support.process"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

-- Holds it, says what is inhibited then, and ends as it is told to.
local CHUNK <const> = [[
local inhibit = require "hdd.cli.inhibit"
local how = ...
local function list()
  local pipe <close> = io.popen "systemd-inhibit --list --no-pager"
  return pipe:read "a"
end
local held, why = inhibit.hold "burn-in of 'sdb', 2 drives"
print(held and "held" or why)
if held then
  -- Its child has asked for it by now or will do so in a moment.
  for _ = 1, 100 do
    if list():find "burn%-in of 'sdb', 2 drives" then print "listed" break end
  end
end
io.stdout:flush()
if how == "kill" then os.execute("kill -9 " .. io.open("/proc/self/stat"):read("n")) end
if how == "wait" then pcall(require "hdd".sleep, 30); print(list():find "burn%-in" and "still listed") end
if held then
  held:release()
  held:release()
  print(list():find "burn%-in" and "left behind" or "released")
end
]]

-- It is gone soon after its holder is: only the end of a pipe tells it.
local function gone(service)
  for _ = 1, 100 do
    if not service:list():find("burn%-in of 'sdb'") then return true end
  end
  return false
end

describe("an inhibitor", function()
  local service
  setup(function()
    if not logind.why() then service = logind.start() end
  end)
  teardown(function()
    if service then service:close() end
  end)

  it("is held until it is released", function()
    if not service then pending(logind.why()) end
    local r = process.lua(CHUNK, {env = service.env})
    assert.equal("held\nlisted\nreleased\n", r.stdout)
    assert.equal("", r.stderr)
  end)

  it("goes with its process, even by kill -9", function()
    if not service then pending(logind.why()) end
    local r = process.lua(CHUNK, {env = service.env, arguments = {"kill"}})
    assert.equal("held\nlisted\n", r.stdout)
    assert.is_true(gone(service))
  end)

  it("outlives Ctrl-C until all is saved", function()
    if not service then pending(logind.why()) end
    local r = process.lua(CHUNK, {env = service.env, arguments = {"wait"},
      terminal = {columns = 80, rows = 24, streams = {"stdin", "stdout", "stderr"}},
      events = {{when = "listed", input = "\3"}}})
    assert.matches("listed\r?\n.*still listed\r?\nreleased", r.stdout)
  end)
end)

describe("without an inhibitor", function()
  local function said(env)
    local r = process.lua(CHUNK, {env = env})
    assert.equal(0, r.status, r.stderr)
    assert.equal("", r.stderr)
    return r.stdout
  end

  it("one sentence says so, where there is no bus", function()
    if select(2, shell.run("command -v systemd-inhibit")) ~= 0 then
      pending("needs systemd-inhibit (Debian package systemd)")
    end
    local nowhere = "unix:path=" .. scratch.path("nowhere")
    assert.matches("^nothing keeps this machine from going to sleep meanwhile: Failed to [^\n]*\n$",
      said {DBUS_SYSTEM_BUS_ADDRESS = nowhere})
  end)

  it("one sentence says so, where there is no systemd", function()
    local folder = scratch.path("bin")
    shell.must(("mkdir %s && ln -s $(command -v timeout) $(command -v sh) %s"):format(folder, folder))
    assert.equal("nothing keeps this machine from going to sleep meanwhile: there is no systemd-inhibit\n",
      said {PATH = folder})
  end)
end)
