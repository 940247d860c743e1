-- one.lua: the shortest script there is, for what starting costs.
-- SPDX-License-Identifier: GPL-3.0-or-later
local hdd = require "hdd"
local drive <close> = assert(hdd.open("/dev/zero", {size = 4 << 30, buffered = true}))
assert(drive:run {pattern = "random", ios = 1})
