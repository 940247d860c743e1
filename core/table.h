/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of the tables that the core hands to Lua. */
#ifndef HDD_TABLE_H
#define HDD_TABLE_H

#include <lua.h>

/* Sets `key` of the table on top of the stack. */
static inline void set_integer(lua_State *L, const char *key, lua_Integer value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, key);
}

#endif
