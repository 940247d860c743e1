/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Error returns; see error.h. */
#define _GNU_SOURCE
#include "error.h"

#include <stdarg.h>
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

const char *hdd_errno_name(int code, char scratch[24]) {
  const char *name = strerrorname_np(code);
  if (name)
    return name;
  snprintf(scratch, 24, "errno %d", code);
  return scratch;
}
