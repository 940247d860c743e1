/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few calls to the system that Lua lacks; see system.h. */
#define _GNU_SOURCE
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "core.h"
#include "error.h"
#include "interrupt.h"

/* The open stream at `index`, NULL when it is none. */
static FILE *stream_at(lua_State *L, int index) {
  luaL_Stream *stream = luaL_testudata(L, index, LUA_FILEHANDLE);
  return stream && stream->closef ? stream->f : NULL;
}

int hdd_checkfd(lua_State *L, int index) {
  FILE *stream = stream_at(L, index);
  int is_integer;
  lua_Integer fd = lua_tointegerx(L, index, &is_integer);
  if (stream)
    return fileno(stream);
  if (!is_integer || fd < 0 || fd > INT_MAX)
    luaL_error(L, "a file descriptor or an open file expected, not %s",
               luaL_tolstring(L, index, 0));
  return (int)fd;
}

/* now() -> the monotonic clock, ns */
static int system_now(lua_State *L) {
  lua_pushinteger(L, now_ns());
  return 1;
}

/* time() -> the wall clock, seconds since 1970 */
static int system_time(lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  lua_pushnumber(L, (lua_Number)t.tv_sec + (lua_Number)t.tv_nsec / 1e9);
  return 1;
}

static int sync_path(const char *path) {
  int code = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return errno;
  if (fsync(fd) != 0)
    code = errno;
  close(fd);
  return code;
}

static int sync_stream(FILE *stream) {
  return fflush(stream) == 0 && fsync(fileno(stream)) == 0 ? 0 : errno;
}

/* fsync(path or file) -> true | nil, message, code: what was written to it (a folder: the names in
   it) is on the disk. */
static int system_fsync(lua_State *L) {
  FILE *stream = stream_at(L, 1);
  const char *name = stream ? "file" : luaL_checkstring(L, 1);
  int code = stream ? sync_stream(stream) : sync_path(name);
  if (interrupt_pending() != 0)
    interrupt_grace(); /* the script is saving what it has */
  if (code != 0)
    return hdd_fail(L, code, "sync %s", name);
  lua_pushboolean(L, 1);
  return 1;
}

/* isatty(fd or file) -> boolean */
static int system_isatty(lua_State *L) {
  lua_pushboolean(L, isatty(hdd_checkfd(L, 1)));
  return 1;
}

/* window_size(fd or file) -> columns, lines | nil when it is not a terminal, or one that does not
   know its size (serial lines say 0 x 0) */
static int system_window_size(lua_State *L) {
  struct winsize size;
  if (ioctl(hdd_checkfd(L, 1), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushinteger(L, size.ws_col);
  lua_pushinteger(L, size.ws_row);
  return 2;
}

/* 0 or an errno value: EEXIST when there is something at `to`.  File systems that know no
   RENAME_NOREPLACE (EINVAL) get a second name, and lose the first. */
static int rename_exclusively(const char *from, const char *to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;
  return link(from, to) == 0 && unlink(from) == 0 ? 0 : errno;
}

/* rename(from, to[, {exclusive = true}]) -> true | nil, message, code: like os.rename, but what is
   at `to` stays if so asked, even if it came there just now. */
static int system_rename(lua_State *L) {
  const char *from = luaL_checkstring(L, 1);
  const char *to = luaL_checkstring(L, 2);
  int code = 0, exclusive = 0;
  if (!lua_isnoneornil(L, 3)) {
    luaL_checktype(L, 3, LUA_TTABLE);
    lua_getfield(L, 3, "exclusive");
    exclusive = lua_toboolean(L, -1);
  }
  if (exclusive)
    code = rename_exclusively(from, to);
  else if (rename(from, to) != 0)
    code = errno;
  if (code != 0)
    return hdd_fail(L, code, "rename %s to %s", from, to);
  lua_pushboolean(L, 1);
  return 1;
}

static int close_stream(lua_State *L) {
  luaL_Stream *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  return luaL_fileresult(L, fclose(stream->f) == 0, NULL);
}

/* A pipe for writing: waits for its reader, until a signal is pending.  0 or an errno value. */
static int open_pipe(const char *path, int *fd) {
  enum { LOOK_NS = 20000000 };
  while ((*fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
    if (errno != ENXIO && errno != EINTR)
      return errno;
    if (interrupt_pending())
      return EINTR;
    nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
  }
  return fcntl(*fd, F_SETFL, 0) == 0 ? 0 : errno;
}

/* open_pipe(path) -> file, once something reads the pipe | nil, message, code (EINTR: interrupted) */
static int system_open_pipe(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  luaL_Stream *stream = lua_newuserdatauv(L, sizeof *stream, 0);
  int fd = -1;
  stream->closef = NULL;
  luaL_setmetatable(L, LUA_FILEHANDLE);
  int code = open_pipe(path, &fd);
  stream->f = code == 0 ? fdopen(fd, "wb") : NULL;
  if (!stream->f) {
    code = code != 0 ? code : errno;
    if (fd >= 0)
      close(fd);
    if (code == EINTR)
      return hdd_fail_with(L, code, "%s: interrupted: nothing has read this pipe", path);
    return hdd_fail(L, code, "%s", path);
  }
  stream->closef = close_stream;
  return 1;
}

void system_register(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"now", system_now},
      {"time", system_time},
      {"fsync", system_fsync},
      {"isatty", system_isatty},
      {"window_size", system_window_size},
      {"rename", system_rename},
      {"open_pipe", system_open_pipe},
      {NULL, NULL},
  };
  luaL_setfuncs(L, functions, 0);
}
