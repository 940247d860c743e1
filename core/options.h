/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of options, as Lua functions take it: each reader gives the value of a key, or what
   stands for an absent one. Misuse raises and names the option, its value and the allowed ones. */
#ifndef HDD_OPTIONS_H
#define HDD_OPTIONS_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

/* Raises unless each key of the table at `index` is one of `names` (ended by NULL). */
void options_known(lua_State *L, int index, const char *const names[]);

/* A whole number within [low, high]. */
int64_t option_integer(lua_State *L, int index, const char *key, int64_t fallback, int64_t low,
                       int64_t high);

/* Seconds, as nanoseconds: from 0 on, or above 0 if `positive`; math.huge, where `endless` allows
   it, is INT64_MAX. */
int64_t option_seconds(lua_State *L, int index, const char *key, int64_t fallback, bool positive,
                       bool endless);

/* true or false. */
bool option_boolean(lua_State *L, int index, const char *key, bool fallback);

#endif
