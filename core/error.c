/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Error returns; see error.h. */
#define _GNU_SOURCE
#include "error.h"

#include <lauxlib.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int push_failure(lua_State *L, int code, const char *what, va_list ap, const char *reason) {
  lua_pushnil(L);
  lua_pushvfstring(L, what, ap);
  if (reason) {
    lua_pushfstring(L, ": %s", reason);
    lua_concat(L, 2);
  }
  lua_pushinteger(L, code);
  return 3;
}

int hdd_fail(lua_State *L, int code, const char *what, ...) {
  va_list ap;
  va_start(ap, what);
  push_failure(L, code, what, ap, strerror(code));
  va_end(ap);
  return 3;
}

int hdd_fail_with(lua_State *L, int code, const char *message, ...) {
  va_list ap;
  va_start(ap, message);
  push_failure(L, code, message, ap, NULL);
  va_end(ap);
  return 3;
}

/* Is this one of the library's files that hand options on to the core? */
static bool hands_on(const char *source) {
  static const char *const files[] = {"hdd/device.lua", "hdd/job.lua", "hdd/queue.lua",
                                      "hdd/transport/channel.lua"};
  size_t length = strlen(source);
  for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
    size_t n = strlen(files[i]);
    if (length > n && strcmp(source + length - n, files[i]) == 0)
      return true;
  }
  return false;
}

int hdd_misuse(lua_State *L, const char *message, ...) {
  lua_Debug ar;
  int level = 1;
  while (lua_getstack(L, level, &ar) && lua_getinfo(L, "S", &ar) &&
         (*ar.what == 'C' || hands_on(ar.source)))
    level++;
  luaL_where(L, level);
  va_list ap;
  va_start(ap, message);
  lua_pushvfstring(L, message, ap);
  va_end(ap);
  lua_concat(L, 2);
  return lua_error(L);
}

const char *hdd_errno_name(int code, char scratch[24]) {
  const char *name = strerrorname_np(code);
  if (name)
    return name;
  snprintf(scratch, 24, "errno %d", code);
  return scratch;
}
