/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hdd.commands: commands to a drive and its answers, apart from hdd.core so that scripts that only
   read blocks load neither this nor the libraries it needs.  Users reach it through drive:ata,
   drive:nvme and hdd.transport. */
#include "commands.h"

#include <lauxlib.h>

#include "../error.h"

__attribute__((visibility("default"))) int luaopen_hdd_commands(lua_State *L);

lua_Integer field_integer(lua_State *L, int index, const char *key, lua_Integer absent,
                          lua_Integer least, lua_Integer most) {
  int whole;
  if (lua_getfield(L, index, key) == LUA_TNIL) {
    lua_pop(L, 1);
    return absent;
  }
  lua_Integer n = lua_tointegerx(L, -1, &whole);
  if (!whole || n < least || n > most)
    hdd_misuse(L, "'%s': %s: must be an integer from %I to %I", key, luaL_tolstring(L, -1, NULL),
               (LUAI_UACINT)least, (LUAI_UACINT)most);
  lua_pop(L, 1);
  return n;
}

bool field_boolean(lua_State *L, int index, const char *key) {
  lua_getfield(L, index, key);
  bool b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

const char *field_bytes(lua_State *L, int index, const char *key, size_t *length) {
  *length = 0;
  int type = lua_getfield(L, index, key);
  if (type == LUA_TNIL)
    return NULL;
  if (type != LUA_TSTRING)
    hdd_misuse(L, "'%s': must be a string of bytes, not %s", key, lua_typename(L, type));
  return lua_tolstring(L, -1, length);
}

void set_integer(lua_State *L, const char *key, lua_Integer n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, key);
}

void set_boolean(lua_State *L, const char *key, bool b) {
  lua_pushboolean(L, b);
  lua_setfield(L, -2, key);
}

void set_bytes(lua_State *L, const char *key, const void *bytes, size_t n) {
  lua_pushlstring(L, bytes, n);
  lua_setfield(L, -2, key);
}

void set_string(lua_State *L, const char *key, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

int luaopen_hdd_commands(lua_State *L) {
  lua_newtable(L);
  transport_register(L);
  recording_register(L);
  atasmart_register(L);
  return 1;
}
