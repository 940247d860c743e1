/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a running job wants of the Lua thread: offsets from a Lua function, and someone to take its
   records; see job.h. */
#include <lauxlib.h>
#include <sys/eventfd.h>

#include "job.h"
#include "parameters.h"

/* Calls the function (stack 1) for each free place of the ring, as lua_pcall runs it: stack 2 is
   the handle. Made visible in handfuls, so that the job need not wait for all of them. */
static int feed_offsets(lua_State *L) {
  struct job_handle *h = lua_touserdata(L, 2);
  struct job *j = h->job;
  struct pattern *p = &j->pattern;
  struct feed *f = &p->offsets;
  const lua_Integer block = j->unit;
  /* No call for an offset that could never be read; a ramp reads as many as it likes. */
  const uint64_t most = j->limits.ramp_ns > 0 ? UINT64_MAX : j->limits.ios;
  for (;;) {
    uint64_t room = feed_room(f, 1), n = 0;
    if (room == 0 || h->fed_all)
      return 0;
    if (h->fed == most) {
      *feed_slot(f, n++) = PATTERN_NO_MORE;
      h->fed_all = true;
    }
    if (room > 256)
      room = 256;
    if (room > most - h->fed)
      room = most - h->fed;
    while (n < room && !h->fed_all) {
      int whole;
      lua_pushvalue(L, 1);
      lua_pushinteger(L, (lua_Integer)++h->fed);
      lua_call(L, 1, 1);
      lua_Integer offset = lua_tointegerx(L, 3, &whole);
      if (__builtin_expect(!whole || offset < p->start || offset >= p->end || offset % block != 0,
                           0)) {
        if (!lua_isnil(L, 3))
          parameters_offset(L, 3, j->unit, p, (lua_Integer)h->fed); /* says what is wrong */
        offset = (lua_Integer)PATTERN_NO_MORE;
        h->fed_all = true;
      }
      lua_settop(L, 2);
      *feed_slot(f, n++) = (uint64_t)offset;
    }
    feed_publish(f, n);
    if (atomic_load(&j->asleep))
      (void)eventfd_write(j->kick_fd, 1);
  }
}

static int with_traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (message)
    luaL_traceback(L, L, message, 1);
  return 1;
}

/* Runs `function` with the Lua function that is user value `value` and the handle. An error stops
   the job and is kept to be raised where its result is asked for. Stack: the job at 1 or on top. */
static bool call_kept(lua_State *L, struct job_handle *h, int self, int value,
                      lua_CFunction function) {
  int top = lua_gettop(L);
  lua_pushcfunction(L, with_traceback);
  lua_pushcfunction(L, function);
  lua_getiuservalue(L, self, value);
  lua_pushlightuserdata(L, h);
  int status = lua_pcall(L, 2, 0, top + 1);
  if (status != LUA_OK) {
    h->fed_all = true;
    atomic_store(&h->job->stop, true);
    lua_setiuservalue(L, self, PROBLEM);
  }
  lua_settop(L, top);
  return status == LUA_OK;
}

bool job_feed(lua_State *L, struct job_handle *h) {
  return h->fed_all || call_kept(L, h, lua_gettop(L), PATTERN_VALUE, feed_offsets);
}

/* Calls the function (stack 1) with batch after batch, each a table of columns of integers. */
static int deliver_records(lua_State *L) {
  static const char *const columns[] = {"offset_bytes", "time_ns", "latency_ns", "code"};
  struct job_handle *h = lua_touserdata(L, 2);
  struct feed *f = &h->job->recorder->feed;
  uint64_t n;
  while ((n = feed_waiting(f, RECORD_WORDS) / RECORD_WORDS) > 0) {
    if (n > RECORD_BATCH)
      n = RECORD_BATCH;
    lua_settop(L, 2);
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, (lua_Integer)n);
    lua_setfield(L, -2, "n");
    for (int c = 0; c < 4; c++) {
      lua_createtable(L, (int)n, 0);
      for (uint64_t i = 0; i < n; i++) {
        uint64_t word = feed_peek(f, i * RECORD_WORDS + (uint64_t)(c < 2 ? c : 2));
        lua_pushinteger(L, (lua_Integer)(c == 2 ? word >> 16 : c == 3 ? word & 0xffff : word));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
      }
      lua_setfield(L, -2, columns[c]);
    }
    feed_consume(f, n * RECORD_WORDS);
    if (atomic_load(&h->job->asleep))
      (void)eventfd_write(h->job->kick_fd, 1);
    lua_pushvalue(L, 1);
    lua_insert(L, -2);
    lua_call(L, 1, 0);
  }
  return 0;
}

static bool wants_records(const struct job *j) {
  return j->recorder && j->recorder->fd < 0;
}

/* attend(): does what the job wants of Lua (offsets, taking records), and says whether it has
   finished.  Called whenever its descriptor is readable. */
int job_attend(lua_State *L) {
  struct job_handle *h = job_check(L);
  struct job *j = h->job;
  eventfd_t n;
  lua_settop(L, 1);
  (void)eventfd_read(j->finished_fd, &n);
  bool finished = job_finished(j); /* before the last look at the records */
  if (j->pattern.kind == PATTERN_FUNCTION && !finished)
    job_feed(L, h);
  if (wants_records(j) && lua_getiuservalue(L, 1, PROBLEM) == LUA_TNIL)
    call_kept(L, h, 1, RECORDS_VALUE, deliver_records);
  if (finished)
    (void)eventfd_write(j->finished_fd, 1); /* stays readable: others may wait on it */
  lua_pushboolean(L, finished);
  return 1;
}
