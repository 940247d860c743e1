-- seeds.lua FOLDER: recordings to begin with, with answers of every kind in few bytes: an ATA drive
-- in both forms, its registers in both formats of sense data, an NVMe drive, a SCSI drive.
-- SPDX-License-Identifier: GPL-3.0-or-later
local recordings = require "hdd.recording"

local folder = ...

local IDENTIFY = ("\x40\0"):rep(256)
local DESCRIPTOR_SENSE = "\x72\1\0\x1d\0\0\0\x0e\9\x0c\0\0\0\0\0\0\0\x4f\0\xc2\0\x50"
local FIXED_SENSE = "\x70\0\1\0\x50\0\1\x0a\0\x4f\xc2\0\0\x1d\0\0\0\0"

local SEEDS = {
  ata16 = {
    {cdb = "\x85\8\x0e\0\0\0\1\0\0\0\0\0\0\0\xec\0", data = IDENTIFY, elapsed_us = 900},
    {cdb = "\x85\6\x20\0\xda\0\0\0\0\0\x4f\0\xc2\0\xb0\0", direction = "none", status = 2,
      sense = DESCRIPTOR_SENSE},
    {cdb = "\x85\8\x0e\0\0\0\1\0\x11\0\0\0\0\0\x2f\0", data = ("\0"):rep(512)},
  },
  ata12 = {
    {cdb = "\xa1\8\x0e\0\1\0\0\0\0\xec\0\0", data = IDENTIFY},
    {cdb = "\xa1\6\x20\xda\0\0\x4f\xc2\0\xb0\0\0", direction = "none", status = 2,
      sense = FIXED_SENSE},
    {cdb = "\xa1\6\x20\0\0\0\0\0\0\xe5\0\0", direction = "none", status = 2, result = 5},
  },
  nvme = {
    {kind = "nvme", cdb = "\6" .. ("\0"):rep(39) .. "\1" .. ("\0"):rep(23), data = ("N"):rep(64)},
    {kind = "nvme", cdb = "\2" .. ("\0"):rep(63), data = "log", sense = "\0\0\0\0\2\0"},
  },
  scsi = {
    {cdb = "\x12\0\0\0\x24\0", data = "\0\0\6\2\x1f\0\0\0SEAGATE ST4000NM0043    0004"},
    {cdb = "\x4d\0\x42\0\0\0\0\0\x20\0", data = "\2\0\0\4\0\0\0\0", status = 2,
      sense = "\x70\0\5\0\0\0\0\x0a\0\0\0\0\x20\0\0\0\0\0"},
    {cdb = "\x1d\4\0\0\0\0", direction = "out", data = "out"},
  },
}

for name, exchanges in pairs(SEEDS) do
  local recording = recordings.new("sdb")
  recording:note(name)
  for _, exchange in ipairs(exchanges) do recording:add(exchange) end
  assert(recordings.save(recording, folder .. "/" .. name .. ".hdrec", {force = true}))
end
