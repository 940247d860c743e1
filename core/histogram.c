/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latency histogram; see histogram.h. */
#include "histogram.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

#include "core.h"

#define HISTOGRAM "hdd.Histogram"

void histogram_reset(struct histogram *h) {
  memset(h, 0, sizeof *h);
  h->min = UINT64_MAX;
}

static uint64_t bucket_low(unsigned i) {
  if (i < HISTOGRAM_SUB)
    return i;
  unsigned shift = (i >> HISTOGRAM_BITS) - 1;
  return (uint64_t)(HISTOGRAM_SUB + (i & (HISTOGRAM_SUB - 1))) << shift;
}

static uint64_t bucket_middle(unsigned i) {
  uint64_t low = bucket_low(i);
  return low + (bucket_low(i + 1) - 1 - low) / 2;
}

/* Nearest rank: ceil(p * n / 100), at least 1.  The product is formed first: p / 100 * n makes
   99.9 % of 1000 the 1000th. */
static uint64_t rank_of(double p, uint64_t n) {
  double exact = p * (double)n / 100;
  double rank = ceil(exact - 1e-9 * exact); /* a rank that is whole up to rounding is that rank */
  if (rank < 1)
    return 1;
  return rank >= (double)n ? n : (uint64_t)rank;
}

uint64_t histogram_percentile(const struct histogram *h, double p) {
  if (p <= 0)
    return h->min;
  uint64_t rank = rank_of(p, h->count), seen = 0;
  if (rank == h->count)
    return h->max;
  for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
    seen += h->bucket[i];
    if (seen >= rank) {
      uint64_t ns = bucket_middle(i);
      return ns < h->min ? h->min : ns > h->max ? h->max : ns;
    }
  }
  return h->max;
}

struct histogram *histogram_push(lua_State *L) {
  struct histogram *h = lua_newuserdatauv(L, sizeof *h, 0);
  histogram_reset(h);
  luaL_setmetatable(L, HISTOGRAM);
  return h;
}

bool histogram_is(lua_State *L, int index) {
  return luaL_testudata(L, index, HISTOGRAM) != NULL;
}

struct histogram *histogram_check(lua_State *L, int index) {
  return luaL_checkudata(L, index, HISTOGRAM);
}

static int new_histogram(lua_State *L) {
  histogram_push(L);
  return 1;
}

static int add(lua_State *L) {
  struct histogram *h = histogram_check(L, 1);
  lua_Integer ns = luaL_checkinteger(L, 2), n = luaL_optinteger(L, 3, 1);
  luaL_argcheck(L, ns >= 0, 2, "a latency is 0 ns or more");
  luaL_argcheck(L, n >= 0, 3, "a count is 0 or more");
  if (n > 0) {
    histogram_add(h, (uint64_t)ns);
    h->count += (uint64_t)n - 1;
    h->sum += (unsigned __int128)(uint64_t)ns * (uint64_t)(n - 1);
    h->bucket[histogram_index((uint64_t)ns)] += (uint64_t)n - 1;
  }
  lua_settop(L, 1);
  return 1;
}

static int merge(lua_State *L) {
  struct histogram *h = histogram_check(L, 1);
  const struct histogram *other = histogram_check(L, 2);
  if (other->count > 0) {
    h->min = other->min < h->min ? other->min : h->min;
    h->max = other->max > h->max ? other->max : h->max;
  }
  h->count += other->count;
  h->sum += other->sum;
  for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
    h->bucket[i] += other->bucket[i];
  lua_settop(L, 1);
  return 1;
}

static int reset(lua_State *L) {
  histogram_reset(histogram_check(L, 1));
  lua_settop(L, 1);
  return 1;
}

static int percentile(lua_State *L) {
  const struct histogram *h = histogram_check(L, 1);
  double p = luaL_checknumber(L, 2);
  luaL_argcheck(L, p >= 0 && p <= 100, 2, "a percentile is 0 to 100");
  if (h->count == 0)
    luaL_pushfail(L);
  else
    lua_pushinteger(L, (lua_Integer)histogram_percentile(h, p));
  return 1;
}

static int count(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)histogram_check(L, 1)->count);
  return 1;
}

static int min(lua_State *L) {
  const struct histogram *h = histogram_check(L, 1);
  if (h->count == 0)
    luaL_pushfail(L);
  else
    lua_pushinteger(L, (lua_Integer)h->min);
  return 1;
}

static int max(lua_State *L) {
  const struct histogram *h = histogram_check(L, 1);
  if (h->count == 0)
    luaL_pushfail(L);
  else
    lua_pushinteger(L, (lua_Integer)h->max);
  return 1;
}

static int mean(lua_State *L) {
  const struct histogram *h = histogram_check(L, 1);
  if (h->count == 0)
    luaL_pushfail(L);
  else
    lua_pushnumber(L, (double)h->sum / (double)h->count);
  return 1;
}

/* Array of {low_ns, high_ns, count} of the buckets that hold something, ascending. */
static int buckets(lua_State *L) {
  const struct histogram *h = histogram_check(L, 1);
  lua_Integer n = 0;
  lua_newtable(L);
  for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
    if (h->bucket[i] == 0)
      continue;
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, (lua_Integer)bucket_low(i));
    lua_setfield(L, -2, "low_ns");
    lua_pushinteger(L, (lua_Integer)(bucket_low(i + 1) - 1));
    lua_setfield(L, -2, "high_ns");
    lua_pushinteger(L, (lua_Integer)h->bucket[i]);
    lua_setfield(L, -2, "count");
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

static int tostring(lua_State *L) {
  const struct histogram *h = histogram_check(L, 1);
  if (h->count == 0)
    lua_pushliteral(L, "latency histogram: empty");
  else
    lua_pushfstring(L, "latency histogram: %I I/Os, p50 %I ns, p99 %I ns, max %I ns",
                    (LUAI_UACINT)h->count, (LUAI_UACINT)histogram_percentile(h, 50),
                    (LUAI_UACINT)histogram_percentile(h, 99), (LUAI_UACINT)h->max);
  return 1;
}

void histogram_register(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"add", add},         {"merge", merge}, {"reset", reset}, {"percentile", percentile},
      {"count", count},     {"min", min},     {"max", max},     {"mean", mean},
      {"buckets", buckets}, {NULL, NULL}};
  luaL_newmetatable(L, HISTOGRAM);
  lua_pushcfunction(L, tostring);
  lua_setfield(L, -2, "__tostring");
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  lua_pushcfunction(L, new_histogram);
  lua_setfield(L, -2, "histogram");
}
