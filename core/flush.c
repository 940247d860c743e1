/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cache flushes; see flush.h. */
#include "flush.h"

#include <lauxlib.h>
#include <string.h>

#include "clock.h"
#include "error.h"
#include "table.h"

static void clean(struct flusher *f) {
  f->from = INT64_MAX;
  f->to = 0;
}

void flusher_begin(struct flusher *f) {
  clean(f);
  f->issued = f->flushes = f->errors = 0;
}

void flusher_ended(struct flusher *f, int code, uint64_t issued, int64_t now) {
  f->due = f->out = false;
  f->issued = issued;
  f->last_code = code;
  f->flushes++;
  if (code == 0) {
    clean(f);
    return;
  }
  f->errors++;
  if (f->kept_failures < FLUSH_FAILURES)
    f->failures[f->kept_failures++] = (struct flush_failure){code, f->from, f->to, now};
}

static void push_failures(lua_State *L, const struct flusher *f, int64_t begin_ns) {
  char scratch[24];
  lua_createtable(L, (int)f->kept_failures, 0);
  for (unsigned i = 0; i < f->kept_failures; i++) {
    const struct flush_failure *one = &f->failures[i];
    lua_createtable(L, 0, 5);
    set_integer(L, "code", one->code);
    lua_pushstring(L, hdd_errno_name(one->code, scratch));
    lua_setfield(L, -2, "error");
    set_integer(L, "from_bytes", one->from);
    set_integer(L, "to_bytes", one->to);
    lua_pushnumber(L, (double)(one->at_ns - begin_ns) / (double)NS_PER_S);
    lua_setfield(L, -2, "time_s");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

void flusher_push(lua_State *L, const struct flusher *f, int64_t begin_ns) {
  set_integer(L, "flushes", (int64_t)f->flushes);
  set_integer(L, "flush_errors", (int64_t)f->errors);
  push_failures(L, f, begin_ns);
  lua_setfield(L, -2, "flush_failures");
  if (f->out)
    lua_pushliteral(L, "the last flush was not answered");
  else if (f->last_code != 0)
    lua_pushfstring(L, "the last flush failed: %s", strerror(f->last_code));
  else if (flusher_dirty(f))
    lua_pushliteral(L, "what was written last was not flushed");
  else
    return;
  lua_setfield(L, -2, "flush_error");
}
