-- SPDX-License-Identifier: GPL-3.0-or-later
-- hddlua's version, in one place.
return "0.1.0"
