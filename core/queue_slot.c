/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A slot of a queue: a coroutine that reads as if the call blocked; see queue.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <lauxlib.h>
#include <string.h>

#include "clock.h"
#include "coroutine.h"
#include "error.h"
#include "interrupt.h"
#include "queue.h"

#define SLOT "hdd.Slot"

static const uint64_t SLOT_MAGIC = UINT64_C(0x746f6c7364646821);

int queue_submit(struct queue *q) {
  int rc = 0;
  for (int tries = 0; io_uring_sq_ready(&q->ring.uring) > 0; tries++) {
    rc = io_uring_submit(&q->ring.uring);
    if (rc >= 0 || rc == -EINTR)
      continue;
    if ((rc != -EAGAIN && rc != -EBUSY) || tries == RING_SHORTAGES_MOST) {
      ring_forget(&q->ring);
      return -rc;
    }
    q->retries++;
    struct timespec pause = timespec_ns(tries > 2 ? 1000000 : 0);
    nanosleep(&pause, NULL);
  }
  return 0;
}

static void queue_read(struct queue *q, struct queue_slot *s) {
  ring_read(&q->ring, s->index, 0, s->length, s->offset);
  s->reading = true;
  s->again = 0;
  q->issued_bytes += s->length;
  s->submitted_ns = now_ns();
  if (q->in_flight++ == 0)
    atomic_store_explicit(&q->tally.counters.quiet_from, s->submitted_ns, memory_order_relaxed);
}

static void check_read(lua_State *L, struct queue_slot *s, lua_Integer offset, lua_Integer length) {
  struct queue *q = s->queue;
  unsigned block = q->device->logical_block_size;
  if (L != s->co)
    luaL_error(L, "slot:read belongs to the function that was given this slot");
  if (!lua_isyieldable(L))
    luaL_error(L, "slot:read cannot wait here: in a metamethod, an iterator of C or a __close");
  if (length < 1 || length > q->block || length % block != 0)
    luaL_error(L, "slot:read: length %I: must be a multiple of %d bytes, at most block_size (%d)",
               (LUAI_UACINT)length, (int)block, (int)q->block);
  if (offset < 0 || offset % block != 0 || offset > q->device->size - length)
    luaL_error(L, "slot:read: offset %I: must be a multiple of %d bytes, at most %I",
               (LUAI_UACINT)offset, (int)block, (LUAI_UACINT)(q->device->size - length));
}

/* luaL_checkudata looks the metatable up by name, which costs as much as all the rest of a read. */
static struct queue_slot *slot_check(lua_State *L) {
  struct queue_slot *s = lua_touserdata(L, 1);
  if (__builtin_expect(!s || lua_rawlen(L, 1) != sizeof *s || s->magic != SLOT_MAGIC, 0))
    luaL_typeerror(L, 1, SLOT);
  return s;
}

/* slot:read(offset[, length[, data]]): yields; see slot_push_answer for what it returns. */
static int slot_read(lua_State *L) {
  struct queue_slot *s = slot_check(L);
  int whole, arguments = lua_gettop(L);
  lua_Integer offset = lua_tointegerx(L, 2, &whole);
  if (!whole)
    luaL_checkinteger(L, 2); /* says what is wrong */
  struct queue *q = s->queue;
  if (!q || atomic_load_explicit(&q->device->closed, memory_order_relaxed))
    return hdd_fail_with(L, EBADF, "closed");
  if (interrupt_pending())
    return interrupt_raise(L);
  lua_Integer length = arguments > 2 ? luaL_optinteger(L, 3, q->block) : q->block;
  check_read(L, s, offset, length);
  s->offset = offset;
  s->length = (uint32_t)length;
  s->wants_data = arguments > 3 && lua_toboolean(L, 4);
  queue_read(q, s);
  int code = queue_submit(q);
  if (code != 0) {
    q->in_flight--;
    q->issued_bytes -= s->length;
    s->reading = false;
    return hdd_fail(L, code, "io_uring_enter: the kernel %s",
                    code == EAGAIN || code == EBUSY || code == ENOMEM ? "is short of resources"
                                                                      : "refused the call");
  }
  return lua_yield(L, 0);
}

int slot_push_answer(struct queue_slot *s, int result, int64_t now) {
  struct queue *q = s->queue;
  lua_State *co = s->co;
  int64_t ns = now - s->submitted_ns;
  char scratch[24];
  if (result == (int)s->length) {
    tally_success(&q->tally, now, s->offset, s->length, ns);
    lua_pushinteger(co, ns);
    if (!s->wants_data)
      return 1;
    lua_pushlstring(co, q->ring.buffers + (size_t)s->index * q->ring.block_size, s->length);
    return 2;
  }
  int code = result < 0 ? -result : result == 0 ? ENODEV : EIO;
  if (result > 0)
    q->tally.short_reads++;
  tally_failure(&q->tally, now, s->offset, s->length, code, ns);
  if (result == 0)
    return hdd_fail_with(co, code, "read of %d bytes at %I: nothing came: the device is gone",
                         (int)s->length, (LUAI_UACINT)s->offset);
  if (result > 0)
    return hdd_fail_with(co, code, "read of %d bytes at %I: only %d came", (int)s->length,
                         (LUAI_UACINT)s->offset, result);
  return hdd_fail_with(co, code, "read of %d bytes at %I: %s (%s)", (int)s->length,
                       (LUAI_UACINT)s->offset, hdd_errno_name(code, scratch), strerror(code));
}

void slot_resume(lua_State *L, struct queue_slot *s, int nargs) {
  struct queue *q = s->queue;
  int nresults;
  q->handing = true;
  int status = hdd_resume(s->co, L, nargs, &nresults);
  q->handing = false;
  if (status == LUA_YIELD) {
    if (s->reading)
      return;
    lua_pop(s->co, nresults);
    s->co = NULL;
    q->live--;
    luaL_error(L, "a queue's slot must not yield: it may only read");
  }
  lua_State *co = s->co;
  s->co = NULL;
  q->live--;
  if (status == LUA_OK)
    return;
  luaL_traceback(L, co, NULL, 0);
  lua_resetthread(co); /* runs the __close of what it held, which may raise in its turn */
  if (lua_type(co, -1) == LUA_TSTRING) {
    lua_pushfstring(L, "%s\n%s", lua_tostring(co, -1), lua_tostring(L, -1));
  } else {
    lua_xmove(co, L, 1);
  }
  lua_error(L);
}

void slot_push(lua_State *L, struct queue *q, unsigned i, lua_State *co) {
  struct queue_slot *s = lua_newuserdatauv(L, sizeof *s, 0);
  *s = (struct queue_slot){.magic = SLOT_MAGIC, .queue = q, .co = co, .index = i};
  luaL_setmetatable(L, SLOT);
  q->slots[i] = s;
}

void slot_register(lua_State *L) {
  luaL_newmetatable(L, SLOT);
  lua_newtable(L);
  lua_pushcfunction(L, slot_read);
  lua_setfield(L, -2, "read");
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}
