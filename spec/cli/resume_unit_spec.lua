-- The systemd unit that goes on after a reboot.
-- SPDX-License-Identifier: GPL-3.0-or-later
local lfs = require "lfs"
local needs = require "spec.support.needs"
local resume_unit = require "hdd.cli.resume_unit"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

local ODD <const> = "/var/lib/hdd lua/100%/$x \"y\" é\\.json"

local function unit(state)
  return resume_unit.text({"/bin/true", "burnin", "--resume", "--state", state},
    {state = state, folder = "/tmp", description = "burn-in of /dev/sdb, 100%\n[Evil]"})
end

describe("the unit for resuming", function()
  it("runs the command where and as long as there is a state", function()
    local text = unit "/var/lib/s.json"
    assert.matches("\nExecStart=/bin/true burnin %-%-resume %-%-state /var/lib/s.json\n", text)
    assert.matches("\nConditionPathExists=/var/lib/s.json\n", text)
    assert.matches("\nWorkingDirectory=/tmp\n", text)
    assert.matches("\nWantedBy=multi%-user.target\n", text)
    assert.matches("\nConditionDirectoryNotEmpty=/\n", (unit "/"))
    assert.not_matches("\n%[Evil%]", text)
  end)

  it("is as systemd wants it, whatever is in the paths", function()
    needs.program("systemd-analyze")
    for _, state in ipairs {"/var/lib/s.json", "/", ODD} do
      local path = scratch.path("hddlua") .. ".service"
      do
        local file <close> = assert(io.open(path, "w"))
        assert(file:write(unit(state)))
      end
      local words, status = shell.run("systemd-analyze verify " .. path)
      assert.equal("", words)
      assert.equal(0, status)
    end
  end)

  it("names this very program", function()
    assert.equal("file", lfs.attributes(resume_unit.program(), "mode"))
  end)

  it("is installed by commands that a shell takes as they are", function()
    local commands = resume_unit.install("hddlua-burnin", unit(ODD))
    local out = scratch.path("unit")
    commands = commands:gsub("/etc/systemd/system/hddlua%-burnin.service", out):gsub("systemctl", ":")
    shell.must(commands)
    assert.equal(unit(ODD), shell.read(out))
  end)
end)
