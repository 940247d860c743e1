/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's messages as they come: a reader of /dev/kmsg that never waits.  A Lua file cannot do
   that: each read gives one record, and one too many blocks. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <unistd.h>

#include "core.h"
#include "error.h"

#define KERNEL_LOG "hdd.KernelLog"

enum { RECORD_SIZE = 8192, READ_MOST = 1000 }; /* a smaller buffer could be refused with EINVAL */

struct kernel_log {
  int fd; /* -1: closed */
};

/* kernel_log() -> KernelLog of what comes from now on | nil, message, code */
static int new_kernel_log(lua_State *L) {
  struct kernel_log *k = lua_newuserdatauv(L, sizeof *k, 0);
  k->fd = -1;
  luaL_setmetatable(L, KERNEL_LOG);
  k->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (k->fd < 0 || lseek(k->fd, 0, SEEK_END) < 0)
    return hdd_fail(L, errno, "read the kernel's messages (/dev/kmsg)");
  return 1;
}

/* log:read() -> list of records that have come since, 1000 at most, each a string laid out as the
   kernel's Documentation/ABI/testing/dev-kmsg says:
   "priority,sequence,microseconds since boot,flags[,...];text\n", and lines " KEY=value\n". */
static int kernel_log_read(lua_State *L) {
  struct kernel_log *k = luaL_checkudata(L, 1, KERNEL_LOG);
  char record[RECORD_SIZE];
  lua_Integer n = 0;
  lua_newtable(L);
  /* EPIPE: records were overwritten before they were read; the next read goes on behind them. */
  for (int tries = 0; k->fd >= 0 && tries < READ_MOST; tries++) {
    ssize_t length = read(k->fd, record, sizeof record);
    if (length > 0) {
      lua_pushlstring(L, record, (size_t)length);
      lua_rawseti(L, -2, ++n);
    } else if (length == 0 || (errno != EPIPE && errno != EINTR)) {
      break;
    }
  }
  return 1;
}

/* log:close(): harmless the second time */
static int kernel_log_close(lua_State *L) {
  struct kernel_log *k = luaL_checkudata(L, 1, KERNEL_LOG);
  if (k->fd >= 0)
    close(k->fd);
  k->fd = -1;
  return 0;
}

void kernel_log_register(lua_State *L) {
  static const luaL_Reg metamethods[] = {
      {"__close", kernel_log_close},
      {"__gc", kernel_log_close},
      {NULL, NULL},
  };
  static const luaL_Reg methods[] = {
      {"read", kernel_log_read},
      {"close", kernel_log_close},
      {NULL, NULL},
  };
  luaL_newmetatable(L, KERNEL_LOG);
  luaL_setfuncs(L, metamethods, 0);
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_pushcfunction(L, new_kernel_log);
  lua_setfield(L, -2, "kernel_log");
}
