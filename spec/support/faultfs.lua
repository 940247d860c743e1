--- A file whose reads go wrong where told to: spec/support/faultfs.c, mounted.
-- SPDX-License-Identifier: GPL-3.0-or-later
local place = require "spec.support.place"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local M = {}
local Fault = {}
Fault.__index = Fault

--- Mounts one.  Call `needs.fuse()` first, and `needs.loop()` for a loop device.
-- @tparam table options  the rules, in faultfs's words, as the list part ("at=1M,length=4k,error=EIO");
--   `backing` (a file) or `size` (of a new one, bytes; 64 MiB); `loop` (true, or a logical block size
--   in bytes: a loop device on it); `no_direct` (opening it with O_DIRECT fails);
--   `claim` (bytes that it says it has, more than there are) and `wrap` (true: what is beyond comes round
--   again, instead of being lost); `fail_flush` (n: the nth fsync fails)
-- @treturn Fault  `.path` of the file, or of the loop device; `.file` of the file in any case; `.pid`
-- @usage local disk <close> = faultfs.mount {"every=16M,delay=300", size = 64 << 20}
function M.mount(options)
  local home = place.new()
  local mount, log = home:path("mount"), home:path("reads")
  shell.must("mkdir " .. mount)
  home:note("mounts", mount)
  local words = {"build/support/faultfs", "--log", log}
  if options.no_direct then table.insert(words, "--no-direct") end
  if options.claim then table.move({"--claim", tostring(options.claim)}, 1, 2, #words + 1, words) end
  if options.wrap then table.insert(words, "--wrap") end
  if options.fail_flush then
    table.move({"--fail-flush", tostring(options.fail_flush)}, 1, 2, #words + 1, words)
  end
  for _, rule in ipairs(options) do
    table.insert(words, "--rule")
    table.insert(words, rule)
  end
  table.insert(words, options.backing or scratch.file(options.size or 64 << 20))
  table.insert(words, mount)
  local self = setmetatable({place = home, log = log, file = mount .. "/disk"}, Fault)
  local said
  self.pid, said = home:start(words)
  home.await("test -e " .. self.file, 5, function() return shell.read(said) end)
  self.path = self.file
  if options.loop then
    self.path = shell.must(("losetup -f --show -b %d --direct-io=on %s"):format(
      options.loop == true and 512 or options.loop, self.file))
    home:note("loops", self.path)
  end
  return self
end

--- What has been read so far, in the order in which it was answered.
-- @treturn {table,...}  {time_us=, offset=, length=, result= (bytes or -errno), delay_ms=}
function Fault:reads()
  local reads = {}
  for line in io.lines(self.log) do
    local time, offset, length, result, delay = line:match("^(%d+),(%d+),(%d+),(-?%d+),(%d+)$")
    if time then
      table.insert(reads, {time_us = math.tointeger(time), offset = math.tointeger(offset),
                           length = math.tointeger(length), result = math.tointeger(result),
                           delay_ms = math.tointeger(delay)})
    end
  end
  return reads
end

--- Stops the server: from now on no read is answered.
function Fault:freeze() shell.must("kill -STOP " .. self.pid) end

--- Lets it go on.
function Fault:thaw() shell.must("kill -CONT " .. self.pid) end

--- Ends the server at once, as a drive that is pulled: reads fail from now on.
function Fault:kill() shell.must("kill -KILL " .. self.pid) end

--- Unmounts.  Harmless the second time.
function Fault:unmount()
  self.place:close()
end

Fault.__close = Fault.unmount

return M
