/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libatasmart fed with a blob of our own making; the first opinion on a drive's
   SMART, from bytes that we have read.  Its handle for a drive is never
   used: that waits for two seconds only, and switches SMART on without being asked. */
#define _GNU_SOURCE
#include <stddef.h> /* its header needs it */

#include <atasmart.h>
#include <errno.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <string.h>

#include "../error.h"
#include "bytes.h"
#include "commands.h"

enum { PAGE = 512, ATTRIBUTES_MOST = 256, BLOB_MOST = 4 * (8 + PAGE) };

/* What the callback keeps: Lua values are made after the library has returned, as an error raised
   from within would jump over its clean-up. */
struct attributes {
  unsigned n;
  SkSmartAttributeParsedData list[ATTRIBUTES_MOST];
  char names[ATTRIBUTES_MOST][64]; /* the library's own buffers do not outlive the callback */
};

/* libatasmart sets errno, at times negated, at times not at all. */
static int its_errno(void) {
  int code = errno < 0 ? -errno : errno;
  return code != 0 ? code : EIO;
}

static void keep(SkDisk *disk, const SkSmartAttributeParsedData *a, void *to) {
  struct attributes *kept = to;
  (void)disk;
  if (kept->n == ATTRIBUTES_MOST)
    return;
  kept->list[kept->n] = *a;
  strncpy(kept->names[kept->n], a->name ? a->name : "", sizeof kept->names[0] - 1);
  kept->n++;
}

/* --- the blob ------------------------------------------------------------------------------ */

static size_t put_chunk(uint8_t *blob, size_t at, const char *tag, const void *bytes, uint32_t n) {
  memcpy(blob + at, tag, 4);
  put_be32(blob + at + 4, n);
  memcpy(blob + at + 8, bytes, n);
  return at + 8 + n;
}

/* The page at `key` of the table at 1, or NULL. */
static const char *page_of(lua_State *L, const char *key, bool needed) {
  size_t n = 0;
  int type = lua_getfield(L, 1, key); /* stays on the stack, and so alive */
  const char *bytes = type == LUA_TSTRING ? lua_tolstring(L, -1, &n) : NULL;
  if ((type != LUA_TNIL || needed) && n != PAGE)
    hdd_misuse(L, "atasmart: '%s': must be a string of %d bytes", key, PAGE);
  return bytes;
}

static size_t read_blob(lua_State *L, uint8_t blob[BLOB_MOST]) {
  size_t n = put_chunk(blob, 0, "IDFY", page_of(L, "identify", true), PAGE);
  if (lua_getfield(L, 1, "good") != LUA_TNIL) {
    luaL_checktype(L, -1, LUA_TBOOLEAN);
    uint8_t good[4] = {[3] = (uint8_t)lua_toboolean(L, -1)};
    n = put_chunk(blob, n, "SMST", good, sizeof good);
  }
  const char *data = page_of(L, "data", false), *thresholds = page_of(L, "thresholds", false);
  if (data)
    n = put_chunk(blob, n, "SMDT", data, PAGE);
  if (thresholds)
    n = put_chunk(blob, n, "SMTH", thresholds, PAGE);
  return n;
}

/* --- tables -------------------------------------------------------------------------------- */

static const char *unit_name(SkSmartAttributeUnit unit) {
  switch (unit) {
    case SK_SMART_ATTRIBUTE_UNIT_NONE: return "none";
    case SK_SMART_ATTRIBUTE_UNIT_MSECONDS: return "ms";
    case SK_SMART_ATTRIBUTE_UNIT_SECTORS: return "sectors";
    case SK_SMART_ATTRIBUTE_UNIT_MKELVIN: return "mK";
    case SK_SMART_ATTRIBUTE_UNIT_SMALL_PERCENT: return "0.001 %";
    case SK_SMART_ATTRIBUTE_UNIT_PERCENT: return "%";
    case SK_SMART_ATTRIBUTE_UNIT_MB: return "MB";
    default: return NULL;
  }
}

static void push_attribute(lua_State *L, const SkSmartAttributeParsedData *a, const char *name) {
  lua_createtable(L, 0, 16);
  set_integer(L, "id", a->id);
  set_string(L, "name", name);
  set_integer(L, "flags", a->flags);
  set_boolean(L, "pre_fail", a->prefailure);
  set_boolean(L, "online", a->online);
  set_boolean(L, "warn", a->warn);
  if (a->current_value_valid)
    set_integer(L, "current", a->current_value);
  if (a->worst_value_valid)
    set_integer(L, "worst", a->worst_value);
  if (a->threshold_valid)
    set_integer(L, "threshold", a->threshold);
  if (a->good_now_valid)
    set_boolean(L, "good_now", a->good_now);
  if (a->good_in_the_past_valid)
    set_boolean(L, "good_in_the_past", a->good_in_the_past);
  set_integer(L, "raw", (lua_Integer)le32(a->raw) | (lua_Integer)le16(a->raw + 4) << 32);
  if (a->pretty_unit != SK_SMART_ATTRIBUTE_UNIT_UNKNOWN) {
    set_integer(L, "pretty", (lua_Integer)a->pretty_value);
    set_string(L, "unit", unit_name(a->pretty_unit));
  }
}

static void push_parsed(lua_State *L, const SkSmartParsedData *p) {
  set_string(L, "offline_status",
             sk_smart_offline_data_collection_status_to_string(p->offline_data_collection_status));
  set_integer(L, "offline_s", p->total_offline_data_collection_seconds);
  set_string(L, "self_test_status",
             sk_smart_self_test_execution_status_to_string(p->self_test_execution_status));
  set_integer(L, "self_test_remaining_percent", p->self_test_execution_percent_remaining);
  set_boolean(L, "short_and_extended_test", p->short_and_extended_test_available);
  set_boolean(L, "conveyance_test", p->conveyance_test_available);
  set_boolean(L, "start_test", p->start_test_available);
  set_boolean(L, "abort_test", p->abort_test_available);
  set_integer(L, "short_test_minutes", p->short_test_polling_minutes);
  set_integer(L, "extended_test_minutes", p->extended_test_polling_minutes);
  set_integer(L, "conveyance_test_minutes", p->conveyance_test_polling_minutes);
}

/* --- asking -------------------------------------------------------------------------------- */

struct opinion {
  SkIdentifyParsedData identity;
  SkSmartParsedData parsed;
  SkSmartOverall overall;
  SkBool available;
  uint64_t power_on_ms, power_cycles, bad_sectors, temperature_mk;
  bool has_identity, has_parsed, has_overall, has_power_on, has_power_cycles, has_bad,
      has_temperature;
  struct attributes attributes;
};

/* Asks for everything.  Returns 0, or an errno value when it does not take the blob. */
static int ask(const uint8_t *blob, size_t length, struct opinion *o) {
  SkDisk *disk;
  const SkIdentifyParsedData *identity;
  const SkSmartParsedData *parsed;
  errno = 0;
  if (sk_disk_open(NULL, &disk) != 0)
    return its_errno();
  if (sk_disk_set_blob(disk, blob, length) != 0) {
    int code = its_errno();
    sk_disk_free(disk);
    return code;
  }
  o->has_identity = sk_disk_identify_parse(disk, &identity) == 0;
  if (o->has_identity)
    o->identity = *identity;
  if (sk_disk_smart_is_available(disk, &o->available) != 0)
    o->available = false;
  o->has_parsed = sk_disk_smart_parse(disk, &parsed) == 0;
  if (o->has_parsed) {
    o->parsed = *parsed;
    (void)sk_disk_smart_parse_attributes(disk, keep, &o->attributes);
    o->has_power_on = sk_disk_smart_get_power_on(disk, &o->power_on_ms) == 0;
    o->has_power_cycles = sk_disk_smart_get_power_cycle(disk, &o->power_cycles) == 0;
    o->has_bad = sk_disk_smart_get_bad(disk, &o->bad_sectors) == 0;
    o->has_temperature = sk_disk_smart_get_temperature(disk, &o->temperature_mk) == 0;
    o->has_overall = sk_disk_smart_get_overall(disk, &o->overall) == 0;
  }
  sk_disk_free(disk);
  return 0;
}

/* atasmart{identify =, good =, data =, thresholds =} */
static int atasmart(lua_State *L) {
  uint8_t blob[BLOB_MOST];
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  size_t length = read_blob(L, blob);
  struct opinion *o = lua_newuserdatauv(L, sizeof *o, 0);
  memset(o, 0, sizeof *o);
  int code = ask(blob, length, o);
  if (code != 0)
    return hdd_fail(L, code, "libatasmart does not take these bytes");
  lua_createtable(L, 0, 24);
  set_boolean(L, "available", o->available);
  if (o->has_identity) {
    set_string(L, "model", o->identity.model);
    set_string(L, "serial", o->identity.serial);
    set_string(L, "firmware", o->identity.firmware);
  }
  if (o->has_parsed)
    push_parsed(L, &o->parsed);
  if (o->has_overall)
    set_string(L, "overall", sk_smart_overall_to_string(o->overall));
  if (o->has_power_on)
    set_integer(L, "power_on_ms", (lua_Integer)o->power_on_ms);
  if (o->has_power_cycles)
    set_integer(L, "power_cycles", (lua_Integer)o->power_cycles);
  if (o->has_bad)
    set_integer(L, "bad_sectors", (lua_Integer)o->bad_sectors);
  if (o->has_temperature)
    set_integer(L, "temperature_mk", (lua_Integer)o->temperature_mk);
  lua_createtable(L, (int)o->attributes.n, 0);
  for (unsigned i = 0; i < o->attributes.n; i++) {
    push_attribute(L, &o->attributes.list[i], o->attributes.names[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "attributes");
  return 1;
}

void atasmart_register(lua_State *L) {
  lua_pushcfunction(L, atasmart);
  lua_setfield(L, -2, "atasmart");
}
