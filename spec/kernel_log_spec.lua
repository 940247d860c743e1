-- What the kernel says of a drive, as the drive's.
-- SPDX-License-Identifier: GPL-3.0-or-later
local core = require "hdd.core"
local faultfs = require "spec.support.faultfs"
local hdd = require "hdd"
local kernel_log = require "hdd.kernel_log"
local needs = require "spec.support.needs"
local scratch = require "spec.support.scratch"
local surface = require "hdd.procedure.surface"

local MiB <const> = 1 << 20

local SDA <const> = { sda = true, ["2:0:0:0"] = true, ata3 = true, ["ata3.00"] = true }
local TAGS <const> = { ["b8:0"] = true, ["+scsi:2:0:0:0"] = true }

local function is_sda(record)
  return kernel_log.concerns(assert(kernel_log.parse(record)), SDA, TAGS)
end

describe("a record of the kernel's log", function()
  it("is taken apart", function()
    assert.same({
      facility = 0, level = 3, time_us = 26028318127, device = "b8:0",
      text = "I/O error, dev sda, sector 5998592 op 0x0:(READ)",
    }, kernel_log.parse("3,6398,26028318127,-,caller=T7;I/O error, dev sda, sector 5998592 op 0x0:(READ)\n"
      .. " SUBSYSTEM=block\n DEVICE=b8:0\n"))
    assert.equal(1, kernel_log.parse("12,1,2,-;hello\n").facility)
    for _, bad in ipairs { "", "hello", "x,1,2,-;hello\n", "6,1,2" } do
      assert.is_nil(kernel_log.parse(bad))
    end
  end)

  it("is harmless on a terminal", function()
    assert.is_nil(kernel_log.parse("6,1,2,-;a\27[2Jb\n").text:find("\27", 1, true))
  end)

  it("is a drive's when it is tagged so, or names it, its SCSI address or its port", function()
    for _, text in ipairs {
      "anything\n SUBSYSTEM=scsi\n DEVICE=+scsi:2:0:0:0\n", "I/O error, dev sda, sector 8\n",
      "sd 2:0:0:0: [sda] tag#12 Add. Sense: Unrecovered read error\n", "ata3: hard resetting link\n",
      "ata3.00: failed command: READ FPDMA QUEUED\n",
    } do
      assert.is_true(is_sda("3,1,2,-;" .. text), text)
    end
    for _, text in ipairs {
      "I/O error, dev sdaa, sector 8\n", "ata30: hard resetting link\n", "ata3.01: failed command\n",
      "I/O error, dev sdb, sector 8\n DEVICE=b8:16\n", "sd 2:0:0:01: x\n",
    } do
      assert.is_false(is_sda("3,1,2,-;" .. text), text)
    end
  end)

  it("that a program wrote is not the kernel's", function()
    assert.is_false(is_sda("12,1,2,-;I/O error, dev sda, sector 8\n"))
  end)
end)

describe("the kernel's messages of a drive", function()
  local function readable()
    local log = core.kernel_log()
    if not log then return false end
    log:close()
    return true
  end

  it("are in the document of a surface scan, another drive's are not", function()
    needs.fuse()
    needs.loop()
    if not readable() then return pending("the kernel's messages may not be read here") end
    local function with_error(offset)
      return faultfs.mount { "at=" .. offset .. ",length=4k,error=EIO", size = 8 * MiB, loop = true }
    end
    local bad <close> = with_error("3M")
    local other <close> = with_error("5M")
    local drive <close> = assert(hdd.open(bad.path))
    local d
    for _ = 1, 3 do -- the kernel says such things ten times in five seconds, whatever the drive
      d = assert(surface.run(drive, { rpm = 0 }, { progress = function()
        local elsewhere <close> = assert(hdd.open(other.path))
        elsewhere:run { offset = 5 * MiB, length = 4096, ios = 1 }
      end }))
      if d.kernel_messages then break end
      hdd.sleep(5)
    end
    assert.same({ 3 * MiB, 4096 }, { d.unreadable[1].offset_bytes, d.unreadable[1].length_bytes })
    local name = bad.path:match("[^/]+$")
    assert(d.kernel_messages)
    for _, message in ipairs(d.kernel_messages) do
      assert.truthy(message.text:find(name, 1, true))
      assert.is_true(message.time_s >= 0 and message.time_s <= d.summary.elapsed_s + 0.1)
    end
    assert.truthy(d.kernel_messages[1].text:find("I/O error, dev " .. name .. ", sector 6144", 1, true))
  end)

  it("come once each, and none of what was before", function()
    needs.fuse()
    needs.loop()
    if not readable() then return pending("the kernel's messages may not be read here") end
    local bad <close> = faultfs.mount { "at=0,length=4k,error=EIO", size = MiB, loop = true }
    local drive <close> = assert(hdd.open(bad.path))
    assert(drive:run { ios = 1 })
    local watch <close> = kernel_log.begin(drive)
    assert.same({}, watch:take())
    local first
    for _ = 1, 20 do -- the kernel says such things ten times in five seconds, whatever the drive
      assert(drive:run { ios = 1 })
      first = watch:take()
      if first[1] then break end
      hdd.sleep(0.5)
    end
    assert.is_true(first[1].level <= 4)
    assert.same({}, watch:take())
    watch:close()
    watch:close()
    assert.same({}, watch:take())
  end)

  it("of a file there are none", function()
    local drive <close> = assert(hdd.open(scratch.file(4096)))
    local watch <close> = kernel_log.begin(drive)
    assert.same({}, watch:take())
  end)
end)
