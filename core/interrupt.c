/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ctrl-C and its kin; see interrupt.h. */
#define _GNU_SOURCE
#include "interrupt.h"

#include <errno.h>
#include <lauxlib.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "core.h"
#include "coroutine.h"
#include "error.h"
#include "setting.h"
#include "system.h"

/* How long a script may go on in pure Lua after a signal, or after we handed it a partial result:
   in processor time, as a busy machine or a slow disk must not cost a script its saving. */
static _Atomic int64_t grace_length_ns = NS_PER_S / 2;

/* Two signals closer than this are one request: timeout(1) signals both its child and the group
   that the child is in, a closed terminal comes from the shell and from the kernel. */
#define ECHO_NS (NS_PER_S / 20)

/* So many writes to a pipe that nobody reads, with no call of ours in between, are a script that
   would print for ever; a shorter one goes on and saves its results. */
#define BROKEN_WRITES (1 << 18)

_Atomic unsigned hdd_interrupts __attribute__((aligned(64)));

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
enum { NSIGNALS = sizeof SIGNALS / sizeof SIGNALS[0] };

static atomic_int pending;           /* the signal's number, 0 when none waits */
static _Atomic int64_t signalled_ns; /* when it came */
static _Atomic int64_t grace_ns; /* when the grace time began, by this thread's processor time */
static int wake_fd = -1;         /* an eventfd: readable once a signal has come */
static unsigned nested;          /* interrupt_wait_begin without its end */
static atomic_int broken_writes;
static bool permanent; /* not only around waits */
static struct sigaction previous[NSIGNALS], previous_pipe;

static int64_t thread_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void interrupt(int number, int64_t now) {
  atomic_store(&signalled_ns, now);
  atomic_store(&grace_ns, thread_ns());
  atomic_store(&pending, number);
  atomic_fetch_add(&hdd_interrupts, 1);
  coroutine_interrupt();
  (void)!write(wake_fd, &(uint64_t){1}, sizeof(uint64_t));
}

/* Runs on the Lua thread: jobs' threads block all signals. */
static void on_signal(int number) {
  int saved = errno;
  int64_t now = now_ns();
  if (atomic_load(&pending) == 0) {
    interrupt(number, now);
  } else if (now - atomic_load(&signalled_ns) > ECHO_NS) {
    setting_restore_all();
    _exit(128 + number);
  }
  errno = saved;
}

/* A handler, as programs that we start would inherit SIG_IGN.  The write returns EPIPE. */
static void on_broken_pipe(int number) {
  int saved = errno;
  if (atomic_fetch_add(&broken_writes, 1) == BROKEN_WRITES && atomic_load(&pending) == 0)
    interrupt(number, now_ns());
  errno = saved;
}

/* What was ignored when we came (nohup, a shell's background job) stays ignored. */
static void install(void) {
  struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigemptyset(&ours.sa_mask);
  for (int i = 0; i < NSIGNALS; i++)
    sigaddset(&ours.sa_mask, SIGNALS[i]);
  if (wake_fd < 0)
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (int i = 0; i < NSIGNALS; i++) {
    sigaction(SIGNALS[i], &ours, &previous[i]);
    if (previous[i].sa_handler == SIG_IGN)
      sigaction(SIGNALS[i], &previous[i], NULL);
  }
}

static void uninstall(void) {
  for (int i = 0; i < NSIGNALS; i++)
    sigaction(SIGNALS[i], &previous[i], NULL);
}

void interrupt_install(void) {
  struct sigaction pipe = {.sa_handler = on_broken_pipe, .sa_flags = SA_RESTART};
  if (permanent)
    return;
  install();
  sigaction(SIGPIPE, &pipe, &previous_pipe);
  permanent = true;
}

int interrupt_pending(void) {
  return atomic_load(&pending);
}

/* From here on it is as if no signal had come. */
static void clear(void) {
  uint64_t seen;
  atomic_store(&pending, 0);
  if (wake_fd >= 0)
    (void)!read(wake_fd, &seen, sizeof seen);
}

bool interrupt_overdue(void) {
  return atomic_load(&pending) != 0 &&
         thread_ns() - atomic_load(&grace_ns) > atomic_load(&grace_length_ns);
}

void interrupt_grace(void) {
  atomic_store(&grace_ns, thread_ns());
}

void interrupt_wait_begin(void) {
  if (nested++ == 0 && !permanent)
    install();
}

void interrupt_wait_end(void) {
  if (--nested == 0 && !permanent)
    uninstall();
  atomic_store_explicit(&broken_writes, 0, memory_order_relaxed);
  if (atomic_load(&pending) != 0)
    interrupt_grace();
}

/* Waits until one of `n` descriptors has something, until the clock (now_ns) shows `until_ns`
   (INT64_MAX: for ever), or until a signal of ours has come since the last wait.  `fds` has room
   for n + 1.  Signals that are not ours neither end nor lengthen the wait.  Returns the number of
   descriptors that have something, or -errno.

   The wake-up stays in the eventfd until a wait has seen it, so a signal that comes just before
   the wait ends it, and a signal that was seen does not end the next one too. */
static int wait_for(struct pollfd *fds, unsigned n, int64_t until_ns) {
  for (;;) {
    struct timespec left = timespec_ns(until_ns == INT64_MAX ? 0 : until_ns - now_ns());
    int rc;
    fds[n] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    rc = ppoll(fds, n + 1, until_ns == INT64_MAX ? NULL : &left, NULL);
    if (rc < 0 && errno != EINTR)
      return -errno;
    if (rc >= 0) {
      uint64_t seen;
      if (fds[n].revents != 0 && rc-- > 0)
        (void)!read(wake_fd, &seen, sizeof seen);
      return rc;
    }
  }
}

static const char INTERRUPTED = 0; /* its address is the value's key in the registry */

static int interrupted_tostring(lua_State *L) {
  lua_pushliteral(L, "interrupted");
  return 1;
}

void interrupt_push(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &INTERRUPTED) != LUA_TNIL)
    return;
  lua_pop(L, 1);
  lua_newuserdatauv(L, 0, 0);
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, interrupted_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushliteral(L, "hdd.interrupted");
  lua_setfield(L, -2, "__name");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &INTERRUPTED);
}

int interrupt_raise(lua_State *L) {
  interrupt_push(L);
  return lua_error(L);
}

/* The instant `seconds` from now, for the argument of that name; nil means never. */
static int64_t check_deadline(lua_State *L, int index) {
  lua_Number seconds;
  if (lua_isnoneornil(L, index))
    return INT64_MAX;
  seconds = luaL_checknumber(L, index);
  luaL_argcheck(L, !isnan(seconds), index, "a time-out is seconds, 0 or more, or nil");
  if (seconds >= 4e9) /* a hundred years, and the sum stays in range */
    return INT64_MAX;
  return now_ns() + (seconds > 0 ? (int64_t)(seconds * 1e9) : 0);
}

/* poll({fd, ...}[, timeout_s]) -> {[fd] = true}: which of them (integers, or Lua files) can be read
   without waiting.  Empty when the time is up, or a signal of ours came first. */
static int poll_readable(lua_State *L) {
  struct pollfd few[16], *fds = few;
  int64_t until_ns;
  lua_Integer n;
  int rc;
  luaL_checktype(L, 1, LUA_TTABLE);
  until_ns = check_deadline(L, 2);
  n = luaL_len(L, 1);
  luaL_argcheck(L, n < 1000000, 1, "too many descriptors");
  if (n + 1 > (lua_Integer)(sizeof few / sizeof few[0]))
    fds = lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *fds, 0);
  for (lua_Integer i = 0; i < n; i++) {
    lua_geti(L, 1, i + 1);
    fds[i] = (struct pollfd){.fd = hdd_checkfd(L, -1), .events = POLLIN};
    lua_pop(L, 1);
  }
  interrupt_wait_begin();
  rc = wait_for(fds, (unsigned)n, until_ns);
  interrupt_wait_end();
  if (rc < 0)
    return hdd_fail(L, -rc, "wait for %I descriptors", n);
  lua_createtable(L, 0, rc);
  for (lua_Integer i = 0; i < n && rc > 0; i++) {
    if (fds[i].revents == 0)
      continue;
    lua_geti(L, 1, i + 1);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    rc--;
  }
  return 1;
}

static int interrupts(lua_State *L) {
  lua_pushinteger(L, atomic_load(&hdd_interrupts));
  return 1;
}

static int pending_signal(lua_State *L) {
  int number = interrupt_pending();
  if (number == 0)
    lua_pushnil(L);
  else
    lua_pushinteger(L, number);
  return 1;
}

static int clear_interrupt(lua_State *L) {
  (void)L;
  clear();
  return 0;
}

/* interrupt_grace([seconds]): the code that runs next has the grace time to itself, from now on one
   of so many seconds: at the prompt a person waits, and nothing is being saved. */
static int grace(lua_State *L) {
  if (!lua_isnoneornil(L, 1))
    atomic_store(&grace_length_ns, (int64_t)(luaL_checknumber(L, 1) * (double)NS_PER_S));
  if (interrupt_pending() != 0)
    interrupt_grace();
  return 0;
}

/* interrupt_signals(on): handle signals from now on, also while no call of ours waits; or not. */
static int interrupt_signals(lua_State *L) {
  luaL_checktype(L, 1, LUA_TBOOLEAN);
  if (lua_toboolean(L, 1)) {
    interrupt_install();
  } else if (permanent) {
    uninstall();
    sigaction(SIGPIPE, &previous_pipe, NULL);
    permanent = false;
  }
  return 0;
}

void interrupt_register(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"poll", poll_readable},
      {"interrupts", interrupts},
      {"interrupt_pending", pending_signal},
      {"clear_interrupt", clear_interrupt},
      {"interrupt_grace", grace},
      {"interrupt_signals", interrupt_signals},
      {NULL, NULL},
  };
  luaL_setfuncs(L, functions, 0);
  coroutine_register(L);
  interrupt_push(L);
  lua_setfield(L, -2, "interrupted");
}
