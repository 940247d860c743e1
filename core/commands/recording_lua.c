/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings as Lua sees them: made, read from a file's bytes, looked at, changed, replayed. What
   is to be changed before others see it (serial numbers) is decided in hdd.recording. */
#define _GNU_SOURCE
#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "../error.h"
#include "commands.h"

#define RECORDING "hdd.Recording"

struct recording *recording_check(lua_State *L, int index) {
  struct recording **slot = luaL_checkudata(L, index, RECORDING);
  if (!*slot)
    hdd_misuse(L, "this recording was never made");
  return *slot;
}

static struct recording *push_recording(lua_State *L) {
  struct recording **slot = lua_newuserdatauv(L, sizeof *slot, 0);
  *slot = NULL;
  luaL_setmetatable(L, RECORDING);
  *slot = recording_new();
  if (!*slot)
    luaL_error(L, "not enough memory");
  return *slot;
}

static void copy_field(lua_State *L, const char *key, char to[TEXT_MOST]) {
  size_t n;
  const char *text = field_bytes(L, 1, key, &n);
  if (text)
    strncpy(to, text, TEXT_MOST - 1);
  lua_pop(L, 1);
}

/* recording{tool =, device_class =}: an empty one, of this time and kernel. */
static int recording_make(lua_State *L) {
  struct utsname u;
  luaL_checktype(L, 1, LUA_TTABLE);
  struct recording *r = push_recording(L);
  r->time = (uint64_t)time(NULL);
  copy_field(L, "tool", r->tool);
  copy_field(L, "device_class", r->device_class);
  if (uname(&u) == 0)
    snprintf(r->kernel, sizeof r->kernel, "%s %s", u.sysname, u.release);
  return 1;
}

/* decode(bytes) -> Recording | nil, message, code */
static int recording_decode(lua_State *L) {
  size_t n;
  const char *bytes = luaL_checklstring(L, 1, &n);
  struct recording *r = push_recording(L);
  int code = recording_read(r, (const uint8_t *)bytes, n);
  if (code == EBADMSG)
    return hdd_fail_with(L, code, "neither a recording nor a libatasmart blob");
  if (code != 0)
    return hdd_fail(L, code, "read the recording");
  return 1;
}

/* encode() -> the file's bytes */
static int recording_encode(lua_State *L) {
  struct recording *r = recording_check(L, 1);
  size_t room = 0, n = recording_write(r, NULL, 0);
  void *bytes = NULL;
  while (n > room) { /* again when an exchange has come meanwhile */
    lua_settop(L, 1);
    room = n;
    bytes = lua_newuserdatauv(L, room, 0);
    n = recording_write(r, bytes, room);
  }
  lua_pushlstring(L, bytes, n);
  return 1;
}

static void push_warnings(lua_State *L, unsigned warnings, uint32_t dropped) {
  static const struct {
    unsigned bit;
    const char *text;
  } texts[] = {
      {RECORDING_CUT, "the file ends within a chunk: it was cut short"},
      {RECORDING_NO_SUM, "the file has no sum at its end: it may have been cut short"},
      {RECORDING_WRONG_SUM, "the sum is wrong: the file was changed or damaged"},
      {RECORDING_BAD_CHUNK, "a chunk that does not make sense was left out"},
      {RECORDING_DOUBLE, "a page is there twice: the first counts"},
      {RECORDING_MORE, "there are bytes after the end"},
      {RECORDING_NEWER, "made by a later version: some of it may be misread"},
  };
  lua_newtable(L);
  lua_Integer n = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (warnings & texts[i].bit) {
      lua_pushstring(L, texts[i].text);
      lua_rawseti(L, -2, ++n);
    }
  if (dropped > 0) {
    lua_pushfstring(L, "%I exchanges found no room and are missing", (LUAI_UACINT)dropped);
    lua_rawseti(L, -2, ++n);
  }
}

/* describe() -> table: what the recording says of itself. */
static int recording_describe(lua_State *L) {
  struct recording *r = recording_check(L, 1);
  pthread_mutex_lock(&r->lock);
  uint32_t count = r->count, dropped = r->dropped, notes = r->note_count;
  pthread_mutex_unlock(&r->lock);
  lua_createtable(L, 0, 12);
  if (r->time > 0 && r->time <= INT64_MAX)
    set_integer(L, "time", (lua_Integer)r->time);
  set_string(L, "tool", r->tool[0] ? r->tool : NULL);
  set_string(L, "kernel", r->kernel[0] ? r->kernel : NULL);
  set_string(L, "device_class", r->device_class[0] ? r->device_class : NULL);
  set_boolean(L, "anonymised", r->anonymised);
  set_integer(L, "exchanges", count);
  lua_newtable(L);
  for (uint32_t i = 0; i < notes; i++) {
    lua_pushstring(L, r->notes[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "notes");
  push_warnings(L, r->warnings, dropped);
  lua_setfield(L, -2, "warnings");
  if (r->has_identify)
    set_bytes(L, "identify", r->identify, BLOB_PAGE);
  if (r->good >= 0)
    set_boolean(L, "good", r->good > 0);
  if (r->has_data)
    set_bytes(L, "data", r->data, BLOB_PAGE);
  if (r->has_thresholds)
    set_bytes(L, "thresholds", r->thresholds, BLOB_PAGE);
  return 1;
}

/* A copy: another thread may be adding, and the array may move; the bytes of each stay in place. */
static struct exchange exchange_check(lua_State *L, struct recording *r) {
  struct exchange x = {0};
  lua_Integer i = luaL_checkinteger(L, 2);
  pthread_mutex_lock(&r->lock);
  bool there = i >= 1 && i <= (lua_Integer)r->count;
  if (there)
    x = r->exchanges[i - 1];
  pthread_mutex_unlock(&r->lock);
  luaL_argcheck(L, there, 2, "no such exchange");
  return x;
}

/* exchange(i) -> table: kind, direction, cdb, data, sense, ... */
static int recording_exchange(lua_State *L) {
  static const char *const directions[] = {"none", "in", "out"};
  struct recording *r = recording_check(L, 1);
  struct exchange x = exchange_check(L, r);
  lua_createtable(L, 0, 10);
  set_string(L, "kind", x.kind == EXCHANGE_NVME ? "nvme" : "scsi");
  set_string(L, "direction", directions[x.direction]);
  set_bytes(L, "cdb", x.cdb, x.cdb_length);
  set_bytes(L, "data", x.data, x.length);
  set_bytes(L, "sense", x.sense, x.sense_length);
  set_integer(L, "result", x.result);
  set_integer(L, "status", x.status);
  set_integer(L, "elapsed_us", x.microseconds);
  return 1;
}

/* add(exchange): as exchange() gives it; for recordings that are made by hand. */
static int recording_add_by_hand(lua_State *L) {
  static const char *const kinds[] = {"scsi", "nvme", NULL};
  static const char *const directions[] = {"none", "in", "out", NULL};
  struct recording *r = recording_check(L, 1);
  struct exchange x = {0};
  size_t cdb, data, sense;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_getfield(L, 2, "kind");
  x.kind = (uint8_t)(luaL_checkoption(L, -1, "scsi", kinds) + 1);
  lua_getfield(L, 2, "direction");
  x.direction = (uint8_t)luaL_checkoption(L, -1, "in", directions);
  const char *bytes = field_bytes(L, 2, "cdb", &cdb);
  if (!bytes || cdb == 0 || cdb > CDB_MOST || (x.kind == EXCHANGE_NVME && cdb != 64))
    return hdd_misuse(L, "'cdb': a command block expected; of NVMe, an entry of 64 bytes");
  memcpy(x.cdb, bytes, cdb);
  x.cdb_length = (uint8_t)cdb;
  x.data = (uint8_t *)field_bytes(L, 2, "data", &data);
  if (data > (x.direction == EXCHANGE_NO_DATA ? 0 : DATA_MOST))
    return hdd_misuse(L, "'data': %I bytes: too many", (LUAI_UACINT)data);
  x.length = x.transferred = (uint32_t)data;
  bytes = field_bytes(L, 2, "sense", &sense);
  if (sense > SENSE_MOST)
    return hdd_misuse(L, "'sense': at most %d bytes", SENSE_MOST);
  if (bytes)
    memcpy(x.sense, bytes, sense);
  x.sense_length = (uint8_t)sense;
  x.result = (uint8_t)field_integer(L, 2, "result", 0, 0, 0xff);
  x.status = (uint8_t)field_integer(L, 2, "status", 0, 0, 0xff);
  x.microseconds = (uint32_t)field_integer(L, 2, "elapsed_us", 0, 0, 0xffffffff);
  recording_add(r, &x);
  return 0;
}

/* replace(i, data): other bytes, as many. */
static int recording_replace(lua_State *L) {
  size_t n;
  struct recording *r = recording_check(L, 1);
  struct exchange x = exchange_check(L, r);
  const char *data = luaL_checklstring(L, 3, &n);
  luaL_argcheck(L, n == x.length, 3, "must have as many bytes as before");
  pthread_mutex_lock(&r->lock);
  if (x.data && n > 0)
    memcpy(x.data, data, n);
  pthread_mutex_unlock(&r->lock);
  return 0;
}

/* anonymise(identify or nil): the recording is marked; its blob gets these bytes. */
static int recording_anonymise(lua_State *L) {
  size_t n;
  struct recording *r = recording_check(L, 1);
  const char *identify = luaL_optlstring(L, 2, NULL, &n);
  luaL_argcheck(L, !identify || n == BLOB_PAGE, 2, "must have 512 bytes");
  pthread_mutex_lock(&r->lock);
  if (identify && r->has_identify)
    memcpy(r->identify, identify, BLOB_PAGE);
  r->anonymised = true;
  pthread_mutex_unlock(&r->lock);
  return 0;
}

static int recording_add_note(lua_State *L) {
  if (recording_note(recording_check(L, 1), luaL_checkstring(L, 2)) != 0)
    return hdd_fail(L, ENOMEM, "add a note to the recording");
  lua_pushboolean(L, 1);
  return 1;
}

static int recording_replay(lua_State *L) {
  return transport_push_replay(L, recording_check(L, 1));
}

static int recording_collect(lua_State *L) {
  struct recording **slot = luaL_checkudata(L, 1, RECORDING), *r = *slot;
  *slot = NULL;
  if (r)
    recording_release(r);
  return 0;
}

void recording_register(lua_State *L) {
  static const luaL_Reg methods[] = {{"encode", recording_encode},
                                     {"describe", recording_describe},
                                     {"exchange", recording_exchange},
                                     {"add", recording_add_by_hand},
                                     {"replace", recording_replace},
                                     {"anonymise", recording_anonymise},
                                     {"note", recording_add_note},
                                     {"replay", recording_replay},
                                     {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"recording", recording_make}, {"decode", recording_decode}, {NULL, NULL}};
  luaL_newmetatable(L, RECORDING);
  lua_pushcfunction(L, recording_collect);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
}
