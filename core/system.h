/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few calls to the system that Lua lacks. */
#ifndef HDD_SYSTEM_H
#define HDD_SYSTEM_H

#include <lua.h>

/* The descriptor at `index`: an integer, or an open Lua file's own.  Raises for anything else. */
int hdd_checkfd(lua_State *L, int index);

#endif
