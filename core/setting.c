/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel setting that was changed for a while; see setting.h. */
#define _GNU_SOURCE
#include "setting.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "error.h"

#define SETTING "hdd.setting"

enum { CHANGES = 256, PATH_SIZE = 256, VALUE_SIZE = 128 };

/* What is changed now, in a table of fixed size, so that a signal's handler may walk it.  `order`
   is 0 for a free entry; it is written last, and cleared first. */
static struct change {
  _Atomic unsigned order; /* the later the change, the higher */
  char path[PATH_SIZE];
  char before[VALUE_SIZE];
} changes[CHANGES];

static unsigned latest; /* the highest order so far */

/* What Lua holds: the entry and its order, by which it knows that the entry is still its own. */
struct setting {
  struct change *change; /* NULL when nothing was changed */
  unsigned order;
};

/* 0 or an errno value.  Async-signal-safe. */
static int write_value(const char *path, const char *value) {
  size_t n = strlen(value);
  int code = 0, fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  ssize_t written;
  if (fd < 0)
    return errno;
  written = write(fd, value, n);
  if (written < 0)
    code = errno;
  else if ((size_t)written < n)
    code = EIO;
  close(fd);
  return code;
}

/* The value now, without the newline; of a choice ("none [mq-deadline]") the one in brackets. */
static int read_value(const char *path, char value[VALUE_SIZE]) {
  int code = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n;
  char *open_bracket, *close_bracket;
  if (fd < 0)
    return errno;
  n = read(fd, value, VALUE_SIZE - 1);
  if (n < 0)
    code = errno;
  else if (n == VALUE_SIZE - 1)
    code = EMSGSIZE; /* too long to be put back whole */
  close(fd);
  if (code != 0)
    return code;
  value[n] = '\0';
  value[strcspn(value, "\n")] = '\0';
  open_bracket = strchr(value, '[');
  close_bracket = open_bracket ? strchr(open_bracket, ']') : NULL;
  if (close_bracket) {
    *close_bracket = '\0';
    memmove(value, open_bracket + 1, (size_t)(close_bracket - open_bracket));
  }
  return 0;
}

void setting_restore_all(void) {
  for (;;) {
    struct change *last = NULL;
    for (int i = 0; i < CHANGES; i++)
      if (changes[i].order != 0 && (!last || changes[i].order > last->order))
        last = &changes[i];
    if (!last)
      return;
    (void)write_value(last->path, last->before);
    last->order = 0;
  }
}

static struct change *free_change(void) {
  for (int i = 0; i < CHANGES; i++)
    if (changes[i].order == 0)
      return &changes[i];
  return NULL;
}

/* Put one change back: 0 or an errno value.  When the same setting was changed again since, that
   change inherits what was there before ours, and nothing is written now. */
static int restore(struct change *c) {
  struct change *next = NULL;
  int code = 0;
  for (int i = 0; i < CHANGES; i++)
    if (changes[i].order > c->order && strcmp(changes[i].path, c->path) == 0 &&
        (!next || changes[i].order < next->order))
      next = &changes[i];
  if (next)
    memcpy(next->before, c->before, VALUE_SIZE);
  else
    code = write_value(c->path, c->before);
  c->order = 0;
  return code;
}

/* Change `path` to `value`; *s knows how to undo it.  0 or an errno value. */
static int change(struct setting *s, const char *path, const char *value) {
  struct change *c = free_change();
  int code;
  if (!c)
    return ENFILE;
  code = read_value(path, c->before);
  if (code != 0)
    return code;
  if (strcmp(c->before, value) == 0)
    return 0;
  strcpy(c->path, path);
  /* The entry is there before the value is written: a signal between the two restores too much
     rather than too little. */
  c->order = ++latest;
  code = write_value(path, value);
  if (code != 0) {
    c->order = 0;
    return code;
  }
  s->change = c;
  s->order = c->order;
  return 0;
}

/* setting(path, value) -> Setting | nil, message, code */
static int new_setting(lua_State *L) {
  static bool registered;
  size_t path_length, value_length;
  const char *path = luaL_checklstring(L, 1, &path_length);
  const char *value = luaL_checklstring(L, 2, &value_length);
  struct setting *s;
  int code;
  luaL_argcheck(L, path_length < PATH_SIZE && strlen(path) == path_length, 1, "path too long");
  luaL_argcheck(L, value_length > 0 && value_length < VALUE_SIZE, 2, "1 to 127 bytes expected");
  s = lua_newuserdatauv(L, sizeof *s, 0);
  *s = (struct setting){0};
  luaL_setmetatable(L, SETTING);
  if (!registered)
    registered = atexit(setting_restore_all) == 0;
  code = change(s, path, value);
  if (code != 0)
    return hdd_fail(L, code, "set %s to %s", path, value);
  return 1;
}

/* setting:restore() -> true | nil, message, code.  Harmless the second time. */
static int setting_restore(lua_State *L) {
  struct setting *s = luaL_checkudata(L, 1, SETTING);
  struct change *c = s->change;
  int code;
  s->change = NULL;
  if (c && c->order == s->order) {
    code = restore(c);
    if (code != 0)
      return hdd_fail(L, code, "set %s back to %s", c->path, c->before);
  }
  lua_pushboolean(L, 1);
  return 1;
}

void setting_register(lua_State *L) {
  static const luaL_Reg metamethods[] = {
      {"__close", setting_restore},
      {"__gc", setting_restore},
      {NULL, NULL},
  };
  static const luaL_Reg methods[] = {{"restore", setting_restore}, {NULL, NULL}};
  luaL_newmetatable(L, SETTING);
  luaL_setfuncs(L, metamethods, 0);
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_pushcfunction(L, new_setting);
  lua_setfield(L, -2, "setting");
}
