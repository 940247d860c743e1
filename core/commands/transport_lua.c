/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transports and requests as Lua sees them: a command is a table, handed over at once; its answer
   is a table, there when the request's descriptor is readable. hdd.transport makes calls of it that
   wait. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../error.h"
#include "bytes.h"
#include "commands.h"
#include "sense.h"
#include "worker.h"

#define TRANSPORT "hdd.Transport"
#define REQUEST   "hdd.Request"

struct handle {
  struct transport *transport; /* NULL: closed */
  struct worker *worker;
};

/* --- the request --------------------------------------------------------------------------- */

static struct request *request_check(lua_State *L) {
  struct request **slot = luaL_checkudata(L, 1, REQUEST);
  if (!*slot)
    hdd_misuse(L, "this request was never sent");
  return *slot;
}

static int request_fd(lua_State *L) {
  lua_pushinteger(L, request_check(L)->done_fd);
  return 1;
}

static bool is_done(struct request *r) {
  return atomic_load_explicit(&r->done, memory_order_acquire);
}

static int request_done(lua_State *L) {
  lua_pushboolean(L, is_done(request_check(L)));
  return 1;
}

static void push_registers(lua_State *L, const struct ata_registers *r) {
  lua_createtable(L, 0, 6);
  set_integer(L, "error", r->error);
  set_integer(L, "status", r->status);
  set_integer(L, "device", r->device);
  set_integer(L, "count", r->count);
  set_integer(L, "lba", (lua_Integer)r->lba);
  set_boolean(L, "extended", r->extended);
  if (r->cut)
    set_boolean(L, "cut", true);
}

/* reply(): what became of it, or nil while it is on its way. */
static int request_reply(lua_State *L) {
  struct request *r = request_check(L);
  const struct exchange *x = &r->exchange;
  struct sense s;
  char text[128];
  if (!is_done(r)) {
    luaL_pushfail(L);
    return 1;
  }
  enum verdict v = verdict_of(x, &s, text, sizeof text);
  lua_createtable(L, 0, 12);
  set_string(L, "reason", verdict_names[v].name);
  set_integer(L, "code", verdict_names[v].code);
  set_string(L, "text", text);
  set_integer(L, "elapsed_us", x->microseconds);
  if (x->direction == EXCHANGE_IN)
    set_bytes(L, "data", x->data, v == ANSWERED ? x->length : x->transferred);
  set_integer(L, "transferred_bytes", x->transferred);
  set_bytes(L, "sense", x->sense, x->sense_length);
  if (x->kind == EXCHANGE_NVME && x->sense_length >= NVME_ANSWER) {
    set_integer(L, "status", be16(x->sense));
    set_integer(L, "result", be32(x->sense + 2));
  } else if (x->kind == EXCHANGE_SCSI && x->result == 0) {
    set_integer(L, "status", x->status);
  }
  if (s.valid) {
    set_integer(L, "sense_key", s.key);
    set_integer(L, "asc", s.asc);
    set_integer(L, "ascq", s.ascq);
  }
  if (s.has_registers) {
    push_registers(L, &s.registers);
    lua_setfield(L, -2, "registers");
  }
  return 1;
}

/* __gc: nobody waits any more; the answer is still taken, and thrown away. */
static int request_collect(lua_State *L) {
  struct request **slot = luaL_checkudata(L, 1, REQUEST), *r = *slot;
  *slot = NULL;
  if (r)
    request_release(r);
  return 0;
}

/* --- the transport ------------------------------------------------------------------------- */

static struct handle *handle_check(lua_State *L) {
  return luaL_checkudata(L, 1, TRANSPORT);
}

static struct handle *push_handle(lua_State *L) {
  struct handle *h = lua_newuserdatauv(L, sizeof *h, 0);
  *h = (struct handle){0}; /* closed, so safe to collect */
  luaL_setmetatable(L, TRANSPORT);
  return h;
}

/* Returns 0 or an errno value. */
static int open_drive(struct transport *t, const char *path) {
  struct stat st;
  /* Without O_NONBLOCK an empty drive would refuse, and one that stands still be started. */
  t->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (t->fd < 0 || fstat(t->fd, &st) != 0)
    return errno;
  if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
    t->number = st.st_rdev;
  return 0;
}

/* open(path, "scsi" or "nvme") */
static int transport_open(lua_State *L) {
  static const char *const kinds[] = {"scsi", "nvme", NULL};
  const char *path = luaL_checkstring(L, 1);
  int nvme = luaL_checkoption(L, 2, NULL, kinds);
  struct handle *h = push_handle(L);
  h->transport = transport_new();
  if (!h->transport)
    return luaL_error(L, "not enough memory");
  h->transport->kind = nvme ? EXCHANGE_NVME : EXCHANGE_SCSI;
  int code = open_drive(h->transport, path);
  if (code == EACCES || code == EPERM)
    return hdd_fail_with(L, EACCES,
                         "%s: may not be opened: %s: run as root, or join the group that may read "
                         "it (disk)",
                         path, strerror(code));
  if (code == 0)
    code = worker_open(h->transport->number, &h->worker);
  if (code != 0)
    return hdd_fail(L, code, "%s", path);
  return 1;
}

int transport_push_replay(lua_State *L, struct recording *r) {
  struct handle *h = push_handle(L);
  h->transport = transport_new();
  if (!h->transport)
    return luaL_error(L, "not enough memory");
  h->transport->replayed = recording_share(r);
  int code = worker_open(0, &h->worker);
  if (code != 0)
    return hdd_fail(L, code, "start a thread for the recording");
  return 1;
}

/* submit(command) -> Request | nil, message, code */
static int transport_submit(lua_State *L) {
  struct handle *h = handle_check(L);
  struct transport *t = h->transport;
  struct exchange x = {0};
  const char *why, *data = command_read(L, &x);
  if (!t)
    return hdd_fail_with(L, EBADF, "closed");
  if (t->kind != 0 && t->kind != x.kind)
    return hdd_misuse(L, "this drive takes %s commands",
                      t->kind == EXCHANGE_NVME ? "NVMe" : "SCSI and ATA");
  x.data = (uint8_t *)data;
  if (data == NULL && x.direction == EXCHANGE_OUT)
    return hdd_misuse(L, "'data': what goes out is missing");
  enum permission needed = permission_needed(&x, &why);
  if (needed == PERMIT_NEVER)
    return hdd_fail_with(L, EROFS, "never sent: %s", why);
  if (needed > t->permission)
    return hdd_fail_with(L, EROFS, "refused: %s", why);

  struct request **slot = lua_newuserdatauv(L, sizeof *slot, 0);
  *slot = NULL;
  luaL_setmetatable(L, REQUEST);
  struct request *r = request_new(t, x.length);
  if (!r)
    return hdd_fail(L, errno, "make a request");
  *slot = r;
  x.data = r->data;
  if (data)
    memcpy(r->data, data, x.length);
  r->exchange = x;
  worker_submit(h->worker, r);
  return 1;
}

/* permit("reading" | "self-tests" | "everything"): whoever calls has made sure that it is meant. */
static int transport_permit(lua_State *L) {
  static const char *const names[] = {"reading", "self-tests", "everything", NULL};
  struct handle *h = handle_check(L);
  int permission = luaL_checkoption(L, 2, NULL, names);
  if (h->transport)
    h->transport->permission = (enum permission)permission;
  return 0;
}

/* record(recording or nil) */
static int transport_record(lua_State *L) {
  struct handle *h = handle_check(L);
  struct recording *r = lua_isnoneornil(L, 2) ? NULL : recording_check(L, 2);
  struct transport *t = h->transport;
  if (!t)
    return hdd_fail_with(L, EBADF, "closed");
  if (r && r == t->replayed)
    return hdd_misuse(L, "a recording is not recorded into itself");
  if (t->recorder)
    recording_release(t->recorder);
  t->recorder = r ? recording_share(r) : NULL;
  lua_pushboolean(L, 1);
  return 1;
}

/* close, __close and __gc: what is on its way is still answered. */
static int transport_close(lua_State *L) {
  struct handle *h = handle_check(L);
  struct transport *t = h->transport;
  if (h->worker)
    worker_close(h->worker);
  *h = (struct handle){0};
  if (t)
    transport_release(t);
  return 0;
}

static void new_class(lua_State *L, const char *name, const luaL_Reg *methods,
                      lua_CFunction collect) {
  luaL_newmetatable(L, name);
  lua_pushcfunction(L, collect);
  lua_setfield(L, -2, "__gc");
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  lua_setfield(L, -2, "__index");
}

void transport_register(lua_State *L) {
  static const luaL_Reg of_request[] = {
      {"fd", request_fd}, {"done", request_done}, {"reply", request_reply}, {NULL, NULL}};
  static const luaL_Reg of_transport[] = {{"submit", transport_submit},
                                          {"permit", transport_permit},
                                          {"record", transport_record},
                                          {"close", transport_close},
                                          {NULL, NULL}};
  new_class(L, REQUEST, of_request, request_collect);
  lua_pop(L, 1);
  new_class(L, TRANSPORT, of_transport, transport_close);
  lua_pushcfunction(L, transport_close);
  lua_setfield(L, -2, "__close");
  lua_pop(L, 1);
  lua_pushcfunction(L, transport_open);
  lua_setfield(L, -2, "open");
}
