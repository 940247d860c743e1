/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job as Lua sees it: started from a table of options, looked at while it runs, and at the end a
   table of results.  Waiting is the scheduler's (hdd.task): a job has a descriptor to wait on. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "core.h"
#include "error.h"
#include "interrupt.h"
#include "job.h"
#include "parameters.h"

#define RUNNING "hdd.running" /* registry: the set of jobs that have not been seen to finish */

struct job_handle *job_check(lua_State *L) {
  struct job_handle *h = luaL_checkudata(L, 1, JOB);
  if (!h->job)
    luaL_error(L, "this job was never started");
  return h;
}

/* --- the thread's end ---------------------------------------------------------------------- */

void job_join(struct job *j) {
  if (j->joined)
    return;
  j->joined = true;
  if (j->cut_off)
    pthread_detach(j->thread);
  else
    pthread_join(j->thread, NULL);
}

/* Lets go of the jobs that nobody holds and that have finished. */
static void sweep_running(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, RUNNING);
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    lua_pop(L, 1);
    struct job_handle *h = lua_touserdata(L, -1);
    if (h->job && job_finished(h->job)) {
      lua_pushvalue(L, -1);
      lua_pushnil(L);
      lua_rawset(L, -4); /* clearing a field is allowed while traversing */
    }
  }
  lua_pop(L, 1);
}

static void stop_all_running(lua_State *L) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, RUNNING) == LUA_TTABLE) {
    lua_pushnil(L);
    while (lua_next(L, -2)) {
      lua_pop(L, 1);
      struct job_handle *h = lua_touserdata(L, -1);
      if (h->job)
        atomic_store(&h->job->stop, true);
    }
  }
  lua_pop(L, 1);
}

/* A running job is anchored, so it is collected only when the state ends: then all jobs stop first,
   together, and each is waited for. */
static int job_collect(lua_State *L) {
  struct job_handle *h = luaL_checkudata(L, 1, JOB);
  struct job *j = h->job;
  if (!j)
    return 0;
  h->job = NULL;
  if (!j->joined && !job_finished(j)) {
    atomic_store(&j->stop, true);
    stop_all_running(L);
    while (!job_finished(j)) {
      struct pollfd p = {.fd = j->finished_fd, .events = POLLIN};
      eventfd_t n;
      poll(&p, 1, 1000);
      (void)eventfd_read(j->finished_fd, &n);
    }
  }
  job_join(j);
  job_release(j);
  return 0;
}

/* --- starting ------------------------------------------------------------------------------ */

/* records = "file": opened now, so that a path that can't be written is refused before the run. */
static int open_recorder(struct job *j, const char *path, const struct pattern *p) {
  struct recorder *r = calloc(1, sizeof *r);
  int code;
  if (!r)
    return ENOMEM;
  if (!path) {
    code = recorder_open(r, j->finished_fd);
  } else {
    struct record_header header = {.magic = "hddlua\0\1",
                                   .header_bytes = sizeof header,
                                   .record_bytes = RECORD_WORDS * sizeof(uint64_t),
                                   .block_size = p->block,
                                   .range_end = (uint64_t)p->end,
                                   .started = (uint64_t)time(NULL)};
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    code = fd < 0 ? errno : recorder_open_file(r, fd, &header);
    if (code != 0 && fd >= 0)
      unlink(path);
  }
  if (code != 0)
    free(r);
  else
    j->recorder = r;
  return code;
}

static struct job *new_job(lua_State *L, struct job_handle *h, struct device *d) {
  struct job *j = aligned_alloc(64, (sizeof *j + 63) & ~(size_t)63);
  if (!j)
    luaL_error(L, "not enough memory");
  memset(j, 0, sizeof *j);
  j->references = 1;
  j->finished_fd = j->kick_fd = -1;
  j->joined = true; /* until there is a thread */
  j->device = device_share(d);
  j->reading = true;
  h->job = j;
  return j;
}

/* The options that only a job has are left on the stack: histogram (3) and records (4). */
static void check_options(lua_State *L) {
  if (lua_getfield(L, 2, "histogram") != LUA_TNIL && !histogram_is(L, -1))
    hdd_misuse(L, "option 'histogram': %s: must be a Histogram", luaL_tolstring(L, -1, NULL));
  int records = lua_getfield(L, 2, "records");
  if (records != LUA_TNIL && records != LUA_TFUNCTION && records != LUA_TSTRING)
    hdd_misuse(L, "option 'records': %s: must be a function or the path of a new file",
               luaL_tolstring(L, -1, NULL));
}

/* Keeps in the job, which is on top of the stack, what it needs of Lua. */
static void keep_values(lua_State *L) {
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, DEVICE_VALUE);
  lua_getfield(L, 2, "pattern");
  lua_setiuservalue(L, -2, PATTERN_VALUE);
  lua_pushvalue(L, 3);
  lua_setiuservalue(L, -2, HISTOGRAM_VALUE);
  lua_pushvalue(L, 4);
  lua_setiuservalue(L, -2, RECORDS_VALUE);
}

/* Fills in what the thread works with. 0, or the number of values that say what could not be
   had. */
static int prepare(lua_State *L, struct job *j, struct parameters *p) {
  const char *path = j->device->path;
  j->operation = p->operation;
  j->unit = p->unit;
  j->verify.stamper = p->stamper;
  j->flush.every = p->flush_bytes;
  j->limits = p->limits;
  j->wish = p->wish;
  j->batch = p->batch;
  j->interrupts_at_start = atomic_load(&hdd_interrupts);
  j->finished_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  j->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (j->finished_fd < 0 || j->kick_fd < 0)
    return hdd_fail(L, errno, "%s: eventfd", path);
  int code = parameters_open_pattern(L, 2, p->unit, &p->pattern);
  j->pattern = p->pattern;
  if (code == 0)
    code = tally_open(&j->tally, &p->tally);
  if (code == 0 && p->operation == JOB_VERIFY)
    code = verification_open(&j->verify, p->tally.max_failures);
  return code != 0 ? hdd_fail(L, code, "%s: memory for the results", path) : 0;
}

/* From now on the job, on top of the stack, is collected only when it has finished. */
static void anchor(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, RUNNING);
  lua_pushvalue(L, -2);
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* start(device, options) */
static int job_start(lua_State *L) {
  struct device *d = device_check(L, 1);
  struct parameters p;
  if (!d)
    return hdd_fail_with(L, EBADF, "closed");
  parameters_read(L, 2, d, &p);
  lua_settop(L, 2);
  if (p.operation == JOB_WRITE && !d->writable)
    return hdd_fail_with(L, EBADF,
                         "%s: not opened for writing: that needs the drive's serial number "
                         "(hdd.open(path, {write = {serial = ...}}))",
                         d->path);
  check_options(L);

  struct job_handle *h = lua_newuserdatauv(L, sizeof *h, USER_VALUES);
  *h = (struct job_handle){0}; /* empty, so safe to collect... */
  luaL_setmetatable(L, JOB);
  struct job *j = new_job(L, h, d);
  int failed = prepare(L, j, &p);
  if (failed != 0)
    return failed;
  keep_values(L);
  if (j->pattern.kind == PATTERN_FUNCTION) {
    job_feed(L, h); /* so that the first read need not wait */
    if (lua_getiuservalue(L, -1, PROBLEM) != LUA_TNIL)
      return lua_error(L);
    lua_pop(L, 1);
  }
  sweep_running(L);
  const char *path = lua_type(L, 4) == LUA_TSTRING ? lua_tostring(L, 4) : NULL;
  int code = 0;
  if (!lua_isnil(L, 4)) /* last: what fails before leaves no file behind */
    code = open_recorder(j, path, &p.pattern);
  if (code != 0)
    return hdd_fail(L, code, "records to %s", path ? path : "Lua");
  const char *call;
  code = job_launch(j, &call);
  if (code != 0) {
    h->job = NULL;
    job_release(j); /* now, not when the collector comes */
    if (path)
      unlink(path);
    char why[512];
    ring_explain(call, code, why, sizeof why);
    return hdd_fail_with(L, code, "%s: %s", d->path, why);
  }
  anchor(L);
  return 1;
}

/* --- looking at a job ---------------------------------------------------------------------- */

static int job_fd(lua_State *L) {
  lua_pushinteger(L, job_check(L)->job->finished_fd);
  return 1;
}

static int job_has_finished(lua_State *L) {
  lua_pushboolean(L, job_finished(job_check(L)->job));
  return 1;
}

static int job_stop(lua_State *L) {
  struct job *j = job_check(L)->job;
  atomic_store(&j->stop, true);
  (void)eventfd_write(j->kick_fd, 1);
  return 0;
}

static const char *phase_name(struct job *j) {
  static const char *const names[] = {"starting", "ramp", "run", "drain", "finished"};
  return names[atomic_load_explicit(&j->phase, memory_order_acquire)];
}

/* progress(): counts so far, without stopping the thread. */
static int job_progress(lua_State *L) {
  struct job *j = job_check(L)->job;
  struct counters *c = &j->tally.counters;
  int64_t now = job_finished(j) ? j->now : now_ns();
  int64_t started = atomic_load_explicit(&j->started_ns, memory_order_relaxed);
  int64_t quiet = now - atomic_load_explicit(&c->quiet_from, memory_order_relaxed);
  int64_t position = atomic_load_explicit(&c->position, memory_order_relaxed);
  int64_t oldest = atomic_load_explicit(&j->oldest_offset, memory_order_relaxed);
  lua_createtable(L, 0, 12);
  lua_pushstring(L, phase_name(j));
  lua_setfield(L, -2, "phase");
  lua_pushinteger(L, (lua_Integer)counter_get(&c->ios));
  lua_setfield(L, -2, "ios");
  lua_pushinteger(L, (lua_Integer)counter_get(&c->bytes));
  lua_setfield(L, -2, "bytes");
  lua_pushinteger(L, (lua_Integer)counter_get(&c->errors));
  lua_setfield(L, -2, "errors");
  lua_pushinteger(L, (lua_Integer)counter_get(&j->issued_bytes));
  lua_setfield(L, -2, "issued_bytes");
  lua_pushnumber(L, (double)(now - started) / (double)NS_PER_S);
  lua_setfield(L, -2, "elapsed_s");
  if (position >= 0) {
    lua_pushinteger(L, position);
    lua_setfield(L, -2, "position_bytes");
  }
  lua_pushnumber(L, (double)quiet / (double)NS_PER_S);
  lua_setfield(L, -2, "idle_s");
  if (oldest >= 0 && quiet > NS_PER_S / 5) { /* by then the thread has renewed it */
    lua_pushinteger(L, oldest);
    lua_setfield(L, -2, "oldest_offset_bytes");
  }
  job_set_positions(L, j);
  if (j->operation == JOB_VERIFY) {
    lua_pushinteger(L, (lua_Integer)counter_get(&j->verify.mismatches));
    lua_setfield(L, -2, "mismatches");
  }
  job_set_records_error(L, j);
  return 1;
}

static int job_tostring(lua_State *L) {
  struct job_handle *h = luaL_checkudata(L, 1, JOB);
  if (h->job)
    lua_pushfstring(L, "job on %s (%s)", h->job->device->path, phase_name(h->job));
  else
    lua_pushliteral(L, "job (not started)");
  return 1;
}

void job_register(lua_State *L) {
  static const luaL_Reg methods[] = {{"progress", job_progress}, {"snapshot", job_snapshot},
                                     {"stop", job_stop},         {"fd", job_fd},
                                     {"attend", job_attend},     {"finished", job_has_finished},
                                     {"outcome", job_outcome},   {NULL, NULL}};
  luaL_newmetatable(L, JOB);
  lua_pushcfunction(L, job_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, job_collect);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "__index");
  lua_setfield(L, -3, "Job"); /* hdd.job adds waiting to it */
  lua_pop(L, 1);
  lua_pushcfunction(L, job_start);
  lua_setfield(L, -2, "start");
}
