/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job has measured, as Lua tables: in the end, and as it stands; see job.h. */
#define _GNU_SOURCE
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "job.h"
#include "warning.h"

void job_set_records_error(lua_State *L, const struct job *j) {
  int code = j->recorder ? atomic_load(&j->recorder->error) : 0;
  if (code == 0)
    return;
  lua_pushstring(L, strerror(code));
  lua_setfield(L, -2, "records_error");
}

void job_set_positions(lua_State *L, struct job *j) {
  int64_t done = atomic_load_explicit(&j->done_to, memory_order_relaxed);
  if (done < 0)
    return;
  lua_pushinteger(L, done);
  lua_setfield(L, -2, "done_to_bytes");
  if (j->operation != JOB_WRITE)
    return;
  lua_pushinteger(L, atomic_load_explicit(&j->durable_to, memory_order_relaxed));
  lua_setfield(L, -2, "durable_to_bytes");
}

/* snapshot(): a whole copy of the histogram and the series as they were at one instant within the
   last ticks, or nil when the thread has not made one yet.  It asks for the next one. */
int job_snapshot(lua_State *L) {
  struct job *j = job_check(L)->job;
  struct snapshot *s = atomic_exchange_explicit(&j->mail, NULL, memory_order_acq_rel);
  atomic_store_explicit(&j->snapshot_wanted, true, memory_order_release);
  if (!s) {
    luaL_pushfail(L);
    return 1;
  }
  lua_createtable(L, 0, 2);
  *histogram_push(L) = s->latency;
  lua_setfield(L, -2, "latency");
  series_push(L, &s->series, s->at_ns);
  lua_setfield(L, -2, "series");
  series_close(&s->series);
  free(s);
  return 1;
}

static const char *stop_name(enum stop_reason reason) {
  static const char *const names[] = {
      [STOP_NONE] = "none",           [STOP_IOS] = "ios",
      [STOP_BYTES] = "bytes",         [STOP_PATTERN] = "pattern",
      [STOP_RUNTIME] = "runtime",     [STOP_ERRORS] = "errors",
      [STOP_PRECISION] = "precision", [STOP_REQUEST] = "stop",
      [STOP_INTERRUPT] = "interrupt", [STOP_MISMATCHES] = "mismatches",
      [STOP_CLOSED] = "closed",       [STOP_LOST] = "device lost",
      [STOP_KERNEL] = "kernel"};
  return names[reason];
}

/* Pushes the list of all that was not as asked. */
static void push_warnings(lua_State *L, const struct job *j) {
  lua_newtable(L);
  warning_add_common(L, &j->ring, j->device->cached, j->retries);
  if (j->underruns > 0)
    warning_add(L,
                "the pattern function was too slow %I times: the drive had to wait for an offset",
                (LUAI_UACINT)j->underruns);
  if (j->recorder && j->recorder->waits > 0)
    warning_add(L, "taking records was too slow %I times: the drive had to wait",
                (LUAI_UACINT)j->recorder->waits);
  if (j->recorder && j->recorder->error != 0)
    warning_add(L, "records: %s: the rest was discarded", strerror(j->recorder->error));
  if (j->stopping == STOP_KERNEL) {
    bool short_of =
        j->kernel_error == EAGAIN || j->kernel_error == EBUSY || j->kernel_error == ENOMEM;
    warning_add(L, "%s: %s: stopped %s; this is no fault of the drive", j->kernel_call,
                strerror(j->kernel_error),
                short_of ? "for want of the kernel's resources" : "as the kernel refused the call");
  }
  if (j->stopping == STOP_LOST)
    warning_add(L, "device lost at offset %I", (LUAI_UACINT)j->lost_offset);
  if (j->ramping)
    warning_add(L, "it ended before the end of the ramp: nothing was counted");
  if (j->cut_off)
    warning_add(L, "%d %s not answered within %d s of the end and given up",
                (int)j->in_flight_at_end, j->in_flight_at_end == 1 ? "read was" : "reads were",
                RING_DRAIN_S);
}

static void push_abandoned(lua_State *L, const struct job *j) {
  lua_createtable(L, (int)j->n_abandoned, 0);
  for (unsigned i = 0; i < j->n_abandoned; i++) {
    lua_pushinteger(L, j->abandoned[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_outcome(lua_State *L, struct job *j) {
  int histogram = 0;
  if (lua_getiuservalue(L, 1, HISTOGRAM_VALUE) != LUA_TNIL)
    histogram = lua_gettop(L);
  static const char *const operations[] = {"read", "write", "verify"};
  lua_createtable(L, 0, 40);
  lua_pushstring(L, operations[j->operation]);
  lua_setfield(L, -2, "operation");
  tally_push(L, &j->tally, j->cut_off ? j->now : 0, histogram);
  lua_pushstring(L, stop_name(j->stopping));
  lua_setfield(L, -2, "stopped_by");
  lua_pushboolean(L, j->stopping == STOP_INTERRUPT);
  lua_setfield(L, -2, "interrupted");
  if (j->lost_offset >= 0) {
    lua_pushinteger(L, j->lost_offset);
    lua_setfield(L, -2, "lost_offset_bytes");
  }
  lua_pushinteger(L, j->wish.depth);
  lua_setfield(L, -2, "depth");
  lua_pushinteger(L, (lua_Integer)j->underruns);
  lua_setfield(L, -2, "underruns");
  lua_pushinteger(L, (lua_Integer)j->retries);
  lua_setfield(L, -2, "retries");
  lua_pushinteger(L, (lua_Integer)counter_get(&j->issued_bytes));
  lua_setfield(L, -2, "issued_bytes");
  lua_pushnumber(L, (double)j->cpu_user_ns / (double)NS_PER_S);
  lua_setfield(L, -2, "cpu_user_s");
  lua_pushnumber(L, (double)j->cpu_system_ns / (double)NS_PER_S);
  lua_setfield(L, -2, "cpu_system_s");
  lua_pushliteral(L, "thread");
  lua_setfield(L, -2, "timing");
  job_set_positions(L, j);
  if (j->operation == JOB_WRITE)
    flusher_push(L, &j->flush, j->tally.from_ns);
  else if (j->operation == JOB_VERIFY)
    verification_push(L, &j->verify);
  job_set_records_error(L, j);
  push_abandoned(L, j);
  lua_setfield(L, -2, "abandoned");
  push_warnings(L, j);
  lua_setfield(L, -2, "warnings");
}

/* outcome(): the table of results of a finished job, always the same one; nil while it runs. Raises
   what its pattern function or its record function has raised. */
int job_outcome(lua_State *L) {
  struct job_handle *h = job_check(L);
  struct job *j = h->job;
  lua_settop(L, 1);
  if (!job_finished(j)) {
    luaL_pushfail(L);
    return 1;
  }
  if (lua_getiuservalue(L, 1, PROBLEM) != LUA_TNIL)
    return lua_error(L);
  if (lua_getiuservalue(L, 1, OUTCOME) == LUA_TTABLE)
    return 1;
  job_join(j);
  push_outcome(L, j);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, 1, OUTCOME);
  return 1;
}
