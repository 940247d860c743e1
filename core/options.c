/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of options; see options.h. */
#include "options.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

#include "clock.h"
#include "error.h"

void options_known(lua_State *L, int index, const char *const names[]) {
  if (!lua_istable(L, index))
    hdd_misuse(L, "options: %s: must be a table", luaL_tolstring(L, index, NULL));
  lua_pushnil(L);
  while (lua_next(L, index)) {
    lua_pop(L, 1);
    const char *const *k = names;
    if (lua_type(L, -1) == LUA_TSTRING)
      while (*k && strcmp(*k, lua_tostring(L, -1)) != 0)
        k++;
    if (lua_type(L, -1) == LUA_TSTRING && *k)
      continue;
    luaL_Buffer b;
    const char *name = luaL_tolstring(L, -1, NULL);
    luaL_buffinit(L, &b);
    for (k = names; *k; k++) {
      luaL_addstring(&b, k == names ? "" : ", ");
      luaL_addstring(&b, *k);
    }
    luaL_pushresult(&b);
    hdd_misuse(L, "unknown option '%s' (there are: %s)", name, lua_tostring(L, -1));
  }
}

int64_t option_integer(lua_State *L, int index, const char *key, int64_t fallback, int64_t low,
                       int64_t high) {
  int whole;
  if (lua_getfield(L, index, key) == LUA_TNIL) {
    lua_pop(L, 1);
    return fallback;
  }
  lua_Integer value = lua_tointegerx(L, -1, &whole);
  if (!whole || value < low || value > high)
    hdd_misuse(L, "option '%s': %s: must be a whole number from %I to %I", key,
               luaL_tolstring(L, -1, NULL), (LUAI_UACINT)low, (LUAI_UACINT)high);
  lua_pop(L, 1);
  return value;
}

int64_t option_seconds(lua_State *L, int index, const char *key, int64_t fallback, bool positive,
                       bool endless) {
  int number;
  if (lua_getfield(L, index, key) == LUA_TNIL) {
    lua_pop(L, 1);
    return fallback;
  }
  double value = lua_tonumberx(L, -1, &number);
  bool endlessly = number && endless && isinf(value) && value > 0;
  if (!endlessly && (!number || !(value >= 0) || (positive && value <= 0) || value > 1e9))
    hdd_misuse(L, "option '%s': %s: must be a number of seconds %s, at most 1e9%s", key,
               luaL_tolstring(L, -1, NULL), positive ? "above 0" : "from 0 on",
               endless ? ", or math.huge" : "");
  lua_pop(L, 1);
  return endlessly ? INT64_MAX : (int64_t)(value * (double)NS_PER_S);
}

bool option_boolean(lua_State *L, int index, const char *key, bool fallback) {
  int type = lua_getfield(L, index, key);
  bool value = type == LUA_TNIL ? fallback : lua_toboolean(L, -1);
  if (type != LUA_TNIL && type != LUA_TBOOLEAN)
    hdd_misuse(L, "option '%s': %s: must be true or false", key, luaL_tolstring(L, -1, NULL));
  lua_pop(L, 1);
  return value;
}
