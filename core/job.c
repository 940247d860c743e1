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
#include "engine.h"
#include "error.h"
#include "interrupt.h"
#include "parameters.h"
#include "warning.h"

#define JOB     "hdd.Job"
#define RUNNING "hdd.running" /* registry: the set of jobs that have not been seen to finish */

/* What Lua gave, as it was at the start (a table of options may be used again for the next job); what
   Lua will get; and the drive, which must not be collected, and so closed, under a running job. */
enum {
  PATTERN_VALUE = 1,
  RECORDS_VALUE,
  HISTOGRAM_VALUE,
  OUTCOME,
  PROBLEM,
  DEVICE_VALUE,
  USER_VALUES = DEVICE_VALUE
};

struct handle {
  struct job *job;
  uint64_t fed; /* offsets that the pattern function has given */
  bool fed_all; /* it returned nil, raised, or gave as many as the job will read */
};

static struct handle *handle_of(lua_State *L) {
  struct handle *h = luaL_checkudata(L, 1, JOB);
  if (!h->job)
    luaL_error(L, "this job was never started");
  return h;
}

/* --- the thread's end ---------------------------------------------------------------------- */

/* The thread that published its result ends within microseconds, unless a stuck drive keeps it. */
static void join(struct job *j) {
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
    struct handle *h = lua_touserdata(L, -1);
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
      struct handle *h = lua_touserdata(L, -1);
      if (h->job)
        atomic_store(&h->job->stop, true);
    }
  }
  lua_pop(L, 1);
}

/* A running job is anchored, so it is collected only when the state ends: then all jobs stop first,
   together, and each is waited for. */
static int job_collect(lua_State *L) {
  struct handle *h = luaL_checkudata(L, 1, JOB);
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
  join(j);
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

static struct job *new_job(lua_State *L, struct handle *h, struct device *d) {
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

static bool feed(lua_State *L, struct handle *h);

/* start(device, options) */
static int job_start(lua_State *L) {
  struct device *d = device_check(L, 1);
  struct parameters p;
  if (!d)
    return hdd_fail_with(L, EBADF, "closed");
  parameters_read(L, 2, d, &p);
  lua_settop(L, 2);
  if (lua_getfield(L, 2, "histogram") != LUA_TNIL && !histogram_is(L, -1))
    return hdd_misuse(L, "option 'histogram': %s: must be a Histogram", luaL_tolstring(L, -1, NULL));
  int records = lua_getfield(L, 2, "records");
  if (records != LUA_TNIL && records != LUA_TFUNCTION && records != LUA_TSTRING)
    return hdd_misuse(L, "option 'records': %s: must be a function or the path of a new file",
                      luaL_tolstring(L, -1, NULL));
  const char *path = records == LUA_TSTRING ? lua_tostring(L, -1) : NULL;

  struct handle *h = lua_newuserdatauv(L, sizeof *h, USER_VALUES);
  *h = (struct handle){0}; /* empty, so safe to collect... */
  luaL_setmetatable(L, JOB);
  struct job *j = new_job(L, h, d);
  j->limits = p.limits;
  j->wish = p.wish;
  j->batch = p.batch;
  j->interrupts_at_start = atomic_load(&hdd_interrupts);
  j->finished_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  j->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (j->finished_fd < 0 || j->kick_fd < 0)
    return hdd_fail(L, errno, "%s: eventfd", d->path);
  int code = parameters_open_pattern(L, 2, d, &p.pattern);
  j->pattern = p.pattern;
  if (code == 0)
    code = tally_open(&j->tally, &p.tally);
  if (code != 0)
    return hdd_fail(L, code, "%s: memory for the results", d->path);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, DEVICE_VALUE);
  static const char *const kept[] = {"pattern", "records", "histogram"};
  for (int i = 0; i < 3; i++) {
    lua_getfield(L, 2, kept[i]);
    lua_setiuservalue(L, -2, PATTERN_VALUE + i);
  }
  if (j->pattern.kind == PATTERN_FUNCTION) {
    feed(L, h); /* so that the first read need not wait */
    if (lua_getiuservalue(L, -1, PROBLEM) != LUA_TNIL)
      return lua_error(L);
    lua_pop(L, 1);
  }
  sweep_running(L);
  if (records != LUA_TNIL) /* last: what fails before leaves no file behind */
    code = open_recorder(j, path, &p.pattern);
  if (code != 0)
    return hdd_fail(L, code, "records to %s", path ? path : "Lua");
  const char *call;
  code = job_launch(j, &call);
  if (code != 0) {
    if (path)
      unlink(path);
    char why[512];
    ring_explain(call, code, why, sizeof why);
    return hdd_fail_with(L, code, "%s: %s", d->path, why);
  }
  luaL_getsubtable(L, LUA_REGISTRYINDEX, RUNNING);
  lua_pushvalue(L, -2);
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
  lua_pop(L, 1);
  return 1;
}

/* --- offsets from a Lua function, records to one -------------------------------------------- */

/* Calls the function (stack 1) for each free place of the ring, as lua_pcall runs it: stack 2 is the
   handle.  Made visible in handfuls, so that the job need not wait for all of them. */
static int feed_offsets(lua_State *L) {
  struct handle *h = lua_touserdata(L, 2);
  struct job *j = h->job;
  struct pattern *p = &j->pattern;
  struct feed *f = &p->offsets;
  const lua_Integer block = j->device->logical_block_size;
  /* No call for an offset that could never be read; a ramp reads as many as it likes. */
  const uint64_t most = j->limits.ramp_ns > 0 ? UINT64_MAX : j->limits.ios;
  for (;;) {
    uint64_t room = feed_room(f, 1), n = 0;
    if (room == 0 || h->fed_all)
      return 0;
    if (h->fed == most) {
      *feed_slot(f, n++) = PATTERN_NO_MORE;
      h->fed_all = true;
    }
    if (room > 256)
      room = 256;
    if (room > most - h->fed)
      room = most - h->fed;
    while (n < room && !h->fed_all) {
      int whole;
      lua_pushvalue(L, 1);
      lua_pushinteger(L, (lua_Integer)++h->fed);
      lua_call(L, 1, 1);
      lua_Integer offset = lua_tointegerx(L, 3, &whole);
      if (__builtin_expect(!whole || offset < p->start || offset >= p->end || offset % block != 0,
                           0)) {
        if (!lua_isnil(L, 3))
          parameters_offset(L, 3, j->device, p, (lua_Integer)h->fed); /* says what is wrong */
        offset = (lua_Integer)PATTERN_NO_MORE;
        h->fed_all = true;
      }
      lua_settop(L, 2);
      *feed_slot(f, n++) = (uint64_t)offset;
    }
    feed_publish(f, n);
    if (atomic_load(&j->asleep))
      (void)eventfd_write(j->kick_fd, 1);
  }
}

static int with_traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (message)
    luaL_traceback(L, L, message, 1);
  return 1;
}

/* Runs `function` with the Lua function that is user value `value` and the handle.  An error stops the job
   and is kept to be raised where its result is asked for.  Stack: the job at 1 or on top. */
static bool call_kept(lua_State *L, struct handle *h, int self, int value, lua_CFunction function) {
  int top = lua_gettop(L);
  lua_pushcfunction(L, with_traceback);
  lua_pushcfunction(L, function);
  lua_getiuservalue(L, self, value);
  lua_pushlightuserdata(L, h);
  int status = lua_pcall(L, 2, 0, top + 1);
  if (status != LUA_OK) {
    h->fed_all = true;
    atomic_store(&h->job->stop, true);
    lua_setiuservalue(L, self, PROBLEM);
  }
  lua_settop(L, top);
  return status == LUA_OK;
}

static bool feed(lua_State *L, struct handle *h) {
  return h->fed_all || call_kept(L, h, lua_gettop(L), PATTERN_VALUE, feed_offsets);
}

/* Calls the function (stack 1) with one batch: columns of integers, valid until it returns. */
static int deliver_records(lua_State *L) {
  static const char *const columns[] = {"offset_bytes", "time_ns", "latency_ns", "code"};
  struct handle *h = lua_touserdata(L, 2);
  struct feed *f = &h->job->recorder->feed;
  uint64_t n;
  while ((n = feed_waiting(f, RECORD_WORDS) / RECORD_WORDS) > 0) {
    if (n > RECORD_BATCH)
      n = RECORD_BATCH;
    lua_settop(L, 2);
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, (lua_Integer)n);
    lua_setfield(L, -2, "n");
    for (int c = 0; c < 4; c++) {
      lua_createtable(L, (int)n, 0);
      for (uint64_t i = 0; i < n; i++) {
        uint64_t word = feed_peek(f, i * RECORD_WORDS + (uint64_t)(c < 2 ? c : 2));
        lua_pushinteger(L, (lua_Integer)(c == 2 ? word >> 16 : c == 3 ? word & 0xffff : word));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
      }
      lua_setfield(L, -2, columns[c]);
    }
    feed_consume(f, n * RECORD_WORDS);
    if (atomic_load(&h->job->asleep))
      (void)eventfd_write(h->job->kick_fd, 1);
    lua_pushvalue(L, 1);
    lua_insert(L, -2);
    lua_call(L, 1, 0);
  }
  return 0;
}

static bool wants_records(const struct job *j) {
  return j->recorder && j->recorder->fd < 0;
}

/* attend(): does what the job wants of Lua (offsets, taking records), and says whether it has
   finished.  Called whenever its descriptor is readable. */
static int job_attend(lua_State *L) {
  struct handle *h = handle_of(L);
  struct job *j = h->job;
  eventfd_t n;
  lua_settop(L, 1);
  (void)eventfd_read(j->finished_fd, &n);
  bool finished = job_finished(j); /* before the last look at the records */
  if (j->pattern.kind == PATTERN_FUNCTION && !finished)
    feed(L, h);
  if (wants_records(j) && lua_getiuservalue(L, 1, PROBLEM) == LUA_TNIL)
    call_kept(L, h, 1, RECORDS_VALUE, deliver_records);
  if (finished)
    (void)eventfd_write(j->finished_fd, 1); /* stays readable: others may wait on it */
  lua_pushboolean(L, finished);
  return 1;
}

/* --- looking at a job ---------------------------------------------------------------------- */

static int job_fd(lua_State *L) {
  lua_pushinteger(L, handle_of(L)->job->finished_fd);
  return 1;
}

static int job_has_finished(lua_State *L) {
  lua_pushboolean(L, job_finished(handle_of(L)->job));
  return 1;
}

static int job_stop(lua_State *L) {
  struct job *j = handle_of(L)->job;
  atomic_store(&j->stop, true);
  (void)eventfd_write(j->kick_fd, 1);
  return 0;
}

static const char *phase_name(struct job *j) {
  static const char *const names[] = {"starting", "ramp", "run", "drain", "finished"};
  return names[atomic_load_explicit(&j->phase, memory_order_acquire)];
}

/* The file of records is full, or gone: said at once, while the job goes on. */
static void set_records_error(lua_State *L, struct job *j) {
  int code = j->recorder ? atomic_load(&j->recorder->error) : 0;
  if (code == 0)
    return;
  lua_pushstring(L, strerror(code));
  lua_setfield(L, -2, "records_error");
}

/* progress(): counts so far, without stopping the thread. */
static int job_progress(lua_State *L) {
  struct job *j = handle_of(L)->job;
  struct counters *c = &j->tally.counters;
  int64_t now = job_finished(j) ? j->now : now_ns();
  int64_t started = atomic_load_explicit(&j->started_ns, memory_order_relaxed);
  int64_t quiet = now - atomic_load_explicit(&c->quiet_from, memory_order_relaxed);
  int64_t position = atomic_load_explicit(&c->position, memory_order_relaxed);
  int64_t oldest = atomic_load_explicit(&j->oldest_offset, memory_order_relaxed);
  lua_createtable(L, 0, 9);
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
  set_records_error(L, j);
  return 1;
}

/* snapshot(): a whole copy of the histogram and the series as they were at one instant within the
   last ticks, or nil when the thread has not made one yet.  It asks for the next one. */
static int job_snapshot(lua_State *L) {
  struct job *j = handle_of(L)->job;
  struct snapshot *s = atomic_exchange_explicit(&j->mail, NULL, memory_order_acq_rel);
  atomic_store_explicit(&j->snapshot_wanted, true, memory_order_release);
  if (!s) {
    luaL_pushfail(L);
    return 1;
  }
  lua_createtable(L, 0, 2);
  *histogram_push(L) = s->latency;
  lua_setfield(L, -2, "latency");
  series_push(L, &s->series, s->at_ns);
  lua_setfield(L, -2, "series");
  series_close(&s->series);
  free(s);
  return 1;
}

/* --- results ------------------------------------------------------------------------------- */

static const char *stop_name(enum stop_reason reason) {
  static const char *const names[] = {
      [STOP_NONE] = "none",           [STOP_IOS] = "ios",          [STOP_BYTES] = "bytes",
      [STOP_PATTERN] = "pattern",     [STOP_RUNTIME] = "runtime",  [STOP_ERRORS] = "errors",
      [STOP_PRECISION] = "precision", [STOP_REQUEST] = "stop",     [STOP_INTERRUPT] = "interrupt",
      [STOP_CLOSED] = "closed",       [STOP_LOST] = "device lost", [STOP_KERNEL] = "kernel"};
  return names[reason];
}

/* Pushes the list of all that was not as asked. */
static void push_warnings(lua_State *L, const struct job *j) {
  lua_newtable(L);
  warning_add_common(L, &j->ring, j->device->cached, j->retries);
  if (j->underruns > 0)
    warning_add(L, "the pattern function was too slow %I times: the drive had to wait for an offset",
         (LUAI_UACINT)j->underruns);
  if (j->recorder && j->recorder->waits > 0)
    warning_add(L, "taking records was too slow %I times: the drive had to wait",
         (LUAI_UACINT)j->recorder->waits);
  if (j->recorder && j->recorder->error != 0)
    warning_add(L, "records: %s: the rest was discarded", strerror(j->recorder->error));
  if (j->stopping == STOP_KERNEL)
    warning_add(L, "%s: %s: stopped for want of the kernel's resources; this is no fault of the drive",
         j->kernel_call, strerror(j->kernel_error));
  if (j->stopping == STOP_LOST)
    warning_add(L, "device lost at offset %I", (LUAI_UACINT)j->lost_offset);
  if (j->ramping)
    warning_add(L, "it ended before the end of the ramp: nothing was counted");
  if (j->cut_off)
    warning_add(L, "%d reads were not answered within %d s of the end and were given up",
         (int)j->in_flight_at_end, 2);
}

static void push_abandoned(lua_State *L, const struct job *j) {
  lua_createtable(L, (int)j->n_abandoned, 0);
  for (unsigned i = 0; i < j->n_abandoned; i++) {
    lua_pushinteger(L, j->abandoned[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_outcome(lua_State *L, struct job *j) {
  int histogram = 0;
  if (lua_getiuservalue(L, 1, HISTOGRAM_VALUE) != LUA_TNIL)
    histogram = lua_gettop(L);
  lua_createtable(L, 0, 32);
  tally_push(L, &j->tally, j->cut_off ? j->now : 0, histogram);
  lua_pushstring(L, stop_name(j->stopping));
  lua_setfield(L, -2, "stopped_by");
  lua_pushboolean(L, j->stopping == STOP_INTERRUPT);
  lua_setfield(L, -2, "interrupted");
  if (j->lost_offset >= 0) {
    lua_pushinteger(L, j->lost_offset);
    lua_setfield(L, -2, "lost_offset_bytes");
  }
  lua_pushinteger(L, j->wish.depth);
  lua_setfield(L, -2, "depth");
  lua_pushinteger(L, (lua_Integer)j->underruns);
  lua_setfield(L, -2, "underruns");
  lua_pushinteger(L, (lua_Integer)j->retries);
  lua_setfield(L, -2, "retries");
  lua_pushinteger(L, (lua_Integer)counter_get(&j->issued_bytes));
  lua_setfield(L, -2, "issued_bytes");
  lua_pushnumber(L, (double)j->cpu_user_ns / (double)NS_PER_S);
  lua_setfield(L, -2, "cpu_user_s");
  lua_pushnumber(L, (double)j->cpu_system_ns / (double)NS_PER_S);
  lua_setfield(L, -2, "cpu_system_s");
  lua_pushliteral(L, "thread");
  lua_setfield(L, -2, "timing");
  set_records_error(L, j);
  push_abandoned(L, j);
  lua_setfield(L, -2, "abandoned");
  push_warnings(L, j);
  lua_setfield(L, -2, "warnings");
}

/* outcome(): the table of results of a finished job, always the same one; nil while it runs.  Raises
   what its pattern function or its record function has raised. */
static int job_outcome(lua_State *L) {
  struct handle *h = handle_of(L);
  struct job *j = h->job;
  lua_settop(L, 1);
  if (!job_finished(j)) {
    luaL_pushfail(L);
    return 1;
  }
  if (lua_getiuservalue(L, 1, PROBLEM) != LUA_TNIL)
    return lua_error(L);
  if (lua_getiuservalue(L, 1, OUTCOME) == LUA_TTABLE)
    return 1;
  join(j);
  push_outcome(L, j);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, 1, OUTCOME);
  return 1;
}

static int job_tostring(lua_State *L) {
  struct handle *h = luaL_checkudata(L, 1, JOB);
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
