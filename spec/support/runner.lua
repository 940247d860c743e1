-- Runs busted in whatever interpreter this file is given to: lua5.4, build/hddlua or a sanitised one.
--   lua5.4 spec/support/runner.lua [BUSTED ARGUMENT...]
-- SPDX-License-Identifier: GPL-3.0-or-later
require "busted.runner" {standalone = false}
