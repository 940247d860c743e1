--- The drive lab: a command in a virtual machine with drives of many kinds.  Its specs are tagged
-- #realtime.  Call `needs.lab()` first.
-- SPDX-License-Identifier: GPL-3.0-or-later
local place = require "spec.support.place"
local process = require "spec.support.process"

local M = {}

--- Shell code that makes a RAID of level 0, /dev/md7, of the disks $scsi and $twin, without mdadm.
M.RAID = [[
modprobe -a md_mod raid0
echo md7 > /sys/module/md_mod/parameters/new_array
md=/sys/block/md7/md
echo raid0 > $md/level; echo 2 > $md/raid_disks; echo 65536 > $md/chunk_size
echo none > $md/metadata_version
i=0
for disk in $scsi $twin; do
  cat /sys/block/$disk/dev > $md/new_dev
  echo 0 > $md/dev-$disk/offset; echo 65536 > $md/dev-$disk/size
  echo $i > $md/dev-$disk/slot; i=$((i + 1))
done
echo active > $md/array_state
]]

--- Runs a command in the machine.
-- @tparam {string,...} drives  each as drive-lab's --drive has it: "scsi,bad=2048+8"
-- @tparam {string,...} argv  program and arguments, paths as on this machine; the drives are /dev/lab/d0...
-- @tparam[opt] table options  as for `process.run`; `timeout` (120 s); `rw` a folder that can be written
-- @treturn table  as `process.run`'s; raises when the machine itself failed
-- @usage local r = lab.run({"nvme"}, {"build/hddlua", "scripts/zoneprofile.lua", "/dev/lab/d0"})
function M.run(drives, argv, options)
  options = options or {}
  local seconds = options.timeout or 120
  local words = {"spec/support/lab/drive-lab", "--timeout", tostring(seconds)}
  if options.rw then
    table.move({"--rw", options.rw}, 1, 2, #words + 1, words)
  end
  for _, drive in ipairs(drives) do
    table.move({"--drive", drive}, 1, 2, #words + 1, words)
  end
  table.insert(words, "--")
  table.move(argv, 1, #argv, #words + 1, words)
  local result = process.run(words, setmetatable({timeout = seconds + 60}, {__index = options}))
  if result.status == 125 or result.status == 124 then
    error("the lab failed: " .. result.stderr .. result.stdout, 2)
  end
  return result
end

--- Runs a chunk of Lua in hddlua in the machine.
-- @tparam {string,...} drives
-- @tparam string chunk  Lua code; `...` is empty
-- @tparam[opt] table options  as for `run`
function M.lua(drives, chunk, options)
  local home <close> = place.new()
  local path = home:path("chunk") .. ".lua"
  do
    local file <close> = assert(io.open(path, "w"))
    assert(file:write(chunk))
  end
  return M.run(drives, {process.interpreter, path}, options)
end

return M
