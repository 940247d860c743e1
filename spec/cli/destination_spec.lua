-- Where results go, and where they must not.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local destination = require "hdd.cli.destination"
local scratch = require "spec.support.scratch"
local shell = require "spec.support.shell"

describe("the destination of a result", function()
  it("is never what is measured, by whatever name", function()
    local drive, link = scratch.file(4096), scratch.path("link")
    shell.must(("ln -s %s %s"):format(shell.quote(drive), shell.quote(link)))
    local ok, message = destination.probe(link, { drive }, true)
    assert.is_nil(ok)
    assert.matches("it is what is being measured", message)
    assert.equal(4096, #assert(shell.read(drive)))
  end)

  it("is a new file, unless it may be overwritten", function()
    local path = scratch.path("result")
    assert(destination.probe(path, {}))
    assert.is_true(destination.write(path, "one\n"))
    local ok, message = destination.write(path, "two\n")
    assert.is_nil(ok)
    assert.matches("%-%-force", message)
    assert.is_nil(destination.probe(path, {}))
    assert(destination.probe(path, {}, true))
    assert(destination.write(path, "two\n", true))
    assert.equal("two\n", shell.read(path))
  end)

  it("can be standard output", function()
    assert.is_true(destination.probe("-", {}))
  end)
end)
