/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One read at a time for scripts that decide from each completion: a coroutine per slot, on the
   calling thread with a ring of its own. `slot:read(offset)` looks like a blocking call; up to
   `depth` of them are in flight. A completion is stamped when it is reaped, which is after whatever
   Lua did meanwhile: results say so (timing = "script"). */
#define _GNU_SOURCE
#include <errno.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "core.h"
#include "error.h"
#include "interrupt.h"
#include "options.h"
#include "parameters.h"
#include "queue.h"
#include "warning.h"

#define QUEUE "hdd.Queue"

enum { DEVICE_VALUE = 1, SLOTS_VALUE, USER_VALUES = SLOTS_VALUE };

static const int64_t TICK_NS = 100 * 1000000;
enum { STEP_MOST = 1024 }; /* completions after which others have a turn */

/* --- plain C ------------------------------------------------------------------------------- */

/* Waits until something has completed, for at most `ns`. */
static void wait_for_completion(struct queue *q, int64_t ns) {
  struct timespec t = timespec_ns(ns);
  struct __kernel_timespec timeout = {.tv_sec = t.tv_sec, .tv_nsec = t.tv_nsec};
  struct io_uring_cqe *cqe;
  (void)io_uring_wait_cqes(&q->ring.uring, &cqe, 1, &timeout, NULL);
}

/* Copies the completions that are there and stamps them all.  Returns their number. */
static unsigned reap(struct queue *q, int64_t *now) {
  struct io_uring_cq *cq = &q->ring.uring.cq;
  unsigned there = io_uring_cq_ready(&q->ring.uring);
  *now = now_ns();
  for (unsigned i = 0; i < there; i++)
    q->reaped[i] = cq->cqes[(*cq->khead + i) & *cq->kring_mask];
  io_uring_cq_advance(&q->ring.uring, there);
  q->in_flight -= there;
  return there;
}

static void release(struct queue *q) {
  ring_close(&q->ring);
  if (q->event_fd >= 0)
    close(q->event_fd);
  q->event_fd = -1;
  device_done(q->device);
  device_release(q->device);
  q->device = NULL;
}

/* A ring's descriptor becomes readable with a completion, but not with DEFER_TASKRUN: there nothing
   happens until we ask, and only an eventfd of the ring tells that there is something to ask for.
   Returns the descriptor to wait for, or -errno. */
static int open_event_fd(struct queue *q) {
  if (!q->defer)
    return q->ring.uring.ring_fd;
  if (q->event_fd < 0) {
    int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK); /* 1: for what has completed before */
    if (fd < 0)
      return -errno;
    int rc = io_uring_register_eventfd(&q->ring.uring, fd);
    if (rc != 0) {
      close(fd);
      return rc;
    }
    q->event_fd = fd;
  }
  return q->event_fd;
}

/* To be called before completions are looked for: those that come later are told anew. */
static void clear_event(struct queue *q) {
  eventfd_t n;
  if (q->event_fd >= 0)
    (void)eventfd_read(q->event_fd, &n);
}

/* What is left lying is told again. */
static void renew_event(struct queue *q) {
  if (q->event_fd >= 0 && io_uring_cq_ready(&q->ring.uring) > 0)
    (void)eventfd_write(q->event_fd, 1);
}

/* Waits for what is in flight, for RING_DRAIN_S at most.  Has all come? */
static bool drain(struct queue *q) {
  int64_t until = now_ns() + RING_DRAIN_S * NS_PER_S;
  while (q->in_flight > 0 && now_ns() < until) {
    wait_for_completion(q, TICK_NS / 2);
    int64_t now;
    reap(q, &now);
  }
  return q->in_flight == 0;
}

/* Until a read completes the kernel may write to its buffer: ring, buffers and descriptor are left
   to it for good. */
static void abandon(struct queue *q) {
  for (unsigned i = 0; q->slots && i < q->depth; i++)
    if (q->slots[i])
      q->slots[i]->queue = NULL;
  q->device = NULL;
}

static void close_queue(struct queue *q) {
  if (!q->device)
    return;
  if (drain(q))
    release(q);
  abandon(q);
}

/* --- the queue ----------------------------------------------------------------------------- */

/* The userdata holds a pointer: Lua's memory is not aligned as the counters are. */
static struct queue *queue_check(lua_State *L) {
  struct queue **slot = luaL_checkudata(L, 1, QUEUE);
  if (!*slot)
    luaL_error(L, "this queue was never opened");
  return *slot;
}

/* queue(device, {depth =, block_size =, ...}) */
static int queue_open(lua_State *L) {
  static const char *const known[] = {"depth",      "block_size", "slowest", "max_failures",
                                      "interval",   "intervals",  "stall",   "taskrun",
                                      "registered", NULL};
  struct device *d = device_check(L, 1);
  struct parameters p;
  if (!d)
    return hdd_fail_with(L, EBADF, "closed");
  if (lua_isnoneornil(L, 2)) {
    lua_settop(L, 1);
    lua_newtable(L);
  }
  luaL_checktype(L, 2, LUA_TTABLE);
  options_known(L, 2, known);
  parameters_read(L, 2, d, &p);

  struct queue **handle = lua_newuserdatauv(L, sizeof *handle, USER_VALUES);
  *handle = NULL; /* closed, so safe to collect... */
  luaL_setmetatable(L, QUEUE);
  struct queue *q = aligned_alloc(64, (sizeof *q + 63) & ~(size_t)63);
  if (!q)
    return luaL_error(L, "not enough memory");
  memset(q, 0, sizeof *q);
  *handle = q;
  q->event_fd = -1;
  q->defer = p.wish.defer;
  q->depth = p.wish.depth;
  q->block = p.wish.block_size;
  q->slots = calloc(q->depth, sizeof *q->slots);
  q->reaped = malloc(q->depth * sizeof *q->reaped);
  if (!q->slots || !q->reaped || tally_open(&q->tally, &p.tally) != 0)
    return hdd_fail(L, ENOMEM, "%s: memory for a queue of depth %d", d->path, (int)q->depth);
  const char *call;
  int code = ring_open(&q->ring, &p.wish, &call);
  if (code != 0) {
    char why[512];
    ring_explain(call, code, why, sizeof why);
    return hdd_fail_with(L, code, "%s: %s", d->path, why);
  }
  q->device = device_share(d);
  q->cached = d->cached;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, DEVICE_VALUE);
  return 1;
}

/* begin(f): one coroutine for each slot, which calls f(slot). */
static int queue_begin(lua_State *L) {
  struct queue *q = queue_check(L);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  if (!q->device)
    return hdd_fail_with(L, EBADF, "closed");
  if (q->live > 0)
    return luaL_error(L, "this queue is in use: its slots have not all ended");
  lua_settop(L, 2);
  lua_createtable(L, (int)q->depth * 2, 0); /* anchors coroutines and slots */
  tally_begin(&q->tally, now_ns());
  for (unsigned i = 0; i < q->depth; i++) {
    lua_State *co = lua_newthread(L);
    lua_rawseti(L, 3, 2 * (lua_Integer)i + 1);
    slot_push(L, q, i, co);
    lua_rawseti(L, 3, 2 * (lua_Integer)i + 2);
  }
  lua_pushvalue(L, 3);
  lua_setiuservalue(L, 1, SLOTS_VALUE);
  q->live = q->depth;
  for (unsigned i = 0; i < q->depth && q->device; i++) {
    struct queue_slot *s = q->slots[i];
    lua_pushvalue(L, 2);
    lua_rawgeti(L, 3, 2 * (lua_Integer)i + 2);
    lua_xmove(L, s->co, 2);
    slot_resume(L, s, 1);
  }
  lua_pushinteger(L, q->device ? q->live : 0);
  return 1;
}

/* The read that has been waited for longest. */
static int64_t oldest_offset(const struct queue *q) {
  const struct queue_slot *oldest = NULL;
  for (unsigned i = 0; i < q->depth; i++)
    if (q->slots[i]->reading && (!oldest || q->slots[i]->submitted_ns < oldest->submitted_ns))
      oldest = q->slots[i];
  return oldest ? oldest->offset : 0;
}

/* The kernel asks to try a read again: is it on its way? */
static bool tried_again(struct queue *q, struct queue_slot *s, int result) {
  if ((result != -EAGAIN && result != -EINTR) || ++s->again > RING_AGAIN_MOST)
    return false;
  q->retries++;
  ring_read(&q->ring, s->index, 0, s->length, s->offset);
  if (queue_submit(q) != 0)
    return false;
  q->in_flight++;
  return true;
}

/* step(block): hands the completions that are there to their slots, and says how many slots still
   run.  With `block` it first waits for one, until a tick or a signal, and goes on until all have
   ended or there is a reason to look at something else. */
static int queue_step(lua_State *L) {
  struct queue *q = queue_check(L);
  bool block = lua_toboolean(L, 2);
  unsigned handed = 0;
  if (q->handing)
    return luaL_error(L, "a queue's slot must not drive it: it may only read");
  clear_event(q);
  while (q->live > 0 && q->device && handed < STEP_MOST) {
    int64_t now;
    if (io_uring_cq_ready(&q->ring.uring) == 0) {
      if (!block) { /* DEFER_TASKRUN: what has come is seen only by a call that asks for it */
        (void)io_uring_get_events(&q->ring.uring);
      } else {
        interrupt_wait_begin();
        wait_for_completion(q, TICK_NS);
        interrupt_wait_end();
      }
    }
    unsigned n = reap(q, &now);
    if (n == 0)
      break;
    int64_t quiet = atomic_load_explicit(&q->tally.counters.quiet_from, memory_order_relaxed);
    if (now - quiet > q->tally.stall_ns)
      tally_stall(&q->tally, quiet, now - quiet, oldest_offset(q));
    atomic_store_explicit(&q->tally.counters.quiet_from, now, memory_order_relaxed);
    for (unsigned i = 0; i < n && q->device; i++) {
      struct queue_slot *s = q->slots[q->reaped[i].user_data];
      if (tried_again(q, s, q->reaped[i].res))
        continue;
      s->reading = false;
      slot_resume(L, s, slot_push_answer(s, q->reaped[i].res, now));
    }
    handed += n;
  }
  if (q->device)
    renew_event(q);
  lua_pushinteger(L, q->device ? q->live : 0);
  return 1;
}

/* cancel(): ends the slots that have not ended, because one of them raised or the script has other
   plans; what they held is closed.  The queue can be used again, unless the drive is stuck. */
static int queue_cancel(lua_State *L) {
  struct queue *q = queue_check(L);
  if (q->handing)
    return luaL_error(L, "a queue's slot must not cancel it: it may return, or raise");
  if (q->live == 0)
    return 0;
  q->live = 0;
  for (unsigned i = 0; i < q->depth; i++) {
    struct queue_slot *s = q->slots[i];
    lua_State *co = s->co;
    s->queue = NULL; /* no more reads */
    s->co = NULL;
    if (co)
      lua_resetthread(co);
  }
  if (q->device && !drain(q))
    abandon(q);
  return 0;
}

/* fd(): what becomes readable when step has something to do. */
static int queue_fd(lua_State *L) {
  struct queue *q = queue_check(L);
  if (!q->device)
    return hdd_fail_with(L, EBADF, "closed");
  int fd = open_event_fd(q);
  if (fd < 0)
    return hdd_fail(L, -fd, "an eventfd to wait for reads");
  lua_pushinteger(L, fd);
  return 1;
}

/* issued(): bytes that it has made the drive read. */
static int queue_issued(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)queue_check(L)->issued_bytes);
  return 1;
}

/* outcome(): what the queue has measured so far. */
static int queue_outcome(lua_State *L) {
  struct queue *q = queue_check(L);
  lua_createtable(L, 0, 16);
  tally_push(L, &q->tally, 0, 0);
  lua_pushinteger(L, q->depth);
  lua_setfield(L, -2, "depth");
  lua_pushinteger(L, (lua_Integer)q->issued_bytes);
  lua_setfield(L, -2, "issued_bytes");
  lua_pushliteral(L, "script");
  lua_setfield(L, -2, "timing");
  lua_pushinteger(L, (lua_Integer)q->retries);
  lua_setfield(L, -2, "retries");
  lua_newtable(L);
  warning_add_common(L, &q->ring, q->cached, q->retries);
  lua_setfield(L, -2, "warnings");
  return 1;
}

/* close and __close */
static int queue_close(lua_State *L) {
  close_queue(queue_check(L));
  return 0;
}

static int queue_collect(lua_State *L) {
  struct queue **handle = luaL_checkudata(L, 1, QUEUE), *q = *handle;
  if (!q)
    return 0;
  *handle = NULL;
  close_queue(q);
  tally_close(&q->tally);
  free(q->slots);
  free(q->reaped);
  if (q->in_flight == 0) /* else the kernel may still write through it */
    free(q);
  return 0;
}

void queue_register(lua_State *L) {
  static const luaL_Reg methods[] = {{"begin", queue_begin},   {"step", queue_step},
                                     {"cancel", queue_cancel}, {"fd", queue_fd},
                                     {"issued", queue_issued}, {"outcome", queue_outcome},
                                     {"close", queue_close},   {NULL, NULL}};
  slot_register(L);
  luaL_newmetatable(L, QUEUE);
  lua_pushcfunction(L, queue_close);
  lua_setfield(L, -2, "__close");
  lua_pushcfunction(L, queue_collect);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "__index");
  lua_setfield(L, -3, "Queue"); /* hdd.queue adds each to it */
  lua_pop(L, 1);
  lua_pushcfunction(L, queue_open);
  lua_setfield(L, -2, "queue");
}
