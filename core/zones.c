/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The zones of a zoned drive, and how far each has been written: beyond its write pointer there is
   nothing that could be read. */
#define _GNU_SOURCE
#include <errno.h>
#include <lauxlib.h>
#include <linux/blkzoned.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core.h"
#include "device.h"
#include "error.h"

enum { ZONES_AT_ONCE = 512 };
static const lua_Integer SECTOR = 512;

/* Sectors of a zone that can be read, from its beginning on. */
static uint64_t readable(const struct blk_zone *z, bool has_capacity) {
  uint64_t whole = has_capacity && z->capacity > 0 ? z->capacity : z->len;
  switch (z->cond) {
    case BLK_ZONE_COND_EMPTY:
    case BLK_ZONE_COND_OFFLINE: return 0;
    case BLK_ZONE_COND_IMP_OPEN:
    case BLK_ZONE_COND_EXP_OPEN:
    case BLK_ZONE_COND_CLOSED:
      return z->wp <= z->start ? 0 : z->wp - z->start < whole ? z->wp - z->start : whole;
    default: /* conventional, full, read-only: they have no write pointer */ return whole;
  }
}

/* Adds a part to the list on top of the stack; one that goes on where the last ended makes it
   longer. */
static void add(lua_State *L, int64_t from[2], lua_Integer *n, uint64_t start, uint64_t length) {
  if (*n == 0 || from[1] != (int64_t)start) {
    lua_createtable(L, 0, 2);
    lua_pushinteger(L, (lua_Integer)start * SECTOR);
    lua_setfield(L, -2, "offset_bytes");
    lua_rawseti(L, -2, ++*n);
    from[0] = (int64_t)start;
  }
  from[1] = (int64_t)(start + length);
  lua_rawgeti(L, -1, *n);
  lua_pushinteger(L, (lua_Integer)(from[1] - from[0]) * SECTOR);
  lua_setfield(L, -2, "length_bytes");
  lua_pop(L, 1);
}

/* zones(device) -> {{offset_bytes, length_bytes}, ...} (what can be read, ascending, neighbours made
   one), number of zones | nil, message, code.  Blocks until the drive has answered. */
static int core_zones(lua_State *L) {
  struct device *d = device_check(L, 1);
  struct blk_zone_report *report =
      lua_newuserdatauv(L, sizeof *report + ZONES_AT_ONCE * sizeof report->zones[0], 0);
  int64_t last[2] = {0, 0};
  lua_Integer n = 0, count = 0;
  if (atomic_load_explicit(&d->closed, memory_order_relaxed))
    return hdd_fail_with(L, EBADF, "closed");
  lua_newtable(L);
  for (uint64_t at = 0; at < (uint64_t)(d->size / SECTOR);) {
    memset(report, 0, sizeof *report);
    report->sector = at;
    report->nr_zones = ZONES_AT_ONCE;
    if (ioctl(d->fd, BLKREPORTZONE, report) < 0)
      return hdd_fail(L, errno, "report the zones of %s", d->path);
    uint64_t before = at;
    for (unsigned i = 0; i < report->nr_zones; i++) {
      const struct blk_zone *z = &report->zones[i];
      uint64_t length = readable(z, report->flags & BLK_ZONE_REP_CAPACITY);
      if (length > 0)
        add(L, last, &n, z->start, length);
      at = z->start + z->len;
      count++;
    }
    if (at <= before) /* no more zones, or a drive that makes no sense */
      break;
  }
  lua_pushinteger(L, count);
  return 2;
}

void zones_register(lua_State *L) {
  lua_pushcfunction(L, core_zones);
  lua_setfield(L, -2, "zones");
}
