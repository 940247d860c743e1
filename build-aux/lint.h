/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For clang-tidy alone: which functions do not come back.  They are declared to return int, so that
   one can write `return luaL_error(...)`. */
#define _GNU_SOURCE
#include <lauxlib.h>
#include <lua.h>

__attribute__((noreturn)) int lua_error(lua_State *L);
__attribute__((noreturn)) int luaL_error(lua_State *L, const char *format, ...);
__attribute__((noreturn)) int luaL_argerror(lua_State *L, int argument, const char *message);
__attribute__((noreturn)) int luaL_typeerror(lua_State *L, int argument, const char *name);
__attribute__((noreturn)) int hdd_misuse(lua_State *L, const char *format, ...);
