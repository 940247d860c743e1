-- The scripts on drives of a virtual machine, which the kernel has found itself.
-- SPDX-License-Identifier: GPL-3.0-or-later
local lab = require "spec.support.lab"
local needs = require "spec.support.needs"

local SCRIPT <const> = [[
for i in 0 1 2 3 4 5; do readlink -f /dev/lab/d$i; done
echo "== table"; %s identify; echo "status $?"
for i in 0 1 2 3 4 5; do
  echo "== smart d$i"; %s smart /dev/lab/d$i 2>&1; echo "status $?"
  echo "== selftest d$i"; %s selftest /dev/lab/d$i --limit 30s 2>&1; echo "status $?"
done
]]

describe("identify, smart and selftest #realtime", function()
  local out = {}

  setup(function()
    if needs.why "lab" then return end
    local program = require("spec.support.process").interpreter
    local script = SCRIPT:gsub("%%s", program)
    local r = lab.run({"pata", "ata", "nvme", "scsi", "usb", "null_blk,gb=1"}, {"sh", "-c", script}, {timeout = 170})
    for name, text in (r.stdout .. "== "):gmatch("== ([^\n]+)\n(.-)%f[=]") do out[name] = text end
    out.whole = r.stdout .. r.stderr
  end)

  local function on(name, ...)
    needs.lab()
    local text = assert(out[name], out.whole)
    for _, pattern in ipairs {...} do assert.matches(pattern, text) end
  end

  it("list all drives in one table", function()
    on("table", "nvme0n1 +QEMU NVMe Ctrl +d2 .*good", "QEMU HARDDISK +d0 .*ata .*good",
      "QEMU HARDDISK +d1 .*sata .*good", "d4 .*usb .*unknown", "nullb0", "status 0")
  end)

  it("read the SMART of ATA drives on both controllers", function()
    for _, name in ipairs {"smart d0", "smart d1"} do
      on(name, "GOOD: ", "SMART RETURN STATUS", "190 airflow temperature", "status 0")
    end
  end)

  it("read the health log of an NVMe drive", function()
    on("smart d2", "GOOD: ", "SMART / Health log", "spare blocks left", "status 0")
  end)

  it("say what a SCSI drive, a USB bridge and a drive of the kernel's own have not", function()
    on("smart d3", "UNKNOWN: ", "status 0")
    on("smart d4", "no ATA commands get through", "UNKNOWN: ", "status 0")
    on("smart d5", "smart: /dev/lab/d5: ", "status 2")
  end)

  it("test ATA drives, with a new entry in their log, and refuse the others", function()
    for _, name in ipairs {"selftest d0", "selftest d1"} do
      on(name, "PASSED", "Confirmed by a new entry", "status 0")
    end
    on("selftest d2", "no self%-tests", "status 2")
    on("selftest d5", "status 2")
  end)
end)
