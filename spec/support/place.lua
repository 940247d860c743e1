--- A folder on a real disk in which a spec sets up files, loop devices, mounts and servers, and
-- which takes all of them along when it goes: on close, or when this process ends in any way.
-- SPDX-License-Identifier: GPL-3.0-or-later
local shell = require "spec.support.shell"

local M = {}
local Place = {}
Place.__index = Place

local in_memory = {tmpfs = true, ramfs = true, overlayfs = true}

-- The first folder that is on a disk: direct I/O on tmpfs measures nothing.
local function root()
  local named = os.getenv("HDDLUA_TEST_DIR") or os.getenv("TMPDIR") or "/tmp"
  for _, folder in ipairs {named, "/tmp", "/var/tmp", "."} do
    local kind, status = shell.run("test -w " .. shell.quote(folder) .. " && stat -f -c %T " ..
                                   shell.quote(folder))
    if status == 0 and not in_memory[kind] then return folder end
  end
  return named
end

local chosen

--- Makes a place.
-- @treturn Place  `.folder` is its path
-- @usage local place <close> = place.new()
function M.new()
  chosen = chosen or root()
  local folder = shell.must("mktemp -d " .. shell.quote(chosen .. "/hddlua-spec.XXXXXX"))
  -- The pipe closes when we do, or when we are gone; then the other end cleans up.
  local guard = assert(io.popen("exec setsid spec/support/cleanup -w " .. shell.quote(folder), "w"))
  return setmetatable({folder = folder, guard = guard}, Place)
end

--- Notes down what is to be undone: kind "loops", "mounts", "pids" or "folders".
function Place:note(kind, what)
  local file <close> = assert(io.open(self.folder .. "/." .. kind, "a"))
  assert(file:write(what, "\n"))
end

--- A path in the place that nothing is at yet.
-- @tparam[opt="file"] string name  how it begins
function Place:path(name)
  self.count = (self.count or 0) + 1
  return ("%s/%s-%d"):format(self.folder, name or "file", self.count)
end

--- Starts a server, in the background, that is ended with the place.
-- @tparam {string,...} words  program and arguments
-- @treturn integer  its process id
-- @treturn string  path of the file with what it prints
function Place:start(words)
  local log = self:path("server")
  local pid = shell.must(("setsid %s >%s 2>&1 </dev/null & echo $!"):format(
    shell.words(words), shell.quote(log)))
  self:note("pids", pid)
  return math.tointeger(tonumber(pid)), log
end

--- Waits until a command succeeds; raises when it has not within `seconds`.
function Place.await(command, seconds, explain)
  local _, status = shell.run(("i=0; until %s; do i=$((i + 1)); [ $i -lt %d ] || exit 1; sleep 0.02; done")
    :format(command, seconds * 50))
  if status ~= 0 then
    error("waited in vain for: " .. command .. (explain and "\n" .. (explain() or "") or ""), 3)
  end
end

--- Undoes all.  Harmless the second time.
function Place:close()
  if self.guard then
    self.guard:close()
    self.guard = nil
  end
end

Place.__close = Place.close
Place.__gc = Place.close

return M
