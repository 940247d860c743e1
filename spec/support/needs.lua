--- What a spec needs of the machine.  `needs.loop()` and its kin make the spec that runs pending, with
-- the reason, when it is not there; they are called inside `it`.  (`before_each` cannot make a spec
-- pending: there, look at `needs.why`.)
-- SPDX-License-Identifier: GPL-3.0-or-later
local busted = require "busted"
local shell = require "spec.support.shell"

local M = {}

-- busted hands each spec its own `pending`, the one that ends the spec.
local make_pending
busted.subscribe({"test", "start"}, function(element)
  make_pending = element.env.pending
  return nil, true
end)
busted.subscribe({"test", "end"}, function()
  make_pending = nil
  return nil, true
end)

local function fails(command)
  local output, status = shell.run(command)
  return status ~= 0 and (output == "" and "status " .. status or output)
end

local packages = {
  ["qemu-system-x86_64"] = "qemu-system-x86", busybox = "busybox-static", fusermount3 = "fuse3",
  losetup = "mount", localedef = "locales", skdump = "libatasmart-bin", node = "nodejs",
}

local why = {}
local known = {}

--- Why a need cannot be met.
-- @tparam string need  "root", "nobody", "stock" (the core in lua5.4), "loop", "fuse", "hddsim", "lab",
--   "strace", "tracing", "browser", or a program
-- @treturn ?string  the reason, or nil when all is well
function M.why(need)
  if known[need] == nil then
    local look = why[need]
    if look then
      known[need] = look() or false
    else
      known[need] = fails("command -v " .. shell.quote(need)) and
        ("needs %s (Debian package %s)"):format(need, packages[need] or need) or false
    end
  end
  return known[need] or nil
end

function why.root()
  return shell.run("id -u") ~= "0" and "needs root" or nil
end

-- Programs are run as the user nobody, who must be able to reach them.
function why.nobody()
  return M.why("root") or
    fails("setpriv --reuid=nobody --regid=nogroup --clear-groups test -r lua/hdd/init.lua") and
    "needs a folder that the user nobody can read" or nil
end

-- A core with a sanitizer in it is loaded by the interpreter that has it, too.
function why.stock()
  return fails("lua5.4 -e 'require \"hdd.core\"'") and "needs a core that lua5.4 can load" or nil
end

function why.loop()
  local reason = fails("losetup -f")
  return M.why("root") or reason and "needs loop devices: " .. reason or nil
end

-- With the servers that the Makefile builds.
function why.fuse()
  if M.why("root") then return M.why("root") end
  if fails("test -c /dev/fuse") then return "needs /dev/fuse" end
  local reason = fails("make -s support")
  return reason and "needs the FUSE servers: " .. reason or nil
end

function why.hddsim()
  return M.why("fuse") or M.why("loop")
end

-- Proved by starting the machine once, which takes some seconds.
function why.lab()
  if M.why("qemu-system-x86_64") or M.why("busybox") then
    return M.why("qemu-system-x86_64") or M.why("busybox")
  end
  local reason = fails("spec/support/lab/drive-lab --timeout 100 -- true")
  return reason and "needs the drive lab: " .. reason or nil
end

function why.strace()
  local reason = fails("strace -qq -o /dev/null true")
  return reason and "needs strace and the right to trace: " .. reason or nil
end

-- The block layer's trace points.
function why.tracing()
  local folder = "/sys/kernel/tracing"
  local there = "test -e " .. folder .. "/events/block"
  return M.why("root") or
    fails(there .. " || { mount -t tracefs tracefs " .. folder .. " && " .. there .. "; }") and
    "needs tracefs with block events" or nil
end

-- Chromium, and the two modules of npm that drive it, which are fetched once.
function why.browser()
  for _, program in ipairs {"chromium", "node", "npm"} do
    if M.why(program) then return M.why(program) end
  end
  local reason = not require("hdd.view.figure.chart").library() and "the package libjs-chart.js"
    or fails("spec/support/browser/prepare")
  return reason and "needs a browser and what drives it: " .. reason or nil
end

local function need(name)
  local reason = M.why(name)
  if reason then
    assert(make_pending, "needs are stated inside `it`")(reason)
  end
end

for name in pairs(why) do
  M[name] = function() need(name) end
end

--- A program on the path.
M.program = need

return M
