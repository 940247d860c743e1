/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The accounts of a job or queue as Lua tables; see tally.h. */
#define _GNU_SOURCE
#include <lauxlib.h>
#include <stdlib.h>

#include "clock.h"
#include "error.h"
#include "table.h"
#include "tally.h"

static void set_number(lua_State *L, const char *key, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, key);
}

static void set_seconds(lua_State *L, const char *key, int64_t ns) {
  set_number(L, key, (double)ns / (double)NS_PER_S);
}

void series_push(lua_State *L, const struct series *s, int64_t end_ns) {
  lua_createtable(L, (int)s->used, 0);
  for (unsigned n = 0; n < s->used; n++) {
    const struct interval *i = &s->intervals[n];
    int64_t begin = (int64_t)n * s->length_ns, length = s->length_ns;
    if (n == s->used - 1 && end_ns - s->start_ns < begin + length)
      length = end_ns - s->start_ns - begin; /* the last is as long as it was */
    if (length <= 0)
      break;
    lua_createtable(L, 0, 7);
    set_seconds(L, "time_s", begin);
    set_seconds(L, "elapsed_s", length);
    set_integer(L, "ios", (int64_t)i->ios);
    set_integer(L, "bytes", (int64_t)i->bytes);
    if (i->position >= 0)
      set_integer(L, "position_bytes", i->position);
    if (i->ios > 0) {
      set_number(L, "latency_mean_ns", (double)i->latency_sum / (double)i->ios);
      set_integer(L, "latency_max_ns", (int64_t)i->latency_max);
    }
    lua_rawseti(L, -2, (lua_Integer)n + 1);
  }
}

static void push_failures(lua_State *L, const struct tally *t) {
  char scratch[24];
  lua_createtable(L, (int)t->kept_failures, 0);
  for (unsigned i = 0; i < t->kept_failures; i++) {
    const struct failure *f = &t->failures[i];
    lua_createtable(L, 0, 6);
    set_integer(L, "offset_bytes", f->offset);
    set_integer(L, "length_bytes", f->length);
    set_integer(L, "code", f->code);
    lua_pushstring(L, hdd_errno_name(f->code, scratch));
    lua_setfield(L, -2, "error");
    set_integer(L, "latency_ns", f->ns);
    set_seconds(L, "time_s", f->at_ns - t->from_ns);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static int slower_first(const void *a, const void *b) {
  const struct slow *x = a, *y = b;
  return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static void push_slowest(lua_State *L, struct tally *t) {
  qsort(t->slowest, t->kept_slowest, sizeof *t->slowest, slower_first);
  lua_createtable(L, (int)t->kept_slowest, 0);
  for (unsigned i = 0; i < t->kept_slowest; i++) {
    lua_createtable(L, 0, 3);
    set_integer(L, "offset_bytes", t->slowest[i].offset);
    set_integer(L, "latency_ns", t->slowest[i].ns);
    set_seconds(L, "time_s", t->slowest[i].at_ns - t->from_ns);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_stalls(lua_State *L, const struct tally *t) {
  lua_createtable(L, (int)t->kept_stalls, 0);
  for (unsigned i = 0; i < t->kept_stalls; i++) {
    lua_createtable(L, 0, 3);
    set_seconds(L, "time_s", t->stalls[i].at_ns - t->from_ns);
    set_seconds(L, "elapsed_s", t->stalls[i].ns);
    set_integer(L, "offset_bytes", t->stalls[i].offset);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_rates(lua_State *L, struct tally *t, int64_t elapsed) {
  double seconds = (double)elapsed / (double)NS_PER_S, mean, half_width;
  set_number(L, "iops", (double)counter_get(&t->counters.ios) / seconds);
  set_number(L, "bandwidth_bytes_per_s", (double)counter_get(&t->counters.bytes) / seconds);
  set_number(L, "depth_achieved", (double)t->busy_ns / (double)elapsed);
  if (series_confidence(&t->series, t->from_ns + elapsed, &mean, &half_width))
    set_number(L, "iops_ci95", half_width);
}

void tally_push(lua_State *L, struct tally *t, int64_t end_ns, int histogram) {
  int64_t end = end_ns > t->until_ns ? end_ns : t->until_ns, elapsed = end - t->from_ns;
  set_integer(L, "ios", (int64_t)counter_get(&t->counters.ios));
  set_integer(L, "bytes", (int64_t)counter_get(&t->counters.bytes));
  set_integer(L, "errors", (int64_t)counter_get(&t->counters.errors));
  set_integer(L, "short_reads", (int64_t)t->short_reads);
  set_seconds(L, "elapsed_s", elapsed);
  if (elapsed > 0) /* else no rate: unknown, not infinite */
    push_rates(L, t, elapsed);
  if (histogram != 0) {
    *histogram_check(L, histogram) = t->latency;
    lua_pushvalue(L, histogram);
  } else {
    *histogram_push(L) = t->latency;
  }
  lua_setfield(L, -2, "latency");
  if (end > t->series.end_ns)
    series_advance(&t->series, end); /* a silence at the end is intervals with no I/O */
  series_push(L, &t->series, end);
  lua_setfield(L, -2, "series");
  push_failures(L, t);
  lua_setfield(L, -2, "failures");
  push_slowest(L, t);
  lua_setfield(L, -2, "slowest");
  push_stalls(L, t);
  lua_setfield(L, -2, "stalls");
}
