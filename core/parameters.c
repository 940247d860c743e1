/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of a job; see parameters.h. */
#include "parameters.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "options.h"

enum { DEPTH_MOST = 4096, BLOCK_MOST = 1 << 30, INTERVALS_MOST = 1 << 20, KEPT_MOST = 1 << 20 };

static const char *const known[] = {
    "pattern",   "block_size",   "depth",       "offset",         "length",   "zone_size",
    "zone_skip", "loop",         "seed",        "ramp",           "runtime",  "runtime_min",
    "precision", "ios",          "bytes",       "max_errors",     "interval", "intervals",
    "slowest",   "max_failures", "stall",       "taskrun",        "batch",    "registered",
    "operation", "stamp",        "flush_bytes", "max_mismatches", "records",  "histogram",
    NULL};

static void aligned(lua_State *L, const char *key, int64_t value, const struct device *d,
                    uint32_t unit) {
  if (value % unit != 0)
    hdd_misuse(L, "option '%s': %I: must be a multiple of the %sblock size of %s, %d bytes", key,
               (LUAI_UACINT)value, unit == d->logical_block_size ? "logical " : "", d->path,
               (int)unit);
}

/* As option_integer, and a multiple of the logical block size. */
static uint32_t read_block_size(lua_State *L, int index, const struct device *d, uint32_t unit) {
  int64_t fallback = unit > 4096 ? unit : 4096;
  int64_t size = option_integer(L, index, "block_size", fallback, 1, BLOCK_MOST);
  aligned(L, "block_size", size, d, unit);
  return (uint32_t)size;
}

static void read_range(lua_State *L, int index, const struct device *d, uint32_t unit,
                       struct pattern *p) {
  p->start = option_integer(L, index, "offset", 0, 0, d->size - 1);
  aligned(L, "offset", p->start, d, unit);
  int64_t most = d->size - p->start;
  int64_t length = option_integer(L, index, "length", most - most % unit, 1, most);
  aligned(L, "length", length, d, unit);
  p->end = p->start + length;
}

static void read_pattern(lua_State *L, int index, const struct device *d, uint32_t unit,
                         struct pattern *p) {
  static const char *const names[] = {"sequential", "random", "strided", NULL};
  p->block = read_block_size(L, index, d, unit);
  p->loop = option_boolean(L, index, "loop", false);
  read_range(L, index, d, unit, p);
  p->next = p->start;
  p->random_state = (uint64_t)option_integer(L, index, "seed", 1, INT64_MIN, INT64_MAX);
  int type = lua_getfield(L, index, "pattern");
  if (type == LUA_TFUNCTION) {
    p->kind = PATTERN_FUNCTION;
  } else if (type == LUA_TTABLE) {
    p->kind = PATTERN_LIST;
    if (lua_rawlen(L, -1) == 0)
      hdd_misuse(L, "option 'pattern': the list of offsets is empty");
  } else {
    const char *name = type == LUA_TNIL ? "sequential" : lua_tostring(L, -1);
    int i = 0;
    while (names[i] && (!name || strcmp(names[i], name) != 0))
      i++;
    if (!names[i])
      hdd_misuse(L,
                 "option 'pattern': %s: must be \"sequential\", \"random\", \"strided\", a list "
                 "of offsets or a function",
                 luaL_tolstring(L, -1, NULL));
    p->kind = (enum pattern_kind[]){PATTERN_SEQUENTIAL, PATTERN_RANDOM, PATTERN_STRIDED}[i];
  }
  lua_pop(L, 1);
  if (p->kind == PATTERN_RANDOM) {
    p->blocks = (uint64_t)(p->end - p->start) / p->block;
    if (p->blocks == 0)
      hdd_misuse(L, "option 'block_size': %d: must not exceed the range, %I bytes", (int)p->block,
                 (LUAI_UACINT)(p->end - p->start));
  } else if (p->kind == PATTERN_STRIDED) {
    p->zone = option_integer(L, index, "zone_size", 256 << 20, 1, INT64_MAX);
    p->skip = option_integer(L, index, "zone_skip", INT64_C(2) << 30, 0, INT64_MAX);
    aligned(L, "zone_size", p->zone, d, unit);
    aligned(L, "zone_skip", p->skip, d, unit);
    p->zone_end = p->zone < p->end - p->start ? p->start + p->zone : p->end;
  }
}

static void read_limits(lua_State *L, int index, const struct pattern *p, struct job_limits *l) {
  l->ramp_ns = option_seconds(L, index, "ramp", 0, false, false);
  l->runtime_ns = option_seconds(L, index, "runtime", -1, true, true);
  l->ios = (uint64_t)option_integer(L, index, "ios", 0, 1, INT64_MAX);
  l->bytes = (uint64_t)option_integer(L, index, "bytes", 0, 1, INT64_MAX);
  l->errors = (uint64_t)option_integer(L, index, "max_errors", INT64_MAX, 1, INT64_MAX);
  l->mismatches = (uint64_t)option_integer(L, index, "max_mismatches", INT64_MAX, 1, INT64_MAX);
  bool endless = p->kind == PATTERN_RANDOM || (p->loop && p->kind != PATTERN_FUNCTION);
  bool bounded = l->runtime_ns >= 0 || l->ios > 0 || l->bytes > 0;
  if (endless && !bounded)
    hdd_misuse(L, "this pattern never ends: give runtime, ios or bytes (runtime = math.huge until "
                  "it is stopped)");
  if (lua_getfield(L, index, "precision") != LUA_TNIL) {
    int number;
    l->precision = lua_tonumberx(L, -1, &number);
    if (!number || !(l->precision > 0 && l->precision < 1))
      hdd_misuse(L, "option 'precision': %s: must lie between 0 and 1 (0.02 is ±2 %%)",
                 luaL_tolstring(L, -1, NULL));
    if (!bounded)
      hdd_misuse(L, "option 'precision' needs runtime, the longest that it may take");
  }
  lua_pop(L, 1);
  l->runtime_min_ns = option_seconds(L, index, "runtime_min", 2 * NS_PER_S, false, false);
  if (l->runtime_ns < 0)
    l->runtime_ns = NEVER;
  if (l->ios == 0)
    l->ios = UINT64_MAX;
  if (l->bytes == 0)
    l->bytes = UINT64_MAX;
}

static bool wants_defer(lua_State *L, int index) {
  int type = lua_getfield(L, index, "taskrun");
  const char *name = type == LUA_TNIL ? "coop" : lua_tostring(L, -1);
  if (!name || (strcmp(name, "coop") != 0 && strcmp(name, "defer") != 0))
    hdd_misuse(L, "option 'taskrun': %s: must be \"coop\" or \"defer\"",
               luaL_tolstring(L, -1, NULL));
  bool defer = strcmp(name, "defer") == 0;
  lua_pop(L, 1);
  return defer;
}

/* The buffers are filled in at once: a slip of the pen must not bring the machine down. */
static void check_memory(lua_State *L, const struct ring_wish *wish) {
  int64_t wanted = (int64_t)wish->depth * wish->block_size;
  int64_t most = (int64_t)sysconf(_SC_PHYS_PAGES) / 2 * sysconf(_SC_PAGESIZE);
  if (wanted > most)
    hdd_misuse(
        L,
        "options 'depth' times 'block_size': %I bytes: must be at most half of this machine's "
        "memory, %I bytes",
        (LUAI_UACINT)wanted, (LUAI_UACINT)most);
}

static void only_with(lua_State *L, int index, const char *key, bool allowed,
                      const char *operation) {
  if (lua_getfield(L, index, key) != LUA_TNIL && !allowed)
    hdd_misuse(L, "option '%s' needs operation = \"%s\"", key, operation);
  lua_pop(L, 1);
}

static int one_of(lua_State *L, int index, const char *key, const char *const names[],
                  const char *must) {
  int type = lua_getfield(L, index, key), i = 0;
  const char *name = type == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  while (type != LUA_TNIL && names[i] && (!name || strcmp(names[i], name) != 0))
    i++;
  if (!names[i])
    hdd_misuse(L, "option '%s': %s: must be %s", key, luaL_tolstring(L, -1, NULL), must);
  lua_pop(L, 1);
  return i;
}

/* The table of a stamp, on top of the stack; nil: all defaults. */
static void read_stamp(lua_State *L, struct parameters *p) {
  static const char *const keys[] = {"pattern", "pass", "seed", "serial", NULL};
  static const char *const names[] = {"stamp", "random", "aa", "55", "ff", "00", NULL};
  static const uint8_t bytes[] = {0, 0, 0xaa, 0x55, 0xff, 0x00};
  struct stamper *s = &p->stamper;
  size_t length;
  int index = lua_gettop(L);
  if (lua_isnil(L, index)) {
    lua_newtable(L);
    lua_replace(L, index);
  }
  options_known(L, index, keys);
  int i =
      one_of(L, index, "pattern", names, "\"stamp\", \"random\", \"aa\", \"55\", \"ff\" or \"00\"");
  s->pattern = i == 0 ? STAMP_STAMP : i == 1 ? STAMP_RANDOM : STAMP_BYTE;
  s->byte = bytes[i];
  s->header.pass = (uint32_t)option_integer(L, index, "pass", 1, 0, UINT32_MAX);
  s->header.seed = (uint64_t)option_integer(L, index, "seed", 1, INT64_MIN, INT64_MAX);
  s->header.block_size = p->unit;
  if (lua_getfield(L, index, "serial") != LUA_TNIL && lua_type(L, -1) != LUA_TSTRING)
    hdd_misuse(L, "option 'serial': %s: must be a string", luaL_tolstring(L, -1, NULL));
  const char *serial = luaL_optlstring(L, -1, "", &length);
  s->header.drive = stamp_drive(serial, length);
  lua_pop(L, 1);
  stamp_open(s);
}

/* What is written is written in whole stamps: files, too, get them at multiples of 512 bytes. */
static void read_operation(lua_State *L, int index, const struct device *d, struct parameters *p) {
  static const char *const names[] = {"read", "write", "verify", NULL};
  p->operation =
      (enum job_operation)one_of(L, index, "operation", names, "\"read\", \"write\" or \"verify\"");
  p->unit = d->logical_block_size;
  bool reads = p->operation == JOB_READ;
  only_with(L, index, "stamp", !reads, "write\" or \"verify");
  only_with(L, index, "ramp", reads, "read");
  only_with(L, index, "flush_bytes", p->operation == JOB_WRITE, "write");
  only_with(L, index, "max_mismatches", p->operation == JOB_VERIFY, "verify");
  if (reads)
    return;
  if (p->unit < STAMP_BLOCK_LEAST)
    p->unit = STAMP_BLOCK_LEAST;
  if (p->unit > STAMP_BLOCK_MOST || (p->unit & (p->unit - 1)) != 0 || d->size < p->unit)
    hdd_misuse(L,
               "%s: its blocks of %d bytes cannot be stamped: they must be a power of two up to %d",
               d->path, (int)p->unit, (int)STAMP_BLOCK_MOST);
  lua_getfield(L, index, "stamp");
  read_stamp(L, p);
  lua_pop(L, 1);
  p->flush_bytes = (uint64_t)option_integer(L, index, "flush_bytes", 1 << 30, 0, INT64_MAX);
  if (p->flush_bytes == 0)
    p->flush_bytes = UINT64_MAX;
}

void parameters_read(lua_State *L, int index, const struct device *d, struct parameters *p) {
  options_known(L, index, known);
  *p = (struct parameters){0};
  read_operation(L, index, d, p);
  read_pattern(L, index, d, p->unit, &p->pattern);
  read_limits(L, index, &p->pattern, &p->limits);
  p->wish = (struct ring_wish){
      .fd = d->fd,
      .depth = (unsigned)option_integer(L, index, "depth", 1, 1, DEPTH_MOST),
      .block_size = p->pattern.block,
      .defer = wants_defer(L, index),
      .registered = option_boolean(L, index, "registered", true),
  };
  check_memory(L, &p->wish);
  p->batch = (unsigned)option_integer(L, index, "batch", 1, 1, p->wish.depth);
  p->tally = (struct tally_wish){
      .max_failures = (unsigned)option_integer(L, index, "max_failures", 256, 0, KEPT_MOST),
      .slowest = (unsigned)option_integer(L, index, "slowest", 16, 0, KEPT_MOST),
      .intervals = (unsigned)option_integer(L, index, "intervals", 1024, 2, INTERVALS_MOST) & ~1u,
      .interval_ns = option_seconds(L, index, "interval", NS_PER_S / 10, true, false),
      .stall_ns = option_seconds(L, index, "stall", 2 * NS_PER_S, true, false),
  };
  if (p->tally.interval_ns < 1000000)
    hdd_misuse(L, "option 'interval': must be at least 0.001 s");
}

int64_t parameters_offset(lua_State *L, int index, uint32_t unit, const struct pattern *p,
                          lua_Integer i) {
  int whole;
  lua_Integer offset = lua_tointegerx(L, index, &whole);
  if (__builtin_expect(!whole || offset < p->start || offset >= p->end || offset % unit != 0, 0))
    hdd_misuse(L,
               "pattern: offset %I is %s: must be a multiple of %d bytes from %I on and below %I",
               (LUAI_UACINT)i, luaL_tolstring(L, index, NULL), (int)unit, (LUAI_UACINT)p->start,
               (LUAI_UACINT)p->end);
  return offset;
}

int parameters_open_pattern(lua_State *L, int index, uint32_t unit, struct pattern *p) {
  if (p->kind == PATTERN_FUNCTION)
    return feed_open(&p->offsets, PATTERN_RING);
  if (p->kind != PATTERN_LIST)
    return 0;
  lua_getfield(L, index, "pattern");
  lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
  for (lua_Integer i = 1; i <= n; i++) { /* all of them first: raising must not leak the list */
    lua_rawgeti(L, -1, i); /* raw, here and below: no metamethod that answers otherwise */
    parameters_offset(L, -1, unit, p, i);
    lua_pop(L, 1);
  }
  p->list = malloc((size_t)n * sizeof *p->list);
  if (!p->list)
    return ENOMEM;
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, -1, i);
    p->list[i - 1] = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  p->list_length = (uint64_t)n;
  lua_pop(L, 1);
  return 0;
}
